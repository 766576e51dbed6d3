// SPDX-License-Identifier: Apache-2.0
//
// Jitter: a base value spread uniformly, base × U[1 − spread, 1 + spread), rounded down. (Paper 002, section 2: ±15 %)
//
// With word w of 32 bits this is floor((base × (2^16 − spread) + floor(2 base spread w / 2^32)) / 2^16), which equals
// base + floor(base spread (w − 2^31) / 2^47): the product base × spread takes 16 clocks, its product with w − 2^31 takes
// 32, one row a clock, and the bits that fall off at the right change nothing above them.
//
// start_i in clock c takes spread_i and word_i; base_i stays as it is up to and with clock c + 49. done_o is high in clock
// c + 50, and value_o holds from then to the next start. A start before done_o begins anew.

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
  output var logic [24:0] value_o
);
  // The rows: 0 to 15 for base × spread, 16 to 47 for the bits of the word; then the sum.
  localparam logic [5:0] LastSpread = 6'd15;
  localparam logic [5:0] LastWord = 6'd47;
  localparam logic [5:0] Sum = 6'd48;

  logic        busy_q;
  logic [ 5:0] row_q;
  // Before its rows are done: the product so far, and below it what is left of the spread.
  logic [39:0] product_q;
  logic [31:0] word_q;
  // The upper part of product × (w − 2^31) so far; at the end the value.
  logic [40:0] scaled_q;

  logic        row_of_spread;
  logic        last_word;
  logic [24:0] augend;
  logic [24:0] sum;
  logic [40:0] addend;
  logic [40:0] row_sum;

  assign row_of_spread = row_q <= LastSpread;
  assign last_word     = row_q == LastWord;

  // base + the product's top, or base + what the word makes of it (in two's complement, so the carry is left out).
  assign augend        = row_of_spread ? {1'b0, product_q[39:16]} : scaled_q[40:16];
  assign sum           = {1'b0, base_i} + augend;

  // The highest bit of w − 2^31 counts negative, and is the inverse of w's. Behind the last row nothing is halved.
  always_comb begin
    if (last_word) addend = word_q[0] ? '0 : ~{1'b0, product_q};
    else addend = word_q[0] ? {1'b0, product_q} : '0;
  end
  assign row_sum = scaled_q + addend + 41'(last_word && !word_q[0]);

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      busy_q <= 1'b0;
      done_o <= 1'b0;
    end else begin
      done_o <= busy_q && !start_i && row_q == Sum;
      if (start_i) busy_q <= 1'b1;
      else if (row_q == Sum) busy_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      row_q     <= '0;
      product_q <= {24'd0, spread_i};
      word_q    <= word_i;
      scaled_q  <= '0;
    end else if (busy_q) begin
      row_q <= row_q + 1'b1;
      if (row_of_spread) begin
        product_q <= {product_q[0] ? sum : {1'b0, product_q[39:16]}, product_q[15:1]};
      end else if (row_q == Sum) begin
        scaled_q <= {16'd0, sum};
      end else begin
        word_q   <= word_q >> 1;
        scaled_q <= last_word ? row_sum : {1'b0, row_sum[40:1]};
      end
    end
  end

  assign value_o = scaled_q[24:0];
endmodule

`default_nettype wire
