// SPDX-License-Identifier: Apache-2.0
//
// DCQCN's rate calculator: a congestion notification packet (CNP) cuts a rate by half of alpha, an estimate of how often CNPs
// come; without CNPs cycles of byte counter and timer raise it. (Zhu et al. 2015, section 3.2, equations (1) to (4))
//
//   CNP:                RT = RC, RC = RC − RC alpha / 2, then alpha = alpha − g alpha + g
//   alpha_time without: alpha = alpha − g alpha
//   cycle of either:    RT = RT + R_AI from threshold cycles of one counter on, RT + i R_HAI from the i-th cycle beyond it
//                       of both on; RC = (RC + RT) / 2
//
// g is a power of two: its products are shifts. A cut rounds the reduction down, a rise rounds up, products with g round
// down. The target rate is held at the largest rate.
//
// Events are served one at a time, each in 38 clocks. Of waiting ones a CNP is first, then an ended cycle of the byte counter,
// then one of the timer. start_i is served at once and aborts the event in service. Octets and ticks count in the
// clock in which they come, also meanwhile. A cycle that ends in clock c is served in c + 2 at the earliest, and only
// while the rate is below its largest.
//
// Latency: an event of clock c shows in the stages from c + 1 on, in alpha from c + 3, in the current rate from c + 36. In
// the target rate a cut shows from c + 34 on, a rise from c + 15.
// Throughput: a frame and a tick a clock; a CNP each 38 clocks (signal_ready_o holds others back).
//
// Settings are to change only together with rst_i or start_i.

