// SPDX-License-Identifier: Apache-2.0
//
// Lets frames go at a rate: a frame waits until the token bucket has its length, and then goes whole. (Kabbani and
// Yasuda 2010, section 3.2: "Token Bucket Rate Limiter")
//
// s_axis_octets_i is the frame's length with its FCS, valid with the first beat until that is taken. The bucket counts
// 20 octets more, preamble and gap. A frame that the bucket can never hold is dropped whole and counted.
//
// Latency: a frame that may go is shown two clocks after its first beat came; sent_valid_o is high in that clock.
// Throughput: a beat a clock, and two clocks between frames. Within a frame the gate is a wire: m_axis_tvalid follows
// s_axis_tvalid, and s_axis_tready m_axis_tready, in the same clock.
// With beats of more than 64 bits a frame may be one beat. Each beat is in a register, and a first one asks the bucket as it gets
// there. So a frame that may go is shown one clock after its first beat came, and there are no clocks between frames.

`default_nettype none

module rate_gate
  import penstock_pkg::*;
  import cn_frame_pkg::*;
#(
  // Those of token_bucket.
  parameter int unsigned     Depth         = 3000,
  parameter int unsigned     RefillClocks  = 2000,
  parameter int unsigned     Granularity   = 500_000,
  parameter int unsigned     TokensPerStep = 1,
  parameter longint unsigned LineRate      = 64'd1_000_000_000,
  parameter int unsigned     MaxOctets     = 1518
) (
  input var logic clk_i,
  input var logic rst_i,

  // The rate, bit/s.
  input var rate_t rate_i,

  // Frames that wait.
  input var  axis_t         s_axis,
  input var  logic          s_axis_tvalid,
  output var logic          s_axis_tready,
  input var  frame_octets_t s_axis_octets_i,

  // Frames that go.
  output var axis_t m_axis,
  output var logic  m_axis_tvalid,
  input var  logic  m_axis_tready,

  // A frame goes, and its length, else 0.
  output var logic          sent_valid_o,
  output var frame_octets_t sent_octets_o,

  // Octets in the bucket.
  output var frame_octets_t        tokens_o,
  // Frames that were dropped. It stays at its largest value.
  output var logic          [31:0] dropped_o
);
  // The frame that asks the bucket, for line_octets with what the line adds: these may run over by a bit. It gets them, or is
  // seen to need more than the bucket ever holds.
  logic                     asks;
  frame_octets_t            asking_octets;
  logic          [FrameW:0] line_octets;
  logic                     request;
  logic                     exceeds_depth;
  logic                     ready;
  logic                     granted;
  // The last beat of a frame that is dropped is taken.
  logic                     dropped;
  logic                     dropped_q;

  assign request = asks && !line_octets[FrameW];
  assign exceeds_depth = asks && 32'(line_octets) > Depth;
  // The bucket is ready for nothing that it never holds.
  assign granted = request && ready;

  token_bucket #(
      .Depth        (Depth),
      .RefillClocks (RefillClocks),
      .Granularity  (Granularity),
      .TokensPerStep(TokensPerStep),
      .LineRate     (LineRate),
      .MaxOctets    (MaxOctets)
  ) u_bucket (
      .clk_i,
      .rst_i,
      .rate_i,
      .octets_i(line_octets[FrameW-1:0]),
      .take_i  (request),
      .ready_o (ready),
      .tokens_o
  );

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      sent_valid_o <= 1'b0;
      dropped_q    <= 1'b0;
    end else begin
      sent_valid_o <= granted;
      dropped_q    <= dropped;
    end
  end

  // 0 octets are no frame to a rate calculator, so a frame that asks in reset is none.
  always_ff @(posedge clk_i) sent_octets_o <= granted && !rst_i ? asking_octets : '0;

  if (DataW == 64) begin : gen_wire
    // A frame passes, or is dropped. If none does, one may wait. That one begins to pass is said beside the bucket, that it goes
    // on beside the stream. It asks from the clock after its first beat came on.
    logic            passes;
    logic            continues_q;
    logic            dropping_q;
    logic [FrameW:0] line_octets_q;
    logic            request_q;
    logic            waiting;
    logic            ends;

    assign waiting = !passes && !dropping_q && s_axis_tvalid;
    assign asks = request_q && s_axis_tvalid;
    assign asking_octets = s_axis_octets_i;
    assign line_octets = line_octets_q;
    assign passes = sent_valid_o || continues_q;
    assign ends = s_axis_tvalid && s_axis_tready && s_axis.last;
    assign dropped = dropping_q && ends;

    always_ff @(posedge clk_i) begin
      if (rst_i) begin
        continues_q <= 1'b0;
        dropping_q  <= 1'b0;
        request_q   <= 1'b0;
      end else begin
        continues_q <= passes && !ends;
        dropping_q  <= exceeds_depth || (dropping_q && !ends);
        request_q   <= waiting && !granted && !exceeds_depth;
      end
    end

    always_ff @(posedge clk_i) begin
      line_octets_q <= {1'b0, s_axis_octets_i} + (FrameW + 1)'(LineOctets);
    end

    assign m_axis_tvalid = passes && s_axis_tvalid;
    assign s_axis_tready = dropping_q || (passes && m_axis_tready);
    assign m_axis = s_axis;
  end else begin : gen_register
    // The beat in the register, and the length of its frame. That passes, or is dropped, or waits, with its first beat.
    axis_t         beat_q;
    frame_octets_t octets_q;
    logic          held_q;
    logic          passes_q;
    logic          dropping_q;
    // The next beat of the input is a frame's first.
    logic          first_q;
    logic          waiting;
    logic          leaves;
    logic          loads;

    assign waiting = held_q && !passes_q && !dropping_q;
    assign leaves = held_q && (dropping_q || (passes_q && m_axis_tready));
    assign loads = s_axis_tvalid && s_axis_tready;
    assign asks = waiting || (loads && first_q);
    assign asking_octets = waiting ? octets_q : s_axis_octets_i;
    assign line_octets = {1'b0, asking_octets} + (FrameW + 1)'(LineOctets);
    assign dropped = leaves && dropping_q && beat_q.last;

    always_ff @(posedge clk_i) begin
      if (rst_i) begin
        held_q     <= 1'b0;
        passes_q   <= 1'b0;
        dropping_q <= 1'b0;
        first_q    <= 1'b1;
      end else begin
        held_q <= loads || (held_q && !leaves);
        if (loads) first_q <= s_axis.last;
        if (asks || (leaves && beat_q.last)) begin
          passes_q   <= granted;
          dropping_q <= exceeds_depth;
        end
      end
    end

    always_ff @(posedge clk_i) begin
      if (s_axis_tready) begin
        beat_q   <= s_axis;
        octets_q <= s_axis_octets_i;
      end
    end

    assign m_axis_tvalid = held_q && passes_q;
    assign s_axis_tready = !held_q || leaves;
    assign m_axis = beat_q;
  end

  // Counted a clock later.
  event_counter u_dropped (
      .clk_i,
      .rst_i,
      .valid_i (dropped_q),
      .amount_i(1'b1),
      .count_o (dropped_o)
  );

`ifdef FORMAL
  // Safety: no frame is cut or interleaved. Assumed: a beat that is shown at the input stays until it is taken. Then
  // the gate opens and closes between frames alone, and a beat that is shown at the output stays too.
  logic  past_valid_q = 1'b0;
  logic  past_held_q;
  axis_t past_beat_q;
  logic  past_shown_q;
  axis_t past_shown_beat_q;
  // The next beat of the input is a frame's first.
  logic  first_in_q = 1'b1;
  always_ff @(posedge clk_i) begin
    past_valid_q <= 1'b1;
    past_held_q <= s_axis_tvalid && !s_axis_tready && !rst_i;
    past_shown_q <= m_axis_tvalid && !m_axis_tready && !rst_i;
    past_beat_q <= s_axis;
    past_shown_beat_q <= m_axis;
    if (rst_i) first_in_q <= 1'b1;
    else if (s_axis_tvalid && s_axis_tready) first_in_q <= s_axis.last;
    if (!past_valid_q) assume (rst_i);
    if (past_valid_q) begin
      if (past_held_q) begin
        assume (s_axis_tvalid);
        assume (s_axis == past_beat_q);
      end
      assert (!(granted && exceeds_depth));
      if (past_shown_q) begin
        assert (m_axis_tvalid);
        assert (m_axis == past_shown_beat_q);
      end
    end
  end
  if (DataW == 64) begin : gen_formal_wire
    always_ff @(posedge clk_i) begin
      if (past_valid_q) begin
        if (!first_in_q) assert (gen_wire.passes || gen_wire.dropping_q);
        assert ($onehot0(
            {sent_valid_o, gen_wire.continues_q, gen_wire.dropping_q, gen_wire.request_q}
        ));
      end
    end
  end else begin : gen_formal_register
    // A frame that has begun at the output goes on.
    logic begun_q;
    always_ff @(posedge clk_i) begin
      if (rst_i) begun_q <= 1'b0;
      else if (m_axis_tvalid && m_axis_tready) begun_q <= !m_axis.last;
      if (past_valid_q) begin
        assert (!(gen_register.passes_q && gen_register.dropping_q));
        assert (gen_register.first_q == first_in_q);
        if (gen_register.waiting) assert (first_in_q == gen_register.beat_q.last);
        if (gen_register.held_q && gen_register.beat_q.last) assert (first_in_q);
        if (gen_register.held_q && !gen_register.beat_q.last) assert (!first_in_q);
        if (!gen_register.held_q)
          assert ((gen_register.passes_q || gen_register.dropping_q) == !first_in_q);
        if (begun_q) assert (gen_register.passes_q);
        if (gen_register.waiting) assert (!begun_q);
      end
    end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (past_valid_q) begin
      cover (past_shown_q && m_axis_tready && m_axis.last);
      cover (dropped);
    end
  end
`endif
endmodule

`default_nettype wire
