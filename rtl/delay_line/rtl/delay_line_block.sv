// SPDX-License-Identifier: Apache-2.0
//
// A delay line with its memory in block RAM. (Kabbani and Yasuda 2010, section 3.2; there it is external SRAM)
//
// Latency and throughput: those of delay_line, with data two clocks after a read.

`default_nettype none

module delay_line_block
  import penstock_pkg::*;
#(
  // As those of delay_line.
  parameter int unsigned Words = 1024,
  parameter int unsigned StampW = 24,
  parameter int unsigned MaxBeats = 192,
  // Bits of a number of words; not to be set.
  parameter int unsigned CountW = unsigned'($clog2(Words)) + 1
) (
  input var logic clk_i,
  input var logic rst_i,

  input var logic [StampW-2:0] delay_i,

  input var  axis_t s_axis,
  input var  logic  s_axis_tvalid,
  output var logic  s_axis_tready,

  output var axis_t m_axis,
  output var logic  m_axis_tvalid,
  input var  logic  m_axis_tready,

  output var logic [CountW-1:0] words_o,
  output var logic [      31:0] dropped_o,
  output var logic [      31:0] cut_o,
  output var logic [      31:0] late_o
);
  localparam int unsigned AddressW = unsigned'($clog2(Words));
  localparam int unsigned WordW = StampW + DataW + BeatCountW + 2;

  logic                write;
  logic [AddressW-1:0] write_address;
  logic [   WordW-1:0] write_data;
  logic                read;
  logic [AddressW-1:0] read_address;
  logic [   WordW-1:0] read_data;

  delay_line #(
      .Words(Words),
      .StampW(StampW),
      .ReadClocks(2),
      .MaxBeats(MaxBeats)
  ) u_line (
      .clk_i,
      .rst_i,
      .delay_i,
      .s_axis,
      .s_axis_tvalid,
      .s_axis_tready,
      .m_axis,
      .m_axis_tvalid,
      .m_axis_tready,
      .mem_write_o(write),
      .mem_write_address_o(write_address),
      .mem_write_data_o(write_data),
      .mem_read_o(read),
      .mem_read_address_o(read_address),
      .mem_read_data_i(read_data),
      .words_o,
      .dropped_o,
      .cut_o,
      .late_o
  );

  delay_memory #(
      .Words(Words),
      .WordW(WordW)
  ) u_memory (
      .clk_i,
      .write_i(write),
      .write_address_i(write_address),
      .write_data_i(write_data),
      .read_i(read),
      .read_address_i(read_address),
      .read_data_o(read_data)
  );
endmodule

`default_nettype wire
