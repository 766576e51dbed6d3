// SPDX-License-Identifier: Apache-2.0
//
// The QCN side of a NIC with many flows. It extracts messages from the arriving frames, finds the flow of each by its CN-TAG or by
// its address, and says when each flow's next frame may go. (802.1Qau; Kabbani and Yasuda 2010, section 3.2, figure 6)
//
// The frames themselves wait elsewhere, a queue a flow: request_* says that one is at its queue's head, release_* that it may go.
//
// Latency: from the last beat of a message to the clock in which it is offered to its flow 3 clocks and those of flow_lookup; then
// those of qcn_flows. Throughput: a beat a clock; a message in 100 clocks (one that comes sooner waits in the arriving stream, or
// is dropped); a frame in ten clocks.

`default_nettype none

module qcn_rp_many
  import penstock_pkg::*;
  import qcn_rp_pkg::*;
  import qcn_flows_pkg::*;
#(
  // Those of departure_calendar.
  parameter  int unsigned     Flows         = 1024,
  parameter  int unsigned     Buckets       = 1024,
  parameter  int unsigned     BucketClocks  = 64,
  parameter  clocks_t         FirstClock    = '0,
  // Those of qcn_rate_calculator.
  parameter  bit              HaiMultiplier = MinCount,
  parameter  bit              Efr           = ByteStage,
  parameter  bit              Trr           = FirstCycle,
  parameter  bit              JitterRp      = Reload,
  // The clock, Hz: less than 2^30.
  parameter  longint unsigned ClockHz       = 64'd125_000_000,
  localparam int unsigned     FlowW         = unsigned'($clog2(Flows))
) (
  input var logic clk_i,
  input var logic rst_i,

  // The memories are filled: until then nothing is taken but arriving frames.
  output var logic ready_o,

  // Arriving frames cannot wait: a message that would have to is dropped (message_receiver).
  input var logic drop_if_busy_i,

  // Frames that arrive, and those of them that are no messages.
  input var  axis_t s_axis_rx,
  input var  logic  s_axis_rx_tvalid,
  output var logic  s_axis_rx_tready,
  output var axis_t m_axis_rx,
  output var logic  m_axis_rx_tvalid,
  input var  logic  m_axis_rx_tready,

  // An address of a flow, or none (flow_lookup). Once ready_o is high.
  input var logic             mac_write_i,
  input var logic [FlowW-1:0] mac_flow_i,
  input var logic             mac_used_i,
  input var logic [     47:0] mac_i,

  // A flow begins: the largest rate, and first cycles.
  input var  logic             start_valid_i,
  output var logic             start_ready_o,
  input var  logic [FlowW-1:0] start_flow_i,

  // The time base; random words for cycles that begin in this clock, and whether they are drawn.
  input var  logic    tick_i,
  input var  random_t random_byte_i,
  input var  random_t random_timer_i,
  output var logic    draw_byte_o,
  output var logic    draw_timer_o,

  // Settings: those of qcn_rate_calculator.
  input var logic   [ 4:0] gd_shift_i,
  input var stage_t        rpg_threshold_i,
  input var cycle_t        rpg_byte_reset_i,
  input var cycle_t        rpg_time_reset_i,
  input var rate_t         rpg_ai_rate_i,
  input var rate_t         rpg_hai_rate_i,
  input var rate_t         rpg_min_rate_i,
  input var rate_t         rpg_max_rate_i,
  input var logic   [15:0] rp_jitter_i,
  input var logic          timer_on_i,

  // Those of departure_calendar: a flow's frame waits (its length with FCS), and it goes.
  input var  logic                      request_valid_i,
  output var logic                      request_ready_o,
  input var  logic          [FlowW-1:0] request_flow_i,
  input var  frame_octets_t             request_octets_i,
  output var logic                      release_valid_o,
  input var  logic                      release_ready_i,
  output var logic          [FlowW-1:0] release_flow_o,
  output var frame_octets_t             release_octets_o,

  // An event has been served: its flow, and what that is now. The fields stand until the next event.
  output var logic               event_valid_o,
  output var event_e             event_kind_o,
  output var logic   [FlowW-1:0] event_flow_o,
  output var rate_t              current_rate_o,
  output var rate_t              target_rate_o,
  output var stage_t             byte_stage_o,
  output var stage_t             time_stage_o,
  output var phase_e             phase_o,

  // Messages that were taken, that were malformed, that were dropped because another waited, and that were for no flow; and frames
  // that were asked for while the flow had one that waits. They stay at their largest value.
  output var logic [31:0] taken_o,
  output var logic [31:0] malformed_o,
  output var logic [31:0] dropped_o,
  output var logic [31:0] unknown_o,
  output var logic [31:0] refused_o
);
  logic             message_valid;
  logic             message_ready;
  logic [     47:0] destination;
  logic             cn_tagged;
  logic [     15:0] identifier;
  logic [      5:0] fb;
  logic             signal_valid;
  logic             signal_ready;
  logic [FlowW-1:0] signal_flow;
  logic             table_ready;
  logic             flows_ready;
  logic             refused;
  logic [     63:0] cp_id;
  logic [     31:0] q_off;
  logic [     31:0] q_delta;
  logic             unused;

  assign unused  = &{1'b0, cp_id, q_off, q_delta};
  assign ready_o = table_ready && flows_ready;

  message_receiver u_receiver (
      .clk_i,
      .rst_i,
      .drop_if_busy_i,
      .s_axis         (s_axis_rx),
      .s_axis_tvalid  (s_axis_rx_tvalid),
      .s_axis_tready  (s_axis_rx_tready),
      .m_axis         (m_axis_rx),
      .m_axis_tvalid  (m_axis_rx_tvalid),
      .m_axis_tready  (m_axis_rx_tready),
      .message_valid_o(message_valid),
      .message_ready_i(message_ready),
      .destination_o  (destination),
      .cn_tagged_o    (cn_tagged),
      .cn_flow_o      (identifier),
      .fb_o           (fb),
      .cp_id_o        (cp_id),
      .q_off_o        (q_off),
      .q_delta_o      (q_delta),
      .taken_o,
      .malformed_o,
      .refused_o      (dropped_o)
  );

  flow_lookup #(
      .Flows(Flows)
  ) u_lookup (
      .clk_i,
      .rst_i,
      .ready_o        (table_ready),
      .write_i        (mac_write_i),
      .write_flow_i   (mac_flow_i),
      .write_used_i   (mac_used_i),
      .write_mac_i    (mac_i),
      .message_valid_i(message_valid),
      .message_ready_o(message_ready),
      .cn_tagged_i    (cn_tagged),
      .identifier_i   (identifier),
      .destination_i  (destination),
      .signal_valid_o (signal_valid),
      .signal_ready_i (signal_ready),
      .signal_flow_o  (signal_flow),
      .unknown_o
  );

  qcn_flows #(
      .Flows        (Flows),
      .Buckets      (Buckets),
      .BucketClocks (BucketClocks),
      .FirstClock   (FirstClock),
      .HaiMultiplier(HaiMultiplier),
      .Efr          (Efr),
      .Trr          (Trr),
      .JitterRp     (JitterRp),
      .ClockHz      (ClockHz)
  ) u_flows (
      .ready_o       (flows_ready),
      .signal_valid_i(signal_valid),
      .signal_ready_o(signal_ready),
      .signal_flow_i (signal_flow),
      .fb_i          (fb),
      .refused_o     (refused),
      .*
  );

  event_counter u_refused (
      .clk_i,
      .rst_i,
      .valid_i (refused),
      .amount_i(1'b1),
      .count_o (refused_o)
  );
endmodule

`default_nettype wire
