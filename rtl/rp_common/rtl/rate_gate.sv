// SPDX-License-Identifier: Apache-2.0
//
// Lets frames go at a rate: a frame waits until the token bucket has its length, and then goes whole. (Kabbani and
// Yasuda 2010, section 3.2: "Token Bucket Rate Limiter")
//
// s_axis_octets_i is the frame's length with its FCS, valid with the first beat until that is taken. The bucket counts
// 20 octets more, preamble and gap. A frame that the bucket can never hold is dropped whole and counted.
//
// Latency: a frame that may go is shown two clocks after its first beat came; sent_valid_o is high in that clock. With beats of more
// than 64 bits it is one clock, for a frame may be one beat.
// Throughput: a beat a clock, and two clocks between frames, or one. Within a frame the gate is a wire: m_axis_tvalid follows
// s_axis_tvalid, and s_axis_tready m_axis_tready, in the same clock.

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
  // A frame passes, or is dropped. If none does, one may wait. That one begins to pass is said beside the bucket, that it goes
  // on beside the stream.
  logic passes;
  logic continues_q;
  logic dropping_q;
  // The octets that the waiting frame takes, which may run over by a bit: a clock after its first beat came. From then
  // on it asks for these, until it gets them or they are seen to be more than the bucket ever holds. With wide beats it asks at once.
  localparam bit AtOnce = DataW > 64;
  logic [FrameW:0] line_octets_sum;
  logic [FrameW:0] line_octets_q;
  logic [FrameW:0] line_octets;
  logic            request_q;
  logic            asks;
  logic            request;
  logic            exceeds_depth;
  logic            waiting;
  logic            ready;
  logic            granted;
  logic            ends;
  logic            dropped_q;

  assign waiting = !passes && !dropping_q && s_axis_tvalid;
  assign line_octets_sum = {1'b0, s_axis_octets_i} + (FrameW + 1)'(LineOctets);
  assign line_octets = AtOnce ? line_octets_sum : line_octets_q;
  assign asks = AtOnce ? waiting : request_q;
  assign request = asks && s_axis_tvalid && !line_octets[FrameW];
  assign exceeds_depth = asks && 32'(line_octets) > Depth;

  always_ff @(posedge clk_i) begin
    if (rst_i) request_q <= 1'b0;
    else request_q <= waiting && !granted && !exceeds_depth;
  end

  always_ff @(posedge clk_i) begin
    line_octets_q <= line_octets_sum;
  end

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

  // The bucket is ready for nothing that it never holds.
  assign granted = request && ready;
  assign passes = sent_valid_o || continues_q;
  assign ends = s_axis_tvalid && s_axis_tready && s_axis.last;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      continues_q  <= 1'b0;
      dropping_q   <= 1'b0;
      sent_valid_o <= 1'b0;
      dropped_q    <= 1'b0;
    end else begin
      continues_q  <= passes && !ends;
      dropping_q   <= (exceeds_depth && s_axis_tvalid) || (dropping_q && !ends);
      sent_valid_o <= granted;
      dropped_q    <= dropping_q && ends;
    end
  end

  // Counted a clock later.
  event_counter u_dropped (
      .clk_i,
      .rst_i,
      .valid_i (dropped_q),
      .amount_i(1'b1),
      .count_o (dropped_o)
  );

  always_ff @(posedge clk_i) sent_octets_o <= granted ? s_axis_octets_i : '0;

  assign m_axis_tvalid = passes && s_axis_tvalid;
  assign s_axis_tready = dropping_q || (passes && m_axis_tready);
  assign m_axis = s_axis;

`ifdef FORMAL
  // Safety: no frame is cut or interleaved. Assumed: a beat that is shown at the input stays until it is taken. Then
  // the gate opens and closes between frames alone, and a beat that is shown at the output stays too.
  logic  past_valid_q = 1'b0;
  logic  past_held_q;
  axis_t past_beat_q;
  logic  past_shown_q;
  // The next beat of the input is a frame's first.
  logic  first_q = 1'b1;
  always_ff @(posedge clk_i) begin
    past_valid_q <= 1'b1;
    past_held_q  <= s_axis_tvalid && !s_axis_tready && !rst_i;
    past_shown_q <= m_axis_tvalid && !m_axis_tready && !rst_i;
    past_beat_q  <= s_axis;
    if (rst_i) first_q <= 1'b1;
    else if (s_axis_tvalid && s_axis_tready) first_q <= s_axis.last;
    if (!past_valid_q) assume (rst_i);
    if (past_valid_q) begin
      if (past_held_q) begin
        assume (s_axis_tvalid);
        assume (s_axis == past_beat_q);
      end
      if (!first_q) assert (passes || dropping_q);
      assert ($onehot0({sent_valid_o, continues_q, dropping_q, request_q}));
      assert (!(granted && exceeds_depth));
      if (past_shown_q) begin
        assert (m_axis_tvalid);
        assert (m_axis == past_beat_q);
      end
    end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (past_valid_q) begin
      cover (past_shown_q && m_axis_tready && m_axis.last);
      cover (dropping_q && ends);
    end
  end
`endif
endmodule

`default_nettype wire
