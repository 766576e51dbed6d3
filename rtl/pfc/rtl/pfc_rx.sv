// SPDX-License-Identifier: Apache-2.0
//
// Priority flow control, the side of a NIC: takes frames of MAC control out of a stream and says which priorities are
// stopped. (802.1Qbb; 802.3 annexes 31B and 31D)
//
// A PFC frame sets the times of the priorities in its enable vector, in quanta of 512 bit times; time 0 lets go. It counts
// if it has 60 octets (64 with its check sequence), the address of MAC control, the opcode of PFC, and is not marked bad.
// Everything else with the EtherType of MAC control is taken out and counted. Other frames pass.
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

  // A bit for each priority of which no frame may start.
  output var logic [7:0] paused_o,

  // PFC frames that counted; frames of MAC control that were malformed, and that were of another kind, as PAUSE.
  output var logic [31:0] frames_o,
  output var logic [31:0] malformed_o,
  output var logic [31:0] other_o
);
  localparam int unsigned TimerW = 16 + unsigned'($clog2(QuantumClocks + 1));

  if (QuantumClocks < 1 || QuantumClocks > 65_535) begin : gen_bad_quantum
    $fatal(0, "QuantumClocks is 1 to 65535 (instance %m)");
  end

  // One beat is kept until the next says of which kind its frame is.
  axis_t        beat_q;
  logic         beat_valid_q;
  logic         first_q;
  logic         control_q;
  logic  [ 3:0] index_q;
  logic  [15:0] next_type;
  logic  [63:0] octets;
  logic         control;
  logic         type_known;
  logic         advance;
  logic         space;

  // Octets in the order of the line, the first in the highest bits.
  always_comb begin
    for (int unsigned i = 0; i < 8; ++i) begin
      octets[8*i+:8] = beat_q.data[8*(7-i)+:8];
    end
  end

  assign next_type = {s_axis.data[39:32], s_axis.data[47:40]};
  assign space = !m_axis_tvalid || m_axis_tready;
  assign type_known = !first_q || beat_q.last || s_axis_tvalid;
  assign control = first_q
      ? !beat_q.last && s_axis.keep[5] && next_type == EtherTypeMacControl : control_q;
  // The first beat of a frame of MAC control has a slot too, so that its move does not wait for its EtherType.
  assign advance = beat_valid_q && type_known && (space || control_q);
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
        // 9 stands for all that is longer.
        if (beat_q.last) index_q <= '0;
        else if (index_q != 4'd9) index_q <= index_q + 1'b1;
      end
      if (space) m_axis_tvalid <= advance && !control;
    end
  end

  always_ff @(posedge clk_i) begin
    if (s_axis_tready) beat_q <= s_axis;
    if (space) begin
      m_axis <= beat_q;
    end
  end

  // The fields of a frame of MAC control; those of others are not looked at.
  logic             address_q;
  logic             opcode_q;
  logic [7:0]       enable_q;
  logic [7:0][15:0] times_q;
  logic             whole;
  logic             load_q;

  // 60 octets end in the middle of the eighth beat.
  assign whole = index_q == 4'd7 && beat_q.keep == 8'h0f && !beat_q.user;

  always_ff @(posedge clk_i) begin
    if (advance) begin
      case (index_q)
        4'd0: address_q <= octets[63:16] == ControlAddress;
        4'd1: opcode_q <= octets[15:0] == PfcOpcode;
        4'd2: begin
          enable_q <= octets[55:48];
          {times_q[0], times_q[1], times_q[2]} <= octets[47:0];
        end
        4'd3: {times_q[3], times_q[4], times_q[5], times_q[6]} <= octets;
        4'd4: times_q[7] <= octets[63:48];
        default: ;
      endcase
    end
  end

  logic ends;
  logic counts;
  logic malformed_q;
  logic other_q;
  // The last beat of a frame of MAC control, which moves whatever comes: never its first.
  assign ends   = beat_valid_q && !first_q && control_q && beat_q.last;
  assign counts = ends && whole && address_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      load_q      <= 1'b0;
      malformed_q <= 1'b0;
      other_q     <= 1'b0;
    end else begin
      load_q      <= counts && opcode_q;
      malformed_q <= ends && !counts;
      other_q     <= counts && !opcode_q;
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
  for (genvar p = 0; p < 8; ++p) begin : gen_timer
    logic [TimerW-1:0] timer_q;

    always_ff @(posedge clk_i) begin
      if (rst_i) begin
        timer_q     <= '0;
        paused_o[p] <= 1'b0;
      end else if (load_q && enable_q[p]) begin
        timer_q     <= TimerW'(times_q[p]) * TimerW'(QuantumClocks);
        paused_o[p] <= times_q[p] != '0;
      end else if (paused_o[p]) begin
        timer_q     <= timer_q - 1'b1;
        paused_o[p] <= 32'(timer_q) != 32'd1;
      end
    end
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
        assert ((index_q == '0) == first_q && index_q <= 4'd9);
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
