// SPDX-License-Identifier: Apache-2.0
//
// Definitions that the parts of the congestion point share.

`default_nettype none

package cp_pkg;
  // How frames are sampled: values of the parameter Sampling.
  localparam int unsigned SampleTable = 0;
  localparam int unsigned SampleCount = 1;
  localparam int unsigned SampleProbability = 2;

  // The fields that a message takes from the sampled frame.
  typedef struct packed {
    logic [47:0]       destination;
    logic [47:0]       source;
    logic              has_vlan;
    logic [2:0]        priority_code;
    logic [11:0]       vid;
    logic              has_flow;
    logic [15:0] flow;
  } header_t;
endpackage

`default_nettype wire
