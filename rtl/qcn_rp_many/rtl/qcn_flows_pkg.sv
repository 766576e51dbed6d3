// SPDX-License-Identifier: Apache-2.0
//
// Widths and the round of the core with many flows.

`default_nettype none

package qcn_flows_pkg;
  // All memories are read and written in a round of ten clocks. Each access has its clock of the round, so that no two to a word are
  // under way at a time. One bit is high.
  localparam int unsigned RoundClocks = 10;
  typedef logic [RoundClocks-1:0] round_t;

  // Times of departure: clocks, Q32.22, modulo 2^32 clocks. Of two times the earlier is the one that is less than 2^31 behind.
  localparam int unsigned ClocksW = 32;
  localparam int unsigned FractionW = 22;
  localparam int unsigned TimeW = ClocksW + FractionW;
  typedef logic [ClocksW-1:0] clocks_t;
  typedef struct packed {
    clocks_t              clocks;
    logic [FractionW-1:0] fraction;
  } time_t;

  // Clocks that an octet takes at a flow's rate, rounded up: Q14.22. Rates below 8 ClockHz / 2^14 have the largest.
  localparam int unsigned GapW = 14 + FractionW;
  typedef logic [GapW-1:0] gap_t;

  // The time base of the timers, modulo 2^28 ticks.
  localparam int unsigned TicksW = 28;
  typedef logic [TicksW-1:0] ticks_t;

  // What happens to a flow.
  typedef enum logic [1:0] {
    FlowStarts,
    SignalComes,
    ByteCycleEnds,
    TimeCycleEnds
  } event_e;
endpackage

`default_nettype wire
