// SPDX-License-Identifier: Apache-2.0
//
// The memory that the frames of all lines of a switch, or of the line of a NIC, share: which frames have room, and which
// neighbours are to stop. (Choudhury and Hahne 1998; rules as crates/switch/src/flow_control/pool.rs, of pools in octets and
// without reserves, and as datapath/pausing.rs)
//
// The frames of a line and a priority may hold 2^alpha times the shared octets that are free, if that priority is dynamic, else
// all that are free. One of a lossless priority that finds no room there goes into the headroom, of which a line and priority
// may have most_i, and all together headroom_i. A neighbour is to stop from the threshold on, or from XOFF on, or while its
// frames have headroom. It may go on at XON, if it holds XOFF − XON less than the threshold, and no headroom. A threshold that
// falls stops a neighbour with its next frame.
//
// A frame asks, and is taken off, in turn: arrive_ready_o and depart_ready_o are high in each second clock, and never together.
// Latency: an arrival that is taken in clock c is decided in c + 1. The octets follow an event in c + 1, full_o and the
// watermarks in c + 2. Throughput: an arrival and a departure in two clocks: frames of 64 octets at 100 Gb/s and 322 MHz.

`default_nettype none

module pfc_pool
  import penstock_pkg::*;
#(
  // Lines that bring frames, 1 to 16.
  parameter int unsigned Lines    = 1,
  // The sum of 2^p over the lossless priorities p, 0 to 255; the frames of others have no headroom, and are dropped.
  parameter int unsigned Lossless = 8,
  // Bits of a line's number, and groups of frames, one of each line and priority; not to be set.
  parameter int unsigned LineW    = Lines > 1 ? unsigned'($clog2(Lines)) : 1,
  parameter int unsigned Groups   = 8 * Lines
) (
  input var logic clk_i,
  input var logic rst_i,

  // Octets of the shared part, which count while rst_i is high, and of the headroom.
  input var queue_octets_t                   shared_i,
  input var queue_octets_t                   headroom_i,
  // Of each priority, 0 lowest: whether it has a dynamic threshold, and the exponent of its factor, −8 to 7; the headroom of a
  // line; XOFF and XON, with XON below.
  input var logic          [7:0]             dynamic_i,
  input var logic          [7:0][       3:0] alpha_i,
  input var logic          [7:0][QueueW-1:0] most_i,
  input var logic          [7:0][QueueW-1:0] xoff_i,
  input var logic          [7:0][QueueW-1:0] xon_i,
  // The watermarks start again with what is held.
  input var logic                            restart_i,

  // A frame has come over a line.
  input var  logic                      arrive_valid_i,
  output var logic                      arrive_ready_o,
  input var  logic          [LineW-1:0] arrive_line_i,
  input var  logic          [      2:0] arrive_priority_i,
  input var  frame_octets_t             arrive_octets_i,
  // It is decided, and has room.
  output var logic                      decided_o,
  output var logic                      room_o,

  // A frame that had room is held no longer. No more octets of a line and priority leave than are held.
  input var  logic                      depart_valid_i,
  output var logic                      depart_ready_o,
  input var  logic          [LineW-1:0] depart_line_i,
  input var  logic          [      2:0] depart_priority_i,
  input var  frame_octets_t             depart_octets_i,

  // Of each line, 0 lowest, and priority: those of pfc_announcer.
  output var logic          [Groups-1:0]             full_o,
  output var logic          [Groups-1:0]             rises_o,
  output var logic          [Groups-1:0]             falls_o,
  // Octets of the shared part and of the headroom, and the most of both; the headroom of all, and the most of it; refused
  // frames, which stay at their largest value.
  output var logic          [Groups-1:0][QueueW-1:0] held_o,
  output var logic          [Groups-1:0][QueueW-1:0] in_headroom_o,
  output var logic          [Groups-1:0][QueueW-1:0] most_held_o,
  output var logic          [Groups-1:0][QueueW-1:0] most_in_headroom_o,
  output var queue_octets_t                          free_o,
  output var queue_octets_t                          all_in_headroom_o,
  output var queue_octets_t                          most_all_in_headroom_o,
  output var logic          [      31:0]             refused_o
);
  localparam int unsigned GroupW = LineW + 3;
  localparam int unsigned ThresholdW = QueueW + 7;
  typedef logic [QueueW:0] sum_t;
  typedef logic [ThresholdW-1:0] threshold_t;

  if (Lines < 1 || Lines > 16) begin : gen_bad_lines
    $fatal(0, "Lines is 1 to 16 (instance %m)");
  end
  if (Lossless > 255) begin : gen_bad_lossless
    $fatal(0, "Lossless is at most 255 (instance %m)");
  end

  localparam logic [7:0] IsLossless = 8'(Lossless);

  // 2^alpha times the octets that are free, rounded down.
  function automatic threshold_t threshold(queue_octets_t free, logic [3:0] alpha);
    return {free, 7'h0} >> (alpha ^ 4'b0111);
  endfunction

  logic arriving_q;
  logic arrives;
  logic departs;
  assign arrive_ready_o = arriving_q;
  assign depart_ready_o = !arriving_q;
  assign arrives = arrive_valid_i && arriving_q;
  assign departs = depart_valid_i && !arriving_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) arriving_q <= 1'b0;
    else arriving_q <= !arriving_q;
  end

  // The group of this clock's event, and its state.
  logic [GroupW-1:0] group;
  logic [2:0] prio;
  frame_octets_t octets;
  queue_octets_t held;
  queue_octets_t in_headroom;

  assign prio   = arriving_q ? arrive_priority_i : depart_priority_i;
  assign group  = {arriving_q ? arrive_line_i : depart_line_i, prio};
  assign octets = arriving_q ? arrive_octets_i : depart_octets_i;

  always_comb begin
    held        = '0;
    in_headroom = '0;
    for (int unsigned g = 0; g < Groups; ++g) begin
      if (32'(group) == g) begin
        held        = held_o[g];
        in_headroom = in_headroom_o[g];
      end
    end
  end

  // An arrival: into the shared part, or into the headroom, or nowhere.
  sum_t held_after;
  sum_t headroom_after;
  sum_t all_after;
  logic fits;
  logic joins;
  logic exceeds;

  assign held_after = {1'b0, held} + (QueueW + 1)'(octets);
  assign headroom_after = {1'b0, in_headroom} + (QueueW + 1)'(octets);
  assign all_after = {1'b0, all_in_headroom_o} + (QueueW + 1)'(octets);
  // What is lossy leaves room for the headroom that others have.
  assign fits = (IsLossless[prio] ? (QueueW + 1)'(octets) : all_after) <= {1'b0, free_o}
      && !(dynamic_i[prio] && ThresholdW'(held_after) > threshold(
      free_o, alpha_i[prio]
  ));
  assign joins = arrives && fits;
  assign exceeds = arrives && !fits && IsLossless[prio] && headroom_after <= {1'b0, most_i[prio]}
      && all_after <= {1'b0, headroom_i};

  // A departure: of the headroom first.
  logic          from_shared;
  queue_octets_t of_headroom;
  queue_octets_t of_shared;
  assign from_shared = QueueW'(octets) > in_headroom;
  assign of_headroom = from_shared ? in_headroom : QueueW'(octets);
  assign of_shared   = from_shared ? QueueW'(octets) - in_headroom : '0;

  // The octets after it.
  queue_octets_t held_next;
  queue_octets_t headroom_next;
  assign held_next = arriving_q ? held_after[QueueW-1:0] : held - of_shared;
  assign headroom_next = arriving_q ? headroom_after[QueueW-1:0] : in_headroom - of_headroom;

  for (genvar g = 0; g < Groups; ++g) begin : gen_group
    always_ff @(posedge clk_i) begin
      if (rst_i) begin
        held_o[g] <= '0;
        in_headroom_o[g] <= '0;
      end else if (32'(group) == g) begin
        if (joins || departs) held_o[g] <= held_next;
        if (exceeds || departs) in_headroom_o[g] <= headroom_next;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      free_o <= shared_i;
      all_in_headroom_o <= '0;
    end else begin
      if (joins) free_o <= free_o - QueueW'(octets);
      else if (departs) free_o <= free_o + of_shared;
      if (exceeds) all_in_headroom_o <= all_after[QueueW-1:0];
      else if (departs) all_in_headroom_o <= all_in_headroom_o - of_headroom;
    end
  end

  // A clock later: whether the neighbour is to stop, or may go on, and the watermarks.
  logic                       came_q;
  logic                       left_q;
  logic          [GroupW-1:0] group_q;
  logic          [       2:0] prio_q;
  queue_octets_t              held_q;
  queue_octets_t              headroom_q;
  sum_t                       total_q;
  logic                       decided_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      came_q    <= 1'b0;
      left_q    <= 1'b0;
      decided_q <= 1'b0;
    end else begin
      came_q    <= joins || exceeds;
      left_q    <= departs;
      decided_q <= arrives;
    end
  end

  always_ff @(posedge clk_i) begin
    group_q <= group;
    prio_q <= prio;
    held_q <= joins || departs ? held_next : held;
    headroom_q <= exceeds || departs ? headroom_next : in_headroom;
    total_q <= arriving_q ? {1'b0, held} + {1'b0, in_headroom} + (QueueW + 1)'(octets) :
        {1'b0, held} + {1'b0, in_headroom} - (QueueW + 1)'(octets);
  end

  assign decided_o = decided_q;
  assign room_o    = came_q;

  threshold_t limit;
  sum_t       again;
  logic       over;
  logic       under;
  assign limit = threshold(free_o, alpha_i[prio_q]);
  assign again = {1'b0, held_q} + {1'b0, xoff_i[prio_q] - xon_i[prio_q]};
  assign over  = total_q >= {1'b0, xoff_i[prio_q]} || headroom_q != '0
      || (dynamic_i[prio_q] && held_q != '0 && ThresholdW'(held_q) >= limit);
  assign under = total_q <= {1'b0, xon_i[prio_q]} && headroom_q == '0
      && (!dynamic_i[prio_q] || held_q == '0 || ThresholdW'(again) <= limit);

  for (genvar g = 0; g < Groups; ++g) begin : gen_full
    logic own;
    assign own = 32'(group_q) == g && IsLossless[g%8];
    assign rises_o[g] = own && came_q && over && !full_o[g];
    assign falls_o[g] = own && left_q && under && full_o[g];

    always_ff @(posedge clk_i) begin
      if (rst_i) full_o[g] <= 1'b0;
      else if (rises_o[g]) full_o[g] <= 1'b1;
      else if (falls_o[g]) full_o[g] <= 1'b0;
    end

    // What was held in the clock before a restart is in these registers already.
    always_ff @(posedge clk_i) begin
      if (rst_i) begin
        most_held_o[g] <= '0;
        most_in_headroom_o[g] <= '0;
      end else if (restart_i) begin
        most_held_o[g] <= held_o[g];
        most_in_headroom_o[g] <= in_headroom_o[g];
      end else if (came_q && 32'(group_q) == g) begin
        if (held_q > most_held_o[g]) most_held_o[g] <= held_q;
        if (headroom_q > most_in_headroom_o[g]) most_in_headroom_o[g] <= headroom_q;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) most_all_in_headroom_o <= '0;
    else if (restart_i || all_in_headroom_o > most_all_in_headroom_o)
      most_all_in_headroom_o <= all_in_headroom_o;
  end

  event_counter u_refused (
      .clk_i,
      .rst_i,
      .valid_i (decided_q && !came_q),
      .amount_i(1'b1),
      .count_o (refused_o)
  );

`ifdef FORMAL
  // Safety: an event moves octets between what is free and what its line and priority hold, and touches nothing else. No headroom
  // is given beyond its limits, and a neighbour whose frames have headroom is to stop.
  logic past_valid_q = 1'b0;
  queue_octets_t past_free_q;
  queue_octets_t past_all_q;
  queue_octets_t past_own_q;
  queue_octets_t past_own_headroom_q;
  logic [Groups-1:0][QueueW-1:0] past_held_q;
  logic [Groups-1:0][QueueW-1:0] past_in_headroom_q;
  queue_octets_t past_headroom_q;
  logic [7:0][QueueW-1:0] past_most_q;
  logic was_reset_q;

  always_ff @(posedge clk_i) begin
    past_valid_q <= 1'b1;
    was_reset_q <= rst_i;
    past_free_q <= free_o;
    past_all_q <= all_in_headroom_o;
    past_own_q <= held;
    past_own_headroom_q <= in_headroom;
    past_held_q <= held_o;
    past_in_headroom_q <= in_headroom_o;
    past_headroom_q <= headroom_i;
    past_most_q <= most_i;
    if (!past_valid_q) assume (rst_i);
    if (past_valid_q) begin
      assume (headroom_i == past_headroom_q && most_i == past_most_q);
      if (departs) assume (QueueW'(octets) <= held + in_headroom);
      if (arrives || departs) assume (32'(group) < Groups);
      if (!was_reset_q) begin
        if (came_q || left_q) begin
          assert (QueueW'(free_o + held_q) == QueueW'(past_free_q + past_own_q));
          assert (
              QueueW'(all_in_headroom_o - headroom_q) == QueueW'(past_all_q - past_own_headroom_q));
        end else assert (free_o == past_free_q && all_in_headroom_o == past_all_q);
        if (came_q && headroom_q != past_own_headroom_q)
          assert (all_in_headroom_o <= headroom_i && held_q == past_own_q);
        if (came_q && held_q != past_own_q) assert (free_o <= past_free_q);
      end
      if (!was_reset_q) assert (!(came_q && left_q) && came_q <= decided_q);
    end
  end

  for (genvar g = 0; g < Groups; ++g) begin : gen_formal
    always_ff @(posedge clk_i) begin
      if (past_valid_q) begin
        assert (in_headroom_o[g] <= most_i[g%8]);
        if ((came_q || left_q) && 32'(group_q) == g)
          assert (held_q == held_o[g] && headroom_q == in_headroom_o[g]);
          else if (!was_reset_q)
            assert (held_o[g] == past_held_q[g] && in_headroom_o[g] == past_in_headroom_q[g]);
        if (in_headroom_o[g] != '0)
          assert (IsLossless[g%8] && (full_o[g] || (came_q && 32'(group_q) == g)));
      end
    end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (past_valid_q) begin
      cover (all_in_headroom_o != '0);
      cover (falls_o != '0);
      cover (decided_o && !room_o);
    end
  end
`endif
endmodule

`default_nettype wire
