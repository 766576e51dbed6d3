// SPDX-License-Identifier: Apache-2.0
//
// The notification point of DCQCN: answers frames of RoCEv2 that arrive with ECN's CE mark. It sends congestion notification
// packets (CNPs), one in an interval for each queue pair. (Zhu et al. 2015, sections 3.1 and 3.3)
//
// A CNP goes back to where the marked frame came from, to the queue pair that the table has for the frame's. Up to
// Depth CNPs wait; a mark that would be answered and finds no place is counted as lost, and its timer does not begin. CNPs are
// not answered, whatever their marks.
//
// Latency: a CNP begins to leave 9 clocks after the last beat of the marked frame, with beats of 512 bits 37 clocks.
// Throughput: a beat a clock, a CNP in 37 clocks or 39 (cnp_frame).

`default_nettype none

module cnp_generator
  import penstock_pkg::*;
  import roce_pkg::*;
#(
  // Entries of the table: a power of two from 2 to 4096.
  parameter int unsigned QueuePairs = 64,
  // CNPs that may wait: a power of two, at least 2.
  parameter int unsigned Depth = 8,
  localparam int unsigned IndexW = $clog2(QueuePairs)
) (
  input var logic clk_i,
  input var logic rst_i,

  // Frames that arrive: a stream between two others, on which the core looks.
  input var axis_t rx_axis,
  input var logic  rx_axis_tvalid,
  input var logic  rx_axis_tready,

  // The time base; ticks from a CNP to the next one of a queue pair, below 2^31.
  input var logic        tick_i,
  input var logic [31:0] interval_i,

  // Writes an entry of the table, which lies at the lower bits of its queue pair's number.
  input var logic              write_i,
  input var logic [IndexW-1:0] write_index_i,
  input var logic              write_valid_i,
  input var qp_t               write_qp_i,
  input var qp_t               write_peer_i,

  // CNPs: IPv4's octet of DSCP and ECN, priority of a tag, UDP's source port.
  input var logic [ 7:0] tos_i,
  input var logic [ 2:0] priority_i,
  input var logic [15:0] udp_source_i,

  output var axis_t m_axis,
  output var logic  m_axis_tvalid,
  input var  logic  m_axis_tready,

  // Marked frames of queue pairs in the table, CNPs, marks of others, and CNPs that found no place. They stay at their largest
  // value.
  output var logic [31:0] marks_o,
  output var logic [31:0] cnps_o,
  output var logic [31:0] unknown_o,
  output var logic [31:0] lost_o
);
  typedef struct packed {
    roce_header_t header;
    qp_t          peer;
  } request_t;

  logic         valid;
  roce_header_t header;
  roce_header_t header_q;
  logic         mark;
  logic         known;
  logic         due;
  logic         judged;
  qp_t          peer;
  logic         full;
  logic         empty;
  logic         done;
  request_t     head;

  roce_parser u_parser (
      .clk_i,
      .rst_i,
      .axis_i  (rx_axis),
      .taken_i (rx_axis_tvalid && rx_axis_tready),
      .valid_o (valid),
      .header_o(header)
  );

  assign mark = valid && header.ecn == 2'b11 && header.opcode != OpcodeCnp;

  cnp_timers #(
      .QueuePairs(QueuePairs)
  ) u_timers (
      .clk_i,
      .rst_i,
      .tick_i,
      .interval_i,
      .write_i,
      .write_index_i,
      .write_valid_i,
      .write_qp_i,
      .write_peer_i,
      .mark_i  (mark),
      .qp_i    (header.destination_qp),
      .known_o (known),
      .due_o   (due),
      .peer_o  (peer),
      .judged_o(judged),
      .answer_i(!full)
  );

  always_ff @(posedge clk_i) header_q <= header;

  small_fifo #(
      .Width($bits(request_t)),
      .Depth(Depth)
  ) u_requests (
      .clk_i,
      .rst_i,
      .push_i (due),
      .data_i ({header_q, peer}),
      .full_o (full),
      .pop_i  (done),
      .data_o (head),
      .empty_o(empty)
  );

  cnp_frame u_frame (
      .clk_i,
      .rst_i,
      .tos_i,
      .priority_i,
      .udp_source_i,
      .request_valid_i(!empty),
      .request_done_o (done),
      .header_i       (head.header),
      .peer_i         (head.peer),
      .m_axis,
      .m_axis_tvalid,
      .m_axis_tready
  );

  event_counter u_marks (
      .clk_i,
      .rst_i,
      .valid_i (known),
      .amount_i(1'b1),
      .count_o (marks_o)
  );

  event_counter u_cnps (
      .clk_i,
      .rst_i,
      .valid_i (due && !full),
      .amount_i(1'b1),
      .count_o (cnps_o)
  );

  event_counter u_unknown (
      .clk_i,
      .rst_i,
      .valid_i (judged && !known),
      .amount_i(1'b1),
      .count_o (unknown_o)
  );

  event_counter u_lost (
      .clk_i,
      .rst_i,
      .valid_i (due && full),
      .amount_i(1'b1),
      .count_o (lost_o)
  );
endmodule

`default_nettype wire
