//! Lines as long as on a wire.
//!
//! The cores hand on a frame at a beat a clock (8 Gb/s), store it and send it on when it is whole. A MAC takes the frame's time on the
//! line of 1 Gb/s instead. Delay lines make up for the difference, so that a frame is in the queue when its last octet would be. That is
//! its time on the line and the line's own delay after its reaction point let it go.

use super::driver::{Bus, NICS};

/// Octets that a frame has beside its own on the line, and those of its check sequence, which streams do not have.
const PREAMBLE_AND_GAP: u64 = 20;
const FCS: u64 = 4;
/// Clocks from a reaction point's release to the arrival at the queue with delay lines of 0, without those of its beats,
/// which are stored twice.
const OUT: u64 = 35;
/// Octets of a message on the line, and clocks from its frame's arrival to the new rate, without the delay line.
const MESSAGE: u64 = 84;
const BACK: u64 = 101;

const DELAY_OUT: [&str; 4] = ["delay_out[0].delay", "delay_out[1].delay", "delay_out[2].delay", "delay_out[3].delay"];
const DELAY_IN: [&str; 4] = ["delay_in[0].delay", "delay_in[1].delay", "delay_in[2].delay", "delay_in[3].delay"];

/// Registers for lines of `one_way` clocks each way and frames of `octets` with FCS. At 1 Gb/s and 125 MHz an octet takes a clock.
pub fn delays(octets: u16, one_way: u32) -> Vec<(Bus, &'static str, u64)> {
    let octets = u64::from(octets);
    let beats = (octets - FCS).div_ceil(8);
    let out = u64::from(one_way) + octets + PREAMBLE_AND_GAP - 2 * beats - OUT;
    let back = (u64::from(one_way) + MESSAGE).saturating_sub(BACK);
    let ports = DELAY_OUT.iter().map(|&name| (name, out)).chain(DELAY_IN.iter().map(|&name| (name, back)));
    ports.flat_map(|(name, clocks)| (0..NICS).map(move |nic| (Bus::Nic(nic), name, clocks))).collect()
}
