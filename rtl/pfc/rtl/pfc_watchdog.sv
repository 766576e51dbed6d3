// SPDX-License-Identifier: Apache-2.0
//
// The watchdog of priority flow control: lets a queue go that pause frames have stopped for too long. (Rules as
// crates/switch/src/datapath/watchdog.rs, which are those of SONiC's watchdog)
//
// It looks at the priorities in the clocks of tick_i. One that has been paused without a break for after_i looks is a storm; the
// first look at a stop does not count. The stop ends, and pause frames count for nothing until none has come for restoration_i
// looks, counted likewise. Until then the queue sends its frames, or drops them (drop_o). With Alert the storm is counted alone.
// With tick_i high in every clock the times are clocks.
//
// Latency: none, from pfc_rx's outputs to its inputs; drop_o follows a clock later.

`default_nettype none

module pfc_watchdog
  import pfc_pkg::*;
(
  input var logic clk_i,
  input var logic rst_i,

  // It looks.
  input var logic           tick_i,
  // Priorities that it watches; looks that a stop lasts, and that a storm lasts without a pause frame: 0 counts as 1.
  input var logic    [ 7:0] watch_i,
  input var logic    [15:0] after_i,
  input var logic    [15:0] restoration_i,
  input var action_e        action_i,

  // Those of pfc_rx.
  input var  logic [7:0] next_paused_i,
  input var  logic [7:0] named_i,
  output var logic [7:0] let_go_o,
  output var logic [7:0] ignore_o,

  // Priorities whose queues drop what they have and what comes; storms that were seen. It stays at its largest value.
  output var logic [ 7:0] drop_o,
  output var logic [31:0] storms_o
);
  localparam int unsigned LookW = 16;
  typedef logic [LookW-1:0] looks_t;

  // The last look of each time, counted from 0.
  looks_t last_after_q;
  looks_t last_restoration_q;
  logic   acts_q;
  logic   drops_q;
  always_ff @(posedge clk_i) begin
    last_after_q       <= after_i == '0 ? '0 : after_i - 1'b1;
    last_restoration_q <= restoration_i == '0 ? '0 : restoration_i - 1'b1;
    acts_q             <= action_i != Alert;
    drops_q            <= action_i == Drop;
  end

  logic [7:0] fires;

  for (genvar p = 0; p < 8; ++p) begin : gen_priority
    // Of the stop: it was looked at before; looks since then. It is judged once.
    logic   seen_q;
    logic   judged_q;
    looks_t looks_q;
    // Of the storm: the same since its last frame.
    logic   storm_q;
    logic   quiet_seen_q;
    looks_t quiet_q;
    logic   due;
    logic   ends;

    assign due = tick_i && seen_q && !judged_q && looks_q == last_after_q;
    assign ends = storm_q && tick_i && quiet_seen_q && quiet_q == last_restoration_q;
    assign fires[p] = watch_i[p] && next_paused_i[p] && due && !(storm_q && !ends);
    assign let_go_o[p] = fires[p] && acts_q;
    assign ignore_o[p] = storm_q && !ends && acts_q;
    assign drop_o[p] = storm_q && drops_q;

    always_ff @(posedge clk_i) begin
      if (rst_i || !next_paused_i[p] || let_go_o[p]) begin
        seen_q   <= 1'b0;
        judged_q <= 1'b0;
        looks_q  <= '0;
      end else if (tick_i) begin
        seen_q <= 1'b1;
        if (seen_q && !judged_q) looks_q <= looks_q + 1'b1;
        if (due) judged_q <= 1'b1;
      end
    end

    always_ff @(posedge clk_i) begin
      if (rst_i) begin
        storm_q <= 1'b0;
        quiet_seen_q <= 1'b0;
        quiet_q <= '0;
      end else if (fires[p]) begin
        // It fires in a look, which counts nothing.
        storm_q <= 1'b1;
        quiet_seen_q <= 1'b1;
        quiet_q <= '0;
      end else if (ends) begin
        storm_q <= 1'b0;
      end else if (named_i[p]) begin
        // The time without any begins again.
        quiet_seen_q <= tick_i;
        quiet_q <= '0;
      end else if (tick_i) begin
        quiet_seen_q <= 1'b1;
        if (quiet_seen_q) quiet_q <= quiet_q + 1'b1;
      end
    end
  end

  logic [3:0] fired_q;
  always_ff @(posedge clk_i) fired_q <= rst_i ? '0 : 4'(unsigned'($countones(fires)));

  event_counter #(
      .AmountW(4)
  ) u_storms (
      .clk_i,
      .rst_i,
      .valid_i (1'b1),
      .amount_i(fired_q),
      .count_o (storms_o)
  );

`ifdef FORMAL
  // Safety: nothing is let go that is not watched or not paused, and only a storm has frames ignored or dropped.
  logic past_valid_q = 1'b0;
  logic [7:0] storms;
  for (genvar p = 0; p < 8; ++p) begin : gen_formal
    assign storms[p] = gen_priority[p].storm_q;
  end
  always_ff @(posedge clk_i) begin
    past_valid_q <= 1'b1;
    if (!past_valid_q) assume (rst_i);
    if (past_valid_q) begin
      assert ((let_go_o & ~(watch_i & next_paused_i)) == '0);
      assert (((ignore_o | drop_o) & ~storms) == '0);
      assert ((let_go_o & ignore_o) == '0);
    end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (past_valid_q) begin
      cover (let_go_o[0] && !rst_i);
      cover (ignore_o[0] && named_i[0]);
      cover (gen_priority[0].ends && named_i[0]);
    end
  end
`endif
endmodule

`default_nettype wire
