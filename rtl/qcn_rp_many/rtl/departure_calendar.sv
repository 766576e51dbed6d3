// SPDX-License-Identifier: Apache-2.0
//
// Says when the frames of many flows go: a timing wheel of buckets, each a list of the flows whose next frame goes in its clocks.
// (Varghese and Lauck 1987; Saeed et al. 2017, "Carousel: Scalable Traffic Shaping at End Hosts", section 4)
//
// A flow has one frame at the most that waits, and a time D, Q32.22 clocks, before which it does not go. A frame that is asked for at the
// time t goes at e = max(D, t), never before the clock of e. Then D = e + (octets + 20) × gap, with the gap of that moment, so what
// goes late does not make the next late.
//
// Bucket b has the flows with b × BucketClocks <= e < (b + 1) × BucketClocks, modulo Buckets. The bucket at hand is emptied in its order.
// Each flow waits until e; one of another turn of the wheel goes to the bucket of its time, or to the last one. Only from an
// empty bucket does the calendar go to the next, so it passes none.
//
// Latency: a frame that may go at once is shown 11 to 21 clocks after it is asked for. Beside others in its bucket a frame
// goes as much as BucketClocks after e, and a round later for each that goes before it.
// Throughput: a frame in a round of ten clocks, in and out.

`default_nettype none

module departure_calendar
  import penstock_pkg::*;
  import qcn_flows_pkg::*;
#(
  // Powers of two: flows, at least 4, buckets, at least 2, and the clocks of a bucket, at least 16.
  parameter  int unsigned Flows        = 1024,
  parameter  int unsigned Buckets      = 1024,
  parameter  int unsigned BucketClocks = 64,
  // The time after a reset: a test begins before its end.
  parameter  clocks_t     FirstClock   = '0,
  localparam int unsigned FlowW        = unsigned'($clog2(Flows)),
  localparam int unsigned BucketW      = unsigned'($clog2(Buckets)),
  localparam int unsigned ClearW       = FlowW > BucketW ? FlowW : BucketW
) (
  input var logic clk_i,
  input var logic rst_i,

  // The clock of the round; none while the memories are cleared, a word a clock.
  input var round_t              round_i,
  input var logic                clears_i,
  input var logic   [ClearW-1:0] clear_address_i,

  // The clocks that an octet of a flow takes.
  input var logic             gap_write_i,
  input var logic [FlowW-1:0] gap_flow_i,
  input var gap_t             gap_i,

  // A flow's frame waits, its length with FCS. Taken in clock 5 of a round; that of a flow with a frame that waits is refused.
  input var  logic                      request_valid_i,
  output var logic                      request_ready_o,
  input var  logic          [FlowW-1:0] request_flow_i,
  input var  frame_octets_t             request_octets_i,
  output var logic                      refused_o,

  // A frame may go.
  output var logic                      release_valid_o,
  input var  logic                      release_ready_i,
  output var logic          [FlowW-1:0] release_flow_o,
  output var frame_octets_t             release_octets_o,

  // The flow at hand, in clock 2 of a round, and in clock 5 whether it goes, and its octets.
  output var logic          [FlowW-1:0] head_o,
  output var logic                      goes_o,
  output var frame_octets_t             goes_octets_o,

  // A flow that is looked at in clock 3 of a round: times long past are renewed, before they would be ahead again.
  input var logic [FlowW-1:0] sweep_flow_i
);
  localparam int unsigned ClockW = unsigned'($clog2(BucketClocks));
  localparam int unsigned NumberW = ClocksW - ClockW;
  typedef logic [FlowW-1:0] flow_t;
  typedef logic [NumberW-1:0] number_t;

  if (Flows < 4 || 2 ** FlowW != Flows) begin : gen_bad_flows
    $fatal(0, "Flows is a power of two from 4 on (instance %m)");
  end
  if (Buckets < 2 || 2 ** BucketW != Buckets) begin : gen_bad_buckets
    $fatal(0, "Buckets is a power of two from 2 on (instance %m)");
  end
  if (BucketClocks < 16 || 2 ** ClockW != BucketClocks) begin : gen_bad_clocks
    $fatal(0, "BucketClocks is a power of two from 16 on (instance %m)");
  end
  if (ClockW + BucketW >= ClocksW - 1) begin : gen_bad_turn
    $fatal(0, "Buckets x BucketClocks is less than 2^31 (instance %m)");
  end

  // A list of flows, the first and the last.
  typedef struct packed {
    logic  any;
    flow_t head;
    flow_t tail;
  } bucket_t;

  // When a flow's next frame goes, and its length if there is one.
  typedef struct packed {
    logic          waits;
    frame_octets_t octets;
    time_t         at;
  } departure_t;

  // --- Time --------------------------------------------------------------------------------------

  // The time of a round is that of its first clock.
  clocks_t now_q;
  number_t bucket_q;
  logic    behind_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) now_q <= FirstClock;
    else if (round_i[9]) now_q <= now_q + clocks_t'(RoundClocks);
  end

  // --- The flow at hand --------------------------------------------------------------------------

  bucket_t       bucket;
  bucket_t       present_q;
  flow_t         following;
  flow_t         following_q;
  departure_t    departure;
  frame_octets_t present_octets_q;
  time_t         present_time_q;
  gap_t          gap;
  time_t         next_time;
  // In clock 5: its time has come; it is of this turn of the wheel.
  logic          due_q;
  logic          this_turn_q;
  logic          goes;
  logic          moves;
  logic          advances;
  logic          leaves;
  logic          goes_q;
  logic          unused;

  assign unused = &{1'b0, round_i[0]};
  assign goes = round_i[5] && present_q.any && due_q && (!release_valid_o || release_ready_i);
  assign moves = round_i[5] && present_q.any && !due_q && !this_turn_q;
  assign advances = round_i[5] && !present_q.any && behind_q;
  assign leaves = goes || moves;
  assign head_o = bucket.head;
  assign goes_o = goes;
  assign goes_octets_o = present_octets_q;

  always_ff @(posedge clk_i) begin
    if (round_i[2]) present_q <= bucket;
    if (round_i[4]) begin
      following_q      <= following;
      present_octets_q <= departure.octets;
      present_time_q   <= departure.at;
      due_q            <= reached(departure.at.clocks, now_q);
      this_turn_q      <= departure.at.clocks[ClocksW-1:ClockW] == bucket_q;
      behind_q         <= now_q[ClocksW-1:ClockW] != bucket_q;
    end
    if (round_i[5]) goes_q <= goes;
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) bucket_q <= FirstClock[ClocksW-1:ClockW];
    else if (advances) bucket_q <= bucket_q + 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) release_valid_o <= 1'b0;
    else if (goes) release_valid_o <= 1'b1;
    else if (release_ready_i) release_valid_o <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (goes) begin
      release_flow_o   <= present_q.head;
      release_octets_o <= present_octets_q;
    end
  end

  departure_time u_time (
      .clk_i,
      .time_i  (present_time_q),
      .octets_i(departure.octets),
      .gap_i   (gap),
      .next_o  (next_time)
  );

  function automatic logic reached(input clocks_t at, input clocks_t now);
    clocks_t passed;
    passed = now - at;
    return !passed[ClocksW-1];
  endfunction

  // A time that begins in a clock is not past in it, for it may have a fraction.
  function automatic logic is_past(input clocks_t at, input clocks_t now);
    return reached(at, now) && at != now;
  endfunction

  // --- A flow that gets a place in the wheel -----------------------------------------------------

  // That of a frame that is asked for, as it is in clock 1, or one that moves.
  logic                     asks_q;
  logic                     asker_waits_q;
  time_t                    asked_time_q;
  logic                     asked_past_q;
  logic                     enters_q;
  flow_t                    enters_flow_q;
  departure_t               enters_departure_q;
  number_t                  ahead;
  logic                     beyond_q;
  logic       [BucketW-1:0] enters_bucket;

  assign request_ready_o = round_i[5] && asks_q && !moves;
  assign refused_o = request_ready_o && asker_waits_q;
  // The bucket of its time, or the last one; from clock 7 on.
  assign ahead = enters_departure_q.at.clocks[ClocksW-1:ClockW] - bucket_q;
  assign enters_bucket = beyond_q ? BucketW'(bucket_q) - 1'b1 : BucketW'(
      enters_departure_q.at.clocks[ClocksW-1:ClockW]
  );

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      asks_q   <= 1'b0;
      enters_q <= 1'b0;
    end else begin
      if (round_i[1]) asks_q <= request_valid_i;
      if (round_i[5]) enters_q <= moves || (asks_q && !asker_waits_q);
    end
  end

  always_ff @(posedge clk_i) begin
    if (round_i[3]) begin
      asker_waits_q <= departure.waits;
      asked_time_q  <= departure.at;
      asked_past_q  <= is_past(departure.at.clocks, now_q);
    end
    if (round_i[4] && asked_past_q) asked_time_q <= '{clocks: now_q, fraction: '0};
    if (round_i[5]) begin
      enters_flow_q <= moves ? present_q.head : request_flow_i;
      enters_departure_q <= '{
          waits: 1'b1,
          octets: moves ? present_octets_q : request_octets_i,
          at: moves ? present_time_q : asked_time_q
      };
    end
    if (round_i[6]) beyond_q <= ahead >= number_t'(Buckets);
  end

  // --- Times long past ---------------------------------------------------------------------------

  logic past_q;

  always_ff @(posedge clk_i) begin
    if (round_i[5]) past_q <= !departure.waits && is_past(departure.at.clocks, now_q);
  end

  // --- The memories ------------------------------------------------------------------------------

  logic                     bucket_write;
  logic       [BucketW-1:0] bucket_address;
  bucket_t                  bucket_data;
  logic       [BucketW-1:0] bucket_read;
  logic                     following_write;
  logic                     enters;
  logic                     departure_write;
  flow_t                    departure_address;
  departure_t               departure_data;
  flow_t                    departure_read;

  assign enters = round_i[9] && enters_q;
  assign bucket_read = round_i[7] ? enters_bucket : BucketW'(bucket_q);
  assign following_write = enters && bucket.any;

  always_comb begin
    bucket_write = clears_i || leaves || enters;
    bucket_address = BucketW'(bucket_q);
    bucket_data = '{
        any: present_q.head != present_q.tail,
        head: following_q,
        tail: present_q.tail
    };
    if (clears_i) begin
      bucket_address = BucketW'(clear_address_i);
      bucket_data    = '0;
    end
    if (round_i[9]) begin
      bucket_address = enters_bucket;
      bucket_data = '{
          any: 1'b1,
          head: bucket.any ? bucket.head : enters_flow_q,
          tail: enters_flow_q
      };
    end
  end

  always_comb begin
    departure_write   = clears_i || (round_i[6] && past_q) || (round_i[8] && goes_q) || enters;
    departure_address = sweep_flow_i;
    departure_data    = '{waits: 1'b0, octets: '0, at: '{clocks: now_q, fraction: '0}};
    if (clears_i) begin
      departure_address = FlowW'(clear_address_i);
    end
    if (round_i[8]) begin
      departure_address = present_q.head;
      departure_data.at = next_time;
    end
    if (round_i[9]) begin
      departure_address = enters_flow_q;
      departure_data    = enters_departure_q;
    end
  end

  always_comb begin
    departure_read = bucket.head;
    if (round_i[1]) departure_read = request_flow_i;
    if (round_i[3]) departure_read = sweep_flow_i;
  end

  flow_ram #(
      .Width($bits(bucket_t)),
      .Depth(Buckets)
  ) u_buckets (
      .clk_i,
      .write_i        (bucket_write),
      .write_address_i(bucket_address),
      .data_i         (bucket_data),
      .read_address_i (bucket_read),
      .data_o         (bucket)
  );

  // The flow behind each in its list.
  flow_ram #(
      .Width(FlowW),
      .Depth(Flows)
  ) u_following (
      .clk_i,
      .write_i        (following_write),
      .write_address_i(bucket.tail),
      .data_i         (enters_flow_q),
      .read_address_i (bucket.head),
      .data_o         (following)
  );

  flow_ram #(
      .Width($bits(departure_t)),
      .Depth(Flows)
  ) u_departures (
      .clk_i,
      .write_i        (departure_write),
      .write_address_i(departure_address),
      .data_i         (departure_data),
      .read_address_i (departure_read),
      .data_o         (departure)
  );

  flow_ram #(
      .Width(GapW),
      .Depth(Flows)
  ) u_gaps (
      .clk_i,
      .write_i        (gap_write_i),
      .write_address_i(gap_flow_i),
      .data_i         (gap_i),
      .read_address_i (bucket.head),
      .data_o         (gap)
  );

`ifdef FORMAL
  // Safety: each frame that waits is in the calendar once, or on its way from one bucket to another. So none is lost, and none goes
  // twice. The calendar passes no bucket with a flow in it, and no flow is in a bucket behind its time. Shown by a record
  // beside the memories: where each flow is, and how many are before it.
  // Assumed: the memories are those of flow_ram, the round comes as qcn_flows has it, a request stays until it is taken. Releases are
  // taken, and times renewed, before 2^29 clocks have passed, and a frame takes less.
  logic                     past_valid_q = 1'b0;
  round_t                   expected_round_q;
  logic                     clearing_q = 1'b1;
  logic       [ ClearW-1:0] clear_address_q;
  logic                     past_asks_q;
  flow_t                    past_request_flow_q;
  flow_t                    past_sweep_flow_q;

  bucket_t    [Buckets-1:0] buckets_q;
  bucket_t                  bucket_read_q;
  bucket_t                  bucket_shown_q;
  flow_t      [  Flows-1:0] followings_q;
  flow_t                    following_read_q;
  flow_t                    following_shown_q;
  departure_t [  Flows-1:0] departures_q;
  departure_t               departure_read_q;
  departure_t               departure_shown_q;

  always_ff @(posedge clk_i) begin
    if (bucket_write) buckets_q[bucket_address] <= bucket_data;
    bucket_read_q <= bucket_write && bucket_address == bucket_read ?
        ~buckets_q[bucket_read] : buckets_q[bucket_read];
    bucket_shown_q <= bucket_read_q;
    if (following_write) followings_q[bucket.tail] <= enters_flow_q;
    following_read_q <= following_write && bucket.tail == bucket.head ?
        ~followings_q[bucket.head] : followings_q[bucket.head];
    following_shown_q <= following_read_q;
    if (departure_write) departures_q[departure_address] <= departure_data;
    departure_read_q <= departure_write && departure_address == departure_read ?
        ~departures_q[departure_read] : departures_q[departure_read];
    departure_shown_q <= departure_read_q;
  end

  // Where each flow is: that it is in a bucket, which, and how many are before it; and how many a bucket has.
  logic [  Flows-1:0]              inside_q;
  logic [  Flows-1:0][BucketW-1:0] bucket_of_q;
  logic [  Flows-1:0][    FlowW:0] before_q;
  logic [Buckets-1:0][    FlowW:0] length_q;
  logic [Buckets-1:0][    FlowW:0] counted;
  // It is between two buckets.
  logic [  Flows-1:0]              going;
  logic [  Flows-1:0]              coming;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      inside_q <= '0;
      length_q <= '0;
    end else if (leaves) begin
      for (int unsigned n = 0; n < Flows; ++n) begin
        if (bucket_of_q[n] == BucketW'(bucket_q)) before_q[n] <= before_q[n] - 1'b1;
      end
      inside_q[present_q.head]     <= 1'b0;
      length_q[BucketW'(bucket_q)] <= length_q[BucketW'(bucket_q)] - 1'b1;
    end else if (enters) begin
      inside_q[enters_flow_q]    <= 1'b1;
      bucket_of_q[enters_flow_q] <= enters_bucket;
      before_q[enters_flow_q]    <= length_q[enters_bucket];
      length_q[enters_bucket]  <= length_q[enters_bucket] + 1'b1;
    end
  end

  always_comb begin
    counted = '0;
    for (int unsigned n = 0; n < Flows; ++n) begin
      counted[bucket_of_q[n]] += (FlowW + 1)'(inside_q[n]);
      going[n]  = goes_q && (round_i & 10'h1c0) != '0 && present_q.head == flow_t'(n);
      coming[n] = enters_q && (round_i & 10'h3c0) != '0 && enters_flow_q == flow_t'(n);
    end
  end

  // The number of a bucket in this turn or the next.
  function automatic number_t turn_of(input logic [BucketW-1:0] b);
    logic [BucketW-1:0] offset;
    offset = b - BucketW'(bucket_q);
    return bucket_q + number_t'(offset);
  endfunction

  function automatic logic not_behind(input number_t number, input number_t other);
    number_t beyond;
    beyond = number - other;
    return !beyond[NumberW-1];
  endfunction

  // A flow, any.
  flow_t   watched_q;
  time_t   watched_at;
  bucket_t at_hand;
  number_t lag;
  clocks_t asked_ahead;
  clocks_t taken;
  assign watched_at = departures_q[watched_q].at;
  assign at_hand = buckets_q[BucketW'(bucket_q)];
  assign lag = now_q[ClocksW-1:ClockW] - bucket_q;
  assign asked_ahead = departure.at.clocks - now_q;
  assign taken = next_time.clocks - present_time_q.clocks;

  always_ff @(posedge clk_i) begin
    past_valid_q <= 1'b1;
    watched_q    <= watched_q;
    if (rst_i) begin
      expected_round_q <= '0;
      clearing_q       <= 1'b1;
      clear_address_q  <= '0;
    end else begin
      if (clearing_q) clear_address_q <= clear_address_q + 1'b1;
      if (clearing_q && clear_address_q == '1) clearing_q <= 1'b0;
      expected_round_q <= {
        expected_round_q[8:0], expected_round_q[9] || (clearing_q && clear_address_q == '1)
      };
    end
    past_asks_q         <= request_valid_i && !request_ready_o && !rst_i;
    past_request_flow_q <= request_flow_i;
    past_sweep_flow_q   <= sweep_flow_i;
    if (!past_valid_q) assume (rst_i);
    if (past_valid_q) begin
      assume (round_i == expected_round_q);
      assume (clears_i == clearing_q && clear_address_i == clear_address_q);
      assume (bucket == bucket_shown_q);
      assume (following == following_shown_q);
      assume (departure == departure_shown_q);
      if (past_asks_q) assume (request_valid_i && request_flow_i == past_request_flow_q);
      if (!round_i[0]) assume (sweep_flow_i == past_sweep_flow_q);
      assume (lag < number_t'(1) << (NumberW - 3));
      if (round_i[3]) assume (asked_ahead + (clocks_t'(1) << 29) < clocks_t'(1) << 30);
      if (round_i[8]) assume (taken < clocks_t'(1) << 29);

      assert (clearing_q ? expected_round_q == '0 : $onehot(expected_round_q));
      for (int unsigned b = 0; b < Buckets; ++b) begin
        assert (length_q[b] == counted[b]);
        if (!clearing_q || b < 32'(clear_address_q))
          assert (buckets_q[b].any == (length_q[b] != '0));
        if (length_q[b] != '0) begin
          assert (inside_q[buckets_q[b].head] && inside_q[buckets_q[b].tail]);
          assert (bucket_of_q[buckets_q[b].head] == BucketW'(b));
          assert (bucket_of_q[buckets_q[b].tail] == BucketW'(b));
          assert (before_q[buckets_q[b].head] == '0);
          assert (before_q[buckets_q[b].tail] == length_q[b] - 1'b1);
        end
      end
      for (int unsigned n = 0; n < Flows; ++n) begin
        if (clearing_q) begin
          assert (!inside_q[n]);
          if (n < 32'(clear_address_q)) assert (!departures_q[n].waits);
        end else begin
          // What waits is there once, and what does not wait is not there.
          assert ($onehot0({inside_q[n], going[n], coming[n]}));
          if (departures_q[n].waits) assert (inside_q[n] || going[n] || coming[n]);
          if (!departures_q[n].waits) assert (!inside_q[n]);
        end
        if (inside_q[n]) begin
          assert (before_q[n] < length_q[bucket_of_q[n]]);
          if (before_q[n] != length_q[bucket_of_q[n]] - 1'b1) begin
            assert (inside_q[followings_q[n]]);
            assert (bucket_of_q[followings_q[n]] == bucket_of_q[n]);
            assert (before_q[followings_q[n]] == before_q[n] + 1'b1);
          end
          for (int unsigned m = 0; m < Flows; ++m) begin
            if (m != n && inside_q[m] && bucket_of_q[m] == bucket_of_q[n])
              assert (before_q[m] != before_q[n]);
          end
        end
      end
      // In no bucket behind its time.
      if (inside_q[watched_q])
        assert (not_behind(watched_at.clocks[ClocksW-1:ClockW], turn_of(bucket_of_q[watched_q])));

      // What is on its way through the round.
      if (round_i[1]) assert (bucket_read_q == at_hand);
      if (round_i[2]) assert (bucket_shown_q == at_hand);
      if ((round_i & 10'h038) != '0) assert (present_q == at_hand);
      if (round_i[3]) begin
        assert (following_read_q == followings_q[present_q.head]);
        assert (departure_read_q == departures_q[present_q.head]);
      end
      if (round_i[4]) begin
        assert (following_shown_q == followings_q[present_q.head]);
        assert (departure_shown_q == departures_q[present_q.head]);
        assert (departure_read_q == departures_q[sweep_flow_i]);
      end
      if (round_i[5]) begin
        assert (following_q == followings_q[present_q.head]);
        assert (present_time_q == departures_q[present_q.head].at);
        assert (due_q == reached(present_time_q.clocks, now_q));
        assert (this_turn_q == (present_time_q.clocks[ClocksW-1:ClockW] == bucket_q));
        assert (behind_q == (lag != '0));
        assert (departure_shown_q == departures_q[sweep_flow_i]);
      end
      if (round_i[6] && past_q) assert (!departures_q[sweep_flow_i].waits);
      if ((round_i & 10'h03c) != '0 && asks_q) begin
        assert (past_asks_q);
        if (round_i[2]) assert (departure_read_q == departures_q[request_flow_i]);
        if (round_i[3]) assert (departure_shown_q == departures_q[request_flow_i]);
        if ((round_i & 10'h030) != '0) assert (asker_waits_q == departures_q[request_flow_i].waits);
        if (round_i[4]) begin
          assert (asked_past_q == is_past(asked_time_q.clocks, now_q));
          assert (asked_time_q.clocks - now_q + (clocks_t'(1) << 29) < clocks_t'(1) << 30);
        end
        if (round_i[5]) assert (asked_time_q.clocks - now_q < clocks_t'(1) << 29);
      end
      if ((round_i & 10'h1c0) != '0 && goes_q) assert (departures_q[present_q.head].waits);
      if ((round_i & 10'h3c0) != '0 && enters_q) assert (enters_departure_q.waits);
      if ((round_i & 10'h3c0) != '0 && coming[watched_q]) begin
        assert (not_behind(enters_departure_q.at.clocks[ClocksW-1:ClockW], bucket_q));
        if (!round_i[6]) begin
          assert (
              not_behind(enters_departure_q.at.clocks[ClocksW-1:ClockW], turn_of(enters_bucket)));
        end
      end
      if (round_i[8]) assert (bucket_read_q == buckets_q[enters_bucket]);
      if (round_i[9]) assert (bucket_shown_q == buckets_q[enters_bucket]);

      if (advances) assert (length_q[BucketW'(bucket_q)] == '0);
      if (goes)
        assert (inside_q[present_q.head] && reached(departures_q[present_q.head].at.clocks, now_q));
    end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (past_valid_q && !rst_i) begin
      cover (goes);
      cover (refused_o);
    end
  end
`endif
endmodule

`default_nettype wire