`default_nettype none

module dcqcn_rate_calculator
  import penstock_pkg::*;
  import dcqcn_rp_pkg::*;
(
  input var logic clk_i,
  input var logic rst_i,

  // A flow begins: the largest rate, and alpha as it starts.
  input var logic start_i,

  // A CNP.
  input var  logic signal_valid_i,
  output var logic signal_ready_o,

  // Octets of a frame that is sent in this clock; 0: there is none.
  input var frame_octets_t octets_i,

  // The time base.
  input var logic tick_i,

  // Alpha as it starts, at most One.
  input var alpha_t       alpha_init_i,
  // g = 2^-g_shift.
  input var logic   [3:0] g_shift_i,
  // Ticks without a CNP after which alpha falls; less than 8 count as 8.
  input var cycle_t       alpha_time_i,
  // Cycles of Fast Recovery: 1 to 254.
  input var stage_t       threshold_i,
  // Octets and ticks of a cycle.
  input var cycle_t       byte_reset_i,
  input var cycle_t       time_reset_i,
  input var rate_t        ai_rate_i,
  input var rate_t        hai_rate_i,
  input var rate_t        min_rate_i,
  input var rate_t        max_rate_i,

  output var rate_t  current_rate_o,
  output var rate_t  target_rate_o,
  output var alpha_t alpha_o,
  output var stage_t byte_stage_o,
  output var stage_t time_stage_o,
  output var logic   busy_o
);
  // The last step of an event; the steps of the rates are listed below.
  localparam logic [5:0] Last = 6'd37;
  localparam cycle_t LeastAlphaTime = cycle_t'(8);
  // A stage times a rate, and another rate.
  localparam int unsigned WorkW = RateW + StageW + 1;

  // --- Which event is served ---

  logic [5:0] step_q;
  // No event is being served: the step is 0.
  logic       idle_q;
  logic       last_q;
  // The event in service is a CNP.
  logic       decreases_q;
  // The rate is below its largest; right while idle.
  logic       limiting_q;
  logic       restart;
  logic       byte_ended;
  logic       time_ended;
  logic       serve_signal;
  logic       serve_byte;
  logic       serve_time;
  logic       served;

  assign restart = rst_i || start_i;
  assign signal_ready_o = idle_q && !start_i;
  assign serve_signal = signal_ready_o && signal_valid_i;
  assign serve_byte = signal_ready_o && !signal_valid_i && limiting_q && byte_ended;
  assign serve_time = signal_ready_o && !signal_valid_i && limiting_q && !byte_ended && time_ended;
  assign served = signal_valid_i || (limiting_q && (byte_ended || time_ended));
  assign busy_o = !idle_q;

  always_ff @(posedge clk_i) begin
    if (restart) begin
      step_q <= '0;
      idle_q <= 1'b1;
      last_q <= 1'b0;
    end else begin
      last_q <= step_q == Last - 6'd1;
      if (idle_q) step_q <= 6'(served);
      else step_q <= last_q ? '0 : step_q + 1'b1;
      idle_q <= idle_q ? !served : last_q;
    end
  end

  // --- Stages and counters ---

  stage_t byte_stage_q;
  stage_t time_stage_q;

  always_ff @(posedge clk_i) begin
    if (restart || serve_signal) begin
      decreases_q  <= !restart;
      byte_stage_q <= '0;
      time_stage_q <= '0;
    end else if (serve_byte || serve_time) begin
      decreases_q <= 1'b0;
      if (serve_byte && byte_stage_q != '1) byte_stage_q <= byte_stage_q + 1'b1;
      if (serve_time && time_stage_q != '1) time_stage_q <= time_stage_q + 1'b1;
    end
  end

  assign byte_stage_o = byte_stage_q;
  assign time_stage_o = time_stage_q;

  dcqcn_cycle_counter #(
      .StepW(FrameW)
  ) u_byte (
      .clk_i,
      .rst_i   (restart),
      .begin_i (serve_signal || serve_byte),
      .length_i(byte_reset_i),
      .step_i  (octets_i),
      .ended_o (byte_ended)
  );

  dcqcn_cycle_counter #(
      .StepW(1)
  ) u_timer (
      .clk_i,
      .rst_i   (restart),
      .begin_i (serve_signal || serve_time),
      .length_i(time_reset_i),
      .step_i  (tick_i),
      .ended_o (time_ended)
  );

  // --- Alpha ---
  //
  // It falls with the tick that ends an interval. A CNP takes it in the clock behind the one in which it is served, in which it
  // falls too; it rises a clock later. Its part g alpha stands a clock behind alpha, which is soon enough: alpha_time is 8 or
  // more.

  alpha_t alpha_q;
  alpha_t part_q;
  alpha_t gain_q;
  cycle_t alpha_time_q;
  cycle_t left_q;
  // There was a CNP.
  logic   running_q;
  logic   load_q;
  logic   rises_q;
  logic   falls;

  assign falls = running_q && tick_i && left_q == cycle_t'(1) && !serve_signal;

  always_ff @(posedge clk_i) begin
    alpha_time_q <= alpha_time_i < LeastAlphaTime ? LeastAlphaTime : alpha_time_i;
    gain_q       <= One >> g_shift_i;
    part_q       <= alpha_q >> g_shift_i;
    if (serve_signal) left_q <= alpha_time_q - cycle_t'(tick_i);
    else if (falls) left_q <= alpha_time_q;
    else if (tick_i) left_q <= left_q - 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (restart) begin
      running_q <= 1'b0;
      load_q    <= 1'b0;
      rises_q   <= 1'b0;
      alpha_q   <= alpha_init_i;
    end else begin
      if (serve_signal) running_q <= 1'b1;
      load_q  <= serve_signal;
      rises_q <= load_q;
      if (rises_q) alpha_q <= alpha_q + gain_q;
      else if (load_q || falls) alpha_q <= alpha_q - part_q;
    end
  end

  assign alpha_o = alpha_q;

  // --- The rates ---
  //
  // Steps of a CNP                            Steps of a rise
  //   2..32  work = work + RC alpha's bit,      1..3   which increase, and how often
  //          halved                             4..11  work = times R (a bit a step)
  //   33     work = RC − work, RT = RC          12     work = work + RT
  //   35     RC = work, at least min            14     RT = work, at most max
  //                                             15     work = 0
  //                                             16     work = RT
  //                                             17     work = (RC + work + 1) / 2
  //                                             35     RC = work
  //
  // The operation of a step is decoded in the step before, and so is what it adds.

  typedef struct packed {
    logic cut;
    logic subtract;
    logic multiply;
    logic set_target;
    logic clear;
    logic average;
    logic set_current;
  } operation_t;

  rate_t                  current_q;
  rate_t                  target_q;
  operation_t             operation;
  operation_t             operation_q;
  logic       [WorkW-1:0] work_q;
  // The work is below the least rate, or below the largest.
  logic                   below_q;
  // What is left of alpha, lowest bit first.
  alpha_t                 bits_q;
  logic       [WorkW-1:0] augend;
  rate_t                  addend_q;
  logic                   carry;
  logic       [WorkW-1:0] sum;
  logic                   unused_lsb;

  always_comb begin
    operation = '0;
    if (decreases_q) begin
      operation.cut      = load_q || (operation_q.cut && step_q != 6'd32);
      operation.subtract = step_q == 6'd32;
    end else begin
      operation.multiply   = step_q == 6'd3 || (operation_q.multiply && step_q != 6'd11);
      operation.set_target = step_q == 6'd13;
      operation.clear      = step_q == 6'd14;
      operation.average    = step_q == 6'd16;
    end
    operation.set_current = step_q == 6'd34;
  end

  always_ff @(posedge clk_i) begin
    if (restart) operation_q <= '0;
    else operation_q <= operation;
  end

  // How often R is added: the stages' order, then what they are beyond, then the factor, highest bit first.
  stage_t slow_q;
  stage_t fast_q;
  stage_t beyond_q;
  logic   hyper_q;
  logic   active_q;
  stage_t factor_q;
  rate_t  increase_q;

  always_ff @(posedge clk_i) begin
    slow_q   <= byte_stage_q < time_stage_q ? byte_stage_q : time_stage_q;
    fast_q   <= byte_stage_q < time_stage_q ? time_stage_q : byte_stage_q;
    beyond_q <= slow_q - threshold_i;
    hyper_q  <= slow_q > threshold_i;
    active_q <= fast_q >= threshold_i;
    if (operation_q.multiply) begin
      factor_q <= factor_q << 1;
    end else begin
      factor_q   <= hyper_q ? beyond_q : stage_t'(active_q);
      increase_q <= hyper_q ? hai_rate_i : ai_rate_i;
    end
  end

  // What the next step adds: RC for a bit of alpha, R for a bit of how often, or one of them whole. The first bit of how often
  // is one of hyper increases alone.
  logic  adds_current;
  logic  adds_target;
  logic  adds_increase;
  rate_t increase;

  always_comb begin
    adds_current  = operation.subtract || operation.average;
    adds_target   = !decreases_q && (step_q == 6'd11 || step_q == 6'd15);
    adds_increase = 1'b0;
    increase      = increase_q;
    if (operation.cut) adds_current = load_q ? alpha_q[0] : bits_q[1];
    if (operation.multiply) begin
      adds_increase = operation_q.multiply ? factor_q[StageW-2] : hyper_q && beyond_q[StageW-1];
      if (!operation_q.multiply) increase = hai_rate_i;
    end
  end

  always_ff @(posedge clk_i) begin
    addend_q <= (adds_current ? current_q : '0) | (adds_target ? target_q : '0)
        | (adds_increase ? increase : '0);
  end

  // One adder. Where there is nothing to do, it adds nothing.
  always_comb begin
    augend = work_q;
    if (operation_q.subtract) augend = ~work_q;
    if (operation_q.multiply) augend = work_q << 1;
    carry = operation_q.subtract || operation_q.average;
  end
  // The carry enters one bit below.
  assign {sum, unused_lsb} = {augend, 1'b1} + {WorkW'(addend_q), carry};

  always_ff @(posedge clk_i) begin
    below_q <= work_q < WorkW'(decreases_q ? min_rate_i : max_rate_i);
    work_q  <= operation_q.cut || operation_q.average ? sum >> 1 : sum;
    if (idle_q || operation_q.clear) work_q <= '0;
    bits_q <= load_q ? alpha_q : bits_q >> operation_q.cut;
  end

  always_ff @(posedge clk_i) begin
    if (restart) begin
      current_q  <= max_rate_i;
      target_q   <= max_rate_i;
      limiting_q <= 1'b0;
    end else begin
      if (operation_q.subtract) target_q <= current_q;
      if (operation_q.set_target) target_q <= below_q ? RateW'(work_q) : max_rate_i;
      if (operation_q.set_current)
        current_q <= decreases_q && below_q ? min_rate_i : RateW'(work_q);
      limiting_q <= current_q != max_rate_i;
    end
  end

  assign current_rate_o = current_q;
  assign target_rate_o  = target_q;

`ifdef FORMAL
  // Safety: no rate leaves [least, largest], alpha does not wrap below 0, no stage falls without a CNP, and no step is beyond
  // the last. Assumed: settings that agree and stay as they are.
  logic         past_valid_q = 1'b0;
  logic   [3:0] past_g_q;
  rate_t        past_min_q;
  rate_t        past_max_q;
  cycle_t       past_alpha_time_q;
  alpha_t       past_alpha_q;
  logic         past_fell_q;
  stage_t       past_byte_stage_q;
  stage_t       past_time_stage_q;
  logic         past_falls_q;
  always_ff @(posedge clk_i) begin
    past_valid_q      <= 1'b1;
    past_g_q          <= g_shift_i;
    past_min_q        <= min_rate_i;
    past_max_q        <= max_rate_i;
    past_alpha_time_q <= alpha_time_i;
    past_alpha_q      <= alpha_q;
    past_fell_q       <= falls && !restart;
    past_byte_stage_q <= byte_stage_q;
    past_time_stage_q <= time_stage_q;
    past_falls_q      <= restart || serve_signal;
    assume (min_rate_i <= max_rate_i);
    if (!past_valid_q) assume (rst_i);
    if (past_valid_q) begin
      assume (min_rate_i == past_min_q && max_rate_i == past_max_q);
      assume (g_shift_i == past_g_q && alpha_time_i == past_alpha_time_q);
      assert (current_q >= min_rate_i && current_q <= max_rate_i);
      assert (target_q >= min_rate_i && target_q <= max_rate_i);
      assert (step_q <= Last && idle_q == (step_q == '0) && last_q == (step_q == Last));
      assert ($onehot0(operation_q) && load_q == (decreases_q && step_q == 6'd1));
      assert (rises_q == (decreases_q && step_q == 6'd2));
      assert (operation_q.cut == (decreases_q && step_q >= 6'd2 && step_q <= 6'd32));
      assert (operation_q.subtract == (decreases_q && step_q == 6'd33));
      assert (operation_q.multiply == (!decreases_q && step_q >= 6'd4 && step_q <= 6'd11));
      assert (operation_q.set_target == (!decreases_q && step_q == 6'd14));
      assert (operation_q.clear == (!decreases_q && step_q == 6'd15));
      assert (operation_q.average == (!decreases_q && step_q == 6'd17));
      assert (operation_q.set_current == (step_q == 6'd35));
      // A cut's reduction is at most half of the rate; a rise's work has a bit more with each step.
      if (decreases_q && step_q >= 6'd1 && step_q <= 6'd33) assert (work_q <= WorkW'(current_q));
      if (decreases_q && step_q >= 6'd34 && step_q <= 6'd35) assert (work_q <= WorkW'(current_q));
      if (!decreases_q && step_q >= 6'd1 && step_q <= 6'd4) assert (work_q == '0);
      for (int unsigned k = 5; k <= 12; ++k) begin
        if (!decreases_q && 32'(step_q) == k)
          assert (32'(work_q >> RateW) <= (32'd2 << (k - 4)) - 32'd2);
      end
      if (!decreases_q && (step_q == 6'd13 || step_q == 6'd14)) assert (work_q >= WorkW'(target_q));
      if (!decreases_q && step_q == 6'd16) assert (work_q == '0 && addend_q == target_q);
      if (!decreases_q && step_q == 6'd17)
        assert (work_q == WorkW'(target_q) && addend_q == current_q);
      if (!decreases_q && step_q >= 6'd18 && step_q <= 6'd35)
        assert (work_q >= WorkW'(min_rate_i) && work_q <= WorkW'(max_rate_i));
      if (step_q == 6'd35 && decreases_q) assert (below_q == (work_q < WorkW'(min_rate_i)));
      if (step_q == 6'd14 && !decreases_q) assert (below_q == (work_q < WorkW'(max_rate_i)));
      if (!past_falls_q) begin
        assert (byte_stage_q >= past_byte_stage_q && time_stage_q >= past_time_stage_q);
      end
      // Alpha's part is that of alpha where it counts, for alpha has stayed.
      assert (alpha_time_q >= LeastAlphaTime);
      assert (part_q == past_alpha_q >> g_shift_i);
      if (past_fell_q) assert (left_q == alpha_time_q);
      if (running_q) assert (left_q >= cycle_t'(1) && left_q <= alpha_time_q);
      if (decreases_q && step_q >= 6'd1 && step_q <= 6'd3) begin
        assert (running_q && left_q >= alpha_time_q - cycle_t'(step_q));
      end
      if (load_q || falls) assert (alpha_q == past_alpha_q && part_q <= alpha_q);
    end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (past_valid_q) begin
      // A rise is further away than a cut.
      cover (step_q == 6'd8 && decreases_q);
      cover (past_fell_q && alpha_q < past_alpha_q);
    end
  end
`endif
endmodule

`default_nettype wire
