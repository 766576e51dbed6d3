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

module frame_fifo #(
  // Beats that the memory holds, a power of two, 16 to 2^16; one to three are never used.
  parameter int unsigned Words = 512
) (
  input var logic clk_i,
  input var logic rst_i,

  // In: tready is always high.
  input var  logic [63:0] s_axis_tdata,
  input var  logic [ 7:0] s_axis_tkeep,
  input var  logic        s_axis_tvalid,
  output var logic        s_axis_tready,
  input var  logic        s_axis_tlast,
  input var  logic        s_axis_tuser,

  output var logic [63:0] m_axis_tdata,
  output var logic [ 7:0] m_axis_tkeep,
  output var logic        m_axis_tvalid,
  input var  logic        m_axis_tready,
  output var logic        m_axis_tlast,
  output var logic        m_axis_tuser,

  // Three quarters of the words were taken in the clock before, but for a beat that came then.
  output var logic crowded_o,

  // Frames that were taken, and that were dropped. They stay at their largest value.
  output var logic [31:0] frames_o,
  output var logic [31:0] dropped_o
);
  localparam int unsigned AddressW = unsigned'($clog2(Words));
  // Beats that are read from the memory or at hand: as many as a small FIFO holds.
  localparam int unsigned Ahead = 8;
  localparam int unsigned AheadW = 4;

  if (Words < 16 || Words > 65_536 || 2 ** AddressW != Words) begin : gen_bad_words
    $fatal(0, "Words is a power of two, 16 to 2^16 (instance %m)");
  end

  typedef struct packed {
    logic        user;
    logic        last;
    // Octets less 1.
    logic [2:0]  octets;
    logic [63:0] data;
  } word_t;
  typedef logic [AddressW:0] pointer_t;

  // Nothing happens while nothing comes and nothing is there.
  logic     clk;
  logic     there;

  word_t    words_q   [Words];

  // Where the next beat goes, where its frame began, and the next to be read; a bit more than an address.
  pointer_t in_q;
  pointer_t frame_q;
  pointer_t out_q;
  logic     room_q;
  logic     crowded_q;
  logic     skips_q;
  logic     writes;
  logic     refuses;
  logic     ends;
  // The beat that came: a register, for many bits hang on whether one came, and it may come from far.
  logic     came_q;
  word_t    word_q;
  word_t    word;

  assign s_axis_tready = 1'b1;
  assign crowded_o     = crowded_q;
  assign writes        = came_q && !skips_q && room_q;
  assign refuses       = came_q && !skips_q && !room_q;
  assign ends          = writes && word_q.last;

  always_comb begin
    word = '{user: s_axis_tuser, last: s_axis_tlast, octets: '0, data: s_axis_tdata};
    for (int unsigned i = 1; i < 8; ++i) if (s_axis_tkeep[i]) word.octets = 3'(i);
  end

  always_ff @(posedge clk) begin
    came_q <= s_axis_tvalid && !rst_i;
    word_q <= word;
  end

  always_ff @(posedge clk) begin
    if (rst_i) begin
      in_q      <= '0;
      frame_q   <= '0;
      room_q    <= 1'b1;
      crowded_q <= 1'b0;
      skips_q   <= 1'b0;
    end else begin
      // One more may be in flight when this is seen, and one arrives then.
      room_q <= 32'(pointer_t'(in_q - out_q)) + 3 <= Words;
      crowded_q <= 32'(pointer_t'(in_q - out_q)) >= Words - Words / 4;
      if (writes) in_q <= in_q + 1'b1;
      else if (refuses) in_q <= frame_q;
      if (ends) frame_q <= in_q + 1'b1;
      if (came_q) skips_q <= !word_q.last && (skips_q || refuses);
    end
  end

  // Out: read ahead, so that the sink's tready does not reach back to the memory.
  logic                  reads;
  logic                  reading_q;
  logic                  read_q;
  word_t                 raw_q;
  word_t                 read_word_q;
  logic     [AheadW-1:0] ahead_q;
  // The address after the next one to be read; whether there is something to be read.
  pointer_t              behind_q;
  logic                  some_q;
  logic                  took_q;
  logic                  empty;
  logic                  full;
  logic                  takes;
  word_t                 head;

  assign reads = some_q && 32'(ahead_q) < Ahead;
  assign takes = m_axis_tvalid && m_axis_tready;

  always_ff @(posedge clk) begin
    if (writes) words_q[in_q[AddressW-1:0]] <= word_q;
    if (reads) raw_q <= words_q[out_q[AddressW-1:0]];
    read_word_q <= raw_q;
  end

  always_ff @(posedge clk) begin
    if (rst_i) begin
      out_q     <= '0;
      reading_q <= 1'b0;
      read_q    <= 1'b0;
      ahead_q   <= '0;
      behind_q  <= pointer_t'(1);
      some_q    <= 1'b0;
      took_q    <= 1'b0;
    end else begin
      if (reads) begin
        out_q    <= behind_q;
        behind_q <= behind_q + 1'b1;
      end
      some_q    <= ends || (reads ? behind_q != frame_q : some_q);
      reading_q <= reads;
      read_q    <= reading_q;
      // Words read and not yet sent, counted one clock late.
      took_q    <= takes;
      ahead_q   <= ahead_q + AheadW'(reads) - AheadW'(took_q);
    end
  end

  small_fifo #(
      .Width($bits(word_t)),
      .Depth(Ahead)
  ) u_ahead (
      .clk_i  (clk),
      .rst_i,
      .push_i (read_q),
      .data_i (read_word_q),
      .full_o (full),
      .pop_i  (takes),
      .data_o (head),
      .empty_o(empty)
  );

  // There is a slot for each that was read.
  logic unused;
  assign unused        = full;

  assign m_axis_tvalid = !empty;
  assign m_axis_tdata  = head.data;
  assign m_axis_tkeep  = 8'hff >> (3'd7 - head.octets);
  assign m_axis_tlast  = head.last;
  assign m_axis_tuser  = head.user;

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
      .valid_i (refuses),
      .amount_i(1'b1),
      .count_o (dropped_o)
  );

  assign there = came_q || some_q || ahead_q != '0;
  sleep_clock u_clock (
      .clk_i,
      .awake_i(rst_i || s_axis_tvalid || there),
      .clk_o  (clk)
  );

