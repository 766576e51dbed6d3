// SPDX-License-Identifier: Apache-2.0
//
// The QCN side of a NIC. Extracts messages from the arriving frames, passes each to the reaction point whose MAC address
// is its destination, and releases the frames of each reaction point at its rate. (Kabbani and Yasuda 2010, section 3.2, figure 6)
//
// Ports with a leading range of ReactionPoints hold a field for each: field i is that of reaction point i. Settings are
// for all.
//
// Latency: from the last beat of a message to the clock in which its reaction point sees it 2 clocks; then that of
// qcn_rate_calculator. Throughput: a beat a clock on every stream; back-to-back messages wait in the arriving stream.

`default_nettype none

module qcn_rp
  import penstock_pkg::*;
  import qcn_rp_pkg::*;
#(
  // At least 1.
  parameter int unsigned     ReactionPoints = 1,
  // features_e
  parameter bit              Features       = Full,
  // hai_multiplier_e
  parameter bit              HaiMultiplier  = MinCount,
  // efr_e
  parameter bit              Efr            = ByteStage,
  // trr_e
  parameter bit              Trr            = FirstCycle,
  // jitter_rp_e
  parameter bit              JitterRp       = Reload,
  // Those of token_bucket.
  parameter int unsigned     Depth          = 3000,
  parameter int unsigned     RefillClocks   = 2000,
  parameter int unsigned     Granularity    = 500_000,
  parameter int unsigned     TokensPerStep  = 1,
  parameter longint unsigned LineRate       = 64'd1_000_000_000,
  parameter int unsigned     MaxOctets      = 1518
) (
  input var logic clk_i,
  input var logic rst_i,

  // Arriving frames cannot wait: a message that would have to is dropped (message_receiver).
  input var logic drop_if_busy_i,

  // Frames that arrive, and those of them that are no messages.
  input var  axis_t s_axis_rx,
  input var  logic  s_axis_rx_tvalid,
  output var logic  s_axis_rx_tready,
  output var axis_t m_axis_rx,
  output var logic  m_axis_rx_tvalid,
  input var  logic  m_axis_rx_tready,

  // The reaction points' MAC addresses, and that a flow begins.
  input var logic [ReactionPoints-1:0][47:0] mac_i,
  input var logic [ReactionPoints-1:0] start_i,

  // The time base; random words for cycles that begin in this clock, and whether they are drawn.
  input var logic tick_i,
  input var logic [ReactionPoints-1:0][31:0] random_byte_i,
  input var logic [ReactionPoints-1:0][31:0] random_timer_i,
  output var logic [ReactionPoints-1:0] draw_byte_o,
  output var logic [ReactionPoints-1:0] draw_timer_o,

  // Settings: those of qcn_rate_calculator.
  input var logic   [ 4:0] gd_shift_i,
  input var stage_t        rpg_threshold_i,
  input var cycle_t        rpg_byte_reset_i,
  input var cycle_t        rpg_time_reset_i,
  input var rate_t         rpg_ai_rate_i,
  input var rate_t         rpg_hai_rate_i,
  input var rate_t         rpg_min_rate_i,
  input var rate_t         rpg_max_rate_i,
  input var logic   [15:0] rp_jitter_i,
  input var logic          timer_on_i,

  // The reaction points' frames (octets_i: length with FCS), and those that go.
  input var axis_t [ReactionPoints-1:0] s_axis_tx,
  input var logic [ReactionPoints-1:0] s_axis_tx_tvalid,
  output var logic [ReactionPoints-1:0] s_axis_tx_tready,
  input var logic [ReactionPoints-1:0][FrameW-1:0] s_axis_tx_octets_i,
  output var axis_t [ReactionPoints-1:0] m_axis_tx,
  output var logic [ReactionPoints-1:0] m_axis_tx_tvalid,
  input var logic [ReactionPoints-1:0] m_axis_tx_tready,

  // The state of the reaction points.
  output var logic [ReactionPoints-1:0][RateW-1:0] current_rate_o,
  output var logic [ReactionPoints-1:0][RateW-1:0] target_rate_o,
  output var logic [ReactionPoints-1:0][StageW-1:0] byte_stage_o,
  output var logic [ReactionPoints-1:0][StageW-1:0] time_stage_o,
  output var logic [ReactionPoints-1:0][1:0] phase_o,
  output var logic [ReactionPoints-1:0][RemainingW-1:0] byte_remaining_o,
  output var logic [ReactionPoints-1:0][RemainingW-1:0] time_remaining_o,
  output var logic [ReactionPoints-1:0] busy_o,
  // A message is taken by its reaction point.
  output var logic [ReactionPoints-1:0] signal_o,
  output var logic [ReactionPoints-1:0] sent_valid_o,
  output var logic [ReactionPoints-1:0][FrameW-1:0] sent_octets_o,
  output var logic [ReactionPoints-1:0][FrameW-1:0] tokens_o,
  output var logic [ReactionPoints-1:0][31:0] dropped_o,

  // Messages that were taken, that were malformed, that were dropped because another waited, and that were for no reaction
  // point. They stay at their largest value.
  output var logic [31:0] taken_o,
  output var logic [31:0] malformed_o,
  output var logic [31:0] refused_o,
  output var logic [31:0] unknown_o
);
  logic                      message_valid;
  logic                      message_ready;
  logic [              47:0] destination;
  logic [               5:0] fb;
  logic [              63:0] cp_id;
  logic [              31:0] q_off;
  logic [              31:0] q_delta;
  logic                      unused;

  logic [ReactionPoints-1:0] signal_valid;
  logic [ReactionPoints-1:0] signal_ready;

  assign unused   = &{1'b0, cp_id, q_off, q_delta};
  assign signal_o = signal_valid & signal_ready;

  message_receiver #(
      .Smcc(1'b0)
  ) u_receiver (
      .clk_i,
      .rst_i,
      .drop_if_busy_i,
      .s_axis(s_axis_rx),
      .s_axis_tvalid(s_axis_rx_tvalid),
      .s_axis_tready(s_axis_rx_tready),
      .m_axis(m_axis_rx),
      .m_axis_tvalid(m_axis_rx_tvalid),
      .m_axis_tready(m_axis_rx_tready),
      .message_valid_o(message_valid),
      .message_ready_i(message_ready),
      .destination_o(destination),
      .fb_o(fb),
      .cp_id_o(cp_id),
      .q_off_o(q_off),
      .q_delta_o(q_delta),
      .taken_o,
      .malformed_o,
      .refused_o
  );

  fb_demux #(
      .ReactionPoints(ReactionPoints)
  ) u_demux (
      .clk_i,
      .rst_i,
      .message_valid_i(message_valid),
      .message_ready_o(message_ready),
      .destination_i  (destination),
      .mac_i,
      .signal_valid_o (signal_valid),
      .signal_ready_i (signal_ready),
      .unknown_o
  );

  for (genvar i = 0; i < ReactionPoints; ++i) begin : gen_point
    phase_e phase;
    assign phase_o[i] = phase;

    qcn_reaction_point #(
        .Features     (Features),
        .HaiMultiplier(HaiMultiplier),
        .Efr          (Efr),
        .Trr          (Trr),
        .JitterRp     (JitterRp),
        .Depth        (Depth),
        .RefillClocks (RefillClocks),
        .Granularity  (Granularity),
        .TokensPerStep(TokensPerStep),
        .LineRate     (LineRate),
        .MaxOctets    (MaxOctets)
    ) u_point (
        .clk_i,
        .rst_i,
        .start_i(start_i[i]),
        .signal_valid_i(signal_valid[i]),
        .signal_ready_o(signal_ready[i]),
        .fb_i(fb),
        .tick_i,
        .random_byte_i(random_byte_i[i]),
        .random_timer_i(random_timer_i[i]),
        .draw_byte_o(draw_byte_o[i]),
        .draw_timer_o(draw_timer_o[i]),
        .gd_shift_i,
        .rpg_threshold_i,
        .rpg_byte_reset_i,
        .rpg_time_reset_i,
        .rpg_ai_rate_i,
        .rpg_hai_rate_i,
        .rpg_min_rate_i,
        .rpg_max_rate_i,
        .rp_jitter_i,
        .timer_on_i,
        .s_axis(s_axis_tx[i]),
        .s_axis_tvalid(s_axis_tx_tvalid[i]),
        .s_axis_tready(s_axis_tx_tready[i]),
        .s_axis_octets_i(s_axis_tx_octets_i[i]),
        .m_axis(m_axis_tx[i]),
        .m_axis_tvalid(m_axis_tx_tvalid[i]),
        .m_axis_tready(m_axis_tx_tready[i]),
        .current_rate_o(current_rate_o[i]),
        .target_rate_o(target_rate_o[i]),
        .byte_stage_o(byte_stage_o[i]),
        .time_stage_o(time_stage_o[i]),
        .phase_o(phase),
        .byte_remaining_o(byte_remaining_o[i]),
        .time_remaining_o(time_remaining_o[i]),
        .busy_o(busy_o[i]),
        .sent_valid_o(sent_valid_o[i]),
        .sent_octets_o(sent_octets_o[i]),
        .tokens_o(tokens_o[i]),
        .dropped_o(dropped_o[i])
    );
  end
endmodule

`default_nettype wire
