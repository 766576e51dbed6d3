// SPDX-License-Identifier: Apache-2.0
//
// The readings of QCN's reaction point that are fixed in hardware, and the widths of its counters. The names are those of
// the options of crates/schemes.

`default_nettype none

package qcn_rp_pkg;
  typedef enum logic {
    // Decrease, Fast Recovery and Active Increase by the byte counter, with which Jiang et al. 2015 compare.
    Core,
    // And the timer, Hyper-Active Increase, Extra Fast Recovery and Target Rate Reduction. (Kabbani and Yasuda 2010)
    Full
  } features_e;

  // The factor of R_HAI.
  typedef enum logic {
    // min(byte stage, time stage) less the threshold. (Pan)
    MinCount,
    // How many cycles of either counter ended since Hyper-Active Increase began. (Kabbani and Yasuda 2010, equation (7))
    Ordinal
  } hai_multiplier_e;

  // When Extra Fast Recovery keeps target rate and byte counter.
  typedef enum logic {
    // The byte counter has ended no cycle since the last signal. (Pan, 802.1Qau)
    ByteStage,
    // Neither counter has. (Kabbani and Yasuda 2010)
    NeitherFired
  } efr_e;

  // When a target rate above 10 times the current rate is divided by 8.
  typedef enum logic {
    // In the first cycle of either counter. (Pan, 802.1Qau)
    FirstCycle,
    // In any cycle. (Kabbani and Yasuda 2010)
    AnyTime
  } trr_e;

  // Which cycles are jittered.
  typedef enum logic {
    // All but the first after a signal. (Pan)
    Reload,
    // All. (Kabbani and Yasuda 2010)
    Always
  } jitter_rp_e;

  typedef enum logic [1:0] {
    FastRecovery,
    ActiveIncrease,
    HyperActiveIncrease
  } phase_e;

  // Cycles that a counter has ended; it stays at its largest value.
  localparam int unsigned StageW = 8;
  typedef logic [StageW-1:0] stage_t;

  // The phase of a flow by its stages.
  function automatic phase_e phase_of(input stage_t byte_stage, input stage_t time_stage,
                                      input stage_t threshold);
    if (byte_stage > threshold && time_stage > threshold) return HyperActiveIncrease;
    return byte_stage > threshold || time_stage > threshold ? ActiveIncrease : FastRecovery;
  endfunction

  // Whether the cycle that follows the one after `stage` others is a half one.
  function automatic logic half_after(input stage_t stage, input stage_t threshold);
    return {1'b0, stage} + 1'b1 >= {1'b0, threshold};
  endfunction

  // Length of a cycle: octets or ticks.
  localparam int unsigned CycleW = 24;
  typedef logic [CycleW-1:0] cycle_t;

  // The rest of a cycle, jitter included, in two's complement: negative when more has passed than the cycle has.
  localparam int unsigned RemainingW = CycleW + 2;
  typedef logic [RemainingW-1:0] remaining_t;
endpackage

`default_nettype wire
