// SPDX-License-Identifier: Apache-2.0
//
// From an asynchronous reset, active low, to the one that the cores have: synchronous, active high. It begins without a clock and
// ends with one, so that every register of the clock leaves its reset in the same clock.
//
// Latency: rst_o ends with the fourth edge after rst_ni does.

`default_nettype none

module reset_bridge (
  input var  logic clk_i,
  input var  logic rst_ni,
  output var logic rst_o
);
  (* ASYNC_REG = "TRUE" *)
  logic [3:0] reset_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) reset_q <= '1;
    else reset_q <= {reset_q[2:0], 1'b0};
  end

  assign rst_o = reset_q[3];
endmodule

`default_nettype wire
