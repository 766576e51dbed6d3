// SPDX-License-Identifier: Apache-2.0
//
// The congestion point of DCQCN: sets the CE mark of ECN in frames that find a long queue. (Zhu et al. 2015, section 3.1;
// RFC 3168) Frames of IPv4 and IPv6, with a VLAN tag or without, can be marked if their sender is capable of ECN. The
// header checksum of IPv4 is mended by what the mark has changed (RFC 1624, equation 3). Nothing else of a frame changes, nor
// its length.
//
// The queue's length and the random word are those of the clock in which a frame's first beat is taken. The output of a
// queue has this in front of it or behind it; the length is that with this frame. Settings are to change only together with
// rst_i.
//
// Latency: 6 clocks. Throughput: a beat a clock, a frame a clock if it is one beat. m_axis_tready reaches s_axis_tready in the
// same clock.

`default_nettype none

module ecn_marker
  import penstock_pkg::*;
  import cn_frame_pkg::*;
(
  input var logic clk_i,
  input var logic rst_i,

  // Those of ecn_ramp.
  input var queue_octets_t        k_min_i,
  input var queue_octets_t        k_max_i,
  input var logic          [32:0] p_max_i,
  input var queue_octets_t        queue_octets_i,
  input var random_t              random_i,

  input var  axis_t s_axis,
  input var  logic  s_axis_tvalid,
  output var logic  s_axis_tready,
  output var axis_t m_axis,
  output var logic  m_axis_tvalid,
  input var  logic  m_axis_tready,

  // Frames that the ramp chose, and those of them that got a mark: the others had one, or none of their bits says that their
  // sender is capable of ECN. They stay at their largest value.
  output var logic [31:0] chosen_o,
  output var logic [31:0] marked_o
);
  // The beats of the EtherTypes at octets 12 and 16, each with its octet of ECN, and of the checksums at 24 and 28.
  localparam logic [2:0] UntaggedBeat = 3'(12 / BeatOctets);
  localparam logic [2:0] TaggedBeat = 3'(16 / BeatOctets);
  localparam logic [2:0] ChecksumBeat = 3'(24 / BeatOctets);
  localparam int unsigned Steps = 5;
  localparam logic [15:0] EtherTypeIpv6 = 16'h86dd;

  // What a beat says behind one EtherType: it is IPv4's or IPv6's, and its sender is capable of ECN. The mark adds 1 to the
  // field if it is ECT(0), 2 if it is ECT(1).
  typedef struct packed {
    logic       ipv4;
    logic       ipv6;
    logic [1:0] adds;
  } network_t;

  // What the EtherType at octet `at` says, if the octet of ECN behind it counts.
  function automatic network_t network_of(logic [DataW-1:0] data, logic kept, int unsigned at);
    logic ipv4;
    logic [1:0] ecn;
    ipv4 = word_at(data, at) == EtherTypeIpv4;
    ecn = ipv4 ? data[8*((at+3)%BeatOctets)+:2] : data[8*((at+3)%BeatOctets)+4+:2];
    network_of.ipv4 = kept && ipv4 && (^ecn);
    network_of.ipv6 = kept && word_at(data, at) == EtherTypeIpv6 && (^ecn);
    network_of.adds = {ecn[0], ecn[1]};
  endfunction

  // What a beat says of the checksums behind no tag and behind one, if it has them: less than 1, less than 2.
  typedef struct packed {
    logic below_1;
    logic below_2;
  } low_t;

  function automatic low_t low_of(logic [15:0] checksum);
    low_of.below_1 = checksum == '0;
    low_of.below_2 = checksum[15:1] == '0;
  endfunction

  // The checksum without what was added to another word of its header: ~(~checksum + added), with the carry around the end.
  // There is one if the checksum is less, and it takes 1 more.
  function automatic logic [15:0] mended(logic [15:0] checksum, low_t low, logic [1:0] added);
    return checksum - (16'(added) + 16'(added[1] ? low.below_2 : low.below_1));
  endfunction

  function automatic logic [15:0] swapped(logic [15:0] word);
    return {word[7:0], word[15:8]};
  endfunction

  // All steps move, or none.
  logic                      advance;
  axis_t    [     Steps-1:0] beats_q;
  logic     [     Steps-1:0] valid_q;
  logic                      marks;
  // The beat behind the one that leaves next. Of the latter: what it says, its number, and whether it is its frame's first.
  network_t                  untagged_q;
  network_t                  tagged_q;
  logic                      vlan_q;
  low_t                      untagged_low_q;
  low_t                      tagged_low_q;
  logic     [           2:0] beat_q;
  logic                      first_q;
  logic     [     DataW-1:0] coming;
  logic     [BeatOctets-1:0] coming_keep;
  axis_t                     next;

  assign advance       = !m_axis_tvalid || m_axis_tready;
  assign s_axis_tready = advance;
  assign coming        = beats_q[Steps-2].data;
  assign coming_keep   = beats_q[Steps-2].keep;
  assign next          = beats_q[Steps-1];

  ecn_ramp u_ramp (
      .clk_i,
      .enable_i(advance),
      .k_min_i,
      .k_max_i,
      .p_max_i,
      .queue_octets_i,
      .random_i,
      .marks_o (marks)
  );

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      valid_q       <= '0;
      m_axis_tvalid <= 1'b0;
      beat_q        <= '0;
      first_q       <= 1'b1;
    end else if (advance) begin
      valid_q       <= {valid_q[Steps-2:0], s_axis_tvalid};
      m_axis_tvalid <= valid_q[Steps-1];
      if (valid_q[Steps-1]) begin
        first_q <= next.last;
        if (next.last) beat_q <= '0;
        else if (beat_q != '1) beat_q <= beat_q + 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (advance) begin
      beats_q[0] <= s_axis;
      for (int unsigned i = 1; i < Steps; ++i) beats_q[i] <= beats_q[i-1];
      untagged_q     <= network_of(coming, coming_keep[15%BeatOctets], 12);
      tagged_q       <= network_of(coming, coming_keep[19%BeatOctets], 16);
      vlan_q         <= word_at(coming, 12) == EtherTypeVlan;
      untagged_low_q <= low_of(word_at(coming, 24));
      tagged_low_q   <= low_of(word_at(coming, 28));
    end
  end

  // What the frame's beats before have said: it is marked, it has a tag, and its checksum lacks this.
  logic        marks_frame_q;
  logic        vlan_frame_q;
  logic  [1:0] adds_q;
  logic        marks_frame;
  logic        vlan_frame;
  logic        marks_untagged;
  logic        marks_tagged;
  logic        checksum_here;
  logic  [1:0] adds;
  logic  [1:0] lacks;
  logic        tagged_checksum;
  axis_t       marked;

  assign marks_frame = first_q ? marks : marks_frame_q;
  assign vlan_frame = beat_q == UntaggedBeat ? vlan_q : vlan_frame_q;
  assign marks_untagged = marks_frame && beat_q == UntaggedBeat
      && (untagged_q.ipv4 || untagged_q.ipv6);
  assign marks_tagged   = marks_frame && beat_q == TaggedBeat && vlan_frame
      && (tagged_q.ipv4 || tagged_q.ipv6);
  // Of a beat behind that of the mark, what is to be mended was known a beat before.
  assign lacks = ChecksumBeat == TaggedBeat ? adds : adds_q;
  assign tagged_checksum = ChecksumBeat == UntaggedBeat ? vlan_frame : vlan_frame_q;
  assign checksum_here = beat_q == ChecksumBeat && lacks != '0;

  always_comb begin
    adds = first_q ? '0 : adds_q;
    if (marks_untagged && untagged_q.ipv4) adds = untagged_q.adds;
    if (marks_tagged && tagged_q.ipv4) adds = tagged_q.adds;
  end

  always_comb begin
    marked = next;
    if (marks_untagged) begin
      if (untagged_q.ipv4) marked.data[8*(15%BeatOctets)+:2] = '1;
      else marked.data[8*(15%BeatOctets)+4+:2] = '1;
    end
    if (marks_tagged) begin
      if (tagged_q.ipv4) marked.data[8*(19%BeatOctets)+:2] = '1;
      else marked.data[8*(19%BeatOctets)+4+:2] = '1;
    end
    if (checksum_here) begin
      if (tagged_checksum)
        marked.data[8*(28%BeatOctets)+:16] = swapped(
          mended(word_at(next.data, 28), tagged_low_q, lacks)
        );
      else
        marked.data[8*(24%BeatOctets)+:16] = swapped(
          mended(word_at(next.data, 24), untagged_low_q, lacks)
        );
    end
  end

  always_ff @(posedge clk_i) begin
    if (advance) begin
      m_axis <= marked;
      if (valid_q[Steps-1]) begin
        marks_frame_q <= marks_frame;
        vlan_frame_q  <= vlan_frame;
        adds_q        <= adds;
      end
    end
  end

  // Counted a clock later.
  logic chosen_q;
  logic marked_q;

  always_ff @(posedge clk_i) begin
    chosen_q <= !rst_i && advance && valid_q[Steps-1] && first_q && marks;
    marked_q <= !rst_i && advance && valid_q[Steps-1] && (marks_untagged || marks_tagged);
  end

  event_counter u_chosen (
      .clk_i,
      .rst_i,
      .valid_i (chosen_q),
      .amount_i(1'b1),
      .count_o (chosen_o)
  );

  event_counter u_marked (
      .clk_i,
      .rst_i,
      .valid_i (marked_q),
      .amount_i(1'b1),
      .count_o (marked_o)
  );

`ifdef FORMAL
  // Safety: whatever the ramp says, a frame that it does not choose leaves as it came, and of another nothing changes but the
  // two bits of ECN and the checksum. These agree: the sum of the header stays. A beat that is shown stays.
  logic              past_valid_q = 1'b0;
  logic              past_held_q;
  axis_t             past_beat_q;
  // The beat as it came, its frame, and what was added to a header in it or in the beats before.
  axis_t             came_q;
  logic              chosen_frame_q;
  logic  [      1:0] added_q;
  logic              checksum_q;
  logic              tagged_frame_q;
  logic  [DataW-1:0] changed;
  logic  [DataW-1:0] may_change;
  logic  [     15:0] was;
  logic  [     15:0] is_now;
  assign changed = m_axis.data ^ came_q.data;
  always_comb begin
    may_change = '0;
    may_change[8*(15%BeatOctets)+:6] = 6'b110011;
    may_change[8*(19%BeatOctets)+:6] = 6'b110011;
    if (checksum_q && tagged_frame_q) may_change[8*(28%BeatOctets)+:16] = '1;
    if (checksum_q && !tagged_frame_q) may_change[8*(24%BeatOctets)+:16] = '1;
    was = word_at(came_q.data, tagged_frame_q ? 28 : 24);
    is_now = word_at(m_axis.data, tagged_frame_q ? 28 : 24);
  end
  always_ff @(posedge clk_i) begin
    past_valid_q <= 1'b1;
    past_held_q  <= m_axis_tvalid && !m_axis_tready && !rst_i;
    past_beat_q  <= m_axis;
    if (advance) begin
      came_q         <= next;
      chosen_frame_q <= marks_frame;
      added_q        <= adds;
      checksum_q     <= checksum_here;
      tagged_frame_q <= vlan_frame;
    end
    if (!past_valid_q) assume (rst_i);
    if (past_valid_q) begin
      assert (first_q == (beat_q == '0));
      if (!first_q) assert (adds_q != 2'd3 && (adds_q == '0 || marks_frame_q));
      if (valid_q[Steps-1]) begin
        assert (untagged_q == network_of(next.data, next.keep[15%BeatOctets], 12));
        assert (tagged_q == network_of(next.data, next.keep[19%BeatOctets], 16));
        assert (untagged_low_q == low_of(word_at(next.data, 24)));
        assert (tagged_low_q == low_of(word_at(next.data, 28)));
      end
      if (past_held_q) assert (m_axis_tvalid && m_axis == past_beat_q);
      if (m_axis_tvalid) begin
        assert ({m_axis.keep, m_axis.last, m_axis.user} == {came_q.keep, came_q.last, came_q.user});
        assert ((changed & ~may_change) == '0);
        assert (added_q != 2'd3);
        if (!chosen_frame_q) assert (changed == '0);
        // What the mark has added the checksum lacks, in one's complement.
        if (checksum_q) begin
          assert ({1'b0, was} == {1'b0, is_now} + 17'(added_q)
              || {1'b0, was} + 17'h0ffff == {1'b0, is_now} + 17'(added_q));
        end
      end
    end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (past_valid_q) begin
      cover (past_held_q && m_axis_tready && m_axis.last);
      cover (m_axis_tvalid && checksum_q && tagged_frame_q);
      cover (m_axis_tvalid && checksum_q && !tagged_frame_q);
      cover (marked_o == 32'd1 && chosen_o == 32'd2);
    end
  end
`endif
endmodule

`default_nettype wire
