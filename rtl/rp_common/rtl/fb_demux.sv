// SPDX-License-Identifier: Apache-2.0
//
// Hands a message to the reaction point whose MAC address it is for: the Fb Demux of Kabbani and
// Yasuda 2010 (section 3.2, figure 6).
//
// The message's fields go past this module; it says for whom they are. Of reaction points with the same address the one
// with the lowest number gets the message. A message for none is taken and counted.
//
// Latency: a clock; a clock after its reaction point has taken it a message is done. Throughput: a message each 3 clocks, or as
// the reaction point takes them.

`default_nettype none

module fb_demux #(
  // Reaction points, at least 1.
  parameter int unsigned ReactionPoints = 4
) (
  input var logic clk_i,
  input var logic rst_i,

  // A message, and the destination of its frame, which stands from the clock before on.
  input var  logic        message_valid_i,
  output var logic        message_ready_o,
  input var  logic [47:0] destination_i,

  // The reaction points' addresses.
  input var logic [ReactionPoints-1:0][47:0] mac_i,

  output var logic [ReactionPoints-1:0] signal_valid_o,
  input var  logic [ReactionPoints-1:0] signal_ready_i,

  // Messages for none. It stays at its largest value.
  output var logic [31:0] unknown_o
);
  if (ReactionPoints < 1) begin : gen_bad_number
    $fatal(0, "ReactionPoints is at least 1 (instance %m)");
  end

  // Octets of the destination that are those of a reaction point.
  logic [ReactionPoints-1:0][5:0] octet_match_q;
  logic [ReactionPoints-1:0]      match;
  logic                           checked_q;
  logic                           unknown_q;
  logic                           taken;
  logic                           taken_q;

  always_comb begin
    match = '0;
    for (int unsigned i = ReactionPoints; i > 0; --i) begin
      if (&octet_match_q[i-1]) begin
        match      = '0;
        match[i-1] = 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < ReactionPoints; ++i) begin
      for (int unsigned j = 0; j < 6; ++j) begin
        octet_match_q[i][j] <= destination_i[8*j+:8] == mac_i[i][8*j+:8];
      end
    end
  end

  // A message stays until its reaction point has taken it, and is done a clock later: whether it takes it is known late.
  assign taken           = (signal_valid_o & signal_ready_i) != '0;
  assign message_ready_o = unknown_q || taken_q;

  always_ff @(posedge clk_i) begin
    if (rst_i || message_ready_o) begin
      checked_q <= 1'b0;
      unknown_q <= 1'b0;
      taken_q   <= 1'b0;
    end else begin
      taken_q <= taken;
      if (message_valid_i && !checked_q) begin
        checked_q <= 1'b1;
        unknown_q <= match == '0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_i || taken) signal_valid_o <= '0;
    else if (message_valid_i && !checked_q) signal_valid_o <= match;
  end

  event_counter u_unknown (
      .clk_i,
      .rst_i,
      .valid_i (unknown_q),
      .amount_i(1'b1),
      .count_o (unknown_o)
  );
endmodule

`default_nettype wire
