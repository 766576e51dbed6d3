// SPDX-License-Identifier: Apache-2.0
//
// Congestion point: a queue of an output port that samples arriving frames, and signals its congestion to their
// sources. QCN (802.1Qau; Kabbani and Yasuda 2010, figure 4) or SMCC (Jiang et al. 2015, section 5.1).
//
// Data enter by s_axis, wait in block RAM and leave by m_axis; messages leave by m_axis_message. A frame that is bad, or
// that the queue has no room for, is dropped whole. A frame in transmission counts as queued until its last beat has gone.
// Latency, if a frame's last beat arrives in clock c: it is accepted or dropped in c + 3, given to the algorithm (event_o) from
// c + 5 on, and shown at m_axis from c + 9 on. For the rest see cp_feedback and cp_notifier. Throughput: a beat a clock and 2
// clocks after each frame, in which s_axis_tready is low: 10 Gb/s at 156.25 MHz. s_axis_tready is also low while EventDepth
// frames wait for the algorithm. With wider beats two are enough for a frame of one, and the others take no more than their
// beats: 100 Gb/s with 512 bits at 322 MHz. Then a buffer of two beats is in front, and c is the clock in which the last beat
// leaves it, one after it was taken or two. Two frames fewer may wait for the algorithm.

`default_nettype none

module cp
  import penstock_pkg::*;
  import cn_frame_pkg::*;
  import cp_pkg::*;
#(
  // SMCC's samples and messages, not QCN's.
  parameter bit Smcc = 1'b0,
  // Octets that the queue holds at most: MaxOctets to 2^24 − 1.
  parameter int unsigned BufferOctets = 60_000,
  // Longest frame with its FCS, octets: 64 to 65000. A longer one is bad.
  parameter int unsigned MaxOctets = 1522,
  // How frames are sampled: 0 table (QCN alone), 1 count, 2 probability.
  parameter int unsigned Sampling = Smcc ? SampleCount : SampleTable,
  // The table is base / (k + 1) of 802.1Qau, not the rounded one of Kabbani and Yasuda 2010.
  parameter bit HarmonicTable = 1'b0,
  // Fb's growth is that since the last sample that called for a message, not since the last sample.
  parameter bit LastSent = 1'b0,
  // Frames that the full queue has refused count for sampling.
  parameter bit SampleDropped = 1'b1,
  // Frames that may wait for the algorithm, and messages for their stream: powers of two, at least 2 (with wide beats, frames 4).
  parameter int unsigned EventDepth = 16,
  parameter int unsigned MessageDepth = 8
) (
  input var logic clk_i,
  input var logic rst_i,

  // Data that come to the queue.
  input var  axis_t s_axis,
  input var  logic  s_axis_tvalid,
  output var logic  s_axis_tready,

  // Data that leave it, to the port.
  output var axis_t m_axis,
  output var logic  m_axis_tvalid,
  input var  logic  m_axis_tready,

  // Messages.
  output var axis_t m_axis_message,
  output var logic  m_axis_message_tvalid,
  input var  logic  m_axis_message_tready,

  // Set point of the queue (SMCC: q0), octets; weight of its growth in Fb, Q6.10.
  input var queue_octets_t        q_eq_i,
  input var logic          [15:0] w_i,
  // Sampling: octets at Fb = 0; spread, Q0.16; frames; probability, Q0.32.
  input var queue_octets_t        sample_base_i,
  input var logic          [15:0] sample_jitter_i,
  input var logic          [23:0] sample_count_i,
  input var random_t              sample_probability_i,
  // MAC and identity of the congestion point, priority of its messages.
  input var logic          [47:0] cp_mac_i,
  input var logic          [63:0] cp_id_i,
  input var logic          [ 2:0] cnm_priority_i,

  // A random word, and the clocks in which one is drawn.
  input var  random_t random_i,
  output var logic    draw_o,

  // Trace: the queue now; an arrival as it is given to the algorithm; a sample and what it calls for; the next interval.
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

  // Counters since reset, which stay at their largest values: good frames that came and their octets; of these, dropped;
  // bad frames; samples; messages, and those lost to a full FIFO.
  output var logic [31:0] frames_o,
  output var logic [47:0] octets_o,
  output var logic [31:0] dropped_o,
  output var logic [31:0] bad_o,
  output var logic [31:0] sampled_o,
  output var logic [31:0] messages_o,
  output var logic [31:0] messages_lost_o
);
  if (BufferOctets < MaxOctets) begin : gen_bad_buffer
    $fatal(0, "BufferOctets is at least MaxOctets (instance %m)");
  end

  // Beats of more than 64 bits, of which one may be a frame: such may come in each second clock.
  localparam bit Wide = DataW > 64;

  // A frame of L octets takes ceil((L - 4) / 8) words, which is at most 67 L / 512 from 64 octets on; and there is one
  // more frame that comes. With wider beats those of 69 octets take most.
  localparam int unsigned MostWords = (65 + BeatOctets - 1) / BeatOctets;
  localparam int unsigned QueueWords =
      Wide ? (BufferOctets * MostWords + 68) / 69 : (BufferOctets * 67 + 511) / 512;
  localparam int unsigned Words = QueueWords + (MaxOctets + BeatOctets - 1) / BeatOctets + 4;

  // Stream in: two clocks behind each frame are its decision's. A frame in wide beats is decided while the next arrives, unless
  // that has a single beat: it has to wait for a clock, which is known where it is shown.
  logic  taken;
  axis_t in;
  logic  ready_q;
  logic  ended_q;
  logic  events_full;
  // One more frame than those on their way to the algorithm would find no room.
  logic  events_crowded;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      ready_q <= 1'b0;
      ended_q <= 1'b0;
    end else begin
      ready_q <= (Wide || !(taken && in.last || ended_q)) && !events_crowded;
      ended_q <= taken && in.last;
    end
  end

  if (Wide) begin : gen_buffer
    logic in_valid;
    logic ready;
    assign ready = ready_q && !(ended_q && in.last);
    assign taken = in_valid && ready;

    stream_buffer u_in (
        .clk_i,
        .rst_i,
        .s_axis,
        .s_axis_tvalid,
        .s_axis_tready,
        .m_axis(in),
        .m_axis_tvalid(in_valid),
        .m_axis_tready(ready)
    );
  end else begin : gen_direct
    assign in = s_axis;
    assign taken = s_axis_tvalid && ready_q;
    assign s_axis_tready = ready_q;
  end

  logic                      beat_valid;
  logic          [DataW-1:0] beat_data;
  beat_count_t               beat_count;
  logic                      beat_last;
  logic                      frame_valid;
  frame_octets_t             parsed_octets;
  logic                      bad;
  header_t                   parsed_header;
  logic                      parsed_message;

  cp_parser #(
      .MaxOctets  (MaxOctets),
      .MessageType(Smcc ? EtherTypeSmcc : EtherTypeCnm)
  ) u_parser (
      .clk_i,
      .rst_i,
      .beat_valid_i (taken),
      .beat_data_i  (in.data),
      .beat_keep_i  (in.keep),
      .beat_last_i  (in.last),
      .beat_user_i  (in.user),
      .beat_valid_o (beat_valid),
      .beat_data_o  (beat_data),
      .beat_count_o (beat_count),
      .beat_last_o  (beat_last),
      .frame_valid_o(frame_valid),
      .octets_o     (parsed_octets),
      .bad_o        (bad),
      .header_o     (parsed_header),
      .message_o    (parsed_message)
  );

  // The fields of a frame for two clocks from its decision on, and its beats: the last is there in the clock of the decision.
  frame_octets_t             octets;
  header_t                   header;
  logic                      message;
  logic                      store_valid;
  logic          [DataW-1:0] store_data;
  beat_count_t               store_count;
  logic                      store_last;

  if (Wide) begin : gen_later
    always_ff @(posedge clk_i) begin
      if (frame_valid) begin
        octets  <= parsed_octets;
        header  <= parsed_header;
        message <= parsed_message;
      end
    end
    logic                    early_valid_q;
    logic        [DataW-1:0] early_data_q;
    beat_count_t             early_count_q;
    logic                    early_last_q;
    always_ff @(posedge clk_i) begin
      early_valid_q <= beat_valid && !rst_i;
      store_valid   <= early_valid_q && !rst_i;
    end
    always_ff @(posedge clk_i) begin
      early_data_q  <= beat_data;
      early_count_q <= beat_count;
      early_last_q  <= beat_last;
      store_data    <= early_data_q;
      store_count   <= early_count_q;
      store_last    <= early_last_q;
    end
  end else begin : gen_as_parsed
    assign octets      = parsed_octets;
    assign header      = parsed_header;
    assign message     = parsed_message;
    assign store_valid = beat_valid;
    assign store_data  = beat_data;
    assign store_count = beat_count;
    assign store_last  = beat_last;
  end

  logic          decided;
  logic          queued;
  logic          store_full;
  logic          sent_valid;
  frame_octets_t sent_octets;
  logic          end_q;

  cp_queue_monitor #(
      .BufferOctets(BufferOctets)
  ) u_monitor (
      .clk_i,
      .rst_i,
      .frame_valid_i (frame_valid && !bad),
      .frame_octets_i(parsed_octets),
      .store_full_i  (store_full),
      .decided_o     (decided),
      .queued_o      (queued),
      .sent_valid_i  (sent_valid),
      .sent_octets_i (sent_octets),
      .queue_o
  );

  always_ff @(posedge clk_i) begin
    if (rst_i) end_q <= 1'b0;
    else end_q <= frame_valid;
  end

  cp_frame_store #(
      .Words(Words)
  ) u_store (
      .clk_i,
      .rst_i,
      .beat_valid_i(store_valid),
      .beat_data_i(store_data),
      .beat_count_i(store_count),
      .beat_last_i(store_last),
      .full_o(store_full),
      .end_i(end_q),
      .commit_i(queued),
      .m_axis,
      .m_axis_tvalid,
      .m_axis_tready,
      .sent_valid_o(sent_valid),
      .sent_octets_o(sent_octets)
  );

  // Arrivals wait for the algorithm, with the length that they have met. Messages are not answered by messages.
  typedef struct packed {
    header_t       header;
    frame_octets_t octets;
    logic          dropped;
    queue_octets_t queue_octets;
  } arrival_t;
  arrival_t arrival;
  arrival_t head;
  logic     arrived_q;
  logic     dropped_q;
  logic     no_event;
  logic     event_done;

  always_ff @(posedge clk_i) begin
    dropped_q <= !queued;
    if (rst_i) arrived_q <= 1'b0;
    else arrived_q <= decided;
  end
  assign arrival = '{header: header, octets: octets, dropped: dropped_q, queue_octets: queue_o};

  small_fifo #(
      .Width($bits(arrival_t)),
      .Depth(EventDepth)
  ) u_events (
      .clk_i,
      .rst_i,
      .push_i (arrived_q && !message),
      .data_i (arrival),
      .full_o (events_full),
      .pop_i  (event_done),
      .data_o (head),
      .empty_o(no_event)
  );

  // Two short frames may be taken before a third is held back; with 64 bits the beats of one take long enough.
  if (Wide) begin : gen_crowded
    localparam int unsigned EventW = $clog2(EventDepth + 1);
    logic [EventW-1:0] waiting_q;
    always_ff @(posedge clk_i) begin
      if (rst_i) waiting_q <= '0;
      else
        waiting_q <= waiting_q + EventW'(arrived_q && !message) - EventW'(event_done && !no_event);
    end
    assign events_crowded = events_full || 32'(waiting_q) + 2 >= EventDepth;

`ifdef FORMAL
    // Safety: it is the number of those in the FIFO.
    logic was_reset_q = 1'b0;
    always_ff @(posedge clk_i) begin
      was_reset_q <= 1'b1;
      if (was_reset_q) assert (waiting_q == EventW'(u_events.in_q - u_events.out_q));
    end
`endif
  end else begin : gen_full
    assign events_crowded = events_full;
  end

  queue_diff_t q_off;
  queue_diff_t q_delta;

  cp_feedback #(
      .Smcc(Smcc),
      .Sampling(Sampling),
      .HarmonicTable(HarmonicTable),
      .LastSent(LastSent),
      .SampleDropped(SampleDropped)
  ) u_feedback (
      .clk_i,
      .rst_i,
      .q_eq_i,
      .w_i,
      .sample_base_i,
      .sample_jitter_i,
      .sample_count_i,
      .sample_probability_i,
      .random_i,
      .draw_o,
      .event_valid_i(!no_event),
      .event_octets_i(head.octets),
      .event_dropped_i(head.dropped),
      .event_queue_i(head.queue_octets),
      .event_o,
      .event_done_o(event_done),
      .sample_o,
      .congested_o,
      .fb_o,
      .q_off_o(q_off),
      .q_delta_o(q_delta),
      .reloaded_o,
      .interval_o
  );
  assign event_octets_o  = head.octets;
  assign event_dropped_o = head.dropped;
  assign event_queue_o   = head.queue_octets;

  logic notifies;
  logic lost;
  assign notifies = sample_o && congested_o;

  cp_notifier #(
      .Smcc (Smcc),
      .Depth(MessageDepth)
  ) u_notifier (
      .clk_i,
      .rst_i,
      .cp_mac_i,
      .cp_id_i,
      .cnm_priority_i,
      .message_valid_i(notifies),
      .message_header_i(head.header),
      .message_fb_i(fb_o),
      .message_q_off_i(q_off),
      .message_q_delta_i(q_delta),
      .lost_o(lost),
      .m_axis(m_axis_message),
      .m_axis_tvalid(m_axis_message_tvalid),
      .m_axis_tready(m_axis_message_tready)
  );

  event_counter #(
      .Width  (48),
      .AmountW(FrameW)
  ) u_octets (
      .clk_i,
      .rst_i,
      .valid_i (arrived_q),
      .amount_i(octets),
      .count_o (octets_o)
  );
  event_counter u_frames (
      .clk_i,
      .rst_i,
      .valid_i (arrived_q),
      .amount_i(1'b1),
      .count_o (frames_o)
  );
  event_counter u_dropped (
      .clk_i,
      .rst_i,
      .valid_i (arrived_q && dropped_q),
      .amount_i(1'b1),
      .count_o (dropped_o)
  );
  event_counter u_bad (
      .clk_i,
      .rst_i,
      .valid_i (frame_valid && bad),
      .amount_i(1'b1),
      .count_o (bad_o)
  );
  event_counter u_sampled (
      .clk_i,
      .rst_i,
      .valid_i (sample_o),
      .amount_i(1'b1),
      .count_o (sampled_o)
  );
  event_counter u_messages (
      .clk_i,
      .rst_i,
      .valid_i (notifies && !lost),
      .amount_i(1'b1),
      .count_o (messages_o)
  );
  event_counter u_lost (
      .clk_i,
      .rst_i,
      .valid_i (lost),
      .amount_i(1'b1),
      .count_o (messages_lost_o)
  );

`ifdef FORMAL
  // Safety: no arrival is lost between the queue and the algorithm. The queue's bounds, the frames' wholeness, and that
  // no message comes without congestion, are proved of the parts.
  logic past_valid_q = 1'b0;
  always_ff @(posedge clk_i) begin
    past_valid_q <= 1'b1;
    if (!past_valid_q) assume (rst_i);
    if (past_valid_q && !rst_i) assert (!(arrived_q && events_full));
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (past_valid_q) begin
      cover (arrived_q && !rst_i);
      cover (events_full && !rst_i);
    end
  end
`endif
endmodule

`default_nettype wire
