// SPDX-License-Identifier: Apache-2.0
//
// What congestion control reads of RoCEv2's frames, and the invariant CRC. (InfiniBand Architecture Specification, volume 1,
// chapter 9 and annex A17)

`default_nettype none

package roce_pkg;
  localparam logic [15:0] UdpPort = 16'd4791;
  // The operation of a congestion notification packet (CNP).
  localparam logic [7:0] OpcodeCnp = 8'h81;

  typedef logic [23:0] qp_t;

  // A frame's fields: addresses, the VLAN tag without its type, ECN, and those of the base transport header.
  typedef struct packed {
    logic [47:0] destination_mac;
    logic [47:0] source_mac;
    logic        has_vlan;
    logic [15:0] vlan;
    logic [1:0]  ecn;
    logic [31:0] source_ip;
    logic [31:0] destination_ip;
    logic [7:0]  opcode;
    qp_t         destination_qp;
  } roce_header_t;

  // The CRC of IEEE 802.3 over two octets more, the first of them in the upper half. The lowest bit of an octet is first.
  function automatic logic [31:0] crc_of(logic [31:0] crc, logic [15:0] octets);
    logic [31:0] rest;
    rest = crc ^ {16'd0, octets[7:0], octets[15:8]};
    for (int unsigned i = 0; i < 16; ++i) begin
      rest = {1'b0, rest[31:1]} ^ (rest[0] ? 32'hedb8_8320 : 32'd0);
    end
    return rest;
  endfunction
endpackage

`default_nettype wire
