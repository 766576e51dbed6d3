// SPDX-License-Identifier: Apache-2.0
//
// Two flip-flops that bring bits into a clock. Bits of one word may arrive a clock apart: the word is of Gray code, or each bit
// stands for itself.
//
// Latency: two clocks, or three where a bit changes beside an edge. In simulation with PENSTOCK_CROSSING_JITTER set to a time a bit that
// changed no longer before the edge takes the third clock at random. That is the difference of the lines' delays; it is to be less than
// the period of the sender.

`default_nettype none

module sync_bits #(
  parameter int unsigned Width = 1
) (
  input var logic clk_i,
  input var logic rst_i,

  // Of another clock: registers, for a glitch of logic would be taken for a value.
  input var  logic [Width-1:0] async_i,
  output var logic [Width-1:0] sync_o
);
  (* ASYNC_REG = "TRUE" *)
  logic [Width-1:0] first_q;
  (* ASYNC_REG = "TRUE" *)
  logic [Width-1:0] second_q;
  logic [Width-1:0] seen;

`ifdef PENSTOCK_CROSSING_JITTER
  logic [Width-1:0] past;
  always @(async_i) past <= #(`PENSTOCK_CROSSING_JITTER) async_i;
  always @(async_i or past or clk_i) begin
    seen = async_i;
    for (int unsigned n = 0; n < Width; ++n) if ($urandom % 2 == 0) seen[n] = past[n];
  end
`else
  assign seen = async_i;
`endif

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      first_q  <= '0;
      second_q <= '0;
    end else begin
      first_q  <= seen;
      second_q <= first_q;
    end
  end

  assign sync_o = second_q;
endmodule

`default_nettype wire
