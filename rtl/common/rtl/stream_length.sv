// SPDX-License-Identifier: Apache-2.0
//
// The length of a frame beside its first beat, for a frame that a FIFO holds until it is whole: counted as beats go into
// that FIFO, shown as they leave it. The FIFO drops nothing; it makes its source wait.
//
// A frame whose last beat goes in in clock c has its length from c + 1 on, behind those in front of it. While full_o is
// high there is no slot for one more: a last beat that goes in all the same has no length, so the source is to wait.
// Throughput: a beat in and a beat out a clock.

`default_nettype none

module stream_length
  import penstock_pkg::*;
  import cn_frame_pkg::*;
#(
  // Frames that may be in the FIFO at a time: a power of two, at least 2.
  parameter int unsigned Depth = 64
) (
  input var logic clk_i,
  input var logic rst_i,

  // A beat goes into the FIFO of frames.
  input var  logic                  in_i,
  input var  logic [BeatOctets-1:0] in_keep_i,
  input var  logic                  in_last_i,
  output var logic                  full_o,

  // A beat leaves it.
  input var  logic          out_i,
  input var  logic          out_last_i,
  // The length of the frame whose beats leave, or are the next to leave, with its FCS; there is none.
  output var frame_octets_t octets_o,
  output var logic          empty_o
);
  frame_octets_t before_q;
  frame_octets_t octets;

  assign octets = before_q + FrameW'(unsigned'($countones(in_keep_i)));

  always_ff @(posedge clk_i) begin
    if (rst_i) before_q <= FrameW'(FcsOctets);
    else if (in_i) before_q <= in_last_i ? FrameW'(FcsOctets) : octets;
  end

  small_fifo #(
      .Width(FrameW),
      .Depth(Depth)
  ) u_lengths (
      .clk_i,
      .rst_i,
      .push_i(in_i && in_last_i),
      .data_i(octets),
      .full_o,
      .pop_i (out_i && out_last_i),
      .data_o(octets_o),
      .empty_o
  );
endmodule

`default_nettype wire
