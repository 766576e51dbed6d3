// SPDX-License-Identifier: Apache-2.0
//
// Delay line: each beat of a stream leaves a settable number of clocks after it came, so order and gaps are kept: a longer
// line. (Kabbani and Yasuda 2010, section 3.2: an SRAM-implemented circular FIFO that mimics links with larger delays)
//
// A beat is stored with the time at which it is to leave, in a memory behind a port: one write and one read a clock, a read
// answered after ReadClocks. Like a line it never says no: a frame for which the memory may have no room is dropped whole
// and counted. A beat leaves later only if m_axis_tready is low; one that is due stays due, however long that is.
//
// Latency: delay_i clocks from s_axis to m_axis, at least ReadClocks + 4. Throughput: a beat a clock.

`default_nettype none

module delay_line
  import penstock_pkg::*;
#(
  // Beats that the memory holds, a power of two, 64 to 2^24.
  parameter int unsigned Words = 65_536,
  // Bits of a time: the longest delay is 2^(StampW − 1) − 1 clocks. 8 to 32.
  parameter int unsigned StampW = 24,
  // Clocks from a read to its data, 1 to 8.
  parameter int unsigned ReadClocks = 2,
  // The longest frame, beats; one that is longer is cut there and marked bad. At most Words / 4.
  parameter int unsigned MaxBeats = 192,
  // Bits of an address and of a word; not to be set.
  parameter int unsigned AddressW = $clog2(Words),
  parameter int unsigned WordW = StampW + DataW + BeatCountW + 2
) (
  input var logic clk_i,
  input var logic rst_i,

  // Delay in clocks, for beats that come from the next clock on.
  input var logic [StampW-2:0] delay_i,

  // In: tready is always high.
  input var  axis_t s_axis,
  input var  logic  s_axis_tvalid,
  output var logic  s_axis_tready,

  output var axis_t m_axis,
  output var logic  m_axis_tvalid,
  input var  logic  m_axis_tready,

  // The memory.
  output var logic                mem_write_o,
  output var logic [AddressW-1:0] mem_write_address_o,
  output var logic [   WordW-1:0] mem_write_data_o,
  output var logic                mem_read_o,
  output var logic [AddressW-1:0] mem_read_address_o,
  input var  logic [   WordW-1:0] mem_read_data_i,

  // Beats in the memory; frames dropped for lack of room, and cut for their length; beats that left late.
  output var logic [AddressW:0] words_o,
  output var logic [      31:0] dropped_o,
  output var logic [      31:0] cut_o,
  output var logic [      31:0] late_o
);
  // From the clock of a beat to the first in which it can be the next to leave.
  localparam int unsigned LeastDelay = ReadClocks + 4;
  // Beats read ahead: as many as are in flight, and those needed to continue meanwhile.
  localparam int unsigned Prefetch = ReadClocks + 5;
  localparam int unsigned PrefetchW = 4;
  localparam int unsigned BeatW = $clog2(MaxBeats + 1);

  if (Words < 64 || Words > (1 << 24) || (Words & (Words - 1)) != 0) begin : gen_bad_words
    $fatal(0, "Words is a power of two, 64 to 2^24 (instance %m)");
  end
  if (StampW < 8 || StampW > 32) begin : gen_bad_stamp
    $fatal(0, "StampW is 8 to 32 (instance %m)");
  end
  if (ReadClocks < 1 || ReadClocks > 8) begin : gen_bad_read
    $fatal(0, "ReadClocks is 1 to 8 (instance %m)");
  end
  if (MaxBeats < 2 || MaxBeats > Words / 4) begin : gen_bad_beats
    $fatal(0, "MaxBeats is 2 to Words / 4 (instance %m)");
  end

  typedef struct packed {
    logic [StampW-1:0] due;
    logic [DataW-1:0]  data;
    beat_count_t       octets;
    logic              last;
    logic              user;
  } word_t;

  logic [StampW-1:0] now_q;
  logic [StampW-1:0] delay_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) now_q <= '0;
    else now_q <= now_q + 1'b1;
    // The beat that leaves in clock n is chosen in the clock before.
    if (32'(delay_i) < LeastDelay) delay_q <= StampW'(LeastDelay - 1);
    else delay_q <= StampW'(delay_i) - 1'b1;
  end

  // In: a frame is taken if there is room for the longest one.
  logic        [AddressW:0] write_q;
  logic        [AddressW:0] read_q;
  logic                     room_q;
  logic                     in_frame_q;
  logic                     dropping_q;
  logic        [ BeatW-1:0] beats_q;
  logic                     truncates;
  logic                     too_long;
  logic                     stores;
  beat_count_t              octets;
  word_t                    word_q;

  assign s_axis_tready = 1'b1;
  assign too_long      = in_frame_q && 32'(beats_q) == MaxBeats - 1;
  assign truncates     = s_axis_tvalid && too_long && !dropping_q && !s_axis.last;
  assign stores        = s_axis_tvalid && (in_frame_q ? !dropping_q : room_q);

  always_comb begin
    octets = '0;
    for (int unsigned i = 1; i < BeatOctets; ++i) if (s_axis.keep[i]) octets = beat_count_t'(i);
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      room_q      <= 1'b1;
      in_frame_q  <= 1'b0;
      dropping_q  <= 1'b0;
      mem_write_o <= 1'b0;
      write_q     <= '0;
    end else begin
      // Three more may be in flight when this is seen.
      room_q      <= 32'(words_o) <= Words - MaxBeats - 3;
      mem_write_o <= stores;
      if (mem_write_o) write_q <= write_q + 1'b1;
      if (s_axis_tvalid) begin
        in_frame_q <= !s_axis.last;
        if (!in_frame_q) begin
          dropping_q <= !room_q;
        end else if (truncates) begin
          dropping_q <= 1'b1;
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (s_axis_tvalid) beats_q <= !in_frame_q ? BeatW'(1) : beats_q + 1'b1;
    word_q.due    <= now_q + delay_q;
    word_q.data   <= s_axis.data;
    word_q.octets <= octets;
    word_q.last   <= s_axis.last || too_long;
    word_q.user   <= s_axis.last ? s_axis.user : too_long;
  end

  event_counter u_dropped (
      .clk_i,
      .rst_i,
      .valid_i (s_axis_tvalid && !in_frame_q && !room_q),
      .amount_i(1'b1),
      .count_o (dropped_o)
  );

  event_counter u_cut (
      .clk_i,
      .rst_i,
      .valid_i (truncates),
      .amount_i(1'b1),
      .count_o (cut_o)
  );

  assign words_o             = write_q - read_q;
  assign mem_write_address_o = write_q[AddressW-1:0];
  assign mem_write_data_o    = word_q;

  // Out: read ahead into a small FIFO, so that the next beat is at hand when its time comes.
  word_t                  prefetch_q       [1 << PrefetchW];
  logic  [ PrefetchW-1:0] prefetch_write_q;
  logic  [ PrefetchW-1:0] prefetch_read_q;
  logic  [ PrefetchW-1:0] prefetched_q;
  logic  [ReadClocks-1:0] reading_q;
  // The address after the next one to be read; whether there is something to be read.
  logic  [    AddressW:0] read_next_q;
  logic                   not_empty_q;
  word_t                  head;
  logic  [    StampW-1:0] age;
  logic                   overdue;
  logic                   due_q;
  logic                   departed_q;
  // The inverse, for the next beat only: departed_q drives many counters.
  logic                   not_departed_q;
  logic                   head_due;
  logic                   space;
  logic                   pop;

  assign mem_read_o = not_empty_q && 32'(prefetched_q) < Prefetch;
  assign mem_read_address_o = read_q[AddressW-1:0];
  assign head = prefetch_q[prefetch_read_q];
  assign age = now_q - head.due;
  assign head_due = prefetch_read_q != prefetch_write_q && (due_q || overdue || !age[StampW-1]);
  assign space = !m_axis_tvalid || m_axis_tready;
  assign pop = head_due && space;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      read_q           <= '0;
      read_next_q      <= (AddressW + 1)'(1);
      not_empty_q      <= 1'b0;
      departed_q       <= 1'b0;
      not_departed_q   <= 1'b1;
      prefetch_write_q <= '0;
      prefetch_read_q  <= '0;
      prefetched_q     <= '0;
      reading_q        <= '0;
      due_q            <= 1'b0;
    end else begin
      if (mem_read_o) begin
        read_q <= read_next_q;
        read_next_q <= read_next_q + 1'b1;
      end
      not_empty_q <= mem_write_o || (mem_read_o ? read_next_q != write_q : not_empty_q);
      reading_q   <= ReadClocks'({reading_q, mem_read_o});
      if (reading_q[ReadClocks-1]) prefetch_write_q <= prefetch_write_q + 1'b1;
      if (pop) prefetch_read_q <= prefetch_read_q + 1'b1;
      // Words read and not yet sent, counted one clock late.
      departed_q    <= pop;
      not_departed_q   <= !pop;
      prefetched_q  <= prefetched_q + PrefetchW'(mem_read_o) - PrefetchW'(departed_q);
      // A beat that was due stays due, however long it waits.
      due_q    <= head_due && !pop;
    end
  end

  // A stamp tells early from late for half its range alone, and a sink may stall for longer. So the time is cut into spans of
  // that half. A beat that came before the last whole span is due, and so is one that came before this span with a time of
  // that one. A beat counts in the clock in which it is written, one after it came: one that comes in a span's last clock is
  // of the next.
  typedef logic [AddressW+1:0] count_t;
  // Beats in the line; those of them that came before this span, and before the last one. The beat that left in the clock
  // before is still in all of these that it was in, for whether one leaves is known late. And: there are some, and more than one.
  count_t stored_q;
  count_t older_q;
  count_t oldest_q;
  logic   older_any_q;
  logic   older_many_q;
  logic   oldest_any_q;
  logic   oldest_many_q;
  logic   span_ends;
  // The same without that beat.
  count_t stored_next;
  count_t older_next;
  count_t oldest_next;
  logic   stored_any;
  logic   stored_many;
  logic   older_any;
  logic   older_many;
  logic   oldest_any;
  logic   oldest_many;

  assign span_ends = &now_q[StampW-2:0];
  assign overdue = (not_departed_q ? oldest_any_q : oldest_many_q) ||
      ((not_departed_q ? older_any_q : older_many_q) && head.due[StampW-1] != now_q[StampW-1]);

  assign older_next = older_q - count_t'(departed_q && older_any_q);
  assign older_any = departed_q ? older_many_q : older_any_q;
  assign older_many = departed_q ? older_q > count_t'(2) : older_many_q;
  assign oldest_next = oldest_q - count_t'(departed_q && oldest_any_q);
  assign oldest_any = departed_q ? oldest_many_q : oldest_any_q;
  assign oldest_many = departed_q ? oldest_q > count_t'(2) : oldest_many_q;

  // With a beat that is written.
  always_comb begin
    case ({
      mem_write_o, departed_q
    })
      2'b10: begin
        stored_next = stored_q + count_t'(1);
        stored_any  = 1'b1;
        stored_many = stored_q != '0;
      end
      2'b01: begin
        stored_next = stored_q - count_t'(1);
        stored_any  = stored_q > count_t'(1);
        stored_many = stored_q > count_t'(2);
      end
      default: begin
        stored_next = stored_q;
        stored_any  = stored_q != '0;
        stored_many = stored_q > count_t'(1);
      end
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      stored_q      <= '0;
      older_q       <= '0;
      older_any_q   <= 1'b0;
      older_many_q  <= 1'b0;
      oldest_q      <= '0;
      oldest_any_q  <= 1'b0;
      oldest_many_q <= 1'b0;
    end else begin
      stored_q      <= stored_next;
      older_q       <= span_ends ? stored_next : older_next;
      older_any_q   <= span_ends ? stored_any : older_any;
      older_many_q  <= span_ends ? stored_many : older_many;
      oldest_q      <= span_ends ? older_next : oldest_next;
      oldest_any_q  <= span_ends ? older_any : oldest_any;
      oldest_many_q <= span_ends ? older_many : oldest_many;
    end
  end

  // The head is late if it leaves. Counted a clock later, for whether it leaves is known late.
  logic late_q;
  always_ff @(posedge clk_i) late_q <= due_q || overdue || now_q != head.due;

  event_counter u_late (
      .clk_i,
      .rst_i,
      .valid_i (departed_q && late_q),
      .amount_i(1'b1),
      .count_o (late_o)
  );

  always_ff @(posedge clk_i) begin
    if (reading_q[ReadClocks-1]) prefetch_q[prefetch_write_q] <= mem_read_data_i;
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) m_axis_tvalid <= 1'b0;
    else if (space) m_axis_tvalid <= head_due;
  end

  always_ff @(posedge clk_i) begin
    if (space) begin
      m_axis.data <= head.data;
      m_axis.keep <= keep_of(head.octets);
      m_axis.last <= head.last;
      m_axis.user <= head.user;
    end
  end

`ifdef FORMAL
  // Safety: the memory never runs over, no beat is read that is not there, no frame is longer than allowed.
  logic [1:0] early_q = '1;
  logic past_held_q;
  axis_t past_beat_q;
  logic [PrefetchW-1:0] on_way;
  logic [PrefetchW-1:0] held;

  assign held = prefetch_write_q - prefetch_read_q;
  always_comb begin
    on_way = '0;
    for (int unsigned i = 0; i < ReadClocks; ++i) on_way += PrefetchW'(reading_q[i]);
  end

  always_ff @(posedge clk_i) begin
    if (early_q != '0) early_q <= early_q - 1'b1;
    past_held_q <= m_axis_tvalid && !m_axis_tready && !rst_i;
    past_beat_q <= m_axis;
    if (early_q > 2'd1)
      assume (rst_i);
      else begin
        // Words of the arriving frame have their slots.
        assert (32'(words_o) + 32'(mem_write_o) <= Words);
        if (in_frame_q && !dropping_q) begin
          assert (32'(beats_q) >= 1 && 32'(beats_q) < MaxBeats);
          assert (32'(words_o) + 32'(mem_write_o) + MaxBeats - 32'(beats_q) <= Words);
        end
        if (room_q) assert (32'(words_o) + 32'(mem_write_o) + MaxBeats <= Words);
        if (mem_write_o && mem_read_o) assert (mem_write_address_o != mem_read_address_o);
        assert (read_next_q == read_q + 1'b1 && not_empty_q == (read_q != write_q));
        assert (32'(held) + 32'(on_way) + 32'(departed_q) == 32'(prefetched_q));
        assert (32'(prefetched_q) <= Prefetch && on_way <= prefetched_q);
        assert (not_departed_q != departed_q);
        // The beats that are counted by the time at which they came are in the line.
        assert (32'(stored_q) == 32'(words_o) + 32'(prefetched_q));
        assert (older_q <= stored_q && oldest_q <= older_q);
        assert (older_any_q == (older_q != '0) && older_many_q == (older_q > count_t'(1)));
        assert (oldest_any_q == (oldest_q != '0));
        assert (oldest_many_q == (oldest_q > count_t'(1)));
        if (past_held_q) assert (m_axis_tvalid && m_axis == past_beat_q);
      end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (early_q == '0) begin
      cover (past_held_q && m_axis_tready && m_axis.last);
      cover (dropping_q);
    end
  end
`endif
endmodule

`default_nettype wire
