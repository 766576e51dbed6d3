// SPDX-License-Identifier: Apache-2.0
//
// Runs qcn_loop and says each 0.2 ms what its line carries. Frames come whole and in order; the source falls to the line's 5 Gb/s
// without a drop, the queue goes back to its set point and below, and the rate rises when the line does.

`default_nettype none
`timescale 1ns / 100ps

module loop_bench
  import penstock_pkg::*;
();
  localparam int unsigned Window = 31_250;
  logic          clk = 1'b0;
  logic          rst = 1'b1;
  axis_t         line;
  logic          valid;
  rate_t         rate;
  queue_octets_t queue;
  logic   [31:0] messages;
  logic   [31:0] taken;
  logic   [31:0] sent;
  logic   [31:0] wrong;
  always #3.2 clk = !clk;

  qcn_loop u_loop (
      .clk_i       (clk),
      .rst_i       (rst),
      .line_o      (line),
      .line_valid_o(valid),
      .rate_o      (rate),
      .queue_o     (queue),
      .messages_o  (messages),
      .taken_o     (taken),
      .sent_o      (sent),
      .wrong_o     (wrong)
  );

  // A frame's sequence number stands at octet 42, behind Ethernet's, IP's and UDP's headers.
  int unsigned frames = 0;
  int unsigned beat = 0;
  int unsigned octets = 0;
  always @(posedge clk) begin
    if (!rst && valid) begin
      octets <= octets + 32'($countones(line.keep)) + (line.last ? 24 : 0);
      beat   <= line.last ? 0 : beat + 1;
      if (beat == 5) begin
        if ({line.data[23:16], line.data[31:24], line.data[39:32], line.data[47:40]} != frames) begin
          $fatal(0, "frame %0d says that it is another", frames);
        end
      end
      if (line.last) begin
        if (beat != 189 || line.user) $fatal(0, "frame %0d is not whole", frames);
        frames <= frames + 1;
      end
    end
  end

  real         gbps[35];
  int unsigned longest = 0;
  initial begin
    repeat (4) @(negedge clk);
    rst = 1'b0;
    for (int unsigned n = 0; n < 35; ++n) begin
      automatic int unsigned begun = octets;
      for (int unsigned k = 0; k < Window; ++k) begin
        @(negedge clk);
        if (32'(queue) > longest) longest = 32'(queue);
      end
      gbps[n] = real'(octets - begun) * 8.0 / (real'(Window) * 6.4);
      $display("%0.1f ms: line %0.2f Gb/s, rate %0.2f Gb/s, queue %0d KB, %0d messages", real'(n + 1) * 0.2, gbps[n], real'(rate) / 1e9,
               queue / 1000, messages);
      // The line falls after 0.5 ms and is back after 3 ms.
      if (n == 14 && (rate > RateW'(64'd7_000_000_000) || gbps[n] < 4.7)) $fatal(0, "at 5 Gb/s the source does not follow the line");
    end
    if (wrong != 0) $fatal(0, "%0d frames or messages were dropped", wrong);
    if (gbps[1] < 9.9 || gbps[34] < 6.5) $fatal(0, "the line is not filled");
    if (messages == 0 || taken != messages) $fatal(0, "%0d messages, %0d taken", messages, taken);
    if (frames < 3900 || sent < frames) $fatal(0, "%0d frames of %0d", frames, sent);
    $display("%0d frames, all whole and in order, none dropped; the queue had %0d KB at the most", frames, longest / 1000);
    $finish;
  end
endmodule

`default_nettype wire
