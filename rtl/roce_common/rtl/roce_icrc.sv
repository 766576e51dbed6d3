// SPDX-License-Identifier: Apache-2.0
//
// The invariant CRC of a packet of RoCEv2, made while the packet's words pass. Ones stand in these for what routers may change.
// (InfiniBand Architecture Specification, volume 1, annex A17.3.3)
//
// Latency: with the word of clock c, in which enable_i is high, it is that of the packet so far from c + 1 on. Throughput: a
// word of 16 bits a clock.

`default_nettype none

module roce_icrc
  import roce_pkg::*;
(
  input var logic clk_i,

  input var logic        enable_i,
  // The word is the packet's first.
  input var logic        first_i,
  // The first octet in the upper half.
  input var logic [15:0] word_i,

  // In the order of the line, the first octet highest.
  output var logic [31:0] icrc_o
);
  // The CRC's register behind 8 octets of ones, with which the invariant CRC begins.
  localparam logic [31:0] Init = crc_of(crc_of(crc_of(crc_of('1, '1), '1), '1), '1);

  logic [31:0] crc_q;

  always_ff @(posedge clk_i) begin
    if (enable_i) crc_q <= crc_of(first_i ? Init : crc_q, word_i);
  end

  assign icrc_o = ~{crc_q[7:0], crc_q[15:8], crc_q[23:16], crc_q[31:24]};
endmodule

`default_nettype wire
