// SPDX-License-Identifier: Apache-2.0
//
// Definitions that the parts of the NIC share: its settings and counters, in groups as in its registers (registers.rdl
// describes each), and how reaction points share ports.

`default_nettype none

package nic_pkg;
  import penstock_pkg::*;
  import qcn_rp_pkg::*;
  import smcc_rp_pkg::*;

  // Largest numbers for which the register map has room.
  localparam int unsigned MaxPoints = 4;
  localparam int unsigned MaxPorts = 4;
  // Bits of a delay, clocks, and of the times of a delay line.
  localparam int unsigned DelayW = 23;
  localparam int unsigned StampW = DelayW + 1;

  typedef struct packed {
    logic [4:0]  gd_shift;
    stage_t      rpg_threshold;
    cycle_t      rpg_byte_reset;
    cycle_t      rpg_time_reset;
    rate_t       rpg_ai_rate;
    rate_t       rpg_hai_rate;
    rate_t       rpg_min_rate;
    rate_t       rpg_max_rate;
    logic [15:0] rp_jitter;
    logic        timer_on;
  } qcn_settings_t;

  typedef struct packed {
    gain_t alpha;
    gain_t alpha_small;
    gain_t beta;
    diff_t t1;
    logic  two_stage;
    rate_t min_rate;
    rate_t max_rate;
  } smcc_settings_t;

  typedef struct packed {
    logic [47:0]   mac;
    logic          start;
    logic          enable;
    frame_octets_t octets;
    logic [47:0]   destination_mac;
    logic [31:0]   source_ip;
    logic [31:0]   destination_ip;
    logic [15:0]   source_port;
    logic [15:0]   destination_port;
  } point_settings_t;

  typedef struct packed {
    rate_t         current_rate;
    rate_t         target_rate;
    stage_t        byte_stage;
    stage_t        time_stage;
    logic [1:0]    phase;
    frame_octets_t tokens;
    logic [31:0]   dropped;
    logic [31:0]   next_sequence;
  } point_counters_t;

  typedef struct packed {
    rate_t             rate;
    logic [DelayW-1:0] delay_out;
    logic [DelayW-1:0] delay_in;
  } line_settings_t;

  typedef struct packed {
    logic [31:0] words;
    logic [31:0] dropped;
    logic [31:0] cut;
    logic [31:0] late;
  } delay_counters_t;

  typedef struct packed {
    logic [31:0]           frames;
    logic [47:0]           octets;
    logic [31:0]           arrived;
    logic [47:0]           arrived_octets;
    logic [31:0]           runts;
    logic [31:0]           oversized;
    logic [31:0]           bad;
    logic [31:0]           dropped;
    // Element 0 the transmit path, element 1 the receive path.
    delay_counters_t [1:0] delay;
    logic [7:0]            paused;
    logic [31:0]           pfc_frames;
    logic [31:0]           pfc_malformed;
    logic [31:0]           pfc_other;
  } line_counters_t;

  typedef struct packed {
    logic [31:0] taken;
    logic [31:0] malformed;
    logic [31:0] refused;
    logic [31:0] unknown;
  } receiver_counters_t;

  typedef struct packed {
    logic [31:0] paced;
    logic [31:0] unpaced;
    logic [31:0] frames;
    logic [31:0] dropped;
  } host_counters_t;

  // The ports of reaction points that share them evenly, in order: point i has port i × ports / points; port_w bits each.
  function automatic logic [63:0] spread(int unsigned points, int unsigned ports,
                                         int unsigned port_w);
    logic [63:0] all;
    all = '0;
    for (int unsigned i = 0; i < points; ++i) all |= 64'(i * ports / points) << (i * port_w);
    return all;
  endfunction
endpackage

`default_nettype wire
