//! The forwarding table: every frame leaves once, with the ports of its address, at the stated time.

use std::collections::VecDeque;

use penstock_cosim::stream::{Beat, Data, Frame, Sink, Source, length};
use penstock_cosim::{Random, at_least, forwarding_table, forwarding_table_512, forwarding_table_parallel};
#[cfg(feature = "widths")]
use penstock_cosim::{forwarding_table_128, forwarding_table_256};

/// Inputs and outputs of both builds: their ports have the same names.
macro_rules! clock {
    ($module:ident) => {
        |core: &mut $module::Core, given: &Given<_>| {
            let beat = given.shown.unwrap_or_default();
            let out = core.clock(&$module::In {
                rst_i: given.reset,
                stop_i: given.stop,
                write_i: given.write.is_some(),
                write_entry_i: given.write.map_or(9, |w| w.entry as u8),
                write_used_i: given.write.is_some_and(|w| w.used),
                write_mac_i: given.write.map_or(0, |w| w.mac),
                write_ports_i: given.write.map_or(0, |w| w.ports),
                default_ports_i: given.default_ports,
                s_axis_tdata: beat.data,
                s_axis_tkeep: beat.keep,
                s_axis_tvalid: given.shown.is_some(),
                s_axis_tlast: beat.last,
                s_axis_tuser: beat.user,
                m_axis_tready: given.ready,
            });
            Shown {
                ready: out.s_axis_tready,
                valid: out.m_axis_tvalid,
                beat: Beat {
                    data: out.m_axis_tdata,
                    keep: out.m_axis_tkeep,
                    last: out.m_axis_tlast,
                    user: out.m_axis_tuser,
                },
                ports: out.m_axis_ports_o,
                counts: (out.unknown_o, out.discarded_o),
            }
        }
    };
}

#[derive(Clone, Copy, Default)]
struct Entry {
    entry: usize,
    used: bool,
    mac: u64,
    ports: u8,
}

struct Given<D: Data> {
    reset: bool,
    stop: bool,
    write: Option<Entry>,
    default_ports: u8,
    shown: Option<Beat<D>>,
    ready: bool,
}

struct Shown<D: Data> {
    ready: bool,
    valid: bool,
    beat: Beat<D>,
    ports: u8,
    counts: (u32, u32),
}

const ENTRIES: usize = 16;

fn address(random: &mut Random, young: bool) -> u64 {
    if young {
        return 0x0200_0000_0000 + random.below(2);
    }
    // Few addresses, so that they meet, and some that differ in one bit alone.
    0x0200_0000_0000 + random.below(24) + (random.below(2) << 47) + (random.below(2) << 16)
}

