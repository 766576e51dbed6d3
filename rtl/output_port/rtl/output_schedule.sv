// SPDX-License-Identifier: Apache-2.0
//
// The rate of an output port, and its changes in the order of their times.
//
// Latency: in clock schedule_at_i + 2 rate_o has the change. Throughput: a change in 3 clocks.

`default_nettype none

module output_schedule
  import penstock_pkg::*;
#(
  // Changes of the rate, 1 to 16.
  parameter int unsigned Entries = 4,
  // The highest rate; a higher one closes the line.
  parameter rate_t Highest = '1,
  // Bits of a number of entries; not to be set.
  parameter int unsigned EntryW = unsigned'($clog2(Entries + 1))
) (
  input var logic clk_i,
  input var logic rst_i,

  // Those of output_port.
  input var rate_t                          rate_i,
  input var logic  [ EntryW-1:0]            schedule_entries_i,
  input var logic  [Entries-1:0][     47:0] schedule_at_i,
  input var logic  [Entries-1:0][RateW-1:0] schedule_rate_i,
  input var logic  [       47:0]            now_i,

  // The rate, and that the line is open: it is neither 0 nor too high.
  output var rate_t rate_o,
  output var logic  open_o
);
  if (Entries < 1 || Entries > 16) begin : gen_bad_entries
    $fatal(0, "Entries is 1 to 16 (instance %m)");
  end

  // The schedule: the next change is loaded, compared, and done; three clocks each.
  logic  [EntryW-1:0] entry_q;
  logic               armed_q;
  logic               due_q;
  logic  [      47:0] next_at_q;
  rate_t              next_rate_q;
  // It is neither 0 nor too high.
  logic               next_open_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      entry_q <= '0;
      armed_q <= 1'b0;
      due_q   <= 1'b0;
    end else begin
      due_q <= 1'b0;
      if (due_q) begin
        entry_q <= entry_q + 1'b1;
      end else if (!armed_q) begin
        armed_q <= entry_q < schedule_entries_i && 32'(entry_q) < Entries;
      end else if (now_i >= next_at_q) begin
        armed_q <= 1'b0;
        due_q   <= 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!armed_q && !due_q) begin
      for (int unsigned i = 0; i < Entries; ++i) begin
        if (entry_q == EntryW'(i)) begin
          next_at_q   <= schedule_at_i[i];
          next_rate_q <= schedule_rate_i[i];
        end
      end
    end
    // It is loaded two clocks before it is done.
    next_open_q <= next_rate_q != '0 && next_rate_q <= Highest;
    if (!rst_i && due_q) begin
      rate_o <= next_rate_q;
      open_o <= next_open_q;
    end else if (rst_i || entry_q == '0) begin
      rate_o <= rate_i;
      open_o <= rate_i != '0 && rate_i <= Highest;
    end
  end

`ifdef FORMAL
  // Safety: no change is done that there is not.
  logic past_valid_q = 1'b0;
  always_ff @(posedge clk_i) begin
    past_valid_q <= 1'b1;
    if (!past_valid_q) assume (rst_i);
    if (past_valid_q) begin
      assert (32'(entry_q) <= Entries && !(armed_q && due_q));
      if (armed_q || due_q) assert (32'(entry_q) < Entries);
    end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (past_valid_q) cover (due_q && 32'(entry_q) == Entries - 1);
  end
`endif
endmodule

`default_nettype wire
