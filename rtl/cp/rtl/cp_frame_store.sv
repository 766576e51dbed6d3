// SPDX-License-Identifier: Apache-2.0
//
// The frames of a queue, in block RAM: they come in beat by beat and are kept or discarded whole at their end.
//
// Beats of a frame are written as they come; end_i, after the last, says by keep_i whether the frame joins the queue. If
// the store had no room for one of its beats, full_o is high from the clock after that beat to the one of end_i, and the
// frame must not be kept. The next frame's beats come after end_i. A kept frame shows at m_axis 3 clocks after end_i at
// the earliest; sent_valid_o is high in the clock in which its last beat goes. Throughput: a beat a clock in and out.

`default_nettype none

module cp_frame_store
  import penstock_pkg::*;
  import cn_frame_pkg::*;
#(
  // Beats of 8 octets that fit, at least 8; one place stays free.
  parameter int unsigned Words = 8192
) (
  input var logic clk_i,
  input var logic rst_i,

  input var  logic        beat_valid_i,
  input var  logic [63:0] beat_data_i,
  // Octets less 1, if it is the last.
  input var  logic [ 2:0] beat_count_i,
  input var  logic        beat_last_i,
  output var logic        full_o,

  input var logic end_i,
  input var logic keep_i,

  output var logic [63:0] m_axis_tdata,
  output var logic [ 7:0] m_axis_tkeep,
  output var logic        m_axis_tvalid,
  input var  logic        m_axis_tready,
  output var logic        m_axis_tlast,

  // A frame has left, of so many octets with its FCS.
  output var logic          sent_valid_o,
  output var frame_octets_t sent_octets_o
);
  localparam int unsigned AddressW = unsigned'($clog2(Words));
  typedef logic [AddressW-1:0] address_t;

  if (Words < 8) begin : gen_bad_words
    $fatal(0, "Words is at least 8 (instance %m)");
  end

  typedef struct packed {
    logic        last;
    logic [2:0]  count;
    logic [63:0] data;
  } word_t;

  function automatic address_t after(address_t address);
    return address == AddressW'(Words - 1) ? '0 : address + 1'b1;
  endfunction

  word_t    words_q     [Words];

  // Where the next beat goes, and the place behind it; where the frame began; the next beat to leave.
  address_t in_q;
  address_t behind_in_q;
  address_t frame_q;
  address_t out_q;
  logic     full_q;
  logic     no_room;
  logic     write;
  logic     back;

  assign no_room = behind_in_q == out_q;
  assign write   = beat_valid_i && !no_room && !full_q;
  assign back    = end_i && !keep_i;
  assign full_o  = full_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      in_q        <= '0;
      behind_in_q <= AddressW'(1);
      frame_q     <= '0;
      full_q      <= 1'b0;
    end else begin
      if (back) in_q <= frame_q;
      else if (write) in_q <= behind_in_q;
      if (back) behind_in_q <= after(frame_q);
      else if (write) behind_in_q <= after(behind_in_q);
      if (end_i && keep_i) frame_q <= in_q;
      if (end_i) full_q <= 1'b0;
      else if (beat_valid_i && no_room) full_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (write) words_q[in_q] <= '{last: beat_last_i, count: beat_count_i, data: beat_data_i};
  end

  // Two stages: the block RAM's own, and a register, for its outputs are late.
  logic  read;
  logic  read_valid_q;
  logic  show;
  logic  shown_valid_q;
  word_t read_q;
  word_t shown_q;

  assign show = !shown_valid_q || m_axis_tready;
  assign read = out_q != frame_q && (!read_valid_q || show);

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      out_q         <= '0;
      read_valid_q  <= 1'b0;
      shown_valid_q <= 1'b0;
    end else begin
      if (read) out_q <= after(out_q);
      if (!read_valid_q || show) read_valid_q <= read;
      if (show) shown_valid_q <= read_valid_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (read) read_q <= words_q[out_q];
  end

  always_ff @(posedge clk_i) begin
    if (show) shown_q <= read_q;
  end

  assign m_axis_tdata  = shown_q.data;
  assign m_axis_tkeep  = shown_q.last ? 8'hff >> (3'd7 - shown_q.count) : '1;
  assign m_axis_tvalid = shown_valid_q;
  assign m_axis_tlast  = shown_q.last;

  // Octets of the frame that leaves, with the FCS.
  frame_octets_t octets_q;
  frame_octets_t octets;
  logic          goes;

  assign goes = shown_valid_q && m_axis_tready;
  assign octets = octets_q + (shown_q.last ? FrameW'(shown_q.count) + 1'b1 : FrameW'(8));
  assign sent_valid_o = goes && shown_q.last;
  assign sent_octets_o = octets;

  always_ff @(posedge clk_i) begin
    if (rst_i) octets_q <= FrameW'(FcsOctets);
    else if (goes) octets_q <= shown_q.last ? FrameW'(FcsOctets) : octets;
  end

`ifdef FORMAL
  // No frame is cut: when all that was kept has left, the last beat that left was a frame's last. What is kept is whole
  // frames, whatever leaves when. (Order is that of the addresses; what a beat carries is not touched.)
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

  always_ff @(posedge clk_i) begin
    past_valid_q <= 1'b1;
    if (!past_valid_q) assume (rst_i);
    // As its user does: end_i once behind the last beat, no beat between, and none is kept that did not fit.
    if (whole_q) assume (!beat_valid_i);
    if (!whole_q) assume (!end_i);
    if (full_q) assume (!keep_i);
    if (rst_i) begin
      between_q <= 1'b1;
      whole_q   <= 1'b0;
    end else begin
      if (goes) between_q <= shown_q.last;
      if (end_i) whole_q <= 1'b0;
      else if (beat_valid_i && beat_last_i) whole_q <= 1'b1;
    end
    if (past_valid_q) begin
      assert (32'(in_q) < Words && 32'(frame_q) < Words && 32'(out_q) < Words);
      assert (behind_in_q == after(in_q));
      assert (32'(kept) <= 32'(written));
      // The last beats of what is kept, of what has come, and of each stage on the way out.
      if (kept != '0) assert (words_q[last_kept].last);
      if (whole_q && !full_q) assert (written != kept && words_q[last_written].last);
      if (kept == '0 && read_valid_q) assert (read_q.last);
      if (kept == '0 && !read_valid_q && shown_valid_q) assert (shown_q.last);
      if (kept == '0 && !read_valid_q && !shown_valid_q) assert (between_q);
    end
  end
`endif
endmodule

`default_nettype wire
