// SPDX-License-Identifier: Apache-2.0
//
// Frame arbiter: several streams into one, a whole frame at a time. (Kabbani and Yasuda 2010, section 3.2: packets are
// arbitrated in a round-robin fashion)
//
// Round robin: the next input after the last one served that has a frame; so an input that waits is served after at most
// Inputs − 1 frames of others. Strict: the lowest input that has a frame.
//
// Latency: a beat is at m_axis in the clock after the one in which it is taken. The first beat of a frame that finds the
// arbiter idle is taken in the clock after it is shown. Throughput: a beat a clock, and one clock between frames.

`default_nettype none

module frame_arbiter
  import penstock_pkg::*;
#(
  // Streams in, 1 to 16.
  parameter int unsigned Inputs = 4,
  // 0: round robin; 1: the lowest input always first, which may starve the others.
  parameter bit Strict = 1'b0,
  // Bits of an input's number; not to be set.
  parameter int unsigned SourceW = Inputs > 1 ? $clog2(Inputs) : 1
) (
  input var logic clk_i,
  input var logic rst_i,

  // Streams in: input n in element n.
  input var  axis_t [Inputs-1:0] s_axis,
  input var  logic  [Inputs-1:0] s_axis_tvalid,
  output var logic  [Inputs-1:0] s_axis_tready,

  // No frame begins while this is high; one that has begun goes on.
  input var logic hold_i,

  // Stream out, and the input that its frame is from.
  output var axis_t               m_axis,
  output var logic                m_axis_tvalid,
  input var  logic                m_axis_tready,
  output var logic  [SourceW-1:0] m_axis_source_o
);
  if (Inputs < 1 || Inputs > 16) begin : gen_bad_inputs
    $fatal(0, "Inputs is 1 to 16 (instance %m)");
  end

  // The next input: the first that has a frame behind the last one served, round from the highest to the lowest; or the lowest.
  logic [Inputs-1:0] grant_q;
  logic [Inputs-1:0] first;
  logic              nearest;

  always_comb begin
    for (int unsigned i = 0; i < Inputs; ++i) begin
      first[i] = 1'b0;
      nearest  = 1'b1;
      for (int unsigned d = 1; d <= Inputs; ++d) begin
        // From the nearest in front of it on: the one that was served last (the round's beginning), with no frame between.
        first[i] |= nearest && (Strict ? d == i + 1 : grant_q[(i+Inputs-d)%Inputs]);
        nearest &= !s_axis_tvalid[(i+Inputs-d)%Inputs];
      end
      first[i] &= s_axis_tvalid[i];
    end
  end

  // A frame at a time. A source that withdraws a frame before its first beat is taken, against the rules, lets go.
  axis_t beat;
  logic  busy_q;
  logic  in_frame_q;
  logic  space;
  logic  valid;
  logic  taken;
  logic  last;

  assign space = !m_axis_tvalid || m_axis_tready;
  assign s_axis_tready = busy_q && space ? grant_q : '0;
  assign valid = (s_axis_tvalid & grant_q) != '0;
  assign last = beat.last;
  assign taken = busy_q && space && valid;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      busy_q     <= 1'b0;
      in_frame_q <= 1'b0;
      grant_q    <= Inputs'(1) << (Inputs - 1);
    end else if (!busy_q) begin
      if (s_axis_tvalid != '0 && !hold_i) begin
        busy_q  <= 1'b1;
        grant_q <= first;
      end
    end else if (taken) begin
      busy_q     <= !last;
      in_frame_q <= !last;
    end else if (!in_frame_q && !valid) begin
      busy_q <= 1'b0;
    end
  end

  // The beat of the granted input.
  logic [SourceW-1:0] source;

  always_comb begin
    beat   = '0;
    source = '0;
    for (int unsigned i = 0; i < Inputs; ++i) begin
      beat |= grant_q[i] ? s_axis[i] : '0;
      source |= grant_q[i] ? SourceW'(i) : '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) m_axis_tvalid <= 1'b0;
    else if (space) m_axis_tvalid <= taken;
  end

  always_ff @(posedge clk_i) begin
    if (space) begin
      m_axis          <= beat;
      m_axis_source_o <= source;
    end
  end

`ifdef FORMAL
  // Safety: no frame is cut or interleaved, no beat lost, changed or withdrawn, the arbiter never stands while a frame
  // waits, no input waits for more than Inputs − 1 frames of others.
  // Any one input, the same all the time.
  logic [SourceW-1:0] watched_q;
  logic [5:0] others_q;
  logic [5:0] distance;
  logic begins;
  logic past_valid_q = 1'b0;
  logic past_held_q;
  logic past_idle_q;
  axis_t past_beat_q;

  assign begins = !busy_q && first != '0 && !hold_i;
  // Inputs that come before the watched one in the round, from the last one served on.
  always_comb begin
    distance = '0;
    for (int unsigned i = 0; i < Inputs; ++i) begin
      if (grant_q[i]) begin
        distance = 6'(32'(watched_q) + Inputs - 1 - i);
        if (32'(watched_q) > i) distance -= 6'(Inputs);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    watched_q <= watched_q;
    past_valid_q <= 1'b1;
    past_held_q <= m_axis_tvalid && !m_axis_tready && !rst_i;
    past_idle_q <= begins && !rst_i;
    past_beat_q <= m_axis;
    // Frames of others that have begun since the watched input waits.
    if (rst_i || !s_axis_tvalid[watched_q] || grant_q[watched_q] && busy_q) others_q <= '0;
    else if (begins) others_q <= first[watched_q] ? '0 : others_q + 1'b1;

    assume (32'(watched_q) < Inputs);
    if (!past_valid_q) assume (rst_i);
    if (past_valid_q) begin
      assert ($onehot(grant_q));
      assert (!in_frame_q || busy_q);
      if (!Strict) assert (32'(others_q) + 32'(distance) <= Inputs - 1);
      // The beat that was shown last and the one that is taken next are of one frame.
      if (in_frame_q) assert (source == m_axis_source_o && !(m_axis_tvalid && m_axis.last));
      if (m_axis_tvalid && !m_axis.last) assert (in_frame_q);
      if (past_held_q) assert (m_axis_tvalid && m_axis == past_beat_q);
      if (past_idle_q) assert (busy_q);
    end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (past_valid_q) begin
      cover (past_held_q && m_axis_tready && m_axis.last);
      cover (others_q != '0);
    end
  end
`endif
endmodule

`default_nettype wire
