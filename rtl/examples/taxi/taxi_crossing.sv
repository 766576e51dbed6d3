// SPDX-License-Identifier: Apache-2.0
//
// async_frame_fifo between two interfaces of the taxi library, with the pins of taxi's bench of an asynchronous FIFO, which
// examples/taxi.py runs on it. The parameters without a use are those that the bench reads.

`default_nettype none
`timescale 1ns / 1ps

module taxi_crossing
  import penstock_pkg::*;
#(
  parameter int unsigned DEPTH = 4096,
  parameter bit DROP_WHEN_FULL = 1'b0,
  parameter bit FRAME_FIFO = 1'b1,
  parameter bit DROP_BAD_FRAME = 1'b0,
  parameter bit MARK_WHEN_FULL = 1'b0,
  parameter bit DROP_OVERSIZE_FRAME = 1'b1
) ();
  logic s_clk;
  logic s_rst;
  logic m_clk;
  logic m_rst;

  taxi_axis_if #(
      .DATA_W (DataW),
      .ID_EN  (1'b1),
      .DEST_EN(1'b1),
      .USER_EN(1'b1)
  )
      s_axis (), m_axis ();

  // The bench pauses taxi's FIFO by these; this one has no such pins.
  logic s_pause_req;
  logic m_pause_req;

  localparam int unsigned SideW = 8 + 8 + 1;
  axis_t             in;
  logic              in_valid;
  logic              in_ready;
  logic  [SideW-1:0] in_side;
  axis_t             out;
  logic              out_valid;
  logic              out_ready;
  logic  [SideW-1:0] out_side;

  axis_from_taxi #(
      .SideW(SideW)
  ) u_from (
      .s_axis,
      .m_axis       (in),
      .m_axis_tvalid(in_valid),
      .m_axis_tready(in_ready),
      .m_side_o     (in_side)
  );

  /* verilator lint_off PINMISSING */
  async_frame_fifo #(
      .Words (DEPTH / BeatOctets),
      .Frames(256),
      .Drop  (DROP_WHEN_FULL),
      .SideW (SideW)
  ) u_fifo (
      .s_clk_i      (s_clk),
      .s_rst_i      (s_rst),
      .s_axis       (in),
      .s_axis_tvalid(in_valid),
      .s_axis_tready(in_ready),
      .s_side_i     (in_side),
      .m_clk_i      (m_clk),
      .m_rst_i      (m_rst),
      .m_axis       (out),
      .m_axis_tvalid(out_valid),
      .m_axis_tready(out_ready),
      .m_side_o     (out_side)
  );
  /* verilator lint_on PINMISSING */

  axis_to_taxi #(
      .SideW(SideW)
  ) u_to (
      .s_axis       (out),
      .s_axis_tvalid(out_valid),
      .s_axis_tready(out_ready),
      .s_side_i     (out_side),
      .m_axis
  );
endmodule

`default_nettype wire
