//! The registers: a written value comes out of its port and reads back, a value at a port reads; nothing else moves.

use std::cell::Cell;

use penstock_cosim::bits::Bits;
use penstock_cosim::{Random, at_least, nic_registers, pfc_registers, switch_registers};

include!("../../build/generated/registers.rs");

/// The rights of software to a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Written and read.
    Setting,
    /// A write of 1 is a pulse.
    Pulse,
    /// Read.
    Counter,
    /// Read; always the same.
    Identity,
}

/// A register, and how its port is read or driven.
struct Register<I, O> {
    name: &'static str,
    address: u16,
    bits: u32,
    wide: bool,
    reset: u64,
    kind: Kind,
    get: fn(&O) -> u64,
    put: fn(&mut I, u64),
}

/// A bus cycle: a word to write, or to read.
#[derive(Debug, Clone, Copy)]
enum Cycle {
    /// Address, data, and a bit for each octet of it that counts.
    Write(u16, u32, u8),
    Read(u16),
}

/// Outputs of the bus after a clock.
struct Shown {
    aw: bool,
    w: bool,
    b: Option<u8>,
    ar: bool,
    r: Option<(u8, u32)>,
}

/// Inputs of the bus.
#[derive(Default, Clone, Copy)]
struct Bus {
    aw: Option<u16>,
    w: Option<(u32, u8)>,
    b: bool,
    ar: Option<u16>,
    r: bool,
}

macro_rules! bus {
    ($module:ident) => {
        |core: &mut $module::Core, given: &mut $module::In, bus: Bus| {
            given.s_axil_awvalid = bus.aw.is_some();
            given.s_axil_awaddr = bus.aw.unwrap_or(0);
            given.s_axil_wvalid = bus.w.is_some();
            (given.s_axil_wdata, given.s_axil_wstrb) = bus.w.unwrap_or((0, 15));
            given.s_axil_bready = bus.b;
            given.s_axil_arvalid = bus.ar.is_some();
            given.s_axil_araddr = bus.ar.unwrap_or(0);
            given.s_axil_rready = bus.r;
            let out = core.clock(given);
            let shown = Shown {
                aw: out.s_axil_awready,
                w: out.s_axil_wready,
                b: out.s_axil_bvalid.then_some(out.s_axil_bresp),
                ar: out.s_axil_arready,
                r: out.s_axil_rvalid.then_some((out.s_axil_rresp, out.s_axil_rdata)),
            };
            (shown, out)
        }
    };
}

