// SPDX-License-Identifier: Apache-2.0
//
// The widths of DCQCN's reaction point.

`default_nettype none

package dcqcn_rp_pkg;
  // Alpha, an estimate in [0, 1] with 30 fraction bits, and 1.
  localparam int unsigned AlphaW = 31;
  typedef logic [AlphaW-1:0] alpha_t;
  localparam alpha_t One = {1'b1, {(AlphaW - 1) {1'b0}}};

  // Cycles that a counter has ended; it stays at its largest value.
  localparam int unsigned StageW = 8;
  typedef logic [StageW-1:0] stage_t;

  // Length of a cycle: octets or ticks.
  localparam int unsigned CycleW = 30;
  typedef logic [CycleW-1:0] cycle_t;
endpackage

`default_nettype wire
