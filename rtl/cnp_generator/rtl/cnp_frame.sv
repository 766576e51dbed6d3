// SPDX-License-Identifier: Apache-2.0
//
// Makes the frames of congestion notification packets (CNPs) of RoCEv2 over IPv4, a word of 16 bits a clock:
//
//   destination, source | VLAN tag, if the marked frame had one | IPv4, its checksum made | UDP to port 4791, no checksum |
//   base transport header, opcode 129 with BECN | 16 zeros | invariant CRC
//
// The invariant CRC covers 8 octets of ones and the packet from the IP header on, in which ones stand for what routers may
// change. (InfiniBand Architecture Specification, volume 1, annex A17.3.3)
//
// Latency: a CNP that is alone begins to leave 5 clocks after it came, with beats of 512 bits 33 clocks. Throughput: a CNP in 37
// clocks, with a tag in 39.

`default_nettype none

module cnp_frame
  import penstock_pkg::*;
  import cn_frame_pkg::*;
  import roce_pkg::*;
(
  input var logic clk_i,
  input var logic rst_i,

  // IPv4's octet of DSCP and ECN, priority of a tag, UDP's source port.
  input var logic [ 7:0] tos_i,
  input var logic [ 2:0] priority_i,
  input var logic [15:0] udp_source_i,

  // A marked frame that is answered: it stays until it is done.
  input var  logic         request_valid_i,
  output var logic         request_done_o,
  // Of its header opcode and ECN are not looked at.
  input var  roce_header_t header_i,
  input var  qp_t          peer_i,

  output var axis_t m_axis,
  output var logic  m_axis_tvalid,
  input var  logic  m_axis_tready
);
  // The words of a frame. Without a tag those of it are passed over.
  localparam logic [5:0] TypeWord = 6'd6;
  localparam logic [5:0] IpWord = 6'd9;
  localparam logic [5:0] CrcWord = 6'd37;
  localparam logic [5:0] LastWord = 6'd38;
  localparam int unsigned Untagged = 74;
  localparam int unsigned Tagged = 78;
  localparam int unsigned PlaceW = $clog2(DataW / 16);
  // Version and header length; octets of the packet; never fragmented; time to live 64 and protocol 17; their sum.
  localparam logic [15:0] IpVersion = 16'h4500;
  localparam logic [15:0] IpOctets = 16'd60;
  localparam logic [15:0] IpFlags = 16'h4000;
  localparam logic [15:0] IpProtocol = 16'h4011;
  localparam logic [15:0] IpSum = IpVersion + IpOctets + IpFlags + IpProtocol;

  logic [ 5:0] word_q;
  logic        advance;
  logic [15:0] word;
  // The word as the CRC has it.
  logic [15:0] fixed;
  // The header's sum: a term with each of the first words, the carry one word later.
  logic [15:0] term;
  logic [15:0] sum_q;
  logic        carry_q;

  // The rest of the marked frame's fields.
  logic        unused;
  assign unused = &{1'b0, header_i};

  assign advance = !m_axis_tvalid || m_axis_tready;
  assign request_done_o = request_valid_i && advance && word_q == LastWord;

  always_comb begin
    case (word_q)
      6'd0: word = header_i.source_mac[47:32];
      6'd1: word = header_i.source_mac[31:16];
      6'd2: word = header_i.source_mac[15:0];
      6'd3: word = header_i.destination_mac[47:32];
      6'd4: word = header_i.destination_mac[31:16];
      6'd5: word = header_i.destination_mac[15:0];
      6'd6: word = EtherTypeVlan;
      6'd7: word = {priority_i, 1'b0, header_i.vlan[11:0]};
      6'd8: word = EtherTypeIpv4;
      6'd9: word = IpVersion | 16'(tos_i);
      6'd10: word = IpOctets;
      6'd12: word = IpFlags;
      6'd13: word = IpProtocol;
      6'd14: word = ~sum_q;
      6'd15: word = header_i.destination_ip[31:16];
      6'd16: word = header_i.destination_ip[15:0];
      6'd17: word = header_i.source_ip[31:16];
      6'd18: word = header_i.source_ip[15:0];
      6'd19: word = udp_source_i;
      6'd20: word = UdpPort;
      6'd21: word = IpOctets - 16'd20;
      6'd23: word = {OpcodeCnp, 8'h00};
      6'd24: word = 16'hffff;
      6'd25: word = {8'h40, peer_i[23:16]};
      6'd26: word = peer_i[15:0];
      default: word = '0;
    endcase
    fixed = word;
    case (word_q)
      // Class of service, time to live, both checksums, and the octet of the congestion marks.
      6'd9: fixed[7:0] = '1;
      6'd13, 6'd25: fixed[15:8] = '1;
      6'd14, 6'd22: fixed = '1;
      default: ;
    endcase
    case (word_q)
      6'd1: term = header_i.destination_ip[31:16];
      6'd2: term = header_i.destination_ip[15:0];
      6'd3: term = header_i.source_ip[31:16];
      6'd4: term = header_i.source_ip[15:0];
      default: term = '0;
    endcase
  end

  // A word, then its place in the beat.
  logic              chosen_valid_q;
  logic [      15:0] chosen_q;
  logic [      15:0] fixed_q;
  logic              starts_q;
  logic              covered_q;
  logic              low_q;
  logic              high_q;
  logic [PlaceW-1:0] place_q;
  logic [      31:0] icrc;
  logic [      15:0] placed;
  logic [ DataW-1:0] data_q;
  logic              last_q;
  logic              tagged_q;
  logic              tagged_chosen_q;

  roce_icrc u_icrc (
      .clk_i,
      .enable_i(advance && covered_q),
      .first_i (starts_q),
      .word_i  (fixed_q),
      .icrc_o  (icrc)
  );

  always_comb begin
    placed = chosen_q;
    if (low_q) placed = icrc[31:16];
    if (high_q) placed = icrc[15:0];
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      word_q         <= '0;
      chosen_valid_q <= 1'b0;
      place_q        <= '0;
      m_axis_tvalid  <= 1'b0;
    end else if (advance) begin
      if (request_valid_i) begin
        if (word_q == LastWord) word_q <= '0;
        else if (word_q == TypeWord - 6'd1 && !header_i.has_vlan) word_q <= TypeWord + 6'd2;
        else word_q <= word_q + 1'b1;
      end
      chosen_valid_q <= request_valid_i;
      m_axis_tvalid  <= chosen_valid_q && (place_q == '1 || high_q);
      if (chosen_valid_q) place_q <= high_q ? '0 : place_q + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (advance) begin
      if (word_q == '0) {carry_q, sum_q} <= 17'(IpSum) + 17'(tos_i);
      else {carry_q, sum_q} <= 17'(sum_q) + 17'(term) + 17'(carry_q);
      chosen_q                    <= word;
      fixed_q                     <= fixed;
      starts_q                    <= word_q == IpWord;
      covered_q                   <= word_q >= IpWord && word_q < CrcWord;
      low_q                       <= word_q == CrcWord;
      high_q                      <= word_q == LastWord;
      tagged_chosen_q             <= header_i.has_vlan;
      data_q[16*32'(place_q)+:16] <= {placed[7:0], placed[15:8]};
      last_q                      <= high_q;
      tagged_q                    <= tagged_chosen_q;
    end
  end

  assign m_axis = '{
          user: 1'b0,
          last: last_q,
          keep:
          !
          last_q
          ?
          '1
          :
          keep_of
          (
              tagged_q
              ?
              beat_count_t'((Tagged - 1) % BeatOctets)
              : beat_count_t
              '(
              (Untagged - 1) % BeatOctets)
          ),
          data: data_q
      };

`ifdef FORMAL
  // Safety: a frame has 74 octets, with a tag 78, whatever comes and goes; a beat that is shown stays. Assumed: a request stays
  // until it is done.
  logic past_valid_q = 1'b0;
  logic past_held_q;
  axis_t past_beat_q;
  logic past_waits_q;
  logic past_vlan_q;
  // Octets of the frame in front of the beat that is shown, and those of its words that are chosen or placed.
  logic [6:0] shown_q;
  logic [6:0] asked_q;
  logic [6:0] before_word;
  logic [6:0] length;
  assign length = header_i.has_vlan ? 7'(Tagged) : 7'(Untagged);
  assign before_word = 7'(word_q) * 2 - (word_q > TypeWord && !header_i.has_vlan ? 7'd4 : 7'd0);
  always_ff @(posedge clk_i) begin
    past_valid_q <= 1'b1;
    past_held_q  <= m_axis_tvalid && !m_axis_tready && !rst_i;
    past_beat_q  <= m_axis;
    past_waits_q <= request_valid_i && !request_done_o && !rst_i;
    past_vlan_q  <= header_i.has_vlan;
    if (rst_i) shown_q <= '0;
    else if (m_axis_tvalid && m_axis_tready) begin
      if (m_axis.last) begin
        shown_q <= '0;
        assert (shown_q + 7'(octets_of(m_axis.keep)) == (tagged_q ? 7'(Tagged) : 7'(Untagged)));
      end else shown_q <= shown_q + 7'(BeatOctets);
    end
    // Octets of the words that are chosen.
    if (rst_i) asked_q <= '0;
    else if (advance && request_valid_i) asked_q <= word_q == LastWord ? '0 : asked_q + 7'd2;
    if (!past_valid_q) assume (rst_i);
    if (past_valid_q) begin
      if (past_waits_q) assume (request_valid_i && header_i.has_vlan == past_vlan_q);
      if (past_held_q) begin
        assert (m_axis_tvalid && m_axis.keep == past_beat_q.keep);
        assert (m_axis.data == past_beat_q.data && m_axis.last == past_beat_q.last);
      end
      assert (word_q <= LastWord && asked_q == before_word);
      if (word_q != '0) assert (past_waits_q);
      if (!header_i.has_vlan && word_q != '0)
        assert (word_q != TypeWord && word_q != TypeWord + 6'd1);
      if (chosen_valid_q) begin
        assert (high_q == (word_q == '0));
        if (!high_q) assert (tagged_chosen_q == header_i.has_vlan);
      end
      // Words placed and shown, of the frame that is made, or of the one before.
      if (word_q != '0 || !chosen_valid_q) begin
        if (m_axis_tvalid && last_q)
          assert (asked_q == 7'd2 * 7'(chosen_valid_q) && place_q == '0);
          else begin
            assert (asked_q == shown_q + (m_axis_tvalid ? 7'(BeatOctets) : 7'd0)
              + 7'd2 * 7'(place_q) + 7'd2 * 7'(chosen_valid_q));
          end
      end else begin
        assert (!(m_axis_tvalid && last_q));
        assert ((tagged_chosen_q ? 7'(Tagged) : 7'(Untagged)) == shown_q
            + (m_axis_tvalid ? 7'(BeatOctets) : 7'd0) + 7'd2 * 7'(place_q) + 7'd2);
      end
      if (m_axis_tvalid && last_q) begin
        assert (shown_q == (tagged_q ? 7'((Tagged - 1) / BeatOctets * BeatOctets)
            : 7'((Untagged - 1) / BeatOctets * BeatOctets)));
      end
      if (asked_q != '0) assert (asked_q < length);
      assert (shown_q[BeatCountW-1:0] == '0);
    end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (past_valid_q) begin
      // A frame's end is some 40 clocks away: too far.
      cover (past_held_q && m_axis_tready && tagged_q);
      cover (past_held_q && m_axis_tready && !tagged_q);
    end
  end
`endif
endmodule

`default_nettype wire
