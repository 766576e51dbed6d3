// SPDX-License-Identifier: Apache-2.0
//
// What a frame of priority flow control is made of. (802.3 annexes 31A, 31B and 31D)

`default_nettype none

package pfc_pkg;
  // The address of MAC control, which no bridge forwards.
  localparam logic [47:0] ControlAddress = 48'h0180c2000001;
  localparam logic [15:0] PfcOpcode = 16'h0101;
  // Bit times of a quantum of pause time.
  localparam int unsigned QuantumBits = 512;
endpackage

`default_nettype wire
