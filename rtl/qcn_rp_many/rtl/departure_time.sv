// SPDX-License-Identifier: Apache-2.0
//
// When the next frame of a flow may go: the time of this one, and what its octets take at the flow's rate.
//
// Exact: next = time + (octets + 20) × gap, 20 for preamble and gap on the line. Latency: 4 clocks. Throughput: one a clock.

`default_nettype none

module departure_time
  import penstock_pkg::*;
  import cn_frame_pkg::*;
  import qcn_flows_pkg::*;
(
  input var  logic          clk_i,
  // Stays for three clocks.
  input var  time_t         time_i,
  input var  frame_octets_t octets_i,
  input var  gap_t          gap_i,
  output var time_t         next_o
);
  localparam int unsigned HalfW = GapW / 2;
  localparam int unsigned LineW = FrameW + 1;

  // Two products of 17 × 18 bits: a hardware multiplier each.
  logic  [      LineW-1:0] octets_q;
  gap_t                    gap_q;
  logic  [LineW+HalfW-1:0] low_q;
  logic  [LineW+HalfW-1:0] high_q;
  time_t                   product_q;

  always_ff @(posedge clk_i) begin
    octets_q  <= LineW'(octets_i) + LineW'(LineOctets);
    gap_q     <= gap_i;
    low_q     <= octets_q * gap_q[HalfW-1:0];
    high_q    <= octets_q * gap_q[GapW-1:HalfW];
    product_q <= (TimeW'(high_q) << HalfW) + TimeW'(low_q);
    next_o    <= time_i + product_q;
  end
endmodule

`default_nettype wire
