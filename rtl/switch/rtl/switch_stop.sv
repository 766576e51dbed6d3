// SPDX-License-Identifier: Apache-2.0
//
// Ends the run of the switch between frames. When run_i goes low, no line begins another frame (stopping_o); when all lines have
// ended theirs, all but settings and table is reset, and stays so until run_i is high. A stop that has begun goes on to the reset
// though run_i is high again.
//
// Latency: the reset begins with rst_i, or a clock after the last line ended its frame, three after run_i went low at the
// earliest; it ends in the clock in which run_i goes high.

`default_nettype none

module switch_stop #(
  parameter int unsigned Ports = 4
) (
  input var logic clk_i,
  input var logic rst_i,

  input var  logic             run_i,
  // A line shows nothing, and is not within a frame.
  input var  logic [Ports-1:0] between_frames_i,
  output var logic             stopping_o,
  output var logic             reset_o
);
  // stopped_q: the run has ended. settle_q: clocks since run_i went low, as a line that was free may have begun a frame in the clock after.
  logic       stopped_q;
  logic       first_q;
  logic [1:0] settle_q;
  logic       ends;

  assign ends = settle_q == '1 && (&between_frames_i);

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      stopped_q <= 1'b1;
      first_q   <= 1'b0;
      settle_q  <= '0;
    end else if (stopped_q) begin
      stopped_q <= !run_i;
      first_q   <= 1'b0;
      settle_q  <= '0;
    end else begin
      if ((!run_i || settle_q != '0) && settle_q != '1) settle_q <= settle_q + 1'b1;
      stopped_q <= ends;
      first_q   <= ends;
    end
  end

  assign stopping_o = settle_q != '0;
  assign reset_o = rst_i || first_q || (stopped_q && !run_i);

`ifdef FORMAL
  // Safety: no reset comes within a frame, and every run whose run_i goes low is reset.
  logic past_valid_q = 1'b0;
  logic due_q = 1'b0;
  always_ff @(posedge clk_i) begin
    past_valid_q <= 1'b1;
    if (!past_valid_q) assume (rst_i);
    if (rst_i || reset_o) due_q <= 1'b0;
    else if (!run_i) due_q <= 1'b1;
    if (past_valid_q && due_q) assert (stopped_q || stopping_o);
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (past_valid_q) begin
      cover (due_q && stopping_o && reset_o && !rst_i);
    end
  end
`endif
endmodule

`default_nettype wire
