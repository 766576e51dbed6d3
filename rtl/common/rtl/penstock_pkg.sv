// SPDX-License-Identifier: Apache-2.0
//
// Types and widths that the cores share.
//
// Rates are whole bits per second, lengths are octets, as in the Rust state machines that the cores are held to.

`default_nettype none

package penstock_pkg;
  // A rate in bit/s: up to 17.18 Gb/s.
  localparam int unsigned RateW = 34;
  typedef logic [RateW-1:0] rate_t;

  // Length of a frame in octets: up to 65 535.
  localparam int unsigned FrameW = 16;
  typedef logic [FrameW-1:0] frame_octets_t;

  // Length of a queue in octets: up to 16.7 MB.
  localparam int unsigned QueueW = 24;
  typedef logic [QueueW-1:0] queue_octets_t;
  typedef logic signed [QueueW:0] queue_diff_t;

  // A uniform random word. It comes by a port, so that a reference can be given the same one.
  typedef logic [31:0] random_t;
endpackage

`default_nettype wire
