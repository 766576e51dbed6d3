// SPDX-License-Identifier: Apache-2.0
//
// Jitter: a base value spread uniformly, base × U[1 − spread, 1 + spread), rounded down. (Paper 002, section 2: ±15 %)
//
// With word w of 32 bits this is floor((base × (2^16 − spread) + floor(2 base spread w / 2^32)) / 2^16), which equals
// base + floor(base spread (w − 2^31) / 2^47): the product base × spread takes 16 clocks, its product with w − 2^31 takes
// 32, one row a clock, and the bits that fall off at the right change nothing above them.
//
// start_i in clock c takes spread_i and word_i; base_i is that of clocks c + 1 to c + 49. done_o is high in clock c + 50, and
// value_o holds from then to the next start. A start before done_o begins anew.

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
  // Rows of the spread, of the word but its last, its last, and the sum. A bit each, for they drive wide adders.
  typedef enum logic [3:0] {
    StSpread = 4'b0001,
    StWord   = 4'b0010,
    StLast   = 4'b0100,
    StSum    = 4'b1000
  } state_t;
  localparam int unsigned SpreadBit = 0;
  localparam int unsigned LastBit = 2;

  // What a start brought, taken a clock later: who starts decides late.
  logic          start_q;
  logic   [15:0] spread_q;
  logic   [31:0] drawn_q;
  logic          busy_q;
  state_t        state_q;
  logic   [ 4:0] left_q;
  // Before its rows are done: the product so far, and below it what is left of the spread.
  logic   [39:0] product_q;
  logic   [31:0] word_q;
  // The upper part of product × (w − 2^31) so far; at the end the value.
  logic   [40:0] scaled_q;

  logic   [24:0] augend;
  logic   [24:0] sum;
  logic          subtract;
  logic   [40:0] addend;
  logic   [40:0] row_sum;
  logic   [23:0] either;

  // base + the product's top, or base + what the word makes of it (in two's complement, so the carry is left out).
  assign augend = state_q[SpreadBit] ? {1'b0, product_q[39:16]} : scaled_q[40:16];
  assign sum    = {1'b0, base_i} + augend;

  // The highest bit of w − 2^31 counts negative, and is the inverse of w's. Behind the last row nothing is halved.
  assign subtract = state_q[LastBit];
  assign addend   = (word_q[0] != subtract) ? {1'b0, product_q} ^ {41{subtract}} : '0;
  assign row_sum  = scaled_q + addend + 41'(subtract && !word_q[0]);

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
        busy_q  <= 1'b1;
        state_q <= StSpread;
        left_q  <= 5'd14;
      end else if (busy_q) begin
        left_q <= left_q - 1'b1;
        case (state_q)
          StSpread:
          if (left_q == '0) begin
            state_q <= StWord;
            left_q  <= 5'd30;
          end
          StWord:  if (left_q == '0) state_q <= StLast;
          StLast:  state_q <= StSum;
          default: busy_q <= 1'b0;
        endcase
      end
    end
  end

  always_ff @(posedge clk_i) begin
    spread_q <= spread_i;
    drawn_q  <= word_i;
    if (start_q) begin
      // The first row.
      product_q <= {1'b0, spread_q[0] ? base_i : '0, spread_q[15:1]};
      word_q    <= drawn_q;
      scaled_q  <= '0;
    end else if (busy_q) begin
      case (state_q)
        StSpread: product_q <= {product_q[0] ? sum : {1'b0, product_q[39:16]}, product_q[15:1]};
        StWord: begin
          word_q   <= word_q >> 1;
          scaled_q <= {1'b0, row_sum[40:1]};
        end
        StLast:   scaled_q <= row_sum;
        default:  scaled_q <= {16'd0, sum};
      endcase
    end
  end

  assign value_o = scaled_q[24:0];

  // The sum of the last step is 0, without its carries: x + y is 0 where x ^ y is (x | y) shifted by a place.
  assign either  = base_i | scaled_q[39:16];
  always_ff @(posedge clk_i) none_o <= ({1'b0, base_i} ^ scaled_q[40:16]) == {either, 1'b0};
endmodule

`default_nettype wire
