// SPDX-License-Identifier: Apache-2.0
//
// The frames of a queue, in block RAM: they come in beat by beat and are kept or discarded whole at their end.
//
// Beats of a frame are written as they come; end_i, after the last, says by commit_i whether the frame joins the queue. If
// the store had no room for one of its beats, full_o is high from the clock after that beat to the one of end_i, and the
// frame must not be kept. The next frame's beats come after end_i. With beats of more than 64 bits end_i comes with the last,
// and full_o in the clock of the beat. A kept frame shows at m_axis 6 clocks after end_i at
// the earliest; sent_valid_o is high in the clock after that of its last beat. Throughput: a beat a clock in and out.

`default_nettype none

module cp_frame_store
  import penstock_pkg::*;
  import cn_frame_pkg::*;
#(
  // Beats that fit, at least 8; one slot stays free.
  parameter int unsigned Words = 8192
) (
  input var logic clk_i,
  input var logic rst_i,

  input var  logic                    beat_valid_i,
  input var  logic        [DataW-1:0] beat_data_i,
  // Octets less 1, if it is the last.
  input var  beat_count_t             beat_count_i,
  input var  logic                    beat_last_i,
  output var logic                    full_o,

  input var logic end_i,
  input var logic commit_i,

  output var axis_t m_axis,
  output var logic  m_axis_tvalid,
  input var  logic  m_axis_tready,

  // A frame has left; its octets with its FCS.
  output var logic          sent_valid_o,
  output var frame_octets_t sent_octets_o
);
  localparam int unsigned AddressW = unsigned'($clog2(Words));
  typedef logic [AddressW-1:0] address_t;

  if (Words < 8) begin : gen_bad_words
    $fatal(0, "Words is at least 8 (instance %m)");
  end

  typedef struct packed {
    logic             last;
    beat_count_t      count;
    logic [DataW-1:0] data;
  } word_t;

  function automatic address_t after(address_t address);
    return address == AddressW'(Words - 1) ? '0 : address + 1'b1;
  endfunction

  // Where the next beat goes, where its frame began, and the next beat to leave.
  address_t in_q;
  address_t frame_q;
  address_t out_q;
  // How many words are free, kept, and of the frame that comes, each less 1: the highest bit says that there is none.
  typedef logic [AddressW:0] count_t;
  count_t free_q;
  count_t committed_q;
  count_t frame_words_q;
  logic   full_q;
  logic   write;
  logic   read;
  // The counts follow a frame's end a clock later; nothing is read in that clock, but with wide beats while a frame joins.
  logic   commit_q;
  logic   rollback_q;

  // The last beat comes with end_i, not before it.
  localparam bit AtOnce = DataW > 64;
  address_t in_next;

  assign write   = beat_valid_i && !free_q[AddressW] && !full_q;
  assign full_o  = full_q || (AtOnce && beat_valid_i && free_q[AddressW]);
  assign in_next = AtOnce && write ? after(in_q) : in_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      in_q    <= '0;
      frame_q <= '0;
      full_q  <= 1'b0;
      commit_q  <= 1'b0;
      rollback_q  <= 1'b0;
    end else begin
      commit_q   <= end_i && commit_i;
      rollback_q <= end_i && !commit_i;
      if (end_i && !commit_i) in_q <= frame_q;
      else if (write) in_q <= after(in_q);
      if (end_i && commit_i) frame_q <= in_next;
      if (end_i) full_q <= 1'b0;
      else if (beat_valid_i && free_q[AddressW]) full_q <= 1'b1;
    end
  end

  count_t free_change;
  count_t committed_change;
  assign free_change = rollback_q ? frame_words_q : {(AddressW + 1) {write}};
  assign committed_change = commit_q ? frame_words_q : {(AddressW + 1) {read}};

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      free_q <= (AddressW + 1)'(Words - 2);
      committed_q <= '1;
      frame_words_q <= '1;
    end else begin
      free_q <= free_q + free_change + (AddressW + 1)'(rollback_q ? !write : read);
      committed_q <= committed_q + committed_change + (AddressW + 1)'(commit_q && !read);
      frame_words_q <= (commit_q || rollback_q ? '1 : frame_words_q) + (AddressW + 1)'(write);
    end
  end

  // Out of the block RAM, whose outputs are late, through two registers into a small FIFO. A word is read when the FIFO has a
  // slot for it, so that the sink's tready does not reach back to the block RAM.
  localparam int unsigned OutDepth = 16;
  localparam int unsigned OutW = 5;
  logic  [OutW-1:0] free_slots_q;
  logic             read_valid_q;
  logic             bank_valid_q;
  logic             pipe_valid_q;
  logic             no_word;
  logic             out_full;
  logic             pop;
  word_t            pipe_q;
  word_t            shown;
  logic             settled;

  assign settled = !committed_q[AddressW] && !(commit_q && !AtOnce) && !rollback_q;
  assign read = settled && !free_slots_q[OutW-1];

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      out_q        <= '0;
      free_slots_q <= OutW'(OutDepth - 1);
      read_valid_q <= 1'b0;
      bank_valid_q <= 1'b0;
      pipe_valid_q <= 1'b0;
    end else begin
      if (read) out_q <= after(out_q);
      // Free slots less 1, as the counts above.
      free_slots_q <= free_slots_q + {OutW{read}} + OutW'(pop);
      read_valid_q <= read;
      bank_valid_q <= read_valid_q;
      pipe_valid_q <= bank_valid_q;
    end
  end

  // In banks of 8192 words, the last as small as possible. Each has slices as wide as a block RAM of 18 Kbit at this depth.
  // Each bank has an output register next to its block RAMs, and the multiplexer is after these registers.
  localparam int unsigned BankWords = 8192;
  localparam int unsigned Banks = (Words + BankWords - 1) / BankWords;
  localparam int unsigned BankW = Banks > 1 ? unsigned'($clog2(Banks)) : 1;
  typedef logic [BankW-1:0] bank_t;
  bank_t                                   read_bank_q;
  bank_t                                   bank_select_q;
  // What is written, and where: a clock behind the counts, so that their decision does not reach the block RAMs.
  logic                                    write_q;
  address_t                                write_at_q;
  word_t                                   write_word_q;
  logic     [Banks-1:0][$bits(word_t)-1:0] bank_data_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) write_q <= 1'b0;
    else write_q <= write;
  end
  always_ff @(posedge clk_i) begin
    write_at_q   <= in_q;
    write_word_q <= '{last: beat_last_i, count: beat_count_i, data: beat_data_i};
  end

  for (genvar bank = 0; bank < Banks; bank++) begin : gen_banks
    localparam int unsigned Size = bank == Banks - 1 ? Words - bank * BankWords : BankWords;
    localparam int unsigned BankAddressW = Size > 1 ? unsigned'($clog2(Size)) : 1;
    localparam int unsigned SliceW = Size <= 1024 ? 18 : Size <= 2048 ? 9 : Size <= 4096 ? 4 : 2;
    localparam int unsigned Slices = ($bits(word_t) + SliceW - 1) / SliceW;
    typedef logic [Slices*SliceW-1:0] sliced_t;
    sliced_t sliced;
    sliced_t read_q;
    logic    writes;

    assign sliced = sliced_t'(write_word_q);
    assign writes = write_q && 32'(write_at_q) / BankWords == bank;
    for (genvar slice = 0; slice < Slices; slice++) begin : gen_slices
      // A slot that counts is never read in the clock in which it is written. It is read in every clock, counted or not: an
      // enable would have to reach all block RAMs in the clock in which it is decided.
      (* no_rw_check *)
      logic [SliceW-1:0] bits_q[Size];
      always_ff @(posedge clk_i) begin
        if (writes) bits_q[BankAddressW'(write_at_q)] <= sliced[slice*SliceW+:SliceW];
      end
      always_ff @(posedge clk_i) begin
        read_q[slice*SliceW+:SliceW] <= bits_q[BankAddressW'(out_q)];
      end
    end
    always_ff @(posedge clk_i) bank_data_q[bank] <= read_q[$bits(word_t)-1:0];
  end

  // The bank goes beside its word; the second register lies wherever the FIFO is.
  always_ff @(posedge clk_i) begin
    read_bank_q   <= bank_t'(32'(out_q) / BankWords);
    bank_select_q <= read_bank_q;
    pipe_q        <= word_t'(bank_data_q[bank_select_q]);
  end

  small_fifo #(
      .Width($bits(word_t)),
      .Depth(OutDepth)
  ) u_out (
      .clk_i,
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
          keep: shown.last ? keep_of(shown.count) : '1,
          data: shown.data
      };
  assign m_axis_tvalid = !no_word;

  // Octets of the frame that leaves, with the FCS, a clock behind its beats.
  logic          sent_q;
  logic          sent_last_q;
  beat_count_t   sent_count_q;
  frame_octets_t octets_q;

  assign pop           = !no_word && m_axis_tready;
  assign sent_valid_o  = sent_q && sent_last_q;
  assign sent_octets_o = octets_q + FrameW'(sent_count_q) + 1'b1;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      sent_q   <= 1'b0;
      octets_q <= FrameW'(FcsOctets);
    end else begin
      sent_q <= pop;
      if (sent_q) octets_q <= sent_last_q ? FrameW'(FcsOctets) : octets_q + FrameW'(BeatOctets);
    end
  end

  always_ff @(posedge clk_i) begin
    sent_last_q  <= shown.last;
    sent_count_q <= shown.count;
  end

`ifdef FORMAL
  // Safety: no frame is cut. When all kept beats have left, the last beat that left was a frame's last. The kept beats
  // are whole frames, whatever leaves when. (Order is that of the addresses; the content of a beat is not touched.)
  logic     past_valid_q = 1'b0;
  logic     between_q;
  logic     whole_q;
  address_t kept;
  address_t written;
  function automatic address_t distance(address_t from, address_t to);
    return to >= from ? to - from : to + (AddressW'(Words) - from);
  endfunction
  assign kept    = distance(out_q, frame_q);
  assign written = distance(out_q, in_q);
  address_t last_kept;
  assign last_kept = frame_q == '0 ? AddressW'(Words - 1) : frame_q - 1'b1;
  address_t last_written;
  assign last_written = in_q == '0 ? AddressW'(Words - 1) : in_q - 1'b1;

  // The bit `last` of both, in its slice: the proof has few words, in one bank.
  localparam int unsigned LastBit = $bits(word_t) - 1;
  logic last_kept_is_last;
  logic last_written_is_last;
  localparam int unsigned Slice = LastBit / 18;
  localparam int unsigned Bit = LastBit % 18;
  assign last_kept_is_last = write_q && write_at_q == last_kept ? write_word_q.last :
      gen_banks[0].gen_slices[Slice].bits_q[last_kept][Bit];
  assign last_written_is_last = write_q ? write_word_q.last :
      gen_banks[0].gen_slices[Slice].bits_q[last_written][Bit];

  // The newest word in the FIFO, and how many there are.
  logic            newest_last;
  logic [OutW-1:0] newest;
  logic [     2:0] in_flight;
  logic [OutW-1:0] claimed;
  assign newest = u_out.in_q - 1'b1;
  assign newest_last = u_out.entries_q[newest[OutW-2:0]][LastBit];
  assign in_flight = {read_valid_q, bank_valid_q, pipe_valid_q};
  assign claimed = u_out.in_q - u_out.out_q + OutW'($countones(in_flight));

  always_ff @(posedge clk_i) begin
    past_valid_q <= 1'b1;
    if (!past_valid_q) assume (rst_i);
    // As its user does: end_i once behind the last beat, no beat between, and none is kept that did not fit.
    if (whole_q) assume (!beat_valid_i || AtOnce);
    if (AtOnce) assume (!end_i || !beat_valid_i || beat_last_i);
    if (AtOnce) assume (end_i || !beat_valid_i || !beat_last_i);
    if (AtOnce) assume (!commit_i || beat_valid_i);
    if (!whole_q && !AtOnce) assume (!end_i);
    if (full_o) assume (!commit_i);
    if (rst_i) begin
      between_q <= 1'b1;
      whole_q   <= 1'b0;
    end else begin
      if (pop) between_q <= shown.last;
      if (end_i) whole_q <= 1'b0;
      else if (beat_valid_i && beat_last_i && !AtOnce) whole_q <= 1'b1;
    end
    if (past_valid_q) begin
      assert (32'(in_q) < Words && 32'(frame_q) < Words && 32'(out_q) < Words);
      assert (32'(kept) <= 32'(written));
      // The counts, as they are when they have followed a frame's end.
      assert (!(commit_q && rollback_q));
      if (commit_q || rollback_q) assert (in_q == frame_q && !whole_q);
      assert (count_t'(written) + free_q
        + (rollback_q ? frame_words_q + 1'b1 : '0) + 2'd2 == count_t'(Words));
      assert (count_t'(committed_q + (commit_q ? frame_words_q + 1'b1 : '0)) + 1'b1
        == count_t'(kept));
      if (!commit_q && !rollback_q)
        assert (count_t'(frame_words_q + 1'b1) == count_t'(written - kept));
      // A beat that is still to be written is the last that came; none is read before it is written.
      if (write_q && !rollback_q)
        assert (write_at_q == last_written && (written != kept || commit_q && AtOnce));
      if (write_q && read) assert (out_q != write_at_q);
      // The last beats of those kept, of those that have arrived, and of each output stage.
      if (kept != '0) assert (last_kept_is_last);
      if (AtOnce) assert (!whole_q);
      if (whole_q && !full_q) assert (written != kept && last_written_is_last);
      if (kept == '0 && read_valid_q) assert (gen_banks[0].read_q[LastBit]);
      if (kept == '0 && !read_valid_q && bank_valid_q) assert (bank_data_q[0][LastBit]);
      if (kept == '0 && !read_valid_q && !bank_valid_q && pipe_valid_q) assert (pipe_q.last);
      if (kept == '0 && !read_valid_q && !bank_valid_q && !pipe_valid_q)
        assert (no_word ? between_q : newest_last);
      // A word that is read has a slot in the FIFO.
      assert (OutW'(free_slots_q + 1'b1) + claimed == OutW'(OutDepth));
      assert (32'(claimed) <= OutDepth);
      assert (!(pipe_valid_q && out_full));
    end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (past_valid_q) begin
      cover (pop && shown.last && kept != '0);
      cover (full_q && end_i);
    end
  end
`endif
endmodule

`default_nettype wire
