// SPDX-License-Identifier: Apache-2.0
//
// Says whether a frame that finds a queue is marked: never up to k_min, always above k_max, and between them with a
// probability that rises evenly to p_max. (Zhu et al. 2015, section 3.1, figure 5)
//
// The probability is p_max (len − k_min) / (k_max − k_min), with no division: a random word w of 32 bits says "mark" if
// w (k_max − k_min) < 2^32 p_max (len − k_min). Both products are exact, each of four products of 16 × 12 bits.
//
// Latency: five clocks in which enable_i is high. Throughput: a decision a clock.

`default_nettype none

module ecn_ramp
  import penstock_pkg::*;
(
  input var logic clk_i,
  // Everything moves.
  input var logic enable_i,

  // The thresholds, and P_max in units of 2^-32, at most 2^32. They are to stay while there are frames.
  input var queue_octets_t        k_min_i,
  input var queue_octets_t        k_max_i,
  input var logic          [32:0] p_max_i,

  // The queue that the frame finds, and a random word.
  input var queue_octets_t queue_octets_i,
  input var random_t       random_i,

  output var logic marks_o
);
  localparam int unsigned Half = QueueW / 2;
  // Bits of a product of 16 × 12 bits, of two such sums, and of the whole.
  localparam int unsigned PartW = 16 + Half;
  localparam int unsigned SumW = PartW + 17;
  localparam int unsigned ProductW = 33 + QueueW;

  // Beyond k_max, and beyond k_min, of the frame in each step.
  typedef struct packed {
    logic above;
    logic between;
  } range_t;

  queue_octets_t span_q;
  range_t        range_1_q;
  range_t        range_2_q;
  range_t        range_3_q;
  range_t        range_4_q;

  // 1: the offset in the queue.
  queue_octets_t over_1_q;
  random_t       word_1_q;

  always_ff @(posedge clk_i) begin
    span_q <= k_max_i - k_min_i;
    if (enable_i) begin
      range_1_q <= '{
          above: queue_octets_i > k_max_i,
          between: queue_octets_i > k_min_i && queue_octets_i <= k_max_i
      };
      over_1_q <= queue_octets_i - k_min_i;
      word_1_q <= random_i;
    end
  end

  // 2: the products of the parts; index {upper half of the 32 bits, upper half of the 24}. P_max = 1 is one bit more.
  logic          [3:0][PartW-1:0] drawn_2_q;
  logic          [3:0][PartW-1:0] due_2_q;
  queue_octets_t                  certain_2_q;

  always_ff @(posedge clk_i) begin
    if (enable_i) begin
      for (int unsigned i = 0; i < 4; ++i) begin
        drawn_2_q[i] <= PartW'(word_1_q[16*(i/2)+:16]) * PartW'(span_q[Half*(i%2)+:Half]);
        due_2_q[i]   <= PartW'(p_max_i[16*(i/2)+:16]) * PartW'(over_1_q[Half*(i%2)+:Half]);
      end
      certain_2_q <= p_max_i[32] ? over_1_q : '0;
      range_2_q   <= range_1_q;
    end
  end

  // 3: the sums of two, for each half of the 24 bits.
  logic          [1:0][SumW-1:0] drawn_3_q;
  logic          [1:0][SumW-1:0] due_3_q;
  queue_octets_t                 certain_3_q;

  always_ff @(posedge clk_i) begin
    if (enable_i) begin
      for (int unsigned i = 0; i < 2; ++i) begin
        drawn_3_q[i] <= SumW'(drawn_2_q[i]) + {1'b0, drawn_2_q[2+i], 16'd0};
        due_3_q[i]   <= SumW'(due_2_q[i]) + {1'b0, due_2_q[2+i], 16'd0};
      end
      certain_3_q <= certain_2_q;
      range_3_q   <= range_2_q;
    end
  end

  // 4: the sums of these; with P_max = 1 the other sum is 0.
  logic [ProductW-1:0] drawn_4_q;
  logic [ProductW-1:0] due_4_q;

  always_ff @(posedge clk_i) begin
    if (enable_i) begin
      drawn_4_q <= ProductW'(drawn_3_q[0]) + {drawn_3_q[1][SumW-1:0], Half'(0)};
      due_4_q <= (ProductW'(due_3_q[0]) + {due_3_q[1][SumW-1:0], Half'(0)})
          | {1'b0, certain_3_q, 32'd0};
      range_4_q <= range_3_q;
    end
  end

  // 5: the comparison.
  always_ff @(posedge clk_i) begin
    if (enable_i) begin
      marks_o <= range_4_q.above || (range_4_q.between && drawn_4_q < due_4_q);
    end
  end
endmodule

`default_nettype wire
