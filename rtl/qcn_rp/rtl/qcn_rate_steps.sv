// SPDX-License-Identifier: Apache-2.0
//
// The steps by which an event changes a flow's rates: one adder, one comparator, an operation a step. (Kabbani and Yasuda 2010,
// section 2, equations (1) to (8); 802.1Qau RP) The rates themselves are those of the module around it, so that one set of steps
// serves one flow or many.
//
// An event is said while idle_i is high: signal_i or increase_i in clock c, which is its step 0. In clock c + n it is in its step n,
// which step_i says; a step from 25 on does nothing. The rates and stages at the ports stand from step 1 on and change by
// target_write_o (steps 18) and current_write_o (step 24) alone: written, they are at the ports in the next clock.

`default_nettype none

module qcn_rate_steps
  import penstock_pkg::*;
  import qcn_rp_pkg::*;
#(
  // Those of qcn_rate_calculator.
  parameter bit Features      = Full,
  parameter bit HaiMultiplier = MinCount,
  parameter bit Trr           = FirstCycle
) (
  input var logic clk_i,
  // Cuts off the event that is being served.
  input var logic rst_i,

  // None is being served, and one comes: a signal, or the end of a cycle.
  input var logic idle_i,
  input var logic signal_i,
  input var logic increase_i,

  // What is being served, from the clock after on, and its step.
  input var logic       decreases_i,
  input var logic       increases_i,
  input var logic [5:0] step_i,
  // Of a signal: its feedback, beside signal_i, and that the target rate is kept.
  input var logic [5:0] fb_i,
  input var logic       keep_target_i,

  // Settings: those of qcn_rate_calculator.
  input var logic   [4:0] gd_shift_i,
  input var stage_t       rpg_threshold_i,
  input var rate_t        rpg_ai_rate_i,
  input var rate_t        rpg_hai_rate_i,
  input var rate_t        rpg_min_rate_i,
  input var rate_t        rpg_max_rate_i,

  // The flow.
  input var rate_t  current_i,
  input var rate_t  target_i,
  input var stage_t byte_stage_i,
  input var stage_t time_stage_i,
  input var phase_e phase_i,
  // How many cycles ended since Hyper-Active Increase began (HaiMultiplier = Ordinal).
  input var stage_t ordinal_i,

  // What becomes of it: one more of those cycles, and new rates.
  output var logic  ordinal_write_o,
  output var logic  target_write_o,
  output var rate_t target_o,
  output var logic  current_write_o,
  output var rate_t current_o
);
  // Ten times a rate.
  localparam int unsigned WorkW = RateW + 4;

  // --- The rates ---
  //
  // Steps of a decrease                      Steps of an increase
  //   2..17  work = CR |Fb| >> gd_shift        2, 3   work = 8 CR, and 2 CR more
  //          (a bit of Fb a step, then         5      TR > work: reduce; work = 0
  //          shifts; rounded up)               7..14  work = times R (a bit a step)
  //   18     work = CR - work,                 16     work = work + TR, or TR/8 if reduced
  //          TR = CR unless kept               18     TR = work, at most max
  //   20     work at least CR/2                19     work = (CR + TR) / 2
  //   22     work at least min                 22     work at least min
  //   24     CR = work, at most max            24     CR = work, at most max
  //
  // The operation of a step is decoded two steps before, the first by the event itself, and its term is chosen in the
  // step before, as is the limit of the work. The comparison takes one more step before the step that needs it.

  // One at most; a bit each, for they drive wide ones.
  typedef struct packed {
    logic shift;
    logic subtract;
    logic times_eight;
    logic times_two;
    logic decide;
    logic multiply;
    logic add_target;
    logic set_target;
    logic average;
    logic at_least;
    logic set_current;
  } operation_t;

  operation_t             operation;
  operation_t             early_q;
  operation_t             operation_q;
  // The limit with which the work is compared.
  rate_t                  limit_q;
  logic       [WorkW-1:0] work_q;
  logic                   below_q;
  logic       [      5:0] fb_q;
  // Less: a 1 has fallen off. More: the work has run over.
  logic                   over_q;
  // More: TR is divided by 8; R is R_HAI; and how often it is taken (a bit a step, highest first).
  logic                   reduce_q;
  logic                   hyper_q;
  stage_t                 factor_q;

  logic       [WorkW-1:0] augend;
  logic       [WorkW-1:0] addend;
  logic       [WorkW-1:0] addend_q;
  logic                   carry;
  logic       [WorkW-1:0] sum;
  logic                   unused_lsb;
  logic                   unused_operation;
  logic                   halves;
  logic                   products;
  logic                   limits;
  stage_t                 factor;
  stage_t                 factor_next_q;
  logic                   first_cycle;

  always_comb begin
    operation = '0;
    if (idle_i) begin
      operation.shift = signal_i;
      operation.times_eight = increase_i && Features == Full;
    end else if (decreases_i) begin
      // At least 6 shifts.
      operation.shift = step_i <= 6'd15 && (step_i <= 6'd5 || step_i < {1'b0, gd_shift_i});
      operation.subtract = step_i == 6'd16;
      operation.at_least = step_i == 6'd18 || step_i == 6'd20;
      operation.set_current = step_i == 6'd22;
    end else if (increases_i) begin
      operation.times_two = step_i == 6'd1 && Features == Full;
      operation.decide = step_i == 6'd3;
      // Only the lowest bit without Hyper-Active Increase.
      operation.multiply = step_i == 6'd12
          || (step_i >= 6'd5 && step_i <= 6'd11 && Features == Full);
      operation.add_target = step_i == 6'd14;
      operation.set_target = step_i == 6'd16;
      operation.average = step_i == 6'd17;
      operation.at_least = step_i == 6'd20;
      operation.set_current = step_i == 6'd22;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      early_q     <= '0;
      operation_q <= '0;
    end else begin
      early_q     <= operation;
      operation_q <= early_q;
    end
    addend_q <= addend;
    case (step_i)
      6'd3:         limit_q <= Features == Full ? target_i : rpg_max_rate_i;
      6'd18, 6'd19: limit_q <= current_i >> 1;
      6'd20, 6'd21: limit_q <= rpg_min_rate_i;
      default:      limit_q <= rpg_max_rate_i;
    endcase
  end

  // One adder. Where there is nothing to do, it adds nothing.
  always_comb begin
    addend = '0;
    if (early_q.subtract || early_q.average || (early_q.shift && fb_q[0]))
      addend |= WorkW'(current_i);
    if (early_q.times_eight) addend |= {1'b0, current_i, 3'b0};
    if (early_q.times_two) addend |= {3'b0, current_i, 1'b0};
    if (early_q.multiply && factor_q[StageW-1])
      addend |= WorkW'(hyper_q ? rpg_hai_rate_i : rpg_ai_rate_i);
    if (early_q.add_target) addend |= reduce_q ? WorkW'(target_i >> 3) : WorkW'(target_i);
  end

  always_comb begin
    augend = work_q;
    if (operation_q.subtract) augend = ~work_q;
    if (operation_q.multiply) augend = work_q << 1;
    carry = operation_q.subtract && !over_q;
  end
  // The carry enters one bit below.
  assign {sum, unused_lsb} = {augend, 1'b1} + {addend_q, carry};

  // The next work.
  assign halves = operation_q.shift || operation_q.average;
  assign products = operation_q.multiply || operation_q.add_target;
  assign limits   = (operation_q.set_target && (over_q || !below_q))
      || (operation_q.at_least && below_q);
  // Steps that are no more than their terms.
  assign unused_operation = &{1'b0, operation_q.times_eight, operation_q.times_two};

  always_ff @(posedge clk_i) begin
    below_q <= work_q < WorkW'(limit_q);
    if (limits) work_q <= WorkW'(limit_q);
    else work_q <= halves ? sum >> 1 : sum;
    if (early_q.shift) fb_q <= fb_q >> 1;
    if (operation_q.shift) over_q <= over_q || sum[0];
    if (products) begin
      over_q <= over_q || work_q[WorkW-1:WorkW-2] != '0;
    end
    // In front of an event, and between the parts of an increase.
    if (idle_i) begin
      over_q <= 1'b0;
      fb_q   <= fb_i;
    end
    if (idle_i || operation_q.decide) work_q <= '0;
  end

  // How often R is added.
  assign first_cycle = Trr == AnyTime || byte_stage_i == stage_t'(1) || time_stage_i == stage_t'(1);
  if (Features == Full) begin : gen_full
    stage_t least;

    assign least = byte_stage_i < time_stage_i ? byte_stage_i : time_stage_i;
    always_comb begin
      case (phase_i)
        FastRecovery:   factor = '0;
        ActiveIncrease: factor = stage_t'(1);
        default:        factor = HaiMultiplier == MinCount ? least - rpg_threshold_i : ordinal_i;
      endcase
    end
  end else begin : gen_core
    logic unused;
    assign unused = &{1'b0, rpg_threshold_i, ordinal_i};
    assign factor = stage_t'(phase_i == ActiveIncrease) << (StageW - 1);
  end

  // It stands two steps before it is needed.
  always_ff @(posedge clk_i) factor_next_q <= factor;

  always_ff @(posedge clk_i) begin
    if (operation_q.decide) begin
      reduce_q <= Features == Full && below_q && first_cycle;
      hyper_q  <= Features == Full && phase_i == HyperActiveIncrease;
      factor_q <= Features == Full && below_q && first_cycle ? '0 : factor_next_q;
    end else if (early_q.multiply) begin
      factor_q <= factor_q << 1;
    end
  end

  assign ordinal_write_o = operation_q.times_eight && phase_i == HyperActiveIncrease;
  assign target_write_o  = operation_q.set_target || (operation_q.subtract && !keep_target_i);
  assign current_write_o = operation_q.set_current;
  always_comb begin
    target_o = current_i;
    if (operation_q.set_target) target_o = over_q || !below_q ? limit_q : RateW'(work_q);
  end
  assign current_o = below_q ? RateW'(work_q) : limit_q;

`ifdef FORMAL
  // Of the arithmetic's results no more is needed than these: what is compared when a rate is written. Assumed of the module
  // around it: it says an event's steps one after the other (asserted there).
  logic past_valid_q = 1'b0;
  always_ff @(posedge clk_i) begin
    past_valid_q <= 1'b1;
    if (past_valid_q) begin
      assert ($onehot0(early_q) && $onehot0(operation_q));
      // Between the bounds of a rate: the work is not below the least, and its limit is the largest.
      if (operation_q.set_current) begin
        assert (step_i == 6'd24 && limit_q == rpg_max_rate_i);
        assert (below_q == (work_q < WorkW'(rpg_max_rate_i)));
      end
      if (operation_q.set_target) begin
        assert (step_i == 6'd18 && limit_q == rpg_max_rate_i);
        assert (below_q == (work_q < WorkW'(rpg_max_rate_i)));
      end
      if (step_i == 6'd22 && (decreases_i || increases_i)) begin
        assert (operation_q.at_least && limit_q == rpg_min_rate_i);
        assert (below_q == (work_q < WorkW'(rpg_min_rate_i)));
      end
      if ((step_i == 6'd23 || step_i == 6'd24) && (decreases_i || increases_i)) begin
        assert (operation_q.set_current == (step_i == 6'd24));
        assert (!limits && !halves && addend_q == '0);
        assert (work_q >= WorkW'(rpg_min_rate_i));
      end
    end
  end
`endif
endmodule

`default_nettype wire
