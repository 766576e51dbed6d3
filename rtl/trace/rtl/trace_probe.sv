// SPDX-License-Identifier: Apache-2.0
//
// Trace probe: makes a trace's events of a value that is always there: one when it has changed, no two closer than an
// interval.
//
// Latency: an event shows the value of the clock before. Throughput: an event each interval_i + 1 clocks.

`default_nettype none

module trace_probe
  import trace_pkg::*;
(
  input var logic clk_i,
  input var logic rst_i,

  // Clocks in which there is no other event after one.
  input var logic [23:0] interval_i,

  input var logic [ValueW-1:0] value_i,

  // The value has changed since the last event; the first comes after reset.
  output var logic              valid_o,
  output var logic [ValueW-1:0] value_o
);
  logic        known_q;
  // The interval runs, and what is left of it.
  logic        waits_q;
  logic [23:0] wait_q;
  logic        sends;

  assign sends = !waits_q && (!known_q || value_i != value_o);

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      known_q <= 1'b0;
      waits_q <= 1'b0;
      wait_q  <= '0;
      valid_o <= 1'b0;
    end else begin
      valid_o <= sends;
      if (!waits_q) begin
        known_q <= 1'b1;
        waits_q <= sends && interval_i != '0;
        wait_q  <= interval_i;
      end else begin
        waits_q <= wait_q != 24'd1;
        wait_q  <= wait_q - 1'b1;
      end
    end
  end

  // Without a change it stays the same anyway.
  always_ff @(posedge clk_i) if (!waits_q) value_o <= value_i;
endmodule

`default_nettype wire
