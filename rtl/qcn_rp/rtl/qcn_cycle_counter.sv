// SPDX-License-Identifier: Apache-2.0
//
// Counts a jittered cycle of octets or ticks down: QCN's byte counter and its timer. (Kabbani and Yasuda 2010, section 2)
//
// begin_i in clock c begins a cycle of base_i × U[1 − spread_i, 1 + spread_i), drawn with word_i: spread and word of clock
// c, base of the clocks up to c + 49. Steps from clock c on count for the new cycle, so until its length is known
// remaining_o is negative; from clock c + 51 on it is the rest of the cycle. In clock c + 1 both outputs are still those of
// the old cycle, for begin_i comes late in its clock. A cycle that has ended counts no further.
//
// Latency: 51 clocks. Throughput: a step a clock; a cycle each 51 clocks (one that begins earlier replaces the other).

`default_nettype none

module qcn_cycle_counter
  import qcn_rp_pkg::*;
#(
  // Width of a step in bits.
  parameter int unsigned StepW  = 16,
  // A cycle has ended when nothing is left of it (else when more has passed than it had).
  parameter bit          AtZero = 1'b0
) (
  input var logic clk_i,
  input var logic rst_i,

  // Stops the counter, and begins a cycle.
  input var logic          stop_i,
  input var logic          begin_i,
  input var cycle_t        base_i,
  // Q0.16
  input var logic   [15:0] spread_i,
  input var logic   [31:0] word_i,
  // The cycle has at least 1.
  input var logic          at_least_one_i,

  // Octets or ticks that pass.
  input var logic [StepW-1:0] step_i,

  output var remaining_t remaining_o,
  output var logic ended_o
);
  remaining_t                  remaining_q;
  // A cycle has begun in the clock before; one runs; its length is not known yet.
  logic                        begin_q;
  logic                        running_q;
  logic                        awaits_length_q;
  // The step of the clock before, below 0.
  remaining_t                  before_q;
  logic                        at_least_one_q;
  // It is known, and more has passed; and nothing is left.
  logic                        beyond_q;
  logic                        zero_q;

  logic                        done;
  logic       [      CycleW:0] value;
  logic       [      CycleW:0] length;
  remaining_t                  remaining_next;
  logic       [RemainingW-1:0] added;
  logic       [RemainingW-1:0] step_n;
  logic       [RemainingW-1:0] sums;
  logic       [RemainingW-2:0] carries;
  remaining_t                  addend;
  logic                        none;
  logic                        none_drawn;
  logic                        counts;

  // It answers only while it is waited for.
  jitter u_jitter (
      .clk_i,
      .rst_i   (rst_i || stop_i),
      .start_i (begin_i),
      .base_i  (base_i),
      .spread_i(spread_i),
      .word_i  (word_i),
      .done_o  (done),
      .value_o (value),
      .none_o  (none_drawn)
  );

  assign length = {value[CycleW:1], value[0] || (at_least_one_q && none_drawn)};
  // remaining_q + added - step_i with one carry chain: three numbers become two first, bit by bit. The length is known while it
  // is waited for.
  assign added = done ? RemainingW'(length) : '0;
  assign step_n = ~(counts ? RemainingW'(step_i) : '0);
  assign sums = remaining_q ^ added ^ step_n;
  assign carries = (RemainingW - 1)'(remaining_q & added | remaining_q & step_n | added & step_n);
  assign addend = {carries, 1'b1};
  assign remaining_next = sums + addend;
  // That is 0, without the carries (as in jitter).
  assign none = (sums ^ addend) == (sums | addend) << 1;
  assign ended_o = beyond_q || (AtZero && zero_q);
  assign counts = running_q && !ended_o;
  assign remaining_o = remaining_q;

  always_ff @(posedge clk_i) begin
    if (rst_i || stop_i) begin
      begin_q   <= 1'b0;
      running_q <= 1'b0;
      awaits_length_q    <= 1'b0;
      beyond_q  <= 1'b0;
      zero_q    <= 1'b0;
    end else begin
      begin_q <= begin_i;
      if (begin_q) begin
        running_q <= 1'b1;
        awaits_length_q    <= 1'b1;
        beyond_q  <= 1'b0;
        zero_q    <= 1'b0;
      end else begin
        if (done) awaits_length_q <= 1'b0;
        if (counts && (done || !awaits_length_q)) begin
          beyond_q <= remaining_next[RemainingW-1];
          zero_q   <= none;
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_i || stop_i) remaining_q <= '0;
    else remaining_q <= begin_q ? before_q - RemainingW'(step_i) : remaining_next;
    before_q    <= -RemainingW'(step_i);
    at_least_one_q <= at_least_one_i;
  end

`ifdef FORMAL
  // Safety: the count never wraps. While the length is not known no more has passed than the largest step in each
  // clock; the jitter unit answers after 50 clocks (assumed: it is held to the reference by simulation).
  localparam int signed MaxStep = (1 << StepW) - 1;
  logic             past_valid_q = 1'b0;
  logic [      5:0] age_q;
  logic [StepW-1:0] past_step_q;
  always_ff @(posedge clk_i) begin
    past_valid_q <= 1'b1;
    age_q        <= begin_i ? 6'd1 : age_q + 6'((begin_q || awaits_length_q) && age_q < 6'd50);
    past_step_q  <= step_i;
    if (!past_valid_q) assume (rst_i);
    assume (done == (awaits_length_q && !begin_q && age_q == 6'd50));
    if (past_valid_q) begin
      assert (before_q == -RemainingW'(past_step_q));
      if (begin_q) begin
        assert (age_q == 6'd1);
        assert (32'($signed(remaining_q)) >= -MaxStep * 51);
      end else if (awaits_length_q) begin
        assert (running_q && !beyond_q && !zero_q);
        assert (age_q >= 6'd2 && age_q <= 6'd50);
        assert ($signed(remaining_q) <= 0);
        assert (32'($signed(remaining_q)) >= -MaxStep * $signed(32'(age_q)));
      end else begin
        assert (32'($signed(remaining_q)) >= -MaxStep * 51);
        assert (ended_o == (running_q && ($signed(
            remaining_q
        ) < 0 || (AtZero && remaining_q == '0))));
      end
    end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (past_valid_q) begin
      cover (awaits_length_q && $signed(remaining_q) < 0);
    end
  end
`endif
endmodule

`default_nettype wire
