// SPDX-License-Identifier: Apache-2.0
//
// The SMCC side of a NIC. Extracts messages from the arriving frames, passes each to the reaction point whose MAC
// address is its destination, and releases the frames of each reaction point at its rate. (Jiang et al. 2015, section 5.1)
//
// Ports with a leading range of ReactionPoints hold a field for each: field i is that of reaction point i. Settings are
// for all.
//
// Latency: from the last beat of a message to the clock in which its reaction point sees it 2 clocks; then that of
// smcc_rate_calculator. Throughput: a beat a clock on every stream; back-to-back messages wait in the arriving stream.

`default_nettype none

module smcc_rp
  import penstock_pkg::*;
  import smcc_rp_pkg::*;
#(
  // At least 1.
  parameter int unsigned     ReactionPoints = 1,
  // delta_zero_e
  parameter int unsigned     DeltaZero      = 32'(StateA),
  parameter bit              BoundOnly      = 1'b1,
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

  // Settings: those of smcc_rate_calculator.
  input var gain_t alpha_i,
  input var gain_t alpha_small_i,
  input var gain_t beta_i,
  input var diff_t t1_i,
  input var logic  two_stage_i,
  input var rate_t min_rate_i,
  input var rate_t max_rate_i,

  // The reaction points' frames (octets_i: length with FCS), and those that go.
  input var axis_t [ReactionPoints-1:0] s_axis_tx,
  input var logic [ReactionPoints-1:0] s_axis_tx_tvalid,
  output var logic [ReactionPoints-1:0] s_axis_tx_tready,
  input var logic [ReactionPoints-1:0][FrameW-1:0] s_axis_tx_octets_i,
  output var axis_t [ReactionPoints-1:0] m_axis_tx,
  output var logic [ReactionPoints-1:0] m_axis_tx_tvalid,
  input var logic [ReactionPoints-1:0] m_axis_tx_tready,

  // The state of the reaction points.
  output var logic [ReactionPoints-1:0][RateW-1:0] rate_o,
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
  logic   [ReactionPoints-1:0] signal_valid;
  logic   [ReactionPoints-1:0] signal_ready;
  logic   [               5:0] fb;
  cp_id_t                      cp_id;
  diff_t                       q_off;
  diff_t                       q_delta;
  logic                        unused;

  assign unused = &{1'b0, fb};

  rp_shell #(
      .Smcc          (1'b1),
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
      .rate_i        (rate_o),
      .*
  );

  // Notices alone move the rate: nothing counts sent frames.
  for (genvar i = 0; i < ReactionPoints; ++i) begin : gen_point
    smcc_rate_calculator #(
        .DeltaZero(DeltaZero),
        .BoundOnly(BoundOnly)
    ) u_calculator (
        .start_i(start_i[i]),
        .signal_valid_i(signal_valid[i]),
        .signal_ready_o(signal_ready[i]),
        .cp_id_i(cp_id),
        .q_off_i(q_off),
        .q_delta_i(q_delta),
        .rate_o(rate_o[i]),
        .*
    );
  end
endmodule

`default_nettype wire
