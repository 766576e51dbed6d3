# SPDX-License-Identifier: Apache-2.0
#
# Vivado's constraints of every clock crossing in a design. Read this file behind those that create the clocks, as Tcl
# (read_xdc -unmanaged). Cells are found by the names of their modules, so keep the hierarchy of sync_bits, crossing_reset,
# reset_bridge and async_frame_fifo (the default, or flatten_hierarchy rebuilt).

# The least period of the clocks at the cells, ns.
proc penstock_period {cells} {
  set clocks [get_clocks -quiet -of_objects $cells]
  set periods [lsort -real [get_property -quiet PERIOD $clocks]]
  return [expr {[llength $periods] ? [lindex $periods 0] : 1.0}]
}

proc penstock_cells {module} {
  return [get_cells -quiet -hierarchical -filter "ORIG_REF_NAME == $module || REF_NAME == $module"]
}

# A word in Gray code: its bits arrive within a period of the sender, so that one of them at the most is between two values.
foreach sync [penstock_cells sync_bits] {
  set first [get_cells -quiet "$sync/first_q_reg*"]
  set pins [get_pins -quiet -of_objects $first -filter {REF_PIN_NAME == D}]
  set sender [all_fanin -quiet -flat -startpoints_only -only_cells $pins]
  set sender [filter -quiet $sender {IS_SEQUENTIAL}]
  set_max_delay -datapath_only -from $sender -to $pins [penstock_period $sender]
  set_bus_skew -from $sender -to $pins [penstock_period $sender]
}

# A descriptor is written two clocks of the reader before it is read.
foreach fifo [penstock_cells async_frame_fifo] {
  set next [get_cells -quiet "$fifo/next_q_reg*"]
  set memory [get_cells -quiet -hierarchical -filter "NAME =~ $fifo/descriptors_q_reg*"]
  if {[llength $memory] && [llength $next]} {
    set_max_delay -datapath_only -from $memory -to $next [penstock_period $next]
  }
}

# Resets set these registers without a clock, and their side's word that it has been cleared is one bit.
foreach side [penstock_cells crossing_reset] {
  set held [get_cells -quiet "$side/held_q_reg* $side/other_q_reg*"]
  set_false_path -to [get_pins -quiet -of_objects $held -filter {REF_PIN_NAME == PRE || REF_PIN_NAME == CLR}]
  set_false_path -to [get_pins -quiet -of_objects [get_cells -quiet "$side/other_q_reg[0]"] -filter {REF_PIN_NAME == D}]
}
foreach bridge [penstock_cells reset_bridge] {
  set_false_path -to [get_pins -quiet -of_objects [get_cells -quiet "$bridge/reset_q_reg*"] -filter {REF_PIN_NAME == PRE}]
}
