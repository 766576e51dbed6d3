// SPDX-License-Identifier: Apache-2.0
//
// Two beats of a stream between two parts, so that the readiness of one does not reach through the other in the same clock.
//
// Latency: a clock. Throughput: a beat a clock.

`default_nettype none

module stream_buffer
  import penstock_pkg::*;
#(
  // Bits of a beat: axis_t in the lowest, and what stays beside it.
  parameter int unsigned BeatW = $bits(axis_t),
  // m_axis_tready is known late: it moves no beats, but chooses which of two shows. Else a register shows.
  parameter bit          Late  = 1'b0
) (
  input var logic clk_i,
  input var logic rst_i,

  input var  logic [BeatW-1:0] s_axis,
  input var  logic             s_axis_tvalid,
  output var logic             s_axis_tready,
  output var logic [BeatW-1:0] m_axis,
  output var logic             m_axis_tvalid,
  input var  logic             m_axis_tready
);
  // Holds a second beat, which arrived in the clock in which the beat at the output was first not taken.
  logic skid_valid_q;
  // The inverse of skid_valid_q, as a separate register: skid_valid_q drives a wide multiplexer.
  logic ready_q;
  logic advance;

  assign advance = !m_axis_tvalid || m_axis_tready;
  assign s_axis_tready = ready_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      m_axis_tvalid <= 1'b0;
      skid_valid_q  <= 1'b0;
      ready_q       <= 1'b1;
    end else if (advance) begin
      m_axis_tvalid <= skid_valid_q || s_axis_tvalid;
      skid_valid_q  <= 1'b0;
      ready_q       <= 1'b1;
    end else if (s_axis_tvalid) begin
      skid_valid_q <= 1'b1;
      ready_q <= 1'b0;
    end
  end

  if (Late) begin : gen_late
    // Two places in turn: which one is written, and which one shows. Two registers say the latter, for each chooses
    // among many bits: one the marks of a beat, the other its octets.
    localparam int unsigned Marks = $bits(axis_t) - 2;
    logic [BeatW-1:0] even_q;
    logic [BeatW-1:0] odd_q;
    logic write_q;
    logic select_even_q;
    logic select_odd_q;

    assign m_axis[BeatW-1:Marks] = select_even_q ? even_q[BeatW-1:Marks] : odd_q[BeatW-1:Marks];
    assign m_axis[Marks-1:0] = select_odd_q ? odd_q[Marks-1:0] : even_q[Marks-1:0];

    always_ff @(posedge clk_i) begin
      if (rst_i) begin
        write_q       <= 1'b0;
        select_even_q <= 1'b1;
        select_odd_q  <= 1'b0;
      end else begin
        if (s_axis_tvalid && ready_q) write_q <= !write_q;
        if (m_axis_tvalid && m_axis_tready) begin
          select_even_q <= select_odd_q;
          select_odd_q  <= select_even_q;
        end
      end
    end

    always_ff @(posedge clk_i) begin
      if (ready_q && !write_q) even_q <= s_axis;
      if (ready_q && write_q) odd_q <= s_axis;
    end
  end else begin : gen_early
    logic [BeatW-1:0] skid_q;

    always_ff @(posedge clk_i) begin
      if (advance) m_axis <= skid_valid_q ? skid_q : s_axis;
      if (!skid_valid_q) skid_q <= s_axis;
    end
  end

`ifdef FORMAL
  // Safety: no beat is lost, doubled, changed or withdrawn. Any one beat, the watched_q-th since reset, comes out as
  // the watched_q-th.
  logic             past_valid_q = 1'b0;
  logic             past_held_q;
  logic [BeatW-1:0] past_shown_q;
  logic [      3:0] watched_q;
  logic [      3:0] came_q;
  logic [      3:0] left_q;
  logic [BeatW-1:0] seen_q;
  logic [BeatW-1:0] kept;
  logic             in_turn;

  if (Late) begin : gen_places
    assign kept = gen_late.select_odd_q ? gen_late.even_q : gen_late.odd_q;
    assign in_turn = gen_late.select_even_q != gen_late.select_odd_q
        && (gen_late.write_q != gen_late.select_odd_q) == (m_axis_tvalid && !skid_valid_q);
  end else begin : gen_registers
    assign kept    = gen_early.skid_q;
    assign in_turn = 1'b1;
  end

  always_ff @(posedge clk_i) begin
    past_valid_q <= 1'b1;
    past_held_q  <= m_axis_tvalid && !m_axis_tready && !rst_i;
    past_shown_q <= m_axis;
    watched_q    <= watched_q;
    if (rst_i) begin
      came_q <= '0;
      left_q <= '0;
    end else begin
      if (s_axis_tvalid && s_axis_tready) came_q <= came_q + 1'b1;
      if (m_axis_tvalid && m_axis_tready) left_q <= left_q + 1'b1;
    end
    if (s_axis_tvalid && s_axis_tready && came_q == watched_q) seen_q <= s_axis;
    if (!past_valid_q) assume (rst_i);
    if (past_valid_q) begin
      assert (4'(came_q - left_q) == 4'(m_axis_tvalid) + 4'(skid_valid_q));
      if (skid_valid_q) assert (m_axis_tvalid);
      assert (ready_q != skid_valid_q);
      assert (in_turn);
      if (m_axis_tvalid && left_q == watched_q) assert (m_axis == seen_q);
      if (skid_valid_q && 4'(left_q + 1'b1) == watched_q) assert (kept == seen_q);
      if (past_held_q) assert (m_axis_tvalid && m_axis == past_shown_q);
    end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (past_valid_q) begin
      cover (skid_valid_q && past_held_q);
      cover (m_axis_tvalid && m_axis_tready && left_q == watched_q && left_q == 4'd2);
    end
  end
`endif
endmodule

`default_nettype wire
