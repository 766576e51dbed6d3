// SPDX-License-Identifier: Apache-2.0
//
// The pause frames of a port, and how long they have paused its neighbour. (802.1Qbb; frames as 802.3 annex 31D; rules as
// crates/switch/src/flow_control/pause.rs)
//
// A frame is made when the line is free, from the state of that clock: it announces the changes until then, except those
// that were reversed before. A pause is repeated half its time after its frame began, while it is needed.
//
// Latency: the frame's first beat is shown in the clock after one in which line_free_i is high and something is pending, from
// the clock after rises_i or falls_i on. Throughput: a frame in the clocks of its beats and one.

`default_nettype none

module pfc_announcer
  import penstock_pkg::*;
  import cn_frame_pkg::*;
  import pfc_pkg::*;
#(
  // The sum of 2^p over the lossless priorities p, 0 to 255; the others are never stopped.
  parameter int unsigned Lossless = 8,
  // Clocks of a quantum of pause time on the line that is stopped: 512 × clock rate / line rate, even, 2 to 65 534.
  parameter int unsigned QuantumClocks = 64
) (
  input var logic clk_i,
  input var logic rst_i,

  // The pause time in quanta, and this port's address.
  input var logic [15:0] quanta_i,
  input var logic [47:0] source_mac_i,

  // The priorities of which the neighbour is to stop; those that are to stop from the next clock on, and to go on.
  input var logic [7:0] full_i,
  input var logic [7:0] rises_i,
  input var logic [7:0] falls_i,

  // A frame could start on the line back.
  input var  logic  line_free_i,
  output var axis_t m_axis,
  output var logic  m_axis_tvalid,
  input var  logic  m_axis_tready,

  // Clocks in which the last frame about a priority had paused it, priority 0 lowest; frames made. They stay at their largest
  // values.
  output var logic [ 7:0][TimeW-1:0] pause_clocks_o,
  output var logic [31:0]            frames_o
);
  localparam int unsigned HalfQuantum = QuantumClocks / 2;
  localparam int unsigned TimerW = 16 + unsigned'($clog2(HalfQuantum + 1));

  if (Lossless > 255) begin : gen_bad_lossless
    $fatal(0, "Lossless is at most 255 (instance %m)");
  end
  if (QuantumClocks < 2 || QuantumClocks > 65_534 || QuantumClocks % 2 != 0) begin : gen_bad_quantum
    $fatal(0, "QuantumClocks is even, 2 to 65534 (instance %m)");
  end

  // Half a pause time, clocks. The product of a setting and a constant.
  logic [TimerW-1:0] half_q;
  always_ff @(posedge clk_i) half_q <= TimerW'(quanta_i) * TimerW'(HalfQuantum);

  logic [7:0] pending;
  logic       compose;

  for (genvar p = 0; p < 8; ++p) begin : gen_priority
    if (Lossless[p]) begin : gen_lossless
      logic              announced_q;
      logic              pending_q;
      logic              announced_next;
      logic [TimerW-1:0] timer_q;

      // A frame of this clock announces the priorities that were full at its beginning.
      assign announced_next = compose && pending_q ? full_i[p] : announced_q;

      always_ff @(posedge clk_i) begin
        if (rst_i) begin
          announced_q <= 1'b0;
          pending_q <= 1'b0;
          timer_q <= '0;
        end else begin
          if (compose && pending_q) begin
            announced_q <= full_i[p];
            pending_q <= 1'b0;
            timer_q <= full_i[p] ? half_q : '0;
          end else if (timer_q != '0) begin
            timer_q <= timer_q - 1'b1;
            if (32'(timer_q) == 32'd1 && full_i[p]) pending_q <= 1'b1;
          end
          if (rises_i[p]) pending_q <= 1'b1;
          else if (falls_i[p]) pending_q <= announced_next;
        end
      end

      assign pending[p] = pending_q;

      event_counter #(
          .Width(TimeW)
      ) u_paused (
          .clk_i,
          .rst_i,
          .valid_i (announced_q),
          .amount_i(1'b1),
          .count_o (pause_clocks_o[p])
      );
    end else begin : gen_lossy
      logic unused;
      assign unused = &{full_i[p], rises_i[p], falls_i[p]};
      assign pending[p] = 1'b0;
      assign pause_clocks_o[p] = '0;
    end
  end

  // The frame: 60 octets, in eight beats of 64 bits or one of 512.
  localparam int unsigned Beats = 64 / BeatOctets;
  localparam int unsigned BeatW = Beats > 1 ? $clog2(Beats) : 1;
  localparam logic [BeatW-1:0] LastBeat = BeatW'(Beats - 1);
  logic                   sending_q;
  logic [BeatW-1:0]       beat_q;
  logic [      7:0]       enable_q;
  logic [      7:0]       pause_q;
  logic [      7:0]       enable;
  logic [      7:0]       pause;
  logic                   advance;
  logic [    511:0]       frame;
  logic [DataW-1:0]       octets;
  logic [DataW-1:0]       data_q;
  logic                   last_q;
  logic [      7:0][15:0] times;

  assign advance = !m_axis_tvalid || m_axis_tready;
  // Not before the last frame is gone; so m_axis_tready does not reach to the timers.
  assign compose = !sending_q && !m_axis_tvalid && line_free_i && pending != '0;

  // A beat of more than 16 octets has them in the clock in which the frame is made.
  assign {enable, pause} =
      DataW > 128 && !sending_q ? {pending, pending & full_i} : {enable_q, pause_q};

  // Octets in the order of the line, the first in the highest bits.
  always_comb begin
    for (int unsigned i = 0; i < 8; ++i) times[i] = pause[i] ? quanta_i : '0;
  end
  assign frame = {
    {ControlAddress, source_mac_i, EtherTypeMacControl, PfcOpcode, 8'h00, enable},
    {times[0], times[1], times[2], times[3], times[4], times[5], times[6], times[7]},
    240'h0
  };
  assign octets = frame[DataW*32'(LastBeat-beat_q)+:DataW];

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      sending_q     <= 1'b0;
      beat_q        <= '0;
      m_axis_tvalid <= 1'b0;
    end else if (advance) begin
      m_axis_tvalid <= sending_q || compose;
      if (compose || sending_q) beat_q <= beat_q == LastBeat ? '0 : beat_q + 1'b1;
      if (compose) sending_q <= Beats > 1;
      else if (beat_q == LastBeat) sending_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (compose) begin
      enable_q <= pending;
      pause_q  <= pending & full_i;
    end
    if (advance) begin
      for (int unsigned i = 0; i < BeatOctets; ++i) data_q[8*i+:8] <= octets[8*(BeatOctets-1-i)+:8];
      last_q <= beat_q == LastBeat;
    end
  end

  assign m_axis = '{
          user: 1'b0,
          last: last_q,
          keep: last_q ? keep_of(BeatCountW'(BeatOctets - 5)) : '1,
          data: data_q
      };

  event_counter u_frames (
      .clk_i,
      .rst_i,
      .valid_i (compose),
      .amount_i(1'b1),
      .count_o (frames_o)
  );

`ifdef FORMAL
  // Safety: no frame has another length than 60 octets, none tells nothing, none begins on a busy line, no beat changes
  // or is withdrawn while it waits.
  logic [1:0] early_q = '1;
  logic past_held_q;
  axis_t past_beat_q;
  logic past_free_q;


  always_ff @(posedge clk_i) begin
    if (early_q != '0) early_q <= early_q - 1'b1;
    past_held_q <= m_axis_tvalid && !m_axis_tready && !rst_i;
    past_beat_q <= m_axis;
    past_free_q <= line_free_i;
    if (early_q > 2'd1)
      assume (rst_i);
      else begin
        assert (sending_q == (beat_q != '0) && beat_q <= LastBeat);
        if (sending_q) assert (m_axis_tvalid && !m_axis.last && enable_q != '0);
        if (m_axis_tvalid && !sending_q)
          assert (m_axis.last && m_axis.keep == keep_of(BeatCountW'(BeatOctets - 5)));
        if (m_axis_tvalid && beat_q == BeatW'(1 % Beats) && !past_held_q) assert (past_free_q);
        if (past_held_q) assert (m_axis_tvalid && m_axis == past_beat_q);
        assert ((pending & ~8'(Lossless)) == '0 && (pause_q & ~enable_q) == '0 || !sending_q);
      end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (early_q == '0) begin
      cover (past_held_q && m_axis_tready && m_axis.last);
    end
  end
`endif
endmodule

`default_nettype wire