fn answers<C, I: Default, O>(
    mut core: C,
    clock: impl Fn(&mut C, &mut I, Bus) -> (Shown, O),
    reset: impl Fn(&mut I, bool),
    registers: &[Register<I, O>],
    size: u16,
    seed: u64,
) {
    let mut random = Random::new(seed);
    let mut given = I::default();
    // The value of each register, or the input at its port.
    let mut values: Vec<u64> = registers.iter().map(|register| register.reset).collect();
    reset(&mut given, true);
    clock(&mut core, &mut given, Bus::default());
    reset(&mut given, false);
    let of_kind = |kind| registers.iter().filter(move |register| register.kind == kind).count();
    assert!(of_kind(Kind::Setting) > 20 && of_kind(Kind::Counter) > 15);

    // One bus cycle, with the sides' valid and ready in any order; the answer, and which pulses came. Meanwhile all settings
    // stay but the one that is written.
    let mut pulses: Vec<u32> = vec![0; registers.len()];
    let clocks = Cell::new(0u64);
    let run = |core: &mut C, given: &mut I, random: &mut Random, cycle: Cycle, pulses: &mut [u32], values: &[u64]| {
        let (mut aw, mut w, mut ar) = match cycle {
            Cycle::Write(address, data, strobes) => (Some(address), Some((data, strobes)), None),
            Cycle::Read(address) => (None, None, Some(address)),
        };
        let (mut shows_aw, mut shows_w, mut shows_ar) = (false, false, false);
        let mut answer = None;
        let mut rest = 6;
        for step in 0..200 {
            shows_aw |= random.one_in(2);
            shows_w |= random.one_in(2);
            shows_ar |= random.one_in(2);
            let (b, r) = (random.one_in(2), random.one_in(2));
            let bus = Bus { aw: aw.filter(|_| shows_aw), w: w.filter(|_| shows_w), b, ar: ar.filter(|_| shows_ar), r };
            let (shown, out) = clock(core, given, bus);
            clocks.set(clocks.get() + 1);
            // Before anything is asked it takes whatever comes first; what was taken keeps its slot until it is asked for.
            assert!(step > 0 || (shown.aw && shown.w && shown.ar), "ready while nothing is asked, {cycle:?}");
            for (register, value) in registers.iter().zip(values).filter(|(r, _)| r.kind == Kind::Setting) {
                let place = register.address..register.address + if register.wide { 8 } else { 4 };
                let written = matches!(cycle, Cycle::Write(address, ..) if place.contains(&address));
                assert!(written || (register.get)(&out) == *value, "{} in {cycle:?}", register.name);
            }
            for (register, pulses) in registers.iter().zip(pulses.iter_mut()).filter(|(r, _)| r.kind == Kind::Pulse) {
                *pulses += (register.get)(&out) as u32;
            }
            aw = aw.filter(|_| !(bus.aw.is_some() && shown.aw));
            w = w.filter(|_| !(bus.w.is_some() && shown.w));
            ar = ar.filter(|_| !(bus.ar.is_some() && shown.ar));
            if let (Some(response), true) = (shown.b, b) {
                assert!(answer.replace((response, 0)).is_none(), "one answer to one write");
            }
            if let (Some((response, data)), true) = (shown.r, r) {
                assert!(answer.replace((response, data)).is_none(), "one answer to one read");
            }
            // The effect of a write shows a few clocks later at the latest.
            if let Some(answer) = answer {
                rest -= 1;
                if rest == 0 {
                    return (answer, out);
                }
            }
        }
        panic!("no answer to {cycle:?}");
    };

    let mut step = 0;
    while clocks.get() < at_least(1_000_000) {
        // Counters move all the time.
        for (register, value) in registers.iter().zip(&mut values).filter(|(r, _)| r.kind == Kind::Counter) {
            if step == 0 || random.one_in(10) {
                *value = random.next() >> (64 - register.bits);
                (register.put)(&mut given, *value);
            }
        }
        let index = if step < registers.len() { step } else { random.below(registers.len() as u64) as usize };
        let register = &registers[index];
        let name = register.name;
        let wanted = random.next();
        let words = if register.wide { 2 } else { 1 };
        let mut wrote = vec![0; registers.len()];
        // Octets that a write leaves as they are: none mostly, else any.
        let strobes = if random.one_in(2) { 0xff } else { random.word() as u8 };
        let written = (0..8).filter(|octet| strobes >> octet & 1 == 1).map(|octet| 0xff << (8 * octet)).sum::<u64>();
        pulses.fill(0);
        if register.kind == Kind::Setting || register.kind == Kind::Pulse || random.one_in(4) {
            for word in 0..words {
                let data = (wanted >> (32 * word)) as u32;
                let strobes = strobes >> (4 * word) & 15;
                let ((response, _), out) = run(
                    &mut core,
                    &mut given,
                    &mut random,
                    Cycle::Write(register.address + 4 * word, data, strobes),
                    &mut pulses,
                    &values,
                );
                assert_eq!(response, 0, "write of {name}");
                if register.kind == Kind::Setting && word + 1 < words {
                    assert_eq!((register.get)(&out), values[index], "{name} counts as a whole");
                }
            }
            match register.kind {
                Kind::Setting => {
                    values[index] = (wanted & written | values[index] & !written) & (!0 >> (64 - register.bits));
                }
                Kind::Pulse => wrote[index] = (wanted & written & 1) as u32,
                Kind::Counter | Kind::Identity => (),
            }
        }
        assert_eq!(pulses, wrote, "pulses of {name}");
        // It reads back; a counter of two words shows the moment of the first.
        let mut read = 0;
        for word in 0..words {
            let ((response, data), _) =
                run(&mut core, &mut given, &mut random, Cycle::Read(register.address + 4 * word), &mut pulses, &values);
            assert_eq!(response, 0, "read of {name}");
            read |= u64::from(data) << (32 * word);
            if register.kind == Kind::Counter && register.wide && word == 0 {
                (register.put)(&mut given, !values[index] & (!0 >> (64 - register.bits)));
            }
        }
        let shows = if register.kind == Kind::Pulse { 0 } else { values[index] };
        assert_eq!(read, shows, "{name}");
        (register.put)(&mut given, values[index]);
        // An address that has no register says so, and does nothing.
        if random.one_in(20) {
            let address = 4 * random.below(u64::from(size) / 4) as u16;
            let there = |r: &&Register<I, O>| address == r.address || r.wide && address == r.address + 4;
            if registers.iter().find(there).is_none() {
                let cycle =
                    if random.one_in(2) { Cycle::Read(address) } else { Cycle::Write(address, random.word(), 15) };
                let ((response, _), _) = run(&mut core, &mut given, &mut random, cycle, &mut pulses, &values);
                assert_eq!(response, 2, "{cycle:?} is an error");
            }
        }
        step += 1;
    }
    println!("{step} registers read and written in {} clocks", clocks.get());
}

