// SPDX-License-Identifier: Apache-2.0
//
// The NIC's reaction points, QCN's or SMCC's, with the same ports: those of the other kind alone are 0, or do nothing.
//
// Latency: those of qcn_rp and smcc_rp, and a clock for frames that go or pass. Throughput: theirs.

`default_nettype none

module nic_points
  import penstock_pkg::*;
  import qcn_rp_pkg::*;
  import smcc_rp_pkg::*;
  import nic_registers_pkg::*;
#(
  parameter bit              Smcc           = 1'b0,
  parameter int unsigned     ReactionPoints = 4,
  // Those of qcn_rp.
  parameter bit              Features       = Full,
  parameter bit              HaiMultiplier  = MinCount,
  parameter bit              Efr            = ByteStage,
  parameter bit              Trr            = FirstCycle,
  parameter bit              JitterRp       = Reload,
  // Those of smcc_rp.
  parameter int unsigned     DeltaZero      = 32'(StateA),
  parameter bit              BoundOnly      = 1'b1,
  // Those of token_bucket.
  parameter int unsigned     Depth          = 3000,
  parameter int unsigned     RefillClocks   = 2000,
  parameter int unsigned     Granularity    = 500_000,
  parameter int unsigned     TokensPerStep  = 1,
  parameter longint unsigned LineRate       = 64'd1_000_000_000,
  parameter int unsigned     MaxOctets      = 1518
) (
  input var logic clk_i,
  input var logic rst_i,

  // Arriving frames cannot wait: a message that would have to is dropped (message_receiver).
  input var logic drop_if_busy_i,

  // Frames that arrive, and those of them that are no messages.
  input var  axis_t s_axis_rx,
  input var  logic  s_axis_rx_tvalid,
  output var logic  s_axis_rx_tready,
  output var axis_t m_axis_rx,
  output var logic  m_axis_rx_tvalid,
  input var  logic  m_axis_rx_tready,

  // The reaction points' addresses, and that a flow begins.
  input var logic [ReactionPoints-1:0][47:0] mac_i,
  input var logic [ReactionPoints-1:0] start_i,

  // QCN: the time base, random words and whether they are drawn, settings.
  input var logic tick_i,
  input var logic [ReactionPoints-1:0][31:0] random_byte_i,
  input var logic [ReactionPoints-1:0][31:0] random_timer_i,
  output var logic [ReactionPoints-1:0] draw_byte_o,
  output var logic [ReactionPoints-1:0] draw_timer_o,
  input var qcn_control_t qcn_i,

  // SMCC: settings.
  input var smcc_control_t smcc_i,

  // The reaction points' frames (octets_i: length with FCS), and those that go.
  input var axis_t [ReactionPoints-1:0] s_axis_tx,
  input var logic [ReactionPoints-1:0] s_axis_tx_tvalid,
  output var logic [ReactionPoints-1:0] s_axis_tx_tready,
  input var logic [ReactionPoints-1:0][FrameW-1:0] s_axis_tx_octets_i,
  output var axis_t [ReactionPoints-1:0] m_axis_tx,
  output var logic [ReactionPoints-1:0] m_axis_tx_tvalid,
  input var logic [ReactionPoints-1:0] m_axis_tx_tready,

  // The state of the reaction points. SMCC has a current rate alone.
  output var logic [ReactionPoints-1:0][RateW-1:0] current_rate_o,
  output var logic [ReactionPoints-1:0][RateW-1:0] target_rate_o,
  output var logic [ReactionPoints-1:0][StageW-1:0] byte_stage_o,
  output var logic [ReactionPoints-1:0][StageW-1:0] time_stage_o,
  output var logic [ReactionPoints-1:0][1:0] phase_o,
  output var logic [ReactionPoints-1:0] signal_o,
  output var logic [ReactionPoints-1:0] sent_valid_o,
  output var logic [ReactionPoints-1:0][FrameW-1:0] sent_octets_o,
  output var logic [ReactionPoints-1:0][FrameW-1:0] tokens_o,
  output var logic [ReactionPoints-1:0][31:0] dropped_o,

  // Messages that were taken, that were malformed, that were dropped because another waited, and that were for no reaction
  // point.
  output var logic [31:0] taken_o,
  output var logic [31:0] malformed_o,
  output var logic [31:0] refused_o,
  output var logic [31:0] unknown_o
);
  logic unused;

  // The frames that wait, past a buffer each, with their lengths: the gates' readiness is to end here.
  axis_t [ReactionPoints-1:0] waiting;
  logic [ReactionPoints-1:0] waiting_tvalid;
  logic [ReactionPoints-1:0] waiting_tready;
  logic [ReactionPoints-1:0][FrameW-1:0] waiting_octets;

  for (genvar i = 0; i < ReactionPoints; ++i) begin : gen_waiting
    stream_buffer #(
        .BeatW(FrameW + $bits(axis_t)),
        .Late (1'b1)
    ) u_waiting (
        .clk_i,
        .rst_i,
        .s_axis({s_axis_tx_octets_i[i], s_axis_tx[i]}),
        .s_axis_tvalid(s_axis_tx_tvalid[i]),
        .s_axis_tready(s_axis_tx_tready[i]),
        .m_axis({waiting_octets[i], waiting[i]}),
        .m_axis_tvalid(waiting_tvalid[i]),
        .m_axis_tready(waiting_tready[i])
    );
  end

  // The frames that pass, too: the receiver decides late what it shows.
  axis_t passing;
  logic  passing_tvalid;
  logic  passing_tready;

  stream_buffer u_passing (
      .clk_i,
      .rst_i,
      .s_axis(passing),
      .s_axis_tvalid(passing_tvalid),
      .s_axis_tready(passing_tready),
      .m_axis(m_axis_rx),
      .m_axis_tvalid(m_axis_rx_tvalid),
      .m_axis_tready(m_axis_rx_tready)
  );

  if (Smcc) begin : gen_smcc
    smcc_rp #(
        .ReactionPoints(ReactionPoints),
        .DeltaZero     (DeltaZero),
        .BoundOnly     (BoundOnly),
        .Depth         (Depth),
        .RefillClocks  (RefillClocks),
        .Granularity   (Granularity),
        .TokensPerStep (TokensPerStep),
        .LineRate      (LineRate),
        .MaxOctets     (MaxOctets)
    ) u_points (
        .alpha_i(smcc_i.alpha),
        .alpha_small_i(smcc_i.alpha_small),
        .beta_i(smcc_i.beta),
        .t1_i(smcc_i.t1),
        .two_stage_i(smcc_i.two_stage),
        .min_rate_i(smcc_i.min_rate),
        .max_rate_i(smcc_i.max_rate),
        .s_axis_tx(waiting),
        .s_axis_tx_tvalid(waiting_tvalid),
        .s_axis_tx_tready(waiting_tready),
        .s_axis_tx_octets_i(waiting_octets),
        .m_axis_rx(passing),
        .m_axis_rx_tvalid(passing_tvalid),
        .m_axis_rx_tready(passing_tready),
        .rate_o(current_rate_o),
        .*
    );

    assign target_rate_o = '0;
    assign byte_stage_o = '0;
    assign time_stage_o = '0;
    assign phase_o = '0;
    assign draw_byte_o = '0;
    assign draw_timer_o = '0;
    assign unused = &{1'b0, tick_i, random_byte_i, random_timer_i, qcn_i};
  end else begin : gen_qcn
    logic [ReactionPoints-1:0][RemainingW-1:0] byte_remaining;
    logic [ReactionPoints-1:0][RemainingW-1:0] time_remaining;
    logic [ReactionPoints-1:0] busy;

    qcn_rp #(
        .ReactionPoints(ReactionPoints),
        .Features      (Features),
        .HaiMultiplier (HaiMultiplier),
        .Efr           (Efr),
        .Trr           (Trr),
        .JitterRp      (JitterRp),
        .Depth         (Depth),
        .RefillClocks  (RefillClocks),
        .Granularity   (Granularity),
        .TokensPerStep (TokensPerStep),
        .LineRate      (LineRate),
        .MaxOctets     (MaxOctets)
    ) u_points (
        .gd_shift_i        (qcn_i.gd_shift),
        .rpg_threshold_i   (qcn_i.rpg_threshold),
        .rpg_byte_reset_i  (qcn_i.rpg_byte_reset),
        .rpg_time_reset_i  (qcn_i.rpg_time_reset),
        .rpg_ai_rate_i     (qcn_i.rpg_ai_rate),
        .rpg_hai_rate_i    (qcn_i.rpg_hai_rate),
        .rpg_min_rate_i    (qcn_i.rpg_min_rate),
        .rpg_max_rate_i    (qcn_i.rpg_max_rate),
        .rp_jitter_i       (qcn_i.rp_jitter),
        .timer_on_i        (qcn_i.timer_on),
        .s_axis_tx         (waiting),
        .s_axis_tx_tvalid  (waiting_tvalid),
        .s_axis_tx_tready  (waiting_tready),
        .s_axis_tx_octets_i(waiting_octets),
        .m_axis_rx         (passing),
        .m_axis_rx_tvalid  (passing_tvalid),
        .m_axis_rx_tready  (passing_tready),
        .byte_remaining_o  (byte_remaining),
        .time_remaining_o  (time_remaining),
        .busy_o            (busy),
        .*
    );

    assign unused = &{1'b0, byte_remaining, time_remaining, busy, qcn_i.tick_clocks, smcc_i};
  end
endmodule

`default_nettype wire
