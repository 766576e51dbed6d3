// SPDX-License-Identifier: Apache-2.0
//
// A counter of the events since reset. At its largest value it stays: it never starts again from 0.
//
// Latency: an amount of clock c is in count_o from c + 1 on. Throughput: one a clock.

`default_nettype none

module event_counter #(
  // Bits of the counter.
  parameter int unsigned Width   = 32,
  // Bits of an amount, less than Width.
  parameter int unsigned AmountW = 1
) (
  input var logic clk_i,
  input var logic rst_i,

  input var  logic               valid_i,
  input var  logic [AmountW-1:0] amount_i,
  output var logic [  Width-1:0] count_o
);
  if (AmountW >= Width) begin : gen_bad_width
    $fatal(0, "AmountW is less than Width (instance %m)");
  end

  logic             over;
  logic [Width-1:0] sum;
  assign {over, sum} = {1'b0, count_o} + (Width + 1)'(amount_i);

  always_ff @(posedge clk_i) begin
    if (rst_i) count_o <= '0;
    else if (valid_i) count_o <= over ? '1 : sum;
  end
endmodule

`default_nettype wire
