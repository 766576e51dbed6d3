// SPDX-License-Identifier: Apache-2.0
//
// The records of a trace, 64 bits: kind, source (`place`), value, time.

`default_nettype none

package trace_pkg;
  // The kind of a record, and the meaning of its value.
  localparam int unsigned KindW = 4;
  typedef enum logic [KindW-1:0] {
    // The clock count without its lowest 22 bits.
    TraceTime,
    // Octets in a queue.
    TraceQueue,
    // Fb of a sample, quantised to 6 bits.
    TraceFb,
    // Rates, bit/s.
    TraceCurrentRate,
    TraceTargetRate,
    // Byte stage in bits 15 to 8, time stage in bits 7 to 0.
    TraceStages,
    // Priorities that are stopped, a bit each.
    TracePaused
  } trace_kind_e;

  localparam int unsigned SourceW = 4;
  // As wide as a rate.
  localparam int unsigned ValueW = 34;
  localparam int unsigned StampW = 22;
  localparam int unsigned ClockW = 48;

  typedef struct packed {
    logic [KindW-1:0]   kind;
    logic [SourceW-1:0] source;
    logic [ValueW-1:0]  value;
    // The lowest bits of the clock count.
    logic [StampW-1:0]  stamp;
  } record_t;
endpackage

`default_nettype wire
