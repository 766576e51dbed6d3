// SPDX-License-Identifier: Apache-2.0
//
// pfc_rx with its watchdog: the side of a port of a switch, whose queues are let go when pause frames stop them for too long.
//
// Latency and throughput: those of pfc_rx.

`default_nettype none

module pfc_rx_watched
  import penstock_pkg::*;
  import pfc_pkg::*;
#(
  // Those of pfc_rx.
  parameter int unsigned QuantumClocks = 64
) (
  input var logic clk_i,
  input var logic rst_i,

  // Settings of pfc_watchdog.
  input var logic        tick_i,
  input var logic [ 7:0] watch_i,
  input var logic [15:0] after_i,
  input var logic [15:0] restoration_i,
  input var logic [ 1:0] action_i,

  // Those of pfc_rx.
  input var  axis_t                   s_axis,
  input var  logic                    s_axis_tvalid,
  output var logic                    s_axis_tready,
  output var axis_t                   m_axis,
  output var logic                    m_axis_tvalid,
  input var  logic                    m_axis_tready,
  output var logic  [ 7:0]            paused_o,
  output var logic  [ 7:0][TimeW-1:0] pause_clocks_o,
  output var logic  [31:0]            frames_o,
  output var logic  [31:0]            malformed_o,
  output var logic  [31:0]            other_o,

  // Those of pfc_watchdog.
  output var logic [ 7:0] drop_o,
  output var logic [31:0] storms_o
);
  logic [7:0] let_go;
  logic [7:0] ignored;
  logic [7:0] next_paused;
  logic [7:0] named;

  pfc_rx #(
      .QuantumClocks(QuantumClocks)
  ) u_rx (
      .clk_i,
      .rst_i,
      .s_axis,
      .s_axis_tvalid,
      .s_axis_tready,
      .m_axis,
      .m_axis_tvalid,
      .m_axis_tready,
      .let_go_i     (let_go),
      .ignore_i     (ignored),
      .paused_o,
      .next_paused_o(next_paused),
      .named_o      (named),
      .pause_clocks_o,
      .frames_o,
      .malformed_o,
      .other_o
  );

  pfc_watchdog u_watchdog (
      .clk_i,
      .rst_i,
      .tick_i,
      .watch_i,
      .after_i,
      .restoration_i,
      .action_i     (action_e'(action_i)),
      .next_paused_i(next_paused),
      .named_i      (named),
      .let_go_o     (let_go),
      .ignore_o     (ignored),
      .drop_o,
      .storms_o
  );
endmodule

`default_nettype wire
