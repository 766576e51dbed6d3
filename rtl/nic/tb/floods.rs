//! Messages that nobody needs, as many as a line can bring, and their cost.

use penstock_cosim::Random;
use penstock_cosim::messages::{message, message_of, put};

use crate::bench::{MACS, World};
use crate::frames::data;
use crate::pins::Nic;
use crate::schemes::Scheme;
use crate::{quiet_world, settle};

/// Forged messages on a line of 64 bits a clock (10 Gb/s at 156.25 MHz), as many as fit, for one reaction point, and a frame of
/// data among each few. All data reach the host, and each message is taken or counted.
pub fn floods<N: Nic, S: Scheme>(seed: u64, scheme: &S) {
    let mut random = Random::new(seed);
    let mut world: World<N, S::Machine> = quiet_world(seed, scheme);
    let starts = || scheme.start();
    let mut same = message(&mut random, N::KIND, MACS[0]);
    put(&mut same.octets, 14, &[0, 63]);
    world.any_message = Some(message_of(&same.octets, N::KIND));
    world.traffic.line_rate = false;
    // Octets of line time that have passed.
    let (from, mut octets, mut brought, seen) = (world.clock, 0, 0, world.host_seen);
    while world.clock < from + 100_000 {
        if octets <= 8 * (world.clock - from) {
            let frame = if random.one_in(4) {
                let length = [60, 1_514, 60 + random.below(1_455)][random.below(3) as usize];
                brought += 1;
                data(&mut random, length as usize)
            } else {
                same.clone()
            };
            octets += frame.octets.len() as u64 + 24;
            world.arrive(0, frame);
        }
        world.step(&starts);
    }
    settle(&mut world, scheme);
    let counts = ["receiver.taken", "receiver.refused", "line[0].dropped"].map(|name| world.get(name, &starts));
    println!("{brought} frames of data, {counts:?} messages taken and refused, frames dropped");
    assert_eq!((world.host_seen - seen, counts[2]), (brought, 0));
    assert!(counts[0] > 500 && counts[1] > 500);
}
