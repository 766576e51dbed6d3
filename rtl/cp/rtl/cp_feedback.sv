// SPDX-License-Identifier: Apache-2.0
//
// The congestion point's algorithm: takes one arrival after the other, samples, measures, and says what to tell the
// source of a sampled frame. (Kabbani and Yasuda 2010, section 2; Jiang et al. 2015, section 2.2)
//
// An arrival is taken in the clock c in which it shows and event_o is high; event_done_o says that it has been dealt with,
// and its fields stay until then. Not sampled: done in c + 1. Sampled: sample_o with event_done_o in c + 56 (SMCC:
// c + 2); with the table the next arrival is then taken from c + 138 on, otherwise from the next clock.
// Random words: with probability that of clock c, with the table that of clock c + 87.
// Throughput: an arrival in 2 clocks; one that comes meanwhile waits in a FIFO before this.

`default_nettype none

module cp_feedback
  import penstock_pkg::*;
  import cp_pkg::*;
#(
  // SMCC's samples and messages, not QCN's.
  parameter bit Smcc = 1'b0,
  // As cp_sampler's. SMCC samples by count or probability.
  parameter int unsigned Sampling = SampleTable,
  parameter bit HarmonicTable = 1'b0,
  // As cp_fb_calculator's.
  parameter bit LastSent = 1'b0,
  // Frames that the full queue has refused count for sampling.
  parameter bit SampleDropped = 1'b1
) (
  input var logic clk_i,
  input var logic rst_i,

  // Settings: those of cp_sampler and cp_fb_calculator.
  input var queue_octets_t        q_eq_i,
  input var logic          [15:0] w_i,
  input var queue_octets_t        sample_base_i,
  input var logic          [15:0] sample_jitter_i,
  input var logic          [23:0] sample_count_i,
  input var random_t              sample_probability_i,

  input var  random_t random_i,
  output var logic    draw_o,

  // A frame that has come, its fate, and the queue with it.
  input var  logic          event_valid_i,
  input var  frame_octets_t event_octets_i,
  input var  logic          event_dropped_i,
  input var  queue_octets_t event_queue_i,
  output var logic          event_o,
  output var logic          event_done_o,

  // A sample, and whether it calls for a message.
  output var logic              sample_o,
  output var logic              congested_o,
  output var logic        [5:0] fb_o,
  output var queue_diff_t       q_off_o,
  output var queue_diff_t       q_delta_o,

  // The interval that the sampler has been set to.
  output var logic        reloaded_o,
  output var logic [24:0] interval_o
);
  if (Smcc && Sampling == SampleTable) begin : gen_bad_sampling
    $fatal(0, "SMCC samples by count or probability (instance %m)");
  end

  typedef enum logic [1:0] {
    StIdle,
    StDecide,
    StMeasure,
    StReload
  } state_e;
  state_e state_q;
  logic   counts;
  logic   counted_q;
  logic   sampled;
  logic   start;

  assign event_o = state_q == StIdle && event_valid_i;
  assign counts = SampleDropped || !event_dropped_i;
  assign start = state_q == StDecide && counted_q && sampled;
  assign event_done_o = state_q == StDecide ? !start : sample_o;

  always_ff @(posedge clk_i) begin
    counted_q <= counts;
    if (rst_i) begin
      state_q <= StIdle;
    end else begin
      case (state_q)
        StIdle: if (event_valid_i) state_q <= StDecide;
        StDecide: state_q <= start ? StMeasure : StIdle;
        StMeasure: if (sample_o) state_q <= reloaded_o ? StIdle : StReload;
        default: if (reloaded_o) state_q <= StIdle;
      endcase
    end
  end

  cp_sampler #(
      .Sampling(Sampling),
      .HarmonicTable(HarmonicTable)
  ) u_sampler (
      .clk_i,
      .rst_i,
      .sample_base_i,
      .sample_jitter_i,
      .sample_count_i,
      .sample_probability_i,
      .random_i,
      .draw_o,
      .frame_valid_i(event_o && counts),
      .frame_octets_i(event_octets_i),
      .sampled_o(sampled),
      .reload_i(sample_o),
      .fb_i(fb_o),
      .reloaded_o,
      .interval_o
  );

  cp_fb_calculator #(
      .Smcc(Smcc),
      .LastSent(LastSent)
  ) u_calculator (
      .clk_i,
      .rst_i,
      .q_eq_i,
      .w_i,
      .start_i(start),
      .queue_i(event_queue_i),
      .done_o (sample_o),
      .congested_o,
      .fb_o,
      .q_off_o,
      .q_delta_o
  );
endmodule

`default_nettype wire
