// SPDX-License-Identifier: Apache-2.0
//
// QCN's rate calculator: feedback lowers a rate, and cycles of the byte counter and the timer raise it again.
// (Kabbani and Yasuda 2010, section 2, equations (1) to (8); 802.1Qau RP)
//
// Events are served one at a time, each in 51 clocks. Of waiting events a signal is first, then an ended cycle of the byte
// counter, then one of the timer. start_i is served at once and aborts the event in service. Octets and ticks count
// in the clock in which they come, also meanwhile, so that none is lost. A cycle that ends in clock c is served in
// c + 2 at the earliest. An event that is served in clock c shows in the stages from c + 1 on. It shows in the target rate
// from c + 19, in the current rate from c + 25, in the counters from c + 51.
// Throughput: a frame and a tick a clock; a signal each 51 clocks (signal_ready_o holds others back).
//
// Settings are to change only together with rst_i or start_i. The target rate is held at the largest rate.

`default_nettype none

module qcn_rate_calculator
  import penstock_pkg::*;
  import qcn_rp_pkg::*;
#(
  // features_e
  parameter bit Features      = Full,
  // hai_multiplier_e
  parameter bit HaiMultiplier = MinCount,
  // efr_e
  parameter bit Efr           = ByteStage,
  // trr_e
  parameter bit Trr           = FirstCycle,
  // jitter_rp_e
  parameter bit JitterRp      = Reload
) (
  input var logic clk_i,
  input var logic rst_i,

  // A flow begins: the largest rate, and the timer's first cycle.
  input var logic start_i,

  // A notification.
  input var  logic       signal_valid_i,
  output var logic       signal_ready_o,
  input var  logic [5:0] fb_i,

  // Octets of a frame that is sent in this clock; 0: there is none.
  input var frame_octets_t octets_i,

  // The time base.
  input var logic tick_i,

  // Random words for cycles that begin in this clock, and whether they are drawn.
  input var  random_t random_byte_i,
  input var  random_t random_timer_i,
  output var logic    draw_byte_o,
  output var logic    draw_timer_o,

  // Gd = 2^-gd_shift: 6 to 16.
  input var logic   [ 4:0] gd_shift_i,
  // Cycles of Fast Recovery: 0 to 254.
  input var stage_t        rpg_threshold_i,
  input var cycle_t        rpg_byte_reset_i,
  // Ticks.
  input var cycle_t        rpg_time_reset_i,
  input var rate_t         rpg_ai_rate_i,
  input var rate_t         rpg_hai_rate_i,
  input var rate_t         rpg_min_rate_i,
  input var rate_t         rpg_max_rate_i,
  // Q0.16
  input var logic   [15:0] rp_jitter_i,
  input var logic          timer_on_i,

  output var rate_t current_rate_o,
  output var rate_t target_rate_o,
  output var stage_t byte_stage_o,
  output var stage_t time_stage_o,
  output var phase_e phase_o,
  // The rest of the cycles; less the octets or ticks that have passed while the length of the next is not known.
  output var remaining_t byte_remaining_o,
  output var remaining_t time_remaining_o,
  output var logic busy_o
);
  // The last step of an event; the steps of the rates are those of qcn_rate_steps.
  localparam logic [5:0] Last = 6'd50;

  typedef enum logic [1:0] {
    Nothing,
    Decrease,
    Increase
  } kind_e;

  // --- Which event is served ---

  logic  [5:0] step_q;
  kind_e       kind_q;
  // In the first clock after reset the byte counter's first cycle begins.
  logic        boot_q;
  // No event is being served: the step is 0. And: it is not that first clock.
  logic        idle_q;
  logic        ready_q;
  // The step is the last.
  logic        last_q;
  logic        begins;
  // While it is idle: it begins to be busy.
  logic        served;
  logic        serve_signal;
  logic        serve_byte;
  logic        serve_time;
  // A cycle has ended; it is served a clock later at the earliest, for the counters may lie far away.
  logic        byte_ended;
  logic        time_ended;
  logic        byte_ended_q;
  logic        time_ended_q;

  assign begins         = start_i || boot_q;
  assign signal_ready_o = ready_q && !start_i;
  assign serve_signal   = signal_ready_o && signal_valid_i;
  assign serve_byte     = signal_ready_o && !signal_valid_i && byte_ended_q;
  assign serve_time     = signal_ready_o && !signal_valid_i && !byte_ended_q && time_ended_q;
  assign served         = boot_q || signal_valid_i || byte_ended_q || time_ended_q;
  assign busy_o         = !idle_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      boot_q  <= 1'b1;
      step_q  <= '0;
      idle_q  <= 1'b1;
      ready_q <= 1'b0;
      last_q  <= 1'b0;
    end else begin
      // It is always idle then; said so, this is another register than the other reaction points have, and lies here.
      if (idle_q) boot_q <= 1'b0;
      last_q <= !start_i && step_q == Last - 6'd1;
      if (start_i) step_q <= 6'd1;
      else if (idle_q) step_q <= 6'(served);
      else if (last_q) step_q <= '0;
      else step_q <= step_q + 1'b1;
      if (start_i || (idle_q && served)) begin
        idle_q  <= 1'b0;
        ready_q <= 1'b0;
      end else if (last_q) begin
        idle_q  <= 1'b1;
        ready_q <= 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      byte_ended_q <= 1'b0;
      time_ended_q <= 1'b0;
    end else begin
      byte_ended_q <= byte_ended;
      time_ended_q <= time_ended;
    end
  end

  // --- Stages and phase ---

  stage_t byte_stage_q;
  stage_t time_stage_q;
  // They are 0.
  logic   byte_fresh_q;
  logic   time_fresh_q;
  logic   keep_target_q;
  logic   keep_target;
  logic   decreases;
  logic   increases;

  assign keep_target = Features == Full && byte_fresh_q && (Efr == ByteStage || time_fresh_q);

  always_ff @(posedge clk_i) begin
    if (rst_i || begins) begin
      kind_q        <= Nothing;
      keep_target_q <= 1'b0;
      byte_stage_q  <= '0;
      time_stage_q  <= '0;
      byte_fresh_q  <= 1'b1;
      time_fresh_q  <= 1'b1;
    end else if (serve_signal) begin
      kind_q        <= Decrease;
      keep_target_q <= keep_target;
      byte_stage_q  <= '0;
      time_stage_q  <= '0;
      byte_fresh_q  <= 1'b1;
      time_fresh_q  <= 1'b1;
    end else if (serve_byte || serve_time) begin
      kind_q <= Increase;
      if (serve_byte && byte_stage_q != '1) byte_stage_q <= byte_stage_q + 1'b1;
      if (serve_time && time_stage_q != '1) time_stage_q <= time_stage_q + 1'b1;
      if (serve_byte) byte_fresh_q <= 1'b0;
      if (serve_time) time_fresh_q <= 1'b0;
    end
  end

  assign decreases = kind_q == Decrease;
  assign increases = kind_q == Increase;
  assign phase_o = phase_of(byte_stage_q, time_stage_q, rpg_threshold_i);

  assign byte_stage_o = byte_stage_q;
  assign time_stage_o = time_stage_q;

  // --- The two counters ---

  // The first cycle after a signal is a full one; after the stage of the threshold they are half ones.
  // Which it is, is known when it begins.
  cycle_t byte_base;
  logic   byte_half_q;
  logic   byte_begins;

  always_ff @(posedge clk_i) begin
    if (begins || serve_signal) byte_half_q <= 1'b0;
    else if (serve_byte) byte_half_q <= half_after(byte_stage_q, rpg_threshold_i);
  end

  assign byte_base   = rpg_byte_reset_i >> byte_half_q;
  // Beside a start it does not matter what else would be served.
  assign byte_begins = begins || (ready_q && (signal_valid_i ? !keep_target : byte_ended_q));
  assign draw_byte_o = serve_byte || (serve_signal && !keep_target && JitterRp == Always);

  qcn_cycle_counter #(
      .StepW (FrameW),
      .AtZero(1'b0)
  ) u_byte (
      .clk_i,
      .rst_i,
      .stop_i        (1'b0),
      .begin_i       (byte_begins),
      .base_i        (byte_base),
      .spread_i      (serve_byte || (serve_signal && JitterRp == Always) ? rp_jitter_i : '0),
      .word_i        (random_byte_i),
      .at_least_one_i(1'b0),
      .step_i        (octets_i),
      .remaining_o   (byte_remaining_o),
      .ended_o       (byte_ended)
  );

  if (Features == Full) begin : gen_timer
    cycle_t time_base;
    logic   time_half_q;
    logic   time_begins;

    always_ff @(posedge clk_i) begin
      if (begins || serve_signal) time_half_q <= 1'b0;
      else if (serve_time) time_half_q <= half_after(time_stage_q, rpg_threshold_i);
    end

    assign time_base = rpg_time_reset_i >> time_half_q;
    assign time_begins = timer_on_i && (start_i || serve_signal || serve_time);
    assign draw_timer_o = time_begins && (serve_time || JitterRp == Always);

    qcn_cycle_counter #(
        .StepW (1),
        .AtZero(1'b1)
    ) u_timer (
        .clk_i,
        .rst_i,
        .stop_i        (!timer_on_i),
        .begin_i       (time_begins),
        .base_i        (time_base),
        .spread_i      (serve_time || JitterRp == Always ? rp_jitter_i : '0),
        .word_i        (random_timer_i),
        .at_least_one_i(increases),
        .step_i        (tick_i),
        .remaining_o   (time_remaining_o),
        .ended_o       (time_ended)
    );
  end else begin : gen_no_timer
    assign time_remaining_o = '0;
    assign time_ended = 1'b0;
    assign draw_timer_o = 1'b0;

    // Inputs of the timer.
    logic unused;
    assign unused = &{1'b0, tick_i, random_timer_i, rpg_time_reset_i, timer_on_i};
  end

  // --- The rates ---

  rate_t  current_q;
  rate_t  target_q;
  stage_t ordinal_q;
  logic   ordinal_write;
  logic   target_write;
  rate_t  target;
  logic   current_write;
  rate_t  current;

  qcn_rate_steps #(
      .Features     (Features),
      .HaiMultiplier(HaiMultiplier),
      .Trr          (Trr)
  ) u_steps (
      .clk_i,
      .rst_i          (rst_i || begins),
      .idle_i         (idle_q),
      .signal_i       (serve_signal),
      .increase_i     (serve_byte || serve_time),
      .decreases_i    (decreases),
      .increases_i    (increases),
      .step_i         (step_q),
      .fb_i,
      .keep_target_i  (keep_target_q),
      .gd_shift_i,
      .rpg_threshold_i,
      .rpg_ai_rate_i,
      .rpg_hai_rate_i,
      .rpg_min_rate_i,
      .rpg_max_rate_i,
      .current_i      (current_q),
      .target_i       (target_q),
      .byte_stage_i   (byte_stage_q),
      .time_stage_i   (time_stage_q),
      .phase_i        (phase_o),
      .ordinal_i      (ordinal_q),
      .ordinal_write_o(ordinal_write),
      .target_write_o (target_write),
      .target_o       (target),
      .current_write_o(current_write),
      .current_o      (current)
  );

  always_ff @(posedge clk_i) begin
    if (rst_i || begins || serve_signal) ordinal_q <= '0;
    else if (ordinal_write && ordinal_q != '1) ordinal_q <= ordinal_q + 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (rst_i || begins) begin
      current_q <= rpg_max_rate_i;
      target_q  <= rpg_max_rate_i;
    end else begin
      if (target_write) target_q <= target;
      if (current_write) current_q <= current;
    end
  end

  assign current_rate_o = current_q;
  assign target_rate_o  = target_q;

`ifdef FORMAL
  // Safety: no rate leaves [least, largest], no step is beyond the last, no stage falls without a signal. Assumed:
  // settings that agree and stay as they are. The results of the arithmetic are not needed for it.
  logic   past_valid_q = 1'b0;
  rate_t  past_min_q;
  rate_t  past_max_q;
  stage_t past_byte_stage_q;
  stage_t past_time_stage_q;
  logic   past_falls_q;
  logic   past_decreases_q;
  always_ff @(posedge clk_i) begin
    past_valid_q      <= 1'b1;
    past_min_q        <= rpg_min_rate_i;
    past_max_q        <= rpg_max_rate_i;
    past_byte_stage_q <= byte_stage_q;
    past_time_stage_q <= time_stage_q;
    past_falls_q      <= rst_i || begins || serve_signal;
    past_decreases_q  <= decreases;
    assume (rpg_min_rate_i <= rpg_max_rate_i);
    if (!past_valid_q) assume (rst_i);
    if (past_valid_q) begin
      assume (rpg_min_rate_i == past_min_q && rpg_max_rate_i == past_max_q);
      assert (current_q >= rpg_min_rate_i && current_q <= rpg_max_rate_i);
      assert (target_q <= rpg_max_rate_i);
      assert (step_q <= Last);
      assert (idle_q == (step_q == '0) && ready_q == (idle_q && !boot_q));
      if (boot_q) assert (idle_q);
      assert (last_q == (step_q == Last));
      assert (byte_fresh_q == (byte_stage_q == '0) && time_fresh_q == (time_stage_q == '0));
      if (!past_falls_q) begin
        assert (byte_stage_q >= past_byte_stage_q && time_stage_q >= past_time_stage_q);
      end
    end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (past_valid_q) begin
      cover (!boot_q && step_q == 6'd8);
    end
  end
`endif
endmodule

`default_nettype wire
