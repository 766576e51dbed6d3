// SPDX-License-Identifier: Apache-2.0
//
// A cycle of DCQCN's byte counter or timer: it has ended when as many octets or ticks have passed as it has. (Zhu et al. 2015,
// section 3.2) What passes beyond its end does not count for the next cycle.
//
// Latency: with the step of clock c that ends it, ended_o is high from c + 2 on. A step in the clock of begin_i counts.

`default_nettype none

module dcqcn_cycle_counter
  import dcqcn_rp_pkg::*;
#(
  // Width of a step in bits, at most 16.
  parameter int unsigned StepW = 16
) (
  input var logic clk_i,
  input var logic rst_i,

  input var  logic               begin_i,
  input var  cycle_t             length_i,
  // Octets or ticks that pass.
  input var  logic   [StepW-1:0] step_i,
  output var logic               ended_o
);
  logic [CycleW:0] count_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      count_q <= '0;
      ended_o <= 1'b0;
    end else if (begin_i) begin
      count_q <= (CycleW + 1)'(step_i);
      ended_o <= 1'b0;
    end else if (!ended_o) begin
      count_q <= count_q + (CycleW + 1)'(step_i);
      ended_o <= count_q >= {1'b0, length_i};
    end
  end

`ifdef FORMAL
  // Safety: the count does not wrap. Assumed: a length that stays.
  localparam int unsigned MaxStep = (1 << StepW) - 1;
  logic   past_valid_q = 1'b0;
  cycle_t past_length_q;
  always_ff @(posedge clk_i) begin
    past_valid_q  <= 1'b1;
    past_length_q <= length_i;
    if (!past_valid_q) assume (rst_i);
    if (past_valid_q) begin
      assume (length_i == past_length_q);
      assert (32'(count_q) <= 32'(length_i) + 2 * MaxStep);
      if (!ended_o) assert (32'(count_q) <= 32'(length_i) + MaxStep);
    end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (past_valid_q) begin
      cover (ended_o && length_i > 30'd3);
    end
  end
`endif
endmodule

`default_nettype wire
