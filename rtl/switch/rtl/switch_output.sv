// SPDX-License-Identifier: Apache-2.0
//
// An output of the switch: pause frames before messages before data, on a line at its rate. (Kabbani and Yasuda 2010,
// section 3.2: messages go to the output MAC at the highest priority)
//
// Data either wait here (OwnQueue) or come from the congestion point; messages wait here. A frame that finds no room is
// dropped whole and counted. The next frame is chosen within 4 clocks before the line gets free, so that the line never
// waits for the choice.
// Latency: the first beat of data that find the line free is on it four clocks after it is shown (OwnQueue: ten after its
// frame's last beat). Throughput: that of the line, up to a frame each b + 4 clocks of b beats.

`default_nettype none

module switch_output
  import penstock_pkg::*;
  import pfc_pkg::*;
#(
  // Data wait here; else s_axis_tready says when they are taken.
  parameter bit          OwnQueue      = 1'b1,
  // Beats of data and of messages that wait.
  parameter int unsigned Words         = 1024,
  parameter int unsigned MessageWords  = 32,
  parameter int unsigned MaxOctets     = 1522,
  // The neighbour is paused when the congestion point's queue is long, by a frame of pfc_tx.
  parameter bit          Pfc           = 1'b1,
  // Those of pfc_tx and output_port.
  parameter int unsigned DataPriority  = 3,
  parameter int unsigned QuantumClocks = 64,
  parameter int unsigned ClockHz       = 125_000_000,
  parameter int unsigned OctetsOnLine  = 20,
  parameter int unsigned Changes       = 1,
  // Bits of a number of changes; not to be set.
  parameter int unsigned ChangeW       = $clog2(Changes + 1)
) (
  input var logic clk_i,
  input var logic rst_i,

  // The line's rate and its changes, as output_port's.
  input var  rate_t                          rate_i,
  input var  logic  [ChangeW-1:0]            schedule_entries_i,
  input var  logic  [Changes-1:0][     47:0] schedule_at_i,
  input var  logic  [Changes-1:0][RateW-1:0] schedule_rate_i,
  input var  logic  [       47:0]            now_i,
  output var rate_t                          rate_o,

  // No frame begins on the line from the clock after next on; the line shows nothing, and is not within a frame.
  input var  logic stopping_i,
  output var logic between_frames_o,

  // Flow control: settings of pfc_tx, how the congestion point's queue has changed in this clock, and that this port's
  // neighbour has stopped the data.
  input var logic          [QueueW-1:0] xoff_i,
  input var logic          [QueueW-1:0] xon_i,
  input var logic          [      15:0] quanta_i,
  input var logic          [      47:0] source_mac_i,
  input var logic                       grows_i,
  input var logic                       shrinks_i,
  input var frame_octets_t              queue_change_i,
  input var logic                       paused_i,

  // Messages: every beat is taken.
  input var axis_t s_axis_message,
  input var logic  s_axis_message_tvalid,

  // Data. With OwnQueue every beat is taken.
  input var  axis_t s_axis,
  input var  logic  s_axis_tvalid,
  output var logic  s_axis_tready,

  // The line.
  output var axis_t m_axis,
  output var logic  m_axis_tvalid,
  input var  logic  m_axis_tready,

  // Priorities that the neighbour is to stop; frames sent and their octets; data and messages without room; pause frames.
  output var logic [ 7:0] full_o,
  output var logic [31:0] frames_o,
  output var logic [47:0] octets_o,
  output var logic [31:0] lost_o,
  output var logic [31:0] messages_lost_o,
  output var logic [31:0] pauses_o
);
  if (DataPriority > 7) begin : gen_bad_priority
    $fatal(0, "DataPriority is 0 to 7 (instance %m)");
  end

  // The inputs of the arbiter, the lowest first.
  localparam int unsigned Pause = 0;
  localparam int unsigned Message = 1;
  localparam int unsigned Data = 2;
  localparam int unsigned Inputs = 3;
  axis_t [Inputs-1:0] inputs;
  logic  [Inputs-1:0] in_tvalid;
  logic  [Inputs-1:0] in_tready;
  logic               line_free;
  logic               line_free_soon;

  if (Pfc) begin : gen_pfc
    logic [7:0][QueueW-1:0] held;
    logic [7:0][QueueW-1:0] most;
    logic [7:0][ TimeW-1:0] pause_clocks;
    logic                   unused;
    assign unused = &{held, most, pause_clocks};

    pfc_tx #(
        .Lossless     (1 << DataPriority),
        .QuantumClocks(QuantumClocks)
    ) u_pfc (
        .clk_i,
        .rst_i,
        .xoff_i           ('{8{xoff_i}}),
        .xon_i            ('{8{xon_i}}),
        .quanta_i,
        .source_mac_i,
        .arrive_valid_i   (grows_i),
        .arrive_priority_i(3'(DataPriority)),
        .arrive_octets_i  (queue_change_i),
        .depart_valid_i   (shrinks_i),
        .depart_priority_i(3'(DataPriority)),
        .depart_octets_i  (queue_change_i),
        .line_free_i      (line_free_soon),
        .m_axis           (inputs[Pause]),
        .m_axis_tvalid    (in_tvalid[Pause]),
        .m_axis_tready    (in_tready[Pause]),
        .restart_i        (1'b0),
        .held_o           (held),
        .most_o           (most),
        .full_o,
        .pause_clocks_o   (pause_clocks),
        .frames_o         (pauses_o)
    );
  end else begin : gen_no_pfc
    logic unused;
    logic unused_now;
    assign unused = &{xoff_i, xon_i, quanta_i, source_mac_i};
    assign unused_now = &{grows_i, shrinks_i, queue_change_i, in_tready[Pause]};
    assign inputs[Pause] = '0;
    assign in_tvalid[Pause] = 1'b0;
    assign full_o = '0;
    assign pauses_o = '0;
  end

  // Messages come from within and are good.
  logic [31:0] messages_bad;
  switch_queue #(
      .Words    (MessageWords),
      .MaxOctets(64)
  ) u_messages (
      .clk_i,
      .rst_i,
      .s_axis       (s_axis_message),
      .s_axis_tvalid(s_axis_message_tvalid),
      .m_axis       (inputs[Message]),
      .m_axis_tvalid(in_tvalid[Message]),
      .m_axis_tready(in_tready[Message]),
      .bad_o        (messages_bad),
      .dropped_o    (messages_lost_o)
  );

  logic data_tvalid;
  if (OwnQueue) begin : gen_queue
    logic [31:0] bad;
    logic        unused;
    assign unused        = &{bad, messages_bad};
    assign s_axis_tready = 1'b1;

    switch_queue #(
        .Words    (Words),
        .MaxOctets(MaxOctets)
    ) u_data (
        .clk_i,
        .rst_i,
        .s_axis,
        .s_axis_tvalid,
        .m_axis       (inputs[Data]),
        .m_axis_tvalid(data_tvalid),
        .m_axis_tready(in_tready[Data]),
        .bad_o        (bad),
        .dropped_o    (lost_o)
    );
  end else begin : gen_no_queue
    logic unused;
    assign unused        = &messages_bad;
    assign inputs[Data]  = s_axis;
    assign data_tvalid   = s_axis_tvalid;
    assign s_axis_tready = in_tready[Data];
    assign lost_o        = '0;
  end

  // Data that are stopped stop between frames.
  logic in_frame_q;
  always_ff @(posedge clk_i) begin
    if (rst_i) in_frame_q <= 1'b0;
    else if (in_tvalid[Data] && in_tready[Data]) in_frame_q <= !inputs[Data].last;
  end
  assign in_tvalid[Data] = data_tvalid && (in_frame_q || !paused_i);

  axis_t       next;
  logic        next_tvalid;
  logic        next_tready;
  logic  [1:0] next_source;
  axis_t       paced;
  logic        paced_tvalid;
  logic        paced_tready;
  logic        start;
  logic        unused_info;
  assign unused_info = &{next_source, start, line_free};

  frame_arbiter #(
      .Inputs(Inputs),
      .Strict(1'b1)
  ) u_arbiter (
      .clk_i,
      .rst_i,
      .s_axis         (inputs),
      .s_axis_tvalid  (in_tvalid),
      .s_axis_tready  (in_tready),
      .hold_i         (!line_free_soon),
      .m_axis         (next),
      .m_axis_tvalid  (next_tvalid),
      .m_axis_tready  (next_tready),
      .m_axis_source_o(next_source)
  );

  // The line's readiness ends here.
  stream_buffer u_next (
      .clk_i,
      .rst_i,
      .s_axis(next),
      .s_axis_tvalid(next_tvalid),
      .s_axis_tready(next_tready),
      .m_axis(paced),
      .m_axis_tvalid(paced_tvalid),
      .m_axis_tready(paced_tready)
  );

  output_port #(
      .ClockHz     (ClockHz),
      .OctetsOnLine(OctetsOnLine),
      .Entries     (Changes),
      .Slack       (5)
  ) u_port (
      .clk_i,
      .rst_i,
      .rate_i,
      .schedule_entries_i,
      .schedule_at_i,
      .schedule_rate_i,
      .now_i,
      .rate_o,
      .hold_i       (stopping_i),
      .free_o       (line_free),
      .free_soon_o  (line_free_soon),
      .s_axis       (paced),
      .s_axis_tvalid(paced_tvalid),
      .s_axis_tready(paced_tready),
      .m_axis,
      .m_axis_tvalid,
      .m_axis_tready,
      .start_o      (start),
      .frames_o,
      .octets_o
  );

  logic line_in_frame_q;
  always_ff @(posedge clk_i) begin
    if (rst_i) line_in_frame_q <= 1'b0;
    else if (m_axis_tvalid && m_axis_tready) line_in_frame_q <= !m_axis.last;
  end
  assign between_frames_o = !m_axis_tvalid && !line_in_frame_q;
endmodule

`default_nettype wire
