// SPDX-License-Identifier: Apache-2.0
//
// A reaction point of QCN in Corundum's application block (mqnic_app_block.v), between its streams s_axis_sync_tx_* and m_axis_sync_tx_* of
// one port, whose names, order of octets and tuser it has. What comes by s_axis_sync_rx_* goes on as it is; the reaction point
// sees it beside, and takes the congestion notifications from it.
//
// Bit 0 of tuser says that a frame is bad; the bits above it (the tag of a time stamp) are those of the first beat. A frame is stored as a whole,
// so that its length is known.

`default_nettype none

module corundum_rp
  import penstock_pkg::*;
#(
  parameter int unsigned     TxUserW      = 17,
  parameter int unsigned     RxUserW      = 97,
  // Beats that may wait, and those of qcn_rp.
  parameter int unsigned     Words        = 512,
  parameter longint unsigned LineRate     = 64'd10_000_000_000,
  parameter int unsigned     Depth        = 16_384,
  parameter int unsigned     RefillClocks = 512,
  parameter int unsigned     Granularity  = 3_906_250,
  parameter int unsigned     MaxOctets    = 9216,
  // Clocks of a microsecond, the unit of QCN's timer.
  parameter int unsigned     TickClocks   = 250
) (
  input var logic clk,
  input var logic rst,

  input var  logic [     DataW-1:0] s_axis_sync_tx_tdata,
  input var  logic [BeatOctets-1:0] s_axis_sync_tx_tkeep,
  input var  logic                  s_axis_sync_tx_tvalid,
  output var logic                  s_axis_sync_tx_tready,
  input var  logic                  s_axis_sync_tx_tlast,
  input var  logic [   TxUserW-1:0] s_axis_sync_tx_tuser,

  output var logic [     DataW-1:0] m_axis_sync_tx_tdata,
  output var logic [BeatOctets-1:0] m_axis_sync_tx_tkeep,
  output var logic                  m_axis_sync_tx_tvalid,
  input var  logic                  m_axis_sync_tx_tready,
  output var logic                  m_axis_sync_tx_tlast,
  output var logic [   TxUserW-1:0] m_axis_sync_tx_tuser,

  input var  logic [     DataW-1:0] s_axis_sync_rx_tdata,
  input var  logic [BeatOctets-1:0] s_axis_sync_rx_tkeep,
  input var  logic                  s_axis_sync_rx_tvalid,
  output var logic                  s_axis_sync_rx_tready,
  input var  logic                  s_axis_sync_rx_tlast,
  input var  logic [   RxUserW-1:0] s_axis_sync_rx_tuser,

  output var logic [     DataW-1:0] m_axis_sync_rx_tdata,
  output var logic [BeatOctets-1:0] m_axis_sync_rx_tkeep,
  output var logic                  m_axis_sync_rx_tvalid,
  input var  logic                  m_axis_sync_rx_tready,
  output var logic                  m_axis_sync_rx_tlast,
  output var logic [   RxUserW-1:0] m_axis_sync_rx_tuser,

  // The address of the port; a flow begins. Registers of the application are to set them.
  input var  logic  [47:0] mac_i,
  input var  logic         start_i,
  output var rate_t        rate_o
);
  // Arrivals go through, and the reaction point sees each beat that is taken.
  assign m_axis_sync_rx_tdata  = s_axis_sync_rx_tdata;
  assign m_axis_sync_rx_tkeep  = s_axis_sync_rx_tkeep;
  assign m_axis_sync_rx_tvalid = s_axis_sync_rx_tvalid;
  assign m_axis_sync_rx_tlast  = s_axis_sync_rx_tlast;
  assign m_axis_sync_rx_tuser  = s_axis_sync_rx_tuser;
  assign s_axis_sync_rx_tready = m_axis_sync_rx_tready;

  logic [15:0] tick_q;
  logic        tick;
  assign tick = tick_q == 16'(TickClocks - 1);
  always_ff @(posedge clk) tick_q <= rst || tick ? '0 : tick_q + 1'b1;

  random_t [1:0] words;
  random_words #(
      .Words(2)
  ) u_words (
      .clk_i (clk),
      .rst_i (rst),
      .next_i('1),
      .word_o(words)
  );

  // The FIFO has the length of a frame beside it, and the bits of tuser; both clocks are the same.
  axis_t                       stored;
  logic                        stored_valid;
  logic                        stored_ready;
  frame_octets_t               octets;
  logic          [TxUserW-1:0] user;
  axis_t                       goes;

  /* verilator lint_off PINMISSING */
  async_frame_fifo #(
      .Words(Words),
      .Drop (1'b0),
      .SideW(TxUserW)
  ) u_fifo (
      .s_clk_i      (clk),
      .s_rst_i      (rst),
      .s_axis       ('{
          user: s_axis_sync_tx_tuser[0],
          last: s_axis_sync_tx_tlast,
          keep: s_axis_sync_tx_tkeep,
          data: s_axis_sync_tx_tdata
      }),
      .s_axis_tvalid(s_axis_sync_tx_tvalid),
      .s_axis_tready(s_axis_sync_tx_tready),
      .s_side_i     (s_axis_sync_tx_tuser),
      .m_clk_i      (clk),
      .m_rst_i      (rst),
      .m_axis       (stored),
      .m_axis_tvalid(stored_valid),
      .m_axis_tready(stored_ready),
      .m_octets_o   (octets),
      .m_side_o     (user)
  );

  qcn_rp #(
      .LineRate    (LineRate),
      .Depth       (Depth),
      .RefillClocks(RefillClocks),
      .Granularity (Granularity),
      .MaxOctets   (MaxOctets)
  ) u_rp (
      .clk_i             (clk),
      .rst_i             (rst),
      .drop_if_busy_i    (1'b1),
      .s_axis_rx         ('{
          user: s_axis_sync_rx_tuser[0],
          last: s_axis_sync_rx_tlast,
          keep: s_axis_sync_rx_tkeep,
          data: s_axis_sync_rx_tdata
      }),
      .s_axis_rx_tvalid  (s_axis_sync_rx_tvalid && m_axis_sync_rx_tready),
      .m_axis_rx_tready  (1'b1),
      .mac_i,
      .start_i,
      .tick_i            (tick),
      .random_byte_i     (words[0]),
      .random_timer_i    (words[1]),
      .gd_shift_i        (5'd7),
      .rpg_threshold_i   (8'd5),
      .rpg_byte_reset_i  (24'd150_000),
      .rpg_time_reset_i  (24'd1_000),
      .rpg_ai_rate_i     (RateW'(5_000_000)),
      .rpg_hai_rate_i    (RateW'(50_000_000)),
      .rpg_min_rate_i    (RateW'(10_000_000)),
      .rpg_max_rate_i    (RateW'(LineRate)),
      .rp_jitter_i       (16'd9830),
      .timer_on_i        (1'b1),
      .s_axis_tx         (stored),
      .s_axis_tx_tvalid  (stored_valid),
      .s_axis_tx_tready  (stored_ready),
      .s_axis_tx_octets_i(octets),
      .m_axis_tx         (goes),
      .m_axis_tx_tvalid  (m_axis_sync_tx_tvalid),
      .m_axis_tx_tready  (m_axis_sync_tx_tready),
      .current_rate_o    (rate_o)
  );
  /* verilator lint_on PINMISSING */

  // Beats go through the reaction point in the clock in which they leave the FIFO.
  assign m_axis_sync_tx_tdata = goes.data;
  assign m_axis_sync_tx_tkeep = goes.keep;
  assign m_axis_sync_tx_tlast = goes.last;
  assign m_axis_sync_tx_tuser = {user[TxUserW-1:1], goes.user};
endmodule

`default_nettype wire