#[test]
fn switch() {
    let core = switch_registers::Core::new(91);
    let reset = |given: &mut switch_registers::In, on| given.rst_i = on;
    answers(core, bus!(switch_registers), reset, switch_registers_map::REGISTERS, 0x400, 93);
}

#[test]
fn nic() {
    let core = nic_registers::Core::new(93);
    let reset = |given: &mut nic_registers::In, on| given.rst_i = on;
    answers(core, bus!(nic_registers), reset, nic_registers_map::REGISTERS, 0x800, 94);
}

#[test]
fn flow_control() {
    let core = pfc_registers::Core::new(97);
    let reset = |given: &mut pfc_registers::In, on| given.rst_i = on;
    answers(core, bus!(pfc_registers), reset, pfc_registers_map::REGISTERS, 0x400, 98);
}

/// Where a read and a write both wait all the time they have their turns, the read first, and one runs at a time.
#[test]
fn reads_and_writes_take_turns() {
    let mut random = Random::new(95);
    let mut core = switch_registers::Core::new(96);
    let mut given = switch_registers::In::default();
    let clock = bus!(switch_registers);
    let address = switch_registers_map::REGISTERS[0].address;
    for _ in 0..200 {
        given.rst_i = true;
        clock(&mut core, &mut given, Bus::default());
        given.rst_i = false;
        let (mut reads, mut writes) = (0u32, 0u32);
        for _ in 0..400 {
            let asks =
                Bus { aw: Some(address), w: Some((0, 0)), b: random.one_in(2), ar: Some(address), r: random.one_in(2) };
            let (shown, _) = clock(&mut core, &mut given, asks);
            assert!(shown.b.is_none() || shown.r.is_none(), "one answer at a time");
            reads += u32::from(shown.r.is_some() && asks.r);
            writes += u32::from(shown.b.is_some() && asks.b);
            assert!(reads == writes || reads == writes + 1, "{reads} reads, {writes} writes");
        }
        assert!(writes > 15, "{writes} writes");
    }
}

/// No two registers share a word.
#[test]
fn every_register_has_its_own_address() {
    let words = |address: u16, wide: bool| (0..=u16::from(wide)).map(move |word| address + 4 * word);
    let switch = switch_registers_map::REGISTERS.iter().flat_map(|r| words(r.address, r.wide)).collect();
    let nic = nic_registers_map::REGISTERS.iter().flat_map(|r| words(r.address, r.wide)).collect();
    let flow_control = pfc_registers_map::REGISTERS.iter().flat_map(|r| words(r.address, r.wide)).collect();
    for mut places in [switch, nic, flow_control] {
        let all: &mut Vec<u16> = &mut places;
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "{all:x?}");
    }
}
