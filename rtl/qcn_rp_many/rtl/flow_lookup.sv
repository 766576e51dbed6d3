// SPDX-License-Identifier: Apache-2.0
//
// Finds the flow that a message is for: by the flow identifier of its CN-TAG, which counts the flows from 0 on (802.1Qau: the reaction
// point chose it). A message without one, or with one beyond the flows, is for the flow with its destination in a table.
//
// Of flows with the same address the one with the lowest number is found. A message for none is taken and counted. An address may be
// written at any time; it counts from the search on that comes to it then.
//
// Latency: a clock by the identifier; by the address one for each flow up to the one that is found, and 5; a clock after its flow
// has taken it a message is done. Behind a reset the table is cleared first, an entry a clock.

`default_nettype none

module flow_lookup #(
  // A power of two, at most 2^15.
  parameter  int unsigned Flows = 1024,
  localparam int unsigned FlowW = unsigned'($clog2(Flows))
) (
  input var logic clk_i,
  input var logic rst_i,

  // The table is cleared, and can be written.
  output var logic ready_o,

  // An address of a flow, or none.
  input var logic             write_i,
  input var logic [FlowW-1:0] write_flow_i,
  input var logic             write_used_i,
  input var logic [     47:0] write_mac_i,

  // A message. What says for whom it is stands until it is taken.
  input var  logic        message_valid_i,
  output var logic        message_ready_o,
  input var  logic        cn_tagged_i,
  input var  logic [15:0] identifier_i,
  input var  logic [47:0] destination_i,

  output var logic             signal_valid_o,
  input var  logic             signal_ready_i,
  output var logic [FlowW-1:0] signal_flow_o,

  // Messages for none. It stays at its largest value.
  output var logic [31:0] unknown_o
);
  if (2 ** FlowW != Flows || FlowW < 1 || FlowW > 15) begin : gen_bad_flows
    $fatal(0, "Flows is a power of two from 2 to 32768 (instance %m)");
  end

  typedef struct packed {
    logic        used;
    logic [47:0] mac;
  } entry_t;

  typedef enum logic [2:0] {
    StClear,
    StIdle,
    StSearch,
    StOffer,
    StDone
  } state_e;

  state_e           state_q;
  // The entry that is read; one bit more than an address. It shows two clocks later, and whether it fits three.
  logic   [FlowW:0] read_q;
  logic   [FlowW:0] fits_number_q;
  logic             fits_q;
  entry_t           entry;
  entry_t           written;
  entry_t           sought;
  // What is written to the entry that is read stands for it, for the memory does not say what it reads then.
  logic   [    1:0] hit_q;
  logic   [    1:0] written_fits_q;
  logic             entry_fits;
  logic             by_identifier;
  logic             unknown;

  assign written = '{used: write_used_i, mac: write_mac_i};
  assign sought = '{used: 1'b1, mac: destination_i};
  assign entry_fits = hit_q[1] ? written_fits_q[1] : entry == sought;
  assign by_identifier = cn_tagged_i && 32'(identifier_i) < Flows;
  assign ready_o = state_q != StClear;
  assign message_ready_o = state_q == StDone;
  assign signal_valid_o = state_q == StOffer;
  // The last entry has been looked at.
  assign unknown = state_q == StSearch && !fits_q && fits_number_q == (FlowW + 1)'(Flows);

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      state_q <= StClear;
      read_q  <= '0;
    end else begin
      read_q <= read_q + 1'b1;
      case (state_q)
        StClear: if (read_q[FlowW-1:0] == '1) state_q <= StIdle;
        StIdle: begin
          read_q <= '0;
          if (message_valid_i) state_q <= by_identifier ? StOffer : StSearch;
        end
        StSearch: begin
          if (fits_q) state_q <= StOffer;
          else if (unknown) state_q <= StDone;
        end
        StOffer: if (signal_ready_i) state_q <= StDone;
        default: state_q <= StIdle;
      endcase
    end
  end

  // Entry n is read while read_q is n; fits_q is of it while read_q is n + 3, and fits_number_q is n + 1.
  always_ff @(posedge clk_i) begin
    hit_q <= {hit_q[0], write_i && write_flow_i == read_q[FlowW-1:0]};
    written_fits_q <= {written_fits_q[0], written == sought};
    fits_q <= state_q == StSearch && read_q > (FlowW + 1)'(1'b1) && entry_fits;
    fits_number_q <= read_q - 1'b1;
    if (state_q == StIdle) signal_flow_o <= identifier_i[FlowW-1:0];
    else if (state_q == StSearch) signal_flow_o <= FlowW'(fits_number_q - 1'b1);
  end

  flow_ram #(
      .Width($bits(entry_t)),
      .Depth(Flows)
  ) u_table (
      .clk_i,
      .write_i        (write_i || state_q == StClear),
      .write_address_i(state_q == StClear ? read_q[FlowW-1:0] : write_flow_i),
      .data_i         (state_q == StClear ? '0 : written),
      .read_address_i (read_q[FlowW-1:0]),
      .data_o         (entry)
  );

  event_counter u_unknown (
      .clk_i,
      .rst_i,
      .valid_i (unknown),
      .amount_i(1'b1),
      .count_o (unknown_o)
  );
endmodule

`default_nettype wire
