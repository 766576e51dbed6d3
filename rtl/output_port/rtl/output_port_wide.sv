// SPDX-License-Identifier: Apache-2.0
//
// Output port for streams of 128 to 512 bits, of which a frame may be a single beat: a stream onto a line at a rate in bit/s,
// exact on average, that a schedule changes. Ports, parameters and rules are those of output_port.
//
// A frame occupies the line for (octets + LineOctets) × 8 / rate, octets with check sequence and at least 64, at the rate that
// holds when it starts. The rest of its last clock counts for the next frame, if that waits. So frames start in the first
// clock at or after their start on an ideal line, however long the line is busy.
//
// Latency: a beat is at m_axis in the clock after the one in which it is taken; a frame that finds the line free is taken
// in the clock in which it is shown. Throughput: the beats of a frame a clock each, and the next frame in the clock behind its
// last. Exact for all lengths up to Highest: with 512 bits at 322 MHz 114 Gb/s, which frames of 69 octets in two beats set.

`default_nettype none

module output_port_wide
  import penstock_pkg::*;
  import cn_frame_pkg::*;
#(
  // Clock rate, Hz, up to 2^29.
  parameter int unsigned ClockHz = 322_265_625,
  // Octets that a frame takes on the line beside its own: 20 on Ethernet, 0 as the papers count.
  parameter int unsigned OctetsOnLine = LineOctets,
  // Changes of the rate, 1 to 16.
  parameter int unsigned Entries = 4,
  // A frame that comes this many clocks late still counts as back to back.
  parameter int unsigned Slack = 0,
  // Bits of a number of entries; not to be set.
  parameter int unsigned EntryW = unsigned'($clog2(Entries + 1))
) (
  input var logic clk_i,
  input var logic rst_i,

  input var  rate_t                          rate_i,
  input var  logic  [ EntryW-1:0]            schedule_entries_i,
  input var  logic  [Entries-1:0][     47:0] schedule_at_i,
  input var  logic  [Entries-1:0][RateW-1:0] schedule_rate_i,
  input var  logic  [       47:0]            now_i,
  output var rate_t                          rate_o,

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

  // The highest rate that frames of all lengths can have, bit/s. That is the rate of the beats, or of frames of an octet more than 64 with
  // their check sequence left out, whose last beat has this octet alone.
  localparam int unsigned WastefulBeats = 64 / BeatOctets + 1;
  localparam int unsigned WastefulOctets = 64 + 1 + FcsOctets + OctetsOnLine;
  localparam longint unsigned BeatsRate = 64'(DataW) * 64'(ClockHz);
  localparam longint unsigned FramesRate =
      64'd8 * 64'(WastefulOctets) * 64'(ClockHz) / 64'(WastefulBeats);
  localparam longint unsigned HighestRate = FramesRate < BeatsRate ? FramesRate : BeatsRate;
  localparam rate_t Highest = HighestRate >> RateW != 0 ? '1 : rate_t'(HighestRate);

  if (DataW < 128) begin : gen_bad_width
    $fatal(0, "DataW is 128, 256 or 512; output_port is for 64 (instance %m)");
  end
  if (ClockHz < 1 || ClockHz > (1 << 29)) begin : gen_bad_clock
    $fatal(0, "ClockHz is 1 to 2^29 (instance %m)");
  end
  if (OctetsOnLine > 64) begin : gen_bad_line
    $fatal(0, "OctetsOnLine is at most 64 (instance %m)");
  end
  if (Slack > 15) begin : gen_bad_slack
    $fatal(0, "Slack is at most 15 (instance %m)");
  end

  rate_t scheduled;
  logic  scheduled_open;

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
      .rate_o(scheduled),
      .open_o(scheduled_open)
  );

  // The rate, and the first work of a frame, less that of the clock in which it starts.
  rate_t rate_q;
  logic  open_q;
  work_t start_work_q;
  rate_t first_rate;
  assign first_rate = scheduled_open ? scheduled : '0;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      open_q       <= 1'b0;
      rate_q       <= '0;
      start_work_q <= FirstWork;
    end else begin
      open_q       <= scheduled_open;
      rate_q       <= first_rate;
      start_work_q <= FirstWork - work_t'(first_rate);
    end
  end

  assign rate_o = rate_q;

  // A frame starts with the work of the shortest. The octets of its beats beyond that are added a clock after their beat, to the
  // work of which the next frame's start is decided.
  localparam int unsigned OctetsW = BeatCountW + 1;
  logic                in_frame_q;
  logic                taken;
  logic  [OctetsW-1:0] octets;
  // How many of the first 60 octets have not come; the octets beyond them.
  logic  [        5:0] missing_q;
  logic  [        5:0] missing;
  logic                exceeds;
  logic  [OctetsW-1:0] charge;
  work_t               cost_q;

  assign octets  = octets_of(s_axis.keep);
  assign missing = in_frame_q ? missing_q : 6'(MinOctets);
  assign exceeds = 8'(octets) > 8'(missing);
  assign charge  = exceeds && taken && !rst_i ? OctetsW'(8'(octets) - 8'(missing)) : '0;

  always_ff @(posedge clk_i) begin
    cost_q <= OctetWork * work_t'(charge);
    if (taken) missing_q <= exceeds ? '0 : 6'(8'(missing) - 8'(octets));
  end

  // The work left on the line, less 1, without the beat of the clock before and with it: negative when the line is free.
  work_t             work_q;
  work_t             work;
  work_t             work_rest;
  work_t             work_next;
  rate_t             frame_rate_q;
  logic              allowed_q;
  logic              high_q;
  logic              space;
  logic              done;
  logic              line_free;
  logic              start;
  logic              carries;
  logic              bounded;
  logic              gapless_q;
  logic              rate_changed_q;
  logic              back_to_back_q;
  logic  [LateW-1:0] late_q;

  assign work          = work_q + cost_q;
  assign done          = work[WorkW-1];
  assign line_free     = done && !in_frame_q;
  assign space         = !m_axis_tvalid || m_axis_tready;
  assign s_axis_tready = space && (in_frame_q ? !high_q : line_free && allowed_q);
  assign taken         = s_axis_tvalid && s_axis_tready;
  assign start         = taken && !in_frame_q;
  // The rest of a clock counts if the next frame waits for the line, or came hardly too late, and goes at the same rate.
  assign carries       = back_to_back_q && !rate_changed_q && bounded;
  // No more than some clocks are ever left over, whatever comes.
  assign bounded       = work[WorkW-1:RateW+3] == '1;

  // Nothing is left over on a line that waits for a frame, or within one for a beat that comes late. The work of the beat that comes
  // now is not in yet: with it the line may be behind by the rest of a clock, in a frame whose beats have come without a gap.
  always_comb begin
    if (line_free && back_to_back_q && late_q != '0)
      work_rest = (rate_changed_q || !bounded ? work_t'(-1) : work) - work_t'(rate_q);
    else if (done && !taken) work_rest = work_t'(-1);
    else work_rest = (done && !(gapless_q && bounded) ? work_t'(-1) : work) - work_t'(frame_rate_q);
    work_next = start ? (carries ? work : work_t'(-1)) + start_work_q : work_rest;
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      in_frame_q     <= 1'b0;
      gapless_q      <= 1'b0;
      work_q         <= work_t'(-1);
      high_q         <= 1'b0;
      allowed_q      <= 1'b0;
      back_to_back_q <= 1'b0;
      late_q         <= '0;
    end else begin
      if (taken) in_frame_q <= !s_axis.last;
      gapless_q <= taken && (start || gapless_q);
      work_q    <= work_next;
      // A frame of more than 2^48 / (8 ClockHz) octets goes no faster than the line, so that its work is bounded.
      high_q    <= !work_next[WorkW-1] && work_next[WorkW-2];
      allowed_q <= scheduled_open && !hold_i;
      // In the clock in which the line gets free: whether a frame has waited for it. After that: whether there is time.
      if (!line_free || start) begin
        back_to_back_q <= Slack != 0 || s_axis_tvalid;
        late_q         <= LateW'(Slack);
      end else begin
        back_to_back_q <= back_to_back_q && late_q != '0;
        if (late_q != '0) late_q <= late_q - 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (start) frame_rate_q <= rate_q;
    rate_changed_q <= scheduled != (start ? rate_q : frame_rate_q);
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) m_axis_tvalid <= 1'b0;
    else if (space) m_axis_tvalid <= taken;
  end

  always_ff @(posedge clk_i) begin
    if (space) m_axis <= s_axis;
  end

  // Counters, which stay at their highest numbers: a beat shows two clocks later.
  logic               count_q;
  logic               count_last_q;
  logic [OctetsW-1:0] count_octets_q;

  always_ff @(posedge clk_i) begin
    count_q        <= taken && !rst_i;
    count_last_q   <= taken && s_axis.last && !rst_i;
    count_octets_q <= octets;
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
      .AmountW(OctetsW + 1)
  ) u_octets (
      .clk_i,
      .rst_i,
      .valid_i (count_q),
      .amount_i({1'b0, count_octets_q} + (count_last_q ? (OctetsW + 1)'(FcsOctets) : '0)),
      .count_o (octets_o)
  );

  // Whether the work that was left a clock ago is done in 4 clocks, on a line that is open.
  work_t work_soon;
  assign work_soon = work_q - (work_t'(rate_q) << 2);

  always_ff @(posedge clk_i) free_soon_o <= !rst_i && work_soon[WorkW-1] && scheduled_open;

  assign free_o  = line_free && open_q;
  assign start_o = start;

`ifdef FORMAL
  // Safety: no beat is lost, changed or withdrawn, no frame starts within another or on a busy line, the work stays
  // within its bounds.
  localparam work_t HighWork = work_t'(1) << (WorkW - 2);
  logic [1:0] early_q = '1;
  logic past_held_q;
  axis_t past_beat_q;

  always_ff @(posedge clk_i) begin
    if (early_q != '0) early_q <= early_q - 1'b1;
    past_held_q <= m_axis_tvalid && !m_axis_tready && !rst_i;
    past_beat_q <= m_axis;
    if (early_q > 2'd1)
      assume (rst_i);
      else begin
        // Above the mark no beat is taken; that of the clock before is in flight.
        assert (work_q < HighWork + 128 * OctetWork);
        assert (high_q == (!work_q[WorkW-1] && work_q[WorkW-2]));
        assert (cost_q >= 0 && cost_q <= 64 * OctetWork);
        if (high_q) assert (work_q + cost_q < HighWork + 128 * OctetWork);
        assert (32'(late_q) <= Slack);
        assert (work_q >= -(work_t'(1) << (RateW + 4)));
        if (taken && !in_frame_q) assert (done && allowed_q);
        if (past_held_q) assert (m_axis_tvalid && m_axis == past_beat_q);
      end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (early_q == '0) begin
      cover (past_held_q && m_axis_tready && m_axis.last);
      cover (start && carries);
    end
  end
`endif
endmodule

`default_nettype wire
