// SPDX-License-Identifier: Apache-2.0
//
// A timer for each queue pair: says of a marked frame whether it is answered. The first mark is, and then the first
// behind interval_i ticks from the last answer on. (Zhu et al. 2015, section 3.1; ns3-rdma)
//
// A queue pair's entry of the table lies at the lower bits of its number. A timer is the time of the last answer, of
// 32 bits: a mark that comes 2^32 ticks behind it, or up to an interval more, is not answered.
//
// Latency: a mark of clock c is judged in c + 1. Throughput: a mark a clock.

`default_nettype none

module cnp_timers
  import roce_pkg::*;
#(
  // A power of two from 2 to 4096.
  parameter int unsigned QueuePairs = 64,
  localparam int unsigned IndexW = $clog2(QueuePairs)
) (
  input var logic clk_i,
  input var logic rst_i,

  // The time base, and ticks from an answer to the next, below 2^31.
  input var logic        tick_i,
  input var logic [31:0] interval_i,

  // Writes an entry: a queue pair of this host and that of its peer, or none. Its timer has run out.
  input var logic              write_i,
  input var logic [IndexW-1:0] write_index_i,
  input var logic              write_valid_i,
  input var qp_t               write_qp_i,
  input var qp_t               write_peer_i,

  // A marked frame came for this queue pair.
  input var logic mark_i,
  input var qp_t  qp_i,

  // A clock later: it is known, and it is due an answer, to this queue pair. And: it is answered.
  output var logic known_o,
  output var logic due_o,
  output var qp_t  peer_o,
  output var logic judged_o,
  input var  logic answer_i
);
  if (QueuePairs < 2 || QueuePairs > 4096 || 2 ** IndexW != QueuePairs) begin : gen_bad_number
    $fatal(0, "QueuePairs is a power of two from 2 to 4096 (instance %m)");
  end

  qp_t                   qps_q     [QueuePairs];
  qp_t                   peers_q   [QueuePairs];
  logic [          31:0] answers_q [QueuePairs];
  logic [QueuePairs-1:0] valid_q;
  // There was an answer.
  logic [QueuePairs-1:0] running_q;
  logic [          31:0] now_q;

  logic [    IndexW-1:0] index;
  // The mark that is judged: its entry, its time, and how long ago the last answer was.
  logic [    IndexW-1:0] index_q;
  logic [          31:0] time_q;
  logic [          31:0] elapsed_q;
  logic                  runs_q;
  logic                  answered;
  logic                  same;

  assign index    = qp_i[IndexW-1:0];
  assign due_o    = known_o && (!runs_q || elapsed_q >= interval_i);
  assign answered = due_o && answer_i;
  // The mark behind it, of the same entry, does not find the answer in the table yet.
  assign same     = answered && index == index_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      now_q     <= '0;
      valid_q   <= '0;
      running_q <= '0;
      judged_o  <= 1'b0;
      known_o   <= 1'b0;
    end else begin
      if (tick_i) now_q <= now_q + 1'b1;
      judged_o <= mark_i;
      known_o  <= mark_i && valid_q[index] && qps_q[index] == qp_i;
      if (answered) running_q[index_q] <= 1'b1;
      if (write_i) begin
        valid_q[write_index_i]   <= write_valid_i;
        running_q[write_index_i] <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    index_q   <= index;
    time_q    <= now_q;
    peer_o    <= peers_q[index];
    runs_q    <= running_q[index] || same;
    elapsed_q <= now_q - (same ? time_q : answers_q[index]);
    if (answered) answers_q[index_q] <= time_q;
    if (write_i) begin
      qps_q[write_index_i]   <= write_qp_i;
      peers_q[write_index_i] <= write_peer_i;
    end
  end

`ifdef FORMAL
  // Safety, of any one entry: from an answer to the next are at least as many ticks as the interval has, unless the entry is
  // written meanwhile, or the time between is beyond the timer. Assumed: an interval that stays, and half of the timer at the
  // most.
  logic              past_valid_q = 1'b0;
  logic [      31:0] past_interval_q;
  // Stays.
  logic [IndexW-1:0] any_index;
  logic              began_q = 1'b0;
  logic [      32:0] since_q;
  always_ff @(posedge clk_i) begin
    past_valid_q    <= 1'b1;
    past_interval_q <= interval_i;
    any_index       <= any_index;
    if (!past_valid_q) assume (rst_i);
    if (past_valid_q) begin
      assume (interval_i == past_interval_q && !interval_i[31]);
      assume (!began_q || !since_q[32]);
      // Ticks since the mark that was answered last.
      if (rst_i || (write_i && write_index_i == any_index)) began_q <= 1'b0;
      else if (answered && index_q == any_index) begin
        began_q <= 1'b1;
        since_q <= {1'b0, now_q - time_q} + 33'(tick_i);
      end else since_q <= since_q + 33'(tick_i);
      if (began_q) begin
        assert (running_q[any_index] && since_q[31:0] == now_q - answers_q[any_index]);
        if (judged_o && index_q == any_index) begin
          assert (runs_q && elapsed_q == time_q - answers_q[any_index]);
        end
        if (answered && index_q == any_index) assert (time_q - answers_q[any_index] >= interval_i);
      end
      if (judged_o) assert (now_q - time_q <= 32'd1);
      if (known_o) assert (judged_o);
    end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (past_valid_q) begin
      cover (began_q && answered && index_q == any_index && interval_i == 32'd5);
      cover (began_q && known_o && index_q == any_index && !due_o);
    end
  end
`endif
endmodule

`default_nettype wire
