// SPDX-License-Identifier: Apache-2.0
//
// Makes the frames of congestion messages: QCN's CNM (802.1Qau; Kabbani and Yasuda 2010, figure 5) or SMCC's (Jiang et
// al. 2015, section 5.1).
//
//   destination = source of the sampled frame | MAC of the congestion point | VLAN tag, if the frame had one, with
//   cnm_priority | CN-TAG, if the frame had one | EtherType | PDU | zeros up to 60 octets
//
// Up to Depth messages wait; lost_o is high in the clock of one that finds the FIFO full. A message of clock c, whose q_off and
// q_delta are there from c - 2 on (QCN), begins to leave in c + 4 if none is before it, with beats of 512 bits in
// c + 17. Throughput: a message in 15 clocks, a word of 32 bits in each.

`default_nettype none

module cp_notifier
  import penstock_pkg::*;
  import cn_frame_pkg::*;
  import cp_pkg::*;
#(
  // SMCC's message, not QCN's.
  parameter bit Smcc = 1'b0,
  // Messages that may wait: a power of two, at least 2.
  parameter int unsigned Depth = 8
) (
  input var logic clk_i,
  input var logic rst_i,

  // MAC and identity of the congestion point, priority of its messages.
  input var logic [47:0] cp_mac_i,
  input var logic [63:0] cp_id_i,
  input var logic [ 2:0] cnm_priority_i,

  input var  logic              message_valid_i,
  input var  header_t           message_header_i,
  input var  logic        [5:0] message_fb_i,
  input var  queue_diff_t       message_q_off_i,
  input var  queue_diff_t       message_q_delta_i,
  output var logic              lost_o,

  output var axis_t m_axis,
  output var logic  m_axis_tvalid,
  input var  logic  m_axis_tready
);
  // A message that waits: QCN's lengths in units of 64 octets, SMCC's in octets.
  localparam int unsigned LengthW = Smcc ? QueueW + 1 : 16;
  typedef struct packed {
    header_t            header;
    logic [5:0]         fb;
    logic [LengthW-1:0] q_off;
    logic [LengthW-1:0] q_delta;
  } message_t;

  // In units of 64 octets, rounded towards zero, held within 16 bits; with the other sign if so wanted. Of x = 64 h + l,
  // l from 0 to 63, that is h, and h + 1 if x is below 0 and l is not 0. Of -x it is -h, and -h - 1 in the same case.
  function automatic logic [15:0] of_64(logic [QueueW:0] x, logic upwards, logic minus);
    logic [QueueW-6:0] whole;
    whole = (minus ? ~x[QueueW:6] : x[QueueW:6]) + (QueueW - 5)'(upwards != minus);
    return whole[QueueW-6:15] == '0 || whole[QueueW-6:15] == '1 ?
        whole[15:0] : {whole[QueueW-6], {15{!whole[QueueW-6]}}};
  endfunction

  message_t message;
  message_t head;
  logic     full;
  logic     empty;
  logic     sent;

  assign message.header = message_header_i;
  assign message.fb = message_fb_i;
  if (Smcc) begin : gen_octets
    assign message.q_off   = $unsigned(message_q_off_i);
    assign message.q_delta = $unsigned(message_q_delta_i);
  end else begin : gen_units
    logic q_off_up_q;
    logic q_delta_up_q;
    // The standard's offset is the set point less the queue.
    always_ff @(posedge clk_i) begin
      q_off_up_q    <= message_q_off_i[QueueW] && message_q_off_i[5:0] != '0;
      q_delta_up_q  <= message_q_delta_i[QueueW] && message_q_delta_i[5:0] != '0;
      message.q_off   <= of_64($unsigned(message_q_off_i), q_off_up_q, 1'b1);
      message.q_delta <= of_64($unsigned(message_q_delta_i), q_delta_up_q, 1'b0);
    end
  end
  assign lost_o = message_valid_i && full;

  small_fifo #(
      .Width($bits(message_t)),
      .Depth(Depth)
  ) u_messages (
      .clk_i,
      .rst_i,
      .push_i (message_valid_i),
      .data_i (message),
      .full_o (full),
      .pop_i  (sent),
      .data_o (head),
      .empty_o(empty)
  );

  // EtherType, PDU and zeros, in words of 32 bits.
  localparam int unsigned BodyWords = 9;
  logic [32*BodyWords-1:0] body;
  if (Smcc) begin : gen_smcc_pdu
    smcc_pdu_t pdu;
    assign pdu = '{
            priority_field: {head.header.priority_code, 13'd0},
            destination: head.header.destination,
            cp_id: cp_id_i,
            q_off: {{32 - LengthW{head.q_off[LengthW-1]}}, head.q_off},
            q_delta: {{32 - LengthW{head.q_delta[LengthW-1]}}, head.q_delta},
            default: '0
        };
    assign body = {EtherTypeSmcc, pdu, 16'd0};
  end else begin : gen_cnm_pdu
    cnm_pdu_t pdu;
    assign pdu = '{
            fb: head.fb,
            priority_field: {head.header.priority_code, 13'd0},
            destination: head.header.destination,
            cp_id: cp_id_i,
            q_offset: head.q_off,
            q_delta: head.q_delta,
            default: '0
        };
    assign body = {EtherTypeCnm, pdu, 80'd0};
  end

  // A frame is 15 words of 32 bits, two in a beat of 64 bits: addresses, VLAN tag, CN-TAG, body, zeros. The kind of the next word
  // has a bit for each, so that the choice is quick.
  localparam logic [3:0] LastWord = 4'd14;
  localparam int unsigned BeatWords = DataW / 32;
  localparam int unsigned PlaceW = $clog2(BeatWords);
  localparam int unsigned Vlan = 3;
  localparam int unsigned CnTag = 4;
  localparam int unsigned Body = 5;
  localparam int unsigned Items = Body + BodyWords;

  logic [      3:0]       word_q;
  // Of the items, the next; none when only zeros are left.
  logic [Items-1:0]       item_q;
  logic [Items-1:0]       item_next;
  logic [Items-1:0][31:0] items;
  logic [     31:0]       word;
  logic                   advance;

  always_comb begin
    item_next = item_q << 1;
    // A tag that the sampled frame did not have is passed over.
    if (item_q[Vlan-1] && !head.header.has_vlan) begin
      item_next[Vlan]  = 1'b0;
      item_next[CnTag] = head.header.has_flow;
      item_next[Body]  = !head.header.has_flow;
    end
    if (item_q[Vlan] && !head.header.has_flow) begin
      item_next[CnTag] = 1'b0;
      item_next[Body]  = 1'b1;
    end
  end

  assign items[0] = head.header.source[47:16];
  assign items[1] = {head.header.source[15:0], cp_mac_i[47:32]};
  assign items[2] = cp_mac_i[31:0];
  assign items[Vlan] = {EtherTypeVlan, cnm_priority_i, 1'b0, head.header.vid};
  assign items[CnTag] = {EtherTypeCnTag, head.header.flow};
  for (genvar n = 0; n < BodyWords; n++) begin : gen_body
    assign items[Body+n] = body[32*(BodyWords-1-n)+:32];
  end

  always_comb begin
    word = '0;
    for (int unsigned n = 0; n < Items; n++) word |= items[n] & {32{item_q[n]}};
  end

  // A word, octet 0 lowest, then its place in the beat.
  logic              chosen_valid_q;
  logic [PlaceW-1:0] place_q;
  logic              chosen_last_q;
  logic [      31:0] chosen_q;
  logic [ DataW-1:0] data_q;
  logic              last_q;
  logic              valid_q;

  assign advance = !valid_q || m_axis_tready;
  assign sent = !empty && advance && word_q == LastWord;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      word_q         <= '0;
      item_q         <= Items'(1);
      chosen_valid_q <= 1'b0;
      valid_q        <= 1'b0;
    end else if (advance) begin
      if (!empty) begin
        word_q <= sent ? '0 : word_q + 4'd1;
        item_q <= sent ? Items'(1) : item_next;
      end
      chosen_valid_q <= !empty;
      valid_q        <= chosen_valid_q && (place_q == '1 || chosen_last_q);
    end
  end

  always_ff @(posedge clk_i) begin
    if (advance) begin
      place_q                     <= word_q[PlaceW-1:0];
      chosen_last_q               <= word_q == LastWord;
      chosen_q                    <= {word[7:0], word[15:8], word[23:16], word[31:24]};
      data_q[32*32'(place_q)+:32] <= chosen_q;
      last_q                      <= chosen_last_q;
    end
  end

  assign m_axis = '{
          user: 1'b0,
          last: last_q,
          keep: last_q ? keep_of(BeatCountW'(BeatOctets - 5)) : '1,
          data: data_q
      };
  assign m_axis_tvalid = valid_q;

`ifdef FORMAL
  // Safety: a frame has 60 octets, whatever comes and goes; a beat that shows stays; none is lost in silence.
  logic past_valid_q = 1'b0;
  localparam logic [2:0] LastBeat = 3'(32'(LastWord) / BeatWords);
  logic [      2:0] beats_q;
  logic             stays_q;
  logic [DataW-1:0] stays_data_q;
  logic             stays_last_q;
  logic [      3:0] previous;
  logic [      3:0] there;
  assign previous = word_q == '0 ? LastWord : word_q - 4'd1;
  assign there = chosen_valid_q ? previous : word_q;
  always_ff @(posedge clk_i) begin
    past_valid_q <= 1'b1;
    stays_q      <= m_axis_tvalid && !m_axis_tready && !rst_i;
    stays_data_q <= m_axis.data;
    stays_last_q <= m_axis.last;
    if (!past_valid_q) assume (rst_i);
    if (rst_i) beats_q <= '0;
    else if (m_axis_tvalid && m_axis_tready) beats_q <= beats_q == LastBeat ? '0 : beats_q + 1'b1;
    if (past_valid_q) begin
      assert (word_q <= LastWord);
      assert ((item_q & (item_q - 1'b1)) == '0);
      if (empty) assert (word_q == '0 && item_q == Items'(1));
      if (chosen_valid_q)
        assert (place_q == previous[PlaceW-1:0] && chosen_last_q == (previous == LastWord));
      // Words that are gone or show, of the frame that goes.
      if (there == '0 && valid_q)
        assert (last_q && beats_q == LastBeat);
        else assert (32'(there) / BeatWords == 32'(beats_q) + 32'(valid_q));
      if (valid_q) assert (last_q == (beats_q == LastBeat));
      if (stays_q)
        assert (m_axis_tvalid && m_axis.data == stays_data_q && m_axis.last == stays_last_q);
      if (message_valid_i && !lost_o) assert (!full);
    end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (past_valid_q) begin
      cover (stays_q && m_axis_tready && m_axis.last);
      cover (lost_o);
    end
  end
`endif
endmodule

`default_nettype wire
