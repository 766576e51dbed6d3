// SPDX-License-Identifier: Apache-2.0
//
// The queue of a switch's port under DCQCN: a frame that finds no room is dropped whole, and one that joins may get ECN's
// mark, by the queue's length with it. (Zhu et al. 2015, section 3.1)
//
// s_axis_octets_i is a frame's length with its FCS, in the clock in which its first beat is taken. The frame joins in that
// clock: join_o, or drop_o, with the length that the queue has or would have with it, and with the random word. Octets leave
// the queue with the beats that leave.
//
// Latency: from a frame's last beat to its first one at the output 12 clocks. Throughput: a beat a clock.

`default_nettype none

module marking_queue
  import penstock_pkg::*;
  import cn_frame_pkg::*;
#(
  // Octets that the queue holds at most, and beats of its memory, a power of two.
  parameter int unsigned BufferOctets = 1_000_000,
  parameter int unsigned Words        = 32_768
) (
  input var logic clk_i,
  input var logic rst_i,

  // Those of ecn_marker.
  input var queue_octets_t        k_min_i,
  input var queue_octets_t        k_max_i,
  input var logic          [32:0] p_max_i,
  input var random_t              random_i,

  input var  axis_t         s_axis,
  input var  logic          s_axis_tvalid,
  output var logic          s_axis_tready,
  input var  frame_octets_t s_axis_octets_i,

  output var axis_t m_axis,
  output var logic  m_axis_tvalid,
  input var  logic  m_axis_tready,

  // A frame joins, or is dropped; the queue with it.
  output var logic          join_o,
  output var logic          drop_o,
  output var queue_octets_t with_o,

  // The queue, octets with FCS.
  output var queue_octets_t        queue_o,
  // Frames that were dropped, and those that the ramp chose and that were marked. They stay at their largest value.
  output var logic          [31:0] dropped_o,
  output var logic          [31:0] chosen_o,
  output var logic          [31:0] marked_o
);
  // Frames of an octet more than fits their beats waste most of the memory.
  localparam int unsigned WastefulBeats = 64 / BeatOctets + 1;
  localparam int unsigned WastefulOctets = 64 + 1 + FcsOctets;
  localparam int unsigned Needed = BufferOctets / WastefulOctets * WastefulBeats;

  if (BufferOctets < 64 || BufferOctets >= 2 ** QueueW) begin : gen_bad_buffer
    $fatal(0, "BufferOctets is 64 to 2^24 - 1 (instance %m)");
  end
  // A few beats are on their way, and the memory never uses three of its words.
  if (Words < Needed + 16) begin : gen_bad_words
    $fatal(0, "Words is too small for BufferOctets of short frames (instance %m)");
  end

  logic                       first_q;
  logic                       dropping_q;
  logic                       dropping;
  logic          [QueueW : 0] with_frame;
  logic                       fits;
  logic                       enters;
  logic                       ready;
  axis_t                      marked;
  logic                       marked_tvalid;
  logic                       marked_tready;
  queue_octets_t              joining;
  queue_octets_t              leaving;
  logic                       almost_full;
  logic          [      31:0] frames;
  logic          [      31:0] overflows;
  logic                       unused;

  assign with_frame = {1'b0, queue_o} + (QueueW + 1)'(s_axis_octets_i);
  assign fits = with_frame <= (QueueW + 1)'(BufferOctets);
  assign with_o = QueueW'(with_frame);
  assign dropping = first_q ? !fits : dropping_q;
  assign enters = s_axis_tvalid && !dropping;
  assign s_axis_tready = dropping || ready;
  assign join_o = enters && ready && first_q;
  assign drop_o = s_axis_tvalid && first_q && !fits;
  assign joining = join_o ? QueueW'(s_axis_octets_i) : '0;
  assign leaving = m_axis_tvalid && m_axis_tready ? QueueW'(octets_of(
      m_axis.keep
  )) + (m_axis.last ? QueueW'(FcsOctets) : '0) : '0;
  assign unused = &{1'b0, almost_full, frames, overflows};

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      first_q    <= 1'b1;
      dropping_q <= 1'b0;
      queue_o    <= '0;
    end else begin
      if (s_axis_tvalid && s_axis_tready) begin
        first_q    <= s_axis.last;
        dropping_q <= dropping;
      end
      queue_o <= queue_o + joining - leaving;
    end
  end

  ecn_marker u_marker (
      .clk_i,
      .rst_i,
      .k_min_i,
      .k_max_i,
      .p_max_i,
      .queue_octets_i(with_o),
      .random_i,
      .s_axis,
      .s_axis_tvalid (enters),
      .s_axis_tready (ready),
      .m_axis        (marked),
      .m_axis_tvalid (marked_tvalid),
      .m_axis_tready (marked_tready),
      .chosen_o,
      .marked_o
  );

  frame_fifo #(
      .Words(Words)
  ) u_frames (
      .clk_i,
      .rst_i,
      .s_axis       (marked),
      .s_axis_tvalid(marked_tvalid),
      .s_axis_tready(marked_tready),
      .m_axis,
      .m_axis_tvalid,
      .m_axis_tready,
      .almost_full_o(almost_full),
      .frames_o     (frames),
      .dropped_o    (overflows)
  );

  event_counter u_dropped (
      .clk_i,
      .rst_i,
      .valid_i (drop_o),
      .amount_i(1'b1),
      .count_o (dropped_o)
  );
endmodule

`default_nettype wire
