// SPDX-License-Identifier: Apache-2.0
//
// A core beside its golden model in every clock, by DPI: `token_bucket` with a full bucket and a rate of 987 Mb/s, whose frames
// go as soon as they may. The second half asks QCN's rate calculator for the strongest cut. +wrong gives the model half the
// granularity, which has to be found.

`default_nettype none

module scoreboard_dpi
  import penstock_dpi_pkg::*;
;
  localparam int unsigned ClockPs = 8_000;
  localparam int unsigned RefillClocks = 2_000;
  // Clocks from the one in which a rate is seen to the first whose refill it counts for: the core's page.
  localparam int unsigned Latency = 18;
  localparam int unsigned Clocks = 200_000;
  localparam longint unsigned Rate = 64'd987_300_000;

  bit clk = 0;
  logic rst = 1;
  logic [15:0] octets = 16'd100, tokens;
  logic take = 0, ready;
  chandle bucket, scheme, calculator;
  longint unsigned clocks = 0, frames = 0;

  token_bucket u_bucket (
    .clk_i   (clk),
    .rst_i   (rst),
    .rate_i  (34'(Rate)),
    .octets_i(octets),
    .take_i  (take),
    .ready_o (ready),
    .tokens_o(tokens)
  );

  always #4 clk = !clk;

  function automatic void check(input bit is_right, input string what);
    if (!is_right) begin
      $display("clock %0d: %s: core %0d octets, model %0d", clocks, what, tokens,
               penstock_token_bucket_octets(bucket));
      $fatal(1, "core and model differ");
    end
  endfunction

  initial begin
    rate_state_t state;
    words_t words;
    longint unsigned now, granularity;
    granularity = $test$plusargs("wrong") ? 64'd250_000 : 64'd500_000;
    if (penstock_token_bucket_create(64'd3000, 64'(RefillClocks * ClockPs), granularity, 64'd0, bucket) != 0)
      $fatal(1, "no bucket");
    @(posedge clk);
    @(negedge clk) rst = 0;
    for (clocks = 0; clocks < 64'(Clocks); clocks++) begin
      now = clocks * 64'(ClockPs);
      if (clocks == 64'(Latency)) penstock_token_bucket_set_rate(bucket, now, Rate);
      take = 0;
      #1;
      check(ready == (penstock_token_bucket_ready(bucket, now, 32'(octets)) == now), "whether the frame may go");
      check(64'(tokens) == penstock_token_bucket_octets(bucket), "octets");
      if (ready) begin
        take = 1;
        check(penstock_token_bucket_take(bucket, now, 32'(octets)), "the frame's tokens");
        frames++;
      end
      @(negedge clk);
    end
    penstock_token_bucket_destroy(bucket);

    if (penstock_scheme_create("qcn", "profile = pan-10g", scheme, null, 64'd0) != 0) $fatal(1, "no scheme");
    if (penstock_rate_calculator_create(scheme, 64'd10_000_000_000, calculator) != 0) $fatal(1, "no calculator");
    words = '{32'd0, 32'd0};
    void'(penstock_rate_calculator_decrease(calculator, 64'd0, 32'd63 * 32'd256, words, 32'd2));
    penstock_rate_calculator_state(calculator, state);
    if (state[0] != 64'd5_078_125_000 || state[1] != 64'd10_000_000_000) $fatal(1, "the strongest cut");
    penstock_rate_calculator_destroy(calculator);
    penstock_scheme_destroy(scheme);
    $display("%0d clocks, %0d frames: core and model are the same", Clocks, frames);
    $finish;
  end
endmodule

`default_nettype wire
