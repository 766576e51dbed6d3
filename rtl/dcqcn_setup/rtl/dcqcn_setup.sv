// SPDX-License-Identifier: Apache-2.0
//
// DCQCN as a network: senders with their reaction points, each on a line, a switch whose port to the receiver marks, and the
// receiver's notification point, whose CNPs go back. (Zhu et al. 2015, section 3)
//
// Field i of a port with a leading range of Senders is that of sender i. The hosts' frames come at s_axis_tx, as from a
// host's memory: a host shows a frame's beats without gaps. The receiver's frames are shown at m_axis.
//
// A frame crosses a line as a burst, and is delayed by delay_out_i. A CNP goes to all reaction points, which know theirs by
// its queue pair, after delay_back_i.

`default_nettype none

module dcqcn_setup
  import penstock_pkg::*;
  import roce_pkg::*;
  import dcqcn_rp_pkg::*;
#(
  // 2 to 16, each with a reaction point.
  parameter  int unsigned     Senders      = 4,
  parameter  int unsigned     ClockHz      = 200_000_000,
  parameter  longint unsigned LineRate     = 64'd40_000_000_000,
  // Those of token_bucket.
  parameter  int unsigned     Depth        = 8000,
  parameter  int unsigned     RefillClocks = 200,
  parameter  int unsigned     Granularity  = 8_000_000,
  parameter  int unsigned     MaxOctets    = 1518,
  // Those of marking_queue.
  parameter  int unsigned     BufferOctets = 1_000_000,
  parameter  int unsigned     BufferWords  = 32_768,
  // The memory of each sender's delay line, beats.
  parameter  int unsigned     DelayWords   = 1024,
  // Entries of the notification point's table.
  parameter  int unsigned     QueuePairs   = 64,
  localparam int unsigned     IndexW       = unsigned'($clog2(QueuePairs))
) (
  input var logic clk_i,
  input var logic rst_i,

  // The time base of reaction points and notification point.
  input var logic tick_i,

  // Those of dcqcn_rp.
  input var logic   [Senders-1:0][23:0] qp_i,
  input var logic   [Senders-1:0]       start_i,
  input var alpha_t                     alpha_init_i,
  input var logic   [        3:0]       g_shift_i,
  input var cycle_t                     alpha_time_i,
  input var stage_t                     threshold_i,
  input var cycle_t                     byte_reset_i,
  input var cycle_t                     time_reset_i,
  input var rate_t                      ai_rate_i,
  input var rate_t                      hai_rate_i,
  input var rate_t                      min_rate_i,
  input var rate_t                      max_rate_i,

  // Those of ecn_marker, the rate of the receiver's port, and the lines' delays in clocks.
  input var queue_octets_t        k_min_i,
  input var queue_octets_t        k_max_i,
  input var logic          [32:0] p_max_i,
  input var random_t              random_i,
  input var rate_t                rate_i,
  input var logic          [22:0] delay_out_i,
  input var logic          [22:0] delay_back_i,

  // Those of cnp_generator.
  input var logic [      31:0] interval_i,
  input var logic              write_i,
  input var logic [IndexW-1:0] write_index_i,
  input var qp_t               write_qp_i,
  input var qp_t               write_peer_i,

  // The hosts' frames.
  input var  axis_t [Senders-1:0]             s_axis_tx,
  input var  logic  [Senders-1:0]             s_axis_tx_tvalid,
  output var logic  [Senders-1:0]             s_axis_tx_tready,
  input var  logic  [Senders-1:0][FrameW-1:0] s_axis_tx_octets_i,

  // The reaction points.
  output var logic [Senders-1:0][ RateW-1:0] current_rate_o,
  output var logic [Senders-1:0][ RateW-1:0] target_rate_o,
  output var logic [Senders-1:0][AlphaW-1:0] alpha_o,
  output var logic [Senders-1:0][StageW-1:0] byte_stage_o,
  output var logic [Senders-1:0][StageW-1:0] time_stage_o,
  output var logic [Senders-1:0]             signal_o,
  output var logic [Senders-1:0]             sent_valid_o,
  output var logic [Senders-1:0][FrameW-1:0] sent_octets_o,

  // The switch's queue, as marking_queue has it; a frame's octets as it joins or is dropped.
  output var logic                 join_o,
  output var logic                 drop_o,
  output var frame_octets_t        octets_o,
  output var queue_octets_t        with_o,
  output var queue_octets_t        queue_o,
  output var logic          [31:0] dropped_o,
  output var logic          [31:0] marked_o,

  // A frame begins on the receiver's line; the frames there, and the CNPs that answer them.
  output var logic  start_o,
  output var axis_t m_axis,
  output var logic  m_axis_tvalid,
  output var axis_t cnp_axis,
  output var logic  cnp_axis_tvalid,

  // Frames and CNPs that were lost on a line, dropped at a gate, or answered for nobody: none is.
  output var logic lost_o
);
  if (Senders < 2 || Senders > 16) begin : gen_bad_senders
    $fatal(0, "Senders is 2 to 16 (instance %m)");
  end

  // --- Senders and their lines -------------------------------------------------------------------

  axis_t                           cnp;
  logic                            cnp_tvalid;
  logic                            cnp_tready;
  axis_t [Senders-1:0]             tx;
  logic  [Senders-1:0]             tx_tvalid;
  logic  [Senders-1:0]             tx_tready;
  logic  [Senders-1:0][      31:0] too_long;
  logic  [Senders-1:0]             busy;
  logic  [Senders-1:0][FrameW-1:0] tokens;
  logic  [       31:0]             cnps;
  logic  [       31:0]             refused;
  logic  [       31:0]             unknown;

  assign cnp_tready = 1'b1;

  dcqcn_rp #(
      .ReactionPoints(Senders),
      .CnpDepth      (16),
      .Depth         (Depth),
      .RefillClocks  (RefillClocks),
      .Granularity   (Granularity),
      .LineRate      (LineRate),
      .MaxOctets     (MaxOctets)
  ) u_rp (
      .clk_i,
      .rst_i,
      .rx_axis         (cnp),
      .rx_axis_tvalid  (cnp_tvalid),
      .rx_axis_tready  (cnp_tready),
      .qp_i,
      .start_i,
      .tick_i,
      .alpha_init_i,
      .g_shift_i,
      .alpha_time_i,
      .threshold_i,
      .byte_reset_i,
      .time_reset_i,
      .ai_rate_i,
      .hai_rate_i,
      .min_rate_i,
      .max_rate_i,
      .s_axis_tx,
      .s_axis_tx_tvalid,
      .s_axis_tx_tready,
      .s_axis_tx_octets_i,
      .m_axis_tx       (tx),
      .m_axis_tx_tvalid(tx_tvalid),
      .m_axis_tx_tready(tx_tready),
      .current_rate_o,
      .target_rate_o,
      .alpha_o,
      .byte_stage_o,
      .time_stage_o,
      .busy_o          (busy),
      .signal_o,
      .sent_valid_o,
      .sent_octets_o,
      .tokens_o        (tokens),
      .dropped_o       (too_long),
      .cnps_o          (cnps),
      .refused_o       (refused),
      .unknown_o       (unknown)
  );

  // The line of each, and the one of the receiver; nobody asks for their rates and counters.
  rate_t [  Senders:0]       rates;
  logic  [  Senders:0]       free;
  logic  [  Senders:0]       free_soon;
  logic  [  Senders:0][31:0] frames;
  logic  [  Senders:0][47:0] octets;
  logic  [Senders-1:0]       starts;
  axis_t [Senders-1:0]       arriving;
  logic  [Senders-1:0]       arriving_tvalid;
  logic  [Senders-1:0]       arriving_tready;
  logic  [  Senders:0][31:0] lost;
  logic  [  Senders:0][31:0] cut;
  logic  [  Senders:0][31:0] late;

  for (genvar i = 0; i < Senders; ++i) begin : gen_line
    axis_t                        line;
    logic                         line_tvalid;
    logic                         line_tready;
    logic  [$clog2(DelayWords):0] words;
    logic                         unused_words;
    assign unused_words = &{1'b0, words};

    output_port_wide #(
        .ClockHz(ClockHz),
        .Entries(1)
    ) u_port (
        .clk_i,
        .rst_i,
        .rate_i            (rate_t'(LineRate)),
        .schedule_entries_i('0),
        .schedule_at_i     ('0),
        .schedule_rate_i   ('0),
        .now_i             ('0),
        .rate_o            (rates[i]),
        .hold_i            (1'b0),
        .free_o            (free[i]),
        .free_soon_o       (free_soon[i]),
        .s_axis            (tx[i]),
        .s_axis_tvalid     (tx_tvalid[i]),
        .s_axis_tready     (tx_tready[i]),
        .m_axis            (line),
        .m_axis_tvalid     (line_tvalid),
        .m_axis_tready     (line_tready),
        .start_o           (starts[i]),
        .frames_o          (frames[i]),
        .octets_o          (octets[i])
    );

    delay_line_block #(
        .Words(DelayWords)
    ) u_line (
        .clk_i,
        .rst_i,
        .delay_i      (delay_out_i),
        .s_axis       (line),
        .s_axis_tvalid(line_tvalid),
        .s_axis_tready(line_tready),
        .m_axis       (arriving[i]),
        .m_axis_tvalid(arriving_tvalid[i]),
        .m_axis_tready(arriving_tready[i]),
        .words_o      (words),
        .dropped_o    (lost[i]),
        .cut_o        (cut[i]),
        .late_o       (late[i])
    );
  end

  // --- The switch ----------------------------------------------------------------------------------

  localparam int unsigned SourceW = unsigned'($clog2(Senders));
  axis_t               chosen;
  logic                chosen_tvalid;
  logic                chosen_tready;
  logic  [SourceW-1:0] source;
  axis_t               whole;
  logic                whole_tvalid;
  logic                whole_tready;
  logic                crowded;
  logic  [       31:0] taken;
  logic  [       31:0] overflows;
  logic                no_slot;
  logic                no_length;
  axis_t               queued;
  logic                queued_tvalid;
  logic                queued_tready;
  logic  [       31:0] chosen_by_ramp;

  frame_arbiter #(
      .Inputs(Senders)
  ) u_arbiter (
      .clk_i,
      .rst_i,
      .s_axis         (arriving),
      .s_axis_tvalid  (arriving_tvalid),
      .s_axis_tready  (arriving_tready),
      .hold_i         (1'b0),
      .m_axis         (chosen),
      .m_axis_tvalid  (chosen_tvalid),
      .m_axis_tready  (chosen_tready),
      .m_axis_source_o(source)
  );

  // A frame whole, so that its length is known as it joins the queue. That takes all: no more than two are in here.
  frame_fifo #(
      .Words(256)
  ) u_whole (
      .clk_i,
      .rst_i,
      .s_axis       (chosen),
      .s_axis_tvalid(chosen_tvalid),
      .s_axis_tready(chosen_tready),
      .m_axis       (whole),
      .m_axis_tvalid(whole_tvalid),
      .m_axis_tready(whole_tready),
      .almost_full_o(crowded),
      .frames_o     (taken),
      .dropped_o    (overflows)
  );

  stream_length #(
      .Depth(16)
  ) u_length (
      .clk_i,
      .rst_i,
      .in_i      (chosen_tvalid && chosen_tready),
      .in_keep_i (chosen.keep),
      .in_last_i (chosen.last),
      .full_o    (no_slot),
      .out_i     (whole_tvalid && whole_tready),
      .out_last_i(whole.last),
      .octets_o,
      .empty_o   (no_length)
  );

  marking_queue #(
      .BufferOctets(BufferOctets),
      .Words       (BufferWords)
  ) u_queue (
      .clk_i,
      .rst_i,
      .k_min_i,
      .k_max_i,
      .p_max_i,
      .random_i,
      .s_axis         (whole),
      .s_axis_tvalid  (whole_tvalid),
      .s_axis_tready  (whole_tready),
      .s_axis_octets_i(octets_o),
      .m_axis         (queued),
      .m_axis_tvalid  (queued_tvalid),
      .m_axis_tready  (queued_tready),
      .join_o,
      .drop_o,
      .with_o,
      .queue_o,
      .dropped_o,
      .chosen_o       (chosen_by_ramp),
      .marked_o
  );

  output_port_wide #(
      .ClockHz(ClockHz),
      .Entries(1)
  ) u_port (
      .clk_i,
      .rst_i,
      .rate_i,
      .schedule_entries_i('0),
      .schedule_at_i     ('0),
      .schedule_rate_i   ('0),
      .now_i             ('0),
      .rate_o            (rates[Senders]),
      .hold_i            (1'b0),
      .free_o            (free[Senders]),
      .free_soon_o       (free_soon[Senders]),
      .s_axis            (queued),
      .s_axis_tvalid     (queued_tvalid),
      .s_axis_tready     (queued_tready),
      .m_axis,
      .m_axis_tvalid,
      .m_axis_tready     (1'b1),
      .start_o,
      .frames_o          (frames[Senders]),
      .octets_o          (octets[Senders])
  );

  // --- The receiver, and the way back ------------------------------------------------------------

  logic        cnp_axis_tready;
  logic [31:0] marks;
  logic [31:0] answers;
  logic [31:0] not_known;
  logic [31:0] no_place;
  logic [ 8:0] cnp_words;
  logic        unused;

  cnp_generator #(
      .QueuePairs(QueuePairs),
      .Depth     (16)
  ) u_np (
      .clk_i,
      .rst_i,
      .rx_axis       (m_axis),
      .rx_axis_tvalid(m_axis_tvalid),
      .rx_axis_tready(1'b1),
      .tick_i,
      .interval_i,
      .write_i,
      .write_index_i,
      .write_valid_i (1'b1),
      .write_qp_i,
      .write_peer_i,
      .tos_i         (8'hc0),
      .priority_i    ('0),
      .udp_source_i  (16'hc000),
      .m_axis        (cnp_axis),
      .m_axis_tvalid (cnp_axis_tvalid),
      .m_axis_tready (cnp_axis_tready),
      .marks_o       (marks),
      .cnps_o        (answers),
      .unknown_o     (not_known),
      .lost_o        (no_place)
  );

  delay_line_block #(
      .Words   (256),
      .MaxBeats(64)
  ) u_back (
      .clk_i,
      .rst_i,
      .delay_i      (delay_back_i),
      .s_axis       (cnp_axis),
      .s_axis_tvalid(cnp_axis_tvalid),
      .s_axis_tready(cnp_axis_tready),
      .m_axis       (cnp),
      .m_axis_tvalid(cnp_tvalid),
      .m_axis_tready(cnp_tready),
      .words_o      (cnp_words),
      .dropped_o    (lost[Senders]),
      .cut_o        (cut[Senders]),
      .late_o       (late[Senders])
  );

  assign lost_o = |{lost, cut, too_long, refused, unknown, overflows, no_slot, not_known, no_place};

  assign unused = &{
    1'b0,
    busy,
    tokens,
    cnps,
    rates,
    free,
    free_soon,
    frames,
    octets,
    starts,
    late,
    source,
    crowded,
    taken,
    no_length,
    chosen_by_ramp,
    marks,
    answers,
    cnp_words
  };
endmodule

`default_nettype wire
