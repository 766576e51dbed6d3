// SPDX-License-Identifier: Apache-2.0
//
// Where the fields of frames lie that congestion management reads and writes. (802.1Qau: CN-TAG, CNM)
//
// Offsets are octets from the destination address on. Octets are numbered as they go over the line; octet 0 of a beat is
// in tdata[7:0]. Fields of several octets have their highest octet first.

`default_nettype none

package cn_frame_pkg;
  // EtherTypes.
  localparam logic [15:0] EtherTypeCnTag = 16'h22e9;
  localparam logic [15:0] EtherTypeCnm = 16'h22e7;
  localparam logic [15:0] EtherTypeVlan = 16'h8100;
  localparam logic [15:0] EtherTypeMacControl = 16'h8808;
  localparam logic [15:0] EtherTypeIpv4 = 16'h0800;
  // SMCC has no assigned EtherType: this is the local experimental EtherType 1 (IEEE 802, clause 9.2.4).
  localparam logic [15:0] EtherTypeSmcc = 16'h88b5;

  // Octets that a frame has on the line beside those of the stream: the frame check sequence, which the MAC adds and
  // takes away. Lengths that the cores count include it, as those of the simulator do.
  localparam int unsigned FcsOctets = 4;
  // Preamble, start delimiter and gap.
  localparam int unsigned LineOctets = 20;
  // The shortest frame without its FCS.
  localparam int unsigned MinOctets = 60;

  // A message of QCN, in the order of its octets (24). Lengths are in units of 64 octets, rounded towards zero, held
  // within 16 bits; q_offset is Qeq less the queue's length, so it is negative under congestion.
  typedef struct packed {
    logic [3:0]  version;
    logic [5:0]  reserved;
    logic [5:0]  fb;
    logic [63:0] cp_id;
    logic [15:0] q_offset;
    logic [15:0] q_delta;
    logic [15:0] priority_field;
    logic [47:0] destination;
    logic [15:0] msdu_octets;
  } cnm_pdu_t;

  // A message of SMCC: the same without fb and with offset (queue less target) and growth whole, in octets (24 + 8).
  typedef struct packed {
    logic [3:0]  version;
    logic [11:0] reserved;
    logic [63:0] cp_id;
    logic [31:0] unused;
    logic [15:0] priority_field;
    logic [47:0] destination;
    logic [15:0] msdu_octets;
    logic [31:0] q_off;
    logic [31:0] q_delta;
  } smcc_pdu_t;
endpackage

`default_nettype wire
