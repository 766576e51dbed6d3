//! A switch of four ports with the drivers of its lines and its registers.

use std::collections::VecDeque;

use penstock_cosim::axil::{self, Master, SWITCH_REGISTERS};
use penstock_cosim::qcn_switch::{In, Out};
use penstock_cosim::stream::{Beat, Frame, Sink, Source};
use penstock_cosim::{Random, qcn_switch, smcc_switch};

use crate::follow::{Follow, Shown};
use crate::reference::Settings;

/// Parameters of the builds.
pub const PORTS: usize = 4;
pub const CP: usize = 3;
pub const BUFFER: u64 = 60_000;
pub const MAX_OCTETS: usize = 1522;

/// QCN's switch or SMCC's: the same ports.
enum Core {
    Qcn(qcn_switch::Core),
    Smcc(smcc_switch::Core),
}

/// The switch, and the parts that it is connected to.
pub struct Bench {
    core: Core,
    pub input: In,
    bus: Master,
    pub random: Random,
    pub smcc: bool,
    pub follow: Option<Follow>,
    /// The traffic of the lines. A beat begins in one of `pause` clocks.
    pub lines: [Source; PORTS],
    pub pause: u64,
    /// Lines bring random beats, of which one in this number breaks the rules of the stream; 0: frames.
    pub garbage: u64,
    /// Chance in 256 that a line takes a beat, and that the trace's reader does.
    pub sinks: [u64; PORTS],
    pub reader: u64,
    records: Sink,
    outs: [Sink; PORTS],
    /// A frame has begun on the line and not ended.
    pub inside: [bool; PORTS],
    /// Frames that came out and were not looked at yet.
    pub came: [VecDeque<Frame>; PORTS],
    messages: Sink,
    /// Messages as they left the congestion point.
    pub sent: VecDeque<Frame>,
    pub clock: u64,
    /// The switch's time in the clock before.
    now: u64,
    pub most_queue: u64,
}

fn bit(bits: u8, index: usize) -> bool {
    bits >> index & 1 == 1
}

/// A beat that may begin a frame for a station, and breaks the rules one time in `wild`.
fn garbage(random: &mut Random, wild: u64) -> Beat {
    let last = random.one_in(12);
    let station = (0x10 + (random.below(4) << 8)) << 32 | 2;
    Beat {
        data: match random.below(4) {
            0 => random.next(),
            1 => 0x0788_0000_0000_0000,
            _ => random.next() << 48 | station,
        },
        keep: match (random.one_in(wild), last) {
            (true, _) => random.word() as u8,
            (false, true) => 0xff >> random.below(8),
            (false, false) => 0xff,
        },
        last,
        user: random.one_in(4 * wild),
    }
}

impl Bench {
    /// A switch after reset; its time does not run.
    pub fn new(smcc: bool, seed: u64) -> Self {
        let core = if smcc { Core::Smcc(smcc_switch::Core::new(seed)) } else { Core::Qcn(qcn_switch::Core::new(seed)) };
        let mut bench = Self {
            core,
            input: In::default(),
            bus: Master::new(SWITCH_REGISTERS),
            random: Random::new(seed),
            smcc,
            follow: None,
            lines: Default::default(),
            pause: 1,
            garbage: 0,
            sinks: [256; PORTS],
            reader: 256,
            records: Sink::<u64>::default(),
            outs: Default::default(),
            inside: [false; PORTS],
            came: Default::default(),
            messages: Sink::<u64>::default(),
            sent: VecDeque::new(),
            clock: 0,
            now: 0,
            most_queue: 0,
        };
        bench.reset();
        bench
    }

    /// Reset, in the middle of all traffic: lines and sinks go on as they were.
    pub fn reset(&mut self) {
        self.input.rst_i = true;
        self.follow = None;
        self.clock();
        self.input.rst_i = false;
        self.bus.clear();
        for sink in &mut self.outs {
            sink.clear();
        }
        self.inside = [false; PORTS];
        self.messages.clear();
        self.records.clear();
    }