`ifdef FORMAL
  // Safety: no beat is written over one that is not read yet, none is read of a frame that is not whole, none that was
  // read finds no slot, none changes or is withdrawn while it waits. A slot stays free; it is crowded from three
  // quarters on, no sooner and no later; none is refused while more than two slots are free.
  logic [1:0] early_q = '1;
  logic past_held_q;
  logic [68:0] past_head_q;
  logic [AheadW-1:0] at_hand;
  logic [AddressW:0] past_used_q;

  assign at_hand = u_ahead.in_q - u_ahead.out_q;

  always_ff @(posedge clk_i) begin
    if (early_q != '0) early_q <= early_q - 1'b1;
    past_held_q <= m_axis_tvalid && !m_axis_tready && !rst_i;
    past_head_q <= head;
    past_used_q <= rst_i ? '0 : pointer_t'(in_q - out_q);
    if (early_q > 2'd1)
      assume (rst_i);
      else begin
        assert (32'(pointer_t'(in_q - out_q)) < Words);
        assert (crowded_o == (32'(past_used_q) * 4 >= 32'(Words) * 3));
        assert (room_q == (32'(past_used_q) < Words - 2));
        if (room_q) assert (32'(pointer_t'(in_q - out_q)) < Words);
        assert (pointer_t'(frame_q - out_q) <= pointer_t'(in_q - out_q));
        if (skips_q) assert (in_q == frame_q);
        assert (32'(ahead_q) <= Ahead);
        assert (behind_q == out_q + 1'b1 && some_q == (out_q != frame_q));
        assert (ahead_q == AheadW'(reading_q) + AheadW'(read_q) + at_hand + AheadW'(took_q));
        if (read_q) assert (!full);
        if (past_held_q) assert (m_axis_tvalid && head == past_head_q);
      end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (early_q == '0) cover (past_held_q && m_axis_tready && m_axis_tlast);
  end
`endif
endmodule

`default_nettype wire
