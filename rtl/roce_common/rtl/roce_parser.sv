// SPDX-License-Identifier: Apache-2.0
//
// Looks at the frames that pass and says which are of RoCEv2: IPv4 without options, no fragment, UDP to port 4791, with a
// VLAN tag or without, whole as far as the base transport header and the invariant CRC, and not bad. The stream goes past
// it: it only looks on. The invariant CRC is not checked, for the frame check sequence has been.
//
// Latency: what a frame's last beat of clock c ends is shown in c + 2, for one clock. Throughput: a beat a clock.

`default_nettype none

module roce_parser
  import penstock_pkg::*;
  import cn_frame_pkg::*;
  import roce_pkg::*;
(
  input var logic clk_i,
  input var logic rst_i,

  // A stream, and that its beat is taken.
  input var axis_t axis_i,
  input var logic  taken_i,

  // A frame of RoCEv2 has ended; its fields.
  output var logic         valid_o,
  output var roce_header_t header_o
);
  // The first octets of a frame. They hold all fields behind one tag, and the count of a frame's octets goes as far.
  localparam int unsigned HeadOctets = 64;
  localparam int unsigned HeadBeats = HeadOctets / BeatOctets;
  localparam int unsigned BeatW = HeadBeats > 1 ? $clog2(HeadBeats) : 1;
  // A frame without a tag: headers of 14, 20, 8 and 12 octets, and the CRC.
  localparam logic [6:0] LeastOctets = 7'd58;
  localparam logic [7:0] ProtocolUdp = 8'd17;

  logic [       BeatW-1:0] beat_q;
  // The head is full: what comes is not read.
  logic                    full_q;
  logic [HeadOctets*8-1:0] head_q;
  logic [             6:0] octets_q;
  logic                    ended_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      beat_q  <= '0;
      full_q  <= 1'b0;
      ended_q <= 1'b0;
    end else begin
      ended_q <= taken_i && axis_i.last && !axis_i.user;
      if (taken_i) begin
        if (axis_i.last) beat_q <= '0;
        else beat_q <= beat_q + 1'b1;
        full_q <= !axis_i.last && (full_q || 32'(beat_q) == HeadBeats - 1);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (taken_i && !full_q) begin
      for (int unsigned i = 0; i < HeadBeats; ++i) begin
        if (32'(beat_q) == i) head_q[DataW*i+:DataW] <= axis_i.data;
      end
      octets_q <= 7'(32'(beat_q) * BeatOctets) + 7'(octets_of(axis_i.keep));
    end
  end

  // Octets of the head in the order of the line, the first highest.
  logic [HeadOctets*8-1:0] line;
  logic                    vlan;
  // The packet behind EtherType and tag, the IP header's first octet highest.
  logic [           351:0] packet;
  logic [            15:0] ether_type;
  logic                    unused;
  for (genvar i = 0; i < HeadOctets; ++i) begin : gen_line
    assign line[8*(HeadOctets-1-i)+:8] = head_q[8*i+:8];
  end

  function automatic logic [15:0] at(logic [351:0] octets, int unsigned place);
    return octets[351-8*place-:16];
  endfunction

  assign vlan = line[511-96-:16] == EtherTypeVlan;
  assign ether_type = vlan ? line[511-128-:16] : line[511-96-:16];
  assign packet = vlan ? line[511-144-:352] : line[511-112-:352];
  // Fields that nobody asks for.
  assign unused = &{1'b0, line, packet};

  always_ff @(posedge clk_i) begin
    valid_o <= !rst_i && ended_q && ether_type == EtherTypeIpv4 && packet[351-:8] == 8'h45 && (at(
        packet, 6
    ) & 16'h3fff) == '0 && packet[351-72-:8] == ProtocolUdp && at(
        packet, 22
    ) == UdpPort && octets_q >= LeastOctets + (vlan ? 7'd4 : 7'd0);
    header_o <= '{
        destination_mac: line[511-:48],
        source_mac: line[511-48-:48],
        has_vlan: vlan,
        vlan: line[511-112-:16],
        ecn: packet[351-14-:2],
        source_ip: packet[351-96-:32],
        destination_ip: packet[351-128-:32],
        opcode: packet[351-224-:8],
        destination_qp: packet[351-264-:24]
    };
  end

`ifdef FORMAL
  // Safety: a frame is said once, two clocks behind its last beat, and never a bad one; the count of octets is that of the frame
  // as far as the head goes.
  logic       past_valid_q = 1'b0;
  logic [1:0] good_end_q;
  logic [6:0] counted_q;
  logic [6:0] whole_q;
  always_ff @(posedge clk_i) begin
    past_valid_q <= 1'b1;
    good_end_q   <= rst_i ? '0 : {good_end_q[0], taken_i && axis_i.last && !axis_i.user};
    if (rst_i) counted_q <= '0;
    else if (taken_i) begin
      if (axis_i.last) counted_q <= '0;
      else if (counted_q < 7'(HeadOctets)) counted_q <= counted_q + 7'(BeatOctets);
    end
    if (taken_i && counted_q < 7'(HeadOctets)) whole_q <= counted_q + 7'(octets_of(axis_i.keep));
    if (!past_valid_q) assume (rst_i);
    if (past_valid_q) begin
      assert (counted_q <= 7'(HeadOctets) && full_q == (counted_q == 7'(HeadOctets)));
      if (!full_q) assert (counted_q == 7'(32'(beat_q) * BeatOctets));
      assert (ended_q == good_end_q[0]);
      if (ended_q || counted_q != '0) assert (octets_q == whole_q);
      if (valid_o) assert (good_end_q[1]);
    end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (past_valid_q) begin
      cover (valid_o && header_o.has_vlan);
      cover (valid_o && !header_o.has_vlan && header_o.opcode == OpcodeCnp);
    end
  end
`endif
endmodule

`default_nettype wire
