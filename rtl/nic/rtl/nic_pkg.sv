// SPDX-License-Identifier: Apache-2.0
//
// Definitions that the parts of the NIC share: sizes, and how reaction points share ports. Its settings and counters are
// structures of nic_registers_pkg, which is made from registers.rdl.

`default_nettype none

package nic_pkg;
  // Largest numbers for which the register map has room.
  localparam int unsigned MaxPoints = 4;
  localparam int unsigned MaxPorts = 4;
  // Bits of a delay, clocks, and of the times of a delay line.
  localparam int unsigned DelayW = 23;
  localparam int unsigned StampW = DelayW + 1;

  // The ports of reaction points that share them evenly, in order: point i has port i × ports / points; port_w bits each.
  function automatic logic [63:0] spread(int unsigned points, int unsigned ports,
                                         int unsigned port_w);
    logic [63:0] all;
    all = '0;
    for (int unsigned i = 0; i < points; ++i) all |= 64'(i * ports / points) << (i * port_w);
    return all;
  endfunction
endpackage

`default_nettype wire
