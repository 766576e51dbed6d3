// SPDX-License-Identifier: Apache-2.0
//
// A reaction point of SMCC: the rate calculator, and the gate that lets a flow's frames go at its rate.
// (Jiang et al. 2015, section 5.1)
//
// Notices alone move the rate: nothing counts sent frames.
//
// Latency and throughput: those of smcc_rate_calculator and of rate_gate.

`default_nettype none

module smcc_reaction_point
  import penstock_pkg::*;
  import smcc_rp_pkg::*;
#(
  // delta_zero_e
  parameter int unsigned     DeltaZero     = 32'(StateA),
  parameter bit              BoundOnly     = 1'b1,
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

  // A notice.
  input var  logic   signal_valid_i,
  output var logic   signal_ready_o,
  input var  cp_id_t cp_id_i,
  input var  diff_t  q_off_i,
  input var  diff_t  q_delta_i,

  // Settings: those of smcc_rate_calculator.
  input var gain_t alpha_i,
  input var gain_t alpha_small_i,
  input var gain_t beta_i,
  input var diff_t t1_i,
  input var logic  two_stage_i,
  input var rate_t min_rate_i,
  input var rate_t max_rate_i,

  // The flow's frames; octets_i is a frame's length with its FCS.
  input var axis_t s_axis,
  input var logic s_axis_tvalid,
  output var logic s_axis_tready,
  input var frame_octets_t s_axis_octets_i,

  // Those that go.
  output var axis_t m_axis,
  output var logic  m_axis_tvalid,
  input var  logic  m_axis_tready,

  output var rate_t                rate_o,
  // A frame begins to go, and its length.
  output var logic                 sent_valid_o,
  output var frame_octets_t        sent_octets_o,
  // Octets in the bucket; frames that were dropped because it can never hold them.
  output var frame_octets_t        tokens_o,
  output var logic          [31:0] dropped_o
);
  smcc_rate_calculator #(
      .DeltaZero(DeltaZero),
      .BoundOnly(BoundOnly)
  ) u_calculator (
      .clk_i,
      .rst_i,
      .start_i,
      .signal_valid_i,
      .signal_ready_o,
      .cp_id_i,
      .q_off_i,
      .q_delta_i,
      .alpha_i,
      .alpha_small_i,
      .beta_i,
      .t1_i,
      .two_stage_i,
      .min_rate_i,
      .max_rate_i,
      .rate_o
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
      .rate_i(rate_o),
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
