// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous frame FIFO: whole frames from one clock into another. A frame shows at the output when its last beat has come, and
// then has a beat in every clock in which it is taken; so a MAC that sends it never waits. Its length, and what stood
// beside its first beat, stand beside all of its beats.
//
// Beats lie in a memory with two clocks. A frame that is whole gets a descriptor in a second one. The descriptors' pointer goes to
// the output in Gray code, and the pointer of beats that were read comes back in Gray code; each advances by one at a time.
//
// A reset of either side empties both. The frame that is coming in then is dropped to its end; the one that is going out
// ends with a beat that says that it is bad.
//
// Latency: the first beat of a frame shows 2 clocks of the input and 8 to 9 clocks of the output after its last beat came.
// Throughput: a beat a clock at either side.

`default_nettype none

module async_frame_fifo
  import penstock_pkg::*;
  import cn_frame_pkg::*;
#(
  // Beats that the memory holds, a power of two, 16 to 2^16. The longest frame has one less.
  parameter int unsigned Words  = 512,
  // Frames that it holds, a power of two, 4 to 2^16; one or two are never used.
  parameter int unsigned Frames = 64,
  // A frame that finds no room is dropped, and the input never waits. Else it waits, and only a frame that is longer than the
  // memory is dropped.
  parameter bit          Drop   = 1'b1,
  // Bits that stand beside a frame.
  parameter int unsigned SideW  = 1
) (
  input var logic s_clk_i,
  input var logic s_rst_i,

  input var  axis_t             s_axis,
  input var  logic              s_axis_tvalid,
  output var logic              s_axis_tready,
  // Beside the first beat.
  input var  logic  [SideW-1:0] s_side_i,

  // Frames that were taken, and that were dropped, in the input's clock. They stay at their largest value.
  output var logic [31:0] frames_o,
  output var logic [31:0] dropped_o,

  input var logic m_clk_i,
  input var logic m_rst_i,

  output var axis_t                     m_axis,
  output var logic                      m_axis_tvalid,
  input var  logic                      m_axis_tready,
  // Beside each beat: the frame's length with its FCS, and what stood beside its first beat.
  output var frame_octets_t             m_octets_o,
  output var logic          [SideW-1:0] m_side_o
);
  localparam int unsigned AddressW = unsigned'($clog2(Words));
  localparam int unsigned FramesW = unsigned'($clog2(Frames));
  // Beats that are read from the memory or at hand, and the frames that these may be of.
  localparam int unsigned Prefetch = 8;
  localparam int unsigned PrefetchW = 4;
  localparam int unsigned Lengths = 16;

  if (Words < 16 || Words > 65_536 || 2 ** AddressW != Words) begin : gen_bad_words
    $fatal(0, "Words is a power of two, 16 to 2^16 (instance %m)");
  end
  if (Frames < 4 || Frames > 65_536 || 2 ** FramesW != Frames) begin : gen_bad_frames
    $fatal(0, "Frames is a power of two, 4 to 2^16 (instance %m)");
  end
  if (SideW == 0) begin : gen_bad_side
    $fatal(0, "SideW is 1 at least (instance %m)");
  end

  typedef struct packed {
    logic             user;
    logic             last;
    // Octets less 1.
    beat_count_t      octets;
    logic [DataW-1:0] data;
  } word_t;
  // A bit more than an address.
  typedef logic [AddressW:0] pointer_t;
  typedef logic [FramesW:0] frame_pointer_t;
  typedef struct packed {
    frame_octets_t    octets;
    logic [SideW-1:0] side;
  } beside_t;
  typedef struct packed {
    pointer_t beats;
    beside_t  beside;
  } descriptor_t;

  // Resets.
  logic s_reset_q;
  logic m_reset_q;
  logic either;
  logic s_ready;
  logic s_clear;
  logic s_run;
  logic m_ready;
  logic m_clear;
  logic m_run;

  always_ff @(posedge s_clk_i) s_reset_q <= s_rst_i;
  always_ff @(posedge m_clk_i) m_reset_q <= m_rst_i;
  assign either = s_reset_q || m_reset_q;

  crossing_reset u_s_reset (
      .clk_i        (s_clk_i),
      .rst_i        (s_rst_i),
      .either_i     (either),
      .ready_o      (s_ready),
      .other_ready_i(m_ready),
      .clear_o      (s_clear),
      .run_o        (s_run)
  );

  crossing_reset u_m_reset (
      .clk_i        (m_clk_i),
      .rst_i        (m_rst_i),
      .either_i     (either),
      .ready_o      (m_ready),
      .other_ready_i(s_ready),
      .clear_o      (m_clear),
      .run_o        (m_run)
  );

  // In.
  word_t                      words_q             [ Words];
  descriptor_t                descriptors_q       [Frames];

  // Where the next beat goes, and where its frame began.
  pointer_t                   in_q;
  pointer_t                   frame_q;
  // The pointer of beats that were read, as it is seen here.
  pointer_t                   out_seen_gray;
  pointer_t                   out_seen;
  pointer_t                   used;
  logic                       room_q;
  logic                       first_q;
  logic                       dropping_q;
  logic                       beat;
  logic                       writes;
  logic                       overflows;
  logic                       ends;
  word_t                      word;
  logic           [     31:0] octets;

  // Its descriptor, which is written a clock later.
  logic                       described_q;
  descriptor_t                descriptor_q;
  logic           [SideW-1:0] side_q;
  frame_pointer_t             frame_in_q;
  frame_pointer_t             frame_in_gray_q;
  frame_pointer_t             frame_out_seen_gray;
  frame_pointer_t             frame_out_seen;
  frame_pointer_t             frames_used;
  logic                       frame_room_q;

  assign out_seen       = from_gray(out_seen_gray);
  assign frame_out_seen = from_frame_gray(frame_out_seen_gray);
  assign used           = in_q - out_seen;
  assign frames_used    = frame_in_q - frame_out_seen;

  assign beat           = s_axis_tvalid && s_axis_tready;
  assign ends           = writes && s_axis.last;
  if (Drop) begin : gen_drop
    logic fits;
    assign s_axis_tready = 1'b1;
    assign fits          = s_run && room_q && (frame_room_q || !s_axis.last);
    assign writes        = beat && !dropping_q && fits;
    assign overflows     = beat && !dropping_q && !fits;
  end else begin : gen_wait
    assign s_axis_tready = dropping_q || (s_run && room_q && frame_room_q);
    assign writes        = beat && !dropping_q && !overflows;
    // It has all of the memory, and its last beat has not come.
    assign overflows     = !dropping_q && 32'(pointer_t'(in_q - frame_q)) == Words - 1;
  end

  assign octets = ((32'(pointer_t'(in_q - frame_q))) << BeatCountW) + 32'(octets_of(
      s_axis.keep
  )) + FcsOctets;

  always_comb begin
    word = '{user: s_axis.user, last: s_axis.last, octets: '0, data: s_axis.data};
    for (int unsigned i = 1; i < BeatOctets; ++i) if (s_axis.keep[i]) word.octets = BeatCountW'(i);
  end

  always_ff @(posedge s_clk_i) begin
    if (writes) words_q[in_q[AddressW-1:0]] <= word;
    if (described_q) descriptors_q[frame_in_q[FramesW-1:0]] <= descriptor_q;
    if (first_q && beat) side_q <= s_side_i;
    descriptor_q <= '{
        beats: pointer_t'(in_q - frame_q) + 1'b1,
        beside: '{
            octets: octets[31:FrameW] != '0 ? '1 : octets[FrameW-1:0],
            side: first_q ? s_side_i : side_q
        }
    };
  end

  // What a reset of the other side leaves: where a frame begins, and that the rest of one is dropped.
  always_ff @(posedge s_clk_i) begin
    if (s_rst_i) begin
      first_q    <= 1'b1;
      dropping_q <= 1'b0;
    end else begin
      if (beat) first_q <= s_axis.last;
      if (beat) dropping_q <= !s_axis.last && (dropping_q || overflows);
      else dropping_q <= dropping_q || overflows || (!s_run && !first_q);
    end
  end

  always_ff @(posedge s_clk_i) begin
    if (s_clear) begin
      in_q            <= '0;
      frame_q         <= '0;
      room_q          <= 1'b0;
      described_q     <= 1'b0;
      frame_in_q      <= '0;
      frame_in_gray_q <= '0;
      frame_room_q    <= 1'b0;
    end else begin
      if (overflows) in_q <= frame_q;
      else if (writes) in_q <= in_q + 1'b1;
      if (ends) frame_q <= in_q + 1'b1;
      // One more may be written when this is seen.
      room_q       <= 32'(used) + 2 <= Words;
      described_q  <= ends;
      // And one more may be described.
      frame_room_q <= 32'(frames_used) + 3 <= Frames;
      if (described_q) begin
        frame_in_q      <= frame_in_q + 1'b1;
        frame_in_gray_q <= to_frame_gray(frame_in_q + 1'b1);
      end
    end
  end

  // Out.
  pointer_t                       out_q;
  pointer_t                       out_gray_q;
  frame_pointer_t                 frame_in_seen_gray;
  frame_pointer_t                 frame_in_seen;
  frame_pointer_t                 frame_out_q;
  frame_pointer_t                 frame_out_gray_q;
  // The next frame; beats of this one that are not read yet.
  logic                           next_valid_q;
  descriptor_t                    next_q;
  pointer_t                       left_q;
  logic                           reads;
  logic                           takes;
  logic                           fetches;
  logic                           reading_q;
  logic                           read_q;
  word_t                          raw_q;
  word_t                          read_word_q;
  logic           [PrefetchW-1:0] prefetched_q;
  logic                           popped_q;
  logic                           pop;
  word_t                          head;
  logic                           empty;
  beside_t                        beside;
  // The beat at the output, and whether its frame goes on.
  logic                           shown_q;
  logic                           open_q;
  // It goes on no more: its end is to be shown, when the beat that is shown has been taken.
  logic                           cut;
  logic                           cut_q;
  word_t                          shown_word_q;
  beside_t                        shown_beside_q;
  logic                           moves;

  assign frame_in_seen = from_frame_gray(frame_in_seen_gray);
  assign reads = left_q != '0 && 32'(prefetched_q) < Prefetch;
  assign takes = m_run && next_valid_q && (left_q == '0 || (reads && left_q == pointer_t'(1)));
  assign fetches = m_run && (!next_valid_q || takes) && frame_out_q != frame_in_seen;
  assign moves = !shown_q || m_axis_tready;
  assign cut = open_q && (cut_q || !m_run);
  assign pop = m_run && moves && !empty && !cut;

  always_ff @(posedge m_clk_i) begin
    if (fetches) next_q <= descriptors_q[frame_out_q[FramesW-1:0]];
    if (reads) raw_q <= words_q[out_q[AddressW-1:0]];
    read_word_q <= raw_q;
  end

  always_ff @(posedge m_clk_i) begin
    if (m_clear) begin
      out_q            <= '0;
      out_gray_q       <= '0;
      frame_out_q      <= '0;
      frame_out_gray_q <= '0;
      next_valid_q     <= 1'b0;
      left_q           <= '0;
      reading_q        <= 1'b0;
      read_q           <= 1'b0;
      prefetched_q     <= '0;
      popped_q         <= 1'b0;
    end else begin
      if (reads) begin
        out_q      <= out_q + 1'b1;
        out_gray_q <= to_gray(out_q + 1'b1);
      end
      if (fetches) begin
        frame_out_q      <= frame_out_q + 1'b1;
        frame_out_gray_q <= to_frame_gray(frame_out_q + 1'b1);
      end
      next_valid_q <= fetches || (next_valid_q && !takes);
      left_q       <= takes ? next_q.beats : left_q - pointer_t'(reads);
      reading_q    <= reads;
      read_q       <= reading_q;
      // Words read and not yet shown, counted one clock late.
      popped_q     <= pop;
      prefetched_q <= prefetched_q + PrefetchW'(reads) - PrefetchW'(popped_q);
    end
  end

  // A beat that is shown stays, whatever the other side does. A frame that was cut gets its end.
  always_ff @(posedge m_clk_i) begin
    if (m_rst_i) begin
      shown_q <= 1'b0;
      open_q  <= 1'b0;
      cut_q   <= 1'b0;
    end else begin
      cut_q <= cut && !moves;
      if (moves) begin
        shown_q <= pop || cut;
        open_q  <= pop ? !head.last : open_q && !cut;
      end
    end
    if (moves) begin
      shown_word_q <= cut ? '{user: 1'b1, last: 1'b1, default: '0} : head;
      if (!cut) shown_beside_q <= beside;
    end
  end

  assign m_axis_tvalid = shown_q;
  assign m_axis = '{
          user: shown_word_q.user,
          last: shown_word_q.last,
          keep: keep_of(shown_word_q.octets),
          data: shown_word_q.data
      };
  assign m_octets_o = shown_beside_q.octets;
  assign m_side_o = shown_beside_q.side;

  // There is a slot for each word that was read, and for each frame that these are of.
  logic unused_full;
  logic unused_many;
  logic unused_none;
  logic unused;
  assign unused = unused_full || unused_many || unused_none;

  small_fifo #(
      .Width($bits(word_t)),
      .Depth(Prefetch)
  ) u_prefetch (
      .clk_i  (m_clk_i),
      .rst_i  (m_clear),
      .push_i (read_q),
      .data_i (read_word_q),
      .full_o (unused_full),
      .pop_i  (pop),
      .data_o (head),
      .empty_o(empty)
  );

  small_fifo #(
      .Width($bits(beside_t)),
      .Depth(Lengths)
  ) u_beside (
      .clk_i  (m_clk_i),
      .rst_i  (m_clear),
      .push_i (takes),
      .data_i (next_q.beside),
      .full_o (unused_many),
      .pop_i  (pop && head.last),
      .data_o (beside),
      .empty_o(unused_none)
  );

  // Across.
  sync_bits #(
      .Width(AddressW + 1)
  ) u_out_seen (
      .clk_i  (s_clk_i),
      .rst_i  (s_clear),
      .async_i(out_gray_q),
      .sync_o (out_seen_gray)
  );

  sync_bits #(
      .Width(FramesW + 1)
  ) u_frame_out_seen (
      .clk_i  (s_clk_i),
      .rst_i  (s_clear),
      .async_i(frame_out_gray_q),
      .sync_o (frame_out_seen_gray)
  );

  sync_bits #(
      .Width(FramesW + 1)
  ) u_frame_in_seen (
      .clk_i  (m_clk_i),
      .rst_i  (m_clear),
      .async_i(frame_in_gray_q),
      .sync_o (frame_in_seen_gray)
  );

  event_counter u_frames (
      .clk_i   (s_clk_i),
      .rst_i   (s_rst_i),
      .valid_i (ends),
      .amount_i(1'b1),
      .count_o (frames_o)
  );

  event_counter u_dropped (
      .clk_i   (s_clk_i),
      .rst_i   (s_rst_i),
      .valid_i (overflows || (!beat && !s_run && !first_q && !dropping_q)),
      .amount_i(1'b1),
      .count_o (dropped_o)
  );

  function automatic pointer_t to_gray(input pointer_t binary);
    return binary ^ (binary >> 1);
  endfunction

  function automatic pointer_t from_gray(input pointer_t gray);
    for (int unsigned b = 0; b <= AddressW; ++b) from_gray[b] = ^(gray >> b);
  endfunction

  function automatic frame_pointer_t to_frame_gray(input frame_pointer_t binary);
    return binary ^ (binary >> 1);
  endfunction

  function automatic frame_pointer_t from_frame_gray(input frame_pointer_t gray);
    for (int unsigned b = 0; b <= FramesW; ++b) from_frame_gray[b] = ^(gray >> b);
  endfunction
endmodule

`default_nettype wire
