// SPDX-License-Identifier: Apache-2.0
//
// The fields of SMCC's notices, the gains, and how the two signs are read. (Jiang et al. 2015, equations (24), (25),
// section 5.1)

`default_nettype none

package smcc_rp_pkg;
  // Offset and growth of a queue, octets, in two's complement.
  localparam int unsigned DiffW = 32;
  typedef logic [DiffW-1:0] diff_t;

  typedef logic [63:0] cp_id_t;

  // A gain in bit/s per octet: mantissa × 2^shift, the shift in two's complement (-64 to 63).
  localparam int unsigned MantissaW = 18;
  localparam int unsigned ShiftW = 7;
  typedef struct packed {
    logic [MantissaW-1:0] mantissa;
    logic [ShiftW-1:0]    shift;
  } gain_t;

  // The state when the queue has not changed since the sample before.
  typedef enum logic [1:0] {
    // Acts on the offset.
    StateA,
    // Acts on the growth, which is 0.
    StateB,
    // 0 counts as positive. (Section 5.1: the XOR of the signs)
    SignBit
  } delta_zero_e;

  // State A, the queue runs away from its target; else it returns to it.
  function automatic logic in_state_a(diff_t q_off, diff_t q_delta, int unsigned delta_zero);
    logic same_sign;
    same_sign = q_off[DiffW-1] == q_delta[DiffW-1];
    return (delta_zero == 32'(SignBit) || q_delta != '0) ? same_sign : delta_zero == 32'(StateA);
  endfunction

  // Whether the queue has changed by more than t1, up or down: one comparison, since -x = ~x + 1.
  function automatic logic changes_fast(diff_t q_delta, diff_t t1);
    logic negative;
    negative = q_delta[DiffW-1];
    return {t1, 1'b0} < {q_delta ^ {DiffW{negative}}, negative};
  endfunction
endpackage

`default_nettype wire
