// SPDX-License-Identifier: Apache-2.0
//
// Token bucket: the release times of frames at a rate. (Kabbani and Yasuda 2010, section 3.2)
//
// Every RefillClocks clocks the bucket gets floor(rate / Granularity) × TokensPerStep octets, up to Depth. A frame of
// octets_i may go while ready_o is high; take_i in such a clock takes its octets out. At 125 MHz and with the default
// parameters that is a refill each 16 us, of one octet for each 0.5 Mb/s.
//
// Latency: a rate that is seen in clock c counts for the refills from clock c + QuotientW + 2 on (a restoring division,
// one bit a clock). A rate that arrives meanwhile is seen at its end. ready_o follows octets_i in the same clock.
// Throughput: a frame a clock.

`default_nettype none

module token_bucket
  import penstock_pkg::*;
  import cn_frame_pkg::*;
#(
  // Octets that the bucket holds at most, 1 to 65535.
  parameter int unsigned Depth = 3000,
  // Clocks between refills, more than the division takes.
  parameter int unsigned RefillClocks = 2000,
  // Step of the rate, bit/s.
  parameter int unsigned Granularity = 500_000,
  // Octets that a step gives in a refill: Granularity × RefillClocks / (8 × clock rate), which must be whole.
  parameter int unsigned TokensPerStep = 1,
  // The largest rate, bit/s, at most what a rate_t holds, and the longest frame with its FCS: whether Depth is enough for
  // them is said at elaboration.
  parameter longint unsigned LineRate = 64'd1_000_000_000,
  parameter int unsigned MaxOctets = 1518
) (
  input var logic clk_i,
  input var logic rst_i,

  // The rate that the bucket is to let through, bit/s.
  input var rate_t rate_i,

  // The frame that waits, with what its line adds (preamble, gap): whether it may go, and that it goes.
  input var  frame_octets_t octets_i,
  input var  logic          take_i,
  output var logic          ready_o,

  // Octets in the bucket.
  output var frame_octets_t tokens_o
);
  localparam int unsigned QuotientW = RateW - $clog2(Granularity + 1) + 1;
  localparam int unsigned RefillW = $clog2(RefillClocks);
  localparam int unsigned BitW = $clog2(QuotientW);
  localparam int unsigned DivisorW = RateW + 1;
  // A refill's octets, before they are held within a full bucket.
  localparam int unsigned LargestW = QuotientW + $clog2(TokensPerStep + 1);
  localparam int unsigned GrantW = LargestW > FrameW ? LargestW : FrameW + 1;

  if (Depth < 1 || Depth > 65_535) begin : gen_bad_depth
    $fatal(0, "Depth is 1 to 65535 (instance %m)");
  end
  if (RefillClocks <= QuotientW + 1) begin : gen_bad_refill
    $fatal(0, "RefillClocks is too short for a division (instance %m)");
  end
  if (LineRate < 64'd1 || LineRate >= 64'd1 << RateW) begin : gen_bad_rate
    // An unsized literal has 32 bits: what does not fit them is another rate, or one beyond these.
    $fatal(
        0,
        "LineRate is 1 to 2^%0d - 1 bit/s, with its size, as 64'd10_000_000_000 (instance %m)",
        RateW
    );
  end
  if (TokensPerStep < 1) begin : gen_bad_step
    $fatal(0, "TokensPerStep is at least 1 (instance %m)");
  end

  // A bucket that is too full for a refill loses the excess, and with that rate.
  localparam longint unsigned Steps = LineRate / (Granularity == 0 ? 64'd1 : 64'(Granularity));
  localparam longint unsigned LongestOnLine = 64'(MaxOctets) + 64'(LineOctets);
  localparam longint unsigned MinDepth = Steps * 64'(TokensPerStep) + LongestOnLine;
  if (64'(Depth) < MinDepth) begin : gen_shallow
    // A warning would end Verilator as an error does, and Yosys cannot read one here.
`ifdef VERILATOR
    $info("Depth %0d cannot hold a refill and the longest frame: %0d would", Depth, MinDepth);
`elsif SYNTHESIS
`else
    $warning("Depth %0d cannot hold a refill and the longest frame: %0d would", Depth, MinDepth);
