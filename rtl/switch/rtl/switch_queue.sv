// SPDX-License-Identifier: Apache-2.0
//
// A queue of whole frames behind a line that cannot wait: a frame that is bad or finds no room is dropped whole and counted.
// (Kabbani and Yasuda 2010, section 3.2: the input queues of the NetFPGA library in front of the arbiter)
//
// A frame is bad if its last tuser says so, if it has fewer than 60 octets or more than MaxOctets − 4 (without its FCS), or if a
// tkeep breaks the conventions. A kept frame has been seen to its end, so it leaves without gaps.
// Latency: the first beat is at m_axis six clocks after the frame's last beat was shown, if none is before it. Throughput: a
// beat a clock, frames back to back.

`default_nettype none

module switch_queue
  import penstock_pkg::*;
  import cn_frame_pkg::*;
#(
  // Beats that fit, a power of two, at least 16 and at least those of the longest frame.
  parameter int unsigned Words = 512,
  // Longest frame with its FCS, octets: 64 to 65 000.
  parameter int unsigned MaxOctets = 1522
) (
  input var logic clk_i,
  input var logic rst_i,

  // In: every beat is taken.
  input var axis_t s_axis,
  input var logic  s_axis_tvalid,

  output var axis_t m_axis,
  output var logic  m_axis_tvalid,
  input var  logic  m_axis_tready,

  // Bad frames, and good ones for which there was no room. They stay at their largest values.
  output var logic [31:0] bad_o,
  output var logic [31:0] dropped_o
);
  localparam int unsigned AddressW = unsigned'($clog2(Words));
  // Beats in front of the last of the longest frame, and the octets that its last has at most, less 1.
  localparam int unsigned LongestBeats = (MaxOctets - FcsOctets - 1) / 8;
  localparam logic [2:0] LongestRest = 3'((MaxOctets - FcsOctets - 1) % 8);
  // The same of the shortest.
  localparam int unsigned ShortestBeats = (MinOctets - 1) / 8;
  localparam logic [2:0] ShortestRest = 3'((MinOctets - 1) % 8);
  localparam int unsigned BeatW = unsigned'($clog2(LongestBeats + 2));

  if (Words < 16 || Words <= LongestBeats || (Words & (Words - 1)) != 0) begin : gen_bad_words
    $fatal(0, "Words is a power of two, from 16 and the longest frame on (instance %m)");
  end
  if (MaxOctets < 64 || MaxOctets > 65_000) begin : gen_bad_length
    $fatal(0, "MaxOctets is 64 to 65000 (instance %m)");
  end

  typedef struct packed {
    logic        last;
    logic [2:0]  count;
    logic [63:0] data;
  } word_t;

  // Nothing happens while nothing comes and nothing is kept.
  logic        clk;
  logic        not_empty;

  // A beat, with its octets less 1, and whether its tkeep or tuser spoils the frame.
  logic        valid_q;
  logic        bad_beat_q;
  word_t       beat_q;
  logic  [2:0] count;
  logic        hole;

  always_comb begin
    hole = 1'b0;
    case (s_axis.keep)
      8'h01:   count = 3'd0;
      8'h03:   count = 3'd1;
      8'h07:   count = 3'd2;
      8'h0f:   count = 3'd3;
      8'h1f:   count = 3'd4;
      8'h3f:   count = 3'd5;
      8'h7f:   count = 3'd6;
      8'hff:   count = 3'd7;
      default: {hole, count} = {1'b1, 3'd7};
    endcase
  end

  always_ff @(posedge clk) begin
    if (rst_i) valid_q <= 1'b0;
    else valid_q <= s_axis_tvalid;
  end

  always_ff @(posedge clk) begin
    if (s_axis_tvalid) begin
      beat_q <= '{last: s_axis.last, count: count, data: s_axis.data};
      bad_beat_q <= hole || (s_axis.last ? s_axis.user : count != 3'd7);
    end
  end

  // Where the next beat goes, where its frame began, and the next beat to leave; a bit more than an address, so that full
  // and empty differ.
  logic [AddressW:0] in_q;
  logic [AddressW:0] frame_q;
  logic [AddressW:0] out_q;
  logic [ BeatW-1:0] beats_q;
  // Of the frame that comes: it is bad, it has found no room.
  logic              bad_q;
  logic              overflow_q;
  logic              full;
  logic              write;
  logic              too_long;
  logic              too_short;
  logic              bad;
  logic              overflow;
  logic              commit;

  assign full = in_q == {!out_q[AddressW], out_q[AddressW-1:0]};
  // Beats in front of this one: more than the longest frame has, as many, or fewer.
  assign too_long = 32'(beats_q) > LongestBeats
      || (32'(beats_q) == LongestBeats && (!beat_q.last || beat_q.count > LongestRest));
  assign too_short = beat_q.last && (32'(beats_q) < ShortestBeats
      || (32'(beats_q) == ShortestBeats && beat_q.count < ShortestRest));
  assign bad = bad_q || bad_beat_q || too_long || too_short;
  assign overflow = overflow_q || full;
  assign write = valid_q && !overflow && !bad_q;
  assign commit = valid_q && beat_q.last && !bad && !overflow;

  always_ff @(posedge clk) begin
    if (rst_i) begin
      in_q    <= '0;
      frame_q <= '0;
      beats_q <= '0;
      bad_q   <= 1'b0;
      overflow_q  <= 1'b0;
    end else if (valid_q) begin
      if (beat_q.last) begin
        in_q    <= commit ? in_q + 1'b1 : frame_q;
        beats_q <= '0;
        bad_q   <= 1'b0;
        overflow_q  <= 1'b0;
        if (commit) frame_q <= in_q + 1'b1;
      end else begin
        if (write) in_q <= in_q + 1'b1;
        if (32'(beats_q) <= LongestBeats) beats_q <= beats_q + 1'b1;
        bad_q <= bad;
        overflow_q <= overflow;
      end
    end
  end

  // Counted a clock later.
  logic bad_frame_q;
  logic lost_q;
  always_ff @(posedge clk) begin
    if (rst_i) begin
      bad_frame_q <= 1'b0;
      lost_q <= 1'b0;
    end else begin
      bad_frame_q <= valid_q && beat_q.last && bad;
      lost_q <= valid_q && beat_q.last && !bad && overflow;
    end
  end

  event_counter u_bad (
      .clk_i   (clk),
      .rst_i,
      .valid_i (bad_frame_q),
      .amount_i(1'b1),
      .count_o (bad_o)
  );

  event_counter u_dropped (
      .clk_i   (clk),
      .rst_i,
      .valid_i (lost_q),
      .amount_i(1'b1),
      .count_o (dropped_o)
  );

  // Out of the block RAM, whose output is late, through a register into a small FIFO. A word is read when the FIFO has a slot
  // for it, so that the sink's tready does not reach back to the block RAM.
  localparam int unsigned OutDepth = 8;
  localparam int unsigned OutW = 4;
  // A slot is never read in the clock in which it is written.
  (* no_rw_check *)
  word_t            words_q      [Words];
  word_t            read_q;
  word_t            pipe_q;
  word_t            shown;
  logic  [OutW-1:0] reserved_q;
  logic             read;
  logic             read_valid_q;
  logic             pipe_valid_q;
  logic             out_full;
  logic             no_word;
  logic             pop;

  assign read = out_q != frame_q && reserved_q != OutW'(OutDepth);
  assign pop  = !no_word && m_axis_tready;

  always_ff @(posedge clk) begin
    if (rst_i) begin
      out_q        <= '0;
      reserved_q   <= '0;
      read_valid_q <= 1'b0;
      pipe_valid_q <= 1'b0;
    end else begin
      if (read) out_q <= out_q + 1'b1;
      // Read, and not yet gone.
      if (read != pop) reserved_q <= pop ? reserved_q - 1'b1 : reserved_q + 1'b1;
      read_valid_q <= read;
      pipe_valid_q <= read_valid_q;
    end
  end

  always_ff @(posedge clk) begin
    if (write) words_q[in_q[AddressW-1:0]] <= beat_q;
    if (read) read_q <= words_q[out_q[AddressW-1:0]];
    if (read_valid_q) pipe_q <= read_q;
  end

  small_fifo #(
      .Width($bits(word_t)),
      .Depth(OutDepth)
  ) u_out (
      .clk_i  (clk),
      .rst_i,
      .push_i (pipe_valid_q),
      .data_i (pipe_q),
      .full_o (out_full),
      .pop_i  (pop),
      .data_o (shown),
      .empty_o(no_word)
  );

  assign m_axis = '{
          user: 1'b0,
          last: shown.last,
          keep: shown.last ? 8'hff >> (3'd7 - shown.count) : '1,
          data: shown.data
      };
  assign m_axis_tvalid = !no_word;

  assign not_empty = out_q != frame_q || reserved_q != '0;
  clock_gate u_clock (
      .clk_i,
      .enable_i(rst_i || s_axis_tvalid || not_empty),
      .clk_o(clk)
  );

`ifdef FORMAL
  // Safety: no frame is cut (when all kept beats have left, the last beat that left was a frame's last), and none
  // is longer than allowed. No word is written over, and none lacks a slot in the FIFO behind the memory.
  logic              past_valid_q = 1'b0;
  logic              between_q;
  logic [AddressW:0] kept_beats;
  logic [AddressW:0] written;
  logic [AddressW:0] last_kept;
  logic [  OutW-1:0] newest;
  logic [  OutW-1:0] claimed;
  assign kept_beats = frame_q - out_q;
  assign written = in_q - out_q;
  assign last_kept = frame_q - 1'b1;
  assign newest = u_out.in_q - 1'b1;
  assign claimed = u_out.in_q - u_out.out_q + OutW'(read_valid_q) + OutW'(pipe_valid_q);

  always_ff @(posedge clk_i) begin
    past_valid_q <= 1'b1;
    if (!past_valid_q) assume (rst_i);
    if (rst_i) between_q <= 1'b1;
    else if (pop) between_q <= shown.last;
    if (past_valid_q) begin
      assert (32'(written) <= Words);
      assert (kept_beats <= written);
      assert (32'(written - kept_beats) <= LongestBeats + 1);
      assert (32'(beats_q) <= LongestBeats + 1);
      if (32'(beats_q) > LongestBeats) assert (bad_q);
      if (!overflow_q && !bad_q) assert (32'(written - kept_beats) == 32'(beats_q));
      assert (32'(written - kept_beats) <= 32'(beats_q));
      // The last beats of those kept, and of each output stage.
      if (kept_beats != '0) assert (words_q[last_kept[AddressW-1:0]].last);
      if (kept_beats == '0 && read_valid_q) assert (read_q.last);
      if (kept_beats == '0 && !read_valid_q && pipe_valid_q) assert (pipe_q.last);
      if (kept_beats == '0 && !read_valid_q && !pipe_valid_q)
        assert (no_word ? between_q : u_out.entries_q[newest[OutW-2:0]][$bits(word_t)-1]);
      assert (reserved_q == claimed);
      assert (32'(claimed) <= OutDepth);
      assert (!(pipe_valid_q && out_full));
    end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (past_valid_q) cover (commit);
  end
`endif
endmodule

`default_nettype wire
