// SPDX-License-Identifier: Apache-2.0
//
// The NIC's trace: current rate, target rate and stages of each reaction point, and the stopped priorities of each
// port. (Kabbani and Yasuda 2010, section 1)
//
// Sources, in this order: current rates; target rates and stages (QCN alone); stopped priorities. In each, by number.
//
// Latency and throughput: those of trace_probe and trace, and a clock.

`default_nettype none

module nic_trace
  import penstock_pkg::*;
  import qcn_rp_pkg::*;
  import trace_pkg::*;
#(
  parameter bit          Smcc           = 1'b0,
  parameter int unsigned ReactionPoints = 4,
  parameter int unsigned Ports          = 1,
  // Records that the FIFO holds; 0: there is no trace.
  parameter int unsigned Depth          = 64
) (
  input var logic clk_i,
  input var logic rst_i,
  // Reset of all but the record that is shown, which stays until it is taken.
  input var logic stop_i,

  input var logic [ClockW-1:0] now_i,
  // Clocks in which a probe gives no other event after one.
  input var logic [      23:0] interval_i,

  input var logic [ReactionPoints-1:0][ RateW-1:0] current_rate_i,
  input var logic [ReactionPoints-1:0][ RateW-1:0] target_rate_i,
  input var logic [ReactionPoints-1:0][StageW-1:0] byte_stage_i,
  input var logic [ReactionPoints-1:0][StageW-1:0] time_stage_i,
  input var logic [         Ports-1:0][       7:0] paused_i,

  output var axis_t m_axis,
  output var logic  m_axis_tvalid,
  input var  logic  m_axis_tready,

  // Events that were dropped. It stays at its largest value.
  output var logic [31:0] dropped_o
);
  localparam int unsigned PointSources = Smcc ? ReactionPoints : 3 * ReactionPoints;
  localparam int unsigned Sources = PointSources + Ports;

  logic [Sources-1:0][ KindW-1:0] kind;
  logic [Sources-1:0][ValueW-1:0] watched;

  for (genvar i = 0; i < ReactionPoints; ++i) begin : gen_point
    assign kind[i]    = TraceCurrentRate;
    assign watched[i] = current_rate_i[i];
    if (!Smcc) begin : gen_qcn
      assign kind[ReactionPoints+i]      = TraceTargetRate;
      assign watched[ReactionPoints+i]   = target_rate_i[i];
      assign kind[2*ReactionPoints+i]    = TraceStages;
      assign watched[2*ReactionPoints+i] = ValueW'({byte_stage_i[i], time_stage_i[i]});
    end
  end

  if (Smcc) begin : gen_smcc
    logic unused;
    assign unused = &{1'b0, target_rate_i, byte_stage_i, time_stage_i};
  end

  for (genvar p = 0; p < Ports; ++p) begin : gen_port
    assign kind[PointSources+p]    = TracePaused;
    assign watched[PointSources+p] = ValueW'(paused_i[p]);
  end

  if (Depth != 0) begin : gen_trace
    logic [Sources-1:0]             valid;
    logic [Sources-1:0][ValueW-1:0] value;

    for (genvar s = 0; s < Sources; ++s) begin : gen_probe
      trace_probe u_probe (
          .clk_i,
          .rst_i  (stop_i),
          .interval_i,
          .value_i(watched[s]),
          .valid_o(valid[s]),
          .value_o(value[s])
      );
    end

    axis_t record;
    logic  record_tvalid;
    logic  record_tready;

    trace #(
        .Sources(Sources),
        .Depth  (Depth)
    ) u_trace (
        .clk_i,
        .rst_i(stop_i),
        .now_i,
        .valid_i(valid),
        .kind_i(kind),
        .value_i(value),
        .m_axis(record),
        .m_axis_tvalid(record_tvalid),
        .m_axis_tready(record_tready),
        .dropped_o
    );

    stream_buffer u_shown (
        .clk_i,
        .rst_i,
        .s_axis(record),
        .s_axis_tvalid(record_tvalid),
        .s_axis_tready(record_tready),
        .m_axis(m_axis),
        .m_axis_tvalid(m_axis_tvalid),
        .m_axis_tready(m_axis_tready)
    );
  end else begin : gen_none
    logic unused;
    assign unused = &{1'b0, clk_i, rst_i, stop_i, now_i, interval_i, m_axis_tready, kind, watched};
    assign m_axis = '0;
    assign m_axis_tvalid = 1'b0;
    assign dropped_o = '0;
  end
endmodule

`default_nettype wire
