// SPDX-License-Identifier: Apache-2.0
//
// Checks in simulation the rules of AXI4-Lite on both sides of a register bus. (AMBA AXI, ARM IHI 0022: A3.2.1, A3.3.1, B1.1.1)
// What is shown with its valid stays, unchanged, until it is taken. An answer follows its address (and the data of a write), and
// there are no more of them than accesses. No answer says EXOKAY.
// A breach ends the simulation with a message. Synthesis ignores this module.
//
// No core has one inside: NAME_checks.sv, which tools/checks.py makes, binds one to the bus of each module.

`default_nettype none

module axil_check
  import penstock_pkg::*;
(
  input var logic clk_i,
  input var logic rst_i,

  input var axil_req_t req_i,
  input var axil_rsp_t rsp_i
);
`ifndef SYNTHESIS
  localparam logic [1:0] ExOkay = 2'b01;

  // What a channel shows; and in the clock before: it waited to be taken, and was this.
  logic [18:0] aw;
  logic [35:0] w;
  logic [18:0] ar;
  logic [33:0] r;
  logic        aw_waits_q;
  logic        w_waits_q;
  logic        b_waits_q;
  logic        ar_waits_q;
  logic        r_waits_q;
  logic [18:0] aw_q;
  logic [35:0] w_q;
  logic [ 1:0] b_q;
  logic [18:0] ar_q;
  logic [33:0] r_q;
  // Addresses and data that were taken and not answered.
  logic [ 7:0] aw_open_q;
  logic [ 7:0] w_open_q;
  logic [ 7:0] ar_open_q;
  logic        b_taken;
  logic        r_taken;

  assign aw = {req_i.awaddr, req_i.awprot};
  assign w = {req_i.wdata, req_i.wstrb};
  assign ar = {req_i.araddr, req_i.arprot};
  assign r = {rsp_i.rdata, rsp_i.rresp};
  assign b_taken = rsp_i.bvalid && req_i.bready;
  assign r_taken = rsp_i.rvalid && req_i.rready;

  always_ff @(posedge clk_i) begin
    aw_q       <= aw;
    w_q        <= w;
    b_q        <= rsp_i.bresp;
    ar_q       <= ar;
    r_q        <= r;
    aw_waits_q <= !rst_i && req_i.awvalid && !rsp_i.awready;
    w_waits_q  <= !rst_i && req_i.wvalid && !rsp_i.wready;
    b_waits_q  <= !rst_i && rsp_i.bvalid && !req_i.bready;
    ar_waits_q <= !rst_i && req_i.arvalid && !rsp_i.arready;
    r_waits_q  <= !rst_i && rsp_i.rvalid && !req_i.rready;
    if (rst_i) begin
      {aw_open_q, w_open_q, ar_open_q} <= '0;
    end else begin
      aw_open_q <= aw_open_q + 8'(req_i.awvalid && rsp_i.awready) - 8'(b_taken);
      w_open_q  <= w_open_q + 8'(req_i.wvalid && rsp_i.wready) - 8'(b_taken);
      ar_open_q <= ar_open_q + 8'(req_i.arvalid && rsp_i.arready) - 8'(r_taken);
    end
    if (!rst_i) begin
      if (aw_waits_q) begin
        assert (req_i.awvalid && aw == aw_q)
        else $error("aw: an address that is shown changes before it is taken (%m)");
      end
      if (w_waits_q) begin
        assert (req_i.wvalid && w == w_q)
        else $error("w: data that are shown change before they are taken (%m)");
      end
      if (b_waits_q) begin
        assert (rsp_i.bvalid && rsp_i.bresp == b_q)
        else $error("b: an answer that is shown changes before it is taken (%m)");
      end
      if (ar_waits_q) begin
        assert (req_i.arvalid && ar == ar_q)
        else $error("ar: an address that is shown changes before it is taken (%m)");
      end
      if (r_waits_q) begin
        assert (rsp_i.rvalid && r == r_q)
        else $error("r: an answer that is shown changes before it is taken (%m)");
      end
      if (rsp_i.bvalid) begin
        assert (aw_open_q != '0 && w_open_q != '0)
        else $error("b: an answer to no write, or before its address or data were taken (%m)");
        assert (rsp_i.bresp != ExOkay)
        else $error("b: EXOKAY, which AXI4-Lite does not have (%m)");
      end
      if (rsp_i.rvalid) begin
        assert (ar_open_q != '0)
        else $error("r: an answer to no read, or before its address was taken (%m)");
        assert (rsp_i.rresp != ExOkay)
        else $error("r: EXOKAY, which AXI4-Lite does not have (%m)");
      end
    end
  end
`endif
endmodule

`default_nettype wire
