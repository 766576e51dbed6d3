// SPDX-License-Identifier: Apache-2.0
//
// Types and widths that the cores share.
//
// The two widths that a design chooses are the package's parameters. They are set where the sources are compiled, by
// -DPENSTOCK_RATE_W=40 and -DPENSTOCK_DATA_W=512, and are the same for all cores of that compilation.
//
// Rates are whole bits per second, lengths are octets, as in the Rust state machines that the cores are held to.

`default_nettype none

package penstock_pkg;
  // A rate in bit/s: with 34 bits up to 17.18 Gb/s, with 40 up to 1.0995 Tb/s. At most 48.
`ifdef PENSTOCK_RATE_W
  localparam int unsigned RateW = `PENSTOCK_RATE_W;
`else
  localparam int unsigned RateW = 34;
`endif
  typedef logic [RateW-1:0] rate_t;

  // Length of a frame in octets: up to 65 535.
  localparam int unsigned FrameW = 16;
  typedef logic [FrameW-1:0] frame_octets_t;

  // Length of a queue in octets: up to 16.7 MB.
  localparam int unsigned QueueW = 24;
  typedef logic [QueueW-1:0] queue_octets_t;
  typedef logic signed [QueueW:0] queue_diff_t;

  // Data bits of a stream: 64, 128, 256 or 512. A beat has octets of one frame.
`ifdef PENSTOCK_DATA_W
  localparam int unsigned DataW = `PENSTOCK_DATA_W;
`else
  localparam int unsigned DataW = 64;
`endif
  localparam int unsigned BeatOctets = DataW / 8;

  // Octets of a beat less 1.
  localparam int unsigned BeatCountW = unsigned'($clog2(BeatOctets));
  typedef logic [BeatCountW-1:0] beat_count_t;

  // A beat of an AXI-Stream: its payload, beside which tvalid and tready stand.
  typedef struct packed {
    logic                  user;
    logic                  last;
    logic [BeatOctets-1:0] keep;
    logic [DataW-1:0]      data;
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

  // Octets of a beat by its tkeep, which is contiguous: all where the last octet counts, else the positions at which the ones end
  // say each a bit of it.
  function automatic logic [BeatCountW:0] octets_of(input logic [BeatOctets-1:0] keep);
    octets_of = '0;
    for (int unsigned b = 0; b < BeatCountW; ++b) begin
      for (int unsigned n = 1 << b; n < BeatOctets; n += 2 << b) begin
        octets_of[b] |= keep[n-1] && !keep[n+(1<<b)-1];
      end
      octets_of[b] &= !keep[BeatOctets-1];
    end
    octets_of[BeatCountW] = keep[BeatOctets-1];
  endfunction

  // The two octets of a beat from octet `at` of the frame, in the order of the line.
  function automatic logic [15:0] word_at(input logic [DataW-1:0] data, input int unsigned at);
    return {data[8*(at%BeatOctets)+:8], data[8*((at+1)%BeatOctets)+:8]};
  endfunction

  // The tkeep of a beat by its octets less 1.
  function automatic logic [BeatOctets-1:0] keep_of(input beat_count_t count);
    return {BeatOctets{1'b1}} >> (beat_count_t'(BeatOctets - 1) - count);
  endfunction

  // A uniform random word. It comes by a port, so that a reference can be given the same one.
  typedef logic [31:0] random_t;
endpackage

`default_nettype wire
