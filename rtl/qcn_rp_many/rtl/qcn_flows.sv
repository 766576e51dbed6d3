// SPDX-License-Identifier: Apache-2.0
//
// QCN's reaction point for many flows: their state in block RAM, one calculator, one calendar of departures. (Kabbani and Yasuda 2010,
// section 2; 802.1Qau; Saeed et al. 2017 for the calendar)
//
// Events of all flows are served one at a time, each in 90 clocks: a start first, then by turns a signal, the end of a cycle of
// octets and one of a timer. An event takes effect at its end, all at once: rates, stages, the new cycles, and the gap by which the
// calendar lets the flow's next frames go. It is shown in the clock behind that.
// A frame counts for its flow's cycle of octets when it goes. A timer is looked at once in a sweep of all flows, so it ends up to
// Flows rounds of ten clocks late, and what is served meanwhile.
//
// Behind a reset the memories are filled: the core is ready after 87 clocks and one for each flow or bucket, whichever are more. Settings
// are to change only together with rst_i; those of a flow's next events alone (gd_shift_i, rpg_threshold_i, cycles, rates of an
// increase, jitter) may change at any time but during an event.

`default_nettype none

module qcn_flows
  import penstock_pkg::*;
  import qcn_rp_pkg::*;
  import qcn_flows_pkg::*;
#(
  // Those of departure_calendar.
  parameter  int unsigned     Flows         = 1024,
  parameter  int unsigned     Buckets       = 1024,
  parameter  int unsigned     BucketClocks  = 64,
  parameter  clocks_t         FirstClock    = '0,
  // Those of qcn_rate_calculator.
  parameter  bit              HaiMultiplier = MinCount,
  parameter  bit              Efr           = ByteStage,
  parameter  bit              Trr           = FirstCycle,
  parameter  bit              JitterRp      = Reload,
  // The clock, Hz: less than 2^30.
  parameter  longint unsigned ClockHz       = 64'd125_000_000,
  localparam int unsigned     FlowW         = unsigned'($clog2(Flows))
) (
  input var logic clk_i,
  input var logic rst_i,

  // The memories are filled.
  output var logic ready_o,

  // A flow begins: the largest rate, and first cycles.
  input var  logic             start_valid_i,
  output var logic             start_ready_o,
  input var  logic [FlowW-1:0] start_flow_i,

  // A notification for a flow, 1 to 63.
  input var  logic             signal_valid_i,
  output var logic             signal_ready_o,
  input var  logic [FlowW-1:0] signal_flow_i,
  input var  logic [      5:0] fb_i,

  // The time base; random words for cycles that begin in this clock, and whether they are drawn.
  input var  logic    tick_i,
  input var  random_t random_byte_i,
  input var  random_t random_timer_i,
  output var logic    draw_byte_o,
  output var logic    draw_timer_o,

  // Settings: those of qcn_rate_calculator.
  input var logic   [ 4:0] gd_shift_i,
  input var stage_t        rpg_threshold_i,
  input var cycle_t        rpg_byte_reset_i,
  input var cycle_t        rpg_time_reset_i,
  input var rate_t         rpg_ai_rate_i,
  input var rate_t         rpg_hai_rate_i,
  input var rate_t         rpg_min_rate_i,
  input var rate_t         rpg_max_rate_i,
  input var logic   [15:0] rp_jitter_i,
  input var logic          timer_on_i,

  // Those of departure_calendar: a flow's frame waits (its length with FCS), and it goes.
  input var  logic                      request_valid_i,
  output var logic                      request_ready_o,
  input var  logic          [FlowW-1:0] request_flow_i,
  input var  frame_octets_t             request_octets_i,
  output var logic                      refused_o,
  output var logic                      release_valid_o,
  input var  logic                      release_ready_i,
  output var logic          [FlowW-1:0] release_flow_o,
  output var frame_octets_t             release_octets_o,

  // An event has been served: its flow, and what that is now. The fields stand until the next event.
  output var logic               event_valid_o,
  output var event_e             event_kind_o,
  output var logic   [FlowW-1:0] event_flow_o,
  output var rate_t              current_rate_o,
  output var rate_t              target_rate_o,
  output var stage_t             byte_stage_o,
  output var stage_t             time_stage_o,
  output var phase_e             phase_o
);
  localparam int unsigned BucketW = unsigned'($clog2(Buckets));
  localparam int unsigned ClearW = FlowW > BucketW ? FlowW : BucketW;
  typedef logic [FlowW-1:0] flow_t;

  // The clocks that an octet takes at a rate of 1 bit/s, Q.22, are divided by the rate.
  localparam longint unsigned OctetClocks = (ClockHz * 64'd8) << FractionW;
  localparam int unsigned DividendW = unsigned'($clog2(OctetClocks + 64'd1));

  if (ClockHz < 64'd1 || ClockHz >= 64'd1 << 30) begin : gen_bad_clock
    $fatal(0, "ClockHz is 1 to 2^30 - 1, with its size, as 64'd125_000_000 (instance %m)");
  end

  // --- The round, and the clocks of an event -------------------------------------------------------

  // An event is chosen in clock 9 of a round, and ends nine rounds later. The clocks in between, counted from 1.
  typedef logic [6:0] count_t;
  localparam count_t LoadClock = 7'd3;
  localparam count_t ServeClock = 7'd4;
  localparam count_t DivideClock = 7'd30;
  localparam count_t EndClock = 7'd90;

  round_t              round_q;
  // What is served; behind a reset that is a start of no flow, for the gap, and then the memories are filled.
  logic                idle_q;
  logic                boot_q;
  logic                clears_q;
  logic   [ClearW-1:0] clear_address_q;
  count_t              count_q;
  event_e              kind_q;
  flow_t               flow_q;
  logic                begins;
  logic                serves;
  logic                ends;
  event_e              begins_kind;
  flow_t               begins_flow;

  assign serves = count_q == ServeClock;
  assign ends   = count_q == EndClock;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      round_q         <= '0;
      idle_q          <= 1'b0;
      boot_q          <= 1'b1;
      clears_q        <= 1'b0;
      clear_address_q <= '0;
      count_q         <= LoadClock;
      kind_q          <= FlowStarts;
      event_valid_o   <= 1'b0;
    end else begin
      round_q <= {
        round_q[RoundClocks-2:0], round_q[RoundClocks-1] || (clears_q && clear_address_q == '1)
      };
      event_valid_o <= ends && !boot_q;
      if (begins) begin
        idle_q  <= 1'b0;
        count_q <= 7'd1;
        kind_q  <= begins_kind;
      end else if (ends) begin
        idle_q   <= !boot_q;
        count_q  <= '0;
        clears_q <= boot_q;
      end else if (count_q != '0) begin
        count_q <= count_q + 1'b1;
      end
      if (clears_q) begin
        clear_address_q <= clear_address_q + 1'b1;
        if (clear_address_q == '1) begin
          clears_q <= 1'b0;
          boot_q   <= 1'b0;
          idle_q   <= 1'b1;
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (begins) flow_q <= begins_flow;
  end

  assign ready_o = !boot_q;
  assign event_kind_o = kind_q;
  assign event_flow_o = flow_q;

  // --- Which event ---------------------------------------------------------------------------------

  // Chosen in clock 8 of a round, so that clock 9 begins it. The kind that was served last comes last.
  typedef struct packed {
    logic start;
    logic signals;
    logic byte_ends;
    logic time_ends;
  } choice_t;

  event_e  last_q;
  choice_t choice;
  choice_t choice_q;
  logic    byte_waits;
  logic    time_due_q;
  logic    byte_ended;

  always_comb begin
    choice = '0;
    if (start_valid_i) choice.start = 1'b1;
    else begin
      case (last_q)
        SignalComes: begin
          choice.byte_ends = byte_waits;
          choice.time_ends = !byte_waits && time_due_q;
          choice.signals   = !byte_waits && !time_due_q && signal_valid_i;
        end
        ByteCycleEnds: begin
          choice.time_ends = time_due_q;
          choice.signals   = !time_due_q && signal_valid_i;
          choice.byte_ends = !time_due_q && !signal_valid_i && byte_waits;
        end
        default: begin
          choice.signals   = signal_valid_i;
          choice.byte_ends = !signal_valid_i && byte_waits;
          choice.time_ends = !signal_valid_i && !byte_waits && time_due_q;
        end
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) choice_q <= '0;
    else choice_q <= round_q[8] && idle_q ? choice : '0;
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) last_q <= TimeCycleEnds;
    else if (begins && begins_kind != FlowStarts) last_q <= begins_kind;
  end

  assign start_ready_o = choice_q.start;
  assign signal_ready_o = choice_q.signals;
  assign begins = choice_q.start || choice_q.signals || choice_q.time_ends
      || (choice_q.byte_ends && byte_ended);

  // --- The state of the flow that is served ----------------------------------------------------------

  localparam int unsigned RatesW = 2 * RateW + 2 * StageW;
  localparam int unsigned StateW = HaiMultiplier == Ordinal ? RatesW + StageW : RatesW;

  logic   [StateW-1:0] state;
  rate_t               current_q;
  rate_t               target_q;
  stage_t              byte_stage_q;
  stage_t              time_stage_q;
  stage_t              ordinal_q;
  logic                active_q;
  logic   [       5:0] step_q;
  logic   [       5:0] fb_q;
  logic                keep_target;
  logic                keep_target_q;
  logic                ordinal_write;
  logic                target_write;
  rate_t               target;
  logic                current_write;
  rate_t               current;

  assign keep_target = byte_stage_q == '0 && (Efr == ByteStage || time_stage_q == '0);
  assign phase_o = phase_of(byte_stage_q, time_stage_q, rpg_threshold_i);
  assign current_rate_o = current_q;
  assign target_rate_o = target_q;
  assign byte_stage_o = byte_stage_q;
  assign time_stage_o = time_stage_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      active_q <= 1'b0;
      step_q   <= '0;
    end else if (serves) begin
      active_q <= 1'b1;
      step_q   <= 6'd1;
    end else if (ends) begin
      active_q <= 1'b0;
      step_q   <= '0;
    end else if (active_q && step_q != '1) begin
      step_q <= step_q + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (choice_q.signals) fb_q <= fb_i;
    if (count_q == LoadClock) begin
      if (kind_q == FlowStarts) begin
        current_q    <= rpg_max_rate_i;
        target_q     <= rpg_max_rate_i;
        byte_stage_q <= '0;
        time_stage_q <= '0;
        ordinal_q    <= '0;
      end else begin
        {time_stage_q, byte_stage_q, target_q, current_q} <= state[RatesW-1:0];
        ordinal_q <= HaiMultiplier == Ordinal ? StageW'(state >> RatesW) : '0;
      end
    end
    if (serves) begin
      keep_target_q <= keep_target;
      if (kind_q == SignalComes) begin
        byte_stage_q <= '0;
        time_stage_q <= '0;
        ordinal_q    <= '0;
      end
      if (kind_q == ByteCycleEnds && byte_stage_q != '1) byte_stage_q <= byte_stage_q + 1'b1;
      if (kind_q == TimeCycleEnds && time_stage_q != '1) time_stage_q <= time_stage_q + 1'b1;
    end
    if (ordinal_write && ordinal_q != '1) ordinal_q <= ordinal_q + 1'b1;
    if (target_write) target_q <= target;
    if (current_write) current_q <= current;
  end

  qcn_rate_steps #(
      .Features     (Full),
      .HaiMultiplier(HaiMultiplier),
      .Trr          (Trr)
  ) u_steps (
      .clk_i,
      .rst_i,
      .idle_i         (!active_q),
      .signal_i       (serves && kind_q == SignalComes),
      .increase_i     (serves && (kind_q == ByteCycleEnds || kind_q == TimeCycleEnds)),
      .decreases_i    (active_q && kind_q == SignalComes),
      .increases_i    (active_q && (kind_q == ByteCycleEnds || kind_q == TimeCycleEnds)),
      .step_i         (step_q),
      .fb_i           (fb_q),
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

  flow_ram #(
      .Width(StateW),
      .Depth(Flows)
  ) u_states (
      .clk_i,
      .write_i        (clears_q || ends),
      .write_address_i(clears_q ? FlowW'(clear_address_q) : flow_q),
      .data_i         (StateW'({ordinal_q, time_stage_q, byte_stage_q, target_q, current_q})),
      .read_address_i (flow_q),
      .data_o         (state)
  );

  // --- The gap: OctetClocks / rate, a bit a clock, rounded up ----------------------------------------

  logic [DividendW-1:0] dividend_q;
  logic [    RateW-1:0] rest_q;
  logic [      RateW:0] rest;
  gap_t                 quotient_q;
  logic                 overflows_q;
  logic [          5:0] bits_remaining_q;
  logic                 fits;
  logic                 rounds_up_q;
  gap_t                 gap_q;

  assign rest = {rest_q, dividend_q[DividendW-1]};
  assign fits = rest >= {1'b0, current_q};

  always_ff @(posedge clk_i) begin
    if (count_q == DivideClock) begin
      dividend_q       <= DividendW'(OctetClocks);
      rest_q           <= '0;
      quotient_q       <= '0;
      overflows_q      <= 1'b0;
      bits_remaining_q <= 6'(DividendW);
    end else if (bits_remaining_q != '0) begin
      dividend_q       <= dividend_q << 1;
      rest_q           <= RateW'(fits ? rest - {1'b0, current_q} : rest);
      quotient_q       <= GapW'({quotient_q, fits});
      overflows_q      <= overflows_q || quotient_q[GapW-1];
      bits_remaining_q <= bits_remaining_q - 1'b1;
    end
    rounds_up_q <= rest_q != '0 && quotient_q != '1;
    if (overflows_q) gap_q <= '1;
    else gap_q <= quotient_q + GapW'(rounds_up_q);
  end

  // --- The cycles that begin -------------------------------------------------------------------------

  logic            byte_begins;
  logic            time_begins;
  logic            byte_jittered;
  logic            time_jittered;
  logic            byte_begins_q;
  logic            time_begins_q;
  logic            byte_half_q;
  logic            time_half_q;
  logic [CycleW:0] byte_length;
  logic [CycleW:0] time_length;
  logic [CycleW:0] time_length_q;
  logic [     1:0] unused_done;
  logic [     1:0] unused_none;

  assign byte_begins = kind_q == FlowStarts || kind_q == ByteCycleEnds
      || (kind_q == SignalComes && !keep_target);
  assign time_begins = kind_q != ByteCycleEnds;
  assign byte_jittered = kind_q == ByteCycleEnds || (kind_q == SignalComes && JitterRp == Always);
  assign time_jittered = kind_q == TimeCycleEnds || JitterRp == Always;
  assign draw_byte_o = serves && byte_begins && byte_jittered;
  assign draw_timer_o = serves && time_begins && time_jittered && timer_on_i && !boot_q;

  always_ff @(posedge clk_i) begin
    if (serves) begin
      byte_begins_q <= byte_begins;
      time_begins_q <= time_begins;
      byte_half_q   <= kind_q == ByteCycleEnds && half_after(byte_stage_q, rpg_threshold_i);
      time_half_q   <= kind_q == TimeCycleEnds && half_after(time_stage_q, rpg_threshold_i);
    end
    // A timer's cycle behind another has a tick at least.
    time_length_q <= kind_q == TimeCycleEnds && time_length == '0 ? (CycleW + 1)'(1) : time_length;
  end

  jitter u_byte (
      .clk_i,
      .rst_i,
      .start_i (serves),
      .base_i  (rpg_byte_reset_i >> byte_half_q),
      .spread_i(byte_jittered ? rp_jitter_i : '0),
      .word_i  (random_byte_i),
      .done_o  (unused_done[0]),
      .value_o (byte_length),
      .none_o  (unused_none[0])
  );

  jitter u_time (
      .clk_i,
      .rst_i,
      .start_i (serves),
      .base_i  (rpg_time_reset_i >> time_half_q),
      .spread_i(time_jittered ? rp_jitter_i : '0),
      .word_i  (random_timer_i),
      .done_o  (unused_done[1]),
      .value_o (time_length),
      .none_o  (unused_none[1])
  );

  // --- Cycles of octets --------------------------------------------------------------------------

  flow_t         head;
  logic          goes;
  frame_octets_t goes_octets;
  flow_t         queue_flow;

  flow_cycles #(
      .Flows(Flows)
  ) u_cycles (
      .clk_i,
      .rst_i,
      .round_i      (round_q),
      .clears_i     (clears_q),
      .clear_flow_i (FlowW'(clear_address_q)),
      .head_i       (head),
      .goes_i       (goes),
      .goes_octets_i(goes_octets),
      .idle_i       (idle_q),
      .flow_i       (flow_q),
      .begins_i     (ends && byte_begins_q),
      .length_i     (byte_length),
      .queue_waits_o(byte_waits),
      .queue_flow_o (queue_flow),
      .ended_o      (byte_ended),
      .leaves_i     (choice_q.byte_ends)
  );

  // --- Timers ------------------------------------------------------------------------------------

  typedef struct packed {
    logic   runs;
    ticks_t until_tick;
  } timer_t;

  ticks_t ticks_q;
  ticks_t passed;
  flow_t  sweep_q;
  timer_t timer;
  timer_t timer_data;

  assign passed = ticks_q - timer.until_tick;
  assign timer_data = '{runs: timer_on_i, until_tick: ticks_q + ticks_t'(time_length_q)};

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      ticks_q <= '0;
      sweep_q <= '0;
    end else begin
      ticks_q <= ticks_q + ticks_t'(tick_i);
      // A flow whose timer is due waits until it is served.
      if (round_q[9] && (!time_due_q || choice_q.time_ends)) sweep_q <= sweep_q + 1'b1;
    end
  end

  always_ff @(posedge clk_i) if (round_q[7]) time_due_q <= timer.runs && !passed[TicksW-1];

  flow_ram #(
      .Width($bits(timer_t)),
      .Depth(Flows)
  ) u_timers (
      .clk_i,
      .write_i        (clears_q || (ends && time_begins_q)),
      .write_address_i(clears_q ? FlowW'(clear_address_q) : flow_q),
      .data_i         (clears_q ? '0 : timer_data),
      .read_address_i (sweep_q),
      .data_o         (timer)
  );

  always_comb begin
    begins_kind = FlowStarts;
    begins_flow = start_flow_i;
    if (choice_q.signals) begin
      begins_kind = SignalComes;
      begins_flow = signal_flow_i;
    end
    if (choice_q.byte_ends) begin
      begins_kind = ByteCycleEnds;
      begins_flow = queue_flow;
    end
    if (choice_q.time_ends) begin
      begins_kind = TimeCycleEnds;
      begins_flow = sweep_q;
    end
  end

  // --- Departures --------------------------------------------------------------------------------

  departure_calendar #(
      .Flows       (Flows),
      .Buckets     (Buckets),
      .BucketClocks(BucketClocks),
      .FirstClock  (FirstClock)
  ) u_calendar (
      .clk_i,
      .rst_i,
      .round_i        (round_q),
      .clears_i       (clears_q),
      .clear_address_i(clear_address_q),
      .gap_write_i    (clears_q || ends),
      .gap_flow_i     (clears_q ? FlowW'(clear_address_q) : flow_q),
      .gap_i          (gap_q),
      .request_valid_i,
      .request_ready_o,
      .request_flow_i,
      .request_octets_i,
      .refused_o,
      .release_valid_o,
      .release_ready_i,
      .release_flow_o,
      .release_octets_o,
      .head_o         (head),
      .goes_o         (goes),
      .goes_octets_o  (goes_octets),
      .sweep_flow_i   (sweep_q)
  );
endmodule

`default_nettype wire
