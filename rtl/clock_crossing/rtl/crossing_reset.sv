// SPDX-License-Identifier: Apache-2.0
//
// One side of the reset of a clock crossing. A reset of either side, a clock long at least, clears both, whatever their clocks are:
// the pulse sets registers of both without a clock. A side runs when the other has been cleared and says so, so it never
// sees a pointer from before.
//
// clear_o and run_o change with the side's clock alone. clear_o begins at most 3 clocks after the reset. run_o follows
// within 9 clocks of the slower side after the reset's end.

`default_nettype none

module crossing_reset (
  input var logic clk_i,
  // The side's reset, synchronous.
  input var logic rst_i,
  // The reset of either side: a register of either clock, or both ORed.
  input var logic either_i,

  // This side has been cleared since: for the other side.
  output var logic ready_o,
  // The other side's.
  input var  logic other_ready_i,

  output var logic clear_o,
  output var logic run_o
);
  // Set without a clock, then emptied by it.
  (* ASYNC_REG = "TRUE" *)
  logic [3:0] held_q;
  (* ASYNC_REG = "TRUE" *)
  logic [1:0] other_q;
  // Registers that the pulse does not reach: what follows from them changes with the clock.
  (* ASYNC_REG = "TRUE" *)
  logic [1:0] clear_q;
  (* ASYNC_REG = "TRUE" *)
  logic [1:0] run_q;

  always_ff @(posedge clk_i or posedge either_i) begin
    if (either_i) begin
      held_q  <= '1;
      other_q <= '0;
    end else begin
      held_q  <= {held_q[2:0], 1'b0};
      other_q <= {other_q[0], other_ready_i};
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      clear_q <= '1;
      run_q   <= '0;
    end else begin
      clear_q <= {clear_q[0], held_q[1]};
      run_q   <= {run_q[0], other_q[1]};
    end
  end

  assign ready_o = !held_q[3];
  assign clear_o = clear_q[1];
  assign run_o   = run_q[1] && !clear_q[1];
endmodule

`default_nettype wire
