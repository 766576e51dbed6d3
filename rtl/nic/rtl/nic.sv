// SPDX-License-Identifier: Apache-2.0
//
// The NIC: reaction points with their packet generators, the host's frames, and lines with a delay that obey priority flow
// control. (Paper 002, section 3.2 and figure 6; with Smcc paper 004, section 5.1)
//
// Ports with a leading range of ReactionPoints or Ports hold a field for each. All settings and counters are registers of
// the map nic_registers; those of reaction points and ports that are not there read 0 and do nothing.
//
// Latency: a frame that may go is at the line 9 clocks after its first beat was made, and the delay later; a message moves
// its rate some 20 clocks after its last beat has passed the delay, QCN's 25 more, SMCC's 76 more.
// Throughput: a beat a clock inside; at each line its rate, both ways.

`default_nettype none

module nic
  import penstock_pkg::*;
  import qcn_rp_pkg::*;
  import smcc_rp_pkg::*;
  import nic_pkg::*;
#(
  // SMCC's reaction points and messages; else QCN's.
  parameter bit Smcc = 1'b0,
  // Reaction points and lines, 1 to 4 each.
  parameter int unsigned ReactionPoints = 4,
  parameter int unsigned Ports = 1,
  // Bits of a port's number; not to be set.
  parameter int unsigned PortW = Ports > 1 ? $clog2(Ports) : 1,
  // The port of each reaction point.
  parameter logic [ReactionPoints-1:0][PortW-1:0] PortOf = (ReactionPoints * PortW)'(spread(
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
  // Clock rate, Hz, and the lines' rate for which pause times count, bit/s.
  parameter int unsigned ClockHz = 125_000_000,
  parameter int unsigned LineRate = 1_000_000_000,
  // The longest frame, octets with its FCS; longer ones are cut by the delay lines and marked bad.
  parameter int unsigned MaxOctets = 1518,
  // Beats of each delay line's memory, a power of two, and clocks from a read to its data.
  parameter int unsigned DelayWords = 65_536,
  parameter int unsigned ReadClocks = 2,
  // Beats of the FIFOs for frames that arrived, of each port and of the host.
  parameter int unsigned FifoWords = 512,
  // Records of the trace's FIFO.
  parameter int unsigned TraceDepth = 64,
  // Of the delay lines' memories and of the registers; not to be set.
  parameter int unsigned AddressW = $clog2(DelayWords),
  parameter int unsigned WordW = StampW + 64 + 5,
  parameter int unsigned RegisterW = 11
) (
  input var logic clk_i,
  input var logic rst_i,

  // Settings and counters.
  output var logic s_axil_awready,
  input var logic s_axil_awvalid,
  input var logic [RegisterW-1:0] s_axil_awaddr,
  input var logic [2:0] s_axil_awprot,
  output var logic s_axil_wready,
  input var logic s_axil_wvalid,
  input var logic [31:0] s_axil_wdata,
  input var logic [3:0] s_axil_wstrb,
  input var logic s_axil_bready,
  output var logic s_axil_bvalid,
  output var logic [1:0] s_axil_bresp,
  output var logic s_axil_arready,
  input var logic s_axil_arvalid,
  input var logic [RegisterW-1:0] s_axil_araddr,
  input var logic [2:0] s_axil_arprot,
  input var logic s_axil_rready,
  output var logic s_axil_rvalid,
  output var logic [31:0] s_axil_rdata,
  output var logic [1:0] s_axil_rresp,

  // Frames from each line; tready is always high.
  input var logic [Ports-1:0][63:0] s_axis_line_tdata,
  input var logic [Ports-1:0][7:0] s_axis_line_tkeep,
  input var logic [Ports-1:0] s_axis_line_tvalid,
  output var logic [Ports-1:0] s_axis_line_tready,
  input var logic [Ports-1:0] s_axis_line_tlast,
  input var logic [Ports-1:0] s_axis_line_tuser,

  // Frames onto each line, at its rate.
  output var logic [Ports-1:0][63:0] m_axis_line_tdata,
  output var logic [Ports-1:0][7:0] m_axis_line_tkeep,
  output var logic [Ports-1:0] m_axis_line_tvalid,
  input var logic [Ports-1:0] m_axis_line_tready,
  output var logic [Ports-1:0] m_axis_line_tlast,
  output var logic [Ports-1:0] m_axis_line_tuser,

  // Frames of the host; octets_i is a frame's length with its FCS, valid with its first beat until that is taken.
  input var logic [63:0] s_axis_host_tdata,
  input var logic [7:0] s_axis_host_tkeep,
  input var logic s_axis_host_tvalid,
  output var logic s_axis_host_tready,
  input var logic s_axis_host_tlast,
  input var logic s_axis_host_tuser,
  input var frame_octets_t s_axis_host_octets_i,

  // Frames that arrived, but messages and those of MAC control.
  output var logic [63:0] m_axis_host_tdata,
  output var logic [7:0] m_axis_host_tkeep,
  output var logic m_axis_host_tvalid,
  input var logic m_axis_host_tready,
  output var logic m_axis_host_tlast,
  output var logic m_axis_host_tuser,

  // Random words for cycles that begin in this clock, and whether they are drawn (QCN).
  input var logic [ReactionPoints-1:0][31:0] random_byte_i,
  input var logic [ReactionPoints-1:0][31:0] random_timer_i,
  output var logic [ReactionPoints-1:0] draw_byte_o,
  output var logic [ReactionPoints-1:0] draw_timer_o,

  // The memories of the delay lines: element 2p that of port p's way out, 2p + 1 that of its way in.
  output var logic [2*Ports-1:0] mem_write_o,
  output var logic [2*Ports-1:0][AddressW-1:0] mem_write_address_o,
  output var logic [2*Ports-1:0][WordW-1:0] mem_write_data_o,
  output var logic [2*Ports-1:0] mem_read_o,
  output var logic [2*Ports-1:0][AddressW-1:0] mem_read_address_o,
  input var logic [2*Ports-1:0][WordW-1:0] mem_read_data_i,

  // The trace.
  output var logic [63:0] m_axis_trace_tdata,
  output var logic [7:0] m_axis_trace_tkeep,
  output var logic m_axis_trace_tvalid,
  input var logic m_axis_trace_tready,
  output var logic m_axis_trace_tlast,
  output var logic m_axis_trace_tuser,

  // The time, clocks.
  output var logic [47:0] now_o,

  // What the reaction points do, for who watches: rates, stages, and that time passes, a message is taken, a flow begins,
  // a frame begins to go (with its length).
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
  if (ReactionPoints < 1 || ReactionPoints > MostPoints) begin : gen_bad_points
    $fatal(0, "ReactionPoints is 1 to 4 (instance %m)");
  end
  if (Ports < 1 || Ports > MostPorts) begin : gen_bad_ports
    $fatal(0, "Ports is 1 to 4 (instance %m)");
  end
  for (genvar i = 0; i < ReactionPoints; ++i) begin : gen_check
    if (32'(PortOf[i]) >= Ports) begin : gen_bad_port
      $fatal(0, "PortOf names a port that is not there (instance %m)");
    end
  end

  // --- Registers -------------------------------------------------------------------------------

  logic clock_run;
  logic [47:0] clock_now;
  logic [23:0] qcn_tick_clocks;
  logic [4:0] qcn_gd_shift;
  logic [7:0] qcn_rpg_threshold;
  logic [23:0] qcn_rpg_byte_reset;
  logic [23:0] qcn_rpg_time_reset;
  logic [33:0] qcn_rpg_ai_rate;
  logic [33:0] qcn_rpg_hai_rate;
  logic [33:0] qcn_rpg_min_rate;
  logic [33:0] qcn_rpg_max_rate;
  logic [15:0] qcn_rp_jitter;
  logic qcn_timer_on;
  logic [24:0] smcc_alpha;
  logic [24:0] smcc_alpha_small;
  logic [24:0] smcc_beta;
  logic [31:0] smcc_t1;
  logic smcc_two_stage;
  logic [33:0] smcc_min_rate;
  logic [33:0] smcc_max_rate;
  logic [MostPoints-1:0][47:0] reaction_point_mac;
  logic [MostPoints-1:0][0:0] reaction_point_start;
  logic [MostPoints-1:0][0:0] reaction_point_enable;
  logic [MostPoints-1:0][15:0] reaction_point_octets;
  logic [MostPoints-1:0][47:0] reaction_point_destination_mac;
  logic [MostPoints-1:0][31:0] reaction_point_source_ip;
  logic [MostPoints-1:0][31:0] reaction_point_destination_ip;
  logic [MostPoints-1:0][15:0] reaction_point_source_port;
  logic [MostPoints-1:0][15:0] reaction_point_destination_port;
  logic [MostPoints-1:0][33:0] reaction_point_current_rate;
  logic [MostPoints-1:0][33:0] reaction_point_target_rate;
  logic [MostPoints-1:0][7:0] reaction_point_byte_stage;
  logic [MostPoints-1:0][7:0] reaction_point_time_stage;
  logic [MostPoints-1:0][1:0] reaction_point_phase;
  logic [MostPoints-1:0][15:0] reaction_point_tokens;
  logic [MostPoints-1:0][31:0] reaction_point_dropped;
  logic [MostPoints-1:0][31:0] reaction_point_next_sequence;
  logic [MostPorts-1:0][33:0] line_rate;
  logic [MostPorts-1:0][31:0] line_frames;
  logic [MostPorts-1:0][47:0] line_octets;
  logic [MostPorts-1:0][31:0] line_arrived;
  logic [MostPorts-1:0][47:0] line_arrived_octets;
  logic [MostPorts-1:0][31:0] line_runts;
  logic [MostPorts-1:0][31:0] line_oversized;
  logic [MostPorts-1:0][31:0] line_bad;
  logic [MostPorts-1:0][31:0] line_dropped;
  logic [MostPorts-1:0][22:0] delay_out_delay;
  logic [MostPorts-1:0][31:0] delay_out_words;
  logic [MostPorts-1:0][31:0] delay_out_dropped;
  logic [MostPorts-1:0][31:0] delay_out_cut;
  logic [MostPorts-1:0][31:0] delay_out_late;
  logic [MostPorts-1:0][22:0] delay_in_delay;
  logic [MostPorts-1:0][31:0] delay_in_words;
  logic [MostPorts-1:0][31:0] delay_in_dropped;
  logic [MostPorts-1:0][31:0] delay_in_cut;
  logic [MostPorts-1:0][31:0] delay_in_late;
  logic [31:0] receiver_taken;
  logic [31:0] receiver_malformed;
  logic [31:0] receiver_unknown;
  logic [1:0] host_port;
  logic [31:0] host_paced;
  logic [31:0] host_unpaced;
  logic [31:0] host_frames;
  logic [31:0] host_dropped;
  logic [2:0] flow_data_priority;
  logic [MostPorts-1:0][7:0] pfc_paused;
  logic [MostPorts-1:0][31:0] pfc_frames;
  logic [MostPorts-1:0][31:0] pfc_malformed;
  logic [MostPorts-1:0][31:0] pfc_other;
  logic [23:0] trace_interval;
  logic [31:0] trace_dropped;

  nic_registers u_registers (
      .clk_i,
      .rst_i,
      .s_axil_awready,
      .s_axil_awvalid,
      .s_axil_awaddr,
      .s_axil_awprot,
      .s_axil_wready,
      .s_axil_wvalid,
      .s_axil_wdata,
      .s_axil_wstrb,
      .s_axil_bready,
      .s_axil_bvalid,
      .s_axil_bresp,
      .s_axil_arready,
      .s_axil_arvalid,
      .s_axil_araddr,
      .s_axil_arprot,
      .s_axil_rready,
      .s_axil_rvalid,
      .s_axil_rdata,
      .s_axil_rresp,
      .clock_run_o(clock_run),
      .clock_now_i(clock_now),
      .qcn_tick_clocks_o(qcn_tick_clocks),
      .qcn_gd_shift_o(qcn_gd_shift),
      .qcn_rpg_threshold_o(qcn_rpg_threshold),
      .qcn_rpg_byte_reset_o(qcn_rpg_byte_reset),
      .qcn_rpg_time_reset_o(qcn_rpg_time_reset),
      .qcn_rpg_ai_rate_o(qcn_rpg_ai_rate),
      .qcn_rpg_hai_rate_o(qcn_rpg_hai_rate),
      .qcn_rpg_min_rate_o(qcn_rpg_min_rate),
      .qcn_rpg_max_rate_o(qcn_rpg_max_rate),
      .qcn_rp_jitter_o(qcn_rp_jitter),
      .qcn_timer_on_o(qcn_timer_on),
      .smcc_alpha_o(smcc_alpha),
      .smcc_alpha_small_o(smcc_alpha_small),
      .smcc_beta_o(smcc_beta),
      .smcc_t1_o(smcc_t1),
      .smcc_two_stage_o(smcc_two_stage),
      .smcc_min_rate_o(smcc_min_rate),
      .smcc_max_rate_o(smcc_max_rate),
      .reaction_point_mac_o(reaction_point_mac),
      .reaction_point_start_o(reaction_point_start),
      .reaction_point_enable_o(reaction_point_enable),
      .reaction_point_octets_o(reaction_point_octets),
      .reaction_point_destination_mac_o(reaction_point_destination_mac),
      .reaction_point_source_ip_o(reaction_point_source_ip),
      .reaction_point_destination_ip_o(reaction_point_destination_ip),
      .reaction_point_source_port_o(reaction_point_source_port),
      .reaction_point_destination_port_o(reaction_point_destination_port),
      .reaction_point_current_rate_i(reaction_point_current_rate),
      .reaction_point_target_rate_i(reaction_point_target_rate),
      .reaction_point_byte_stage_i(reaction_point_byte_stage),
      .reaction_point_time_stage_i(reaction_point_time_stage),
      .reaction_point_phase_i(reaction_point_phase),
      .reaction_point_tokens_i(reaction_point_tokens),
      .reaction_point_dropped_i(reaction_point_dropped),
      .reaction_point_next_sequence_i(reaction_point_next_sequence),
      .line_rate_o(line_rate),
      .line_frames_i(line_frames),
      .line_octets_i(line_octets),
      .line_arrived_i(line_arrived),
      .line_arrived_octets_i(line_arrived_octets),
      .line_runts_i(line_runts),
      .line_oversized_i(line_oversized),
      .line_bad_i(line_bad),
      .line_dropped_i(line_dropped),
      .delay_out_delay_o(delay_out_delay),
      .delay_out_words_i(delay_out_words),
      .delay_out_dropped_i(delay_out_dropped),
      .delay_out_cut_i(delay_out_cut),
      .delay_out_late_i(delay_out_late),
      .delay_in_delay_o(delay_in_delay),
      .delay_in_words_i(delay_in_words),
      .delay_in_dropped_i(delay_in_dropped),
      .delay_in_cut_i(delay_in_cut),
      .delay_in_late_i(delay_in_late),
      .receiver_taken_i(receiver_taken),
      .receiver_malformed_i(receiver_malformed),
      .receiver_unknown_i(receiver_unknown),
      .host_port_o(host_port),
      .host_paced_i(host_paced),
      .host_unpaced_i(host_unpaced),
      .host_frames_i(host_frames),
      .host_dropped_i(host_dropped),
      .flow_data_priority_o(flow_data_priority),
      .pfc_paused_i(pfc_paused),
      .pfc_frames_i(pfc_frames),
      .pfc_malformed_i(pfc_malformed),
      .pfc_other_i(pfc_other),
      .trace_interval_o(trace_interval),
      .trace_dropped_i(trace_dropped)
  );

  // What belongs to reaction points and ports that are not there.
  logic unused;
  assign unused = &{
    1'b0,
    reaction_point_mac,
    reaction_point_start,
    reaction_point_enable,
    reaction_point_octets,
    reaction_point_destination_mac,
    reaction_point_source_ip,
    reaction_point_destination_ip,
    reaction_point_source_port,
    reaction_point_destination_port,
    line_rate,
    delay_out_delay,
    delay_in_delay
  };

  // --- The time --------------------------------------------------------------------------------

  logic [47:0] now_q;
  logic [23:0] tick_left_q;
  logic        tick_q;

  always_ff @(posedge clk_i) begin
    if (rst_i || !clock_run) begin
      now_q       <= '0;
      tick_left_q <= '0;
      tick_q      <= 1'b0;
    end else begin
      now_q       <= now_q + 1'b1;
      tick_q      <= tick_left_q == 24'd1;
      // 0 counts as 1.
      tick_left_q <= tick_left_q <= 24'd1 ? qcn_tick_clocks : tick_left_q - 1'b1;
    end
  end

  assign clock_now = now_q;
  assign now_o = now_q;
  assign tick_o = tick_q;
  assign start_o = ReactionPoints'(reaction_point_start);

  // --- Frames of the reaction points -----------------------------------------------------------

  localparam int unsigned N = ReactionPoints;

  logic          [      63:0]             steered_tdata;
  logic          [       7:0]             steered_tkeep;
  logic          [     N-1:0]             steered_point_tvalid;
  logic          [     N-1:0]             steered_point_tready;
  logic          [ Ports-1:0]             steered_port_tvalid;
  logic          [ Ports-1:0]             steered_port_tready;
  logic                                   steered_tlast;
  logic                                   steered_tuser;
  frame_octets_t                          steered_octets;
  logic          [     N-1:0][      63:0] waiting_tdata;
  logic          [     N-1:0][       7:0] waiting_tkeep;
  logic          [     N-1:0]             waiting_tvalid;
  logic          [     N-1:0]             waiting_tready;
  logic          [     N-1:0]             waiting_tlast;
  logic          [     N-1:0]             waiting_tuser;
  logic          [     N-1:0][FrameW-1:0] waiting_octets;
  logic          [     N-1:0][      63:0] going_tdata;
  logic          [     N-1:0][       7:0] going_tkeep;
  logic          [     N-1:0]             going_tvalid;
  logic          [     N-1:0]             going_tready;
  logic          [     N-1:0]             going_tlast;
  logic          [     N-1:0]             going_tuser;

  nic_host_steer #(
      .ReactionPoints(N),
      .Ports         (Ports)
  ) u_steer (
      .clk_i,
      .rst_i,
      .mac_i              (reaction_point_mac[N-1:0]),
      .port_i             (host_port),
      .s_axis_tdata       (s_axis_host_tdata),
      .s_axis_tkeep       (s_axis_host_tkeep),
      .s_axis_tvalid      (s_axis_host_tvalid),
      .s_axis_tready      (s_axis_host_tready),
      .s_axis_tlast       (s_axis_host_tlast),
      .s_axis_tuser       (s_axis_host_tuser),
      .s_axis_octets_i    (s_axis_host_octets_i),
      .m_axis_tdata       (steered_tdata),
      .m_axis_tkeep       (steered_tkeep),
      .m_axis_point_tvalid(steered_point_tvalid),
      .m_axis_point_tready(steered_point_tready),
      .m_axis_port_tvalid (steered_port_tvalid),
      .m_axis_port_tready (steered_port_tready),
      .m_axis_tlast       (steered_tlast),
      .m_axis_tuser       (steered_tuser),
      .m_axis_octets_o    (steered_octets),
      .paced_o            (host_paced),
      .unpaced_o          (host_unpaced)
  );

  logic [N-1:0][31:0] next_sequence;
  assign reaction_point_next_sequence = (MostPoints * 32)'(next_sequence);

  for (genvar i = 0; i < N; ++i) begin : gen_source
    nic_source #(
        .MaxOctets(MaxOctets)
    ) u_source (
        .clk_i,
        .rst_i,
        .enable_i          (reaction_point_enable[i] && clock_run),
        .octets_i          (reaction_point_octets[i]),
        .source_mac_i      (reaction_point_mac[i]),
        .destination_mac_i (reaction_point_destination_mac[i]),
        .source_ip_i       (reaction_point_source_ip[i]),
        .destination_ip_i  (reaction_point_destination_ip[i]),
        .source_port_i     (reaction_point_source_port[i]),
        .destination_port_i(reaction_point_destination_port[i]),
        .s_axis_tdata      (steered_tdata),
        .s_axis_tkeep      (steered_tkeep),
        .s_axis_tvalid     (steered_point_tvalid[i]),
        .s_axis_tready     (steered_point_tready[i]),
        .s_axis_tlast      (steered_tlast),
        .s_axis_tuser      (steered_tuser),
        .s_axis_octets_i   (steered_octets),
        .m_axis_tdata      (waiting_tdata[i]),
        .m_axis_tkeep      (waiting_tkeep[i]),
        .m_axis_tvalid     (waiting_tvalid[i]),
        .m_axis_tready     (waiting_tready[i]),
        .m_axis_tlast      (waiting_tlast[i]),
        .m_axis_tuser      (waiting_tuser[i]),
        .m_axis_octets_o   (waiting_octets[i]),
        .sequence_o        (next_sequence[i])
    );
  end

  // --- The reaction points ---------------------------------------------------------------------

  logic [      63:0]       arriving_tdata;
  logic [       7:0]       arriving_tkeep;
  logic                    arriving_tvalid;
  logic                    arriving_tready;
  logic                    arriving_tlast;
  logic                    arriving_tuser;
  logic [      63:0]       left_tdata;
  logic [       7:0]       left_tkeep;
  logic                    left_tvalid;
  logic                    left_tready;
  logic                    left_tlast;
  logic                    left_tuser;
  logic [     N-1:0][ 1:0] phase;
  logic [     N-1:0][15:0] tokens;
  logic [     N-1:0][31:0] too_long;

  assign reaction_point_current_rate = (MostPoints * RateW)'(current_rate_o);
  assign reaction_point_target_rate = (MostPoints * RateW)'(target_rate_o);
  assign reaction_point_byte_stage = (MostPoints * StageW)'(byte_stage_o);
  assign reaction_point_time_stage = (MostPoints * StageW)'(time_stage_o);
  assign reaction_point_phase = (MostPoints * 2)'(phase);
  assign reaction_point_tokens = (MostPoints * FrameW)'(tokens);
  assign reaction_point_dropped = (MostPoints * 32)'(too_long);

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
      .TokensPerStep (TokensPerStep)
  ) u_points (
      .clk_i,
      .rst_i,
      .s_axis_rx_tdata   (arriving_tdata),
      .s_axis_rx_tkeep   (arriving_tkeep),
      .s_axis_rx_tvalid  (arriving_tvalid),
      .s_axis_rx_tready  (arriving_tready),
      .s_axis_rx_tlast   (arriving_tlast),
      .s_axis_rx_tuser   (arriving_tuser),
      .m_axis_rx_tdata   (left_tdata),
      .m_axis_rx_tkeep   (left_tkeep),
      .m_axis_rx_tvalid  (left_tvalid),
      .m_axis_rx_tready  (left_tready),
      .m_axis_rx_tlast   (left_tlast),
      .m_axis_rx_tuser   (left_tuser),
      .mac_i             (reaction_point_mac[N-1:0]),
      .start_i           (start_o),
      .tick_i            (tick_q),
      .random_byte_i,
      .random_timer_i,
      .draw_byte_o,
      .draw_timer_o,
      .gd_shift_i        (qcn_gd_shift),
      .rpg_threshold_i   (qcn_rpg_threshold),
      .rpg_byte_reset_i  (qcn_rpg_byte_reset),
      .rpg_time_reset_i  (qcn_rpg_time_reset),
      .rpg_ai_rate_i     (qcn_rpg_ai_rate),
      .rpg_hai_rate_i    (qcn_rpg_hai_rate),
      .rpg_min_rate_i    (qcn_rpg_min_rate),
      .rpg_max_rate_i    (qcn_rpg_max_rate),
      .rp_jitter_i       (qcn_rp_jitter),
      .timer_on_i        (qcn_timer_on),
      .alpha_i           (smcc_alpha),
      .alpha_small_i     (smcc_alpha_small),
      .beta_i            (smcc_beta),
      .t1_i              (smcc_t1),
      .two_stage_i       (smcc_two_stage),
      .min_rate_i        (smcc_min_rate),
      .max_rate_i        (smcc_max_rate),
      .s_axis_tx_tdata   (waiting_tdata),
      .s_axis_tx_tkeep   (waiting_tkeep),
      .s_axis_tx_tvalid  (waiting_tvalid),
      .s_axis_tx_tready  (waiting_tready),
      .s_axis_tx_tlast   (waiting_tlast),
      .s_axis_tx_tuser   (waiting_tuser),
      .s_axis_tx_octets_i(waiting_octets),
      .m_axis_tx_tdata   (going_tdata),
      .m_axis_tx_tkeep   (going_tkeep),
      .m_axis_tx_tvalid  (going_tvalid),
      .m_axis_tx_tready  (going_tready),
      .m_axis_tx_tlast   (going_tlast),
      .m_axis_tx_tuser   (going_tuser),
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
      .taken_o           (receiver_taken),
      .malformed_o       (receiver_malformed),
      .unknown_o         (receiver_unknown)
  );

  // The host may stall; messages never wait for it.
  frame_fifo #(
      .Words(FifoWords)
  ) u_host (
      .clk_i,
      .rst_i,
      .s_axis_tdata (left_tdata),
      .s_axis_tkeep (left_tkeep),
      .s_axis_tvalid(left_tvalid),
      .s_axis_tready(left_tready),
      .s_axis_tlast (left_tlast),
      .s_axis_tuser (left_tuser),
      .m_axis_tdata (m_axis_host_tdata),
      .m_axis_tkeep (m_axis_host_tkeep),
      .m_axis_tvalid(m_axis_host_tvalid),
      .m_axis_tready(m_axis_host_tready),
      .m_axis_tlast (m_axis_host_tlast),
      .m_axis_tuser (m_axis_host_tuser),
      .frames_o     (host_frames),
      .dropped_o    (host_dropped)
  );

  // --- Ports -----------------------------------------------------------------------------------

  logic [Ports-1:0][63:0] came_tdata;
  logic [Ports-1:0][ 7:0] came_tkeep;
  logic [Ports-1:0]       came_tvalid;
  logic [Ports-1:0]       came_tready;
  logic [Ports-1:0]       came_tlast;
  logic [Ports-1:0]       came_tuser;
  logic [Ports-1:0][ 7:0] paused;
  logic [Ports-1:0][ N:0] taken;

  // The port of a reaction point takes its frames.
  always_comb begin
    for (int unsigned i = 0; i < N; ++i) going_tready[i] = taken[PortOf[i]][i];
    for (int unsigned p = 0; p < Ports; ++p) steered_port_tready[p] = taken[p][N];
  end

  assign pfc_paused = (MostPorts * 8)'(paused);

  for (genvar p = 0; p < MostPorts; ++p) begin : gen_port
    if (p < Ports) begin : gen_there
      logic [N:0] shown;

      always_comb begin
        for (int unsigned i = 0; i < N; ++i) shown[i] = going_tvalid[i] && 32'(PortOf[i]) == p;
        shown[N] = steered_port_tvalid[p];
      end

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
          .rate_i             (line_rate[p]),
          .priority_i         (flow_data_priority),
          .delay_out_i        (delay_out_delay[p]),
          .delay_in_i         (delay_in_delay[p]),
          .s_axis_tx_tdata    ({steered_tdata, going_tdata}),
          .s_axis_tx_tkeep    ({steered_tkeep, going_tkeep}),
          .s_axis_tx_tvalid   (shown),
          .s_axis_tx_tready   (taken[p]),
          .s_axis_tx_tlast    ({steered_tlast, going_tlast}),
          .s_axis_tx_tuser    ({steered_tuser, going_tuser}),
          .m_axis_line_tdata  (m_axis_line_tdata[p]),
          .m_axis_line_tkeep  (m_axis_line_tkeep[p]),
          .m_axis_line_tvalid (m_axis_line_tvalid[p]),
          .m_axis_line_tready (m_axis_line_tready[p]),
          .m_axis_line_tlast  (m_axis_line_tlast[p]),
          .m_axis_line_tuser  (m_axis_line_tuser[p]),
          .s_axis_line_tdata  (s_axis_line_tdata[p]),
          .s_axis_line_tkeep  (s_axis_line_tkeep[p]),
          .s_axis_line_tvalid (s_axis_line_tvalid[p]),
          .s_axis_line_tready (s_axis_line_tready[p]),
          .s_axis_line_tlast  (s_axis_line_tlast[p]),
          .s_axis_line_tuser  (s_axis_line_tuser[p]),
          .m_axis_rx_tdata    (came_tdata[p]),
          .m_axis_rx_tkeep    (came_tkeep[p]),
          .m_axis_rx_tvalid   (came_tvalid[p]),
          .m_axis_rx_tready   (came_tready[p]),
          .m_axis_rx_tlast    (came_tlast[p]),
          .m_axis_rx_tuser    (came_tuser[p]),
          .mem_write_o        (mem_write_o[2*p+:2]),
          .mem_write_address_o(mem_write_address_o[2*p+:2]),
          .mem_write_data_o   (mem_write_data_o[2*p+:2]),
          .mem_read_o         (mem_read_o[2*p+:2]),
          .mem_read_address_o (mem_read_address_o[2*p+:2]),
          .mem_read_data_i    (mem_read_data_i[2*p+:2]),
          .frames_o           (line_frames[p]),
          .octets_o           (line_octets[p]),
          .arrived_o          (line_arrived[p]),
          .arrived_octets_o   (line_arrived_octets[p]),
          .runts_o            (line_runts[p]),
          .oversized_o        (line_oversized[p]),
          .bad_o              (line_bad[p]),
          .dropped_o          (line_dropped[p]),
          .delay_words_o      ({delay_in_words[p], delay_out_words[p]}),
          .delay_dropped_o    ({delay_in_dropped[p], delay_out_dropped[p]}),
          .delay_cut_o        ({delay_in_cut[p], delay_out_cut[p]}),
          .delay_late_o       ({delay_in_late[p], delay_out_late[p]}),
          .paused_o           (paused[p]),
          .pfc_frames_o       (pfc_frames[p]),
          .pfc_malformed_o    (pfc_malformed[p]),
          .pfc_other_o        (pfc_other[p])
      );
    end else begin : gen_none
      assign line_frames[p]         = '0;
      assign line_octets[p]         = '0;
      assign line_arrived[p]        = '0;
      assign line_arrived_octets[p] = '0;
      assign line_runts[p]          = '0;
      assign line_oversized[p]      = '0;
      assign line_bad[p]            = '0;
      assign line_dropped[p]        = '0;
      assign delay_out_words[p]     = '0;
      assign delay_out_dropped[p]   = '0;
      assign delay_out_cut[p]       = '0;
      assign delay_out_late[p]      = '0;
      assign delay_in_words[p]      = '0;
      assign delay_in_dropped[p]    = '0;
      assign delay_in_cut[p]        = '0;
      assign delay_in_late[p]       = '0;
      assign pfc_frames[p]          = '0;
      assign pfc_malformed[p]       = '0;
      assign pfc_other[p]           = '0;
    end
  end

  frame_arbiter #(
      .Inputs(Ports)
  ) u_arrivals (
      .clk_i,
      .rst_i,
      .s_axis_tdata   (came_tdata),
      .s_axis_tkeep   (came_tkeep),
      .s_axis_tvalid  (came_tvalid),
      .s_axis_tready  (came_tready),
      .s_axis_tlast   (came_tlast),
      .s_axis_tuser   (came_tuser),
      .hold_i         (1'b0),
      .m_axis_tdata   (arriving_tdata),
      .m_axis_tkeep   (arriving_tkeep),
      .m_axis_tvalid  (arriving_tvalid),
      .m_axis_tready  (arriving_tready),
      .m_axis_tlast   (arriving_tlast),
      .m_axis_tuser   (arriving_tuser),
      .m_axis_source_o()
  );

  // --- The trace, which runs with the time -----------------------------------------------------

  nic_trace #(
      .Smcc          (Smcc),
      .ReactionPoints(N),
      .Ports         (Ports),
      .Depth         (TraceDepth)
  ) u_trace (
      .clk_i,
      .rst_i         (rst_i || !clock_run),
      .now_i         (now_q),
      .interval_i    (trace_interval),
      .current_rate_i(current_rate_o),
      .target_rate_i (target_rate_o),
      .byte_stage_i  (byte_stage_o),
      .time_stage_i  (time_stage_o),
      .paused_i      (paused),
      .m_axis_tdata  (m_axis_trace_tdata),
      .m_axis_tkeep  (m_axis_trace_tkeep),
      .m_axis_tvalid (m_axis_trace_tvalid),
      .m_axis_tready (m_axis_trace_tready),
      .m_axis_tlast  (m_axis_trace_tlast),
      .m_axis_tuser  (m_axis_trace_tuser),
      .dropped_o     (trace_dropped)
  );
endmodule

`default_nettype wire
