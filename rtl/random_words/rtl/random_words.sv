// SPDX-License-Identifier: Apache-2.0
//
// Uniform random words of 32 bits for the ports of the cores that draw: xoshiro128++ (Blackman and Vigna 2021), a generator of each
// word, seeded by SplitMix64. (Steele et al. 2014) These are the words of the simulator's streams with the same seed.
//
// A sequence repeats after 2^128 - 1 words. Two seeds begin at unrelated places of it.
//
// Latency: none: the first words stand there after the reset. Throughput: a word of each generator a clock.

`default_nettype none

module random_words
  import penstock_pkg::*;
#(
  // Generators side by side; the n-th has the seed Seed + n.
  parameter int unsigned        Words = 1,
  parameter logic        [63:0] Seed  = 64'd1
) (
  input var logic clk_i,
  input var logic rst_i,

  // The next word in the next clock: high always for a port that wants another in each clock.
  input var  logic    [Words-1:0] next_i,
  output var random_t [Words-1:0] word_o
);
  if (Words == 0) begin : gen_no_words
    $fatal(0, "Words is 1 at least (instance %m)");
  end

  typedef struct packed {
    random_t s3;
    random_t s2;
    random_t s1;
    random_t s0;
  } state_t;

  // SplitMix64's word of a counter.
  function automatic logic [63:0] mixed(input logic [63:0] counter);
    mixed = counter;
    mixed = (mixed ^ (mixed >> 30)) * 64'hbf58_476d_1ce4_e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 64'h94d0_49bb_1331_11eb;
    mixed = mixed ^ (mixed >> 31);
  endfunction

  function automatic state_t seeded(input logic [63:0] seed);
    return {mixed(seed + 64'd2 * 64'h9e37_79b9_7f4a_7c15), mixed(seed + 64'h9e37_79b9_7f4a_7c15)};
  endfunction

  function automatic random_t turned(input random_t word, input int unsigned by);
    return (word << by) | (word >> (32 - by));
  endfunction

  function automatic state_t after(input state_t state);
    state_t mixes;
    mixes.s2 = state.s2 ^ state.s0;
    mixes.s3 = state.s3 ^ state.s1;
    mixes.s1 = state.s1 ^ mixes.s2;
    mixes.s0 = state.s0 ^ mixes.s3;
    mixes.s2 = mixes.s2 ^ (state.s1 << 9);
    mixes.s3 = turned(mixes.s3, 11);
    return mixes;
  endfunction

  for (genvar n = 0; n < Words; ++n) begin : gen_word
    localparam state_t First = seeded(Seed + 64'(n));
    localparam state_t Second = after(First);
    localparam state_t Third = after(Second);

    // The word, the first sum of the one after it, and the state of the one after that: an adder a clock.
    random_t word_q;
    random_t sum_q;
    random_t low_q;
    state_t  state_q;

    always_ff @(posedge clk_i) begin
      if (rst_i) begin
        word_q  <= turned(First.s0 + First.s3, 7) + First.s0;
        sum_q   <= Second.s0 + Second.s3;
        low_q   <= Second.s0;
        state_q <= Third;
      end else if (next_i[n]) begin
        word_q  <= turned(sum_q, 7) + low_q;
        sum_q   <= state_q.s0 + state_q.s3;
        low_q   <= state_q.s0;
        state_q <= after(state_q);
      end
    end

    assign word_o[n] = word_q;
  end
endmodule

`default_nettype wire
