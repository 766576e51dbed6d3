// SPDX-License-Identifier: Apache-2.0
//
// The measure of congestion and, for QCN, its six bits. (Kabbani and Yasuda 2010, equation 1; 802.1Qau cpFb; Jiang et
// al. 2015, section 2.2)
//
// q_off = queue − q_eq and q_delta = queue − q_old, octets. QCN: with C = −Fb = 1024 q_off + w q_delta and
// M = |Fb|max = (2 w + 1024) q_eq (both in 1/1024 octets), fb = floor(63 C / M), 63 from M on, 0 for C ≤ 0. That takes two
// multiplications of one row a clock, and a non-restoring division of 6 clocks. SMCC: only q_off and q_delta.
//
// start_i in clock c; queue_i is there in that clock and stays until done_o, which is high in clock c + 55 (SMCC: c + 1).
// The outputs are valid in that clock, fb_o until the next start. A start before done_o does nothing. q_old becomes the
// queue's length with done_o; if LastSent, only with a done_o that calls for a message.

`default_nettype none

module cp_fb_calculator
  import penstock_pkg::*;
#(
  // SMCC: no Fb, and every sample calls for a message.
  parameter bit Smcc = 1'b0,
  // q_old is the length at the last sample that called for a message, not at the last sample.
  parameter bit LastSent = 1'b0
) (
  input var logic clk_i,
  input var logic rst_i,

  // Set point (QCN: Qeq, at least 1; SMCC: q0), octets.
  input var queue_octets_t        q_eq_i,
  // Weight of the queue's growth, Q6.10.
  input var logic          [15:0] w_i,

  input var logic          start_i,
  input var queue_octets_t queue_i,

  output var logic              done_o,
  // With done_o: the sample calls for a message.
  output var logic              congested_o,
  output var logic        [5:0] fb_o,
  output var queue_diff_t       q_off_o,
  output var queue_diff_t       q_delta_o
);
  queue_octets_t q_old_q;
  queue_diff_t   offset;
  queue_diff_t   growth;

  assign offset = $signed({1'b0, queue_i}) - $signed({1'b0, q_eq_i});
  assign growth = $signed({1'b0, queue_i}) - $signed({1'b0, q_old_q});

  always_ff @(posedge clk_i) begin
    if (rst_i) q_old_q <= '0;
    else if (done_o && (congested_o || !LastSent)) q_old_q <= queue_i;
  end

  if (Smcc) begin : gen_smcc
    always_ff @(posedge clk_i) begin
      if (rst_i) done_o <= 1'b0;
      else done_o <= start_i;
    end
    always_ff @(posedge clk_i) begin
      q_off_o   <= offset;
      q_delta_o <= growth;
    end
    assign congested_o = 1'b1;
    assign fb_o = '0;
    // Without Fb there is no weight.
    logic [15:0] unused_w;
    assign unused_w = w_i;
  end else begin : gen_qcn
    localparam int unsigned SumW = 48;
    typedef logic [SumW-1:0] sum_t;

    typedef enum logic [2:0] {
      StIdle,
      // C, then 64 C + 1
      StMeasure,
      // M, then 32 M
      StLargest,
      StDivide,
      StDone
    } state_e;
    // Both products are w x + 1024 a. Rows 1 to 6 are of the bits 15 to 10 of w, row 7 is of a, rows 8 to 17 are of the
    // bits 9 to 0. From row 18 on the product is doubled. The term of a row is chosen in the row before.
    localparam logic [4:0] IterationOfA = 5'd7;
    localparam logic [4:0] IterationOfCopy = 5'd18;
    localparam logic [4:0] IterationOfOne = 5'd23;
    localparam logic [4:0] LastOfMeasure = 5'd24;
    localparam logic [4:0] LastOfLargest = 5'd22;
    localparam logic [4:0] LastOfDivide = 5'd5;

    state_e        state_q;
    logic   [ 4:0] iteration_q;
    logic          ends;

    logic   [15:0] w_q;
    logic   [25:0] x_q;
    logic   [24:0] a_q;
    logic          adds_a_q;
    logic   [25:0] addend_q;
    sum_t          sum_q;
    sum_t          partial_sum;

    // ~63 C, then the rest of the division, inverted: below 0 if the rest is not.
    sum_t          rest_q;
    logic          invert;
    sum_t          step_sum;
    logic          positive_q;
    logic          not_zero_q;
    logic   [ 5:0] fb_q;

    always_comb begin
      case (state_q)
        StMeasure: ends = iteration_q == LastOfMeasure;
        StLargest: ends = iteration_q == LastOfLargest;
        StDivide:  ends = iteration_q == LastOfDivide;
        default:   ends = 1'b1;
      endcase
    end

    always_ff @(posedge clk_i) begin
      iteration_q <= ends ? '0 : iteration_q + 5'd1;
      if (rst_i) begin
        state_q <= StIdle;
      end else begin
        case (state_q)
          StIdle:    if (start_i) state_q <= StMeasure;
          StMeasure: if (ends) state_q <= StLargest;
          StLargest: if (ends) state_q <= StDivide;
          StDivide:  if (ends) state_q <= StDone;
          default:   state_q <= StIdle;
        endcase
      end
    end

    // The start is late: its operands are made ready in every idle clock.
    always_ff @(posedge clk_i) begin
      if (state_q == StMeasure) begin
        if (ends) begin
          x_q <= {1'b0, q_eq_i, 1'b0};
          a_q <= {1'b0, q_eq_i};
        end
      end else if (state_q == StIdle || state_q == StDivide) begin
        x_q <= {growth[QueueW], $unsigned(growth)};
        a_q <= $unsigned(offset);
      end
    end

    assign partial_sum = (adds_a_q ? sum_q : sum_q << 1) + {{SumW - 26{addend_q[25]}}, addend_q};

    always_ff @(posedge clk_i) begin
      adds_a_q <= iteration_q == IterationOfA - 5'd1;
      if (ends) w_q <= w_i;
      else if (iteration_q != IterationOfA - 5'd1) w_q <= w_q << 1;

      addend_q <= w_q[15] && !ends ? x_q : '0;
      if (iteration_q == IterationOfA - 5'd1) addend_q <= {a_q[QueueW], a_q};
      else if (iteration_q == IterationOfOne - 5'd1) addend_q <= 26'd1;

      if (state_q == StDivide) sum_q <= sum_q >> 1;
      else if (ends && state_q != StLargest) sum_q <= '0;
      else sum_q <= partial_sum;
    end

    // Without restoring: a rest below 0 is given back in the steps that follow. rest - sum is ~(~rest + sum), which needs no
    // carry. (What this makes of C <= 0 is not used.)
    assign invert   = !rest_q[SumW-1];
    assign step_sum = ((rest_q ^ {SumW{invert}}) + sum_q) ^ {SumW{invert}};

    always_ff @(posedge clk_i) begin
      if (state_q == StMeasure && iteration_q == IterationOfCopy) begin
        rest_q     <= sum_q;
        positive_q <= !sum_q[SumW-1] && sum_q != '0;
      end else if ((state_q == StMeasure && ends) || state_q == StDivide) begin
        rest_q <= step_sum;
      end
      if (state_q == StDivide) begin
        fb_q       <= {fb_q[4:0], positive_q && step_sum[SumW-1]};
        not_zero_q <= not_zero_q || (positive_q && step_sum[SumW-1]);
      end else if (state_q == StLargest) begin
        not_zero_q <= 1'b0;
      end
    end

    assign done_o = state_q == StDone;
    assign congested_o = not_zero_q;
    assign fb_o = fb_q;
    assign q_off_o = $signed(a_q);
    assign q_delta_o = $signed(x_q[QueueW:0]);

`ifdef FORMAL
    // Safety: no message for Fb >= 0, whatever is set and whenever it starts again: C, as it stands before it is
    // divided, is above 0 if fb is. (That C is the formula's is the lock step's matter.)
    logic past_valid_q = 1'b0;
    sum_t measure_q;
    always_ff @(posedge clk_i) begin
      past_valid_q <= 1'b1;
      if (!past_valid_q) assume (rst_i);
      if (state_q == StMeasure && iteration_q == IterationOfCopy) measure_q <= sum_q;
      if (past_valid_q) begin
        assert (state_q <= StDone);
        if (state_q == StMeasure) assert (iteration_q <= LastOfMeasure);
        if (state_q == StLargest) assert (iteration_q <= LastOfLargest);
        if (state_q == StDivide) assert (iteration_q <= LastOfDivide);
        if (state_q >= StLargest || (state_q == StMeasure && iteration_q > IterationOfCopy)) begin
          assert (positive_q == (!measure_q[SumW-1] && measure_q != '0));
        end
        if (done_o) assert (congested_o == (fb_o != '0));
        if (done_o && congested_o) assert (!measure_q[SumW-1] && measure_q != '0);
      end
    end

    // These are reached: the assumptions leave room for them.
    always_ff @(posedge clk_i) begin
      if (past_valid_q) begin
        cover (done_o && congested_o);
      end
    end
`endif
  end
endmodule

`default_nettype wire
