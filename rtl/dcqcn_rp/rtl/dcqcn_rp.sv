// SPDX-License-Identifier: Apache-2.0
//
// The DCQCN side of a NIC. Finds congestion notification packets (CNPs) among the arriving frames, hands each to the
// reaction point whose queue pair it is for, and releases the frames of each reaction point at its rate. (Zhu et al.
// 2015, sections 3.2 and 3.3)
//
// Ports with a leading range of ReactionPoints hold a field for each: field i is that of reaction point i. Settings are
// for all. Arriving frames go past this core: it looks on, and the CNPs go where the other frames go.
//
// Latency: from the last beat of a CNP to the clock in which its reaction point sees it 5 clocks; then that of
// dcqcn_rate_calculator. Throughput: a beat a clock on every stream; up to Depth CNPs wait for their reaction points.

`default_nettype none

module dcqcn_rp
  import penstock_pkg::*;
  import roce_pkg::*;
  import dcqcn_rp_pkg::*;
#(
  // At least 1.
  parameter int unsigned     ReactionPoints = 1,
  // CNPs that may wait: a power of two, at least 2.
  parameter int unsigned     CnpDepth       = 8,
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

  // Frames that arrive: a stream between two others, on which the core looks.
  input var axis_t rx_axis,
  input var logic  rx_axis_tvalid,
  input var logic  rx_axis_tready,

  // The reaction points' queue pairs, those of the sender, and that a flow begins.
  input var logic [ReactionPoints-1:0][23:0] qp_i,
  input var logic [ReactionPoints-1:0] start_i,

  // The time base.
  input var logic tick_i,

  // Settings: those of dcqcn_rate_calculator.
  input var alpha_t       alpha_init_i,
  input var logic   [3:0] g_shift_i,
  input var cycle_t       alpha_time_i,
  input var stage_t       threshold_i,
  input var cycle_t       byte_reset_i,
  input var cycle_t       time_reset_i,
  input var rate_t        ai_rate_i,
  input var rate_t        hai_rate_i,
  input var rate_t        min_rate_i,
  input var rate_t        max_rate_i,

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
  output var logic [ReactionPoints-1:0][AlphaW-1:0] alpha_o,
  output var logic [ReactionPoints-1:0][StageW-1:0] byte_stage_o,
  output var logic [ReactionPoints-1:0][StageW-1:0] time_stage_o,
  output var logic [ReactionPoints-1:0] busy_o,
  // A CNP is taken by its reaction point; those of rate_gate.
  output var logic [ReactionPoints-1:0] signal_o,
  output var logic [ReactionPoints-1:0] sent_valid_o,
  output var logic [ReactionPoints-1:0][FrameW-1:0] sent_octets_o,
  output var logic [ReactionPoints-1:0][FrameW-1:0] tokens_o,
  output var logic [ReactionPoints-1:0][31:0] dropped_o,

  // CNPs that came, that were dropped because too many waited, and that were for no reaction point. They stay at their
  // largest value.
  output var logic [31:0] cnps_o,
  output var logic [31:0] refused_o,
  output var logic [31:0] unknown_o
);
  logic                              valid;
  roce_header_t                      header;
  logic                              unused;
  logic                              cnp;
  logic                              full;
  logic                              empty;
  logic                              refused_q;
  qp_t                               head;
  logic                              shown_q;
  logic                              taken;
  logic         [ReactionPoints-1:0] signal_valid;
  logic         [ReactionPoints-1:0] signal_ready;

  roce_parser u_parser (
      .clk_i,
      .rst_i,
      .axis_i  (rx_axis),
      .taken_i (rx_axis_tvalid && rx_axis_tready),
      .valid_o (valid),
      .header_o(header)
  );

  assign cnp    = valid && header.opcode == OpcodeCnp;
  // The other fields of a CNP.
  assign unused = &{1'b0, header};

  small_fifo #(
      .Width($bits(qp_t)),
      .Depth(CnpDepth)
  ) u_cnps (
      .clk_i,
      .rst_i,
      .push_i (cnp),
      .data_i (header.destination_qp),
      .full_o (full),
      .pop_i  (taken),
      .data_o (head),
      .empty_o(empty)
  );

  // The demultiplexer has a CNP's queue pair a clock before it is asked.
  always_ff @(posedge clk_i) begin
    shown_q   <= !rst_i && !empty && !taken;
    refused_q <= !rst_i && cnp && full;
  end

  // It compares as many bits as an address has.
  logic [ReactionPoints-1:0][47:0] keys;
  for (genvar i = 0; i < ReactionPoints; ++i) begin : gen_key
    assign keys[i] = {24'd0, qp_i[i]};
  end

  fb_demux #(
      .ReactionPoints(ReactionPoints)
  ) u_demux (
      .clk_i,
      .rst_i,
      .message_valid_i(shown_q),
      .message_ready_o(taken),
      .destination_i  ({24'd0, head}),
      .mac_i          (keys),
      .signal_valid_o (signal_valid),
      .signal_ready_i (signal_ready),
      .unknown_o
  );

  assign signal_o = signal_valid & signal_ready;

  event_counter u_cnps_seen (
      .clk_i,
      .rst_i,
      .valid_i (cnp),
      .amount_i(1'b1),
      .count_o (cnps_o)
  );

  event_counter u_refused (
      .clk_i,
      .rst_i,
      .valid_i (refused_q),
      .amount_i(1'b1),
      .count_o (refused_o)
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
        .rate_i(current_rate_o[i]),
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

    // A frame counts for the byte counter in the clock in which it begins to go.
    dcqcn_rate_calculator u_calculator (
        .start_i(start_i[i]),
        .signal_valid_i(signal_valid[i]),
        .signal_ready_o(signal_ready[i]),
        .octets_i(sent_octets_o[i]),
        .current_rate_o(current_rate_o[i]),
        .target_rate_o(target_rate_o[i]),
        .alpha_o(alpha_o[i]),
        .byte_stage_o(byte_stage_o[i]),
        .time_stage_o(time_stage_o[i]),
        .busy_o(busy_o[i]),
        .*
    );
  end
endmodule

`default_nettype wire
