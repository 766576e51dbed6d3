// SPDX-License-Identifier: Apache-2.0
//
// Bench of async_frame_fifo with two clocks that know nothing of each other. Each episode draws the periods, from the same to 1 : 20, the
// gaps, the stalls and the resets of either side. Octets follow from the frame's number, which stands beside it.
//
// A frame that leaves is whole, in order and has no gap, its length and its mark are right, or it was cut by a reset and is bad. Without a
// reset the counters say which came out; all do that had room. A beat that is shown stays (common_checks.sv).
//
// tools/crossing.py runs it.

`default_nettype none
`timescale 1ns / 1ps

// A FIFO that drops and one that makes its source wait.
module crossings #(
  parameter int unsigned Episodes = 60
) ();
  logic [1:0] done;
  for (genvar n = 0; n < 2; ++n) begin : gen_drop
    crossing #(
        .Drop    (n == 1),
        .Episodes(Episodes)
    ) u_crossing (
        .done_o(done[n])
    );
  end
  always_comb if (done == '1) $finish;
endmodule

module crossing
  import penstock_pkg::*;
#(
  parameter bit          Drop     = 1'b1,
  parameter int unsigned Words    = 256,
  parameter int unsigned Frames   = 64,
  parameter int unsigned Episodes = 60,
  parameter int unsigned Sent     = 150
) (
  output var logic done_o
);
  logic s_clk = 1'b0;
  logic m_clk = 1'b0;
  logic s_rst = 1'b1;
  logic m_rst = 1'b1;
  int unsigned s_half_ps = 3200;
  int unsigned m_half_ps = 3200;
  always #(s_half_ps * 1ps) s_clk = !s_clk;
  always #(m_half_ps * 1ps) m_clk = !m_clk;

  axis_t s_axis;
  logic s_tvalid = 1'b0;
  logic s_tready;
  logic [31:0] s_side;
  axis_t m_axis;
  logic m_tvalid;
  logic m_tready = 1'b0;
  logic [15:0] m_octets;
  logic [31:0] m_side;
  logic [31:0] frames;
  logic [31:0] dropped;

  async_frame_fifo #(
      .Words (Words),
      .Frames(Frames),
      .Drop  (Drop),
      .SideW (32)
  ) u_fifo (
      .s_clk_i      (s_clk),
      .s_rst_i      (s_rst),
      .s_axis,
      .s_axis_tvalid(s_tvalid),
      .s_axis_tready(s_tready),
      .s_side_i     (s_side),
      .frames_o     (frames),
      .dropped_o    (dropped),
      .m_clk_i      (m_clk),
      .m_rst_i      (m_rst),
      .m_axis,
      .m_axis_tvalid(m_tvalid),
      .m_axis_tready(m_tready),
      .m_octets_o   (m_octets),
      .m_side_o     (m_side)
  );

  // A frame by its number in an episode: its octets without the FCS, whether it is bad, and each octet.
  int unsigned longest;
  bit giants;
  bit tiny;
  function automatic int unsigned hash(input int unsigned x);
    hash = x * 32'h9e37_79b9;
    hash = (hash ^ (hash >> 15)) * 32'h85eb_ca6b;
    hash = hash ^ (hash >> 13);
  endfunction
  function automatic int unsigned octets_of_frame(input int unsigned number);
    int unsigned h = hash(number);
    if (giants && h[3:0] == 4'd0) return 1 + (h >> 8) % (BeatOctets * (Words + 8));
    if (h[0]) return (tiny ? 1 : 60) + (h >> 8) % 8;
    return 1 + (h >> 8) % longest;
  endfunction
  function automatic bit bad_frame(input int unsigned number);
    return hash(number + 7) % 8 == 0;
  endfunction
  function automatic logic [7:0] octet(input int unsigned number, input int unsigned at);
    return 8'(hash(number * 32'd40503 + at));
  endfunction
  function automatic axis_t beat_of(input int unsigned number, input int unsigned from);
    int unsigned all = octets_of_frame(number);
    beat_of = '0;
    for (int unsigned i = 0; i < BeatOctets; ++i) begin
      if (from + i < all) begin
        beat_of.keep[i] = 1'b1;
        beat_of.data[8*i+:8] = octet(number, from + i);
      end
    end
    beat_of.last = from + BeatOctets >= all;
    beat_of.user = beat_of.last && bad_frame(number);
  endfunction

  task automatic wrong(input string says);
    $display("WRONG in episode %0d at %0t: %s", episode, $time, says);
    $fatal(0, "the crossing fails");
  endtask

  // What is seen at the output.
  int unsigned episode = 0;
  int unsigned number = 0;
  int unsigned begun;
  int unsigned next_number = 0;
  int unsigned at = 0;
  int unsigned whole = 0;
  int unsigned all_whole = 0;
  int unsigned all_cut = 0;
  int unsigned all_dropped = 0;
  int unsigned stall_in = 0;
  int unsigned gap_in = 0;
  int unsigned quiet = 0;
  int unsigned held = 0;
  bit          was_reset;
  bit          resets_on = 1'b0;
  bit          s_reset_asked = 1'b0;
  bit          goes_on = 1'b0;

  always @(posedge m_clk) begin
    if (m_rst) begin
      goes_on <= 1'b0;
      at = 0;
    end else begin
      if (goes_on && !m_tvalid && !was_reset) wrong("a frame has a gap");
      if (m_tvalid && m_tready) begin
        axis_t expected;
        logic [DataW-1:0] mask;
        if (at == 0) begin
          if (m_side < next_number || m_side >= number + 1) wrong("a frame that was not sent, or twice");
          begun = m_side;
        end
        expected = beat_of(begun, at);
        for (int unsigned i = 0; i < BeatOctets; ++i) mask[8*i+:8] = {8{expected.keep[i]}};
        if (m_side != begun) wrong("what stands beside a frame changes in it");
        if (32'(m_octets) != octets_of_frame(begun) + 4) begin
          $display("frame %0d: %0d octets, not %0d", begun, m_octets, octets_of_frame(begun) + 4);
          wrong("the length is not the frame's");
        end
        if (m_axis.last && m_axis.user && !expected.user && was_reset) begin
          all_cut++;
          next_number = begun + 1;
          at = 0;
        end else begin
          if (m_axis.keep != expected.keep || m_axis.last != expected.last || (m_axis.data & mask) != expected.data
              || (m_axis.last && m_axis.user != expected.user)) begin
            $display("frame %0d, octet %0d: %p, not %p", begun, at, m_axis, expected);
            wrong("a beat is not that which went in");
          end
          at = at + BeatOctets;
          if (m_axis.last) begin
            whole++;
            next_number = begun + 1;
            at = 0;
          end
        end
        goes_on <= !m_axis.last;
      end
      quiet = m_tvalid ? 0 : quiet + 1;
    end
    // Some stalls are longer than a reset.
    if (held != 0) held = held - 1;
    else if (was_reset && $urandom % 300 == 0) held = 100;
    m_tready <= held == 0 && (stall_in == 0 || $urandom % stall_in != 0);
  end

  // Inputs change between the edges.
  task automatic send(input int unsigned gap);
    int unsigned from = 0;
    bit taken;
    if (s_reset_asked) begin
      s_rst = 1'b1;
      @(negedge s_clk) s_rst = 1'b0;
      s_reset_asked = 1'b0;
    end
    while (from < octets_of_frame(number)) begin
      if (gap != 0 && $urandom % gap == 0) begin
        s_tvalid = 1'b0;
        @(negedge s_clk);
      end
      s_axis   = beat_of(number, from);
      s_side   = from == 0 ? number : $urandom;
      s_tvalid = 1'b1;
      do begin
        #1ps taken = s_tready;
        @(negedge s_clk);
      end while (!taken);
      from += BeatOctets;
    end
    s_tvalid = 1'b0;
    number++;
  endtask

  task automatic both_reset();
    s_rst = 1'b1;
    m_rst = 1'b1;
    repeat (4) @(negedge s_clk);
    repeat (4) @(negedge m_clk);
    m_rst = 1'b0;
    @(negedge s_clk) s_rst = 1'b0;
    repeat (16) @(negedge m_clk);
    repeat (16) @(negedge s_clk);
  endtask

  // A reset of one clock at one side: of the output anywhere in the traffic, of the input between two frames, as its source has it.
  initial
    forever begin
      #(100ns + ($urandom % 4000) * 1ns);
      if (resets_on && $urandom % 2 == 0) begin
        @(negedge m_clk) m_rst = 1'b1;
        @(negedge m_clk) m_rst = 1'b0;
      end else if (resets_on) begin
        s_reset_asked = 1'b1;
      end
    end

  initial begin
    int unsigned start;
    int unsigned ratio;
    done_o = 1'b0;
    for (episode = 0; episode < Episodes; ++episode) begin
      ratio = 1 + $urandom % 20;
      s_half_ps = 1000 + $urandom % 4000;
      m_half_ps = episode % 4 == 0 ? s_half_ps - $urandom % 3 : episode % 2 == 0 ? s_half_ps * ratio / 2 : s_half_ps / ratio;
      if (m_half_ps < 100) m_half_ps = 100;
      // Frames of a beat or a few fill the descriptors first.
      tiny     = episode % 7 == 3;
      longest  = 1 + $urandom % (tiny ? 40 : 1600);
      // Some that are longer than the memory.
      giants   = episode % 5 != 0;
      gap_in   = episode % 3 == 0 ? 0 : 1 + $urandom % 6;
      stall_in = episode % 5 == 0 ? 0 : 2 + $urandom % 40;
      both_reset();
      was_reset = episode % 3 == 2;
      resets_on = was_reset;
      // From here on the counters count.
      start = number;
      whole  = 0;
      for (int unsigned n = 0; n < Sent; ++n) send(gap_in);
      resets_on = 1'b0;
      // Until all that is in has come out; the last frame after a reset comes whole.
      quiet = 0;
      wait (quiet > 60 + 40 * ratio);
      if (!was_reset) begin
        if (frames != whole || frames + dropped != number - start) begin
          $display("%0d went in, %0d taken, %0d dropped, %0d came out", number - start, frames, dropped, whole);
          wrong("frames are lost, or dropped ones are not counted");
        end
        // The output is no slower and waits for nobody, and a frame leaves room for the next.
        if (Drop && m_half_ps <= s_half_ps && stall_in == 0 && dropped > oversize(start)) wrong("a frame is dropped that had room");
        if (!Drop && dropped != oversize(start)) wrong("a frame is dropped that fits");
      end
      all_whole += whole;
      all_dropped += dropped;
      next_number = number;
    end
    $display("%s: %0d episodes, %0d frames came out, %0d were dropped, %0d cut by a reset", Drop ? "drops" : "waits", Episodes, all_whole, all_dropped, all_cut);
    // It has seen what it looks for.
    if (all_whole < Episodes * Sent / 4 || all_dropped == 0 || all_cut == 0) $fatal(0, "too little was seen");
    done_o = 1'b1;
  end

  function automatic int unsigned oversize(input int unsigned from);
    oversize = 0;
    for (int unsigned n = from; n < number; ++n) begin
      if (octets_of_frame(n) > BeatOctets * (Words - 1)) oversize++;
    end
  endfunction
endmodule

`default_nettype wire
