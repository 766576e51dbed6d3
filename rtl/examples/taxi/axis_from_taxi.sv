// SPDX-License-Identifier: Apache-2.0
//
// From a stream of the taxi library (taxi_axis_if) to one of the cores. In taxi, as in Corundum's MACs, bit 0 of tuser beside tlast says
// that the frame is bad. tid, tdest and tuser of the first beat stand beside the stream, for axis_to_taxi.
//
// Latency: none. It is wires.

`default_nettype none

module axis_from_taxi
  import penstock_pkg::*;
#(
  // Bits of tid, tdest and tuser of the interface together.
  parameter int unsigned SideW = 17
) (
  taxi_axis_if.snk s_axis,

  output var axis_t             m_axis,
  output var logic              m_axis_tvalid,
  input var  logic              m_axis_tready,
  output var logic  [SideW-1:0] m_side_o
);
  if (s_axis.DATA_W != DataW) begin : gen_bad_width
    $fatal(0, "DATA_W of the interface is the width of the cores' streams, PENSTOCK_DATA_W (instance %m)");
  end
  if (s_axis.ID_W + s_axis.DEST_W + s_axis.USER_W != SideW) begin : gen_bad_side
    $fatal(0, "SideW is the bits of tid, tdest and tuser of the interface (instance %m)");
  end

  assign m_axis = '{
          user: s_axis.USER_EN && s_axis.tuser[0],
          last: !s_axis.LAST_EN || s_axis.tlast,
          keep: s_axis.KEEP_EN ? BeatOctets'(s_axis.tkeep) : '1,
          data: s_axis.tdata
      };
  assign m_axis_tvalid = s_axis.tvalid;
  assign s_axis.tready = m_axis_tready;
  assign m_side_o = {s_axis.tid, s_axis.tdest, s_axis.tuser};
endmodule

`default_nettype wire
