// SPDX-License-Identifier: Apache-2.0
//
// Checks in simulation the rules of streams that the cores keep and rely on. tkeep has no hole, is all ones except with tlast, and
// is never empty. A beat that is shown does not change until it is taken. A length beside a stream is that of the frame.
// A breach ends the simulation with a message. Synthesis ignores this module.
//
// No core has one inside: NAME_checks.sv, which tools/checks.py makes, binds one to each stream of each module.

`default_nettype none

module stream_check
  import penstock_pkg::*;
#(
  // Streams side by side.
  parameter int unsigned Streams = 1,
  // The module takes holes and empty beats too: such a frame is bad.
  parameter bit          Holes   = 1'b0,
  // Lengths are checked: octets_i, with the FCS, while a frame's first beat is shown.
  parameter bit          Lengths = 1'b0
) (
  input var logic clk_i,
  input var logic rst_i,

  input var axis_t [Streams-1:0]       axis_i,
  input var logic  [Streams-1:0]       tvalid_i,
  input var logic  [Streams-1:0]       tready_i,
  input var logic  [Streams-1:0][15:0] octets_i
);
`ifndef SYNTHESIS
  for (genvar n = 0; n < Streams; ++n) begin : gen_stream
    axis_t        shown_q;
    logic         waits_q;
    logic         first_q;
    // Octets of the frame up to the beat before, with the FCS; its length as it was said.
    logic  [31:0] counted_q;
    logic  [31:0] counted;
    logic  [15:0] declared_q;

    assign counted = (first_q ? 32'd4 : counted_q) + 32'($countones(axis_i[n].keep));

    always_ff @(posedge clk_i) begin
      waits_q <= !rst_i && tvalid_i[n] && !tready_i[n];
      shown_q <= axis_i[n];
      if (rst_i) begin
        first_q <= 1'b1;
      end else if (tvalid_i[n]) begin
        if (tready_i[n]) begin
          first_q   <= axis_i[n].last;
          counted_q <= counted;
        end
        if (first_q) declared_q <= octets_i[n];
      end
      if (!rst_i) begin
        if (waits_q) begin
          assert (tvalid_i[n])
          else $error("stream %0d: a beat that was shown is withdrawn before it was taken (%m)", n);
          assert (!tvalid_i[n] || axis_i[n] == shown_q)
          else $error("stream %0d: a beat that is shown changes before it is taken (%m)", n);
        end
        if (tvalid_i[n] && !Holes) begin
          assert (axis_i[n].keep[0] && (axis_i[n].keep & (axis_i[n].keep + BeatOctets'(1))) == '0)
          else $error("stream %0d: tkeep %b has a hole, or no octet (%m)", n, axis_i[n].keep);
          assert (axis_i[n].last || axis_i[n].keep == '1)
          else $error("stream %0d: tkeep %b, and it is not the last beat (%m)", n, axis_i[n].keep);
        end
        if (tvalid_i[n] && tready_i[n] && axis_i[n].last && Lengths) begin
          assert (counted == 32'(first_q ? octets_i[n] : declared_q))
          else
            $error(
                "stream %0d: the frame has %0d octets with its FCS, and %0d were said (%m)",
                n,
                counted,
                first_q ? octets_i[n] : declared_q
            );
        end
      end
    end
  end
`endif
endmodule

`default_nettype wire
