// SPDX-License-Identifier: Apache-2.0
//
// The memory of a delay line in block RAM: one write and one read port.
//
// Latency: the data of a read is there two clocks later. Throughput: a write and a read a clock.

`default_nettype none

module delay_memory #(
  // Words, a power of two, and the bits of each.
  parameter int unsigned Words = 1024,
  parameter int unsigned WordW = 93,
  // Bits of an address; not to be set.
  parameter int unsigned AddressW = $clog2(Words)
) (
  input var logic clk_i,

  input var logic                write_i,
  input var logic [AddressW-1:0] write_address_i,
  input var logic [   WordW-1:0] write_data_i,

  input var  logic                read_i,
  input var  logic [AddressW-1:0] read_address_i,
  output var logic [   WordW-1:0] read_data_o
);
  // A word is never read in the clock in which it is written: delay_line proves it.
  (* no_rw_check *)
  logic [WordW-1:0] words_q[Words];
  logic [WordW-1:0] read_q;

  always_ff @(posedge clk_i) begin
    if (write_i) words_q[write_address_i] <= write_data_i;
    if (read_i) read_q <= words_q[read_address_i];
    read_data_o <= read_q;
  end
endmodule

`default_nettype wire
