//! The pins of a NIC, whichever build it is, and the memories of its delay lines.

use penstock_cosim::axil::{Given, Shown as BusShown};
use penstock_cosim::reaction_point::Point;
use penstock_cosim::stream::Beat;

/// Reaction points, and the most lines.
pub const POINTS: usize = 4;
pub const LINES: usize = 4;

/// Inputs at the pins in a clock.
#[derive(Debug, Clone, Default)]
pub struct Pins {
    pub reset: bool,
    pub bus: Given,
    pub line: [Option<Beat>; LINES],
    pub line_ready: [bool; LINES],
    /// With the frame's length.
    pub host: Option<(Beat, u16)>,
    pub host_ready: bool,
    pub words: [[u32; 2]; POINTS],
}

/// Outputs in it.
#[derive(Debug, Clone, Default)]
pub struct Shown {
    pub bus: BusShown,
    pub line_ready: [bool; LINES],
    pub line: [Option<Beat>; LINES],
    pub host_ready: bool,
    pub host: Option<Beat>,
    pub trace: Option<u64>,
    pub now: u64,
    pub tick: bool,
    pub point: [Point; POINTS],
    pub start: [bool; POINTS],
    pub signal: [bool; POINTS],
    pub sent: [Option<u16>; POINTS],
    pub draws: [[bool; 2]; POINTS],
}

/// A NIC under test.
pub trait Nic {
    /// Lines, and the line of each reaction point.
    const PORTS: usize;
    const PORT_OF: [usize; POINTS];
    /// EtherType of messages.
    const KIND: u16;
    fn new(seed: u64) -> Self;
    fn clock(&mut self, pins: &Pins) -> Shown;
}

/// The memories of the delay lines: a read is answered two clocks later.
pub struct Memories {
    words: Vec<[u64; 2]>,
    read: [u64; 2],
    answer: [u64; 2],
}

impl Memories {
    pub fn new(words: usize) -> Self {
        Self { words: vec![[0; 2]; words], read: [0; 2], answer: [0; 2] }
    }

    /// Inputs of the NIC in this clock.
    pub fn answer(&self) -> [u64; 2] {
        self.answer
    }

    /// Its requests in it.
    pub fn clock(&mut self, write: Option<(usize, [u64; 2])>, read: Option<usize>) {
        self.answer = self.read;
        if let Some(address) = read {
            self.read = self.words[address];
        }
        if let Some((address, word)) = write {
            self.words[address] = word;
        }
    }
}

