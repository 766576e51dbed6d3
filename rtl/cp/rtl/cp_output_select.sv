// SPDX-License-Identifier: Apache-2.0
//
// Joins messages and data into the stream of an output port: a message goes before data, frames are never interleaved.
// (Kabbani and Yasuda 2010, section 3.2: "at the highest priority")
//
// Which of the two goes is decided at the first beat of a frame and holds to its last. tready follows the output's in the
// same clock. Latency: 1 clock. Throughput: a beat a clock, frames back to back.

`default_nettype none

module cp_output_select
  import penstock_pkg::*;
(
  input var logic clk_i,
  input var logic rst_i,

  input var  axis_t s_axis_message,
  input var  logic  s_axis_message_tvalid,
  output var logic  s_axis_message_tready,

  input var  axis_t s_axis,
  input var  logic  s_axis_tvalid,
  output var logic  s_axis_tready,

  output var axis_t m_axis,
  output var logic  m_axis_tvalid,
  input var  logic  m_axis_tready
);
  logic in_frame_q;
  logic message_q;
  logic message;
  logic valid;
  logic last;
  logic free;

  assign message = in_frame_q ? message_q : s_axis_message_tvalid;
  assign valid = message ? s_axis_message_tvalid : s_axis_tvalid;
  assign last = message ? s_axis_message.last : s_axis.last;
  assign free = !m_axis_tvalid || m_axis_tready;
  assign s_axis_message_tready = message && free;
  assign s_axis_tready = !message && free;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      in_frame_q    <= 1'b0;
      message_q     <= 1'b0;
      m_axis_tvalid <= 1'b0;
    end else if (free) begin
      m_axis_tvalid <= valid;
      if (valid) begin
        in_frame_q <= !last;
        message_q  <= message;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (free) begin
      m_axis <= message ? s_axis_message : s_axis;
    end
  end

`ifdef FORMAL
  // Each input is marked by a bit of its data. Safety: within a frame at the output all beats are of one input, and a
  // frame ends where its input ends it; data never begins while a message waits; a beat that shows stays.
  logic past_valid_q = 1'b0;
  logic out_in_frame_q;
  logic out_message_q;
  logic stays_q;
  logic stays_last_q;
  logic [DataW-1:0] stays_data_q;
  logic goes;
  assign goes = m_axis_tvalid && m_axis_tready;
  always_ff @(posedge clk_i) begin
    past_valid_q <= 1'b1;
    stays_q      <= m_axis_tvalid && !m_axis_tready && !rst_i;
    stays_data_q <= m_axis.data;
    stays_last_q <= m_axis.last;
    if (!past_valid_q) assume (rst_i);
    assume (s_axis_message.data[0]);
    assume (!s_axis.data[0]);
    if (rst_i) begin
      out_in_frame_q <= 1'b0;
    end else if (goes) begin
      out_in_frame_q <= !m_axis.last;
      out_message_q  <= m_axis.data[0];
    end
    if (past_valid_q) begin
      if (goes && out_in_frame_q) assert (m_axis.data[0] == out_message_q);
      if (m_axis_tvalid) assert (in_frame_q == !m_axis.last && message_q == m_axis.data[0]);
      if (m_axis_tvalid && out_in_frame_q) assert (m_axis.data[0] == out_message_q);
      if (!m_axis_tvalid) assert (in_frame_q == out_in_frame_q);
      if (!m_axis_tvalid && in_frame_q) assert (message_q == out_message_q);
      if (!in_frame_q && s_axis_message_tvalid) assert (!s_axis_tready);
      if (stays_q)
        assert (m_axis_tvalid && m_axis.data == stays_data_q && m_axis.last == stays_last_q);
    end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (past_valid_q) begin
      cover (goes && out_in_frame_q && out_message_q && m_axis.last);
      cover (goes && out_in_frame_q && !out_message_q && m_axis.last);
    end
  end
`endif
endmodule

`default_nettype wire
