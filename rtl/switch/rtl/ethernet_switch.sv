// SPDX-License-Identifier: Apache-2.0
//
// The switch of the set-up: frames go in turn to the ports that a table says; one port has a congestion point, whose messages go
// back before data. (QCN: Kabbani and Yasuda 2010, section 3.2, figures 4 and 5; SMCC: Jiang et al. 2015, figure 10)
//
// While the register clock.run is 0, everything but settings and table is in reset, and the time stands at 0; frames that have begun
// on a line end first.
// Latency: if the last beat of a frame is shown in clock c, its first beat is at an idle line from c + Entries + 26 on; at CpPort
// the congestion point's latency applies. Throughput: a beat a clock for all ports together; a frame of 64
// octets each 84 clocks at every port of up to nine.

`default_nettype none

module ethernet_switch
  import penstock_pkg::*;
  import switch_registers_pkg::*;
#(
  // SMCC's samples and messages, not QCN's.
  parameter bit          Smcc          = 1'b0,
  // Ports, 2 to 16, and the one with the congestion point.
  parameter int unsigned Ports         = 4,
  parameter int unsigned CpPort        = Ports - 1,
  // Those of cp.
  parameter int unsigned BufferOctets  = 150_000,
  parameter int unsigned MaxOctets     = 1522,
  parameter int unsigned Sampling      = Smcc ? 1 : 0,
  parameter bit          HarmonicTable = 1'b0,
  parameter bit          LastSent      = 1'b0,
  parameter bit          SampleDropped = 1'b1,
  parameter int unsigned EventDepth    = 16,
  parameter int unsigned MessageDepth  = 8,
  // Entries of the forwarding table, a power of two, 2 to 16.
  parameter int unsigned Entries       = 16,
  // Beats that wait at an input; at an output, of data (but at CpPort) and of messages. Powers of two.
  parameter int unsigned InputWords    = 512,
  parameter int unsigned OutputWords   = 1024,
  parameter int unsigned MessageWords  = 32,
  // Flow control: the priority of all data; clocks of a quantum.
  parameter int unsigned DataPriority  = 3,
  parameter int unsigned QuantumClocks = 64,
  // Clock rate, Hz, and octets that a frame takes on a line beside its own.
  parameter int unsigned ClockHz       = 125_000_000,
  parameter int unsigned OctetsOnLine  = 20,
  // Records of the trace that wait; 0: there is no trace.
  parameter int unsigned TraceDepth    = 64
) (
  input var logic clk_i,
  input var logic rst_i,

  // Registers: the map switch_registers.
  input var  axil_req_t s_axil_i,
  output var axil_rsp_t s_axil_o,

  // Frames that come: a line never waits, tready is always high.
  input var  axis_t [Ports-1:0] s_axis_line,
  input var  logic  [Ports-1:0] s_axis_line_tvalid,
  output var logic  [Ports-1:0] s_axis_line_tready,

  // Frames that go.
  output var axis_t [Ports-1:0] m_axis_line,
  output var logic  [Ports-1:0] m_axis_line_tvalid,
  input var  logic  [Ports-1:0] m_axis_line_tready,

  // A random word, and the clocks in which one is drawn.
  input var  random_t random_i,
  output var logic    draw_o,

  // The events of the congestion point, as cp has them.
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

  // A beat of a message goes to its port's queue.
  output var logic [63:0] message_tdata_o,
  output var logic        message_tvalid_o,
  output var logic        message_tlast_o,

  // Trace: source 0 the queue, 1 Fb, 2 the priorities that are to stop.
  output var axis_t m_axis_trace,
  output var logic  m_axis_trace_tvalid,
  input var  logic  m_axis_trace_tready,

  // The time, clocks, and the frames and octets that the congestion point's port has sent.
  output var logic [47:0] now_o,
  output var logic [31:0] sent_frames_o,
  output var logic [47:0] sent_octets_o
);
  localparam int unsigned Changes = 4;
  localparam int unsigned EntryW = unsigned'($clog2(Entries));
  localparam int unsigned SelectW = unsigned'($clog2(Ports));
  // A port whose neighbour may be paused.
  localparam int unsigned OtherPort = CpPort == 0 ? 1 : 0;

  if (DataW != 64 || RateW != 34) begin : gen_bad_width
    $fatal(0, "DataW is 64 and RateW 34, which its registers have (instance %m)");
  end
  if (Ports < 2 || Ports > 16) begin : gen_bad_ports
    $fatal(0, "Ports is 2 to 16 (instance %m)");
  end
  if (CpPort >= Ports) begin : gen_bad_cp_port
    $fatal(0, "CpPort is one of the ports (instance %m)");
  end
  if (Entries > 16) begin : gen_bad_entries
    $fatal(0, "Entries is at most 16, as the registers have it (instance %m)");
  end

  switch_control_t             control;
  switch_status_t              status;
  logic                        reset;
  logic            [Ports-1:0] paused;

  // Counters of all ports, and of the selected one.
  logic [Ports-1:0][31:0] bad, dropped, mac_control, unknown, discarded;
  logic [Ports-1:0][31:0] frames, lost, messages_lost, pauses, pauses_taken;
  logic         [  Ports-1:0][     47:0] octets;
  logic         [  Ports-1:0][RateW-1:0] rates;
  logic         [  Ports-1:0][      7:0] full;
  logic         [SelectW-1:0]            select_q;

  // A port that is not there shows as the highest. Software sees counters a clock later, for the choice takes one.
  line_status_t                          selected_q;

  always_ff @(posedge clk_i) begin
    select_q <= 32'(control.line.select) < Ports
        ? SelectW'(control.line.select) : SelectW'(Ports - 1);
    selected_q.bad <= bad[select_q];
    selected_q.dropped <= dropped[select_q];
    selected_q.control <= mac_control[select_q];
    selected_q.unknown <= unknown[select_q];
    selected_q.discarded <= discarded[select_q];
    selected_q.frames <= frames[select_q];
    selected_q.octets <= octets[select_q];
    selected_q.lost <= lost[select_q];
    selected_q.messages_lost <= messages_lost[select_q];
    selected_q.pauses <= pauses[select_q];
    selected_q.pauses_taken <= pauses_taken[select_q];
  end

  switch_registers u_registers (
      .clk_i,
      .rst_i,
      .s_axil_i,
      .s_axil_o,
      .control_o(control),
      .status_i (status)
  );

  assign status.clock.now     = now_o;
  assign status.cp.queue      = queue_o;
  assign status.port.rate_now = rates[CpPort];
  assign status.port.frames   = sent_frames_o;
  assign status.port.octets   = sent_octets_o;
  assign status.line          = selected_q;
  assign status.pfc.full      = full[OtherPort];
  assign status.pfc.paused    = 16'(paused);

  logic             stopping;
  logic [Ports-1:0] between_frames;

  switch_stop #(
      .Ports(Ports)
  ) u_stop (
      .clk_i,
      .rst_i,
      .run_i           (control.clock.run),
      .between_frames_i(between_frames),
      .stopping_o      (stopping),
      .reset_o         (reset)
  );

  always_ff @(posedge clk_i) begin
    if (reset) now_o <= '0;
    else now_o <= now_o + 1'b1;
  end

  // In: one frame after the other, each with its ports. All queues but the congestion point's take every beat.
  axis_t             all;
  logic              all_tvalid;
  logic              all_tready;
  logic  [Ports-1:0] all_ports;
  logic              cp_tready;

  assign s_axis_line_tready = '1;

  switch_inputs #(
      .Ports        (Ports),
      .Entries      (Entries),
      .Words        (InputWords),
      .MaxOctets    (MaxOctets),
      .DataPriority (DataPriority),
      .QuantumClocks(QuantumClocks)
  ) u_inputs (
      .clk_i,
      .rst_i,
      .stop_i         (reset),
      .write_i        (control.forwarding.write),
      .write_entry_i  (control.forwarding.write_entry[EntryW-1:0]),
      .write_used_i   (control.forwarding.write_used),
      .write_mac_i    (control.forwarding.write_mac),
      .write_ports_i  (control.forwarding.write_ports[Ports-1:0]),
      .default_ports_i(control.forwarding.default_ports[Ports-1:0]),
      .s_axis_line,
      .s_axis_line_tvalid,
      .m_axis         (all),
      .m_axis_tvalid  (all_tvalid),
      .m_axis_tready  (all_tready),
      .m_axis_ports_o (all_ports),
      .paused_o       (paused),
      .bad_o          (bad),
      .dropped_o      (dropped),
      .control_o      (mac_control),
      .unknown_o      (unknown),
      .discarded_o    (discarded),
      .pauses_o       (pauses_taken)
  );
  assign all_tready = !all_ports[CpPort] || cp_tready;

  // The queue with the congestion point.
  axis_t cp_data;
  logic  cp_tvalid;
  logic  cp_out_tready;
  axis_t cp_message;
  logic  cp_message_tvalid;
  logic  cp_message_tready;
  logic  unused_cp;
  assign unused_cp = &control.forwarding;

  cp #(
      .Smcc         (Smcc),
      .BufferOctets (BufferOctets),
      .MaxOctets    (MaxOctets),
      .Sampling     (Sampling),
      .HarmonicTable(HarmonicTable),
      .LastSent     (LastSent),
      .SampleDropped(SampleDropped),
      .EventDepth   (EventDepth),
      .MessageDepth (MessageDepth)
  ) u_cp (
      .clk_i,
      .rst_i                (reset),
      .s_axis               (all),
      .s_axis_tvalid        (all_tvalid && all_ports[CpPort]),
      .s_axis_tready        (cp_tready),
      .m_axis               (cp_data),
      .m_axis_tvalid        (cp_tvalid),
      .m_axis_tready        (cp_out_tready),
      .m_axis_message       (cp_message),
      .m_axis_message_tvalid(cp_message_tvalid),
      .m_axis_message_tready(cp_message_tready),
      .q_eq_i               (control.cp.q_eq),
      .w_i                  (control.cp.w),
      .sample_base_i        (control.cp.sample_base),
      .sample_jitter_i      (control.cp.sample_jitter),
      .sample_count_i       (control.cp.sample_count),
      .sample_probability_i (control.cp.sample_probability),
      .cp_mac_i             (control.cp.cp_mac),
      .cp_id_i              (control.cp.cp_id),
      .cnm_priority_i       (control.cp.cnm_priority),
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
      .frames_o             (status.cp.frames),
      .octets_o             (status.cp.octets),
      .dropped_o            (status.cp.dropped),
      .bad_o                (status.cp.bad),
      .sampled_o            (status.cp.sampled),
      .messages_o           (status.cp.messages),
      .messages_lost_o      (status.cp.messages_lost)
  );

  // Messages have a separate table, so that they do not wait behind data.
  axis_t message;
  logic [Ports-1:0] message_ports;
  assign message_tdata_o = message.data;
  assign message_tlast_o = message.last;

  forwarding_table #(
      .Entries(Entries),
      .Ports  (Ports)
  ) u_message_table (
      .clk_i,
      .rst_i,
      .stop_i         (reset),
      .write_i        (control.forwarding.write),
      .write_entry_i  (control.forwarding.write_entry[EntryW-1:0]),
      .write_used_i   (control.forwarding.write_used),
      .write_mac_i    (control.forwarding.write_mac),
      .write_ports_i  (control.forwarding.write_ports[Ports-1:0]),
      .default_ports_i(control.forwarding.default_ports[Ports-1:0]),
      .s_axis         (cp_message),
      .s_axis_tvalid  (cp_message_tvalid),
      .s_axis_tready  (cp_message_tready),
      .m_axis         (message),
      .m_axis_tvalid  (message_tvalid_o),
      .m_axis_tready  (1'b1),
      .m_axis_ports_o (message_ports),
      .unknown_o      (status.forwarding.messages_unknown),
      .discarded_o    (status.forwarding.messages_discarded)
  );

  // How the queue has changed, for flow control: by one frame a clock at most.
  queue_octets_t queue_q;
  logic          grows_q;
  logic          shrinks_q;
  frame_octets_t queue_change_q;

  always_ff @(posedge clk_i) begin
    if (reset) begin
      queue_q   <= '0;
      grows_q   <= 1'b0;
      shrinks_q <= 1'b0;
    end else begin
      queue_q   <= queue_o;
      grows_q   <= queue_o > queue_q;
      shrinks_q <= queue_o < queue_q;
    end
    queue_change_q <= queue_o > queue_q ? FrameW'(queue_o - queue_q) : FrameW'(queue_q - queue_o);
  end

  // Out.
  for (genvar p = 0; p < Ports; ++p) begin : gen_output
    localparam bit IsCp = p == CpPort;
    // The ports without congestion point have the line's rate, which does not change.
    localparam int unsigned PortChanges = IsCp ? Changes : 1;
    localparam int unsigned PortChangeW = $clog2(PortChanges + 1);
    logic  [PortChangeW-1:0]            port_entries;
    logic  [PortChanges-1:0][     47:0] port_at;
    logic  [PortChanges-1:0][RateW-1:0] port_rates;
    axis_t                              data;
    logic                               data_tvalid;
    logic                               data_tready;

    if (IsCp) begin : gen_cp
      assign port_entries  = control.port.schedule_entries;
      assign port_at       = control.port.schedule_at;
      assign port_rates    = control.port.schedule_rate;
      assign data          = cp_data;
      assign data_tvalid   = cp_tvalid;
      assign cp_out_tready = data_tready;
    end else begin : gen_other
      logic unused;
      assign unused       = data_tready;
      assign port_entries = '0;
      assign port_at      = '0;
      assign port_rates   = '0;
      assign data         = all;
      assign data_tvalid  = all_tvalid && all_tready && all_ports[p];
    end

    switch_output #(
        .OwnQueue     (!IsCp),
        .Words        (OutputWords),
        .MessageWords (MessageWords),
        .MaxOctets    (MaxOctets),
        .Pfc          (!IsCp),
        .DataPriority (DataPriority),
        .QuantumClocks(QuantumClocks),
        .ClockHz      (ClockHz),
        .OctetsOnLine (OctetsOnLine),
        .Changes      (PortChanges)
    ) u_output (
        .clk_i,
        .rst_i                (reset),
        .rate_i               (IsCp ? control.port.rate : control.line.rate),
        .schedule_entries_i   (port_entries),
        .schedule_at_i        (port_at),
        .schedule_rate_i      (port_rates),
        .now_i                (now_o),
        .rate_o               (rates[p]),
        .stopping_i           (stopping),
        .between_frames_o     (between_frames[p]),
        .xoff_i               (control.pfc.xoff),
        .xon_i                (control.pfc.xon),
        .quanta_i             (control.pfc.quanta),
        .source_mac_i         (control.pfc.source_mac),
        .grows_i              (grows_q),
        .shrinks_i            (shrinks_q),
        .queue_change_i       (queue_change_q),
        .paused_i             (paused[p]),
        .s_axis_message       (message),
        .s_axis_message_tvalid(message_tvalid_o && message_ports[p]),
        .s_axis               (data),
        .s_axis_tvalid        (data_tvalid),
        .s_axis_tready        (data_tready),
        .m_axis               (m_axis_line[p]),
        .m_axis_tvalid        (m_axis_line_tvalid[p]),
        .m_axis_tready        (m_axis_line_tready[p]),
        .full_o               (full[p]),
        .frames_o             (frames[p]),
        .octets_o             (octets[p]),
        .lost_o               (lost[p]),
        .messages_lost_o      (messages_lost[p]),
        .pauses_o             (pauses[p])
    );
  end
  assign sent_frames_o = frames[CpPort];
  assign sent_octets_o = octets[CpPort];

  switch_trace #(
      .Depth(TraceDepth)
  ) u_trace (
      .clk_i,
      .rst_i,
      .stop_i    (reset),
      .now_i     (now_o),
      .interval_i(control.trace.interval),
      .queue_i   (queue_q),
      .sample_i  (sample_o),
      .fb_i      (fb_o),
      .full_i    (full[OtherPort]),
      .m_axis_trace,
      .m_axis_trace_tvalid,
      .m_axis_trace_tready,
      .dropped_o (status.trace.dropped)
  );
endmodule

`default_nettype wire
