// SPDX-License-Identifier: Apache-2.0
//
// The length of a queue in octets, and which frames it takes: drop-tail, in whole frames. (Kabbani and Yasuda 2010,
// section 2)
//
// A frame that comes in clock c (frame_valid_i) is decided in c + 1: decided_o, and queued_o if the queue with it has no
// more than BufferOctets and the store had room. From c + 2 on queue_o has the frame, and in c + 2 it is the length that
// this frame has met: with it if it was taken, without it if not. A frame that has left (sent_valid_i) is taken off when
// no frame is being decided, two clocks at the earliest. With beats of more than 64 bits it is in the next clock in which no frame comes.
// Throughput: a frame in each 2 clocks in and a frame in each 3 clocks out, with wider beats in each clock; one that comes sooner is
// not counted.

`default_nettype none

module cp_queue_monitor
  import penstock_pkg::*;
#(
  // Octets that the queue holds at most, 64 to 2^24 − 1.
  parameter int unsigned BufferOctets = 60_000
) (
  input var logic clk_i,
  input var logic rst_i,

  // A frame has come, whole; in the clock in which it is decided: the store could not hold it.
  input var logic          frame_valid_i,
  input var frame_octets_t frame_octets_i,
  input var logic          store_full_i,

  output var logic decided_o,
  output var logic queued_o,

  // A frame has left, whole.
  input var logic          sent_valid_i,
  input var frame_octets_t sent_octets_i,

  output var queue_octets_t queue_o
);
  if (BufferOctets < 64 || BufferOctets >= 2 ** QueueW) begin : gen_bad_buffer
    $fatal(0, "BufferOctets is 64 to 2^24 - 1 (instance %m)");
  end

  // The room of the queue, and that less a frame: so the sign of a difference decides.
  logic                       deciding_q;
  queue_octets_t              free_q;
  logic          [QueueW : 0] free_if_queued_q;

  assign decided_o = deciding_q;
  assign queued_o  = deciding_q && !store_full_i && !free_if_queued_q[QueueW];
  assign queue_o   = QueueW'(BufferOctets) - free_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) deciding_q <= 1'b0;
    else deciding_q <= frame_valid_i && !deciding_q;
  end
  always_ff @(posedge clk_i) free_if_queued_q <= {1'b0, free_q} - (QueueW + 1)'(frame_octets_i);

  if (DataW == 64) begin : gen_seldom
    // That with a frame that leaves. One is taken off when no frame comes or is decided.
    logic                       leaving_q;
    logic                       settled_q;
    frame_octets_t              leaving_octets_q;
    logic          [QueueW : 0] free_if_sent_q;
    logic                       subtract_sent;
    logic                       above_buffer;

    assign subtract_sent = leaving_q && settled_q && !deciding_q && !frame_valid_i;
    assign above_buffer  = free_if_sent_q > (QueueW + 1)'(BufferOctets);

    always_ff @(posedge clk_i) begin
      if (rst_i) begin
        leaving_q <= 1'b0;
        settled_q <= 1'b0;
        free_q    <= QueueW'(BufferOctets);
      end else begin
        settled_q <= leaving_q && !subtract_sent && !deciding_q;
        if (sent_valid_i) leaving_q <= 1'b1;
        else if (subtract_sent) leaving_q <= 1'b0;
        if (queued_o) free_q <= QueueW'(free_if_queued_q);
        else if (subtract_sent)
          free_q <= above_buffer ? QueueW'(BufferOctets) : QueueW'(free_if_sent_q);
      end
    end

    always_ff @(posedge clk_i) begin
      free_if_sent_q <= {1'b0, free_q} + (QueueW + 1)'(leaving_octets_q);
      if (sent_valid_i) leaving_octets_q <= sent_octets_i;
    end
  end else begin : gen_often
    // The octets that have left and are not taken off yet: all of them are when no frame comes.
    queue_octets_t              left_q;
    logic          [QueueW : 0] free_if_sent;

    assign free_if_sent = (QueueW + 1)'(queued_o ? QueueW'(free_if_queued_q) : free_q)
        + (QueueW + 1)'(left_q);

    always_ff @(posedge clk_i) begin
      if (rst_i) begin
        left_q <= '0;
        free_q <= QueueW'(BufferOctets);
      end else begin
        left_q <= (frame_valid_i && !deciding_q ? left_q : '0)
            + (sent_valid_i ? QueueW'(sent_octets_i) : '0);
        if (!frame_valid_i || deciding_q) begin
          free_q <= free_if_sent > (QueueW + 1)'(BufferOctets) ?
              QueueW'(BufferOctets) : QueueW'(free_if_sent);
        end
      end
    end
  end

`ifdef FORMAL
  // Safety: the length stays within the buffer, whatever comes; and it is the octets that have come less those that
  // have left, as long as no more leave than there are.
  logic          past_valid_q = 1'b0;
  queue_octets_t model_queue_q;
  logic          broken_q;
  // A frame has left and is not taken off yet, and its octets; the sum with them is that of this length.
  logic          formal_leaving;
  queue_octets_t formal_octets;
  logic          formal_settled;
  if (DataW == 64) begin : gen_formal_seldom
    assign formal_leaving = gen_seldom.leaving_q;
    assign formal_octets = formal_leaving ? QueueW'(gen_seldom.leaving_octets_q) : '0;
    assign formal_settled = !(formal_leaving && gen_seldom.settled_q)
        || gen_seldom.free_if_sent_q == {1'b0, free_q} + (QueueW + 1)'(gen_seldom.leaving_octets_q);
  end else begin : gen_formal_often
    assign formal_leaving = gen_often.left_q != '0;
    assign formal_octets  = gen_often.left_q;
    assign formal_settled = 1'b1;
  end
  queue_octets_t queued_octets;
  queue_octets_t departed_octets;
  assign queued_octets   = queued_o ? free_q - QueueW'(free_if_queued_q) : '0;
  assign departed_octets = sent_valid_i ? QueueW'(sent_octets_i) : '0;
  always_ff @(posedge clk_i) begin
    past_valid_q <= 1'b1;
    if (!past_valid_q) assume (rst_i);
    // As its user does: whole clocks between frames that leave, if they are more than a beat.
    if (DataW == 64 && formal_leaving) assume (!sent_valid_i);
    // The length as it is with all that has left.
    if (rst_i) begin
      model_queue_q <= '0;
      broken_q <= 1'b0;
    end else begin
      model_queue_q <= model_queue_q + queued_octets - departed_octets;
      if (departed_octets > model_queue_q) broken_q <= 1'b1;
    end
    if (past_valid_q) begin
      assert (32'(queue_o) <= BufferOctets && 32'(free_q) <= BufferOctets);
      if (deciding_q && !free_if_queued_q[QueueW]) assert (QueueW'(free_if_queued_q) <= free_q);
      assert (formal_settled);
      if (!broken_q) begin
        assert (model_queue_q <= queue_o);
        assert (queue_o - model_queue_q == formal_octets);
      end
    end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (past_valid_q) begin
      cover (formal_leaving && !deciding_q && !frame_valid_i && !broken_q && model_queue_q != '0);
    end
  end
`endif
endmodule

`default_nettype wire
