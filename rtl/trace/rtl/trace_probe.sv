// SPDX-License-Identifier: Apache-2.0
//
// Trace probe: makes a trace's events of a value that is always there: one when it has changed, no two closer than an
// interval.
//
// Latency: a change is reported two clocks later, with the value of the clock before. Throughput: an event each interval_i + 1
// clocks, at least 2.

`default_nettype none

module trace_probe
  import trace_pkg::*;
(
  input var logic clk_i,
  input var logic rst_i,

  // Clocks in which there is no other event after one; 0 is 1.
  input var logic [23:0] interval_i,

  input var logic [ValueW-1:0] value_i,

  // The value has changed since the last event; the first comes after reset.
  output var logic              valid_o,
  output var logic [ValueW-1:0] value_o
);
  // Bits of the value that are compared at once.
  localparam int unsigned PartW = 5;
  localparam int unsigned Parts = (ValueW + PartW - 1) / PartW;

  logic             known_q;
  // Which parts of the value had changed.
  logic [Parts-1:0] changed_q;
  // The interval runs, and the rest of it.
  logic             holdoff_q;
  logic [     23:0] holdoff_remaining_q;
  logic             sends;

  assign sends = !holdoff_q && (!known_q || changed_q != '0);

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      known_q <= 1'b0;
      holdoff_q <= 1'b0;
      holdoff_remaining_q <= '0;
      valid_o <= 1'b0;
    end else begin
      valid_o <= sends;
      if (!holdoff_q) begin
        known_q <= 1'b1;
        holdoff_q <= sends;
        holdoff_remaining_q <= interval_i;
      end else begin
        holdoff_q <= holdoff_remaining_q[23:1] != '0;
        holdoff_remaining_q <= holdoff_remaining_q - 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < Parts; ++i) begin
      changed_q[i] <= PartW'(value_i >> (PartW * i)) != PartW'(value_o >> (PartW * i));
    end
    // Without a change it stays the same anyway.
    if (!holdoff_q) value_o <= value_i;
  end
endmodule

`default_nettype wire
