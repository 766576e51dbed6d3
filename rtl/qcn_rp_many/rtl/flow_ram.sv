// SPDX-License-Identifier: Apache-2.0
//
// A memory with a word for each flow, or bucket: block RAM of one port that writes and one that reads, whose output is registered.
//
// read_address_i in clock c shows at data_o in c + 2. A word that is written in clock c is read by an address from c + 1 on; what an
// address of clock c itself reads of it is not defined, and in simulation wrong.
// Throughput: a word a clock each way.

`default_nettype none

module flow_ram #(
  // Bits of a word, and words.
  parameter int unsigned Width = 32,
  parameter int unsigned Depth = 1024
) (
  input var logic clk_i,

  input var logic                     write_i,
  input var logic [$clog2(Depth)-1:0] write_address_i,
  input var logic [        Width-1:0] data_i,

  input var  logic [$clog2(Depth)-1:0] read_address_i,
  output var logic [        Width-1:0] data_o
);
  // Else there would be a comparison of the addresses, and a choice behind the block RAM, whose output is late.
  (* no_rw_check *)
  logic [Width-1:0] words_q[Depth];
  logic [Width-1:0] read_q;

  always_ff @(posedge clk_i) begin
    if (write_i) words_q[write_address_i] <= data_i;
    read_q <= words_q[read_address_i];
`ifndef SYNTHESIS
    if (write_i && write_address_i == read_address_i) read_q <= ~words_q[read_address_i];
`endif
    data_o <= read_q;
  end
endmodule

`default_nettype wire
