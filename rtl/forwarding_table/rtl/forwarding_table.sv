// SPDX-License-Identifier: Apache-2.0
//
// Forwarding table: says for each frame of a stream which ports it goes to. (Kabbani and Yasuda 2010, section 3.2:
// packets are forwarded to the appropriate output queue depending on the forwarding information set by the user)
//
// The frame waits while its destination address is compared with Parallel entries a clock; the lowest entry that has it
// gives the mask of ports, else the default does. A frame for no port is taken out. It leaves once, with its mask: no copies.
//
// Latency: the first beat is taken Entries / Parallel + 4 clocks after it is shown, and is at m_axis one later.
// Throughput: a beat a clock, and Entries / Parallel + 4 clocks between frames.

`default_nettype none

module forwarding_table
  import penstock_pkg::*;
#(
  // Entries of the table, 2 to 1024, a power of two.
  parameter int unsigned Entries = 16,
  // Entries compared in a clock, a power of two, at most Entries / 2.
  parameter int unsigned Parallel = 1,
  // Output ports, 1 to 16.
  parameter int unsigned Ports = 4,
  // Bits of an entry's number; not to be set.
  parameter int unsigned EntryW = $clog2(Entries)
) (
  input var logic clk_i,
  input var logic rst_i,
  // Reset of all but the entries.
  input var logic stop_i,

  // Sets an entry: whether it is in use, its address, and its ports. After reset none is in use.
  input var logic              write_i,
  input var logic [EntryW-1:0] write_entry_i,
  input var logic              write_used_i,
  input var logic [      47:0] write_mac_i,
  input var logic [ Ports-1:0] write_ports_i,
  // Ports for addresses that are not in the table.
  input var logic [ Ports-1:0] default_ports_i,

  input var  axis_t s_axis,
  input var  logic  s_axis_tvalid,
  output var logic  s_axis_tready,

  output var axis_t             m_axis,
  output var logic              m_axis_tvalid,
  input var  logic              m_axis_tready,
  // Ports that the frame goes to, with each of its beats.
  output var logic  [Ports-1:0] m_axis_ports_o,

  // Frames whose address was not in the table, and frames for no port.
  output var logic [31:0] unknown_o,
  output var logic [31:0] discarded_o
);
  localparam int unsigned Rows = Entries / Parallel;
  localparam int unsigned RowW = $clog2(Rows);
  localparam int unsigned WordW = 48 + Ports;

  if (Entries < 2 || Entries > 1024 || (Entries & (Entries - 1)) != 0) begin : gen_bad_entries
    $fatal(0, "Entries is a power of two, 2 to 1024 (instance %m)");
  end
  localparam bit ParallelFits = Parallel >= 1 && Parallel <= Entries / 2;
  if (!ParallelFits || (Parallel & (Parallel - 1)) != 0) begin : gen_bad_parallel
    $fatal(0, "Parallel is a power of two, at most Entries / 2 (instance %m)");
  end
  if (Ports < 1 || Ports > 16) begin : gen_bad_ports
    $fatal(0, "Ports is 1 to 16 (instance %m)");
  end

  typedef enum logic [1:0] {
    Idle,
    Search,
    Forward,
    Discard
  } state_e;

  // The destination address, its first octet highest.
  logic [47:0] destination;
  logic        has_address;

  always_comb begin
    for (int unsigned i = 0; i < 6; ++i) destination[8*i+:8] = s_axis.data[8*(5-i)+:8];
  end
  assign has_address = &s_axis.keep[5:0];

  // The search: rows are read in one clock, compared in the next, and the lowest that fits is kept in the third.
  state_e                           state_q;
  logic   [    RowW-1:0]            row_q;
  logic                             reading_q;
  logic                             read_valid_q;
  logic                             matched_q;
  logic                             searched_q;
  logic   [Parallel-1:0]            match_q;
  logic   [Parallel-1:0][Ports-1:0] ports_q;
  logic                             found_q;
  logic   [   Ports-1:0]            match_ports;

  for (genvar b = 0; b < Parallel; ++b) begin : gen_bank
    // Entry b of each row.
    logic [ Rows-1:0] used_q;
    logic [WordW-1:0] words_q    [Rows];
    logic             row_used_q;
    logic [WordW-1:0] word_q;
    logic             writes;

    if (Parallel == 1) begin : gen_one
      assign writes = write_i;
    end else begin : gen_some
      assign writes = write_i && write_entry_i[$clog2(Parallel)-1:0] == b;
    end

    always_ff @(posedge clk_i) begin
      if (rst_i) used_q <= '0;
      else if (writes) used_q[write_entry_i[EntryW-1-:RowW]] <= write_used_i;
    end

    always_ff @(posedge clk_i) begin
      if (writes) words_q[write_entry_i[EntryW-1-:RowW]] <= {write_mac_i, write_ports_i};
      row_used_q <= used_q[row_q];
      word_q     <= words_q[row_q];
      match_q[b] <= row_used_q && has_address && word_q[WordW-1-:48] == destination;
      ports_q[b] <= word_q[Ports-1:0];
    end
  end

  always_comb begin
    match_ports = '0;
    for (int unsigned b = Parallel; b > 0; --b) begin
      if (match_q[b-1]) match_ports = ports_q[b-1];
    end
  end

  logic             reset;
  logic             space;
  logic             taken;
  // The ports of the frame: those for addresses that no entry has, until one has it.
  logic [Ports-1:0] mask_q;

  assign reset         = rst_i || stop_i;
  assign space         = !m_axis_tvalid || m_axis_tready;
  assign s_axis_tready = state_q == Forward && space || state_q == Discard;
  assign taken         = s_axis_tvalid && s_axis_tready;

  always_ff @(posedge clk_i) begin
    if (reset) begin
      state_q      <= Idle;
      reading_q    <= 1'b0;
      read_valid_q <= 1'b0;
      matched_q    <= 1'b0;
      searched_q   <= 1'b0;
      row_q        <= '0;
      found_q      <= 1'b0;
    end else begin
      read_valid_q <= reading_q;
      matched_q <= read_valid_q;
      searched_q <= matched_q && !read_valid_q;
      case (state_q)
        Idle: begin
          found_q <= 1'b0;
          if (s_axis_tvalid) begin
            state_q   <= Search;
            reading_q <= 1'b1;
          end
        end
        Search: begin
          if (reading_q) row_q <= row_q + 1'b1;
          if (row_q == '1) reading_q <= 1'b0;
          if (matched_q && !found_q) found_q <= match_q != '0;
          if (searched_q) begin
            state_q <= mask_q == '0 ? Discard : Forward;
          end
        end
        default: if (taken && s_axis.last) state_q <= Idle;
      endcase
    end
  end

  logic decided;
  assign decided = state_q == Search && searched_q;

  event_counter u_unknown (
      .clk_i,
      .rst_i   (reset),
      .valid_i (decided && !found_q),
      .amount_i(1'b1),
      .count_o (unknown_o)
  );

  event_counter u_discarded (
      .clk_i,
      .rst_i   (reset),
      .valid_i (decided && mask_q == '0),
      .amount_i(1'b1),
      .count_o (discarded_o)
  );

  always_ff @(posedge clk_i) begin
    if (state_q == Search && !found_q && !searched_q) begin
      mask_q <= matched_q && match_q != '0 ? match_ports : default_ports_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (reset) m_axis_tvalid <= 1'b0;
    else if (taken && state_q == Forward) m_axis_tvalid <= 1'b1;
    else if (m_axis_tready) m_axis_tvalid <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (taken && state_q == Forward) begin
      m_axis <= s_axis;
      m_axis_ports_o <= mask_q;
    end
  end

`ifdef FORMAL
  // Safety: no frame is cut, is for no port, or has its ports changed; no beat changes or is withdrawn while it waits;
  // no frame waits for ever.
  logic [1:0] early_q = '1;
  logic in_frame_q;
  logic past_held_q;
  logic [73+Ports:0] past_beat_q;
  logic [73+Ports:0] beat;
  logic [RowW+2:0] waited_q;

  assign beat = {m_axis.data, m_axis.keep, m_axis.last, m_axis.user, m_axis_ports_o};

  always_ff @(posedge clk_i) begin
    if (early_q != '0) early_q <= early_q - 1'b1;
    past_held_q <= m_axis_tvalid && !m_axis_tready && !reset;
    past_beat_q <= beat;
    if (reset) in_frame_q <= 1'b0;
    else if (taken) in_frame_q <= !s_axis.last;
    // Clocks of the search.
    if (state_q != Search) waited_q <= '0;
    else waited_q <= waited_q + 1'b1;

    if (early_q > 2'd1)
      assume (rst_i);
      else begin
        if (m_axis_tvalid) assert (m_axis_ports_o != '0);
        if (state_q == Forward) assert (mask_q != '0);
        if (state_q == Forward && in_frame_q) assert (m_axis_ports_o == mask_q && !m_axis.last);
        if (in_frame_q) assert (state_q == Forward || state_q == Discard);
        if (past_held_q) assert (m_axis_tvalid && beat == past_beat_q);
        if (state_q == Search) begin
          assert (32'(waited_q) <= Rows + 2);
          assert (reading_q == (32'(waited_q) < Rows));
          assert (read_valid_q == (32'(waited_q) >= 1 && 32'(waited_q) <= Rows));
          assert (matched_q == (32'(waited_q) >= 2 && 32'(waited_q) <= Rows + 1));
          assert (searched_q == (32'(waited_q) == Rows + 2));
          if (reading_q) assert (32'(row_q) == 32'(waited_q));
        end else begin
          assert (!reading_q && !read_valid_q && !matched_q && !searched_q);
        end
        if (!reading_q) assert (row_q == '0);
      end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (early_q == '0) begin
      cover (past_held_q && m_axis_tready && m_axis.last);
      cover (state_q == Discard && taken);
    end
  end
`endif
endmodule

`default_nettype wire
