// SPDX-License-Identifier: Apache-2.0
//
// Trace: one stream of records of the events of several sources, each with its clock. (Kabbani and Yasuda 2010,
// section 1: the ability to trace and analyze all major network and QCN variables)
//
// Each source has a slot for one event; a FIFO takes them in turn. An event that finds its slot occupied, or
// the FIFO full when its turn comes, is dropped and counted. The first record, and one every 2^21 clocks, is a record of the
// time. It is never dropped; if it is late, the stamps of the records around it are still unambiguous.
//
// Latency: an event of clock c is in the FIFO by clock c + Sources + 4, at m_axis one later, if there is room.
// Throughput: a record each Sources clocks for each source.

`default_nettype none

module trace
  import penstock_pkg::*;
  import trace_pkg::*;
#(
  // Sources of events, 1 to 16.
  parameter int unsigned Sources = 8,
  // Records that the FIFO holds, a power of two, at least 2.
  parameter int unsigned Depth   = 64
) (
  input var logic clk_i,
  input var logic rst_i,

  // The time in clocks, one more each clock.
  input var logic [ClockW-1:0] now_i,

  // An event of each source: its kind (trace_kind_e), and its value.
  input var logic [Sources-1:0]             valid_i,
  input var logic [Sources-1:0][ KindW-1:0] kind_i,
  input var logic [Sources-1:0][ValueW-1:0] value_i,

  // Records (record_t), each a frame of one beat.
  output var axis_t m_axis,
  output var logic  m_axis_tvalid,
  input var  logic  m_axis_tready,

  // Events that were dropped. It stays at its largest value.
  output var logic [31:0] dropped_o
);
  localparam int unsigned CountW = 5;
  localparam int unsigned TurnW = Sources > 1 ? unsigned'($clog2(Sources)) : 1;

  if (DataW != 64) begin : gen_bad_width
    $fatal(0, "DataW is 64 (instance %m)");
  end
  if (Sources < 1 || Sources > 16) begin : gen_bad_sources
    $fatal(0, "Sources is 1 to 16 (instance %m)");
  end

  // A slot for an event of each source; the sources are served in turn, a clock each.
  logic    [Sources-1:0] pending_q;
  record_t               held_q           [Sources];
  logic    [  TurnW-1:0] turn_q;
  logic    [Sources-1:0] taken;
  logic    [Sources-1:0] lost;
  logic                  grant;

  // The time goes first; no event is taken in its clock.
  logic                  time_due_q;
  logic                  send_time;
  logic                  record_valid_q;
  logic                  record_is_time_q;
  logic                  time_blocked_q;
  record_t               record_q;
  record_t               head;
  logic                  full;
  logic                  empty;

  assign send_time = time_due_q && !record_is_time_q;
  assign grant     = !send_time && pending_q[turn_q];
  assign lost      = valid_i & pending_q & ~taken;

  always_comb begin
    for (int unsigned i = 0; i < Sources; ++i) begin
      taken[i] = !send_time && 32'(turn_q) == i && pending_q[i];
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      pending_q        <= '0;
      turn_q           <= '0;
      time_due_q       <= 1'b1;
      record_valid_q   <= 1'b0;
      record_is_time_q <= 1'b0;
      time_blocked_q   <= 1'b0;
    end else begin
      pending_q <= valid_i | (pending_q & ~taken);
      if (!send_time) turn_q <= 32'(turn_q) == Sources - 1 ? '0 : turn_q + 1'b1;
      record_valid_q   <= grant;
      record_is_time_q <= send_time;
      // It goes again until there was room for it, and nothing goes in front of it.
      if (record_is_time_q) time_blocked_q <= full;
      if (now_i[StampW-2:0] == '0) time_due_q <= 1'b1;
      else if (record_is_time_q && !full) time_due_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < Sources; ++i) begin
      if (valid_i[i] && (!pending_q[i] || taken[i])) begin
        held_q[i] <= {kind_i[i], SourceW'(i), value_i[i], now_i[StampW-1:0]};
      end
    end
    if (send_time) begin
      record_q <= {TraceTime, SourceW'(0), ValueW'(now_i[ClockW-1:StampW]), now_i[StampW-1:0]};
    end else begin
      record_q <= held_q[turn_q];
    end
  end

  small_fifo #(
      .Width(64),
      .Depth(Depth)
  ) u_fifo (
      .clk_i,
      .rst_i,
      .push_i (record_valid_q && !time_blocked_q || record_is_time_q),
      .data_i (record_q),
      .full_o (full),
      .pop_i  (m_axis_tready),
      .data_o (head),
      .empty_o(empty)
  );

  assign m_axis_tvalid = !empty;
  assign m_axis = '{user: 1'b0, last: 1'b1, keep: '1, data: head};

  // Events lost in a clock: those whose slot was occupied, and the one for which the FIFO had no room. They are added up in the
  // clock after.
  logic [ Sources:0] lost_q;
  logic [CountW-1:0] count_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      lost_q  <= '0;
      count_q <= '0;
    end else begin
      automatic logic [CountW-1:0] sum = '0;
      for (int unsigned i = 0; i <= Sources; ++i) sum += CountW'(lost_q[i]);
      lost_q  <= {record_valid_q && (full || time_blocked_q), lost};
      count_q <= sum;
    end
  end

  event_counter #(
      .Width  (32),
      .AmountW(CountW)
  ) u_dropped (
      .clk_i,
      .rst_i,
      .valid_i (1'b1),
      .amount_i(count_q),
      .count_o (dropped_o)
  );

`ifdef FORMAL
  // Safety: every event is kept, sent or counted; no record of the time is lost, and nothing passes one that waits for
  // room; no record is withdrawn.
  logic [1:0] early_q = '1;
  logic past_held_q;
  logic [63:0] past_data_q;
  // Events that have come, and records pushed; sums modulo 256.
  logic [7:0] events_q;
  logic [7:0] pushed_q;
  logic [7:0] losses_q;
  logic [7:0] events;
  logic [7:0] held;
  logic [7:0] losses;
  // An event comes into the FIFO; a record of the time has been refused by it, and has not come in since.
  logic event_in;
  logic time_refused_q;

  assign event_in = u_fifo.push_i && !u_fifo.full_o && !record_is_time_q;
  always_comb begin
    events = '0;
    held   = '0;
    losses = 8'(record_valid_q && (full || time_blocked_q));
    for (int unsigned i = 0; i < Sources; ++i) begin
      events += 8'(valid_i[i]);
      held += 8'(pending_q[i]);
      losses += 8'(lost[i]);
    end
  end

  always_ff @(posedge clk_i) begin
    if (early_q != '0) early_q <= early_q - 1'b1;
    past_held_q <= m_axis_tvalid && !m_axis_tready && !rst_i;
    past_data_q <= m_axis.data;
    if (rst_i) begin
      events_q <= '0;
      pushed_q <= '0;
      losses_q <= '0;
      time_refused_q <= 1'b0;
    end else begin
      if (record_is_time_q) time_refused_q <= full;
      events_q <= events_q + events;
      pushed_q <= pushed_q + 8'(event_in);
      losses_q <= losses_q + losses;
    end
    if (early_q > 2'd1)
      assume (rst_i);
      else begin
        assert (32'(turn_q) < Sources && !(record_valid_q && record_is_time_q));
        assert (events_q == pushed_q + losses_q + held + 8'(record_valid_q));
        if (record_is_time_q || time_blocked_q) assert (time_due_q);
        assert (time_blocked_q == time_refused_q);
        assert (!(event_in && time_refused_q));
        if (past_held_q) assert (m_axis_tvalid && m_axis.data == past_data_q);
      end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (early_q == '0) begin
      cover (event_in && m_axis_tvalid);
      cover (time_refused_q);
    end
  end
`endif
endmodule

`default_nettype wire
