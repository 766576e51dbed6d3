// SPDX-License-Identifier: Apache-2.0
//
// What surrounds the rate calculators of a NIC's reaction points, QCN's and SMCC's alike. It extracts messages from the
// arriving frames, passes each to the reaction point whose MAC address is its destination, and releases the frames of each
// reaction point at its rate. (Kabbani and Yasuda 2010, section 3.2, figure 6; Jiang et al. 2015, section 5.1)
//
// Ports with a leading range of ReactionPoints hold a field for each: field i is that of reaction point i.
//
// Latency: from the last beat of a message to the clock in which its reaction point sees it 2 clocks; frames as rate_gate.
// Throughput: a beat a clock on every stream; back-to-back messages wait in the arriving stream.

`default_nettype none

module rp_shell
  import penstock_pkg::*;
#(
  // Messages of SMCC; else QCN's.
  parameter bit              Smcc           = 1'b0,
  // At least 1.
  parameter int unsigned     ReactionPoints = 1,
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

  // Those of message_receiver: arriving frames, and those of them that are no messages.
  input var  logic  drop_if_busy_i,
  input var  axis_t s_axis_rx,
  input var  logic  s_axis_rx_tvalid,
  output var logic  s_axis_rx_tready,
  output var axis_t m_axis_rx,
  output var logic  m_axis_rx_tvalid,
  input var  logic  m_axis_rx_tready,

  // The reaction points' MAC addresses, their messages with the fields, and their rates.
  input var logic [ReactionPoints-1:0][47:0] mac_i,
  output var logic [ReactionPoints-1:0] signal_valid_o,
  input var logic [ReactionPoints-1:0] signal_ready_i,
  output var logic [5:0] fb_o,
  output var logic [63:0] cp_id_o,
  output var logic [31:0] q_off_o,
  output var logic [31:0] q_delta_o,
  input var logic [ReactionPoints-1:0][RateW-1:0] rate_i,

  // The reaction points' frames (octets_i: length with FCS), and those that go.
  input var axis_t [ReactionPoints-1:0] s_axis_tx,
  input var logic [ReactionPoints-1:0] s_axis_tx_tvalid,
  output var logic [ReactionPoints-1:0] s_axis_tx_tready,
  input var logic [ReactionPoints-1:0][FrameW-1:0] s_axis_tx_octets_i,
  output var axis_t [ReactionPoints-1:0] m_axis_tx,
  output var logic [ReactionPoints-1:0] m_axis_tx_tvalid,
  input var logic [ReactionPoints-1:0] m_axis_tx_tready,

  // A message is taken by its reaction point; those of rate_gate.
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
  logic        message_valid;
  logic        message_ready;
  logic [47:0] destination;
  // A reaction point is found by its address.
  logic        cn_tagged;
  logic [15:0] cn_flow;
  logic        unused;

  assign unused   = &{1'b0, cn_tagged, cn_flow};
  assign signal_o = signal_valid_o & signal_ready_i;

  message_receiver #(
      .Smcc(Smcc)
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
      .cn_tagged_o(cn_tagged),
      .cn_flow_o(cn_flow),
      .fb_o,
      .cp_id_o,
      .q_off_o,
      .q_delta_o,
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
      .signal_valid_o,
      .signal_ready_i,
      .unknown_o
  );

  for (genvar i = 0; i < ReactionPoints; ++i) begin : gen_point
    rate_gate #(
        .Depth(Depth),
        .RefillClocks(RefillClocks),
        .Granularity(Granularity),
        .TokensPerStep(TokensPerStep),
        .LineRate(LineRate),
        .MaxOctets(MaxOctets)
    ) u_gate (
        .clk_i,
        .rst_i,
        .rate_i(rate_i[i]),
        .s_axis(s_axis_tx[i]),
        .s_axis_tvalid(s_axis_tx_tvalid[i]),
        .s_axis_tready(s_axis_tx_tready[i]),
        .s_axis_octets_i(s_axis_tx_octets_i[i]),
        .m_axis(m_axis_tx[i]),
        .m_axis_tvalid(m_axis_tx_tvalid[i]),
        .m_axis_tready(m_axis_tx_tready[i]),
        .sent_valid_o(sent_valid_o[i]),
        .sent_octets_o(sent_octets_o[i]),
        .tokens_o(tokens_o[i]),
        .dropped_o(dropped_o[i])
    );
  end
endmodule

`default_nettype wire