    /// Writes a register.
    pub fn write(&mut self, name: &str, value: u64) {
        self.bus.write(name, value);
        for _ in 0..200 {
            if !self.bus.busy() {
                return;
            }
            self.clock();
        }
        panic!("the registers do not answer");
    }

    /// Reads a register.
    pub fn read(&mut self, name: &str) -> u64 {
        self.bus.read(name);
        for _ in 0..200 {
            if let Some(value) = self.bus.answer() {
                return value;
            }
            self.clock();
        }
        panic!("the registers do not answer");
    }

    /// Sets an entry of the table.
    pub fn entry(&mut self, entry: u64, mac: u64, ports: u64) {
        self.write("forwarding.write_entry", entry);
        self.write("forwarding.write_used", 1);
        self.write("forwarding.write_mac", mac);
        self.write("forwarding.write_ports", ports);
        self.write("forwarding.write", 1);
    }

    /// All traffic and time begin; the congestion point is followed from here on.
    pub fn start(&mut self, settings: &Settings) {
        self.write("clock.run", 0);
        self.write("cp.q_eq", settings.q_eq.into());
        self.write("cp.w", settings.w.into());
        self.write("cp.sample_base", settings.base.into());
        self.write("cp.sample_jitter", settings.jitter.into());
        self.write("cp.sample_count", settings.count.into());
        self.write("cp.sample_probability", settings.probability.into());
        self.follow = Some(Follow::new(self.smcc, *settings));
        self.messages.clear();
        self.write("clock.run", 1);
    }

    /// Counter of a port.
    pub fn line(&mut self, port: usize, name: &str) -> u64 {
        self.write("line.select", port as u64);
        self.read(&format!("line.{name}"))
    }

    /// One clock.
    pub fn clock(&mut self) -> Out {
        let given = self.bus.show();
        (self.input.s_axil_awvalid, self.input.s_axil_awaddr) = (given.aw.is_some(), given.aw.unwrap_or(0));
        (self.input.s_axil_wvalid, self.input.s_axil_wdata) = (given.w.is_some(), given.w.unwrap_or(0));
        (self.input.s_axil_arvalid, self.input.s_axil_araddr) = (given.ar.is_some(), given.ar.unwrap_or(0));
        (self.input.s_axil_wstrb, self.input.s_axil_bready, self.input.s_axil_rready) = (15, true, true);
        self.input.random_i = self.random.word();
        self.input.m_axis_trace_tready = self.random.below(256) < self.reader;
        let mut shown = [None; PORTS];
        for (line, shown) in shown.iter_mut().enumerate() {
            let may = self.random.one_in(self.pause);
            *shown = if self.garbage > 0 {
                (!self.random.one_in(3)).then(|| garbage(&mut self.random, self.garbage))
            } else if may {
                self.lines[line].show(true)
            } else {
                None
            };
            let beat = shown.unwrap_or_default();
            self.input.s_axis_line_tdata[2 * line] = beat.data as u32;
            self.input.s_axis_line_tdata[2 * line + 1] = (beat.data >> 32) as u32;
        }
        let bits = |of: &dyn Fn(&Beat) -> bool| {
            (0..PORTS).map(|line| u8::from(shown[line].as_ref().is_some_and(of)) << line).sum::<u8>()
        };
        self.input.s_axis_line_tvalid = bits(&|_| true);
        self.input.s_axis_line_tlast = bits(&|beat| beat.last);
        self.input.s_axis_line_tuser = bits(&|beat| beat.user);
        self.input.s_axis_line_tkeep =
            (0..PORTS).map(|line| u32::from(shown[line].map_or(0, |beat: Beat| beat.keep)) << (8 * line)).sum();
        self.input.m_axis_line_tready =
            (0..PORTS).map(|line| u8::from(self.random.below(256) < self.sinks[line]) << line).sum();

        let out = match &mut self.core {
            Core::Qcn(core) => core.clock(&self.input),
            Core::Smcc(core) => core.clock(&self.input),
        };
        self.clock += 1;
        self.see(&out, &shown);
        out
    }

