# SPDX-License-Identifier: Apache-2.0
#
# SDC of one async_frame_fifo: for Synopsys' tools, Quartus and OpenSTA. Set the three variables, read it for each FIFO. The names of
# registers are those of the sources; write them as your synthesis does (here with _reg and an index in brackets).

set fifo     u_fifo
set s_period 6.4
set m_period 6.4

# Words in Gray code: all bits within a period of the sender. Only where they arrive is named, for their uppermost bit is that of the
# binary pointer, too, and a synthesis may make one register of both. The hold check means nothing between two clocks.
set_max_delay $m_period -to [get_cells "$fifo/u_out_seen/first_q_reg*"]
set_max_delay $m_period -to [get_cells "$fifo/u_frame_out_seen/first_q_reg*"]
set_max_delay $s_period -to [get_cells "$fifo/u_frame_in_seen/first_q_reg*"]
set_false_path -hold -to [get_cells "$fifo/u_out_seen/first_q_reg* $fifo/u_frame_out_seen/first_q_reg* $fifo/u_frame_in_seen/first_q_reg*"]

# A descriptor and a beat are written two clocks of the reader before they are read.
set_max_delay $m_period -from [get_cells "$fifo/descriptors_q_reg*"] -to [get_cells "$fifo/next_q_reg*"]
set_false_path -hold -from [get_cells "$fifo/descriptors_q_reg*"] -to [get_cells "$fifo/next_q_reg*"]
set_max_delay $m_period -from [get_cells "$fifo/words_q_reg*"] -to [get_cells "$fifo/raw_q_reg*"]
set_false_path -hold -from [get_cells "$fifo/words_q_reg*"] -to [get_cells "$fifo/raw_q_reg*"]

# Resets set held_q and other_q without a clock. That a side has been cleared is one bit.
foreach side {u_s_reset u_m_reset} {
  set_false_path -from [get_cells "$fifo/s_reset_q_reg $fifo/m_reset_q_reg"] -to [get_cells "$fifo/$side/held_q_reg* $fifo/$side/other_q_reg*"]
  set_false_path -to [get_cells "$fifo/$side/other_q_reg[0]"]
}
