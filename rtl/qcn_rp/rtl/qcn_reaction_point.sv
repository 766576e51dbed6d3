// SPDX-License-Identifier: Apache-2.0
//
// A reaction point of QCN: the rate calculator, and the gate that lets a flow's frames go at its rate.
// (Kabbani and Yasuda 2010, section 3.2, figure 6)
//
// A frame counts for the byte counter in the clock in which it begins to go.
//
// Latency and throughput: those of qcn_rate_calculator and of rate_gate.

`default_nettype none

module qcn_reaction_point
  import penstock_pkg::*;
  import qcn_rp_pkg::*;
#(
  // features_e
  parameter bit              Features      = Full,
  // hai_multiplier_e
  parameter bit              HaiMultiplier = MinCount,
  // efr_e
  parameter bit              Efr           = ByteStage,
  // trr_e
  parameter bit              Trr           = FirstCycle,
  // jitter_rp_e
  parameter bit              JitterRp      = Reload,
  // Those of token_bucket.
  parameter int unsigned     Depth         = 3000,
  parameter int unsigned     RefillClocks  = 2000,
  parameter int unsigned     Granularity   = 500_000,
  parameter int unsigned     TokensPerStep = 1,
  parameter longint unsigned LineRate      = 64'd1_000_000_000,
  parameter int unsigned     MaxOctets     = 1518
) (
  input var logic clk_i,
  input var logic rst_i,

  // A flow begins.
  input var logic start_i,

  // A notification.
  input var  logic       signal_valid_i,
  output var logic       signal_ready_o,
  input var  logic [5:0] fb_i,

  // The time base; random words for cycles that begin in this clock, and whether they are drawn.
  input var  logic    tick_i,
  input var  random_t random_byte_i,
  input var  random_t random_timer_i,
  output var logic    draw_byte_o,
  output var logic    draw_timer_o,

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

  // The flow's frames; octets_i is a frame's length with its FCS.
  input var axis_t s_axis,
  input var logic s_axis_tvalid,
  output var logic s_axis_tready,
  input var frame_octets_t s_axis_octets_i,

  // Those that go.
  output var axis_t m_axis,
  output var logic  m_axis_tvalid,
  input var  logic  m_axis_tready,

  output var rate_t                current_rate_o,
  output var rate_t                target_rate_o,
  output var stage_t               byte_stage_o,
  output var stage_t               time_stage_o,
  output var phase_e               phase_o,
  output var remaining_t           byte_remaining_o,
  output var remaining_t           time_remaining_o,
  output var logic                 busy_o,
  // A frame begins to go, and its length.
  output var logic                 sent_valid_o,
  output var frame_octets_t        sent_octets_o,
  // Octets in the bucket; frames that were dropped because it can never hold them.
  output var frame_octets_t        tokens_o,
  output var logic          [31:0] dropped_o
);
  // The calculator has something to do when something happens, and until it is served.
  logic clk_calculator;
  clock_gate u_clock (
      .clk_i,
      .enable_i(rst_i || start_i || signal_valid_i || sent_valid_o || tick_i || busy_o),
      .clk_o(clk_calculator)
  );

  qcn_rate_calculator #(
      .Features(Features),
      .HaiMultiplier(HaiMultiplier),
      .Efr(Efr),
      .Trr(Trr),
      .JitterRp(JitterRp)
  ) u_calculator (
      .clk_i(clk_calculator),
      .rst_i,
      .start_i,
      .signal_valid_i,
      .signal_ready_o,
      .fb_i,
      .octets_i(sent_octets_o),
      .tick_i,
      .random_byte_i,
      .random_timer_i,
      .draw_byte_o,
      .draw_timer_o,
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
      .current_rate_o,
      .target_rate_o,
      .byte_stage_o,
      .time_stage_o,
      .phase_o,
      .byte_remaining_o,
      .time_remaining_o,
      .busy_o
  );

  rate_gate #(
      .Depth        (Depth),
      .RefillClocks (RefillClocks),
      .Granularity  (Granularity),
      .TokensPerStep(TokensPerStep),
      .LineRate     (LineRate),
      .MaxOctets    (MaxOctets)
  ) u_gate (
      .clk_i,
      .rst_i,
      .rate_i(current_rate_o),
      .s_axis,
      .s_axis_tvalid,
      .s_axis_tready,
      .s_axis_octets_i,
      .m_axis,
      .m_axis_tvalid,
      .m_axis_tready,
      .sent_valid_o,
      .sent_octets_o,
      .tokens_o,
      .dropped_o
  );
endmodule

`default_nettype wire
