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
  input var logic                  beat_valid_i,
  input var logic [     DataW-1:0] beat_data_i,
  input var logic [BeatOctets-1:0] beat_keep_i,
  input var logic                  beat_last_i,
  input var logic                  beat_user_i,

  // The same a clock later: octets less 1 instead of tkeep.
  output var logic                    beat_valid_o,
  output var logic        [DataW-1:0] beat_data_o,
  output var beat_count_t             beat_count_o,
  output var logic                    beat_last_o,

  output var logic          frame_valid_o,
  output var frame_octets_t octets_o,
  output var logic          bad_o,
  output var header_t       header_o,
  output var logic          message_o
);
  if (MaxOctets < 64 || MaxOctets > 65_000) begin : gen_bad_length
    $fatal(0, "MaxOctets is 64 to 65000 (instance %m)");
  end

  logic                  valid_q;
  logic [     DataW-1:0] data_q;
  logic [BeatOctets-1:0] keep_q;
  logic                  last_q;
  logic                  user_q;

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
  beat_count_t count;
  logic        hole;
  assign hole  = !keep_q[0] || (keep_q[BeatOctets-1:1] & ~keep_q[BeatOctets-2:0]) != '0;
  assign count = hole ? '1 : BeatCountW'(octets_of({1'b0, keep_q[BeatOctets-1:1]}));

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
      over_q        <= !first_q && !(valid_q && last_q) && octets_q > FrameW'(MaxOctets);
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

  // The beats with the EtherType of octet 12 and with those of octets 16 and 20; the count of beats stops behind them.
  localparam logic [1:0] TypeBeat = 2'(12 / BeatOctets);
  localparam logic [1:0] TagsBeat = 2'(20 / BeatOctets);
  logic    [1:0] beat_q;
  header_t       header_q;
  logic          message_q;
  logic          has_vlan;
  logic          has_flow;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      beat_q <= '0;
    end else if (valid_q) begin
      if (last_q) beat_q <= '0;
      else if (beat_q != TagsBeat + 2'd1) beat_q <= beat_q + 1'b1;
    end
  end

  // The first tag: of this beat, if the second may be in it too.
  assign has_vlan = TypeBeat == TagsBeat ? word_at(data_q, 12) == EtherTypeVlan : header_q.has_vlan;
  assign has_flow = TypeBeat == TagsBeat ? word_at(
      data_q, 12
  ) == EtherTypeCnTag : header_q.has_flow;

  always_ff @(posedge clk_i) begin
    if (valid_q) begin
      if (beat_q == '0) begin
        header_q.destination   <= {word_at(data_q, 0), word_at(data_q, 2), word_at(data_q, 4)};
        header_q.source[47:32] <= word_at(data_q, 6);
        header_q.has_vlan      <= 1'b0;
        header_q.has_flow      <= 1'b0;
        message_q              <= 1'b0;
      end
      if (beat_q == TypeBeat) begin
        header_q.source[31:0] <= {word_at(data_q, 8), word_at(data_q, 10)};
        header_q.has_vlan <= word_at(data_q, 12) == EtherTypeVlan;
        header_q.priority_code <= word_at(
            data_q, 12
        ) == EtherTypeVlan ? data_q[8*(14%BeatOctets)+5+:3] : '0;
        header_q.vid <= 12'(word_at(data_q, 14));
        header_q.has_flow <= word_at(data_q, 12) == EtherTypeCnTag;
        header_q.flow <= word_at(data_q, 14);
        message_q <= word_at(data_q, 12) == MessageType;
      end
      if (beat_q == TagsBeat) begin
        // The EtherType behind one tag, or behind both.
        if (has_vlan) begin
          header_q.has_flow <= word_at(data_q, 16) == EtherTypeCnTag;
          header_q.flow <= word_at(data_q, 18);
          message_q <= (word_at(
              data_q, 16
          ) == EtherTypeCnTag ? word_at(
              data_q, 20
          ) : word_at(
              data_q, 16
          )) == MessageType;
        end else if (has_flow) begin
          message_q <= word_at(data_q, 16) == MessageType;
        end
      end
    end
  end

  assign header_o  = header_q;
  assign message_o = message_q;
endmodule

`default_nettype wire
