// SPDX-License-Identifier: Apache-2.0
//
// The measure of congestion and, for QCN, its six bits. (Paper 002, equation 1; 802.1Qau cpFb; paper 004, section 2.2)
//
// q_off = queue − q_eq and q_delta = queue − q_old, octets. QCN: with C = −Fb = 1024 q_off + w q_delta and
// M = |Fb|max = (2 w + 1024) q_eq (both in 1/1024 octets), fb = floor(63 C / M), 63 from M on, 0 for C ≤ 0: two
// multiplications of one row a clock, and a division without restoring, 6 clocks. SMCC: q_off and q_delta alone.
//
// start_i in clock c; queue_i stays until done_o, which is high in clock c + 44 (SMCC: c + 1). What it shows then holds to
// the next start. q_old becomes the queue's length with done_o, or if LastSent only with a done_o that calls for a message.

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
      if (start_i) begin
        q_off_o   <= offset;
        q_delta_o <= growth;
      end
    end
    assign congested_o = 1'b1;
    assign fb_o = '0;
    // Without Fb there is no weight.
    logic [15:0] unused_w;
    assign unused_w = w_i;
  end else begin : gen_qcn
    localparam int unsigned SumW = 48;
    typedef logic [SumW-1:0] sum_t;
    // Both products are w x + 1024 a: rows for the bits of w, highest first, and one for a behind bit 10.
    localparam logic [4:0] LastRow = 5'd16;
    localparam logic [4:0] RowOfA = 5'd6;

    typedef enum logic [2:0] {
      StIdle,
      // C = w q_delta + 1024 q_off
      StMeasure,
      // 64 C in sum, C in held
      StCopy,
      // 63 C in sum
      StTimes63,
      // 63 C in held; M = w 2 q_eq + 1024 q_eq
      StLargest,
      // 63 C in sum, 32 M in held
      StSwap,
      StDivide,
      StDone
    } state_t;
    state_t        state_q;
    logic   [ 4:0] row_q;

    // What the coming row adds: x if it is of a bit of w that is set, a if it is of a.
    logic          use_x_q;
    logic          use_a_q;
    logic   [25:0] x_q;
    logic   [24:0] a_q;
    sum_t          sum_q;
    sum_t          held_q;
    logic          positive_q;
    logic   [ 5:0] fb_q;

    logic   [ 4:0] row_next;
    logic   [ 3:0] bit_next;
    logic          begins;
    logic   [25:0] addend;
    sum_t          row_sum;
    logic          negative;
    sum_t          step_sum;

    assign begins   = start_i || state_q == StTimes63;
    // Row 0 to 5 are of the bits 15 to 10, row 6 is of a, row 7 to 16 of the bits 9 to 0.
    assign row_next = begins ? '0 : row_q + 5'd1;
    assign bit_next = row_next < RowOfA ? ~row_next[3:0] : 4'd0 - row_next[3:0];

    always_comb begin
      addend = '0;
      if (use_x_q) addend = x_q;
      if (use_a_q) addend = {a_q[QueueW], a_q};
    end
    assign row_sum  = (use_a_q ? sum_q : sum_q << 1) + {{SumW - 26{addend[25]}}, addend};

    // Without restoring: a rest below 0 is given back in the steps that follow. (What it makes of C < 0 is not used.)
    assign negative = sum_q[SumW-1];
    // sum - held is ~(~sum + held), which needs no carry.
    assign step_sum = ((sum_q ^ {SumW{!negative}}) + held_q) ^ {SumW{!negative}};

    always_ff @(posedge clk_i) begin
      if (rst_i) begin
        state_q <= StIdle;
      end else if (start_i) begin
        state_q <= StMeasure;
      end else begin
        case (state_q)
          StMeasure: if (row_q == LastRow) state_q <= StCopy;
          StCopy:    state_q <= StTimes63;
          StTimes63: state_q <= StLargest;
          StLargest: if (row_q == LastRow) state_q <= StSwap;
          StSwap:    state_q <= StDivide;
          StDivide:  if (row_q == 5'd6) state_q <= StDone;
          default:   state_q <= StIdle;
        endcase
      end
    end

    always_ff @(posedge clk_i) begin
      row_q   <= state_q == StSwap ? 5'd1 : row_next;
      use_a_q <= row_next == RowOfA;
      use_x_q <= row_next != RowOfA && w_i[bit_next];

      if (start_i || state_q == StSwap) begin
        x_q <= {growth[QueueW], $unsigned(growth)};
        a_q <= $unsigned(offset);
      end else if (state_q == StTimes63) begin
        x_q <= {1'b0, q_eq_i, 1'b0};
        a_q <= {1'b0, q_eq_i};
      end
    end

    always_ff @(posedge clk_i) begin
      if (start_i) begin
        sum_q <= '0;
      end else begin
        case (state_q)
          StMeasure, StLargest: sum_q <= row_sum;
          StCopy: begin
            positive_q <= !sum_q[SumW-1] && sum_q != '0;
            held_q     <= sum_q;
            sum_q      <= sum_q << 6;
          end
          StTimes63: begin
            // 63 C goes to held_q on its way.
            held_q <= step_sum;
            sum_q  <= '0;
          end
          StSwap: begin
            sum_q  <= held_q;
            held_q <= sum_q << 5;
          end
          StDivide: begin
            sum_q  <= step_sum;
            held_q <= held_q >> 1;
            fb_q   <= {fb_q[4:0], positive_q && !step_sum[SumW-1]};
          end
          default:              ;
        endcase
      end
    end

    assign done_o = state_q == StDone;
    assign congested_o = fb_q != '0;
    assign fb_o = fb_q;
    assign q_off_o = $signed(a_q);
    assign q_delta_o = $signed(x_q[QueueW:0]);

`ifdef FORMAL
    // No message for Fb >= 0, whatever is set and whenever it starts anew: C, as it stands before it is divided, is above
    // 0 if fb is. (That C is the formula's is the lock step's matter.)
    logic past_valid_q = 1'b0;
    sum_t measure_q;
    always_ff @(posedge clk_i) begin
      past_valid_q <= 1'b1;
      if (!past_valid_q) assume (rst_i);
      if (state_q == StCopy) measure_q <= sum_q;
      if (past_valid_q) begin
        if (state_q >= StTimes63) assert (positive_q == (!measure_q[SumW-1] && measure_q != '0));
        if (state_q == StDivide) assert (row_q >= 5'd1 && row_q <= 5'd6);
        if (state_q == StMeasure || state_q == StLargest) assert (row_q <= LastRow);
        if (done_o && congested_o) assert (!measure_q[SumW-1] && measure_q != '0);
      end
    end
`endif
  end
endmodule

`default_nettype wire
