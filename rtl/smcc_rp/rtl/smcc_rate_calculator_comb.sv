// SPDX-License-Identifier: Apache-2.0
//
// SMCC's rate calculator as combinational logic between the registers of the rate and of the congestion point that it
// is bound to, for the comparison of area: Jiang et al. 2015, section 5.1, say that it is possible. See
// smcc_rate_calculator for the calculation; the two have the same ports.
//
// A notice is taken in each clock and shows in the next. It is slow: product, shift, sum and bounds follow each other.

`default_nettype none

module smcc_rate_calculator_comb
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
  localparam int unsigned ProductW = DiffW + MantissaW;
  // Left shifts of a product by up to RateW bits; more makes any product overflow.
  localparam int unsigned WideW = ProductW + RateW;

  logic                       state_a;
  gain_t                      gain;
  diff_t                      operand;
  logic                       raises;
  diff_t                      magnitude;
  logic        [ProductW-1:0] product;
  logic        [  ShiftW-1:0] shift_amount;
  logic        [   WideW-1:0] shifted;
  rate_t                      amount;
  logic signed [   RateW+1:0] sum;
  rate_t                      bounded;
  logic                       may_raise;
  rate_t                      rate_q;

  assign state_a = in_state_a(q_off_i, q_delta_i, DeltaZero);
  always_comb begin
    if (!state_a) gain = beta_i;
    else if (!two_stage_i || changes_fast(q_delta_i, t1_i)) gain = alpha_i;
    else gain = alpha_small_i;
  end
  assign operand = state_a ? q_off_i : q_delta_i;
  assign raises = operand[DiffW-1];
  assign magnitude = raises ? -operand : operand;
  assign product = ProductW'(magnitude) * ProductW'(gain.mantissa);

  // The change of the rate: no rate is larger than all ones.
  always_comb begin
    shift_amount = gain.shift;
    if (gain.shift[ShiftW-1]) begin
      shift_amount = -gain.shift;
      shifted = WideW'(product >> shift_amount);
    end else begin
      if (shift_amount > ShiftW'(RateW)) shift_amount = ShiftW'(RateW);
      shifted = WideW'(product) << shift_amount;
    end
    amount = shifted[WideW-1:RateW] != '0 ? '1 : shifted[RateW-1:0];
  end

  assign sum = raises ? $signed(
      {2'b00, rate_q}
  ) + $signed(
      {2'b00, amount}
  ) : $signed(
      {2'b00, rate_q}
  ) - $signed(
      {2'b00, amount}
  );
  always_comb begin
    if (sum > $signed({2'b00, max_rate_i})) bounded = max_rate_i;
    else if (sum < $signed({2'b00, min_rate_i})) bounded = min_rate_i;
    else bounded = sum[RateW-1:0];
  end

  // The notice is of a congestion point that may raise the rate.
  if (BoundOnly) begin : gen_bound
    logic   bound_valid_q;
    cp_id_t bound_q;
    logic   binds;

    // A queue above its target lowers the rate in state A alone.
    assign binds     = signal_valid_i && state_a && !raises && amount != '0;
    assign may_raise = bound_valid_q && cp_id_i == bound_q;

    always_ff @(posedge clk_i) begin
      if (binds) bound_q <= cp_id_i;
      if (rst_i || start_i) bound_valid_q <= 1'b0;
      else if (binds) bound_valid_q <= 1'b1;
    end
  end else begin : gen_any
    logic unused;
    assign unused    = &{1'b0, cp_id_i};
    assign may_raise = 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (rst_i || start_i) rate_q <= max_rate_i;
    else if (signal_valid_i && (may_raise || !raises)) rate_q <= bounded;
  end

  assign signal_ready_o = !start_i;
  assign rate_o         = rate_q;

`ifdef FORMAL
  // Safety: no rate leaves [least, largest]. Assumed: settings that agree and stay as they are.
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
    end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (past_valid_q) begin
      cover (rate_q > min_rate_i && rate_q < max_rate_i);
    end
  end
`endif
endmodule

`default_nettype wire
