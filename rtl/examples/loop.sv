// SPDX-License-Identifier: Apache-2.0
//
// QCN's loop at 10 Gb/s from released cores: a source, its reaction point, a congestion point, and a line that falls to 5 Gb/s and comes
// back. The congestion point's messages go back to the reaction point. One clock of 156.25 MHz; random words from their generator.
//
//   udp_packet_generator --> qcn_rp --> cp --> output_port --> line
//                              ^         |
//                              +-- CNMs -+
//
// The timer's cycle is 0.25 ms, a fortieth of 802.1Qau's at 10 Gb/s, so that the rise is seen in milliseconds.
//
// examples/loop.py builds it from the releases, and runs it with the bench below.

`default_nettype none

module qcn_loop
  import penstock_pkg::*;
#(
  parameter int unsigned ClockHz = 156_250_000,
  // Clocks from the reset on: when the line falls, and when it comes back.
  parameter int unsigned Falls = 78_000,
  parameter int unsigned Rises = 470_000
) (
  input var logic clk_i,
  input var logic rst_i,

  output var axis_t         line_o,
  output var logic          line_valid_o,
  output var rate_t         rate_o,
  output var queue_octets_t queue_o,
  output var logic   [31:0] messages_o,
  output var logic   [31:0] taken_o,
  output var logic   [31:0] sent_o,
  // Frames that were dropped, that were bad, and messages that were: all of them are to stay 0.
  output var logic   [31:0] wrong_o
);
  // The time: in clocks, and a tick each microsecond.
  localparam int unsigned TickClocks = ClockHz / 1_000_000;
  logic [47:0] now_q;
  logic [ 7:0] tick_q;
  logic        tick;
  assign tick = tick_q == 8'(TickClocks - 1);
  always_ff @(posedge clk_i) begin
    now_q  <= rst_i ? '0 : now_q + 1'b1;
    tick_q <= rst_i || tick ? '0 : tick_q + 1'b1;
  end

  // A word for each port that draws.
  random_t [2:0] words;
  random_words #(
      .Words(3),
      .Seed (64'd1)
  ) u_words (
      .clk_i,
      .rst_i,
      .next_i('1),
      .word_o(words)
  );

  localparam logic [47:0] Mac = 48'h02_00_00_00_00_01;

  axis_t         made;
  logic          made_valid;
  logic          made_ready;
  frame_octets_t made_octets;

  udp_packet_generator u_source (
      .clk_i,
      .rst_i,
      .enable_i         (now_q > 48'd1_000),
      .octets_i         (16'd1518),
      .source_mac_i     (Mac),
      .destination_mac_i(48'h02_00_00_00_00_02),
      .source_ip_i      ({8'd10, 8'd0, 8'd0, 8'd1}),
      .destination_ip_i ({8'd10, 8'd0, 8'd0, 8'd2}),
      .source_port_i    (16'd4791),
      .destination_port_i(16'd4791),
      .m_axis           (made),
      .m_axis_tvalid    (made_valid),
      .m_axis_tready    (made_ready),
      .m_axis_octets_o  (made_octets),
      .sequence_o       (sent_o)
  );

  axis_t         message;
  logic          message_valid;
  logic          message_ready;
  axis_t         goes;
  logic          goes_valid;
  logic          goes_ready;
  logic   [31:0] refused;
  logic   [31:0] malformed;
  logic   [31:0] unheard;
  logic   [31:0] unknown;

  /* verilator lint_off PINMISSING */
  qcn_rp #(
      .LineRate    (64'd10_000_000_000),
      .Depth       (4096),
      .RefillClocks(160),
      .Granularity (7_812_500)
  ) u_rp (
      .clk_i,
      .rst_i,
      .drop_if_busy_i    (1'b0),
      .s_axis_rx         (message),
      .s_axis_rx_tvalid  (message_valid),
      .s_axis_rx_tready  (message_ready),
      .m_axis_rx_tready  (1'b1),
      .mac_i             (Mac),
      .start_i           (now_q == 48'd16),
      .tick_i            (tick),
      .random_byte_i     (words[0]),
      .random_timer_i    (words[1]),
      .gd_shift_i        (5'd7),
      .rpg_threshold_i   (8'd5),
      .rpg_byte_reset_i  (24'd150_000),
      .rpg_time_reset_i  (24'd250),
      .rpg_ai_rate_i     (RateW'(5_000_000)),
      .rpg_hai_rate_i    (RateW'(50_000_000)),
      .rpg_min_rate_i    (RateW'(10_000_000)),
      .rpg_max_rate_i    (RateW'(64'd10_000_000_000)),
      .rp_jitter_i       (16'd9830),
      .timer_on_i        (1'b1),
      .s_axis_tx         (made),
      .s_axis_tx_tvalid  (made_valid),
      .s_axis_tx_tready  (made_ready),
      .s_axis_tx_octets_i(made_octets),
      .m_axis_tx         (goes),
      .m_axis_tx_tvalid  (goes_valid),
      .m_axis_tx_tready  (goes_ready),
      .current_rate_o    (rate_o),
      .dropped_o         (unheard),
      .taken_o,
      .malformed_o       (malformed),
      .unknown_o         (unknown)
  );

  axis_t queued;
  logic  queued_valid;
  logic  queued_ready;
  logic  [31:0] bad;
  logic  [31:0] lost;

  cp #(
      .BufferOctets(150_000)
  ) u_cp (
      .clk_i,
      .rst_i,
      .s_axis               (goes),
      .s_axis_tvalid        (goes_valid),
      .s_axis_tready        (goes_ready),
      .m_axis               (queued),
      .m_axis_tvalid        (queued_valid),
      .m_axis_tready        (queued_ready),
      .m_axis_message       (message),
      .m_axis_message_tvalid(message_valid),
      .m_axis_message_tready(message_ready),
      .q_eq_i               (24'd33_000),
      .w_i                  (16'd2048),
      .sample_base_i        (24'd150_000),
      .sample_jitter_i      (16'd9830),
      .sample_count_i       ('0),
      .sample_probability_i ('0),
      .cp_mac_i             (48'h02_00_00_00_00_03),
      .cp_id_i              (64'd1),
      .cnm_priority_i       (3'd6),
      .random_i             (words[2]),
      .queue_o,
      .dropped_o            (refused),
      .bad_o                (bad),
      .messages_o,
      .messages_lost_o      (lost)
  );

  output_port #(
      .ClockHz(ClockHz),
      .Entries(2)
  ) u_line (
      .clk_i,
      .rst_i,
      .rate_i            (RateW'(64'd10_000_000_000)),
      .schedule_entries_i(2'd2),
      .schedule_at_i     ({48'(Rises), 48'(Falls)}),
      .schedule_rate_i   ({RateW'(64'd10_000_000_000), RateW'(64'd5_000_000_000)}),
      .now_i             (now_q),
      .hold_i            (1'b0),
      .s_axis            (queued),
      .s_axis_tvalid     (queued_valid),
      .s_axis_tready     (queued_ready),
      .m_axis            (line_o),
      .m_axis_tvalid     (line_valid_o),
      .m_axis_tready     (1'b1)
  );
  /* verilator lint_on PINMISSING */

  assign wrong_o = refused + bad + lost + malformed + unheard + unknown;
endmodule

`default_nettype wire
