// SPDX-License-Identifier: Apache-2.0
//
// An input of the switch: takes the frames of MAC control out of those of a line, keeps the others until they are whole, and
// looks up which ports each goes to. (Kabbani and Yasuda 2010, section 3.2, figure 4)
//
// paused_o follows the last beat of a pause frame three clocks after it was shown, whatever waits behind.
// Latency: the first beat is at m_axis Entries + 12 clocks after the frame's last beat was shown, if none is before it.
// Throughput: a beat a clock, and Entries + 4 clocks between frames.

`default_nettype none

module switch_input
  import penstock_pkg::*;
  import pfc_pkg::*;
#(
  parameter int unsigned Ports         = 4,
  // Entries of the forwarding table.
  parameter int unsigned Entries       = 16,
  // Beats that wait.
  parameter int unsigned Words         = 512,
  parameter int unsigned MaxOctets     = 1522,
  // As pfc_rx's.
  parameter int unsigned QuantumClocks = 64,
  // Bits of an entry's number; not to be set.
  parameter int unsigned EntryW        = $clog2(Entries)
) (
  input var logic clk_i,
  input var logic rst_i,
  // Reset of all but the table's entries; rst_i is that of the entries, and comes with it or before.
  input var logic stop_i,

  // The table's entries, as forwarding_table has them.
  input var logic              write_i,
  input var logic [EntryW-1:0] write_entry_i,
  input var logic              write_used_i,
  input var logic [      47:0] write_mac_i,
  input var logic [ Ports-1:0] write_ports_i,
  input var logic [ Ports-1:0] default_ports_i,

  // The line: every beat is taken.
  input var axis_t s_axis,
  input var logic  s_axis_tvalid,

  // Good frames, and the ports that each goes to.
  output var axis_t             m_axis,
  output var logic              m_axis_tvalid,
  input var  logic              m_axis_tready,
  output var logic  [Ports-1:0] m_axis_ports_o,

  // Priorities that the neighbour has stopped.
  output var logic [ 7:0] paused_o,
  // Frames that were bad, found no room, were of MAC control but no good pause, for an address that the table does not have,
  // for no port; and pause frames.
  output var logic [31:0] bad_o,
  output var logic [31:0] dropped_o,
  output var logic [31:0] control_o,
  output var logic [31:0] unknown_o,
  output var logic [31:0] discarded_o,
  output var logic [31:0] pauses_o
);
  // The rest of a frame that was cut by a stop is no frame.
  logic in_frame_q;
  logic dropping_q;
  logic in_frame;
  logic accepted;

  assign in_frame = s_axis_tvalid ? !s_axis.last : in_frame_q;
  assign accepted = s_axis_tvalid && !dropping_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      in_frame_q <= 1'b0;
      dropping_q <= 1'b0;
    end else begin
      in_frame_q <= in_frame;
      dropping_q <= in_frame && (stop_i || dropping_q);
    end
  end

  axis_t                   line;
  logic                    line_tvalid;
  axis_t                   queued;
  logic                    queued_tvalid;
  logic                    queued_tready;

  // In front of the queue, which takes every beat: no pause waits behind data, or is lost where they find no room.
  logic                    clk;
  logic                    taken;
  logic                    unused;
  logic  [31:0]            malformed;
  logic  [31:0]            other;
  logic  [ 7:0]            next_paused;
  logic  [ 7:0]            named;
  logic  [ 7:0][TimeW-1:0] pause_clocks;
  assign unused = &{taken, next_paused, named, pause_clocks};

  // Nothing happens while no beat comes, but that a pause ends.
  clock_gate u_pfc_clock (
      .clk_i,
      .enable_i(rst_i || stop_i || s_axis_tvalid || line_tvalid || paused_o != '0),
      .clk_o(clk)
  );

  pfc_rx #(
      .QuantumClocks(QuantumClocks)
  ) u_pfc (
      .clk_i         (clk),
      .rst_i         (stop_i),
      .s_axis,
      .s_axis_tvalid (accepted),
      .s_axis_tready (taken),
      .m_axis        (line),
      .m_axis_tvalid (line_tvalid),
      .m_axis_tready (1'b1),
      .let_go_i      ('0),
      .ignore_i      ('0),
      .paused_o,
      .next_paused_o (next_paused),
      .named_o       (named),
      .pause_clocks_o(pause_clocks),
      .frames_o      (pauses_o),
      .malformed_o   (malformed),
      .other_o       (other)
  );
  // Both stay at their largest values, and so does their sum, which software sees a clock later.
  logic [32:0] sum;
  assign sum = {1'b0, malformed} + {1'b0, other};
  always_ff @(posedge clk) control_o <= sum[32] ? '1 : sum[31:0];

  switch_queue #(
      .Words    (Words),
      .MaxOctets(MaxOctets)
  ) u_fifo (
      .clk_i,
      .rst_i        (stop_i),
      .s_axis       (line),
      .s_axis_tvalid(line_tvalid),
      .m_axis       (queued),
      .m_axis_tvalid(queued_tvalid),
      .m_axis_tready(queued_tready),
      .bad_o,
      .dropped_o
  );

  // Behind the queue nothing happens between frames.
  logic table_clk;
  clock_gate u_table_clock (
      .clk_i,
      .enable_i(rst_i || stop_i || write_i || queued_tvalid || m_axis_tvalid),
      .clk_o(table_clk)
  );

  forwarding_table #(
      .Entries(Entries),
      .Ports  (Ports)
  ) u_table (
      .clk_i        (table_clk),
      .rst_i,
      .stop_i,
      .write_i,
      .write_entry_i,
      .write_used_i,
      .write_mac_i,
      .write_ports_i,
      .default_ports_i,
      .s_axis       (queued),
      .s_axis_tvalid(queued_tvalid),
      .s_axis_tready(queued_tready),
      .m_axis,
      .m_axis_tvalid,
      .m_axis_tready,
      .m_axis_ports_o,
      .unknown_o,
      .discarded_o
  );

`ifdef FORMAL
  // Safety: control_o counts both kinds of the clock before, or is all ones where that is more.
  logic        past_valid_q = 1'b0;
  logic [31:0] past_malformed_q;
  logic [31:0] past_other_q;
  always_ff @(posedge clk_i) begin
    past_valid_q     <= 1'b1;
    past_malformed_q <= malformed;
    past_other_q     <= other;
    if (past_valid_q) begin
      if (~past_malformed_q < past_other_q)
        assert (control_o == '1);
        else assert (control_o - past_malformed_q == past_other_q);
    end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (past_valid_q) cover (control_o == '1);
  end
`endif
endmodule

`default_nettype wire