fn forwards<C, D: Data>(mut core: C, clock: impl Fn(&mut C, &Given<D>) -> Shown<D>, search: u64) {
    let mut random = Random::new(41);
    let (mut source, mut sink) = (Source::<D>::default(), Sink::default());
    let mut table = [Entry::default(); ENTRIES];
    // Frames in flight, with their ports.
    let mut coming: VecDeque<(Frame, Option<u8>)> = VecDeque::new();
    let mut waiting: VecDeque<Frame> = VecDeque::new();
    let (mut default_ports, mut stalls, mut gaps, mut load) = (0, 1, 1, 1);
    let (mut since_reset, mut in_frame, mut shown_at, mut wrote_at) = (0, false, None, 0);
    let (mut unknown, mut discarded, mut frames) = (0u32, 0u32, 0u64);
    // The frame that has been searched for goes to ports.
    let mut forwarded = false;
    let clocks = at_least(2_000_000);
    for now in 0..clocks {
        let ends = now == 0 || since_reset > 20_000 && random.one_in(2_000);
        // Entries stay where only the rest is reset.
        let stop = ends && now > 0 && random.one_in(2);
        let reset = ends && !stop;
        since_reset += 1;
        // Behind a reset the first entry changes often until a frame comes, and for the address of that frame.
        let young = |source: &Source<D>| since_reset < 300 && source.left() == 0;
        if ends {
            (stalls, gaps, load) = (1 + random.below(3), 1 + random.below(3), 1 + random.below(200));
            default_ports = random.below(16) as u8;
        }
        if source.left() < 300 && random.one_in(load) {
            let length = length(&mut random);
            let mut frame = Frame::random(&mut random, length);
            let to = address(&mut random, young(&source)).to_be_bytes();
            let known = frame.octets.len().min(6);
            frame.octets[..known].copy_from_slice(&to[2..2 + known]);
            frame.bad = random.one_in(9);
            source.push(&frame);
            waiting.push_back(frame);
        }
        let young = young(&source);
        let write = random.one_in(if young { 2 } else { 100 }).then(|| Entry {
            entry: if young { 0 } else { random.below(ENTRIES as u64) as usize },
            used: !random.one_in(4),
            mac: address(&mut random, young),
            ports: random.below(16) as u8,
        });
        let shown = source.show(random.one_in(gaps));
        let ready = random.one_in(stalls);
        let out = clock(&mut core, &Given { reset, stop, write, default_ports, shown, ready });
        if ends {
            source.clear();
            sink.clear();
            if reset {
                table = [Entry::default(); ENTRIES];
            } else if let Some(write) = write {
                table[write.entry] = write;
            }
            (coming, waiting) = (VecDeque::new(), VecDeque::new());
            (since_reset, in_frame, shown_at, wrote_at, unknown, discarded) = (0, false, None, now, 0, 0);
            continue;
        }
        // A search begins with the first beat; it ends the stated number of clocks later.
        if shown.is_some() && !in_frame && shown_at.is_none() {
            shown_at = Some(now);
        }
        if let Some(at) = shown_at.filter(|_| !in_frame) {
            assert!(!out.ready || now >= at + search, "taken too early in clock {now}");
            if now == at + search {
                let frame = waiting.pop_front().expect("it is shown");
                let to = frame.octets.iter().take(6).fold(0, |mac, &octet| mac << 8 | u64::from(octet));
                let found = table.iter().find(|e| e.used && e.mac == to && frame.octets.len() >= 6);
                // A table that changes under a search: either is right, and the counters say which.
                if wrote_at >= at {
                    unknown = out.counts.0;
                    let was_discarded = out.counts.1 != discarded;
                    discarded = out.counts.1;
                    forwarded = !was_discarded;
                    if forwarded {
                        coming.push_back((frame, None));
                    }
                } else {
                    let ports = found.map_or(default_ports, |e| e.ports);
                    unknown += u32::from(found.is_none());
                    discarded += u32::from(ports == 0);
                    forwarded = ports != 0;
                    if forwarded {
                        coming.push_back((frame, Some(ports)));
                    }
                }
            }
        }
        if shown_at.is_some_and(|at| now >= at + search) {
            // A frame for no port leaves at once, another as there is room.
            assert_eq!(out.ready, !forwarded || !out.valid || ready, "in clock {now}");
        }
        if shown_at.is_none_or(|at| now >= at + search) {
            assert_eq!(out.counts, (unknown, discarded), "in clock {now}");
        }
        if let Some(write) = write {
            table[write.entry] = write;
            wrote_at = now;
        }
        if shown.is_some() && out.ready {
            let beat = source.take();
            in_frame = !beat.last;
            shown_at = if beat.last { None } else { shown_at };
        }
        if let Some(frame) = sink.see(out.valid, out.beat, ready) {
            let (wanted, ports) = coming.pop_front().expect("it was forwarded");
            assert_eq!(frame, wanted, "in clock {now}");
            assert!(ports.is_none_or(|ports| ports == out.ports), "ports in clock {now}");
            frames += 1;
        }
    }
    assert!(frames > clocks / 1_000, "{frames} frames");
}

#[test]
fn one_entry_a_clock() {
    forwards(forwarding_table::Core::new(42), clock!(forwarding_table), 16 + 4);
}

#[test]
fn four_entries_a_clock() {
    forwards(forwarding_table_parallel::Core::new(43), clock!(forwarding_table_parallel), 4 + 4);
}

#[test]
fn beats_of_512_bits() {
    forwards(forwarding_table_512::Core::new(44), clock!(forwarding_table_512), 16 + 4);
}

#[cfg(feature = "widths")]
#[test]
fn beats_of_128_and_256_bits() {
    forwards(forwarding_table_128::Core::new(45), clock!(forwarding_table_128), 16 + 4);
    forwards(forwarding_table_256::Core::new(46), clock!(forwarding_table_256), 16 + 4);
}