`endif
  end

  // floor(rate / Granularity), one bit a clock from the highest on: the divisor is shifted down, the rest shrinks.
  rate_t                 rate_q;
  logic                  dividing_q;
  logic  [     BitW-1:0] bits_remaining_q;
  logic  [    RateW-1:0] rest_q;
  logic  [ DivisorW-1:0] divisor_q;
  logic  [QuotientW-2:0] quotient_q;
  logic  [QuotientW-1:0] steps_q;
  logic                  fits;

  assign fits = DivisorW'(rest_q) >= divisor_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      rate_q     <= '0;
      dividing_q <= 1'b0;
      steps_q    <= '0;
    end else if (dividing_q) begin
      quotient_q <= (QuotientW - 1)'({quotient_q, fits});
      bits_remaining_q <= bits_remaining_q - 1'b1;
      if (bits_remaining_q == '0) begin
        dividing_q <= 1'b0;
        steps_q    <= {quotient_q, fits};
      end
    end else begin
      rate_q           <= rate_i;
      dividing_q       <= rate_i != rate_q;
      bits_remaining_q <= BitW'(QuotientW - 1);
    end
  end

  always_ff @(posedge clk_i) begin
    if (dividing_q) begin
      if (fits) rest_q <= rest_q - RateW'(divisor_q);
      divisor_q <= divisor_q >> 1;
    end else begin
      rest_q    <= rate_i;
      divisor_q <= DivisorW'(Granularity) << (QuotientW - 1);
    end
  end

  // The octets that come in this clock, at most a full bucket, and what the bucket may hold before these make it run over. All of
  // it if none come.
  frame_octets_t               gift_q;
  frame_octets_t               room_q;
  logic          [ GrantW-1:0] grant;
  logic          [RefillW-1:0] clocks_q;
  logic                        refill_q;
  logic                        refills;

  assign grant   = GrantW'(steps_q) * GrantW'(TokensPerStep);
  assign refills = clocks_q == RefillW'(RefillClocks - 2);

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      clocks_q <= '0;
      refill_q <= 1'b0;
      gift_q   <= '0;
      room_q   <= FrameW'(Depth);
    end else begin
      clocks_q <= refill_q ? '0 : clocks_q + 1'b1;
      refill_q <= refills;
      gift_q   <= '0;
      room_q   <= FrameW'(Depth);
      if (refills) begin
        gift_q <= grant > GrantW'(Depth) ? FrameW'(Depth) : FrameW'(grant);
        room_q <= grant > GrantW'(Depth) ? '0 : FrameW'(Depth) - FrameW'(grant);
      end
    end
  end

  // a + b + c + 1: the three are made two first, without carries.
  typedef logic [FrameW+1:0] sum_t;

  function automatic sum_t sum_of(sum_t a, sum_t b, sum_t c);
    return (a ^ b ^ c) + sum_t'({(a & b) | (a & c) | (b & c), 1'b1});
  endfunction

  // The bucket, with a frame taken and without: side by side, so that neither waits for the other. What a frame leaves runs over
  // if tokens - octets - room - 1 is not negative.
  frame_octets_t tokens_q;
  sum_t          tokens;
  sum_t          octets_n;
  logic          borrow;
  logic          rest_overflows;
  frame_octets_t with_frame;
  frame_octets_t without_frame;

  assign tokens = sum_t'(tokens_q);
  assign octets_n = ~sum_t'(octets_i);
  assign borrow = tokens_q < octets_i;
  assign rest_overflows = signed'(sum_of(tokens, octets_n, ~sum_t'(room_q))) >= 0;
  assign with_frame = rest_overflows ? FrameW'(Depth) : FrameW'(sum_of(
      tokens, octets_n, sum_t'(gift_q)
  ));
  assign without_frame = tokens_q > room_q ? FrameW'(Depth) : tokens_q + gift_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) tokens_q <= FrameW'(Depth);
    else tokens_q <= take_i && !borrow ? with_frame : without_frame;
  end

  assign ready_o  = !borrow;
  assign tokens_o = tokens_q;

`ifdef FORMAL
  // Safety: the bucket is never over its depth, and no frame goes and leaves its tokens there.
  logic          past_valid_q = 1'b0;
  logic          past_reset_q;
  logic          past_take_q;
  logic          past_refill_q;
  frame_octets_t past_tokens_q;
  frame_octets_t past_octets_q;
  always_ff @(posedge clk_i) begin
    past_valid_q  <= 1'b1;
    past_reset_q  <= rst_i;
    past_take_q   <= take_i && ready_o;
    past_refill_q <= refill_q;
    past_tokens_q <= tokens_q;
    past_octets_q <= octets_i;
    if (!past_valid_q) assume (rst_i);
    if (past_valid_q) begin
      assert (32'(tokens_q) <= Depth);
      assert (32'(gift_q) + 32'(room_q) == Depth && (refill_q || gift_q == '0));
      assert (32'(clocks_q) < RefillClocks && refill_q == (32'(clocks_q) == RefillClocks - 1));
      if (past_take_q && !past_refill_q && !past_reset_q) begin
        assert (past_octets_q <= past_tokens_q);
        assert (tokens_q == past_tokens_q - past_octets_q);
      end
    end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (past_valid_q) begin
      cover (past_take_q && !past_refill_q && !past_reset_q && past_octets_q != '0);
    end
  end
`endif
endmodule

`default_nettype wire
