// SPDX-License-Identifier: Apache-2.0
//
// Priority flow control, the side of a switch. Counts for each lossless priority the octets that arrived over one line and
// are still held. Pauses the line's other end when they reach XOFF, and resumes it when they are down to XON.
// (802.1Qbb; frames as 802.3 annex 31D; rules as crates/switch/src/flow_control/pause.rs)
//
// The thresholds of each priority are fixed here; with dynamic ones pfc_pool counts. The frames are those of pfc_announcer.
//
// Latency: a counter moves two clocks after the event, its stop is known two later, the frame's first beat is shown
// in the clock after one in which line_free_i is high. Throughput: an arrival and a departure a clock.

`default_nettype none

module pfc_tx
  import penstock_pkg::*;
  import pfc_pkg::*;
#(
  // The sum of 2^p over the lossless priorities p, 0 to 255; the others are never stopped.
  parameter int unsigned Lossless = 8,
  // Clocks of a quantum of pause time on the line that is stopped: 512 × clock rate / line rate, even, 2 to 65 534.
  parameter int unsigned QuantumClocks = 64
) (
  input var logic clk_i,
  input var logic rst_i,

  // Octets held of each priority, 0 lowest: from xoff_i on the other end is to stop, at xon_i (below xoff_i) or less to go on.
  // The pause time in quanta, and this port's address.
  input var logic [ 7:0][QueueW-1:0] xoff_i,
  input var logic [ 7:0][QueueW-1:0] xon_i,
  input var logic [15:0]             quanta_i,
  input var logic [47:0]             source_mac_i,

  // A frame that came over the line is held from now on, and one is held no longer.
  input var logic                arrive_valid_i,
  input var logic          [2:0] arrive_priority_i,
  input var frame_octets_t       arrive_octets_i,
  input var logic                depart_valid_i,
  input var logic          [2:0] depart_priority_i,
  input var frame_octets_t       depart_octets_i,

  // A frame could start on the line back.
  input var  logic  line_free_i,
  output var axis_t m_axis,
  output var logic  m_axis_tvalid,
  input var  logic  m_axis_tready,

  // The watermarks start again with what is held.
  input var logic restart_i,

  // Octets held, priority 0 lowest, and the most of them; which priorities are to stop; clocks in which the other end was
  // paused; frames made.
  output var logic [ 7:0][QueueW-1:0] held_o,
  output var logic [ 7:0][QueueW-1:0] most_o,
  output var logic [ 7:0]             full_o,
  output var logic [ 7:0][ TimeW-1:0] pause_clocks_o,
  output var logic [31:0]             frames_o
);
  localparam int unsigned SumW = QueueW + 2;

  if (Lossless > 255) begin : gen_bad_lossless
    $fatal(0, "Lossless is at most 255 (instance %m)");
  end

  logic [7:0] rises;
  logic [7:0] falls;

  for (genvar p = 0; p < 8; ++p) begin : gen_priority
    if (Lossless[p]) begin : gen_lossless
      logic signed   [FrameW:0] delta_q;
      logic signed   [SumW-1:0] sum;
      queue_octets_t            held_q;
      queue_octets_t            most_q;
      frame_octets_t            arrives;
      frame_octets_t            departs;
      logic                     above_xoff_q;
      logic                     below_xon_q;
      logic                     full_q;

      assign arrives = arrive_valid_i && 32'(arrive_priority_i) == p ? arrive_octets_i : '0;
      assign departs = depart_valid_i && 32'(depart_priority_i) == p ? depart_octets_i : '0;
      assign sum = $signed({2'b00, held_q}) + SumW'(delta_q);
      assign rises[p] = !full_q && above_xoff_q;
      assign falls[p] = full_q && below_xon_q && !above_xoff_q;

      always_ff @(posedge clk_i) begin
        if (rst_i) begin
          delta_q <= '0;
          held_q <= '0;
          most_q <= '0;
          above_xoff_q <= 1'b0;
          below_xon_q <= 1'b0;
          full_q <= 1'b0;
        end else begin
          delta_q <= $signed({1'b0, arrives}) - $signed({1'b0, departs});
          // Held within its width, whatever is reported.
          if (sum[SumW-1]) held_q <= '0;
          else if (sum[SumW-2]) held_q <= '1;
          else held_q <= sum[QueueW-1:0];
          if (restart_i || held_q > most_q) most_q <= held_q;
          above_xoff_q <= held_q >= xoff_i[p];
          below_xon_q  <= held_q <= xon_i[p];
          if (rises[p]) full_q <= 1'b1;
          else if (falls[p]) full_q <= 1'b0;
        end
      end

      assign held_o[p] = held_q;
      assign most_o[p] = most_q;
      assign full_o[p] = full_q;
    end else begin : gen_lossy
      logic unused;
      assign unused = &{xoff_i[p], xon_i[p]};
      assign held_o[p] = '0;
      assign most_o[p] = '0;
      assign full_o[p] = 1'b0;
      assign rises[p] = 1'b0;
      assign falls[p] = 1'b0;
    end
  end

  pfc_announcer #(
      .Lossless     (Lossless),
      .QuantumClocks(QuantumClocks)
  ) u_announcer (
      .clk_i,
      .rst_i,
      .quanta_i,
      .source_mac_i,
      .full_i (full_o),
      .rises_i(rises),
      .falls_i(falls),
      .line_free_i,
      .m_axis,
      .m_axis_tvalid,
      .m_axis_tready,
      .pause_clocks_o,
      .frames_o
  );

`ifdef FORMAL
  // Safety: no lossy priority is to stop, and none stops and goes on in one clock. The frames are proved of their maker.
  logic past_valid_q = 1'b0;
  always_ff @(posedge clk_i) begin
    past_valid_q <= 1'b1;
    if (!past_valid_q) assume (rst_i);
    if (past_valid_q) assert ((full_o & ~8'(Lossless)) == '0 && (rises & falls) == '0);
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (past_valid_q) begin
      cover (falls != '0);
      cover (m_axis_tvalid && m_axis_tready && m_axis.last);
    end
  end
`endif
endmodule

`default_nettype wire
