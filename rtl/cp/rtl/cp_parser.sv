// SPDX-License-Identifier: Apache-2.0
//
// Extracts the fields that a congestion message needs (source and destination MAC, VLAN tag, CN-TAG, length), and finds bad
// frames. (Kabbani and Yasuda 2010, section 3.2, "Receive Block"; 802.1Qau, CN-TAG)
//
// A beat of clock c shows in c + 1 (beat_*_o), without the beats beyond the longest frame. If the last beat of a frame is in
// clock c, frame_valid_o is high in c + 2, with length, fields and bad_o. A frame is bad if its source says so, if it is
// shorter than 64 octets or longer than MaxOctets, or if tkeep has a hole. Both header_o and message_o hold for at least one
// more clock, until the next frame arrives. Throughput: a beat a clock.

`default_nettype none

module cp_parser
  import penstock_pkg::*;
  import cn_frame_pkg::*;
  import cp_pkg::*;
#(
  // Longest frame with its FCS, octets: 64 to 65000.
  parameter int unsigned MaxOctets = 1522,
  // EtherType of the messages, which are never answered by a message.
  parameter logic [15:0] MessageType = EtherTypeCnm
) (
  input var logic clk_i,
  input var logic rst_i,

  // A beat of a stream, as it is taken.
  input var logic        beat_valid_i,
  input var logic [63:0] beat_data_i,
  input var logic [ 7:0] beat_keep_i,
  input var logic        beat_last_i,
  input var logic        beat_user_i,

  // The same a clock later: octets less 1 instead of tkeep.
  output var logic        beat_valid_o,
  output var logic [63:0] beat_data_o,
  output var logic [ 2:0] beat_count_o,
  output var logic        beat_last_o,

  output var logic          frame_valid_o,
  output var frame_octets_t octets_o,
  output var logic          bad_o,
  output var header_t       header_o,
  output var logic          message_o
);
  if (MaxOctets < 64 || MaxOctets > 65_000) begin : gen_bad_length
    $fatal(0, "MaxOctets is 64 to 65000 (instance %m)");
  end

  logic        valid_q;
  logic [63:0] data_q;
  logic [ 7:0] keep_q;
  logic        last_q;
  logic        user_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) valid_q <= 1'b0;
    else valid_q <= beat_valid_i;
  end

  always_ff @(posedge clk_i) begin
    data_q <= beat_data_i;
    keep_q <= beat_keep_i;
    last_q <= beat_last_i;
    user_q <= beat_user_i;
  end

  // Octets of a beat less 1; tkeep has to be contiguous.
  logic [2:0] count;
  logic       hole;
  always_comb begin
    hole = 1'b0;
    case (keep_q)
      8'h01:   count = 3'd0;
      8'h03:   count = 3'd1;
      8'h07:   count = 3'd2;
      8'h0f:   count = 3'd3;
      8'h1f:   count = 3'd4;
      8'h3f:   count = 3'd5;
      8'h7f:   count = 3'd6;
      8'hff:   count = 3'd7;
      default: {hole, count} = {1'b1, 3'd7};
    endcase
  end

  // Length so far, with the FCS. It stays once it exceeds the longest, which is known a clock later.
  logic          first_q;
  frame_octets_t octets_q;
  frame_octets_t octets_before;
  logic          over_q;
  logic          bad_beat_q;
  logic          frame_valid_q;
  logic          runt;

  assign octets_before = first_q ? FrameW'(FcsOctets) : octets_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      first_q       <= 1'b1;
      frame_valid_q <= 1'b0;
      over_q        <= 1'b0;
    end else begin
      frame_valid_q <= valid_q && last_q;
      over_q        <= !first_q && octets_q > FrameW'(MaxOctets);
      if (valid_q) first_q <= last_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_q) begin
      bad_beat_q <= (!first_q && bad_beat_q) || hole || (last_q && user_q);
      if (!over_q) octets_q <= octets_before + FrameW'(count) + 1'b1;
    end
  end

  assign beat_valid_o = valid_q && !over_q;
  assign beat_data_o = data_q;
  assign beat_count_o = count;
  assign beat_last_o = last_q;

  assign frame_valid_o = frame_valid_q;
  assign octets_o = octets_q;
  assign runt = octets_q < FrameW'(MinOctets + FcsOctets);
  assign bad_o = bad_beat_q || runt || octets_q > FrameW'(MaxOctets);

  // Octet n of the line is lane n mod 8 of beat n / 8. Places: the beats of a frame, as far as fields are in them.
  typedef enum logic [1:0] {
    PosFirst,
    PosSecond,
    PosThird,
    PosRest
  } position_e;
  position_e        position_q;
  header_t          header_q;
  logic             message_q;
  logic      [15:0] word4;
  logic      [15:0] word6;
  logic      [15:0] word0;
  logic      [15:0] word2;

  assign word0 = {data_q[7:0], data_q[15:8]};
  assign word2 = {data_q[23:16], data_q[31:24]};
  assign word4 = {data_q[39:32], data_q[47:40]};
  assign word6 = {data_q[55:48], data_q[63:56]};

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      position_q <= PosFirst;
    end else if (valid_q) begin
      if (last_q) position_q <= PosFirst;
      else if (position_q != PosRest) position_q <= position_e'(position_q + 2'd1);
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_q) begin
      case (position_q)
        PosFirst: begin
          header_q.destination   <= {word0, word2, word4};
          header_q.source[47:32] <= word6;
          header_q.has_vlan      <= 1'b0;
          header_q.has_flow      <= 1'b0;
          message_q              <= 1'b0;
        end
        PosSecond: begin
          header_q.source[31:0]  <= {word0, word2};
          header_q.has_vlan      <= word4 == EtherTypeVlan;
          header_q.priority_code <= word4 == EtherTypeVlan ? word6[15:13] : '0;
          header_q.vid           <= word6[11:0];
          header_q.has_flow      <= word4 == EtherTypeCnTag;
          header_q.flow          <= word6;
          message_q              <= word4 == MessageType;
        end
        PosThird: begin
          // The EtherType behind one tag, or behind both.
          if (header_q.has_vlan) begin
            header_q.has_flow <= word0 == EtherTypeCnTag;
            header_q.flow <= word2;
            message_q <= (word0 == EtherTypeCnTag ? word4 : word0) == MessageType;
          end else if (header_q.has_flow) begin
            message_q <= word0 == MessageType;
          end
        end
        default: ;
      endcase
    end
  end

  assign header_o  = header_q;
  assign message_o = message_q;
endmodule

`default_nettype wire
