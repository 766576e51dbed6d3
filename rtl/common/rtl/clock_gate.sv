// SPDX-License-Identifier: Apache-2.0
//
// The clock of logic that often has nothing to do. In hardware, and in every test of a core, it is the clock. In simulations
// for speed (PENSTOCK_FAST) it stands while the logic sleeps, so that nothing is evaluated: its user promises that
// without enable_i no register would change, but for the Settle clocks that follow.
//
// Latency: none. A clock in which enable_i is high counts.

`default_nettype none

module clock_gate #(
  // Clocks from the last in which there was something to do to the one in which all registers stay, up to 255.
  parameter int unsigned Settle = 8
) (
  input var  logic clk_i,
  // There is something to do in this clock; high in reset.
  input var  logic enable_i,
  output var logic clk_o
);
`ifdef PENSTOCK_FAST
  logic [7:0] remaining_q;
  logic       on_q;

  always_ff @(posedge clk_i) begin
    if (enable_i) remaining_q <= 8'(Settle);
    else if (remaining_q != '0) remaining_q <= remaining_q - 1'b1;
  end

  // Decided in the middle of the clock, so that the edge at its end is whole.
  always_ff @(negedge clk_i) on_q <= enable_i || remaining_q != '0;
  assign clk_o = clk_i && on_q;
`else
  logic unused;
  assign unused = enable_i || Settle != 0;
  assign clk_o  = clk_i;
`endif
endmodule

`default_nettype wire
