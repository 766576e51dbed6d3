// SPDX-License-Identifier: Apache-2.0
//
// The set-up of the papers: NICs with their reaction points, and a switch with one congestion point whose port leads nowhere.
// (QCN: Kabbani and Yasuda 2010, section 4.1 and figure 7; SMCC: Jiang et al. 2015, figure 10)
//
// Port p of NIC n is connected to port n × NicPorts + p of the switch; the congestion point's is the one after these. Reaction point
// r of NIC n is number n × ReactionPoints + r. All lines' delays are the NICs'; their memories are here.
// Latency and throughput: those of nic and ethernet_switch.

`default_nettype none

module netfpga_setup
  import penstock_pkg::*;
  import qcn_rp_pkg::StageW;
#(
  // SMCC, not QCN.
  parameter bit          Smcc           = 1'b0,
  // NICs; reaction points and ports of each, 1 to 4. Nics × NicPorts is at most 15.
  parameter int unsigned Nics           = 2,
  parameter int unsigned ReactionPoints = 4,
  parameter int unsigned NicPorts       = 1,
  // Those of qcn_rp.
  parameter bit          Features       = 1'b1,
  parameter bit          HaiMultiplier  = 1'b0,
  parameter bit          Efr            = 1'b0,
  parameter bit          Trr            = 1'b0,
  parameter bit          JitterRp       = 1'b0,
  // Those of smcc_rp.
  parameter int unsigned DeltaZero      = 0,
  parameter bit          BoundOnly      = 1'b1,
  // Those of token_bucket.
  parameter int unsigned Depth          = 3000,
  parameter int unsigned RefillClocks   = 2000,
  parameter int unsigned Granularity    = 500_000,
  parameter int unsigned TokensPerStep  = 1,
  // Those of cp.
  parameter int unsigned BufferOctets   = 150_000,
  parameter int unsigned MaxOctets      = 1522,
  parameter int unsigned Sampling       = Smcc ? 1 : 0,
  parameter bit          HarmonicTable  = 1'b0,
  parameter bit          LastSent       = 1'b0,
  parameter bit          SampleDropped  = 1'b1,
  // Octets that a frame takes on the switch's lines beside its own.
  parameter int unsigned OctetsOnLine   = 20,
  // Beats of each delay line's memory, a power of two: 8 × 16 384 octets are 1 ms of 1 Gb/s.
  parameter int unsigned DelayWords     = 16_384,
  // Of all NICs; not to be set.
  parameter int unsigned Points         = Nics * ReactionPoints,
  parameter int unsigned Lines          = Nics * NicPorts
) (
  input var logic clk_i,
  input var logic rst_i,

  // Registers: buses 0 to Nics − 1 are the NICs', the last is the switch's.
  input var  axil_req_t [Nics:0] s_axil_i,
  output var axil_rsp_t [Nics:0] s_axil_o,

  // Random words, and the clocks in which they are drawn.
  input var  logic    [Points-1:0][31:0] random_byte_i,
  output var logic    [Points-1:0]       draw_byte_o,
  input var  logic    [Points-1:0][31:0] random_timer_i,
  output var logic    [Points-1:0]       draw_timer_o,
  input var  random_t                    random_cp_i,
  output var logic                       draw_cp_o,

  // The congestion point, as cp has it.
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

  // The reaction points, as nic has them.
  output var logic [Points-1:0][ RateW-1:0] current_rate_o,
  output var logic [Points-1:0][ RateW-1:0] target_rate_o,
  output var logic [Points-1:0][StageW-1:0] byte_stage_o,
  output var logic [Points-1:0][StageW-1:0] time_stage_o,
  output var logic [  Nics-1:0]             tick_o,
  output var logic [Points-1:0]             signal_o,
  output var logic [Points-1:0]             start_o,
  output var logic [Points-1:0]             sent_valid_o,
  output var logic [Points-1:0][FrameW-1:0] sent_octets_o,

  // Messages, as ethernet_switch has them.
  output var logic [63:0] message_tdata_o,
  output var logic        message_tvalid_o,
  output var logic        message_tlast_o,

  // Frames that the congestion point's port has sent, their octets with FCS, the sum of the queue's octets over all clocks, and
  // the time, clocks.
  output var logic [31:0] delivered_frames_o,
  output var logic [47:0] delivered_octets_o,
  output var logic [63:0] queue_sum_o,
  output var logic [47:0] now_o
);
  localparam int unsigned Ports = Lines + 1;
  localparam int unsigned CpPort = Lines;
  localparam int unsigned N = ReactionPoints;
  localparam int unsigned AddressW = $clog2(DelayWords);
  localparam int unsigned WordW = 24 + 64 + 5;

  if (Nics < 1 || Lines > 15) begin : gen_bad_lines
    $fatal(0, "There are 1 to 15 lines (instance %m)");
  end

  axis_t [Ports-1:0] up;
  logic  [Ports-1:0] up_tvalid;
  logic  [Ports-1:0] up_tready;
  axis_t [Ports-1:0] down;
  logic  [Ports-1:0] down_tvalid;
  logic  [Ports-1:0] down_tready;

  // Nothing comes from where the congestion point's frames go, and all of them are taken there.
  assign up[CpPort] = '0;
  assign up_tvalid[CpPort] = 1'b0;
  assign down_tready[CpPort] = 1'b1;

  for (genvar n = 0; n < Nics; ++n) begin : gen_nic
    localparam int unsigned First = n * NicPorts;
    logic  [2*NicPorts-1:0]               mem_write;
    logic  [2*NicPorts-1:0][AddressW-1:0] mem_write_address;
    logic  [2*NicPorts-1:0][   WordW-1:0] mem_write_data;
    logic  [2*NicPorts-1:0]               mem_read;
    logic  [2*NicPorts-1:0][AddressW-1:0] mem_read_address;
    logic  [2*NicPorts-1:0][   WordW-1:0] mem_read_data;
    // The host sends nothing and takes everything; there is no trace.
    logic                                 host_tready;
    axis_t                                host;
    logic                                 host_tvalid;
    axis_t                                trace;
    logic                                 trace_tvalid;
    logic  [          47:0]               now;
    logic                                 unused_host;
    logic                                 unused_trace;
    assign unused_host  = &{1'b0, host_tready, host, host_tvalid};
    assign unused_trace = &{1'b0, trace, trace_tvalid, now};

    nic #(
        .Smcc          (Smcc),
        .ReactionPoints(N),
        .Ports         (NicPorts),
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
        .MaxOctets     (MaxOctets),
        .DelayWords    (DelayWords),
        .TraceDepth    (0)
    ) u_nic (
        .clk_i,
        .rst_i,
        .s_axil_i            (s_axil_i[n]),
        .s_axil_o            (s_axil_o[n]),
        .s_axis_line         (down[First+:NicPorts]),
        .s_axis_line_tvalid  (down_tvalid[First+:NicPorts]),
        .s_axis_line_tready  (down_tready[First+:NicPorts]),
        .m_axis_line         (up[First+:NicPorts]),
        .m_axis_line_tvalid  (up_tvalid[First+:NicPorts]),
        .m_axis_line_tready  (up_tready[First+:NicPorts]),
        .s_axis_host         ('0),
        .s_axis_host_tvalid  (1'b0),
        .s_axis_host_tready  (host_tready),
        .s_axis_host_octets_i('0),
        .m_axis_host         (host),
        .m_axis_host_tvalid  (host_tvalid),
        .m_axis_host_tready  (1'b1),
        .random_byte_i       (random_byte_i[n*N+:N]),
        .random_timer_i      (random_timer_i[n*N+:N]),
        .draw_byte_o         (draw_byte_o[n*N+:N]),
        .draw_timer_o        (draw_timer_o[n*N+:N]),
        .mem_write_o         (mem_write),
        .mem_write_address_o (mem_write_address),
        .mem_write_data_o    (mem_write_data),
        .mem_read_o          (mem_read),
        .mem_read_address_o  (mem_read_address),
        .mem_read_data_i     (mem_read_data),
        .m_axis_trace        (trace),
        .m_axis_trace_tvalid (trace_tvalid),
        .m_axis_trace_tready (1'b1),
        .now_o               (now),
        .current_rate_o      (current_rate_o[n*N+:N]),
        .target_rate_o       (target_rate_o[n*N+:N]),
        .byte_stage_o        (byte_stage_o[n*N+:N]),
        .time_stage_o        (time_stage_o[n*N+:N]),
        .tick_o              (tick_o[n]),
        .signal_o            (signal_o[n*N+:N]),
        .start_o             (start_o[n*N+:N]),
        .sent_valid_o        (sent_valid_o[n*N+:N]),
        .sent_octets_o       (sent_octets_o[n*N+:N])
    );

    for (genvar m = 0; m < 2 * NicPorts; ++m) begin : gen_memory
      delay_memory #(
          .Words(DelayWords),
          .WordW(WordW)
      ) u_memory (
          .clk_i,
          .write_i        (mem_write[m]),
          .write_address_i(mem_write_address[m]),
          .write_data_i   (mem_write_data[m]),
          .read_i         (mem_read[m]),
          .read_address_i (mem_read_address[m]),
          .read_data_o    (mem_read_data[m])
      );
    end
  end

  axis_t trace;
  logic  trace_tvalid;
  logic  unused_trace;
  logic  unused_line;
  assign unused_trace = &{1'b0, trace, trace_tvalid};
  assign unused_line  = &{1'b0, up_tready, down, down_tvalid};

  ethernet_switch #(
      .Smcc         (Smcc),
      .Ports        (Ports),
      .CpPort       (CpPort),
      .BufferOctets (BufferOctets),
      .MaxOctets    (MaxOctets),
      .Sampling     (Sampling),
      .HarmonicTable(HarmonicTable),
      .LastSent     (LastSent),
      .SampleDropped(SampleDropped),
      .InputWords   (1024),
      .OctetsOnLine (OctetsOnLine),
      .TraceDepth   (0)
  ) u_switch (
      .clk_i,
      .rst_i,
      .s_axil_i           (s_axil_i[Nics]),
      .s_axil_o           (s_axil_o[Nics]),
      .s_axis_line        (up),
      .s_axis_line_tvalid (up_tvalid),
      .s_axis_line_tready (up_tready),
      .m_axis_line        (down),
      .m_axis_line_tvalid (down_tvalid),
      .m_axis_line_tready (down_tready),
      .random_i           (random_cp_i),
      .draw_o             (draw_cp_o),
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
      .message_tdata_o,
      .message_tvalid_o,
      .message_tlast_o,
      .m_axis_trace       (trace),
      .m_axis_trace_tvalid(trace_tvalid),
      .m_axis_trace_tready(1'b1),
      .now_o,
      .sent_frames_o      (delivered_frames_o),
      .sent_octets_o      (delivered_octets_o)
  );

  always_ff @(posedge clk_i) begin
    if (rst_i) queue_sum_o <= '0;
    else queue_sum_o <= queue_sum_o + 64'(queue_o);
  end
endmodule

`default_nettype wire