/// Makes a build of the NIC a [`Nic`].
macro_rules! nic_under_test {
    ($name:ident, $core:ident, $ports:expr, $port_of:expr, $kind:expr, $words:expr) => {
        pub struct $name {
            core: penstock_cosim::$core::Core,
            given: penstock_cosim::$core::In,
            memories: Vec<Memories>,
        }

        impl Nic for $name {
            const PORTS: usize = $ports;
            const PORT_OF: [usize; POINTS] = $port_of;
            const KIND: u16 = $kind;

            fn new(seed: u64) -> Self {
                Self {
                    core: penstock_cosim::$core::Core::new(seed),
                    given: penstock_cosim::$core::In::default(),
                    memories: (0..2 * $ports).map(|_| Memories::new($words)).collect(),
                }
            }

            fn clock(&mut self, pins: &Pins) -> Shown {
                const ADDRESS: usize = ($words as usize).ilog2() as usize;
                const WORD: usize = 93;
                let given = &mut self.given;
                given.rst_i = pins.reset;
                given.s_axil_awvalid = pins.bus.aw.is_some();
                given.s_axil_awaddr = pins.bus.aw.unwrap_or(0);
                given.s_axil_wvalid = pins.bus.w.is_some();
                given.s_axil_wdata = pins.bus.w.unwrap_or(0);
                given.s_axil_wstrb = 15;
                given.s_axil_bready = true;
                given.s_axil_arvalid = pins.bus.ar.is_some();
                given.s_axil_araddr = pins.bus.ar.unwrap_or(0);
                given.s_axil_rready = true;
                for p in 0..$ports {
                    let beat = pins.line[p].unwrap_or_default();
                    given.s_axis_line_tvalid.put(p, 1, pins.line[p].is_some().into());
                    given.s_axis_line_tdata.put(64 * p, 64, beat.data);
                    given.s_axis_line_tkeep.put(8 * p, 8, beat.keep.into());
                    given.s_axis_line_tlast.put(p, 1, beat.last.into());
                    given.s_axis_line_tuser.put(p, 1, beat.user.into());
                    given.m_axis_line_tready.put(p, 1, pins.line_ready[p].into());
                }
                for (w, memory) in self.memories.iter().enumerate() {
                    given.mem_read_data_i.put(WORD * w, 64, memory.answer()[0]);
                    given.mem_read_data_i.put(WORD * w + 64, WORD - 64, memory.answer()[1]);
                }
                let (beat, octets) = pins.host.unwrap_or_default();
                given.s_axis_host_tvalid = pins.host.is_some();
                given.s_axis_host_tdata = beat.data;
                given.s_axis_host_tkeep = beat.keep;
                given.s_axis_host_tlast = beat.last;
                given.s_axis_host_tuser = beat.user;
                given.s_axis_host_octets_i = octets;
                given.m_axis_host_tready = pins.host_ready;
                given.m_axis_trace_tready = true;
                for (i, words) in pins.words.iter().enumerate() {
                    given.random_byte_i.put(32 * i, 32, words[0].into());
                    given.random_timer_i.put(32 * i, 32, words[1].into());
                }
                let out = self.core.clock(given);
                for (w, memory) in self.memories.iter_mut().enumerate() {
                    let write = (out.mem_write_o.get(w, 1) == 1).then(|| {
                        let data = &out.mem_write_data_o;
                        let word = [data.get(WORD * w, 64), data.get(WORD * w + 64, WORD - 64)];
                        (out.mem_write_address_o.get(ADDRESS * w, ADDRESS) as usize, word)
                    });
                    let read = (out.mem_read_o.get(w, 1) == 1)
                        .then(|| out.mem_read_address_o.get(ADDRESS * w, ADDRESS) as usize);
                    memory.clock(write, read);
                }
                let mut shown = Shown {
                    bus: penstock_cosim::axil::Shown {
                        aw: out.s_axil_awready,
                        w: out.s_axil_wready,
                        b: out.s_axil_bvalid.then_some(out.s_axil_bresp),
                        ar: out.s_axil_arready,
                        r: out.s_axil_rvalid.then_some((out.s_axil_rresp, out.s_axil_rdata)),
                    },
                    host_ready: out.s_axis_host_tready,
                    host: out.m_axis_host_tvalid.then_some(Beat {
                        data: out.m_axis_host_tdata,
                        keep: out.m_axis_host_tkeep,
                        last: out.m_axis_host_tlast,
                        user: out.m_axis_host_tuser,
                    }),
                    trace: out.m_axis_trace_tvalid.then_some(out.m_axis_trace_tdata),
                    now: out.now_o,
                    tick: out.tick_o,
                    ..Shown::default()
                };
                for p in 0..$ports {
                    shown.line_ready[p] = out.s_axis_line_tready.get(p, 1) == 1;
                    shown.line[p] = (out.m_axis_line_tvalid.get(p, 1) == 1).then(|| Beat {
                        data: out.m_axis_line_tdata.get(64 * p, 64),
                        keep: out.m_axis_line_tkeep.get(8 * p, 8) as u8,
                        last: out.m_axis_line_tlast.get(p, 1) == 1,
                        user: out.m_axis_line_tuser.get(p, 1) == 1,
                    });
                }
                for i in 0..POINTS {
                    shown.point[i] = penstock_cosim::reaction_point::Point {
                        current_rate: out.current_rate_o.get(34 * i, 34),
                        target_rate: out.target_rate_o.get(34 * i, 34),
                        byte_stage: out.byte_stage_o.get(8 * i, 8) as u8,
                        time_stage: out.time_stage_o.get(8 * i, 8) as u8,
                    };
                    shown.start[i] = out.start_o.get(i, 1) == 1;
                    shown.signal[i] = out.signal_o.get(i, 1) == 1;
                    shown.sent[i] = (out.sent_valid_o.get(i, 1) == 1).then(|| out.sent_octets_o.get(16 * i, 16) as u16);
                    shown.draws[i] = [out.draw_byte_o.get(i, 1) == 1, out.draw_timer_o.get(i, 1) == 1];
                }
                shown
            }
        }
    };
}
pub(crate) use nic_under_test;
