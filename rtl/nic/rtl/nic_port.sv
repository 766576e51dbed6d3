// SPDX-License-Identifier: Apache-2.0
//
// A port of the NIC. Frames are sent in turn on its line at the line's rate, unless the other end has paused them.
// Received frames are counted, and those of MAC control are removed. Both directions pass a delay line. (Kabbani and
// Yasuda 2010, section 3.2 and figure 6; 802.1Qbb)
//
// Frames that arrive are handed on whole, so that one line never waits for another.
//
// Latency: out 4 clocks and the delay, in 6 clocks, the frame's own and the delay; a delay line takes at least 6.
// Throughput: the line's.

`default_nettype none

module nic_port
  import penstock_pkg::*;
  import cn_frame_pkg::*;
  import pfc_pkg::*;
  import nic_registers_pkg::*;
  import nic_pkg::*;
#(
  // Streams that share the line, 2 to 16; the last is the host's.
  parameter int unsigned     Inputs     = 5,
  // Clock rate, Hz, and the line's rate for which pause times count, bit/s: 1 to 10^12, and a quantum of 512 bits has at most
  // 65 535 clocks.
  parameter int unsigned     ClockHz    = 125_000_000,
  parameter longint unsigned LineRate   = 64'd1_000_000_000,
  // The longest frame, octets with its FCS.
  parameter int unsigned     MaxOctets  = 1518,
  // Beats that the memory of a delay line holds.
  parameter int unsigned     DelayWords = 65_536,
  // Clocks from a read of it to its data.
  parameter int unsigned     ReadClocks = 2,
  // Beats of the FIFO for frames that arrived.
  parameter int unsigned     FifoWords  = 512,
  // Of the delay lines' memories; not to be set.
  parameter int unsigned     AddressW   = $clog2(DelayWords),
  parameter int unsigned     WordW      = StampW + 64 + 5
) (
  input var logic clk_i,
  input var logic rst_i,

  input var logic [47:0] now_i,

  // The line's rate and delays (element 0 of the transmit path, 1 of the receive path), and the priority of frames that are
  // sent.
  input var rate_t rate_i,
  input var delay_control_t [1:0] delay_i,
  input var logic [2:0] priority_i,

  // Frames that are to go.
  input var  axis_t [Inputs-1:0] s_axis_tx,
  input var  logic  [Inputs-1:0] s_axis_tx_tvalid,
  output var logic  [Inputs-1:0] s_axis_tx_tready,

  // The line, out and in; in, tready is always high.
  output var axis_t m_axis_line,
  output var logic  m_axis_line_tvalid,
  input var  logic  m_axis_line_tready,
  input var  axis_t s_axis_line,
  input var  logic  s_axis_line_tvalid,
  output var logic  s_axis_line_tready,

  // Frames that arrived, but for those of MAC control.
  output var axis_t m_axis_rx,
  output var logic  m_axis_rx_tvalid,
  input var  logic  m_axis_rx_tready,
  // Three quarters of the slots for them are occupied.
  output var logic  almost_full_o,

  // The memories of the delay lines: element 0 for the transmit path, element 1 for the receive path.
  output var logic [1:0]               mem_write_o,
  output var logic [1:0][AddressW-1:0] mem_write_address_o,
  output var logic [1:0][   WordW-1:0] mem_write_data_o,
  output var logic [1:0]               mem_read_o,
  output var logic [1:0][AddressW-1:0] mem_read_address_o,
  input var  logic [1:0][   WordW-1:0] mem_read_data_i,

  // Counters; delay_o as delay_i.
  output var line_status_t        line_o,
  output var delay_status_t [1:0] delay_o,
  output var pfc_status_t         pfc_o
);
  localparam int unsigned InputW = Inputs > 1 ? $clog2(Inputs) : 1;
  localparam int unsigned MaxBeats = (MaxOctets - FcsOctets + 7) / 8;
  localparam bit GoodRate = LineRate >= 64'd1 && LineRate <= 64'd1_000_000_000_000;
  localparam longint unsigned Quantum = quantum_clocks(64'(ClockHz), GoodRate ? LineRate : 64'd1);
  localparam bit GoodQuantum = Quantum >= 64'd1 && Quantum <= 64'd65_535;
  localparam int unsigned QuantumClocks = GoodQuantum ? 32'(Quantum) : 32'd1;
  // A frame that waits is at the line when that gets free; one that came since then, five clocks after it was shown.
  localparam int unsigned Slack = 5;

  if (MaxOctets < MinOctets + FcsOctets || MaxOctets > 65_535) begin : gen_bad_length
    $fatal(0, "MaxOctets is 64 to 65535 (instance %m)");
  end
  if (!GoodRate) begin : gen_bad_rate
    $fatal(0, "LineRate is 1 to 10^12 bit/s (instance %m)");
  end
  if (GoodRate && !GoodQuantum) begin : gen_bad_quantum
    $fatal(0, "512 x ClockHz / LineRate is at most 65535 clocks, ClockHz at least 1 (instance %m)");
  end
  if (FifoWords < MaxBeats + 3) begin : gen_bad_fifo
    $fatal(0, "FifoWords holds the longest frame and 3 beats (instance %m)");
  end

  // --- Out -------------------------------------------------------------------------------------

  logic                          stopped_q;
  logic                          line_free;
  logic                          line_free_soon;
  axis_t                         chosen;
  logic                          chosen_tvalid;
  logic                          chosen_tready;
  axis_t                         next;
  logic                          next_tvalid;
  logic                          next_tready;
  axis_t                         paced;
  logic                          paced_tvalid;
  logic                          paced_tready;
  // Outputs that nobody asks for.
  logic  [InputW-1:0]            source;
  rate_t                         rate;
  logic                          start;
  logic  [      31:0]            kept;
  logic  [       7:0]            next_paused;
  logic  [       7:0]            named;
  logic  [       7:0][TimeW-1:0] pause_clocks;
  logic                          unused;

  assign unused = &{1'b0, source, rate, start, kept, line_free, next_paused, named, pause_clocks};

  always_ff @(posedge clk_i) stopped_q <= pfc_o.paused[priority_i];

  // The last input is the host's, whose readiness is to end here.
  axis_t host;
  logic host_tvalid;
  logic host_tready;
  axis_t [Inputs-1:0] tx;
  logic [Inputs-1:0] tx_tready;

  stream_buffer u_host (
      .clk_i,
      .rst_i,
      .s_axis(s_axis_tx[Inputs-1]),
      .s_axis_tvalid(s_axis_tx_tvalid[Inputs-1]),
      .s_axis_tready(s_axis_tx_tready[Inputs-1]),
      .m_axis(host),
      .m_axis_tvalid(host_tvalid),
      .m_axis_tready(host_tready)
  );

  always_comb begin
    tx           = s_axis_tx;
    tx[Inputs-1] = host;
  end
  assign host_tready = tx_tready[Inputs-1];
  assign s_axis_tx_tready[Inputs-2:0] = tx_tready[Inputs-2:0];

  frame_arbiter #(
      .Inputs(Inputs)
  ) u_arbiter (
      .clk_i,
      .rst_i,
      .s_axis         (tx),
      .s_axis_tvalid  ({host_tvalid, s_axis_tx_tvalid[Inputs-2:0]}),
      .s_axis_tready  (tx_tready),
      // The choice is made when the line is about to get free: late, so that it is the last in turn that has to wait, and early
      // enough that the line never waits for it.
      .hold_i         (stopped_q || !line_free_soon),
      .m_axis         (chosen),
      .m_axis_tvalid  (chosen_tvalid),
      .m_axis_tready  (chosen_tready),
      .m_axis_source_o(source)
  );

  // The line is late to say that it takes a beat.
  stream_buffer #(
      .Late(1'b1)
  ) u_next (
      .clk_i,
      .rst_i,
      .s_axis(chosen),
      .s_axis_tvalid(chosen_tvalid),
      .s_axis_tready(chosen_tready),
      .m_axis(next),
      .m_axis_tvalid(next_tvalid),
      .m_axis_tready(next_tready)
  );

  output_port #(
      .ClockHz(ClockHz),
      .Entries(1),
      .Slack  (Slack)
  ) u_line (
      .clk_i,
      .rst_i,
      .rate_i            (rate_i),
      .schedule_entries_i(1'b0),
      .schedule_at_i     ('0),
      .schedule_rate_i   ('0),
      .now_i,
      .rate_o            (rate),
      .hold_i            (stopped_q),
      .free_o            (line_free),
      .free_soon_o       (line_free_soon),
      .s_axis            (next),
      .s_axis_tvalid     (next_tvalid),
      .s_axis_tready     (next_tready),
      .m_axis            (paced),
      .m_axis_tvalid     (paced_tvalid),
      .m_axis_tready     (paced_tready),
      .start_o           (start),
      .frames_o          (line_o.frames),
      .octets_o          (line_o.octets)
  );

  // --- In --------------------------------------------------------------------------------------

  axis_t received;
  logic  received_tvalid;
  logic  received_tready;
  axis_t data;
  logic  data_tvalid;
  logic  data_tready;

  nic_arrivals #(
      .MaxOctets(MaxOctets)
  ) u_arrivals (
      .clk_i,
      .rst_i,
      .valid_i(s_axis_line_tvalid),
      .keep_i(s_axis_line.keep),
      .last_i(s_axis_line.last),
      .user_i(s_axis_line.user),
      .arrived_o(line_o.arrived),
      .arrived_octets_o(line_o.arrived_octets),
      .runts_o(line_o.runts),
      .oversized_o(line_o.oversized),
      .bad_o(line_o.bad)
  );

  pfc_rx #(
      .QuantumClocks(QuantumClocks)
  ) u_pfc (
      .clk_i,
      .rst_i,
      .s_axis        (received),
      .s_axis_tvalid (received_tvalid),
      .s_axis_tready (received_tready),
      .m_axis        (data),
      .m_axis_tvalid (data_tvalid),
      .m_axis_tready (data_tready),
      .let_go_i      ('0),
      .ignore_i      ('0),
      .paused_o      (pfc_o.paused),
      .next_paused_o (next_paused),
      .named_o       (named),
      .pause_clocks_o(pause_clocks),
      .frames_o      (pfc_o.frames),
      .malformed_o   (pfc_o.malformed),
      .other_o       (pfc_o.other)
  );

  frame_fifo #(
      .Words(FifoWords)
  ) u_fifo (
      .clk_i,
      .rst_i,
      .s_axis       (data),
      .s_axis_tvalid(data_tvalid),
      .s_axis_tready(data_tready),
      .m_axis       (m_axis_rx),
      .m_axis_tvalid(m_axis_rx_tvalid),
      .m_axis_tready(m_axis_rx_tready),
      .almost_full_o,
      .frames_o     (kept),
      .dropped_o    (line_o.dropped)
  );

  // --- The delay of the line, in each direction --------------------------------------------------

  localparam int unsigned CountW = AddressW + 1;
  logic  [1:0][CountW-1:0] words;
  axis_t [1:0]             in;
  logic  [1:0]             in_tvalid;
  logic  [1:0]             in_tready;
  axis_t [1:0]             out;
  logic  [1:0]             out_tvalid;
  logic  [1:0]             out_tready;

  assign in = {s_axis_line, paced};
  assign in_tvalid = {s_axis_line_tvalid, paced_tvalid};
  assign {s_axis_line_tready, paced_tready} = in_tready;
  assign received    = out[1];
  assign m_axis_line = out[0];
  assign {received_tvalid, m_axis_line_tvalid} = out_tvalid;
  assign out_tready = {received_tready, m_axis_line_tready};

  for (genvar w = 0; w < 2; ++w) begin : gen_way
    delay_line #(
        .Words     (DelayWords),
        .StampW    (StampW),
        .ReadClocks(ReadClocks),
        .MaxBeats  (MaxBeats)
    ) u_delay (
        .clk_i,
        .rst_i,
        .delay_i            (delay_i[w].delay),
        .s_axis             (in[w]),
        .s_axis_tvalid      (in_tvalid[w]),
        .s_axis_tready      (in_tready[w]),
        .m_axis             (out[w]),
        .m_axis_tvalid      (out_tvalid[w]),
        .m_axis_tready      (out_tready[w]),
        .mem_write_o        (mem_write_o[w]),
        .mem_write_address_o(mem_write_address_o[w]),
        .mem_write_data_o   (mem_write_data_o[w]),
        .mem_read_o         (mem_read_o[w]),
        .mem_read_address_o (mem_read_address_o[w]),
        .mem_read_data_i    (mem_read_data_i[w]),
        .words_o            (words[w]),
        .dropped_o          (delay_o[w].dropped),
        .cut_o              (delay_o[w].cut),
        .late_o             (delay_o[w].late)
    );
    assign delay_o[w].words = 32'(words[w]);
  end
endmodule

`default_nettype wire
