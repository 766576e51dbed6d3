// SPDX-License-Identifier: Apache-2.0
//
// SMCC's rate calculator: the signs of a queue's offset and growth choose which of the two changes the rate, in
// proportion. (Jiang et al. 2015, equation (25) and section 4.4)
//
//   signs agree:  rate -= alpha q_off    (alpha_small while the queue changes by t1 or less, with two_stage_i)
//   signs differ: rate -= beta q_delta   both rounded towards zero, then rate within [min_rate, max_rate]
//
// With BoundOnly only notices of the congestion point that lowered the rate last, while its queue was above its target,
// raise it; the identities of 64 bits are compared whole.
//
// A notice that is seen in clock c is taken (signal_ready_o) in clock c + 75 and stays until then; the rate shows it from
// clock c + 76 on. Throughput: a notice each 76 clocks; others are held back.

`default_nettype none

module smcc_rate_calculator
  import penstock_pkg::*;
  import smcc_rp_pkg::*;
#(
  // delta_zero_e
  parameter int unsigned DeltaZero = 32'(StateA),
  parameter bit          BoundOnly = 1'b1
) (
  input var logic clk_i,
  input var logic rst_i,

  // A flow begins: the largest rate, bound to no congestion point.
  input var logic start_i,

  // A notice: queue less target, and growth, octets.
  input var  logic   signal_valid_i,
  output var logic   signal_ready_o,
  input var  cp_id_t cp_id_i,
  input var  diff_t  q_off_i,
  input var  diff_t  q_delta_i,

  input var gain_t alpha_i,
  input var gain_t alpha_small_i,
  input var gain_t beta_i,
  // Octets.
  input var diff_t t1_i,
  input var logic  two_stage_i,
  input var rate_t min_rate_i,
  input var rate_t max_rate_i,

  output var rate_t rate_o
);
  // Steps: 18 rows of the product, 50 bits of its shift, then hold, change, and two bounds. Each bound
  // is compared with in the step before.
  localparam logic [6:0] Load = 7'd1;
  localparam logic [6:0] FirstIteration = 7'd2;
  localparam logic [6:0] FirstShift = FirstIteration + 7'(MantissaW);
  localparam logic [6:0] MaxShift = 7'd50;
  localparam logic [6:0] Saturate = FirstShift + MaxShift;
  localparam logic [6:0] Change = Saturate + 7'd1;
  localparam logic [6:0] AtLeast = Saturate + 7'd3;
  localparam logic [6:0] Last = Saturate + 7'd5;
  localparam int unsigned ProductW = DiffW + MantissaW;

  // The operations of a step, but for the shifts; a bit each, for wide values hang on them. The larger bound's turn.
  typedef struct packed {
    logic load;
    logic partial_sum;
    logic saturate;
    logic change;
    logic at_least;
  } operation_t;

  logic       [6:0] step_q;
  operation_t       operation_q;
  logic             largest_q;
  logic             begins;

  assign begins = rst_i || start_i;
  assign signal_ready_o = step_q == Last && !begins;

  always_ff @(posedge clk_i) begin
    if (begins || step_q == Last) step_q <= '0;
    else if (step_q != '0 || signal_valid_i) step_q <= step_q + 1'b1;
  end

  always_ff @(posedge clk_i) begin
    operation_q.load        <= begins || step_q == Last || step_q < Load;
    operation_q.partial_sum <= !begins && step_q >= Load && step_q < FirstShift - 7'd1;
    operation_q.saturate    <= !begins && step_q == Saturate - 7'd1;
    operation_q.change      <= !begins && step_q == Change - 7'd1;
    operation_q.at_least    <= !begins && step_q == AtLeast - 7'd1;
    largest_q               <= !begins && step_q >= AtLeast && step_q != Last;
  end

  // Which gain, and times what: the notice stays while it is worked on.
  logic  state_a_q;
  logic  fast_q;
  gain_t gain;
  diff_t operand;
  // Its sign, known a clock after it, which is when the first row is added.
  logic  raises_q;
  diff_t magnitude;

  always_ff @(posedge clk_i) begin
    state_a_q <= in_state_a(q_off_i, q_delta_i, DeltaZero);
    fast_q    <= !two_stage_i || changes_fast(q_delta_i, t1_i);
    raises_q  <= operand[DiffW-1];
  end

  always_comb begin
    if (!state_a_q) gain = beta_i;
    else if (fast_q) gain = alpha_i;
    else gain = alpha_small_i;
  end
  assign operand   = state_a_q ? q_off_i : q_delta_i;
  // A size is this and 1 more if the number is negative.
  assign magnitude = operand ^ {DiffW{raises_q}};

  // product = mantissa × size, a row a clock: the rows' sum above, the rest of the mantissa below it. Then a shift, a
  // bit a clock; 50 bits leave nothing of a product that goes down, and one that goes up by more has overflowed.
  logic  [ProductW-1:0] product_q;
  // Has run over 2^50; later: below 0.
  logic                 over_q;
  logic  [     DiffW:0] partial_sum;
  // Distance and direction of the shift, known long before it.
  logic  [  ShiftW-1:0] shift_amount_q;
  logic                 down_q;
  logic  [         6:0] shift_step;
  logic                 shifting_q;
  logic  [     RateW:0] change;
  logic  [         1:0] unused_lsb;
  rate_t                limit;
  logic                 below_q;
  rate_t                rate_q;

  // The 1 that a negative number lacks enters as a carry, one bit below; so does that of a
  // subtraction.
  assign {partial_sum, unused_lsb[0]} =
      {product_q[ProductW-1:MantissaW], 1'b1} + (product_q[0] ? {1'b0, magnitude, raises_q} : '0);
  assign {change, unused_lsb[1]} =
      {1'b0, rate_q, 1'b1} + ({1'b0, product_q[RateW-1:0], 1'b0} ^ {RateW + 2{!raises_q}});
  // Of the next step.
  assign shift_step = step_q - (FirstShift - 7'd1);
  assign limit = largest_q ? max_rate_i : min_rate_i;

  always_ff @(posedge clk_i) begin
    shift_amount_q <= gain.shift[ShiftW-1] ? -gain.shift : gain.shift;
    down_q         <= gain.shift[ShiftW-1];
    shifting_q     <= shift_step < MaxShift && shift_step < shift_amount_q;
    below_q        <= over_q || product_q[RateW:0] < {1'b0, limit};

    if (shifting_q) begin
      product_q <= down_q ? product_q >> 1 : product_q << 1;
      over_q    <= over_q || (!down_q && product_q[ProductW-1]);
    end else if (operation_q.load) begin
      product_q <= ProductW'(gain.mantissa);
      over_q    <= 1'b0;
    end else if (operation_q.partial_sum) begin
      product_q <= {partial_sum, product_q[MantissaW-1:1]};
    end else if (operation_q.saturate) begin
      // No rate is larger.
      if (over_q || product_q[ProductW-1:RateW] != '0) product_q <= ProductW'({RateW{1'b1}});
      over_q <= 1'b0;
    end else if (operation_q.change) begin
      product_q <= ProductW'(change);
      over_q    <= !raises_q && change[RateW];
    end else if (operation_q.at_least) begin
      if (below_q) product_q <= ProductW'(limit);
      over_q <= 1'b0;
    end
  end

  // The notice is of a congestion point that may raise the rate.
  logic may_raise;
  if (BoundOnly) begin : gen_bound
    logic   bound_valid_q;
    cp_id_t bound_q;
    logic   match_q;
    logic   binds_q;

    assign may_raise = match_q;

    always_ff @(posedge clk_i) begin
      match_q <= bound_valid_q && cp_id_i == bound_q;
      // A queue above its target lowers the rate in state A alone.
      if (operation_q.change) binds_q <= state_a_q && !raises_q && product_q[RateW-1:0] != '0;
      if (signal_ready_o && binds_q) bound_q <= cp_id_i;
      if (begins) bound_valid_q <= 1'b0;
      else if (signal_ready_o && binds_q) bound_valid_q <= 1'b1;
    end
  end else begin : gen_any
    logic unused;
    assign unused    = &{1'b0, cp_id_i};
    assign may_raise = 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (begins) rate_q <= max_rate_i;
    else if (step_q == Last && (may_raise || !raises_q))
      rate_q <= below_q ? RateW'(product_q) : limit;
  end

  assign rate_o = rate_q;

`ifdef FORMAL
  // Safety: no rate leaves [least, largest], no step is beyond the last. Assumed: settings that agree and stay as they
  // are. The results of the arithmetic are not needed for it.
  logic  past_valid_q = 1'b0;
  rate_t past_min_q;
  rate_t past_max_q;
  always_ff @(posedge clk_i) begin
    past_valid_q <= 1'b1;
    past_min_q   <= min_rate_i;
    past_max_q   <= max_rate_i;
    assume (min_rate_i <= max_rate_i);
    if (!past_valid_q) assume (rst_i);
    if (past_valid_q) begin
      assume (min_rate_i == past_min_q && max_rate_i == past_max_q);
      assert (rate_q >= min_rate_i && rate_q <= max_rate_i);
      assert (step_q <= Last);
      assert (operation_q.load == (step_q <= Load));
      assert (operation_q.partial_sum == (step_q > Load && step_q < FirstShift));
      assert (operation_q.saturate == (step_q == Saturate)
        && operation_q.change == (step_q == Change));
      assert (operation_q.at_least == (step_q == AtLeast) && largest_q == (step_q > AtLeast));
      if (step_q == AtLeast)
        assert (below_q == (over_q || product_q[RateW:0] < {1'b0, min_rate_i}));
      if (step_q > AtLeast) assert (!over_q && product_q[RateW:0] >= {1'b0, min_rate_i});
      if (step_q == Last) assert (below_q == (product_q[RateW:0] < {1'b0, max_rate_i}));
      if (step_q >= Saturate) assert (!shifting_q);
    end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (past_valid_q) begin
      cover (operation_q.partial_sum);
    end
  end
`endif
endmodule

`default_nettype wire
