// SPDX-License-Identifier: Apache-2.0
//
// The fields of a frame of priority flow control. (802.3 annexes 31A, 31B and 31D)

`default_nettype none

package pfc_pkg;
  // The address of MAC control, which no bridge forwards.
  localparam logic [47:0] ControlAddress = 48'h0180c2000001;
  localparam logic [15:0] PfcOpcode = 16'h0101;
  // Bit times of a quantum of pause time.
  localparam int unsigned QuantumBits = 512;
  // Bits of a count of clocks in which a priority is paused: ten days at 322 MHz.
  localparam int unsigned TimeW = 48;

  // What becomes of a queue that pause frames have stopped for too long: it drops its frames, or sends them, or stays stopped.
  typedef enum logic [1:0] {
    Drop = 2'd0,
    Forward = 2'd1,
    Alert = 2'd2
  } action_e;

  // Clocks of a quantum, rounded up: a pause never ends early. Rates in Hz and bit/s, from 1 on.
  function automatic longint unsigned quantum_clocks(longint unsigned clock_hz,
                                                     longint unsigned line_rate);
    return (64'(QuantumBits) * clock_hz + line_rate - 64'd1) / line_rate;
  endfunction
endpackage

`default_nettype wire
