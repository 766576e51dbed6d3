// SPDX-License-Identifier: Apache-2.0
//
// Output port: a stream onto a line at a rate in bit/s, exact on average, that a schedule changes. (Kabbani and Yasuda
// 2010, section 4.1: the switch's service rate goes from 0.95 to 0.2 Gb/s and back)
//
// A frame occupies the line for (octets + LineOctets) × 8 / rate, octets with check sequence and at least 64, at the rate
// that holds when it starts. The rest of its last clock counts for the next frame, if that waits. So frames start in
// the first clock at or after their start on an ideal line, however long the line is busy.
//
// Latency: a beat is at m_axis in the clock after the one in which it is taken; a frame that finds the line free is taken
// in the clock in which it is shown. Throughput: the beats of a frame a clock each, however slow the line is; the next frame
// waits, three clocks behind the last beat at least. Exact for all lengths up to 64 bits a clock, as fast as beats come, with the
// 20 octets of Ethernet; with fewer OctetsOnLine, up to 64 bits a clock less those three clocks.

`default_nettype none

module output_port
  import penstock_pkg::*;
  import cn_frame_pkg::*;
#(
  // Clock rate, Hz, up to 2^29.
  parameter int unsigned ClockHz = 125_000_000,
  // Octets that a frame takes on the line beside its own: 20 on Ethernet, 0 as the papers count.
  parameter int unsigned OctetsOnLine = LineOctets,
  // Changes of the rate, 1 to 16.
  parameter int unsigned Entries = 4,
  // A frame that comes this many clocks late still counts as back to back: an arbiter that waits for free_o takes
  // as many. With free_soon_o it needs none.
  parameter int unsigned Slack = 0,
  // Bits of a number of entries; not to be set.
  parameter int unsigned EntryW = unsigned'($clog2(Entries + 1))
) (
  input var logic clk_i,
  input var logic rst_i,

  // The rate from the beginning on, and its changes in the order of their times: for frames that start in clock
  // schedule_at_i + 3 or later it is schedule_rate_i. 0 closes the line, and so does a rate above the highest: it is refused,
  // and rate_o says 0.
  input var  rate_t                          rate_i,
  input var  logic  [ EntryW-1:0]            schedule_entries_i,
  input var  logic  [Entries-1:0][     47:0] schedule_at_i,
  input var  logic  [Entries-1:0][RateW-1:0] schedule_rate_i,
  // The time in clocks, one more each clock.
  input var  logic  [       47:0]            now_i,
  output var rate_t                          rate_o,

  // No frame starts in the clock after one in which this is high. Whether one could start: the line is free. And whether it
  // gets free within 4 clocks or is: an arbiter that chooses now has the next frame here in time.
  input var  logic hold_i,
  output var logic free_o,
  output var logic free_soon_o,

  input var  axis_t s_axis,
  input var  logic  s_axis_tvalid,
  output var logic  s_axis_tready,

  output var axis_t m_axis,
  output var logic  m_axis_tvalid,
  input var  logic  m_axis_tready,

  // A frame starts; the frames that have been sent, and their octets with check sequence.
  output var logic        start_o,
  output var logic [31:0] frames_o,
  output var logic [47:0] octets_o
);
  // Work on the line in bit × Hz: an octet is 8 × ClockHz of it, and a clock does as many as the rate is bit/s.
  localparam int unsigned WorkW = 50;
  localparam int unsigned LateW = unsigned'($clog2(Slack + 2));
  typedef logic signed [WorkW-1:0] work_t;
  localparam work_t OctetWork = work_t'(ClockHz) * 8;
  localparam int unsigned FirstOctets = MinOctets + FcsOctets + OctetsOnLine;
  localparam work_t FirstWork = OctetWork * work_t'(FirstOctets);
  // That of a whole beat.
  localparam work_t WholeWork = OctetWork * 8;

  // The highest rate that frames of all lengths can have, bit/s. It is that of the beats, or, with few octets on the line, that of
  // the least efficient frames: nine beats of which the last has one octet. There are 11 clocks from one to the next, and until the
  // last beat has taken back what it lacks the line must be busy with the octets in front of that beat.
  localparam int unsigned WastefulOctets = 64 + FcsOctets + OctetsOnLine;
  localparam longint unsigned BeatsRate = 64'd64 * 64'(ClockHz);
  localparam longint unsigned FramesRate = 64'd8 * 64'(WastefulOctets) * 64'(ClockHz) / 64'd11;
  localparam longint unsigned HighestRate = FramesRate < BeatsRate ? FramesRate : BeatsRate;
  localparam rate_t Highest = HighestRate >> RateW != 0 ? '1 : rate_t'(HighestRate);

  if (ClockHz < 1 || ClockHz > (1 << 29)) begin : gen_bad_clock
    $fatal(0, "ClockHz is 1 to 2^29 (instance %m)");
  end
  if (OctetsOnLine > 64) begin : gen_bad_line
    $fatal(0, "OctetsOnLine is at most 64 (instance %m)");
  end
  if (DataW != 64) begin : gen_bad_width
    $fatal(0, "DataW is 64; output_port_wide is for more (instance %m)");
  end
  if (Slack > 15) begin : gen_bad_slack
    $fatal(0, "Slack is at most 15 (instance %m)");
  end

  rate_t scheduled_q;
  logic  scheduled_open_q;

  output_schedule #(
      .Entries(Entries),
      .Highest(Highest)
  ) u_schedule (
      .clk_i,
      .rst_i,
      .rate_i,
      .schedule_entries_i,
      .schedule_at_i,
      .schedule_rate_i,
      .now_i,
      .rate_o(scheduled_q),
      .open_o(scheduled_open_q)
  );

  // The rate, and the first work of a frame, less that of the clock in which it starts.
  rate_t rate_q;
  logic  open_q;
  work_t start_work_q;
  // A reset of one clock sets all of them: rate_o is known from the next clock on. The reset comes late in a clock of a
  // switch that stops its ports, so that it stands behind the subtraction.
  rate_t first_rate;
  assign first_rate = scheduled_open_q ? scheduled_q : '0;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      open_q       <= 1'b0;
      rate_q       <= '0;
      start_work_q <= FirstWork;
    end else begin
      open_q       <= scheduled_open_q;
      rate_q       <= first_rate;
      start_work_q <= FirstWork - work_t'(first_rate);
    end
  end

  assign rate_o = rate_q;

  // A frame starts with the work of the shortest frame. Its other work is added three clocks after a beat announces it:
  // a beat that is not the last announces a whole one behind it, and the last one subtracts the octets that it lacks. So all
  // work of a frame is counted before the work in front of it is done, at 64 bits a clock too, its last octet with its end.
  logic in_frame_q;
  logic tail_q;
  // Neither within a frame nor in the two clocks behind its last beat.
  logic idle_q;
  logic space;
  // A frame starts if the line is free.
  logic may_start;
  logic start;
  logic taken;
  logic continues;
  logic [2:0] beats_q;
  // The next beat is a frame's eighth, or one behind that.
  logic eighth_beat;
  logic long_q;
  logic [BeatCountW:0] octets;
  logic [3:0] octets_q;

  assign octets = octets_of(s_axis.keep);

  always_ff @(posedge clk_i) octets_q <= 4'(octets);

  // The octets that a beat announces, in two's complement: -7 to -1, 0, 1 to 4 and 8. The 12 of an eighth beat that is
  // not the last is coded as 5, so that four bits are enough.
  typedef logic [3:0] octet_change_t;
  localparam octet_change_t ChangeTwelve = 4'd5;
  localparam octet_change_t ChangeWhole = 4'd8;
  octet_change_t octet_change;
  octet_change_t octet_change_q;

  assign eighth_beat = beats_q == '1;

  // Without carries: eight less is another highest bit, and of 4 to 8 octets four less is the 8 as a 4.
  always_comb begin
    if (!s_axis.last) octet_change = long_q ? ChangeWhole : ChangeTwelve;
    else if (long_q) octet_change = octets[3] ? '0 : {1'b1, octets[2:0]};
    else octet_change = octets[3:2] != '0 ? {1'b0, octets[3], octets[1:0]} : '0;
  end

  always_ff @(posedge clk_i) begin
    // Beats that came before are no work of a frame that starts behind the reset.
    if (rst_i || !continues || !(long_q || eighth_beat)) octet_change_q <= '0;
    else octet_change_q <= octet_change;
  end

  // As a table: a multiplication by a constant of so few values needs no multiplier.
  work_t cost;

  always_comb begin
    cost = '0;
    for (int i = -7; i <= 8; ++i) begin
      if (octet_change_q == octet_change_t'(i)) cost = OctetWork * work_t'(i);
    end
    if (octet_change_q == ChangeTwelve) cost = OctetWork * 12;
  end

  // The work left on the line, less 1: negative when the line is free.
  work_t             work_q;
  work_t             work;
  // That if no frame starts: whether there is room needs no more, for a frame that starts leaves its line busy, and not too much.
  work_t             work_rest;
  // busy_q: the work is not negative. A separate register, since the sign drives wide multiplexers. ready_q: there is room for a
  // beat: within a frame if the work is not too much, else if a frame may start.
  logic              busy_q;
  logic              ready_q;
  // The line is open, and nobody holds it.
  logic              allowed;
  logic              allowed_q;
  logic              too_much_work;
  logic              in_frame;
  logic              idle;
  logic              line_done;
  work_t             work_at_start;
  work_t             work_diff;
  work_t             delta_q;
  rate_t             frame_rate_q;
  rate_t             running_rate;
  logic              done;
  logic              line_free;
  logic              back_to_back_q;
  logic              rate_changed_q;
  logic  [LateW-1:0] late_q;
  // The last beat takes work back. It came so late that this was done while the line waited for it: then the frame leaves
  // nothing over.
  logic              shorter_q;
  logic              underrun_q;
  logic              back_to_back;

  assign done          = work_q[WorkW-1];
  assign line_done     = done && idle_q;
  assign line_free     = !busy_q && idle_q;
  assign space         = !m_axis_tvalid || m_axis_tready;
  assign may_start     = allowed_q && space && s_axis_tvalid;
  assign start         = line_free && may_start;
  // A frame of more than 2^48 / (8 ClockHz) octets, 280 KB at 125 MHz, goes no faster than the line, so that its work is bounded.
  assign s_axis_tready = space && ready_q;
  assign taken         = s_axis_tvalid && s_axis_tready;
  // A beat behind a frame's first, by itself, for the first takes longer to decide.
  assign continues     = in_frame_q && s_axis_tvalid && space && ready_q;
  assign running_rate  = line_done ? rate_q : frame_rate_q;
  // The work if a frame starts, and if none does: side by side, so that neither waits for the other. The rest of a
  // clock counts if the next frame waits for the line, or came hardly too late, and goes at the same rate.
  assign back_to_back  = back_to_back_q && !underrun_q;
  assign work_at_start = (back_to_back && !rate_changed_q ? work_q : work_t'(-1)) + start_work_q;
  assign work_diff     = (done && (!line_done || rate_changed_q) ? work_t'(-1) : work_q) + delta_q;

  assign in_frame      = taken ? !s_axis.last : in_frame_q;
  assign idle          = !taken && !in_frame_q && !tail_q;
  assign allowed       = scheduled_open_q && !hold_i;
  assign too_much_work = !work_rest[WorkW-1] && work_rest[WorkW-2];
  assign work_rest     = !line_done || (back_to_back && late_q != '0) ? work_diff : work_t'(-1);
  assign work          = line_done && may_start ? work_at_start : work_rest;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      in_frame_q     <= 1'b0;
      tail_q         <= 1'b0;
      idle_q         <= 1'b1;
      work_q         <= work_t'(-1);
      busy_q         <= 1'b0;
      ready_q        <= 1'b0;
      allowed_q      <= 1'b0;
      back_to_back_q <= 1'b0;
      late_q         <= '0;
      shorter_q      <= 1'b0;
      underrun_q     <= 1'b0;
    end else begin
      shorter_q <= octet_change_q[3] && octet_change_q != ChangeWhole;
      if (start) underrun_q <= 1'b0;
      else if (shorter_q && work_q < WholeWork) underrun_q <= 1'b1;
      in_frame_q <= in_frame;
      tail_q <= taken && s_axis.last;
      idle_q <= idle;
      work_q <= work;
      busy_q <= !work[WorkW-1];
      allowed_q <= allowed;
      ready_q <= in_frame ? !too_much_work : work_rest[WorkW-1] && idle && allowed;
      // In the clock in which the line gets free: whether a frame has waited for it. After that: whether there is time.
      if (!line_free || may_start) begin
        back_to_back_q <= Slack != 0 || s_axis_tvalid;
        late_q    <= LateW'(Slack);
      end else begin
        back_to_back_q <= back_to_back_q && late_q != '0;
        if (late_q != '0) late_q <= late_q - 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (start) frame_rate_q <= rate_q;
    if (!in_frame_q) begin
      beats_q <= 3'd1;
      long_q  <= 1'b0;
    end else if (continues) begin
      beats_q <= beats_q + 1'b1;
      if (eighth_beat) long_q <= 1'b1;
    end
    rate_changed_q <= scheduled_q != frame_rate_q;
    delta_q <= cost - work_t'(running_rate);
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) m_axis_tvalid <= 1'b0;
    else if (space) m_axis_tvalid <= taken;
  end

  always_ff @(posedge clk_i) begin
    if (space) begin
      m_axis <= s_axis;
    end
  end

  // Counters, which stay at their highest numbers. They count a beat when its octets are known.
  logic       taken_q;
  logic       last_q;
  logic       count_q;
  logic       count_last_q;
  logic [3:0] count_octets_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      taken_q      <= 1'b0;
      last_q       <= 1'b0;
      count_q      <= 1'b0;
      count_last_q <= 1'b0;
    end else begin
      taken_q      <= taken;
      last_q       <= taken && s_axis.last;
      count_q      <= taken_q;
      count_last_q <= last_q;
    end
    count_octets_q <= octets_q + (last_q ? 4'(FcsOctets) : '0);
  end

  event_counter u_frames (
      .clk_i,
      .rst_i,
      .valid_i (count_last_q),
      .amount_i(1'b1),
      .count_o (frames_o)
  );

  event_counter #(
      .Width  (48),
      .AmountW(4)
  ) u_octets (
      .clk_i,
      .rst_i,
      .valid_i (count_q),
      .amount_i(count_octets_q),
      .count_o (octets_o)
  );

  // Whether the work that was left a clock ago is done in 4 clocks, on a line that is open: a register, for the arbiter in front takes
  // long to choose.
  logic  free_soon_q;
  work_t work_soon;
  assign work_soon = work_q - (work_t'(rate_q) << 2);

  always_ff @(posedge clk_i) free_soon_q <= !rst_i && work_soon[WorkW-1] && scheduled_open_q;

  assign free_o = line_free && open_q;
  assign free_soon_o = free_soon_q;
  assign start_o = start;

`ifdef FORMAL
  // Safety: no beat is lost, changed or withdrawn, no frame starts within another or on a busy line, the work stays
  // within its bounds.
  localparam work_t HighWork = work_t'(1) << (WorkW - 2);
  // The reset at the beginning lasts three clocks.
  logic [1:0] early_q = '1;
  logic past_valid_q = 1'b0;
  logic past_reset_q;
  logic past_held_q;
  axis_t past_beat_q;


  always_ff @(posedge clk_i) begin
    if (early_q != '0) early_q <= early_q - 1'b1;
    past_valid_q <= early_q <= 2'd1;
    past_reset_q <= rst_i;
    past_held_q  <= m_axis_tvalid && !m_axis_tready && !rst_i;
    past_beat_q  <= m_axis;
    if (!past_valid_q) assume (rst_i);
    if (past_valid_q) begin
      assert (early_q == '0);
      if (idle_q) assert (!in_frame_q && !tail_q && octet_change_q == '0 && !shorter_q);
      if (octet_change_q != '0) assert (in_frame_q || tail_q);
      assert (busy_q != work_q[WorkW-1]);
      if (in_frame_q)
        assert (ready_q == !(busy_q && work_q[WorkW-2]));
        else assert (ready_q == (line_free && allowed_q));
      // Above the mark no beat is taken; the octets of two are in flight.
      assert (work_q < HighWork + 36 * OctetWork);
      if (delta_q > 0) assert (work_q < HighWork + 24 * OctetWork);
      if (cost > 0) assert (work_q < HighWork + 12 * OctetWork);
      assert (octets_q <= 4'd8);
      assert (octet_change_q != 4'd6 && octet_change_q != 4'd7);
      assert (delta_q > -(work_t'(1) << RateW) - (shorter_q || past_reset_q ? 7 * OctetWork : 0));
      assert (delta_q <= 12 * OctetWork);
      assert (start_work_q <= FirstWork && start_work_q > FirstWork - (work_t'(1) << RateW));
      // Nor does credit grow with the time for which a line is idle.
      assert (32'(late_q) <= Slack);
      assert (work_q >= -(work_t'(Slack + 2 - 32'(late_q)) << RateW)
        - (underrun_q ? 7 * OctetWork : 0));
      if (start) assert (taken && !in_frame_q && work_q[WorkW-1]);
      if (taken && !in_frame_q) assert (start);
      if (past_held_q) assert (m_axis_tvalid && m_axis == past_beat_q);
    end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (past_valid_q) begin
      cover (past_held_q && m_axis_tready && m_axis.last);
      cover (busy_q && in_frame_q);
    end
  end
`endif
endmodule

`default_nettype wire
