// SPDX-License-Identifier: Apache-2.0
//
// Which of the arriving frames are sampled. (Kabbani and Yasuda 2010, table 1; 802.1Qau cpSampleBase; Jiang et al.
// 2015, section 2.2)
//
// Table: a byte counter, reloaded with sample_base × row(Fb / 8), spread by ±sample_jitter; a frame that takes it below 0
// is sampled. Count: every frame number sample_count. Probability: each frame whose random word is below the threshold.
// A frame of clock c is decided in c + 1. With the table, random_i is drawn in clock c + 31 after a reload_i of clock c,
// and the interval is valid in c + 81. Count reloads at once, Probability has nothing to reload.
// Throughput: a frame a clock; with the table, none in the 81 clocks of a reload.

`default_nettype none

module cp_sampler
  import penstock_pkg::*;
  import cp_pkg::*;
#(
  // How frames are sampled: cp_pkg::SampleTable, SampleCount or SampleProbability.
  parameter int unsigned Sampling = SampleTable,
  // The table is base / (k + 1) of 802.1Qau, not the rounded one of Kabbani and Yasuda 2010.
  parameter bit HarmonicTable = 1'b0
) (
  input var logic clk_i,
  input var logic rst_i,

  // Octets from one sample to the next at Fb = 0; reset sets the first interval to it.
  input var queue_octets_t        sample_base_i,
  // Q0.16
  input var logic          [15:0] sample_jitter_i,
  // Frames from one sample to the next.
  input var logic          [23:0] sample_count_i,
  // Q0.32
  input var random_t              sample_probability_i,

  input var  random_t random_i,
  // random_i is drawn in this clock.
  output var logic    draw_o,

  input var  logic          frame_valid_i,
  input var  frame_octets_t frame_octets_i,
  // In the clock after a frame: it is sampled.
  output var logic          sampled_o,

  // The sample is done, with this quantised Fb, which stays until the reload is done.
  input var  logic        reload_i,
  input var  logic [ 5:0] fb_i,
  output var logic        reloaded_o,
  output var logic [24:0] interval_o
);
  if (Sampling == SampleTable) begin : gen_table
    // Numerator and denominator of the row, of the base: 150, 75, 50, 37.5, 30, 25, 21.5, 18.5 KB at 150 KB.
    logic [5:0] numerator;
    logic [8:0] denominator;
    always_comb begin
      numerator   = 6'd1;
      denominator = 9'(fb_i[5:3]) + 9'd1;
      if (!HarmonicTable && fb_i[5:3] == 3'd6) begin
        numerator   = 6'd43;
        denominator = 9'd300;
      end
      if (!HarmonicTable && fb_i[5:3] == 3'd7) begin
        numerator   = 6'd37;
        denominator = 9'd300;
      end
    end

    // The base times the numerator, 6 clocks, then by the denominator, 24 clocks: rest above, quotient below.
    localparam logic [4:0] MultiplySteps = 5'd6;
    localparam logic [4:0] DivideSteps = 5'd24;
    logic        multiplying_q;
    logic        dividing_q;
    logic [ 4:0] remaining_q;
    logic [ 8:0] rest_q;
    logic [23:0] low_q;
    logic [ 5:0] multiplier_q;
    logic        jitter_start_q;
    logic [29:0] product;
    logic [ 9:0] dividend;
    logic        borrow;
    logic [ 9:0] diff;

    assign product = {rest_q[4:0], low_q, 1'b0} + (multiplier_q[5] ? 30'(sample_base_i) : '0);
    assign dividend = {rest_q, low_q[23]};
    assign {borrow, diff} = {1'b0, dividend} - 11'(denominator);

    always_ff @(posedge clk_i) begin
      jitter_start_q <= dividing_q && remaining_q == '0 && !rst_i;
      if (rst_i) begin
        multiplying_q <= 1'b0;
        dividing_q    <= 1'b0;
      end else if (reload_i) begin
        multiplying_q <= 1'b1;
        dividing_q    <= 1'b0;
        remaining_q   <= MultiplySteps - 5'd1;
      end else if (multiplying_q || dividing_q) begin
        remaining_q <= remaining_q - 5'd1;
        if (remaining_q == '0) begin
          multiplying_q <= 1'b0;
          dividing_q    <= multiplying_q;
          remaining_q   <= DivideSteps - 5'd1;
        end
      end
    end

    always_ff @(posedge clk_i) begin
      multiplier_q <= reload_i ? numerator : multiplier_q << 1;
      if (reload_i) {rest_q, low_q} <= '0;
      else if (multiplying_q) {rest_q, low_q} <= 33'(product);
      else if (dividing_q) {rest_q, low_q} <= {9'(borrow ? dividend : diff), low_q[22:0], !borrow};
    end

    logic none;
    logic unused_none;
    assign unused_none = none;

    jitter u_jitter (
        .clk_i,
        .rst_i,
        .start_i (jitter_start_q),
        .base_i  (low_q),
        .spread_i(sample_jitter_i),
        .word_i  (random_i),
        .done_o  (reloaded_o),
        .value_o (interval_o),
        .none_o  (none)
    );
    assign draw_o = jitter_start_q;

    // Octets until the next sample; once they are below 0 they stay until the reload.
    logic [25:0] octets_q;
    always_ff @(posedge clk_i) begin
      if (rst_i) octets_q <= 26'(sample_base_i);
      else if (reloaded_o) octets_q <= {1'b0, interval_o};
      else if (frame_valid_i && !octets_q[25]) octets_q <= octets_q - 26'(frame_octets_i);
    end
    assign sampled_o = octets_q[25];
  end else if (Sampling == SampleCount) begin : gen_count
    logic [23:0] frames_q;
    logic        sampled_q;
    always_ff @(posedge clk_i) begin
      if (rst_i) frames_q <= sample_count_i;
      else if (reload_i) frames_q <= sample_count_i;
      else if (frame_valid_i && frames_q != '0) frames_q <= frames_q - 24'd1;
      sampled_q <= frames_q <= 24'd1;
    end
    assign sampled_o  = sampled_q;
    assign reloaded_o = reload_i;
    assign interval_o = 25'(sample_count_i);
    assign draw_o     = 1'b0;
  end else if (Sampling == SampleProbability) begin : gen_probability
    logic sampled_q;
    always_ff @(posedge clk_i) sampled_q <= random_i < sample_probability_i;
    assign sampled_o  = sampled_q;
    assign reloaded_o = reload_i;
    assign interval_o = '0;
    assign draw_o     = frame_valid_i;
  end else begin : gen_bad_sampling
    $fatal(0, "Sampling is 0 (table), 1 (count) or 2 (probability) (instance %m)");
  end
endmodule

`default_nettype wire
