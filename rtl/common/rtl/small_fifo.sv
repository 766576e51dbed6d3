// SPDX-License-Identifier: Apache-2.0
//
// A small FIFO in distributed memory: the entry at its head shows without being asked for.
//
// push_i in clock c shows at data_o from c + 1 on. A push while it is full and a pop while it is empty do nothing:
// the part that pushes looks at full_o and counts its losses.
// Throughput: a push and a pop a clock.

`default_nettype none

module small_fifo #(
  // Bits of an entry.
  parameter int unsigned Width = 32,
  // Entries: a power of two, at least 2.
  parameter int unsigned Depth = 16
) (
  input var logic clk_i,
  input var logic rst_i,

  input var  logic             push_i,
  input var  logic [Width-1:0] data_i,
  output var logic             full_o,

  input var  logic             pop_i,
  output var logic [Width-1:0] data_o,
  output var logic             empty_o
);
  localparam int unsigned AddressW = unsigned'($clog2(Depth));

  if (Depth < 2 || 2 ** AddressW != Depth) begin : gen_bad_depth
    $fatal(0, "Depth is a power of two from 2 on (instance %m)");
  end

  logic [ Width-1:0] entries_q[Depth];
  // One bit more than an address, so that full and empty differ.
  logic [AddressW:0] in_q;
  logic [AddressW:0] out_q;

  assign empty_o = in_q == out_q;
  assign full_o  = in_q == {!out_q[AddressW], out_q[AddressW-1:0]};
  assign data_o  = entries_q[out_q[AddressW-1:0]];

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      in_q  <= '0;
      out_q <= '0;
    end else begin
      if (push_i && !full_o) in_q <= in_q + 1'b1;
      if (pop_i && !empty_o) out_q <= out_q + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (push_i && !full_o) entries_q[in_q[AddressW-1:0]] <= data_i;
  end

`ifdef FORMAL
  // Safety: there are never more than Depth entries, and none comes or goes but by a push or a pop.
  logic              past_valid_q = 1'b0;
  logic [AddressW:0] count;
  logic [AddressW:0] past_count_q;
  logic              past_push_q;
  logic              past_pop_q;
  logic              past_reset_q;
  assign count = in_q - out_q;
  always_ff @(posedge clk_i) begin
    past_valid_q <= 1'b1;
    past_count_q <= count;
    past_push_q  <= push_i && !full_o;
    past_pop_q   <= pop_i && !empty_o;
    past_reset_q <= rst_i;
    if (!past_valid_q) assume (rst_i);
    if (past_valid_q) begin
      assert (32'(count) <= Depth);
      assert (full_o == (32'(count) == Depth));
      if (past_reset_q)
        assert (count == '0);
        else assert (32'(count) == 32'(past_count_q) + 32'(past_push_q) - 32'(past_pop_q));
    end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (past_valid_q) begin
      cover (full_o);
      cover (!past_reset_q && past_pop_q && empty_o);
    end
  end
`endif
endmodule

`default_nettype wire
