// SPDX-License-Identifier: Apache-2.0
//
// The golden model of QCN's parts for benches in SystemVerilog: functions of the C library libpenstock, by DPI.
//
// crates/capi/include/penstock.h says what each function does. Handles are chandles: make one at the start, end it at the end. Random
// words are an array of two, used in order. Times are picoseconds since the start of the bench, and never go back.
//
// Link with libpenstock (make capi): Verilator takes it as -LDFLAGS, other simulators as a shared library (-sv_lib).

`default_nettype none

package penstock_dpi_pkg;
  typedef int unsigned words_t[2];

  // 0: done. Else penstock_status of the header.
  import "DPI-C" function int penstock_scheme_create(
    input string name,
    input string parameters,
    output chandle scheme,
    input chandle message,
    input longint unsigned message_octets
  );
  import "DPI-C" function void penstock_scheme_destroy(input chandle scheme);

  import "DPI-C" function int penstock_rate_calculator_create(
    input chandle qcn,
    input longint unsigned line_bps,
    output chandle calculator
  );
  import "DPI-C" function void penstock_rate_calculator_destroy(input chandle calculator);
  import "DPI-C" function int unsigned penstock_rate_calculator_start_timer(
    input chandle calculator,
    input longint unsigned now_ps,
    input words_t words,
    input int unsigned count
  );
  import "DPI-C" function int unsigned penstock_rate_calculator_decrease(
    input chandle calculator,
    input longint unsigned now_ps,
    input int unsigned feedback,
    input words_t words,
    input int unsigned count
  );
  import "DPI-C" function int unsigned penstock_rate_calculator_count(
    input chandle calculator,
    input int unsigned octets,
    input words_t words,
    input int unsigned count
  );
  import "DPI-C" function int unsigned penstock_rate_calculator_timeout(
    input chandle calculator,
    input longint unsigned now_ps,
    input words_t words,
    input int unsigned count
  );

  // penstock_rate_state as six words of 64 bits: current rate, target rate, octets left of the cycle, end of the timer's cycle.
  // Then the byte stage in the low half and the time stage in the high half (little-endian), and the phase.
  typedef longint unsigned rate_state_t[6];
  import "DPI-C" function void penstock_rate_calculator_state(
    input chandle calculator,
    output rate_state_t state
  );

  import "DPI-C" function int penstock_sampler_create(input chandle qcn, output chandle sampler);
  import "DPI-C" function void penstock_sampler_destroy(input chandle sampler);
  import "DPI-C" function int unsigned penstock_sampler_feedback(
    input chandle sampler,
    input longint unsigned queue_octets,
    input longint unsigned old_octets
  );
  import "DPI-C" function bit penstock_sampler_sample(
    input chandle sampler,
    input int unsigned octets,
    input int unsigned steps,
    input words_t words,
    input int unsigned count,
    output int unsigned used
  );
  import "DPI-C" function int unsigned penstock_sampler_reload(
    input chandle sampler,
    input int unsigned steps,
    input words_t words,
    input int unsigned count
  );

  import "DPI-C" function int penstock_token_bucket_create(
    input longint unsigned depth_octets,
    input longint unsigned interval_ps,
    input longint unsigned granularity_bps,
    input longint unsigned rate_bps,
    output chandle bucket
  );
  import "DPI-C" function void penstock_token_bucket_destroy(input chandle bucket);
  import "DPI-C" function void penstock_token_bucket_set_rate(
    input chandle bucket,
    input longint unsigned now_ps,
    input longint unsigned rate_bps
  );
  import "DPI-C" function longint unsigned penstock_token_bucket_ready(
    input chandle bucket,
    input longint unsigned now_ps,
    input int unsigned octets
  );
  import "DPI-C" function bit penstock_token_bucket_take(
    input chandle bucket,
    input longint unsigned now_ps,
    input int unsigned octets
  );
  import "DPI-C" function longint unsigned penstock_token_bucket_octets(input chandle bucket);

  import "DPI-C" function longint unsigned penstock_jitter(
    input longint unsigned base,
    input int unsigned spread_2_16,
    input int unsigned word
  );
endpackage

`default_nettype wire
