// SPDX-License-Identifier: Apache-2.0
//
// The trace of the switch: source 0 the queue, 1 Fb of each sample, 2 the priorities that the neighbours are to stop.
// (Kabbani and Yasuda 2010, section 1)
//
// Latency and throughput: those of trace and trace_probe.

`default_nettype none

module switch_trace
  import penstock_pkg::*;
  import trace_pkg::*;
#(
  // Records that wait; 0: there is no trace.
  parameter int unsigned Depth = 64
) (
  input var logic clk_i,
  input var logic rst_i,
  // Reset of all but the record that is shown, which stays until it is taken.
  input var logic stop_i,

  input var logic [ClockW-1:0] now_i,
  // As trace_probe's.
  input var logic [      23:0] interval_i,

  input var logic [QueueW-1:0] queue_i,
  input var logic              sample_i,
  input var logic [       5:0] fb_i,
  input var logic [       7:0] full_i,

  output var axis_t m_axis_trace,
  output var logic  m_axis_trace_tvalid,
  input var  logic  m_axis_trace_tready,

  output var logic [31:0] dropped_o
);
  if (Depth != 0) begin : gen_trace
    localparam int unsigned Sources = 3;
    logic [Sources-1:0]             valid;
    logic [Sources-1:0][ KindW-1:0] kind;
    logic [Sources-1:0][ValueW-1:0] value;

    assign kind[0]  = TraceQueue;
    assign kind[1]  = TraceFb;
    assign kind[2]  = TracePaused;
    assign valid[1] = sample_i;
    assign value[1] = ValueW'(fb_i);

    trace_probe u_queue (
        .clk_i,
        .rst_i  (stop_i),
        .interval_i,
        .value_i(ValueW'(queue_i)),
        .valid_o(valid[0]),
        .value_o(value[0])
    );

    trace_probe u_full (
        .clk_i,
        .rst_i  (stop_i),
        .interval_i,
        .value_i(ValueW'(full_i)),
        .valid_o(valid[2]),
        .value_o(value[2])
    );

    axis_t record;
    logic  record_tvalid;
    logic  record_tready;

    trace #(
        .Sources(Sources),
        .Depth  (Depth)
    ) u_trace (
        .clk_i,
        .rst_i        (stop_i),
        .now_i,
        .valid_i      (valid),
        .kind_i       (kind),
        .value_i      (value),
        .m_axis       (record),
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
        .m_axis(m_axis_trace),
        .m_axis_tvalid(m_axis_trace_tvalid),
        .m_axis_tready(m_axis_trace_tready)
    );
  end else begin : gen_none
    logic unused_time;
    logic unused;
    assign unused_time = &{clk_i, rst_i, stop_i, now_i, interval_i, m_axis_trace_tready};
    assign unused = &{queue_i, sample_i, fb_i, full_i};
    assign m_axis_trace = '0;
    assign m_axis_trace_tvalid = 1'b0;
    assign dropped_o = '0;
  end
endmodule

`default_nettype wire
