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

  // A beat of an AXI-Stream: its payload, beside which tvalid and tready stand.
  typedef struct packed {
    logic        user;
    logic        last;
    logic [7:0]  keep;
    logic [63:0] data;
  } axis_t;

  // AXI4-Lite of 32 bits: what the master of a register bus drives, and what its slave drives. Of an address a map has as many
  // of the lower bits as it needs.
  typedef struct packed {
    logic [15:0] awaddr;
    logic [2:0]  awprot;
    logic        awvalid;
    logic [31:0] wdata;
    logic [3:0]  wstrb;
    logic        wvalid;
    logic        bready;
    logic [15:0] araddr;
    logic [2:0]  arprot;
    logic        arvalid;
    logic        rready;
  } axil_req_t;

  typedef struct packed {
    logic        awready;
    logic        wready;
    logic        bvalid;
    logic [1:0]  bresp;
    logic        arready;
    logic        rvalid;
    logic [31:0] rdata;
    logic [1:0]  rresp;
  } axil_rsp_t;

  // Octets of a beat, 0 to 8, by its tkeep, which is contiguous: 8 where the last octet counts, else the positions at which the
  // ones end say each a bit of it.
  function automatic logic [3:0] octets_of(input logic [7:0] keep);
    octets_of[3] = keep[7];
    octets_of[2] = keep[3] && !keep[7];
    octets_of[1] = (keep[5] || (keep[1] && !keep[3])) && !keep[7];
    octets_of[0] = (keep[6] || (keep[4] && !keep[5]) || (keep[2] && !keep[3]) ||
        (keep[0] && !keep[1])) && !keep[7];
  endfunction

  // A uniform random word. It comes by a port, so that a reference can be given the same one.
  typedef logic [31:0] random_t;
endpackage

`default_nettype wire
