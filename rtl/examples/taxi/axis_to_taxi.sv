// SPDX-License-Identifier: Apache-2.0
//
// From a stream of the cores to one of the taxi library, with what stood beside the frame at axis_from_taxi. Bit 0 of tuser is the
// cores' word for a bad frame, the others are those of the first beat.
//
// Latency: none. It is wires.

`default_nettype none

module axis_to_taxi
  import penstock_pkg::*;
#(
  // Bits of tid, tdest and tuser of the interface together.
  parameter int unsigned SideW = 17
) (
  input var  axis_t             s_axis,
  input var  logic              s_axis_tvalid,
  output var logic              s_axis_tready,
  input var  logic  [SideW-1:0] s_side_i,

  taxi_axis_if.src m_axis
);
  if (m_axis.DATA_W != DataW) begin : gen_bad_width
    $fatal(0, "DATA_W of the interface is the width of the cores' streams, PENSTOCK_DATA_W (instance %m)");
  end
  if (m_axis.ID_W + m_axis.DEST_W + m_axis.USER_W != SideW) begin : gen_bad_side
    $fatal(0, "SideW is the bits of tid, tdest and tuser of the interface (instance %m)");
  end

  logic [m_axis.USER_W-1:0] user;

  assign {m_axis.tid, m_axis.tdest, user} = s_side_i;
  always_comb begin
    m_axis.tuser    = user;
    m_axis.tuser[0] = s_axis.user;
  end
  assign m_axis.tdata  = s_axis.data;
  assign m_axis.tkeep  = s_axis.keep;
  assign m_axis.tstrb  = s_axis.keep;
  assign m_axis.tlast  = s_axis.last;
  assign m_axis.tvalid = s_axis_tvalid;
  assign s_axis_tready = m_axis.tready;
endmodule

`default_nettype wire
