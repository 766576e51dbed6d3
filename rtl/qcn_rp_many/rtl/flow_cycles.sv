// SPDX-License-Identifier: Apache-2.0
//
// The byte counters of many flows: what is left of each flow's cycle, and a queue of the flows whose cycle has ended.
//
// A frame that goes is counted in clock 6 of its round. The flow at the queue's head, or the one that is served, is read in clock 7;
// in clock 9 the first leaves the queue, or the other begins a cycle. A flow is in the queue once at the most: one whose cycle
// has begun again meanwhile is no longer ended when its turn comes (ended_o).

`default_nettype none

module flow_cycles
  import penstock_pkg::*;
  import qcn_rp_pkg::*;
  import qcn_flows_pkg::*;
#(
  // A power of two, at least 4.
  parameter  int unsigned Flows = 1024,
  localparam int unsigned FlowW = unsigned'($clog2(Flows))
) (
  input var logic clk_i,
  input var logic rst_i,

  // As in departure_calendar.
  input var round_t             round_i,
  input var logic               clears_i,
  input var logic   [FlowW-1:0] clear_flow_i,

  // The flow at hand in clock 2; in clock 5 whether it goes, and its octets.
  input var logic          [FlowW-1:0] head_i,
  input var logic                      goes_i,
  input var frame_octets_t             goes_octets_i,

  // The flow that is served, if one is. In clock 9: it begins a cycle of this length. All begin one while the memory is cleared.
  input var logic             idle_i,
  input var logic [FlowW-1:0] flow_i,
  input var logic             begins_i,
  input var logic [ CycleW:0] length_i,

  // The queue has a flow, as of clock 5; that flow, and in clock 9 whether its cycle has ended, and that it leaves the queue.
  output var logic             queue_waits_o,
  output var logic [FlowW-1:0] queue_flow_o,
  output var logic             ended_o,
  input var  logic             leaves_i
);
  typedef logic [FlowW-1:0] flow_t;

  // What is left of a flow's cycle, and that the flow is in the queue of those whose cycle has ended. It is there once at the most.
  typedef struct packed {
    logic       queued;
    remaining_t remaining;
  } cycle_state_t;

  flow_t                  head_q;
  logic                   goes_q;
  cycle_state_t           octets_state;
  cycle_state_t           head_state_q;
  cycle_state_t           head_next_q;
  logic                   queues_q;
  logic                   head_ended;
  logic                   head_ends;
  logic                   unused;
  remaining_t             remaining;
  logic                   octets_write;
  flow_t                  octets_write_flow;
  cycle_state_t           octets_data;
  flow_t                  octets_read_flow;
  logic         [FlowW:0] queue_in_q;
  logic         [FlowW:0] queue_out_q;

  assign unused = &{1'b0, round_i[8], round_i[3], round_i[1:0]};

  // A cycle that has ended counts no further. Its flow is in the queue, or is being served.
  assign head_ended = head_state_q.remaining[RemainingW-1];
  assign remaining  = head_state_q.remaining - (head_ended ? '0 : RemainingW'(goes_octets_i));
  assign head_ends  = remaining[RemainingW-1] && !head_ended;
  assign ended_o    = octets_state.remaining[RemainingW-1];

  always_ff @(posedge clk_i) begin
    if (round_i[2]) head_q <= head_i;
    if (round_i[4]) head_state_q <= octets_state;
    if (round_i[5]) begin
      goes_q      <= goes_i;
      queues_q    <= goes_i && head_ends && !head_state_q.queued;
      head_next_q <= '{queued: head_state_q.queued || head_ends, remaining: remaining};
    end
  end

  // In clock 6 a frame has gone; in clock 9 an event ends, or the flow at the queue's head leaves that.
  always_comb begin
    octets_write = clears_i || (round_i[6] && goes_q) || (begins_i) || leaves_i;
    octets_write_flow = head_q;
    octets_data = head_next_q;
    if (clears_i) begin
      octets_write_flow = clear_flow_i;
      octets_data       = '{queued: 1'b0, remaining: RemainingW'(length_i)};
    end
    if (round_i[9]) begin
      octets_write_flow = leaves_i ? queue_flow_o : flow_i;
      octets_data = leaves_i ?
      '{queued: 1'b0, remaining: octets_state.remaining}
      :
      '{queued: octets_state.queued, remaining: RemainingW'(length_i)};
    end
  end

  always_comb begin
    octets_read_flow = head_i;
    if (round_i[7]) octets_read_flow = idle_i ? queue_flow_o : flow_i;
  end

  flow_ram #(
      .Width($bits(cycle_state_t)),
      .Depth(Flows)
  ) u_octets (
      .clk_i,
      .write_i        (octets_write),
      .write_address_i(octets_write_flow),
      .data_i         (octets_data),
      .read_address_i (octets_read_flow),
      .data_o         (octets_state)
  );

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      queue_in_q  <= '0;
      queue_out_q <= '0;
    end else begin
      if (round_i[6] && queues_q) queue_in_q <= queue_in_q + 1'b1;
      if (leaves_i) queue_out_q <= queue_out_q + 1'b1;
    end
  end

  // What is queued in this round is not seen before the next.
  always_ff @(posedge clk_i) if (round_i[5]) queue_waits_o <= queue_in_q != queue_out_q;

  flow_ram #(
      .Width(FlowW),
      .Depth(Flows)
  ) u_queue (
      .clk_i,
      .write_i        (round_i[6] && queues_q),
      .write_address_i(queue_in_q[FlowW-1:0]),
      .data_i         (head_q),
      .read_address_i (queue_out_q[FlowW-1:0]),
      .data_o         (queue_flow_o)
  );
endmodule

`default_nettype wire
