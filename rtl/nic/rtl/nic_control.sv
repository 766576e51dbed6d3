// SPDX-License-Identifier: Apache-2.0
//
// The NIC's registers, in groups: settings and counters of reaction points and of ports as arrays of as many as there are.
// The others' registers read 0 and do nothing.
//
// Latency and throughput: those of the map nic_registers, which is made from registers.rdl.

`default_nettype none

module nic_control
  import penstock_pkg::*;
  import nic_pkg::*;
#(
  parameter int unsigned ReactionPoints = 4,
  parameter int unsigned Ports = 1
) (
  input var logic clk_i,
  input var logic rst_i,

  input var  axil_req_t s_axil_i,
  output var axil_rsp_t s_axil_o,

  // Settings.
  output var logic clock_run_o,
  output var logic [23:0] tick_clocks_o,
  output var qcn_settings_t qcn_o,
  output var smcc_settings_t smcc_o,
  output var point_settings_t [ReactionPoints-1:0] point_o,
  output var line_settings_t [Ports-1:0] line_o,
  output var logic [1:0] host_port_o,
  output var logic [2:0] data_priority_o,
  output var logic [23:0] trace_interval_o,

  // Counters.
  input var logic [47:0] now_i,
  input var point_counters_t [ReactionPoints-1:0] point_i,
  input var line_counters_t [Ports-1:0] line_i,
  input var receiver_counters_t receiver_i,
  input var host_counters_t host_i,
  input var logic [31:0] trace_dropped_i
);
  logic [MaxPoints-1:0][47:0] reaction_point_mac;
  logic [MaxPoints-1:0][0:0] reaction_point_start;
  logic [MaxPoints-1:0][0:0] reaction_point_enable;
  logic [MaxPoints-1:0][15:0] reaction_point_octets;
  logic [MaxPoints-1:0][47:0] reaction_point_destination_mac;
  logic [MaxPoints-1:0][31:0] reaction_point_source_ip;
  logic [MaxPoints-1:0][31:0] reaction_point_destination_ip;
  logic [MaxPoints-1:0][15:0] reaction_point_source_port;
  logic [MaxPoints-1:0][15:0] reaction_point_destination_port;
  logic [MaxPoints-1:0][33:0] reaction_point_current_rate;
  logic [MaxPoints-1:0][33:0] reaction_point_target_rate;
  logic [MaxPoints-1:0][7:0] reaction_point_byte_stage;
  logic [MaxPoints-1:0][7:0] reaction_point_time_stage;
  logic [MaxPoints-1:0][1:0] reaction_point_phase;
  logic [MaxPoints-1:0][15:0] reaction_point_tokens;
  logic [MaxPoints-1:0][31:0] reaction_point_dropped;
  logic [MaxPoints-1:0][31:0] reaction_point_next_sequence;
  logic [MaxPorts-1:0][33:0] line_rate;
  logic [MaxPorts-1:0][31:0] line_frames;
  logic [MaxPorts-1:0][47:0] line_octets;
  logic [MaxPorts-1:0][31:0] line_arrived;
  logic [MaxPorts-1:0][47:0] line_arrived_octets;
  logic [MaxPorts-1:0][31:0] line_runts;
  logic [MaxPorts-1:0][31:0] line_oversized;
  logic [MaxPorts-1:0][31:0] line_bad;
  logic [MaxPorts-1:0][31:0] line_dropped;
  logic [MaxPorts-1:0][22:0] delay_out_delay;
  logic [MaxPorts-1:0][31:0] delay_out_words;
  logic [MaxPorts-1:0][31:0] delay_out_dropped;
  logic [MaxPorts-1:0][31:0] delay_out_cut;
  logic [MaxPorts-1:0][31:0] delay_out_late;
  logic [MaxPorts-1:0][22:0] delay_in_delay;
  logic [MaxPorts-1:0][31:0] delay_in_words;
  logic [MaxPorts-1:0][31:0] delay_in_dropped;
  logic [MaxPorts-1:0][31:0] delay_in_cut;
  logic [MaxPorts-1:0][31:0] delay_in_late;
  logic [MaxPorts-1:0][7:0] pfc_paused;
  logic [MaxPorts-1:0][31:0] pfc_frames;
  logic [MaxPorts-1:0][31:0] pfc_malformed;
  logic [MaxPorts-1:0][31:0] pfc_other;

  // With 0 for points and lines that do not exist.
  point_counters_t [MaxPoints-1:0] point;
  line_counters_t [MaxPorts-1:0] line;

  for (genvar i = 0; i < MaxPoints; ++i) begin : gen_point
    if (i < ReactionPoints) begin : gen_there
      assign point[i] = point_i[i];
      assign point_o[i] = '{
              mac: reaction_point_mac[i],
              start: reaction_point_start[i],
              enable: reaction_point_enable[i],
              octets: reaction_point_octets[i],
              destination_mac: reaction_point_destination_mac[i],
              source_ip: reaction_point_source_ip[i],
              destination_ip: reaction_point_destination_ip[i],
              source_port: reaction_point_source_port[i],
              destination_port: reaction_point_destination_port[i]
          };
    end else begin : gen_none
      assign point[i] = '0;
    end
  end

  for (genvar i = 0; i < MaxPorts; ++i) begin : gen_line
    if (i < Ports) begin : gen_there
      assign line[i] = line_i[i];
      assign line_o[i] = '{
              rate: line_rate[i],
              delay_out: delay_out_delay[i],
              delay_in: delay_in_delay[i]
          };
    end else begin : gen_none
      assign line[i] = '0;
    end
  end

  always_comb begin
    for (int unsigned i = 0; i < MaxPoints; ++i) begin
      reaction_point_current_rate[i] = point[i].current_rate;
      reaction_point_target_rate[i] = point[i].target_rate;
      reaction_point_byte_stage[i] = point[i].byte_stage;
      reaction_point_time_stage[i] = point[i].time_stage;
      reaction_point_phase[i] = point[i].phase;
      reaction_point_tokens[i] = point[i].tokens;
      reaction_point_dropped[i] = point[i].dropped;
      reaction_point_next_sequence[i] = point[i].next_sequence;
    end
    for (int unsigned i = 0; i < MaxPorts; ++i) begin
      line_frames[i] = line[i].frames;
      line_octets[i] = line[i].octets;
      line_arrived[i] = line[i].arrived;
      line_arrived_octets[i] = line[i].arrived_octets;
      line_runts[i] = line[i].runts;
      line_oversized[i] = line[i].oversized;
      line_bad[i] = line[i].bad;
      line_dropped[i] = line[i].dropped;
      delay_out_words[i] = line[i].delay[0].words;
      delay_out_dropped[i] = line[i].delay[0].dropped;
      delay_out_cut[i] = line[i].delay[0].cut;
      delay_out_late[i] = line[i].delay[0].late;
      delay_in_words[i] = line[i].delay[1].words;
      delay_in_dropped[i] = line[i].delay[1].dropped;
      delay_in_cut[i] = line[i].delay[1].cut;
      delay_in_late[i] = line[i].delay[1].late;
      pfc_paused[i] = line[i].paused;
      pfc_frames[i] = line[i].pfc_frames;
      pfc_malformed[i] = line[i].pfc_malformed;
      pfc_other[i] = line[i].pfc_other;
    end
  end

  // Settings of points and lines that are not there.
  logic unused;
  assign unused = &{
    1'b0,
    reaction_point_mac,
    reaction_point_start,
    reaction_point_enable,
    reaction_point_octets,
    reaction_point_destination_mac,
    reaction_point_source_ip,
    reaction_point_destination_ip,
    reaction_point_source_port,
    reaction_point_destination_port,
    line_rate,
    delay_out_delay,
    delay_in_delay
  };

  nic_registers u_registers (
      .clk_i,
      .rst_i,
      .s_axil_i,
      .s_axil_o,
      .clock_run_o,
      .clock_now_i(now_i),
      .qcn_tick_clocks_o(tick_clocks_o),
      .qcn_gd_shift_o(qcn_o.gd_shift),
      .qcn_rpg_threshold_o(qcn_o.rpg_threshold),
      .qcn_rpg_byte_reset_o(qcn_o.rpg_byte_reset),
      .qcn_rpg_time_reset_o(qcn_o.rpg_time_reset),
      .qcn_rpg_ai_rate_o(qcn_o.rpg_ai_rate),
      .qcn_rpg_hai_rate_o(qcn_o.rpg_hai_rate),
      .qcn_rpg_min_rate_o(qcn_o.rpg_min_rate),
      .qcn_rpg_max_rate_o(qcn_o.rpg_max_rate),
      .qcn_rp_jitter_o(qcn_o.rp_jitter),
      .qcn_timer_on_o(qcn_o.timer_on),
      .smcc_alpha_o(smcc_o.alpha),
      .smcc_alpha_small_o(smcc_o.alpha_small),
      .smcc_beta_o(smcc_o.beta),
      .smcc_t1_o(smcc_o.t1),
      .smcc_two_stage_o(smcc_o.two_stage),
      .smcc_min_rate_o(smcc_o.min_rate),
      .smcc_max_rate_o(smcc_o.max_rate),
      .reaction_point_mac_o(reaction_point_mac),
      .reaction_point_start_o(reaction_point_start),
      .reaction_point_enable_o(reaction_point_enable),
      .reaction_point_octets_o(reaction_point_octets),
      .reaction_point_destination_mac_o(reaction_point_destination_mac),
      .reaction_point_source_ip_o(reaction_point_source_ip),
      .reaction_point_destination_ip_o(reaction_point_destination_ip),
      .reaction_point_source_port_o(reaction_point_source_port),
      .reaction_point_destination_port_o(reaction_point_destination_port),
      .reaction_point_current_rate_i(reaction_point_current_rate),
      .reaction_point_target_rate_i(reaction_point_target_rate),
      .reaction_point_byte_stage_i(reaction_point_byte_stage),
      .reaction_point_time_stage_i(reaction_point_time_stage),
      .reaction_point_phase_i(reaction_point_phase),
      .reaction_point_tokens_i(reaction_point_tokens),
      .reaction_point_dropped_i(reaction_point_dropped),
      .reaction_point_next_sequence_i(reaction_point_next_sequence),
      .line_rate_o(line_rate),
      .line_frames_i(line_frames),
      .line_octets_i(line_octets),
      .line_arrived_i(line_arrived),
      .line_arrived_octets_i(line_arrived_octets),
      .line_runts_i(line_runts),
      .line_oversized_i(line_oversized),
      .line_bad_i(line_bad),
      .line_dropped_i(line_dropped),
      .delay_out_delay_o(delay_out_delay),
      .delay_out_words_i(delay_out_words),
      .delay_out_dropped_i(delay_out_dropped),
      .delay_out_cut_i(delay_out_cut),
      .delay_out_late_i(delay_out_late),
      .delay_in_delay_o(delay_in_delay),
      .delay_in_words_i(delay_in_words),
      .delay_in_dropped_i(delay_in_dropped),
      .delay_in_cut_i(delay_in_cut),
      .delay_in_late_i(delay_in_late),
      .receiver_taken_i(receiver_i.taken),
      .receiver_malformed_i(receiver_i.malformed),
      .receiver_refused_i(receiver_i.refused),
      .receiver_unknown_i(receiver_i.unknown),
      .host_port_o,
      .host_paced_i(host_i.paced),
      .host_unpaced_i(host_i.unpaced),
      .host_frames_i(host_i.frames),
      .host_dropped_i(host_i.dropped),
      .flow_data_priority_o(data_priority_o),
      .pfc_paused_i(pfc_paused),
      .pfc_frames_i(pfc_frames),
      .pfc_malformed_i(pfc_malformed),
      .pfc_other_i(pfc_other),
      .trace_interval_o,
      .trace_dropped_i
  );
endmodule

`default_nettype wire
