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
  logic [ReactionPoints-1:0] signal_valid;
  logic [ReactionPoints-1:0] signal_ready;
  logic [               5:0] fb;
  logic [              63:0] cp_id;
  logic [              31:0] q_off;
  logic [              31:0] q_delta;
  logic                      unused;

  assign unused = &{1'b0, cp_id, q_off, q_delta};

  rp_shell #(
      .Smcc          (1'b0),
      .ReactionPoints(ReactionPoints),
      .Depth         (Depth),
      .RefillClocks  (RefillClocks),
      .Granularity   (Granularity),
      .TokensPerStep (TokensPerStep),
      .LineRate      (LineRate),
      .MaxOctets     (MaxOctets)
  ) u_shell (
      .signal_valid_o(signal_valid),
      .signal_ready_i(signal_ready),
      .fb_o          (fb),
      .cp_id_o       (cp_id),
      .q_off_o       (q_off),
      .q_delta_o     (q_delta),
      .rate_i        (current_rate_o),
      .*
  );

  for (genvar i = 0; i < ReactionPoints; ++i) begin : gen_point
    phase_e phase;
    assign phase_o[i] = phase;

    // The calculator has something to do when something happens, and until it is served.
    logic clk;
    clock_gate u_clock (
        .clk_i,
        .enable_i(rst_i || start_i[i] || signal_valid[i] || sent_valid_o[i] || tick_i || busy_o[i]),
        .clk_o(clk)
    );

    // A frame counts for the byte counter in the clock in which it begins to go.
    qcn_rate_calculator #(
        .Features     (Features),
        .HaiMultiplier(HaiMultiplier),
        .Efr          (Efr),
        .Trr          (Trr),
        .JitterRp     (JitterRp)
    ) u_calculator (
        .clk_i(clk),
        .start_i(start_i[i]),
        .signal_valid_i(signal_valid[i]),
        .signal_ready_o(signal_ready[i]),
        .fb_i(fb),
        .octets_i(sent_octets_o[i]),
        .random_byte_i(random_byte_i[i]),
        .random_timer_i(random_timer_i[i]),
        .draw_byte_o(draw_byte_o[i]),
        .draw_timer_o(draw_timer_o[i]),
        .current_rate_o(current_rate_o[i]),
        .target_rate_o(target_rate_o[i]),
        .byte_stage_o(byte_stage_o[i]),
        .time_stage_o(time_stage_o[i]),
        .phase_o(phase),
        .byte_remaining_o(byte_remaining_o[i]),
        .time_remaining_o(time_remaining_o[i]),
        .busy_o(busy_o[i]),
        .*
    );
  end
endmodule

`default_nettype wire
