// SPDX-License-Identifier: Apache-2.0
//
// Priority flow control, the side of a NIC: takes frames of MAC control out of a stream and says which priorities are
// stopped. (802.1Qbb; 802.3 annexes 31B and 31D)
//
// A PFC frame sets the times of the priorities in its enable vector, in quanta of 512 bit times; time 0 lets go. It counts
// if it has 60 octets (64 with its check sequence), the address of MAC control, the opcode of PFC, and is not marked bad.
// Everything else with the EtherType of MAC control is taken out and counted. Other frames pass.
//
// A watchdog may end a stop (let_go_i), and have a priority obey no frames (ignore_i): see pfc_watchdog. Without one both are 0.
//
// Latency: paused_o follows the last beat of a PFC frame three clocks after it is taken, and stays for its time exactly; a beat
// that passes is at m_axis two clocks after it is taken. Throughput: a beat a clock.

`default_nettype none

module pfc_rx
  import penstock_pkg::*;
  import cn_frame_pkg::*;
  import pfc_pkg::*;
#(
  // Clocks of a quantum of pause time: 512 × clock rate / line rate, 1 to 65 535.
  parameter int unsigned QuantumClocks = 64
) (
  input var logic clk_i,
  input var logic rst_i,

  input var  axis_t s_axis,
  input var  logic  s_axis_tvalid,
  output var logic  s_axis_tready,

  // All frames but those of MAC control.
  output var axis_t m_axis,
  output var logic  m_axis_tvalid,
  input var  logic  m_axis_tready,

  // The stops of these priorities end, and what a frame of this clock says of them counts for nothing.
  input var logic [7:0] let_go_i,
  input var logic [7:0] ignore_i,

  // A bit for each priority of which no frame may start; for each that is so in the next clock, whatever let_go_i says; for each
  // that a frame is about in this clock.
  output var logic [7:0] paused_o,
  output var logic [7:0] next_paused_o,
  output var logic [7:0] named_o,
  // Clocks in which a priority was paused, priority 0 lowest. They stay at their largest values.
  output var logic [7:0][TimeW-1:0] pause_clocks_o,

  // PFC frames that counted; frames of MAC control that were malformed, and that were of another kind, as PAUSE.
  output var logic [31:0] frames_o,
  output var logic [31:0] malformed_o,
  output var logic [31:0] other_o
);
  localparam int unsigned TimerW = 16 + unsigned'($clog2(QuantumClocks + 1));

  if (QuantumClocks < 1 || QuantumClocks > 65_535) begin : gen_bad_quantum
    $fatal(0, "QuantumClocks is 1 to 65535 (instance %m)");
  end

  // Beats of 60 octets less 1; a larger number stands for all that is longer.
  localparam logic [3:0] LastIndex = 4'(64 / BeatOctets - 1);
  localparam logic [3:0] TooLong = LastIndex + 4'd2;
  // Whether a first beat has the EtherType.
  localparam bit TypeFirst = BeatOctets > 13;

  // One beat is kept until it is known of which kind its frame is: it says so itself, or, with 8 octets, the next does.
  axis_t       beat_q;
  logic        beat_valid_q;
  logic        named_q;
  logic        first_q;
  logic        control_q;
  logic  [3:0] index_q;
  logic        named;
  logic        control;
  logic        type_known;
  logic        advance;
  logic        space;

  assign named = s_axis.keep[13%BeatOctets] && word_at(s_axis.data, 12) == EtherTypeMacControl;
  assign space = !m_axis_tvalid || m_axis_tready;
  assign type_known = TypeFirst || !first_q || beat_q.last || s_axis_tvalid;
  assign control = !first_q ? control_q : TypeFirst ? named_q : !beat_q.last && named;
  // The first beat of a frame of MAC control has a slot too, so that with 8 octets its move does not wait for its EtherType.
  assign advance = beat_valid_q && type_known && (space || (TypeFirst ? control : control_q));
  assign s_axis_tready = !beat_valid_q || advance;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      beat_valid_q  <= 1'b0;
      first_q       <= 1'b1;
      control_q     <= 1'b0;
      index_q       <= '0;
      m_axis_tvalid <= 1'b0;
    end else begin
      if (s_axis_tready) beat_valid_q <= s_axis_tvalid;
      if (advance) begin
        first_q   <= beat_q.last;
        control_q <= control && !beat_q.last;
        if (beat_q.last) index_q <= '0;
        else if (index_q != TooLong) index_q <= index_q + 1'b1;
      end
      if (space) m_axis_tvalid <= advance && !control;
    end
  end

  always_ff @(posedge clk_i) begin
    if (s_axis_tready) begin
      beat_q  <= s_axis;
      named_q <= named;
    end
    if (space) begin
      m_axis <= beat_q;
    end
  end

  // The fields of a frame of MAC control; those of others are not looked at.
  logic             address_q;
  logic             opcode_q;
  logic [7:0]       enable_q;
  logic [7:0][15:0] times_q;
  logic             address;
  logic             opcode;
  logic             whole;
  logic             load_q;

  // 60 octets.
  assign whole = index_q == LastIndex && beat_q.keep == keep_of(
      BeatCountW'(BeatOctets - 5)
  ) && !beat_q.user;
  // With 512 bits they stand in the last beat itself.
  assign address = index_q != '0 ? address_q : {word_at(
      beat_q.data, 0
  ), word_at(
      beat_q.data, 2
  ), word_at(
      beat_q.data, 4
  )} == ControlAddress;
  assign opcode = index_q != 4'(14 / BeatOctets) ? opcode_q : word_at(beat_q.data, 14) == PfcOpcode;

  always_ff @(posedge clk_i) begin
    if (advance) begin
      address_q <= address;
      opcode_q  <= opcode;
      if (index_q == 4'(17 / BeatOctets)) enable_q <= beat_q.data[8*(17%BeatOctets)+:8];
      for (int unsigned p = 0; p < 8; ++p) begin
        if (index_q == 4'((18 + 2 * p) / BeatOctets))
          times_q[p] <= word_at(beat_q.data, 18 + 2 * p);
      end
    end
  end

  logic ends;
  logic counts;
  logic malformed_q;
  logic other_q;
  // The last beat of a frame of MAC control, which moves whatever comes: with 8 octets never its first.
  assign ends   = beat_valid_q && beat_q.last && (TypeFirst ? control : !first_q && control_q);
  assign counts = ends && whole && address;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      load_q      <= 1'b0;
      malformed_q <= 1'b0;
      other_q     <= 1'b0;
    end else begin
      load_q      <= counts && opcode;
      malformed_q <= ends && !counts;
      other_q     <= counts && !opcode;
    end
  end

  // Counted a clock later.
  event_counter u_frames (
      .clk_i,
      .rst_i,
      .valid_i (load_q),
      .amount_i(1'b1),
      .count_o (frames_o)
  );

  event_counter u_malformed (
      .clk_i,
      .rst_i,
      .valid_i (malformed_q),
      .amount_i(1'b1),
      .count_o (malformed_o)
  );

  event_counter u_other (
      .clk_i,
      .rst_i,
      .valid_i (other_q),
      .amount_i(1'b1),
      .count_o (other_o)
  );

  // The times that run.
  assign named_o = load_q ? enable_q : '0;

  for (genvar p = 0; p < 8; ++p) begin : gen_timer
    logic [TimerW-1:0] timer_q;
    logic              loads;

    assign loads = named_o[p] && !ignore_i[p];
    assign next_paused_o[p] = loads ? times_q[p] != '0 : paused_o[p] && 32'(timer_q) != 32'd1;

    always_ff @(posedge clk_i) begin
      if (rst_i || let_go_i[p]) begin
        timer_q     <= '0;
        paused_o[p] <= 1'b0;
      end else begin
        if (loads) timer_q <= TimerW'(times_q[p]) * TimerW'(QuantumClocks);
        else if (paused_o[p]) timer_q <= timer_q - 1'b1;
        paused_o[p] <= next_paused_o[p];
      end
    end

    event_counter #(
        .Width(TimeW)
    ) u_paused (
        .clk_i,
        .rst_i,
        .valid_i (paused_o[p]),
        .amount_i(1'b1),
        .count_o (pause_clocks_o[p])
    );
  end

`ifdef FORMAL
  // Safety: no frame of MAC control passes, no frame is cut, no beat changes or is withdrawn while it waits, no stop
  // lasts for ever.
  logic [1:0] early_q = '1;
  logic past_held_q;
  axis_t past_beat_q;
  logic passing_q;


  always_ff @(posedge clk_i) begin
    if (early_q != '0) early_q <= early_q - 1'b1;
    past_held_q <= m_axis_tvalid && !m_axis_tready && !rst_i;
    past_beat_q <= m_axis;
    // A frame has begun at m_axis and has not ended.
    if (rst_i) passing_q <= 1'b0;
    else if (advance && !control) passing_q <= !beat_q.last;
    if (early_q > 2'd1)
      assume (rst_i);
      else begin
        if (past_held_q) assert (m_axis_tvalid && m_axis == past_beat_q);
        assert (passing_q == (!first_q && !control_q) && !(first_q && control_q));
        if (m_axis_tvalid && !m_axis.last) assert (passing_q);
        if (passing_q) assert (!(m_axis_tvalid && m_axis.last));
        assert ((index_q == '0) == first_q && index_q <= TooLong);
      end
  end

  for (genvar p = 0; p < 8; ++p) begin : gen_ends
    always_ff @(posedge clk_i) begin
      if (early_q <= 2'd1) assert (paused_o[p] == (gen_timer[p].timer_q != '0));
    end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (early_q == '0) begin
      cover (past_held_q && m_axis_tready && m_axis.last);
      cover (paused_o == 8'h81);
    end
  end
`endif
endmodule

`default_nettype wire
