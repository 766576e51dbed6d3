// SPDX-License-Identifier: Apache-2.0
//
// A host and a port of a switch at the ends of a link of 100 Gb/s: what the cores do together, at the rate of the line.
//
//   s_axis_tx --> qcn_rp --> output_port --(line)--> cp --> output_port --> m_axis
//                   ^            ^ paused             | queue  | sent
//                   +-- pfc_rx --+                    v        v
//                         ^                messages   pfc_pool --> pfc_announcer
//                         +--(line)-- output_port <-- frame_arbiter <--+
//
// The outputs show all that the models of the parts have to see. Links have no length. A second reaction point sends nothing.
// Latency: that of the parts. Throughput: frames of 64 octets and more at 100 Gb/s with beats of 512 bits at 322 MHz.

`default_nettype none

module line_rate
  import penstock_pkg::*;
  import cn_frame_pkg::*;
  import qcn_rp_pkg::*;
  import pfc_pkg::*;
#(
  parameter int unsigned     ClockHz      = 322_265_625,
  parameter longint unsigned LineRate     = 64'd100_000_000_000,
  parameter int unsigned     MaxOctets    = 9216,
  // Those of token_bucket.
  parameter int unsigned     Depth        = 32_768,
  parameter int unsigned     RefillClocks = 330,
  parameter int unsigned     Granularity  = 7_812_500,
  // Those of cp.
  parameter int unsigned     BufferOctets = 200_000,
  parameter int unsigned     EventDepth   = 128,
  // The priority of the frames.
  parameter int unsigned     DataPriority = 3
) (
  input var logic clk_i,
  input var logic rst_i,

  // Rate of the output, bit/s.
  input var rate_t rate_i,

  // Settings and random words of qcn_rp.
  input var logic   [ 1:0][47:0] mac_i,
  input var logic   [ 1:0]       start_i,
  input var logic                tick_i,
  input var logic   [ 1:0][31:0] random_byte_i,
  input var logic   [ 1:0][31:0] random_timer_i,
  input var logic   [ 4:0]       gd_shift_i,
  input var stage_t              rpg_threshold_i,
  input var cycle_t              rpg_byte_reset_i,
  input var cycle_t              rpg_time_reset_i,
  input var rate_t               rpg_ai_rate_i,
  input var rate_t               rpg_hai_rate_i,
  input var rate_t               rpg_min_rate_i,
  input var rate_t               rpg_max_rate_i,
  input var logic   [15:0]       rp_jitter_i,

  // Settings and random words of cp.
  input var queue_octets_t        q_eq_i,
  input var logic          [15:0] w_i,
  input var queue_octets_t        sample_base_i,
  input var logic          [15:0] sample_jitter_i,
  input var logic          [47:0] cp_mac_i,
  input var logic          [63:0] cp_id_i,
  input var random_t              random_i,

  // Settings of pfc_pool, of all priorities, and of pfc_announcer.
  input var queue_octets_t        shared_i,
  input var queue_octets_t        headroom_i,
  input var logic          [ 3:0] alpha_i,
  input var queue_octets_t        xoff_i,
  input var queue_octets_t        xon_i,
  input var logic          [15:0] quanta_i,

  // Frames of the host, with their lengths, and frames that leave the switch.
  input var  axis_t         s_axis_tx,
  input var  logic          s_axis_tx_tvalid,
  output var logic          s_axis_tx_tready,
  input var  frame_octets_t s_axis_tx_octets_i,
  output var axis_t         m_axis,
  output var logic          m_axis_tvalid,
  input var  logic          m_axis_tready,

  // qcn_rp: what arrives, what passes, the frames of the reaction points that go, and its outputs.
  output var axis_t                        rx_axis,
  output var logic                         rx_axis_tvalid,
  output var logic                         rx_axis_tready,
  output var axis_t                        other_axis,
  output var logic                         other_axis_tvalid,
  output var axis_t                        tx_axis,
  output var logic                         tx_axis_tvalid,
  output var logic                         tx_axis_tready,
  output var logic  [ 1:0][     RateW-1:0] current_rate_o,
  output var logic  [ 1:0][     RateW-1:0] target_rate_o,
  output var logic  [ 1:0][    StageW-1:0] byte_stage_o,
  output var logic  [ 1:0][    StageW-1:0] time_stage_o,
  output var logic  [ 1:0][           1:0] phase_o,
  output var logic  [ 1:0][RemainingW-1:0] byte_remaining_o,
  output var logic  [ 1:0][RemainingW-1:0] time_remaining_o,
  output var logic  [ 1:0]                 busy_o,
  output var logic  [ 1:0]                 draw_byte_o,
  output var logic  [ 1:0]                 draw_timer_o,
  output var logic  [ 1:0]                 signal_o,
  output var logic  [ 1:0]                 sent_valid_o,
  output var logic  [ 1:0][    FrameW-1:0] sent_octets_o,
  output var logic  [ 1:0][    FrameW-1:0] tokens_o,
  output var logic  [ 1:0][          31:0] too_long_o,
  output var logic  [31:0]                 taken_o,
  output var logic  [31:0]                 malformed_o,
  output var logic  [31:0]                 refused_o,
  output var logic  [31:0]                 unknown_o,

  // The line, and cp: the streams at its other sides, and its outputs.
  output var axis_t                line_axis,
  output var logic                 line_axis_tvalid,
  output var logic                 line_axis_tready,
  output var logic                 line_start_o,
  output var axis_t                queue_axis,
  output var logic                 queue_axis_tvalid,
  output var logic                 queue_axis_tready,
  output var logic                 start_o,
  output var axis_t                message_axis,
  output var logic                 message_axis_tvalid,
  output var logic                 message_axis_tready,
  output var logic                 draw_o,
  output var queue_octets_t        queue_o,
  output var logic                 event_o,
  output var frame_octets_t        event_octets_o,
  output var logic                 event_dropped_o,
  output var queue_octets_t        event_queue_o,
  output var logic                 sample_o,
  output var logic                 congested_o,
  output var logic          [ 5:0] fb_o,
  output var logic                 reloaded_o,
  output var logic          [24:0] interval_o,
  output var logic          [31:0] frames_o,
  output var logic          [47:0] octets_o,
  output var logic          [31:0] dropped_o,
  output var logic          [31:0] bad_o,
  output var logic          [31:0] sampled_o,
  output var logic          [31:0] messages_o,
  output var logic          [31:0] messages_lost_o,

  // Flow control: events of the pool, its outputs, and the pause frames on the way back.
  output var logic                            arrive_o,
  output var frame_octets_t                   arrive_octets_o,
  output var logic                            depart_o,
  output var frame_octets_t                   depart_octets_o,
  output var logic                            room_o,
  output var logic          [ 7:0]            full_o,
  output var queue_octets_t                   held_o,
  output var queue_octets_t                   in_headroom_o,
  output var queue_octets_t                   most_in_headroom_o,
  output var logic          [ 7:0][TimeW-1:0] told_clocks_o,
  output var logic          [31:0]            pauses_o,
  output var axis_t                           back_axis,
  output var logic                            back_axis_tvalid,
  output var logic                            back_axis_tready,
  output var logic          [ 7:0]            paused_o,
  output var logic          [ 7:0][TimeW-1:0] pause_clocks_o
);
  localparam longint unsigned Quantum = quantum_clocks(64'(ClockHz), LineRate);
  localparam int unsigned QuantumClocks = 32'(Quantum);

  // --- The host ----------------------------------------------------------------------------------

  axis_t [1:0] tx;
  logic  [1:0] tx_tvalid;
  logic  [1:0] tx_tready;
  logic  [1:0] s_tx_tready;
  logic        unused;

  assign tx_axis          = tx[0];
  assign tx_axis_tvalid   = tx_tvalid[0];
  assign tx_axis_tready   = tx_tready[0];
  assign tx_tready[1]     = 1'b1;
  assign s_axis_tx_tready = s_tx_tready[0];

  qcn_rp #(
      .ReactionPoints(2),
      .Depth         (Depth),
      .RefillClocks  (RefillClocks),
      .Granularity   (Granularity),
      .LineRate      (LineRate),
      .MaxOctets     (MaxOctets)
  ) u_rp (
      .clk_i,
      .rst_i,
      .drop_if_busy_i    (1'b1),
      .s_axis_rx         (rx_axis),
      .s_axis_rx_tvalid  (rx_axis_tvalid),
      .s_axis_rx_tready  (rx_axis_tready),
      .m_axis_rx         (other_axis),
      .m_axis_rx_tvalid  (other_axis_tvalid),
      .m_axis_rx_tready  (1'b1),
      .mac_i,
      .start_i,
      .tick_i,
      .random_byte_i,
      .random_timer_i,
      .draw_byte_o,
      .draw_timer_o,
      .gd_shift_i,
      .rpg_threshold_i,
      .rpg_byte_reset_i,
      .rpg_time_reset_i,
      .rpg_ai_rate_i,
      .rpg_hai_rate_i,
      .rpg_min_rate_i,
      .rpg_max_rate_i,
      .rp_jitter_i,
      .timer_on_i        (1'b1),
      .s_axis_tx         ({axis_t'('0), s_axis_tx}),
      .s_axis_tx_tvalid  ({1'b0, s_axis_tx_tvalid}),
      .s_axis_tx_tready  (s_tx_tready),
      .s_axis_tx_octets_i({FrameW'(0), s_axis_tx_octets_i}),
      .m_axis_tx         (tx),
      .m_axis_tx_tvalid  (tx_tvalid),
      .m_axis_tx_tready  (tx_tready),
      .current_rate_o,
      .target_rate_o,
      .byte_stage_o,
      .time_stage_o,
      .phase_o,
      .byte_remaining_o,
      .time_remaining_o,
      .busy_o,
      .signal_o,
      .sent_valid_o,
      .sent_octets_o,
      .tokens_o,
      .dropped_o         (too_long_o),
      .taken_o,
      .malformed_o,
      .refused_o,
      .unknown_o
  );

  // The rates and counters of three lines; nobody asks for those.
  rate_t [2:0] rates;
  logic [2:0] free;
  logic [2:0] free_soon;
  logic [2:0][31:0] frames;
  logic [2:0][47:0] octets;

  output_port_wide #(
      .ClockHz(ClockHz),
      .Entries(1),
      .Slack  (2)
  ) u_line (
      .clk_i,
      .rst_i,
      .rate_i            (rate_t'(LineRate)),
      .schedule_entries_i('0),
      .schedule_at_i     ('0),
      .schedule_rate_i   ('0),
      .now_i             ('0),
      .rate_o            (rates[0]),
      .hold_i            (paused_o[DataPriority]),
      .free_o            (free[0]),
      .free_soon_o       (free_soon[0]),
      .s_axis            (tx[0]),
      .s_axis_tvalid     (tx_tvalid[0]),
      .s_axis_tready     (tx_tready[0]),
      .m_axis            (line_axis),
      .m_axis_tvalid     (line_axis_tvalid),
      .m_axis_tready     (line_axis_tready),
      .start_o           (line_start_o),
      .frames_o          (frames[0]),
      .octets_o          (octets[0])
  );

  // --- The port of the switch --------------------------------------------------------------------

  cp #(
      .BufferOctets(BufferOctets),
      .MaxOctets   (MaxOctets),
      .EventDepth  (EventDepth)
  ) u_cp (
      .clk_i,
      .rst_i,
      .s_axis               (line_axis),
      .s_axis_tvalid        (line_axis_tvalid),
      .s_axis_tready        (line_axis_tready),
      .m_axis               (queue_axis),
      .m_axis_tvalid        (queue_axis_tvalid),
      .m_axis_tready        (queue_axis_tready),
      .m_axis_message       (message_axis),
      .m_axis_message_tvalid(message_axis_tvalid),
      .m_axis_message_tready(message_axis_tready),
      .q_eq_i,
      .w_i,
      .sample_base_i,
      .sample_jitter_i,
      .sample_count_i       ('0),
      .sample_probability_i ('0),
      .cp_mac_i,
      .cp_id_i,
      .cnm_priority_i       ('0),
      .random_i,
      .draw_o,
      .queue_o,
      .event_o,
      .event_octets_o,
      .event_dropped_o,
      .event_queue_o,
      .sample_o,
      .congested_o,
      .fb_o,
      .reloaded_o,
      .interval_o,
      .frames_o,
      .octets_o,
      .dropped_o,
      .bad_o,
      .sampled_o,
      .messages_o,
      .messages_lost_o
  );

  output_port_wide #(
      .ClockHz(ClockHz),
      .Entries(1),
      .Slack  (2)
  ) u_out (
      .clk_i,
      .rst_i,
      .rate_i,
      .schedule_entries_i('0),
      .schedule_at_i     ('0),
      .schedule_rate_i   ('0),
      .now_i             ('0),
      .rate_o            (rates[1]),
      .hold_i            (1'b0),
      .free_o            (free[1]),
      .free_soon_o       (free_soon[1]),
      .s_axis            (queue_axis),
      .s_axis_tvalid     (queue_axis_tvalid),
      .s_axis_tready     (queue_axis_tready),
      .m_axis,
      .m_axis_tvalid,
      .m_axis_tready,
      .start_o,
      .frames_o          (frames[1]),
      .octets_o          (octets[1])
  );

  // --- Flow control --------------------------------------------------------------------------------

  // A frame that the queue has taken, by the counters of cp, and one that has left it. The pool takes either in each second clock.
  // Frames that are taken are two clocks apart or more; those that leave may have their ends in two clocks in a row.
  logic          [31:0] past_frames_q;
  logic          [31:0] past_dropped_q;
  logic          [47:0] past_octets_q;
  logic                 arrive_valid_q;
  logic                 arrive_ready;
  logic                 depart_ready;
  logic                 nothing_left;
  logic                 left_full;
  frame_octets_t        leaving_q;
  logic                 leaves;
  logic                 accepted;

  assign accepted = frames_o != past_frames_q && dropped_o == past_dropped_q;
  assign leaves   = queue_axis_tvalid && queue_axis_tready;
  assign arrive_o = arrive_valid_q && arrive_ready;
  assign depart_o = !nothing_left && depart_ready;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      past_frames_q  <= '0;
      past_dropped_q <= '0;
      past_octets_q  <= '0;
      arrive_valid_q <= 1'b0;
      leaving_q      <= FrameW'(FcsOctets);
    end else begin
      past_frames_q  <= frames_o;
      past_dropped_q <= dropped_o;
      past_octets_q  <= octets_o;
      arrive_valid_q <= accepted || (arrive_valid_q && !arrive_ready);
      if (leaves)
        leaving_q <= queue_axis.last ? FrameW'(FcsOctets) : leaving_q + FrameW'(BeatOctets);
    end
  end

  always_ff @(posedge clk_i) begin
    if (accepted) arrive_octets_o <= FrameW'(octets_o - past_octets_q);
  end

  small_fifo #(
      .Width(FrameW),
      .Depth(4)
  ) u_left (
      .clk_i,
      .rst_i,
      .push_i (leaves && queue_axis.last),
      .data_i (leaving_q + FrameW'(octets_of(queue_axis.keep))),
      .full_o (left_full),
      .pop_i  (depart_o),
      .data_o (depart_octets_o),
      .empty_o(nothing_left)
  );

  logic          [ 7:0]             rises;
  logic          [ 7:0]             falls;
  logic          [ 7:0][QueueW-1:0] held;
  logic          [ 7:0][QueueW-1:0] in_headroom;
  logic          [ 7:0][QueueW-1:0] most_held;
  logic          [ 7:0][QueueW-1:0] most_in_headroom;
  queue_octets_t                    shared_free;
  queue_octets_t                    all_in_headroom;
  logic                             decided;
  logic          [31:0]             without_room;

  assign held_o        = held[DataPriority];
  assign in_headroom_o = in_headroom[DataPriority];

  pfc_pool #(
      .Lossless(1 << DataPriority)
  ) u_pool (
      .clk_i,
      .rst_i,
      .shared_i,
      .headroom_i,
      .dynamic_i             (8'hff),
      .alpha_i               ('{8{alpha_i}}),
      .most_i                ('{8{headroom_i}}),
      .xoff_i                ('{8{xoff_i}}),
      .xon_i                 ('{8{xon_i}}),
      .restart_i             (1'b0),
      .arrive_valid_i        (arrive_valid_q),
      .arrive_ready_o        (arrive_ready),
      .arrive_line_i         ('0),
      .arrive_priority_i     (3'(DataPriority)),
      .arrive_octets_i       (arrive_octets_o),
      .decided_o             (decided),
      .room_o,
      .depart_valid_i        (!nothing_left),
      .depart_ready_o        (depart_ready),
      .depart_line_i         ('0),
      .depart_priority_i     (3'(DataPriority)),
      .depart_octets_i       (depart_octets_o),
      .full_o,
      .rises_o               (rises),
      .falls_o               (falls),
      .held_o                (held),
      .in_headroom_o         (in_headroom),
      .most_held_o           (most_held),
      .most_in_headroom_o    (most_in_headroom),
      .free_o                (shared_free),
      .all_in_headroom_o     (all_in_headroom),
      .most_all_in_headroom_o(most_in_headroom_o),
      .refused_o             (without_room)
  );

  axis_t [1:0] answers;
  logic  [1:0] answers_tvalid;
  logic  [1:0] answers_tready;
  axis_t       answer;
  logic        answer_tvalid;
  logic        answer_tready;
  logic        source;
  logic        back_start;

  assign answers[1]          = message_axis;
  assign answers_tvalid[1]   = message_axis_tvalid;
  assign message_axis_tready = answers_tready[1];

  pfc_announcer #(
      .Lossless     (1 << DataPriority),
      .QuantumClocks(QuantumClocks)
  ) u_announcer (
      .clk_i,
      .rst_i,
      .quanta_i,
      .source_mac_i  (cp_mac_i),
      .full_i        (full_o),
      .rises_i       (rises),
      .falls_i       (falls),
      .line_free_i   (free_soon[2]),
      .m_axis        (answers[0]),
      .m_axis_tvalid (answers_tvalid[0]),
      .m_axis_tready (answers_tready[0]),
      .pause_clocks_o(told_clocks_o),
      .frames_o      (pauses_o)
  );

  frame_arbiter #(
      .Inputs(2),
      .Strict(1'b1)
  ) u_arbiter (
      .clk_i,
      .rst_i,
      .s_axis         (answers),
      .s_axis_tvalid  (answers_tvalid),
      .s_axis_tready  (answers_tready),
      .hold_i         (!free_soon[2]),
      .m_axis         (answer),
      .m_axis_tvalid  (answer_tvalid),
      .m_axis_tready  (answer_tready),
      .m_axis_source_o(source)
  );

  output_port_wide #(
      .ClockHz(ClockHz),
      .Entries(1),
      .Slack  (5)
  ) u_back (
      .clk_i,
      .rst_i,
      .rate_i            (rate_t'(LineRate)),
      .schedule_entries_i('0),
      .schedule_at_i     ('0),
      .schedule_rate_i   ('0),
      .now_i             ('0),
      .rate_o            (rates[2]),
      .hold_i            (1'b0),
      .free_o            (free[2]),
      .free_soon_o       (free_soon[2]),
      .s_axis            (answer),
      .s_axis_tvalid     (answer_tvalid),
      .s_axis_tready     (answer_tready),
      .m_axis            (back_axis),
      .m_axis_tvalid     (back_axis_tvalid),
      .m_axis_tready     (back_axis_tready),
      .start_o           (back_start),
      .frames_o          (frames[2]),
      .octets_o          (octets[2])
  );

  logic [7:0] next_paused;
  logic [7:0] named;
  logic [2:0][31:0] control;

  pfc_rx #(
      .QuantumClocks(QuantumClocks)
  ) u_pfc_rx (
      .clk_i,
      .rst_i,
      .s_axis       (back_axis),
      .s_axis_tvalid(back_axis_tvalid),
      .s_axis_tready(back_axis_tready),
      .m_axis       (rx_axis),
      .m_axis_tvalid(rx_axis_tvalid),
      .m_axis_tready(rx_axis_tready),
      .let_go_i     ('0),
      .ignore_i     ('0),
      .paused_o,
      .next_paused_o(next_paused),
      .named_o      (named),
      .pause_clocks_o,
      .frames_o     (control[0]),
      .malformed_o  (control[1]),
      .other_o      (control[2])
  );

  assign unused = &{
    1'b0,
    tx[1],
    tx_tvalid[1],
    s_tx_tready[1],
    rates,
    free,
    free_soon[1:0],
    frames,
    octets,
    held,
    in_headroom,
    most_held,
    most_in_headroom,
    shared_free,
    all_in_headroom,
    decided,
    left_full,
    without_room,
    source,
    back_start,
    next_paused,
    named,
    control
  };
endmodule

`default_nettype wire
