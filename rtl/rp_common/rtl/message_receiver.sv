// SPDX-License-Identifier: Apache-2.0
//
// Extracts the messages of congestion points from the frames that arrive at a NIC: the Receive block of Kabbani and
// Yasuda 2010 (section 3.2, figure 6). A message is a frame of the message's EtherType, alone, behind a VLAN tag,
// behind a CN-TAG, or behind both, in this order (802.1Qau). It is good if it has 60 to 120 octets without its FCS and
// no bad flag; others of the type are taken out too, and counted as malformed. All other frames pass unchanged, bad
// ones too.
// A message that arrives while the one before is not taken yet waits, and blocks the stream. While drop_if_busy_i is high, as the
// frames after it cannot wait, it is dropped and counted instead.
//
// Latency: a frame's first beat comes out 4 clocks after it went in (128 bits: 3, 256 and 512: 2); a message is shown two clocks
// after its last beat (512 bits: three).
// Throughput: a beat a clock, with drop_if_busy_i whatever comes. Else a message that comes while another is not taken yet waits before
// the beat that has its octet 23.

`default_nettype none

module message_receiver
  import penstock_pkg::*;
  import cn_frame_pkg::*;
#(
  // Messages of SMCC; else of QCN.
  parameter bit Smcc = 1'b0
) (
  input var logic clk_i,
  input var logic rst_i,

  // A message does not wait, but is dropped.
  input var logic drop_if_busy_i,

  // Frames that arrive.
  input var  axis_t s_axis,
  input var  logic  s_axis_tvalid,
  output var logic  s_axis_tready,

  // Those that are no messages.
  output var axis_t m_axis,
  output var logic  m_axis_tvalid,
  input var  logic  m_axis_tready,

  // A good message: its destination and its fields (those of the other kind are 0).
  output var logic        message_valid_o,
  input var  logic        message_ready_i,
  output var logic [47:0] destination_o,
  // QCN: it is behind a CN-TAG, and that tag's flow identifier.
  output var logic        cn_tagged_o,
  output var logic [15:0] cn_flow_o,
  output var logic [ 5:0] fb_o,
  output var logic [63:0] cp_id_o,
  // Octets, in two's complement.
  output var logic [31:0] q_off_o,
  output var logic [31:0] q_delta_o,

  // Messages that were good, that were not, and that were good but dropped. They stay at their largest value.
  output var logic [31:0] taken_o,
  output var logic [31:0] malformed_o,
  output var logic [31:0] refused_o
);
  localparam logic [15:0] EtherType = Smcc ? EtherTypeSmcc : EtherTypeCnm;

  // The decision falls with the beat that has octet 23, the last of an EtherType behind two tags, or with an earlier last one; the
  // first EtherType stands in the beat TypeBeat.
  localparam logic [3:0] TypeBeat = 4'(12 / BeatOctets);
  localparam logic [3:0] DecisionBeat = 4'(23 / BeatOctets);
  localparam int unsigned LongOctets = 120;
  // The beats with octets 59 and 120, the last that a message must have and the first that it must not have. The count of beats
  // stops at the first that has nothing else.
  localparam logic [3:0] ShortBeat = 4'((MinOctets - 1) / BeatOctets);
  localparam logic [3:0] LongBeat = 4'(LongOctets / BeatOctets);
  localparam logic [3:0] MaxBeat = 4'((LongOctets + BeatOctets - 1) / BeatOctets);
  // A message may be decided on and end in the same clock.
  localparam bit OneBeat = DecisionBeat == ShortBeat;

  logic [3:0] beat_q;
  // It is the decision's beat; a bit, for much hangs on it.
  logic       decides_q;
  // The rest of this frame is a message's, and its fields are not read, for another message waits.
  logic       in_message_q;
  logic       refused_q;
  logic       drop_if_busy_q;
  logic       accept;
  logic       deciding;
  logic       is_message;
  logic       stalls;
  // A message is shown, or will be in the next clock.
  logic       busy;

  // The EtherTypes at octets 12, 16 and 20 of a frame, if its beat has these whole.
  typedef struct packed {
    logic message_12;
    logic vlan_12;
    logic tag_12;
    logic message_16;
    logic tag_16;
    logic message_20;
  } types_t;

  logic   [15:0] at_12;
  logic   [15:0] at_16;
  logic   [15:0] at_20;
  types_t        arriving_types;

  assign at_12 = word_at(s_axis.data, 12);
  assign at_16 = word_at(s_axis.data, 16);
  assign at_20 = word_at(s_axis.data, 20);
  assign arriving_types = '{
          message_12: s_axis.keep[13%BeatOctets] && at_12 == EtherType,
          vlan_12: s_axis.keep[13%BeatOctets] && at_12 == EtherTypeVlan,
          tag_12: s_axis.keep[13%BeatOctets] && at_12 == EtherTypeCnTag,
          message_16: s_axis.keep[17%BeatOctets] && at_16 == EtherType,
          tag_16: s_axis.keep[17%BeatOctets] && at_16 == EtherTypeCnTag,
          message_20: s_axis.keep[21%BeatOctets] && at_20 == EtherType
      };

  // Past a buffer with the types, for the beat that is shown decides whether it is taken.
  axis_t  head;
  logic   valid;
  logic   ready;
  types_t types;

  stream_buffer #(
      .BeatW($bits(types_t) + $bits(axis_t))
  ) u_arriving (
      .clk_i,
      .rst_i,
      .s_axis({arriving_types, s_axis}),
      .s_axis_tvalid,
      .s_axis_tready,
      .m_axis({types, head}),
      .m_axis_tvalid(valid),
      .m_axis_tready(ready)
  );

  logic full;

  // The beat that says of what kind the frame is, and no message waits.
  logic message_begins;

  // --- EtherTypes: octets 12, 16 and 20 --------------------------------------------------------

  logic type_message_q;
  logic type_vlan_q;
  logic type_tag_q;
  logic type_message;
  logic type_vlan;
  logic type_tag;
  logic after_one_tag;
  logic after_two_tags;
  logic any_message;

  assign {type_message, type_vlan, type_tag} = TypeBeat == DecisionBeat ?
      {types.message_12, types.vlan_12, types.tag_12} : {type_message_q, type_vlan_q, type_tag_q};
  assign after_one_tag = (type_vlan || type_tag) && types.message_16;
  assign after_two_tags = type_vlan && types.tag_16 && types.message_20;
  assign any_message = type_message || after_one_tag || after_two_tags;

  assign deciding = decides_q || (head.last && {1'b0, beat_q} + 5'd1 <= 5'(DecisionBeat));
  always_comb begin
    is_message = 1'b0;
    if (decides_q) is_message = any_message;
    else if (beat_q == TypeBeat) is_message = types.message_12;
  end

  assign stalls = decides_q && busy && !drop_if_busy_q && any_message;
  // It counts when the beat is taken and a message's.
  assign message_begins = decides_q && !busy;
  assign ready = (in_message_q || !full) && !stalls;
  assign accept = valid && ready;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      beat_q       <= '0;
      decides_q    <= DecisionBeat == '0;
      in_message_q <= 1'b0;
      refused_q    <= 1'b0;
    end else if (accept) begin
      if (DecisionBeat == '0) decides_q <= head.last;
      else decides_q <= !head.last && beat_q == DecisionBeat - 4'd1;
      if (head.last) beat_q <= '0;
      else if (beat_q != MaxBeat) beat_q <= beat_q + 1'b1;
      in_message_q <= !head.last && (in_message_q || (deciding && is_message));
      // It counts for good messages, which all have the decision's beat.
      if (decides_q) refused_q <= busy;
    end
  end

  always_ff @(posedge clk_i) drop_if_busy_q <= drop_if_busy_i;

  always_ff @(posedge clk_i) begin
    if (beat_q == TypeBeat) begin
      type_message_q <= types.message_12;
      type_vlan_q    <= types.vlan_12;
      type_tag_q     <= types.tag_12;
    end
  end

  // --- Frames that pass: four beats, of which those before the committed one may go ------------

  axis_t [3:0] beats_q;
  logic  [2:0] write_q;
  logic  [2:0] commit_q;
  logic  [2:0] read_q;
  // The inverse of the read address, as a separate register, since it drives a wide multiplexer.
  logic  [1:0] show_q;
  logic        passes;
  logic        writes;

  assign full   = write_q == {!read_q[2], read_q[1:0]};
  // Of a frame that is no message, and known to be none.
  assign passes = accept && !in_message_q && (beat_q > DecisionBeat || (deciding && !is_message));
  assign writes = accept && !in_message_q && !(deciding && is_message);

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      write_q  <= '0;
      commit_q <= '0;
      read_q   <= '0;
      show_q   <= '1;
    end else begin
      if (writes) write_q <= write_q + 1'b1;
      else if (accept && deciding) write_q <= commit_q;
      if (passes) commit_q <= write_q + 1'b1;
      if (m_axis_tvalid && m_axis_tready) begin
        read_q <= read_q + 1'b1;
        show_q <= show_q - 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!in_message_q && !full) beats_q[write_q[1:0]] <= head;
  end

  assign m_axis_tvalid = read_q != commit_q;
  assign m_axis = beats_q[~show_q];

  // --- Messages --------------------------------------------------------------------------------

  logic [47:0] destination;
  logic        long_enough;
  logic        too_long;
  logic        good;
  // A good message ends, and one that is none. Beats behind the decision are always taken; a frame that ends with the decision
  // is too short, but for one whole beat of 512 bits.
  logic        ends_at_once;
  logic        ends;
  logic        whole;
  logic        malformed;
  logic        refused;
  logic        has_feedback;
  logic        taken_q;
  logic        malformed_q;
  logic        dropped_q;

  // The first beat of the frame that is decided on lies behind the committed ones.
  assign destination = DecisionBeat == '0 ? head.data[47:0] : beats_q[commit_q[1:0]].data[47:0];
  assign long_enough = beat_q > ShortBeat
      || (beat_q == ShortBeat && head.keep[(MinOctets-1)%BeatOctets]);
  assign too_long = beat_q == MaxBeat || (beat_q == LongBeat && head.keep[LongOctets%BeatOctets]);
  assign good = long_enough && !too_long && !head.user;
  assign ends_at_once = OneBeat && ready && decides_q && any_message;
  assign ends = valid && head.last && (in_message_q || ends_at_once);
  assign refused = OneBeat && decides_q ? busy : refused_q;
  assign whole = ends && good;
  assign malformed = valid && head.last && (in_message_q ? !good :
      ready && deciding && is_message && !(OneBeat && good));

  // In one beat the destination and the feedback are read in the clock in which the message ends, and it is shown a clock later.
  logic shows;
  if (OneBeat) begin : gen_later
    logic whole_q;
    always_ff @(posedge clk_i) whole_q <= !rst_i && whole && !refused;
    assign shows = whole_q;
    assign busy  = message_valid_o || whole_q;
  end else begin : gen_now
    assign shows = whole && !refused;
    assign busy  = message_valid_o;
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      message_valid_o <= 1'b0;
      taken_q         <= 1'b0;
      malformed_q     <= 1'b0;
      dropped_q       <= 1'b0;
    end else begin
      if (shows && has_feedback) message_valid_o <= 1'b1;
      else if (message_ready_i) message_valid_o <= 1'b0;
      // Counted a clock later.
      taken_q    <= whole && !refused;
      dropped_q <= whole && refused;
      malformed_q  <= malformed;
    end
  end

  event_counter u_taken (
      .clk_i,
      .rst_i,
      .valid_i (taken_q),
      .amount_i(1'b1),
      .count_o (taken_o)
  );

  event_counter u_malformed (
      .clk_i,
      .rst_i,
      .valid_i (malformed_q),
      .amount_i(1'b1),
      .count_o (malformed_o)
  );

  event_counter u_refused (
      .clk_i,
      .rst_i,
      .valid_i (dropped_q),
      .amount_i(1'b1),
      .count_o (refused_o)
  );

  always_ff @(posedge clk_i) begin
    if (message_begins) begin
      destination_o <= {<<8{destination}};
    end
  end

  if (Smcc) begin : gen_notice
    // How many tags of 4 octets are in front of the message: it begins at octet 14, 18 or 22.
    logic [1:0] tags;
    logic [1:0] tags_q;
    logic       captures;

    assign tags = !decides_q ? tags_q : after_two_tags ? 2'd2 : 2'(after_one_tag);
    assign captures = in_message_q ? valid && !refused_q : message_begins;

    always_ff @(posedge clk_i) begin
      if (decides_q) tags_q <= tags;
      for (int unsigned n = 0; n < 3; ++n) begin
        if (captures && tags == 2'(n)) begin
          // Two octets at a time, for a field may lie in two beats.
          for (int unsigned w = 0; w < 4; ++w) begin
            if (beat_q == 4'((16 + 4 * n + 2 * w) / BeatOctets))
              cp_id_o[48-16*w+:16] <= word_at(head.data, 16 + 4 * n + 2 * w);
          end
          for (int unsigned w = 0; w < 2; ++w) begin
            if (beat_q == 4'((38 + 4 * n + 2 * w) / BeatOctets))
              q_off_o[16-16*w+:16] <= word_at(head.data, 38 + 4 * n + 2 * w);
            if (beat_q == 4'((42 + 4 * n + 2 * w) / BeatOctets))
              q_delta_o[16-16*w+:16] <= word_at(head.data, 42 + 4 * n + 2 * w);
          end
        end
      end
    end

    assign cn_tagged_o = 1'b0;
    assign cn_flow_o = '0;
    assign fb_o = '0;
    assign has_feedback = 1'b1;
  end else begin : gen_cnm
    // Feedback is in octet 15, 19 or 23; a flow's identifier in octets 14 and 15 or 18 and 19. The first of each may lie in the beat
    // before that of the decision.
    logic [15:0] first;
    if (DecisionBeat > 4'(15 / BeatOctets)) begin : gen_before
      logic [1:0] at;
      assign at = commit_q[1:0] + 2'(15 / BeatOctets);
      assign first = word_at(beats_q[at].data, 14);
    end else begin : gen_same
      assign first = word_at(head.data, 14);
    end

    always_ff @(posedge clk_i) begin
      if (message_begins) begin
        if (after_two_tags) fb_o <= head.data[8*(23%BeatOctets)+:6];
        else if (after_one_tag) fb_o <= head.data[8*(19%BeatOctets)+:6];
        else fb_o <= first[5:0];
        cn_tagged_o <= after_two_tags || (type_tag && after_one_tag);
        cn_flow_o   <= after_two_tags ? word_at(head.data, 18) : first;
      end
    end

    assign cp_id_o = '0;
    assign q_off_o = '0;
    assign q_delta_o = '0;
    // No congestion changes nothing.
    assign has_feedback = fb_o != '0;
  end

`ifdef FORMAL
  // Safety: no frame is cut or interleaved, and no beat changes before it is taken. All that is written stays in order,
  // so frames are whole if the committed beats are. After the last beat of a frame comes nothing until the next frame
  // is known to pass, and then all of its beats.
  logic  past_valid_q = 1'b0;
  logic  committed_last_q = 1'b1;
  logic  past_stalled_q;
  axis_t past_beat_q;
  always_ff @(posedge clk_i) begin
    past_valid_q   <= 1'b1;
    past_stalled_q <= m_axis_tvalid && !m_axis_tready && !rst_i;
    past_beat_q    <= m_axis;
    if (rst_i) committed_last_q <= 1'b1;
    else if (passes) committed_last_q <= head.last;
    if (!past_valid_q) assume (rst_i);
    if (past_valid_q) begin
      // The beats in the memory: at most four, of which the uncommitted ones are those of the present frame.
      assert (3'(write_q - read_q) <= 3'd4);
      assert (3'(commit_q - read_q) <= 3'(write_q - read_q));
      assert (show_q == ~read_q[1:0]);
      assert (decides_q == (beat_q == DecisionBeat) && 5'(beat_q) <= 5'(MaxBeat));
      if (beat_q <= DecisionBeat) begin
        assert (!in_message_q);
        assert (committed_last_q);
        assert (3'(write_q - commit_q) == 3'(beat_q));
      end else begin
        assert (write_q == commit_q);
        assert (committed_last_q == in_message_q);
      end
      if (past_stalled_q) begin
        assert (m_axis_tvalid);
        assert (m_axis == past_beat_q);
      end
    end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (past_valid_q) begin
      cover (past_stalled_q && m_axis_tready && m_axis.last);
      cover (message_valid_o && message_ready_i);
    end
  end
`endif
endmodule

`default_nettype wire
