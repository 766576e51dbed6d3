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

`ifdef FORMAL
  // Safety: the count is that of the clock before and the amount, or all ones where that is more; it never falls.
  logic               past_valid_q = 1'b0;
  logic               past_reset_q;
  logic               past_event_q;
  logic [AmountW-1:0] past_amount_q;
  logic [  Width-1:0] past_count_q;
  logic [    Width:0] due;
  assign due = {1'b0, past_count_q} + (past_event_q ? (Width + 1)'(past_amount_q) : '0);
  always_ff @(posedge clk_i) begin
    past_valid_q  <= 1'b1;
    past_reset_q  <= rst_i;
    past_event_q  <= valid_i;
    past_amount_q <= amount_i;
    past_count_q  <= count_o;
    if (!past_valid_q) assume (rst_i);
    if (past_valid_q) begin
      if (past_reset_q)
        assert (count_o == '0);
        else begin
          assert (count_o >= past_count_q);
          assert (count_o == (due[Width] ? '1 : due[Width-1:0]));
        end
    end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (past_valid_q) begin
      cover (count_o > past_count_q);
    end
  end
`endif
endmodule

`default_nettype wire
