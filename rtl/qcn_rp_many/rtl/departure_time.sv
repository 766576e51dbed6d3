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

  // Two products of 17 × 18 bits: a hardware multiplier each, behind registers that have nothing else to be near to.
  logic  [      LineW-1:0] octets_q;
  logic  [      LineW-1:0] factor_q;
  gap_t                    gap_q;
  gap_t                    gap_factor_q;
  logic  [LineW+HalfW-1:0] low_q;
  logic  [LineW+HalfW-1:0] high_q;
  // The three to be added are made two first, without carries.
  time_t                   low;
  time_t                   high;
  time_t                   carries;

  assign low     = TimeW'(low_q);
  assign high    = TimeW'(high_q) << HalfW;
  assign carries = (time_i & low) | (time_i & high) | (low & high);

  always_ff @(posedge clk_i) begin
    octets_q     <= LineW'(octets_i) + LineW'(LineOctets);
    gap_q        <= gap_i;
    factor_q     <= octets_q;
    gap_factor_q <= gap_q;
    low_q        <= factor_q * gap_factor_q[HalfW-1:0];
    high_q       <= factor_q * gap_factor_q[GapW-1:HalfW];
    next_o       <= (time_i ^ low ^ high) + (carries << 1);
  end
endmodule

`default_nettype wire
