// SPDX-License-Identifier: Apache-2.0
//
// Jitter: a base value spread uniformly, base × U[1 − spread, 1 + spread), rounded down. (Kabbani and Yasuda 2010,
// section 2: ±15 %)
//
// With word w of 32 bits this is floor((base × (2^16 − spread) + floor(2 base spread w / 2^32)) / 2^16), which equals
// base + floor(base spread (w − 2^31) / 2^47). The product base × spread takes 16 clocks, one row each. Its product with
// w − 2^31 takes 31, as the first two rows are one sum. Bits that are shifted out at the right change nothing above them.
//
// start_i in clock c takes spread_i and word_i; base_i is that of clocks c + 1 to c + 49. done_o is high in clock c + 50, and
// value_o holds from then to the next start. A start before done_o begins again.

`default_nettype none

module jitter (
  input var logic clk_i,
  input var logic rst_i,

  input var logic        start_i,
  input var logic [23:0] base_i,
  // Q0.16
  input var logic [15:0] spread_i,
  input var logic [31:0] word_i,

  output var logic        done_o,
  output var logic [24:0] value_o,
  // The value is 0, with done_o.
  output var logic        none_o
);
  // Rows of the spread, the first two of the word, its others but the last, its last, and the sum. A bit each, for they
  // drive wide adders.
  typedef enum logic [4:0] {
    StSpread = 5'b00001,
    StFirst  = 5'b00010,
    StWord   = 5'b00100,
    StLast   = 5'b01000,
    StSum    = 5'b10000
  } state_e;
  localparam int unsigned FirstBit = 1;
  localparam int unsigned LastBit = 3;

  // The inputs of a start, taken a clock later: start_i comes late in its clock.
  logic          start_q;
  logic   [15:0] spread_q;
  logic   [31:0] drawn_q;
  logic   [23:0] base_q;
  logic          busy_q;
  state_e        state_q;
  logic   [ 4:0] remaining_q;
  // Before its rows are done: the product so far, and below it the rest of the spread.
  logic   [39:0] product_q;
  // The word's lowest bit, which the first sum takes too; that of this row, and those behind it.
  logic          lowest_q;
  logic          multiplier_bit_q;
  logic   [29:0] word_q;
  // The upper part of product × (w − 2^31) so far; at the end the value.
  logic   [40:0] scaled_q;

  logic   [24:0] sum;
  logic          subtract;
  logic   [40:0] augend;
  logic   [40:0] addend;
  logic   [40:0] partial_sum;
  logic   [24:0] value;
  logic   [23:0] either;

  assign sum = {1'b0, base_q} + {1'b0, product_q[39:16]};
  // In two's complement, so the carry is left out.
  assign value = {1'b0, base_q} + scaled_q[40:16];

  // The highest bit of w − 2^31 counts negative, and is the inverse of w's. Behind the last row nothing is halved.
  assign subtract = state_q[LastBit];
  assign augend = state_q[FirstBit] ? (lowest_q ? {2'b00, product_q[39:1]} : '0) : scaled_q;
  assign addend = (multiplier_bit_q != subtract) ? {1'b0, product_q} ^ {41{subtract}} : '0;
  assign partial_sum = augend + addend + 41'(subtract && !multiplier_bit_q);

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      start_q <= 1'b0;
      busy_q  <= 1'b0;
      done_o  <= 1'b0;
      state_q <= StSpread;
    end else begin
      start_q <= start_i;
      done_o  <= busy_q && !start_i && !start_q && state_q == StSum;
      if (start_q) begin
        busy_q <= 1'b1;
        state_q <= StSpread;
        remaining_q <= 5'd15;
      end else if (busy_q) begin
        remaining_q <= remaining_q - 1'b1;
        case (state_q)
          StSpread: if (remaining_q == '0) state_q <= StFirst;
          StFirst: begin
            state_q <= StWord;
            remaining_q <= 5'd28;
          end
          StWord:   if (remaining_q == '0) state_q <= StLast;
          StLast:   state_q <= StSum;
          default:  busy_q <= 1'b0;
        endcase
      end
    end
  end

  always_ff @(posedge clk_i) begin
    base_q   <= base_i;
    spread_q <= spread_i;
    drawn_q  <= word_i;
    if (start_q) begin
      product_q        <= {24'd0, spread_q};
      lowest_q         <= drawn_q[0];
      multiplier_bit_q <= drawn_q[1];
      word_q           <= drawn_q[31:2];
    end else if (busy_q) begin
      if (state_q == StSpread) begin
        product_q <= {product_q[0] ? sum : {1'b0, product_q[39:16]}, product_q[15:1]};
      end else begin
        multiplier_bit_q <= word_q[0];
        word_q <= word_q >> 1;
      end
      case (state_q)
        StLast:  scaled_q <= partial_sum;
        StSum:   scaled_q <= {16'd0, value};
        default: scaled_q <= {1'b0, partial_sum[40:1]};
      endcase
    end
  end

  assign value_o = scaled_q[24:0];

  // The sum of the last step is 0, without its carries: x + y is 0 where x ^ y is (x | y) shifted by one bit.
  assign either  = base_q | scaled_q[39:16];
  always_ff @(posedge clk_i) none_o <= ({1'b0, base_q} ^ scaled_q[40:16]) == {either, 1'b0};
endmodule

`default_nettype wire
