// SPDX-License-Identifier: Apache-2.0
//
// UDP packet generator: UDP frames back to back, each with the next sequence number. (Kabbani and Yasuda 2010, section
// 3.2: packets are internally generated at 1 Gb/s within each reaction point, with a distinct source MAC address each;
// the token bucket behind the generator limits them)
//
// Ethernet, IPv4 without options (RFC 791, checksum right, never fragmented, so identification 0 as RFC 6864 allows), UDP
// without checksum (RFC 768); payload: the sequence number, 4 octets, highest first, then zeros.
//
// Latency: settings count for frames that begin 20 clocks later; enable_i for the next frame. Throughput: a beat a clock,
// frames without a gap.

`default_nettype none

module udp_packet_generator
  import penstock_pkg::*;
  import cn_frame_pkg::*;
#(
  // The longest frame, octets with its check sequence, 64 to 65 535.
  parameter int unsigned MaxOctets = 1518
) (
  input var logic clk_i,
  input var logic rst_i,

  // Frames begin while this is high; one that has begun ends.
  input var logic                 enable_i,
  // Length of frames with their check sequence; held within 64 and MaxOctets.
  input var frame_octets_t        octets_i,
  // Addresses and ports, which are to stay from 20 clocks before enable_i on.
  input var logic          [47:0] source_mac_i,
  input var logic          [47:0] destination_mac_i,
  input var logic          [31:0] source_ip_i,
  input var logic          [31:0] destination_ip_i,
  input var logic          [15:0] source_port_i,
  input var logic          [15:0] destination_port_i,

  output var axis_t         m_axis,
  output var logic          m_axis_tvalid,
  input var  logic          m_axis_tready,
  // Length of the frame with its check sequence, from its first beat to its last.
  output var frame_octets_t m_axis_octets_o,

  // The sequence number of the next frame: frames made, modulo 2^32.
  output var logic [31:0] sequence_o
);
  localparam int unsigned MinFrame = MinOctets + FcsOctets;
  localparam logic [15:0] EthernetOctets = 16'd18;
  localparam logic [15:0] Ipv4Octets = 16'd20;
  // Version, header length and class; never fragmented; time to live 64 and protocol 17.
  localparam logic [15:0] IpVersion = 16'h4500;
  localparam logic [15:0] IpFlags = 16'h4000;
  localparam logic [15:0] IpProtocol = 16'h4011;

  if (DataW != 64) begin : gen_bad_width
    $fatal(0, "DataW is 64 (instance %m)");
  end
  if (MaxOctets < MinFrame || MaxOctets > 65_535) begin : gen_bad_length
    $fatal(0, "MaxOctets is 64 to 65535 (instance %m)");
  end

  // Length and header checksum of the next frame, made over and over: 16 bits of the sum a clock, the carry one clock later.
  logic          [ 3:0] step_q;
  logic                 header_ready_q;
  frame_octets_t        clamped;
  frame_octets_t        next_octets_q;
  frame_octets_t        prepared_octets_q;
  // The term of the next step.
  logic          [15:0] term;
  logic          [15:0] term_q;
  logic          [15:0] sum_q;
  logic                 carry_q;
  logic          [15:0] prepared_checksum_q;

  always_comb begin
    clamped = octets_i;
    if (clamped < FrameW'(MinFrame)) clamped = FrameW'(MinFrame);
    else if (clamped > FrameW'(MaxOctets)) clamped = FrameW'(MaxOctets);
    case (step_q)
      4'd0: term = source_ip_i[31:16];
      4'd1: term = next_octets_q - EthernetOctets;
      4'd2: term = source_ip_i[15:0];
      4'd3: term = destination_ip_i[31:16];
      4'd4: term = destination_ip_i[15:0];
      default: term = '0;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      step_q <= '0;
      header_ready_q <= 1'b0;
    end else begin
      step_q <= step_q == 4'd8 ? '0 : step_q + 1'b1;
      if (step_q == 4'd8) header_ready_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    term_q <= term;
    if (step_q == '0) begin
      next_octets_q    <= clamped;
      {carry_q, sum_q} <= 17'(IpVersion) + 17'(IpFlags) + 17'(IpProtocol);
    end else begin
      {carry_q, sum_q} <= 17'(sum_q) + 17'(term_q) + 17'(carry_q);
    end
    if (step_q == 4'd8) begin
      prepared_octets_q   <= next_octets_q;
      prepared_checksum_q <= ~sum_q;
    end
  end

  // The frame, a beat at a time.
  logic        in_frame_q;
  logic [ 2:0] beat_q;
  logic [12:0] remaining_q;
  logic [ 2:0] rest_q;
  logic [15:0] checksum_q;
  logic        advance;
  logic        starts;
  logic        begins;
  logic        last;
  logic [15:0] over;
  logic [15:0] ip_octets;
  logic [15:0] udp_octets;
  logic [63:0] octets;
  logic [63:0] data_q;
  logic [ 7:0] keep_q;
  logic        last_q;

  assign advance    = !m_axis_tvalid || m_axis_tready;
  assign starts     = enable_i && header_ready_q;
  assign begins     = advance && !in_frame_q && starts;
  assign last       = in_frame_q && remaining_q == '0;
  // Octets behind the first one.
  assign over       = prepared_octets_q - 16'(FcsOctets + 1);
  assign ip_octets  = m_axis_octets_o - EthernetOctets;
  assign udp_octets = m_axis_octets_o - EthernetOctets - Ipv4Octets;

  // Octets in the order of the line, the first in the highest bits.
  always_comb begin
    case (beat_q)
      3'd0: octets = {destination_mac_i, source_mac_i[47:32]};
      3'd1: octets = {source_mac_i[31:0], EtherTypeIpv4, IpVersion};
      3'd2: octets = {ip_octets, 16'h0000, IpFlags, IpProtocol};
      3'd3: octets = {checksum_q, source_ip_i, destination_ip_i[31:16]};
      3'd4: octets = {destination_ip_i[15:0], source_port_i, destination_port_i, udp_octets};
      3'd5: octets = {16'h0000, sequence_o, 16'h0000};
      default: octets = '0;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      in_frame_q    <= 1'b0;
      beat_q        <= '0;
      m_axis_tvalid <= 1'b0;
      sequence_o    <= '0;
    end else if (advance) begin
      m_axis_tvalid <= in_frame_q || starts;
      if (!in_frame_q) begin
        in_frame_q <= starts;
        beat_q     <= 3'(starts);
      end else if (last) begin
        in_frame_q <= 1'b0;
        beat_q     <= '0;
        sequence_o <= sequence_o + 1'b1;
      end else begin
        beat_q <= beat_q + 3'(beat_q != 3'd6);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (begins) begin
      m_axis_octets_o <= prepared_octets_q;
      checksum_q      <= prepared_checksum_q;
      remaining_q     <= over[15:3] - 1'b1;
      rest_q          <= over[2:0];
    end else if (advance) begin
      remaining_q <= remaining_q - 1'b1;
    end
    if (advance) begin
      for (int unsigned i = 0; i < 8; ++i) data_q[8*i+:8] <= octets[8*(7-i)+:8];
      keep_q <= last ? 8'hff >> (3'd7 - rest_q) : '1;
      last_q <= last;
    end
  end

  assign m_axis = '{user: 1'b0, last: last_q, keep: keep_q, data: data_q};

`ifdef FORMAL
  // Safety: no frame is shorter or longer than it says, no beat changes or is withdrawn while it waits.
  logic [1:0] early_q = '1;
  logic past_held_q;
  axis_t past_beat_q;
  logic [15:0] shown_q;
  logic [31:0] ends;

  // The frame's length if the beat that is shown is its last.
  assign ends = 32'(shown_q) + 32'(rest_q) + 1 + FcsOctets;

  always_ff @(posedge clk_i) begin
    if (early_q != '0) early_q <= early_q - 1'b1;
    past_held_q <= m_axis_tvalid && !m_axis_tready && !rst_i;
    past_beat_q <= m_axis;
    // Octets of the frame in front of the beat that is shown.
    if (begins) shown_q <= '0;
    else if (advance) shown_q <= shown_q + 16'd8;

    if (early_q > 2'd1)
      assume (rst_i);
      else begin
        assert (step_q <= 4'd8);
        if (step_q != '0) assert (next_octets_q >= 64 && 32'(next_octets_q) <= MaxOctets);
        if (header_ready_q) assert (prepared_octets_q >= 64 && 32'(prepared_octets_q) <= MaxOctets);
        if (in_frame_q || m_axis_tvalid)
          assert (m_axis_octets_o >= 64 && 32'(m_axis_octets_o) <= MaxOctets);
        if (in_frame_q) begin
          assert (m_axis_tvalid && !m_axis.last && header_ready_q);
          assert (shown_q[2:0] == '0 && ends + 8 * 32'(remaining_q) + 8 == 32'(m_axis_octets_o));
        end else if (m_axis_tvalid) begin
          assert (m_axis.last && ends == 32'(m_axis_octets_o));
          assert (m_axis.keep == 8'hff >> (3'd7 - rest_q));
        end
        if (past_held_q) assert (m_axis_tvalid && m_axis == past_beat_q);
      end
  end

  // These are reached: the assumptions leave room for them.
  always_ff @(posedge clk_i) begin
    if (early_q == '0) begin
      cover (past_held_q && m_axis_tready && m_axis.last);
    end
  end
`endif
endmodule

`default_nettype wire