    fn see(&mut self, out: &Out, shown: &[Option<Beat>; PORTS]) {
        let reset = self.input.rst_i;
        if !reset {
            self.bus.see(&axil::Shown {
                aw: out.s_axil_awready,
                w: out.s_axil_wready,
                b: out.s_axil_bvalid.then_some(out.s_axil_bresp),
                ar: out.s_axil_arready,
                r: out.s_axil_rvalid.then_some((out.s_axil_rresp, out.s_axil_rdata)),
            });
        }
        assert_eq!(out.s_axis_line_tready, 15, "a line never waits");
        for (line, shown) in shown.iter().enumerate() {
            if shown.is_some() && self.garbage == 0 {
                self.lines[line].take();
            }
        }
        let before = std::mem::replace(&mut self.now, out.now_o);
        // Before the first reset everything may be shown.
        if self.clock == 1 || reset {
            return;
        }
        assert!(out.now_o == 0 || out.now_o == before + 1, "the time counts clocks");
        assert!(u64::from(out.queue_o) <= BUFFER, "the queue is within its buffer");
        self.most_queue = self.most_queue.max(out.queue_o.into());
        for line in 0..PORTS {
            let beat = Beat {
                data: u64::from(out.m_axis_line_tdata[2 * line]) | u64::from(out.m_axis_line_tdata[2 * line + 1]) << 32,
                keep: (out.m_axis_line_tkeep >> (8 * line)) as u8,
                last: bit(out.m_axis_line_tlast, line),
                user: bit(out.m_axis_line_tuser, line),
            };
            let (valid, ready) = (bit(out.m_axis_line_tvalid, line), bit(self.input.m_axis_line_tready, line));
            assert!(valid || !self.inside[line] || line == CP, "a frame leaves without a gap");
            self.inside[line] = if valid { !(ready && beat.last) } else { self.inside[line] };
            if let Some(frame) = self.outs[line].see(valid, beat, ready) {
                assert!(!frame.bad, "no bad frame leaves");
                self.came[line].push_back(frame);
            }
        }
        let record = Beat { data: out.m_axis_trace_tdata, keep: 0xff, last: true, user: false };
        let value = record.data >> 22 & ((1 << 34) - 1);
        assert!(
            !out.m_axis_trace_tvalid || record.data >> 60 != 1 || value <= BUFFER,
            "a queue of {value} is recorded"
        );
        self.records.see(out.m_axis_trace_tvalid, record, self.input.m_axis_trace_tready);
        let last = out.message_tlast_o;
        let beat = Beat { data: out.message_tdata_o, keep: if last { 0x0f } else { 0xff }, last, user: false };
        if let Some(frame) = self.messages.see(out.message_tvalid_o, beat, true) {
            self.sent.push_back(frame);
        }
        if let Some(follow) = &mut self.follow {
            let shown = Shown {
                event: out.event_o.then_some((out.event_octets_o, out.event_dropped_o, out.event_queue_o.into())),
                sample: out.sample_o.then_some((out.congested_o, out.fb_o)),
                draw: out.draw_o,
                reloaded: out.reloaded_o.then_some(out.interval_o.into()),
            };
            follow.clock(&shown, self.input.random_i);
            while let Some(frame) = self.sent.pop_front() {
                follow.message(&frame);
            }
        }
    }

    /// Messages that a sample called for and that did not come.
    pub fn missing_messages(&self) -> u64 {
        self.follow.as_ref().map_or(0, Follow::missing)
    }

    /// As many clocks.
    pub fn run(&mut self, clocks: u64) {
        for _ in 0..clocks {
            self.clock();
        }
    }

    /// All sinks take everything, until nothing has come for a while.
    pub fn drain(&mut self) {
        self.sinks = [256; PORTS];
        let mut quiet = 0;
        for _ in 0..2_000_000 {
            let before = self.came.iter().map(VecDeque::len).sum::<usize>();
            self.clock();
            let left: usize = self.lines.iter().map(Source::left).sum();
            quiet = if left > 0 || self.came.iter().map(VecDeque::len).sum::<usize>() > before { 0 } else { quiet + 1 };
            if quiet > 20_000 {
                return;
            }
        }
        panic!("something never ends");
    }
}
