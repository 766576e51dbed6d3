// SPDX-License-Identifier: Apache-2.0
//
// Frame FIFO: whole frames, in block RAM. A frame shows at the output when its last beat has come, and then goes as fast as
// it is taken; so its reader never waits for its writer.
//
// The input never waits. A frame for which there is no room is dropped whole and counted; so is one that is longer than the
// FIFO.
//
// Latency: the first beat of a frame shows 6 clocks after its last beat came, if nothing is in front of it.
// Throughput: a beat a clock.

`default_nettype none

module frame_fifo
  import penstock_pkg::*;
#(
  // Beats that the memory holds, a power of two, 16 to 2^16; one to three are never used.
  parameter int unsigned Words = 512
) (
  input var logic clk_i,
  input var logic rst_i,

  // In: tready is always high.
  input var  axis_t s_axis,
  input var  logic  s_axis_tvalid,
  output var logic  s_axis_tready,

  output var axis_t m_axis,
  output var logic  m_axis_tvalid,
  input var  logic  m_axis_tready,

  // Three quarters of the words were taken in the clock before, but for a beat that came then.
  output var logic almost_full_o,

  // Frames that were taken, and that were dropped. They stay at their largest value.
  output var logic [31:0] frames_o,
  output var logic [31:0] dropped_o
);
  localparam int unsigned AddressW = unsigned'($clog2(Words));
  // Beats that are read from the memory or at hand: as many as a small FIFO holds.
  localparam int unsigned Prefetch = 8;
  localparam int unsigned PrefetchW = 4;

  if (Words < 16 || Words > 65_536 || 2 ** AddressW != Words) begin : gen_bad_words
    $fatal(0, "Words is a power of two, 16 to 2^16 (instance %m)");
  end

  typedef struct packed {
    logic             user;
    logic             last;
    // Octets less 1.
    beat_count_t      octets;
    logic [DataW-1:0] data;
  } word_t;
  typedef logic [AddressW:0] pointer_t;

  // Nothing happens while nothing comes and nothing is there.
  logic     clk;
  logic     active;

  // A word is never read in the clock in which it is written.
  (* no_rw_check *)
  word_t    words_q       [Words];

  // Where the next beat goes, where its frame began, and the next to be read; a bit more than an address.
  pointer_t in_q;
  pointer_t frame_q;
  pointer_t out_q;
  logic     room_q;
  logic     almost_full_q;
  logic     dropping_q;
  logic     writes;
  logic     overflows;
  logic     ends;
  // The beat that came: a register, for many bits hang on whether one came, and it may come from far.
  logic     word_valid_q;
  word_t    word_q;
  word_t    word;

  assign s_axis_tready = 1'b1;
  assign almost_full_o = almost_full_q;
  assign writes        = word_valid_q && !dropping_q && room_q;
  assign overflows     = word_valid_q && !dropping_q && !room_q;
  assign ends          = writes && word_q.last;

  always_comb begin
    word = '{user: s_axis.user, last: s_axis.last, octets: '0, data: s_axis.data};
    for (int unsigned i = 1; i < BeatOctets; ++i) if (s_axis.keep[i]) word.octets = BeatCountW'(i);
  end

  always_ff @(posedge clk) begin
    word_valid_q <= s_axis_tvalid && !rst_i;
    word_q <= word;
  end

  always_ff @(posedge clk) begin
    if (rst_i) begin
      in_q          <= '0;
      frame_q       <= '0;
      room_q        <= 1'b1;
      almost_full_q <= 1'b0;
      dropping_q    <= 1'b0;
    end else begin
      // One more may be in flight when this is seen, and one arrives then.
      room_q <= 32'(pointer_t'(in_q - out_q)) + 3 <= Words;
      almost_full_q <= 32'(pointer_t'(in_q - out_q)) >= Words - Words / 4;
      if (writes) in_q <= in_q + 1'b1;
      else if (overflows) in_q <= frame_q;
      if (ends) frame_q <= in_q + 1'b1;
      if (word_valid_q) dropping_q <= !word_q.last && (dropping_q || overflows);
    end
  end

  // Out: read ahead, so that the sink's tready does not reach back to the memory.
  logic                     reads;
  logic                     reading_q;
  logic                     read_q;
  word_t                    raw_q;
  word_t                    read_word_q;
  logic     [PrefetchW-1:0] prefetched_q;
  // The address after the next one to be read; whether there is something to be read.
  pointer_t                 out_next_q;
  logic                     not_empty_q;
  logic                     popped_q;
  logic                     empty;
  logic                     full;
  logic                     pop;
  word_t                    head;

  assign reads = not_empty_q && 32'(prefetched_q) < Prefetch;
  assign pop   = m_axis_tvalid && m_axis_tready;

  always_ff @(posedge clk) begin
    if (writes) words_q[in_q[AddressW-1:0]] <= word_q;
    if (reads) raw_q <= words_q[out_q[AddressW-1:0]];
    read_word_q <= raw_q;
  end

  always_ff @(posedge clk) begin
    if (rst_i) begin
      out_q        <= '0;
      reading_q    <= 1'b0;
      read_q       <= 1'b0;
      prefetched_q <= '0;
      out_next_q   <= pointer_t'(1);
      not_empty_q  <= 1'b0;
      popped_q     <= 1'b0;
    end else begin
      if (reads) begin
        out_q    <= out_next_q;
        out_next_q <= out_next_q + 1'b1;
      end
      not_empty_q    <= ends || (reads ? out_next_q != frame_q : not_empty_q);
      reading_q <= reads;
      read_q    <= reading_q;
      // Words read and not yet sent, counted one clock late.
      popped_q    <= pop;
      prefetched_q   <= prefetched_q + PrefetchW'(reads) - PrefetchW'(popped_q);
    end
  end

  small_fifo #(
      .Width($bits(word_t)),
      .Depth(Prefetch)
  ) u_prefetch (
      .clk_i  (clk),
      .rst_i,
      .push_i (read_q),
      .data_i (read_word_q),
      .full_o (full),
      .pop_i  (pop),
      .data_o (head),
      .empty_o(empty)
  );

  // There is a slot for each that was read.
  logic unused;
  assign unused = full;

  assign m_axis_tvalid = !empty;
  assign m_axis = '{
          user: head.user,
          last: head.last,
          keep: keep_of(head.octets),
          data: head.data
      };

  event_counter u_frames (
      .clk_i   (clk),
      .rst_i,
      .valid_i (ends),
      .amount_i(1'b1),
      .count_o (frames_o)
  );

  event_counter u_dropped (
      .clk_i   (clk),
      .rst_i,
      .valid_i (overflows),
      .amount_i(1'b1),
      .count_o (dropped_o)
  );

  assign active = word_valid_q || not_empty_q || prefetched_q != '0;
  clock_gate u_clock (
      .clk_i,
      .enable_i(rst_i || s_axis_tvalid || active),
      .clk_o(clk)
  );

`ifdef FORMAL
  // Safety: no beat is written over one that is not read yet, none is read of a frame that is not whole. None that was
  // read finds no slot, none changes or is withdrawn while it waits. A slot stays free; it is crowded from three
  // quarters on, no sooner and no later; none is refused while more than two slots are free.
  logic [1:0] early_q = '1;
  logic past_held_q;
  word_t past_head_q;
  logic [PrefetchW-1:0] available;
  logic [AddressW:0] past_used_q;

  assign available = u_prefetch.in_q - u_prefetch.out_q;

  always_ff @(posedge clk_i) begin
    if (early_q != '0) early_q <= early_q - 1'b1;
    past_held_q <= m_axis_tvalid && !m_axis_tready && !rst_i;
    past_head_q <= head;
    past_used_q <= rst_i ? '0 : pointer_t'(in_q - out_q);
    if (early_q > 2'd1)
      assume (rst_i);
      else begin
        assert (32'(pointer_t'(in_q - out_q)) < Words);
        assert (almost_full_o == (32'(past_used_q) * 4 >= 32'(Words) * 3));
        assert (room_q == (32'(past_used_q) < Words - 2));
        if (room_q) assert (32'(pointer_t'(in_q - out_q)) < Words);
        assert (pointer_t'(frame_q - out_q) <= pointer_t'(in_q - out_q));
        if (dropping_q) assert (in_q == frame_q);
        if (writes && reads) assert (in_q[AddressW-1:0] != out_q[AddressW-1:0]);
        assert (32'(prefetched_q) <= Prefetch);
        assert (out_next_q == out_q + 1'b1 && not_empty_q == (out_q != frame_q));
        assert (prefetched_q == PrefetchW'(reading_q) + PrefetchW'(read_q)
          + available + PrefetchW'(popped_q));
        if (read_q) assert (!full);
        if (past_held_q) assert (m_axis_tvalid && head == past_head_q);
      end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (early_q == '0) cover (past_held_q && m_axis_tready && m_axis.last);
  end
`endif
endmodule

`default_nettype wire
