// SPDX-License-Identifier: Apache-2.0
//
// Counts the frames that arrive from a line, and those of them that a line should not bring.
//
// Latency: a counter moves 3 clocks after a frame's last beat. Throughput: a beat a clock.

`default_nettype none

module nic_arrivals
  import penstock_pkg::*;
  import cn_frame_pkg::*;
#(
  // The longest frame, octets with its FCS.
  parameter int unsigned MaxOctets = 1518
) (
  input var logic clk_i,
  input var logic rst_i,

  // A beat arrives.
  input var logic       valid_i,
  input var logic [7:0] keep_i,
  input var logic       last_i,
  input var logic       user_i,

  // Frames, their octets with FCS (a frame counts with 65 535 at most); shorter than 64 octets, longer than MaxOctets, and
  // marked bad. They stay at their largest value.
  output var logic [31:0] arrived_o,
  output var logic [47:0] arrived_octets_o,
  output var logic [31:0] runts_o,
  output var logic [31:0] oversized_o,
  output var logic [31:0] bad_o
);
  localparam int unsigned SumW = FrameW + 1;

  logic          [     3:0] octets;
  logic          [     3:0] octets_q;
  logic                     valid_q;
  logic                     last_q;
  logic                     user_q;
  logic                     ends_q;
  logic                     bad_q;
  // The next beat is a frame's first. The octets of the frame that have come; with FCS.
  logic                     first_q;
  frame_octets_t            length_q;
  logic          [SumW-1:0] sum;

  assign octets = octets_of(keep_i);

  assign sum = SumW'(first_q ? FrameW'(FcsOctets) : length_q) + SumW'(octets_q);

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      valid_q <= 1'b0;
      ends_q  <= 1'b0;
      first_q <= 1'b1;
    end else begin
      valid_q <= valid_i;
      ends_q  <= valid_q && last_q;
      if (valid_q) first_q <= last_q;
    end
  end

  always_ff @(posedge clk_i) begin
    octets_q <= octets;
    last_q   <= last_i;
    user_q   <= user_i;
    bad_q    <= user_q;
    if (valid_q) length_q <= sum[SumW-1] ? '1 : sum[FrameW-1:0];
  end

  event_counter u_arrived (
      .clk_i,
      .rst_i,
      .valid_i (ends_q),
      .amount_i(1'b1),
      .count_o (arrived_o)
  );

  event_counter #(
      .Width  (48),
      .AmountW(FrameW)
  ) u_octets (
      .clk_i,
      .rst_i,
      .valid_i (ends_q),
      .amount_i(length_q),
      .count_o (arrived_octets_o)
  );

  event_counter u_runts (
      .clk_i,
      .rst_i,
      .valid_i (ends_q && 32'(length_q) < MinOctets + FcsOctets),
      .amount_i(1'b1),
      .count_o (runts_o)
  );

  event_counter u_oversized (
      .clk_i,
      .rst_i,
      .valid_i (ends_q && 32'(length_q) > MaxOctets),
      .amount_i(1'b1),
      .count_o (oversized_o)
  );

  event_counter u_bad (
      .clk_i,
      .rst_i,
      .valid_i (ends_q && bad_q),
      .amount_i(1'b1),
      .count_o (bad_o)
  );
endmodule

`default_nettype wire
