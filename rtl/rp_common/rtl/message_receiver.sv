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
// Latency: a frame's first beat comes out 4 clocks after it went in; a message is shown two clocks after its last beat.
// Throughput: a beat a clock, with drop_if_busy_i whatever comes. Else a message that comes while another is not taken yet waits before
// its third beat.

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

  // Beats of a frame: the decision falls with beat 2, or with an earlier last one. The count saturates at 15.
  localparam logic [3:0] DecisionBeat = 4'd2;
  localparam logic [3:0] MaxBeat = 4'd15;

  logic [3:0] beat_q;
  // It is the beat Decision; a bit, for much hangs on it.
  logic       third_q;
  // The rest of this frame is a message's, and its fields are not read, for another message waits.
  logic       in_message_q;
  logic       refused_q;
  logic       drop_if_busy_q;
  logic       accept;
  logic       deciding;
  logic       is_message;
  logic       stalls;

  // The EtherTypes at octets 0 and 4 of a beat, if it has these whole.
  typedef struct packed {
    logic message_at_0;
    logic tag_at_0;
    logic message_at_4;
    logic vlan_at_4;
    logic tag_at_4;
  } types_t;

  logic   [15:0] at_0;
  logic   [15:0] at_4;
  types_t        arriving_types;

  assign at_0 = {s_axis.data[7:0], s_axis.data[15:8]};
  assign at_4 = {s_axis.data[39:32], s_axis.data[47:40]};
  assign arriving_types = '{
          message_at_0: s_axis.keep[1] && at_0 == EtherType,
          tag_at_0: s_axis.keep[1] && at_0 == EtherTypeCnTag,
          message_at_4: s_axis.keep[5] && at_4 == EtherType,
          vlan_at_4: s_axis.keep[5] && at_4 == EtherTypeVlan,
          tag_at_4: s_axis.keep[5] && at_4 == EtherTypeCnTag
      };

  // Past a buffer with the types, for the beat that is shown decides whether it is taken.
  axis_t         head;
  logic          valid;
  logic          ready;
  types_t        types;
  // Octets in the order of the line: octet 0 in the highest bits.
  logic   [63:0] line;

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

  assign line = {<<8{head.data}};

  logic full;

  // The beat that says of what kind the frame is, and no message waits.
  logic message_begins;

  // --- EtherTypes: octets 12, 16 and 20 --------------------------------------------------------

  logic type_message_q;
  logic type_vlan_q;
  logic type_tag_q;
  logic after_one_tag;
  logic after_two_tags;

  assign after_one_tag = (type_vlan_q || type_tag_q) && types.message_at_0;
  assign after_two_tags = type_vlan_q && types.tag_at_0 && types.message_at_4;

  assign deciding = third_q || (head.last && beat_q < DecisionBeat);
  always_comb begin
    is_message = 1'b0;
    if (beat_q == 4'd1) is_message = types.message_at_4;
    else if (third_q) is_message = type_message_q || after_one_tag || after_two_tags;
  end

  assign stalls = third_q && message_valid_o && !drop_if_busy_q
      && (type_message_q || after_one_tag || after_two_tags);
  // It counts when the beat is taken and a message's.
  assign message_begins = third_q && !message_valid_o;
  assign ready = (in_message_q || !full) && !stalls;
  assign accept = valid && ready;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      beat_q       <= '0;
      third_q      <= 1'b0;
      in_message_q <= 1'b0;
      refused_q    <= 1'b0;
    end else if (accept) begin
      third_q <= !head.last && beat_q == 4'd1;
      if (head.last) beat_q <= '0;
      else if (beat_q != MaxBeat) beat_q <= beat_q + 1'b1;
      in_message_q <= !head.last && (in_message_q || (deciding && is_message));
      // It counts for good messages, which all have a third beat.
      if (third_q) refused_q <= message_valid_o;
    end
  end

  always_ff @(posedge clk_i) drop_if_busy_q <= drop_if_busy_i;

  always_ff @(posedge clk_i) begin
    if (beat_q == 4'd1) begin
      type_message_q <= types.message_at_4;
      type_vlan_q    <= types.vlan_at_4;
      type_tag_q     <= types.tag_at_4;
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

  logic [47:0] beat_0;
  logic        long_enough;
  logic        good;
  // A good message ends, and one that is none. Beats behind the decision are always taken; a frame that ends with the decision
  // is too short.
  logic        whole;
  logic        malformed;
  logic        has_feedback;
  logic        taken_q;
  logic        malformed_q;
  logic        dropped_q;

  // The first beat of the frame that is decided on lies behind the committed ones.
  assign beat_0 = beats_q[commit_q[1:0]].data[47:0];
  // 60 octets end with octet 3 of beat 7.
  assign long_enough = beat_q > 4'd7 || (beat_q == 4'd7 && head.keep[3]);
  assign good = long_enough && beat_q != MaxBeat && !head.user;
  assign whole = valid && head.last && in_message_q && good;
  assign malformed = valid && head.last && (in_message_q ? !good : ready && deciding && is_message);

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      message_valid_o <= 1'b0;
      taken_q         <= 1'b0;
      malformed_q     <= 1'b0;
      dropped_q       <= 1'b0;
    end else begin
      if (whole && has_feedback && !refused_q) message_valid_o <= 1'b1;
      else if (message_ready_i) message_valid_o <= 1'b0;
      // Counted a clock later.
      taken_q    <= whole && !refused_q;
      dropped_q <= whole && refused_q;
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
      destination_o <= {<<8{beat_0}};
    end
  end

  if (Smcc) begin : gen_notice
    // How many tags of 4 octets are in front of the message: it begins at octet 14, 18 or 22.
    logic        one_tag_q;
    logic        two_tags_q;
    // Octets 6 and 7 of the beat before.
    logic [15:0] before_q;
    logic [31:0] straddling;
    logic [31:0] middle;
    logic        both_fields;
    logic        captures;

    assign straddling = {before_q, line[63:48]};
    assign middle = line[47:16];
    assign captures = valid && in_message_q && !refused_q;
    assign both_fields = two_tags_q ? beat_q == 4'd6 : !one_tag_q && beat_q == 4'd5;

    always_ff @(posedge clk_i) begin
      if (captures) before_q <= line[15:0];
      if (message_begins) begin
        one_tag_q <= after_one_tag;
        two_tags_q <= after_two_tags;
        // Octets 16 to 23, of which 20 to 23 are the first 4 behind one tag.
        cp_id_o <= {after_one_tag ? line[31:0] : line[63:32], line[31:0]};
      end
      if (captures) begin
        if (beat_q == 4'd3 && two_tags_q) cp_id_o <= line;
        if (beat_q == 4'd3 && one_tag_q) cp_id_o[31:0] <= line[63:32];
        if (both_fields) begin
          q_off_o   <= straddling;
          q_delta_o <= middle;
        end
        if (beat_q == 4'd5 && one_tag_q) q_off_o <= middle;
        if (beat_q == 4'd6 && one_tag_q) q_delta_o <= straddling;
      end
    end

    assign fb_o = '0;
    assign has_feedback = 1'b1;
  end else begin : gen_cnm
    // Octet 15, 19 or 23; octet 15 is the last of beat 1.
    always_ff @(posedge clk_i) begin
      if (message_begins) begin
        if (after_two_tags) fb_o <= line[5:0];
        else if (after_one_tag) fb_o <= line[37:32];
        else fb_o <= beats_q[commit_q[1:0]+1'b1].data[61:56];
      end
    end

    assign cp_id_o   = '0;
    assign q_off_o   = '0;
    assign q_delta_o = '0;
    logic unused;
    assign unused = &{1'b0, line[63:38], line[31:6]};
    // No congestion changes nothing.
    assign has_feedback = fb_o != '0;
  end

`ifdef FORMAL
  // Safety: no frame is cut or interleaved, and no beat changes before it is taken. All that is written stays in order,
  // so frames are whole if the committed beats are. After the last beat of a frame comes nothing until the next frame
  // is known to pass, and then all of its beats.
  logic        past_valid_q = 1'b0;
  logic        committed_last_q = 1'b1;
  logic        past_stalled_q;
  logic [73:0] past_beat_q;
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
      assert (third_q == (beat_q == DecisionBeat));
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
