// SPDX-License-Identifier: Apache-2.0
//
// The NIC: reaction points with their packet generators, the host's frames, and lines with a delay that obey priority flow
// control. (Kabbani and Yasuda 2010, section 3.2 and figure 6; with Smcc Jiang et al. 2015, section 5.1)
//
// Ports with a leading range of ReactionPoints or Ports hold a field for each. All settings and counters are registers of
// the map nic_registers; those of reaction points and ports that are not there read 0 and do nothing.
//
// Latency: a frame of the host that may go is at the line 12 clocks and the delay after it is shown, 8 if it is no reaction
// point's. A message of 60 octets is taken 19 clocks and the delay after its last beat (SMCC: 94); QCN's rate shows it 25
// clocks later, SMCC's in the next. A delay is at least 6.
// Throughput: a beat a clock inside; at each line its rate, in both directions.

`default_nettype none

module nic
  import penstock_pkg::*;
  import qcn_rp_pkg::*;
  import smcc_rp_pkg::*;
  import nic_registers_pkg::*;
  import nic_pkg::*;
#(
  // SMCC's reaction points and messages; else QCN's.
  parameter bit Smcc = 1'b0,
  // Reaction points and lines, 1 to 4 each.
  parameter int unsigned ReactionPoints = 4,
  parameter int unsigned Ports = 1,
  // Bits of a port's number; not to be set.
  parameter int unsigned PortW = Ports > 1 ? unsigned'($clog2(Ports)) : 1,
  // The port of each reaction point, PortW bits each, that of reaction point 0 lowest.
  parameter logic [ReactionPoints*PortW-1:0] PortOf = (ReactionPoints * PortW)'(spread(
      ReactionPoints, Ports, PortW
  )),
  // Those of qcn_rp.
  parameter bit Features = Full,
  parameter bit HaiMultiplier = MinCount,
  parameter bit Efr = ByteStage,
  parameter bit Trr = FirstCycle,
  parameter bit JitterRp = Reload,
  // Those of smcc_rp.
  parameter int unsigned DeltaZero = 32'(StateA),
  parameter bit BoundOnly = 1'b1,
  // Those of token_bucket.
  parameter int unsigned Depth = 3000,
  parameter int unsigned RefillClocks = 2000,
  parameter int unsigned Granularity = 500_000,
  parameter int unsigned TokensPerStep = 1,
  // Clock rate, Hz, and the lines' rate for which pause times and the depth of buckets count, bit/s.
  parameter int unsigned ClockHz = 125_000_000,
  parameter longint unsigned LineRate = 64'd1_000_000_000,
  // The longest frame, octets with its FCS; longer ones are cut by the delay lines and marked bad.
  parameter int unsigned MaxOctets = 1518,
  // Beats of each delay line's memory, a power of two, and clocks from a read to its data.
  parameter int unsigned DelayWords = 65_536,
  parameter int unsigned ReadClocks = 2,
  // Beats of the FIFOs for frames that arrived, of each port and of the host.
  parameter int unsigned FifoWords = 512,
  // Records of the trace's FIFO; 0: there is no trace.
  parameter int unsigned TraceDepth = 64,
  // Of the delay lines' memories; not to be set.
  parameter int unsigned AddressW = unsigned'($clog2(DelayWords)),
  parameter int unsigned WordW = StampW + 64 + 5
) (
  input var logic clk_i,
  input var logic rst_i,

  // Settings and counters.
  input var  axil_req_t s_axil_i,
  output var axil_rsp_t s_axil_o,

  // Frames from each line; tready is always high.
  input var  axis_t [Ports-1:0] s_axis_line,
  input var  logic  [Ports-1:0] s_axis_line_tvalid,
  output var logic  [Ports-1:0] s_axis_line_tready,

  // Frames onto each line, at its rate.
  output var axis_t [Ports-1:0] m_axis_line,
  output var logic  [Ports-1:0] m_axis_line_tvalid,
  input var  logic  [Ports-1:0] m_axis_line_tready,

  // Frames of the host; octets_i is a frame's length with its FCS, valid with its first beat until that is taken.
  input var axis_t s_axis_host,
  input var logic s_axis_host_tvalid,
  output var logic s_axis_host_tready,
  input var frame_octets_t s_axis_host_octets_i,

  // Frames that arrived, but messages and those of MAC control.
  output var axis_t m_axis_host,
  output var logic  m_axis_host_tvalid,
  input var  logic  m_axis_host_tready,

  // Random words for cycles that begin in this clock, and whether they are drawn (QCN).
  input var logic [ReactionPoints-1:0][31:0] random_byte_i,
  input var logic [ReactionPoints-1:0][31:0] random_timer_i,
  output var logic [ReactionPoints-1:0] draw_byte_o,
  output var logic [ReactionPoints-1:0] draw_timer_o,

  // The memories of the delay lines: element 2p for port p's transmit path, 2p + 1 for its receive path.
  output var logic [2*Ports-1:0] mem_write_o,
  output var logic [2*Ports-1:0][AddressW-1:0] mem_write_address_o,
  output var logic [2*Ports-1:0][WordW-1:0] mem_write_data_o,
  output var logic [2*Ports-1:0] mem_read_o,
  output var logic [2*Ports-1:0][AddressW-1:0] mem_read_address_o,
  input var logic [2*Ports-1:0][WordW-1:0] mem_read_data_i,

  // The trace.
  output var axis_t m_axis_trace,
  output var logic  m_axis_trace_tvalid,
  input var  logic  m_axis_trace_tready,

  // The time, clocks.
  output var logic [47:0] now_o,

  // The state and events of the reaction points, for observers: rates, stages, and that time passes, a message is
  // taken, a flow begins, a frame begins to go (with its length).
  output var logic [ReactionPoints-1:0][RateW-1:0] current_rate_o,
  output var logic [ReactionPoints-1:0][RateW-1:0] target_rate_o,
  output var logic [ReactionPoints-1:0][StageW-1:0] byte_stage_o,
  output var logic [ReactionPoints-1:0][StageW-1:0] time_stage_o,
  output var logic tick_o,
  output var logic [ReactionPoints-1:0] signal_o,
  output var logic [ReactionPoints-1:0] start_o,
  output var logic [ReactionPoints-1:0] sent_valid_o,
  output var logic [ReactionPoints-1:0][FrameW-1:0] sent_octets_o
);
  if (DataW != 64 || RateW != 34) begin : gen_bad_width
    $fatal(0, "DataW is 64 and RateW 34, which its registers have (instance %m)");
  end
  if (ReactionPoints < 1 || ReactionPoints > MaxPoints) begin : gen_bad_points
    $fatal(0, "ReactionPoints is 1 to 4 (instance %m)");
  end
  if (Ports < 1 || Ports > MaxPorts) begin : gen_bad_ports
    $fatal(0, "Ports is 1 to 4 (instance %m)");
  end
  for (genvar i = 0; i < ReactionPoints; ++i) begin : gen_check
    if (32'(PortOf[i*PortW+:PortW]) >= Ports) begin : gen_bad_port
      $fatal(0, "PortOf names a port that is not there (instance %m)");
    end
  end

  // --- Registers -------------------------------------------------------------------------------

  localparam int unsigned N = ReactionPoints;

  nic_control_t control;
  nic_status_t status;
  logic [47:0] now_q;

  nic_registers u_registers (
      .clk_i,
      .rst_i,
      .s_axil_i,
      .s_axil_o,
      .control_o(control),
      .status_i (status)
  );

  // Reaction points and ports that are not there.
  for (genvar i = int'(N); i < MaxPoints; ++i) begin : gen_no_point
    assign status.reaction_point[i] = '0;
  end
  for (genvar p = int'(Ports); p < MaxPorts; ++p) begin : gen_no_port
    assign status.line[p]      = '0;
    assign status.delay_out[p] = '0;
    assign status.delay_in[p]  = '0;
    assign status.pfc[p]       = '0;
  end

  // --- The time --------------------------------------------------------------------------------

  logic [23:0] tick_remaining_q;
  logic        tick_q;
  // 0 counts as 1.
  logic [23:0] period;
  assign period = {
    control.qcn.tick_clocks[23:1], control.qcn.tick_clocks[0] || control.qcn.tick_clocks == '0
  };

  always_ff @(posedge clk_i) begin
    if (rst_i || !control.clock.run) begin
      now_q            <= '0;
      tick_remaining_q <= '0;
      tick_q           <= 1'b0;
    end else begin
      now_q            <= now_q + 1'b1;
      tick_q           <= tick_remaining_q == 24'd1;
      tick_remaining_q <= tick_remaining_q <= 24'd1 ? period : tick_remaining_q - 1'b1;
    end
  end

  assign now_o = now_q;
  assign status.clock.now = now_q;
  assign tick_o = tick_q;

  // --- Frames of the reaction points -----------------------------------------------------------

  axis_t steered;
  logic [N-1:0] steered_point_tvalid, steered_point_tready;
  logic [Ports-1:0] steered_port_tvalid, steered_port_tready;
  frame_octets_t steered_octets;
  axis_t [N-1:0] waiting;
  logic [N-1:0] waiting_tvalid, waiting_tready;
  logic [N-1:0][FrameW-1:0] waiting_octets;
  axis_t [N-1:0] released;
  logic [N-1:0] released_tvalid, released_tready;
  logic [N-1:0][47:0] mac;

  nic_host_steer #(
      .ReactionPoints(N),
      .Ports         (Ports)
  ) u_steer (
      .clk_i,
      .rst_i,
      .mac_i              (mac),
      .port_i             (control.host.port),
      .s_axis             (s_axis_host),
      .s_axis_tvalid      (s_axis_host_tvalid),
      .s_axis_tready      (s_axis_host_tready),
      .s_axis_octets_i    (s_axis_host_octets_i),
      .m_axis             (steered),
      .m_axis_point_tvalid(steered_point_tvalid),
      .m_axis_point_tready(steered_point_tready),
      .m_axis_port_tvalid (steered_port_tvalid),
      .m_axis_port_tready (steered_port_tready),
      .m_axis_octets_o    (steered_octets),
      .paced_o            (status.host.paced),
      .unpaced_o          (status.host.unpaced)
  );

  for (genvar i = 0; i < N; ++i) begin : gen_source
    nic_source #(
        .MaxOctets(MaxOctets)
    ) u_source (
        .clk_i,
        .rst_i,
        .enable_i          (control.reaction_point[i].enable && control.clock.run),
        .octets_i          (control.reaction_point[i].octets),
        .source_mac_i      (mac[i]),
        .destination_mac_i (control.reaction_point[i].destination_mac),
        .source_ip_i       (control.reaction_point[i].source_ip),
        .destination_ip_i  (control.reaction_point[i].destination_ip),
        .source_port_i     (control.reaction_point[i].source_port),
        .destination_port_i(control.reaction_point[i].destination_port),
        .s_axis            (steered),
        .s_axis_tvalid     (steered_point_tvalid[i]),
        .s_axis_tready     (steered_point_tready[i]),
        .s_axis_octets_i   (steered_octets),
        .m_axis            (waiting[i]),
        .m_axis_tvalid     (waiting_tvalid[i]),
        .m_axis_tready     (waiting_tready[i]),
        .m_axis_octets_o   (waiting_octets[i]),
        .sequence_o        (status.reaction_point[i].next_sequence)
    );
  end

  // --- The reaction points ---------------------------------------------------------------------

  // A port has no room for frames that would wait: forged messages on a fast line are not to cost data.
  logic  [Ports-1:0] almost_full;
  logic              host_almost_full;
  axis_t             arriving;
  logic arriving_tvalid, arriving_tready;
  axis_t to_host;
  logic to_host_tvalid, to_host_tready;
  // A flow begins, a clock after its register says so. And a reset of one clock sets the registers in the clock in which the
  // reaction points would take their largest rate from them: they take it a clock later.
  logic [N-1:0]       begins_q;
  logic [N-1:0][ 1:0] phase;
  logic [N-1:0][15:0] tokens;
  logic [N-1:0][31:0] too_long;

  for (genvar i = 0; i < N; ++i) begin : gen_point
    assign mac[i]                                = control.reaction_point[i].mac;
    assign status.reaction_point[i].current_rate = current_rate_o[i];
    assign status.reaction_point[i].target_rate  = target_rate_o[i];
    assign status.reaction_point[i].byte_stage   = byte_stage_o[i];
    assign status.reaction_point[i].time_stage   = time_stage_o[i];
    assign status.reaction_point[i].phase        = phase[i];
    assign status.reaction_point[i].tokens       = tokens[i];
    assign status.reaction_point[i].dropped      = too_long[i];

    always_ff @(posedge clk_i) begin
      if (rst_i) begin
        start_o[i]  <= 1'b0;
        begins_q[i] <= 1'b1;
      end else begin
        start_o[i]  <= control.reaction_point[i].start;
        begins_q[i] <= control.reaction_point[i].start;
      end
    end
  end

  nic_points #(
      .Smcc          (Smcc),
      .ReactionPoints(N),
      .Features      (Features),
      .HaiMultiplier (HaiMultiplier),
      .Efr           (Efr),
      .Trr           (Trr),
      .JitterRp      (JitterRp),
      .DeltaZero     (DeltaZero),
      .BoundOnly     (BoundOnly),
      .Depth         (Depth),
      .RefillClocks  (RefillClocks),
      .Granularity   (Granularity),
      .TokensPerStep (TokensPerStep),
      .LineRate      (LineRate),
      .MaxOctets     (MaxOctets)
  ) u_points (
      .clk_i,
      .rst_i,
      .drop_if_busy_i    (almost_full != '0),
      .s_axis_rx         (arriving),
      .s_axis_rx_tvalid  (arriving_tvalid),
      .s_axis_rx_tready  (arriving_tready),
      .m_axis_rx         (to_host),
      .m_axis_rx_tvalid  (to_host_tvalid),
      .m_axis_rx_tready  (to_host_tready),
      .mac_i             (mac),
      .start_i           (begins_q),
      .tick_i            (tick_q),
      .random_byte_i,
      .random_timer_i,
      .draw_byte_o,
      .draw_timer_o,
      .qcn_i             (control.qcn),
      .smcc_i            (control.smcc),
      .s_axis_tx         (waiting),
      .s_axis_tx_tvalid  (waiting_tvalid),
      .s_axis_tx_tready  (waiting_tready),
      .s_axis_tx_octets_i(waiting_octets),
      .m_axis_tx         (released),
      .m_axis_tx_tvalid  (released_tvalid),
      .m_axis_tx_tready  (released_tready),
      .current_rate_o,
      .target_rate_o,
      .byte_stage_o,
      .time_stage_o,
      .phase_o           (phase),
      .signal_o,
      .sent_valid_o,
      .sent_octets_o,
      .tokens_o          (tokens),
      .dropped_o         (too_long),
      .taken_o           (status.receiver.taken),
      .malformed_o       (status.receiver.malformed),
      .refused_o         (status.receiver.refused),
      .unknown_o         (status.receiver.unknown)
  );

  // The host may stall; messages never wait for it.
  frame_fifo #(
      .Words(FifoWords)
  ) u_host (
      .clk_i,
      .rst_i,
      .s_axis       (to_host),
      .s_axis_tvalid(to_host_tvalid),
      .s_axis_tready(to_host_tready),
      .m_axis       (m_axis_host),
      .m_axis_tvalid(m_axis_host_tvalid),
      .m_axis_tready(m_axis_host_tready),
      .almost_full_o(host_almost_full),
      .frames_o     (status.host.frames),
      .dropped_o    (status.host.dropped)
  );

  // --- Ports -----------------------------------------------------------------------------------

  axis_t [Ports-1:0] received;
  logic [Ports-1:0] received_tvalid, received_tready;
  logic [Ports-1:0][7:0] paused;
  logic [Ports-1:0][N:0] taken;
  axis_t [N:0] tx;

  // The port of a reaction point takes its frames; the host's others are the last input of each port.
  always_comb begin
    for (int unsigned i = 0; i < N; ++i) begin
      released_tready[i] = taken[PortOf[i*PortW+:PortW]][i];
      tx[i] = released[i];
    end
    for (int unsigned p = 0; p < Ports; ++p) steered_port_tready[p] = taken[p][N];
    tx[N] = steered;
  end

  for (genvar p = 0; p < Ports; ++p) begin : gen_port
    logic [N:0] shown;

    always_comb begin
      for (int unsigned i = 0; i < N; ++i) begin
        shown[i] = released_tvalid[i] && 32'(PortOf[i*PortW+:PortW]) == p;
      end
      shown[N] = steered_port_tvalid[p];
    end

    delay_status_t [1:0] delay;
    assign paused[p] = status.pfc[p].paused;
    assign status.delay_out[p] = delay[0];
    assign status.delay_in[p] = delay[1];

    nic_port #(
        .Inputs    (N + 1),
        .ClockHz   (ClockHz),
        .LineRate  (LineRate),
        .MaxOctets (MaxOctets),
        .DelayWords(DelayWords),
        .ReadClocks(ReadClocks),
        .FifoWords (FifoWords)
    ) u_port (
        .clk_i,
        .rst_i,
        .now_i              (now_q),
        .rate_i             (control.line[p].rate),
        .delay_i            ({control.delay_in[p], control.delay_out[p]}),
        .priority_i         (control.flow.data_priority),
        .s_axis_tx          (tx),
        .s_axis_tx_tvalid   (shown),
        .s_axis_tx_tready   (taken[p]),
        .m_axis_line        (m_axis_line[p]),
        .m_axis_line_tvalid (m_axis_line_tvalid[p]),
        .m_axis_line_tready (m_axis_line_tready[p]),
        .s_axis_line        (s_axis_line[p]),
        .s_axis_line_tvalid (s_axis_line_tvalid[p]),
        .s_axis_line_tready (s_axis_line_tready[p]),
        .m_axis_rx          (received[p]),
        .m_axis_rx_tvalid   (received_tvalid[p]),
        .m_axis_rx_tready   (received_tready[p]),
        .almost_full_o      (almost_full[p]),
        .mem_write_o        (mem_write_o[2*p+:2]),
        .mem_write_address_o(mem_write_address_o[2*p+:2]),
        .mem_write_data_o   (mem_write_data_o[2*p+:2]),
        .mem_read_o         (mem_read_o[2*p+:2]),
        .mem_read_address_o (mem_read_address_o[2*p+:2]),
        .mem_read_data_i    (mem_read_data_i[2*p+:2]),
        .line_o             (status.line[p]),
        .delay_o            (delay),
        .pfc_o              (status.pfc[p])
    );
  end

  // Which line a frame is from says nothing, nor do settings of what is not there.
  logic [PortW-1:0] line_of;
  logic unused;
  assign unused = &{1'b0, line_of, host_almost_full, control};

  frame_arbiter #(
      .Inputs(Ports)
  ) u_arrivals (
      .clk_i,
      .rst_i,
      .s_axis         (received),
      .s_axis_tvalid  (received_tvalid),
      .s_axis_tready  (received_tready),
      .hold_i         (1'b0),
      .m_axis         (arriving),
      .m_axis_tvalid  (arriving_tvalid),
      .m_axis_tready  (arriving_tready),
      .m_axis_source_o(line_of)
  );

  // --- The trace, which runs with the time -----------------------------------------------------

  nic_trace #(
      .Smcc          (Smcc),
      .ReactionPoints(N),
      .Ports         (Ports),
      .Depth         (TraceDepth)
  ) u_trace (
      .clk_i,
      .rst_i,
      .stop_i        (rst_i || !control.clock.run),
      .now_i         (now_q),
      .interval_i    (control.trace.interval),
      .current_rate_i(current_rate_o),
      .target_rate_i (target_rate_o),
      .byte_stage_i  (byte_stage_o),
      .time_stage_i  (time_stage_o),
      .paused_i      (paused),
      .m_axis        (m_axis_trace),
      .m_axis_tvalid (m_axis_trace_tvalid),
      .m_axis_tready (m_axis_trace_tready),
      .dropped_o     (status.trace.dropped)
  );
endmodule

`default_nettype wire
