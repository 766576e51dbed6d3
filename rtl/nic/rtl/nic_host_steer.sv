// SPDX-License-Identifier: Apache-2.0
//
// Chooses the path of each of the host's frames. One whose source address is that of a reaction point passes that point's
// gate, since messages about it are sent to that address. All others are sent through a port that is a setting.
//
// A frame's first two beats, which hold its source address, are kept until the path is known. A frame that ends before its
// source address is whole is no reaction point's. Of reaction points with the same address the lowest has the frame, as
// with messages.
//
// Latency: 3 clocks. Throughput: a beat a clock, and 3 clocks between frames.

`default_nettype none

module nic_host_steer
  import penstock_pkg::*;
#(
  // At least 1.
  parameter int unsigned ReactionPoints = 4,
  parameter int unsigned Ports          = 1
) (
  input var logic clk_i,
  input var logic rst_i,

  // Addresses of the reaction points, and the port of the frames that are none's (port 0 if there is no such).
  input var logic [ReactionPoints-1:0][47:0] mac_i,
  input var logic [               1:0]       port_i,

  // Frames; octets_i is a frame's length with its FCS, valid with its first beat until that is taken.
  input var  axis_t         s_axis,
  input var  logic          s_axis_tvalid,
  output var logic          s_axis_tready,
  input var  frame_octets_t s_axis_octets_i,

  // The same frames, and whose they are: valid and ready of reaction points, and of ports.
  output var axis_t                              m_axis,
  output var logic          [ReactionPoints-1:0] m_axis_point_tvalid,
  input var  logic          [ReactionPoints-1:0] m_axis_point_tready,
  output var logic          [         Ports-1:0] m_axis_port_tvalid,
  input var  logic          [         Ports-1:0] m_axis_port_tready,
  output var frame_octets_t                      m_axis_octets_o,

  // Frames that went through a gate, and that did not. They stay at their largest value.
  output var logic [31:0] paced_o,
  output var logic [31:0] unpaced_o
);
  if (ReactionPoints < 1) begin : gen_bad_number
    $fatal(0, "ReactionPoints is at least 1 (instance %m)");
  end
  if (Ports < 1 || Ports > 4) begin : gen_bad_ports
    $fatal(0, "Ports is 1 to 4 (instance %m)");
  end

  typedef enum logic [2:0] {
    // Takes the first beat, takes the second, finds the path.
    First,
    Second,
    Lookup,
    // Shows the first beat, shows the second, shows the others as they come.
    SendFirst,
    SendSecond,
    Pass
  } state_e;

  // Nothing happens between the host's frames.
  logic                             clk;
  state_e                           state_q;
  axis_t                            first_q;
  axis_t                            second_q;
  // Octets of the source address that are those of a reaction point: of the first beat, of the second.
  logic   [ReactionPoints-1:0][1:0] high_q;
  logic   [ReactionPoints-1:0][3:0] low_q;
  logic   [ReactionPoints-1:0]      match;
  logic   [ReactionPoints-1:0]      point_q;
  logic   [         Ports-1:0]      port_q;
  logic                             valid;
  logic                             ready;
  logic                             taken;

  always_comb begin
    match = '0;
    for (int unsigned i = ReactionPoints; i > 0; --i) begin
      if (&high_q[i-1] && &low_q[i-1]) begin
        match      = '0;
        match[i-1] = 1'b1;
      end
    end
    if (!second_q.keep[3]) match = '0;
  end

  always_comb begin
    case (state_q)
      SendFirst: m_axis = first_q;
      SendSecond: m_axis = second_q;
      default: m_axis = s_axis;
    endcase
  end

  assign valid = state_q == SendFirst || state_q == SendSecond || state_q == Pass && s_axis_tvalid;
  assign ready = ((point_q & m_axis_point_tready) != '0) || ((port_q & m_axis_port_tready) != '0);
  assign taken = valid && ready;
  assign s_axis_tready = state_q == First || state_q == Second || (state_q == Pass && ready);
  assign m_axis_point_tvalid = {ReactionPoints{valid}} & point_q;
  assign m_axis_port_tvalid = {Ports{valid}} & port_q;

  always_ff @(posedge clk) begin
    if (rst_i) begin
      state_q <= First;
    end else begin
      case (state_q)
        First: if (s_axis_tvalid) state_q <= s_axis.last ? Lookup : Second;
        Second: if (s_axis_tvalid) state_q <= Lookup;
        Lookup: state_q <= SendFirst;
        SendFirst: if (taken) state_q <= first_q.last ? First : SendSecond;
        SendSecond: if (taken) state_q <= second_q.last ? First : Pass;
        Pass: if (taken && s_axis.last) state_q <= First;
        default: state_q <= First;
      endcase
    end
  end

  always_ff @(posedge clk) begin
    if (state_q == First) begin
      first_q         <= s_axis;
      m_axis_octets_o <= s_axis_octets_i;
      // A frame of one beat has no source address.
      second_q.keep   <= '0;
    end
    if (state_q == Second) second_q <= s_axis;
    for (int unsigned i = 0; i < ReactionPoints; ++i) begin
      for (int unsigned j = 0; j < 2; ++j) begin
        if (state_q == First) high_q[i][j] <= s_axis.data[48+8*j+:8] == mac_i[i][40-8*j+:8];
      end
      for (int unsigned j = 0; j < 4; ++j) begin
        if (state_q == Second) low_q[i][j] <= s_axis.data[8*j+:8] == mac_i[i][24-8*j+:8];
      end
    end
    if (state_q == Lookup) begin
      point_q <= match;
      for (int unsigned i = 0; i < Ports; ++i) begin
        port_q[i] <= match == '0 && (32'(port_i) < Ports ? 32'(port_i) : 0) == i;
      end
    end
  end

  // Counted a clock later.
  logic paced_q;
  logic unpaced_q;
  always_ff @(posedge clk) begin
    if (rst_i) begin
      paced_q   <= 1'b0;
      unpaced_q <= 1'b0;
    end else begin
      paced_q   <= taken && m_axis.last && point_q != '0;
      unpaced_q <= taken && m_axis.last && point_q == '0;
    end
  end

  event_counter u_paced (
      .clk_i   (clk),
      .rst_i,
      .valid_i (paced_q),
      .amount_i(1'b1),
      .count_o (paced_o)
  );

  event_counter u_unpaced (
      .clk_i   (clk),
      .rst_i,
      .valid_i (unpaced_q),
      .amount_i(1'b1),
      .count_o (unpaced_o)
  );

  clock_gate u_clock (
      .clk_i,
      .enable_i(rst_i || s_axis_tvalid || state_q != First),
      .clk_o(clk)
  );

`ifdef FORMAL
  // Safety: no frame changes its path or takes two paths, no beat changes or is withdrawn while it waits. Assumed: a beat
  // that is shown at the input stays until it is taken.
  logic past_valid_q = 1'b0;
  logic past_in_q;
  logic past_out_q;
  logic past_inside_q;
  axis_t past_beat_q;
  axis_t past_shown_q;
  logic [ReactionPoints+Ports-1:0] route;
  logic [ReactionPoints+Ports-1:0] past_route_q;

  assign route = {point_q, port_q};

  always_ff @(posedge clk_i) begin
    past_valid_q  <= 1'b1;
    past_in_q     <= s_axis_tvalid && !s_axis_tready && !rst_i;
    past_out_q    <= valid && !ready && !rst_i;
    past_inside_q <= !rst_i && (state_q == SendFirst || state_q == SendSecond || state_q == Pass);
    past_beat_q   <= s_axis;
    past_shown_q  <= m_axis;
    past_route_q  <= route;
    if (!past_valid_q) assume (rst_i);
    if (past_valid_q) begin
      if (past_in_q) assume (s_axis_tvalid && beat == past_beat_q);
      assert (state_q <= Pass);
      if (state_q >= SendFirst) assert (route != '0 && (route & (route - 1'b1)) == '0);
      if (past_inside_q && state_q >= SendFirst) assert (route == past_route_q);
      if (past_out_q) assert (valid && m_axis == past_shown_q);
      if (state_q == Second) assert (!first_q.last);
      if (state_q == SendSecond || state_q == Pass) assert (!first_q.last);
      if (state_q == Pass) assert (!second_q.last);
    end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (past_valid_q) begin
      cover (state_q == Pass && past_out_q && ready);
    end
  end
`endif
endmodule

`default_nettype wire
