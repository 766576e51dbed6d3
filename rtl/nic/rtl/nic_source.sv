// SPDX-License-Identifier: Apache-2.0
//
// The frames of a reaction point: those of its packet generator, and those of the host that have its address, in turn.
// (Kabbani and Yasuda 2010, figure 6: packets are either forwarded from the host or internally generated)
//
// Latency: 2 clocks. Throughput: a beat a clock, and a clock between frames.

`default_nettype none

module nic_source
  import penstock_pkg::*;
#(
  // The longest generated frame, octets with its FCS.
  parameter int unsigned MaxOctets = 1518
) (
  input var logic clk_i,
  input var logic rst_i,

  // Those of udp_packet_generator.
  input var logic                 enable_i,
  input var frame_octets_t        octets_i,
  input var logic          [47:0] source_mac_i,
  input var logic          [47:0] destination_mac_i,
  input var logic          [31:0] source_ip_i,
  input var logic          [31:0] destination_ip_i,
  input var logic          [15:0] source_port_i,
  input var logic          [15:0] destination_port_i,

  // The host's; octets_i is a frame's length with its FCS, valid with its first beat until that is taken.
  input var  axis_t         s_axis,
  input var  logic          s_axis_tvalid,
  output var logic          s_axis_tready,
  input var  frame_octets_t s_axis_octets_i,

  output var axis_t         m_axis,
  output var logic          m_axis_tvalid,
  input var  logic          m_axis_tready,
  output var frame_octets_t m_axis_octets_o,

  output var logic [31:0] sequence_o
);
  // Generated frames are input 0, the host's input 1.
  localparam int unsigned Inputs = 2;

  axis_t                generated;
  logic                 generated_tvalid;
  frame_octets_t        generated_octets;
  logic                 generated_tready;
  logic                 source;

  // A frame that waits for its reaction point waits here, whole, and nothing else happens.
  logic                 clk;
  logic                 active;
  logic                 continues;
  // A setting that the header is made of is new. Only simulations for speed look at it; in hardware nothing does.
  logic                 changed;
  logic          [79:0] header_q;
  always_ff @(posedge clk_i) header_q <= {octets_i, source_ip_i, destination_ip_i};
  assign changed = header_q != {octets_i, source_ip_i, destination_ip_i};
  assign continues = m_axis_tvalid ? m_axis_tready : enable_i || generated_tvalid;
  assign active = rst_i || s_axis_tvalid || continues || changed;
  // The generator makes the next frame's header over and over, 9 clocks each time: when it is changed, twice more.
  clock_gate #(
      .Settle(20)
  ) u_clock (
      .clk_i,
      .enable_i(active),
      .clk_o(clk)
  );

  udp_packet_generator #(
      .MaxOctets(MaxOctets)
  ) u_generator (
      .clk_i          (clk),
      .rst_i,
      .enable_i,
      .octets_i,
      .source_mac_i,
      .destination_mac_i,
      .source_ip_i,
      .destination_ip_i,
      .source_port_i,
      .destination_port_i,
      .m_axis         (generated),
      .m_axis_tvalid  (generated_tvalid),
      .m_axis_tready  (generated_tready),
      .m_axis_octets_o(generated_octets),
      .sequence_o
  );

  frame_arbiter #(
      .Inputs(Inputs)
  ) u_arbiter (
      .clk_i          (clk),
      .rst_i,
      .s_axis         ({s_axis, generated}),
      .s_axis_tvalid  ({s_axis_tvalid, generated_tvalid}),
      .s_axis_tready  ({s_axis_tready, generated_tready}),
      .hold_i         (1'b0),
      .m_axis,
      .m_axis_tvalid,
      .m_axis_tready,
      .m_axis_source_o(source)
  );

  // The length of the frame whose first beat is taken, beside that beat.
  logic in_frame_q;
  logic host_taken;
  logic generated_taken;

  assign host_taken = s_axis_tvalid && s_axis_tready;
  assign generated_taken = generated_tvalid && generated_tready;

  always_ff @(posedge clk) begin
    if (rst_i) in_frame_q <= 1'b0;
    else if (host_taken) in_frame_q <= !s_axis.last;
    else if (generated_taken) in_frame_q <= !generated.last;
  end

  // A frame's last beat is shown, or nothing: any beat that is taken now is a first one, and the length of one that is
  // not taken is replaced.
  always_ff @(posedge clk) begin
    if (!in_frame_q && (!m_axis_tvalid || m_axis_tready)) begin
      m_axis_octets_o <= s_axis_tready ? s_axis_octets_i : generated_octets;
    end
  end

  // The arbiter says it too late to choose the length by it.
  logic unused;
  assign unused = source;
endmodule

`default_nettype wire
