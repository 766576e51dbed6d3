//! Beats that break every rule at every side of the NIC.

use penstock_cosim::Random;
use penstock_cosim::messages::{message, put};
use penstock_cosim::stream::{Beat, Frame, Source};

use crate::bench::{CONTROL_ADDRESS, MACS, World};
use crate::frames::{control, data};
use crate::pins::{LINES, Nic, POINTS, Pins, Shown};
use crate::schemes::Scheme;
use crate::{quiet_world, rounds};

/// Reads an output whose frames may have anything in them.
#[derive(Default)]
struct Anything {
    octets: Vec<u8>,
    held: Option<Beat>,
}

impl Anything {
    fn see(&mut self, beat: Option<Beat>, ready: bool) -> Option<Vec<u8>> {
        if self.held.is_some() {
            assert_eq!(beat, self.held, "a beat that is shown stays until it is taken");
        }
        self.held = beat.filter(|_| !ready);
        let beat = beat.filter(|_| ready)?;
        self.octets.extend(&beat.data.to_le_bytes()[..beat.keep.count_ones() as usize]);
        beat.last.then(|| std::mem::take(&mut self.octets))
    }
}

/// Beats that break every rule of the streams, settings that contradict each other, and resets. Rates stay within their
/// bounds; when the frames that were begun have ended, a frame passes in each direction and a message is served.
pub fn garbage<N: Nic, S: Scheme>(seed: u64, scheme: &S) {
    let mut random = Random::new(seed);
    let mut world: World<N, S::Machine> = quiet_world(seed, scheme);
    let starts = || scheme.start();
    for i in 0..POINTS {
        world.set(&format!("reaction_point[{i}].enable"), u64::from(i % 2 == 0), &starts);
    }
    let within =
        |out: &Shown| out.point.iter().all(|point| (scheme.least_rate()..=1_000_000_000).contains(&point.current_rate));
    for round in 0..rounds(30) {
        let mut sinks: [Anything; LINES + 1] = Default::default();
        let mut see = |out: &Shown, pins: &Pins| {
            assert!(within(out), "seed {seed}, round {round}: {:?}", out.point);
            let mut frames: [Option<Vec<u8>>; LINES + 1] = Default::default();
            for p in 0..LINES {
                frames[p] = sinks[p].see(out.line[p], pins.line_ready[p]);
            }
            frames[LINES] = sinks[LINES].see(out.host, pins.host_ready);
            frames
        };
        for _ in 0..random.below(10_000) {
            let beat = |random: &mut Random| Beat {
                data: match random.below(4) {
                    0 => u64::from(N::KIND.swap_bytes()) << 32,
                    1 => u64::from_le_bytes([0, 0, 0, 0, 0x88, 0x08, 0x01, 0x01]),
                    2 => u64::from_le_bytes([1, 0x80, 0xc2, 0, 0, 1, 0, 0]),
                    _ => random.next(),
                },
                keep: random.word() as u8,
                last: random.one_in(12),
                user: random.one_in(2),
            };
            let ready = random.word();
            let mut pins = Pins { host_ready: ready & 1 == 0, ..Pins::default() };
            for p in 0..N::PORTS {
                pins.line[p] = (!random.one_in(3)).then(|| beat(&mut random));
                pins.line_ready[p] = ready >> (p + 1) & 1 == 0;
            }
            pins.host = (!random.one_in(3)).then(|| (beat(&mut random), random.word() as u16));
            pins.words = [[random.word(); 2]; POINTS];
            see(&world.nic.clock(&pins), &pins);
        }
        // A last beat for each frame that was begun; a pause frame ends pauses that still run.
        let mut sources: [Source; LINES + 1] = Default::default();
        let mut resume = control(&mut random);
        resume.octets = vec![0; 60];
        resume.bad = false;
        put(&mut resume.octets, 0, &CONTROL_ADDRESS.to_be_bytes()[2..]);
        put(&mut resume.octets, 12, &[0x88, 0x08, 0x01, 0x01, 0, 0xff]);
        let (to_host, from_host) = (data(&mut random, 100), data(&mut random, 90));
        for (p, source) in sources.iter_mut().enumerate() {
            source.push(&Frame::new(vec![0; 8]));
            if p < LINES {
                source.push(&resume);
                source.push(&message(&mut random, N::KIND, MACS[p]));
                source.push(&to_host);
            } else {
                source.push(&from_host);
            }
        }
        let (mut served, mut reached, mut sent) = ([false; POINTS], 0, 0);
        // Frames that are still on their way need time; messages need 76 clocks each.
        let mut clocks = 0;
        let port = world.host_port;
        let want = N::PORTS;
        let mut pins = Pins { host_ready: true, line_ready: [true; LINES], ..Pins::default() };
        while !(served[..want].iter().all(|&s| s) && reached >= want && sent == 1) {
            let may = clocks == 0 || clocks > 50_000;
            for (line, source) in pins.line.iter_mut().zip(&mut sources).take(N::PORTS) {
                *line = source.show(may);
            }
            // The lengths beside the frames may be wrong, but not longer than a bucket.
            pins.host = sources[LINES].show(may).map(|beat| (beat, 94));
            pins.words = [[random.word(); 2]; POINTS];
            let out = world.nic.clock(&pins);
            let frames = see(&out, &pins);
            reached += usize::from(frames[LINES].as_ref() == Some(&to_host.octets));
            sent += usize::from(frames[port].as_ref() == Some(&from_host.octets));
            for (line, source) in pins.line.iter().zip(&mut sources).take(N::PORTS) {
                if line.is_some() {
                    source.take();
                }
            }
            if pins.host.is_some() && out.host_ready {
                sources[LINES].take();
            }
            for (served, signal) in served.iter_mut().zip(out.signal) {
                *served |= signal;
            }
            clocks += 1;
            assert!(clocks < 4_000_000, "round {round}: stuck: {served:?} {reached} {sent}");
        }
    }
}
