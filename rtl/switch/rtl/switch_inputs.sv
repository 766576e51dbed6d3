// SPDX-License-Identifier: Apache-2.0
//
// The inputs of the switch into one stream, a frame at a time, each with the ports that it goes to. (Kabbani and Yasuda
// 2010, section 3.2: packets are arbitrated in a round-robin fashion)
//
// Each input looks up its own frames while those of others go.
//
// Latency: that of switch_input and of frame_arbiter. Throughput: a beat a clock, and one clock between frames.

`default_nettype none

module switch_inputs
  import penstock_pkg::*;
#(
  // Those of switch_input.
  parameter int unsigned Ports         = 4,
  parameter int unsigned Entries       = 16,
  parameter int unsigned Words         = 512,
  parameter int unsigned MaxOctets     = 1522,
  parameter int unsigned DataPriority  = 3,
  parameter int unsigned QuantumClocks = 64,
  // Bits of an entry's number; not to be set.
  parameter int unsigned EntryW        = $clog2(Entries)
) (
  input var logic clk_i,
  input var logic rst_i,
  // Reset of all but the tables' entries; rst_i is that of the entries, and comes with it or before.
  input var logic stop_i,

  // The table's entries, as forwarding_table has them.
  input var logic              write_i,
  input var logic [EntryW-1:0] write_entry_i,
  input var logic              write_used_i,
  input var logic [      47:0] write_mac_i,
  input var logic [ Ports-1:0] write_ports_i,
  input var logic [ Ports-1:0] default_ports_i,

  // The lines: every beat is taken.
  input var axis_t [Ports-1:0] s_axis_line,
  input var logic  [Ports-1:0] s_axis_line_tvalid,

  // Good frames, and the ports that each goes to, with each of its beats.
  output var axis_t             m_axis,
  output var logic              m_axis_tvalid,
  input var  logic              m_axis_tready,
  output var logic  [Ports-1:0] m_axis_ports_o,

  // Ports whose neighbour has stopped data of DataPriority; counters as switch_input's.
  output var logic [Ports-1:0]       paused_o,
  output var logic [Ports-1:0][31:0] bad_o,
  output var logic [Ports-1:0][31:0] dropped_o,
  output var logic [Ports-1:0][31:0] control_o,
  output var logic [Ports-1:0][31:0] unknown_o,
  output var logic [Ports-1:0][31:0] discarded_o,
  output var logic [Ports-1:0][31:0] pauses_o
);
  localparam int unsigned SourceW = $clog2(Ports);

  axis_t [Ports-1:0]            inputs;
  logic  [Ports-1:0]            in_tvalid;
  logic  [Ports-1:0]            in_tready;
  logic  [Ports-1:0][Ports-1:0] in_ports;

  for (genvar p = 0; p < Ports; ++p) begin : gen_input
    logic [7:0] stopped;
    logic       unused;
    assign unused      = &stopped;
    assign paused_o[p] = stopped[DataPriority];

    switch_input #(
        .Ports        (Ports),
        .Entries      (Entries),
        .Words        (Words),
        .MaxOctets    (MaxOctets),
        .QuantumClocks(QuantumClocks)
    ) u_input (
        .clk_i,
        .rst_i,
        .stop_i,
        .write_i,
        .write_entry_i,
        .write_used_i,
        .write_mac_i,
        .write_ports_i,
        .default_ports_i,
        .s_axis        (s_axis_line[p]),
        .s_axis_tvalid (s_axis_line_tvalid[p]),
        .m_axis        (inputs[p]),
        .m_axis_tvalid (in_tvalid[p]),
        .m_axis_tready (in_tready[p]),
        .m_axis_ports_o(in_ports[p]),
        .paused_o      (stopped),
        .bad_o         (bad_o[p]),
        .dropped_o     (dropped_o[p]),
        .control_o     (control_o[p]),
        .unknown_o     (unknown_o[p]),
        .discarded_o   (discarded_o[p]),
        .pauses_o      (pauses_o[p])
    );
  end

  logic [SourceW-1:0] source;
  logic               unused_info;
  assign unused_info = &source;

  frame_arbiter #(
      .Inputs(Ports)
  ) u_arbiter (
      .clk_i,
      .rst_i          (stop_i),
      .s_axis         (inputs),
      .s_axis_tvalid  (in_tvalid),
      .s_axis_tready  (in_tready),
      .hold_i         (1'b0),
      .m_axis,
      .m_axis_tvalid,
      .m_axis_tready,
      .m_axis_source_o(source)
  );

  // The ports of the beat that the arbiter takes now, which it shows next.
  logic [Ports-1:0] ports;
  always_comb begin
    ports = '0;
    for (int unsigned p = 0; p < Ports; ++p) begin
      ports |= in_tvalid[p] && in_tready[p] ? in_ports[p] : '0;
    end
  end
  always_ff @(posedge clk_i) if (ports != '0) m_axis_ports_o <= ports;
endmodule

`default_nettype wire
