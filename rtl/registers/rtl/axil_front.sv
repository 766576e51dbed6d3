// SPDX-License-Identifier: Apache-2.0
//
// Front of a register block: AXI4-Lite on one side, plain requests on the other. (AMBA AXI4-Lite)
//
// One access at a time; reads and writes in turn when both wait. Requests come from registers.
//
// Latency: the request is made two clocks after the address (of a write: and the data) is taken; the answer is shown in the
// clock after the block's. Throughput: an access each 5 clocks or more.

`default_nettype none

module axil_front
  import penstock_pkg::*;
#(
  // Bits of an address in octets, of which the lowest two say nothing.
  parameter int unsigned AddressW = 9
) (
  input var logic clk_i,
  input var logic rst_i,

  input var  axil_req_t s_axil_i,
  output var axil_rsp_t s_axil_o,

  // A request lasts one clock, and so do its data; its answer comes some clocks later.
  output var logic                req_o,
  output var logic                req_is_wr_o,
  output var logic [AddressW-1:0] addr_o,
  output var logic [        31:0] wr_data_o,
  output var logic [         3:0] wr_strobe_o,
  input var  logic                rd_ack_i,
  input var  logic                rd_err_i,
  input var  logic [        31:0] rd_data_i,
  input var  logic                wr_ack_i,
  input var  logic                wr_err_i
);
  // SLVERR, or OKAY.
  localparam logic [1:0] Error = 2'b10;

  logic                aw_q;
  logic                w_q;
  logic                ar_q;
  logic                busy_q;
  logic                read_last_q;
  logic [AddressW-3:0] read_address_q;
  logic [AddressW-3:0] write_address_q;
  logic                bvalid_q;
  logic [         1:0] bresp_q;
  logic                rvalid_q;
  logic [        31:0] rdata_q;
  logic [         1:0] rresp_q;
  logic                writes;
  logic                reads;

  assign s_axil_o = '{
          awready: !aw_q,
          wready: !w_q,
          bvalid: bvalid_q,
          bresp: bresp_q,
          arready: !ar_q,
          rvalid: rvalid_q,
          rdata: rdata_q,
          rresp: rresp_q
      };
  assign writes = !busy_q && aw_q && w_q && (!ar_q || read_last_q);
  assign reads = !busy_q && ar_q && !writes;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      aw_q        <= 1'b0;
      w_q         <= 1'b0;
      ar_q        <= 1'b0;
      busy_q      <= 1'b0;
      read_last_q <= 1'b0;
      req_o       <= 1'b0;
      bvalid_q    <= 1'b0;
      rvalid_q    <= 1'b0;
    end else begin
      if (s_axil_i.awvalid && !aw_q) aw_q <= 1'b1;
      if (s_axil_i.wvalid && !w_q) w_q <= 1'b1;
      if (s_axil_i.arvalid && !ar_q) ar_q <= 1'b1;
      req_o <= writes || reads;
      if (writes || reads) begin
        busy_q      <= 1'b1;
        read_last_q <= reads;
      end
      if (writes) {aw_q, w_q} <= '0;
      if (reads) ar_q <= 1'b0;
      if (wr_ack_i) bvalid_q <= 1'b1;
      if (rd_ack_i) rvalid_q <= 1'b1;
      if (bvalid_q && s_axil_i.bready || rvalid_q && s_axil_i.rready) begin
        busy_q   <= 1'b0;
        bvalid_q <= 1'b0;
        rvalid_q <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!aw_q) write_address_q <= s_axil_i.awaddr[AddressW-1:2];
    if (!w_q) begin
      wr_data_o   <= s_axil_i.wdata;
      wr_strobe_o <= s_axil_i.wstrb;
    end
    if (!ar_q) read_address_q <= s_axil_i.araddr[AddressW-1:2];
    req_is_wr_o <= writes;
    addr_o <= {writes ? write_address_q : read_address_q, 2'b00};
    if (wr_ack_i) bresp_q <= wr_err_i ? Error : '0;
    if (rd_ack_i) begin
      rresp_q <= rd_err_i ? Error : '0;
      rdata_q <= rd_data_i;
    end
  end

`ifdef FORMAL
  // Safety: no access has two answers, no answer changes or is withdrawn, no request is made while one runs.
  logic [ 1:0] early_q = '1;
  logic        held_b_q;
  logic        held_r_q;
  logic [ 1:0] past_bresp_q;
  logic [33:0] past_r_q;
  // A request has been made and not yet been answered by the block, which answers each once.
  logic        asked_q;

  always_ff @(posedge clk_i) begin
    if (early_q != '0) early_q <= early_q - 1'b1;
    held_b_q     <= bvalid_q && !s_axil_i.bready && !rst_i;
    held_r_q     <= rvalid_q && !s_axil_i.rready && !rst_i;
    past_bresp_q <= bresp_q;
    past_r_q     <= {rresp_q, rdata_q};
    if (rst_i) asked_q <= 1'b0;
    else asked_q <= (asked_q || req_o) && !rd_ack_i && !wr_ack_i;
    assume ((asked_q || req_o) ? !(rd_ack_i && wr_ack_i) : !rd_ack_i && !wr_ack_i);
    if (early_q > 2'd1)
      assume (rst_i);
      else begin
        assert (!(bvalid_q && rvalid_q));
        assert (!(req_o && asked_q));
        assert (busy_q == (req_o || asked_q || bvalid_q || rvalid_q));
        if (req_o || asked_q) assert (!bvalid_q && !rvalid_q);
        if (held_b_q) assert (bvalid_q && bresp_q == past_bresp_q);
        if (held_r_q) assert (rvalid_q && {rresp_q, rdata_q} == past_r_q);
      end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (early_q == '0) begin
      cover (held_b_q && s_axil_i.bready);
      cover (held_r_q && s_axil_i.rready);
    end
  end
`endif
endmodule

`default_nettype wire
