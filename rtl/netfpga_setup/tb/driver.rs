//! The set-up as a driver of experiments sees it: settings by name, flows that start, clocks that pass, measurements.
//!
//! It works with any build of `netfpga_setup`; the fast ones are for long runs. A random word is asked for in the clock in which it is
//! drawn, so that a stream of the simulator can be given to both.

use penstock_cosim::axil::{self, Master, NIC_REGISTERS, SWITCH_REGISTERS};
use penstock_cosim::netfpga_setup_qcn::{In, Out};
use penstock_cosim::{Clocked, Random};

/// NICs, and reaction points of each.
pub const NICS: usize = 2;
pub const POINTS_A_NIC: usize = 4;
/// All reaction points.
pub const POINTS: usize = NICS * POINTS_A_NIC;
/// Clocks a second.
pub const CLOCK_HZ: u64 = 125_000_000;

/// The owner of registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bus {
    Nic(usize),
    Switch,
}

impl Bus {
    fn index(self) -> usize {
        match self {
            Self::Nic(nic) => nic,
            Self::Switch => NICS,
        }
    }
}

/// The drawer of a random word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// The sampler of the congestion point.
    Cp,
    /// The byte counter and the timer of a reaction point.
    Byte(usize),
    Timer(usize),
}

/// The settings of a set-up before time runs. A register that is not named here has the reset value of its register, which is that of
/// Kabbani and Yasuda 2010.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Length of the generated frames with FCS, octets.
    pub octets: u16,
    /// One-way delay of each line, clocks.
    pub delay: u32,
    /// Rate of the congestion point's port, bit/s, and its changes: time in clocks, rate from then on. At most four.
    pub rate: u64,
    pub changes: Vec<(u64, u64)>,
    /// Ports of a NIC, which the build says: its parameter `NicPorts`.
    pub nic_ports: usize,
    /// Any other setting: of whom, its name in `registers.rdl`, its value.
    pub registers: Vec<(Bus, &'static str, u64)>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { octets: 1518, delay: 0, rate: 950_000_000, changes: Vec::new(), nic_ports: 1, registers: Vec::new() }
    }
}

/// The counts since time runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Measured {
    pub clocks: u64,
    /// Sum of the queue's octets over the clocks.
    pub queue_sum: u64,
    /// The traffic that the congestion point's port has sent, octets with FCS.
    pub frames: u32,
    pub octets: u64,
}

impl Measured {
    /// The difference to an earlier measurement.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            clocks: self.clocks - earlier.clocks,
            queue_sum: self.queue_sum - earlier.queue_sum,
            frames: self.frames - earlier.frames,
            octets: self.octets - earlier.octets,
        }
    }

    /// Mean length of the queue, octets.
    pub fn mean_queue(&self) -> f64 {
        self.queue_sum as f64 / self.clocks as f64
    }

    /// Share of a rate (bit/s) that was used, preamble and gap counted.
    pub fn utilisation(&self, rate: u64) -> f64 {
        let bits = (self.octets + 20 * u64::from(self.frames)) * 8;
        bits as f64 / (rate as f64 * self.clocks as f64 / CLOCK_HZ as f64)
    }
}

/// A set-up and its drivers.
pub struct NetfpgaSetup<C> {
    core: C,
    input: In,
    buses: [Master; NICS + 1],
    words: Box<dyn FnMut(Stream) -> u32>,
    clock: u64,
    last: Out,
}

/// MAC address of a reaction point, and of where all frames go.
pub fn mac(point: usize) -> u64 {
    0x0200_0000_0100 + point as u64
}
pub const SINK_MAC: u64 = 0x0200_0000_ffff;

/// The switch's port that leads to a reaction point.
fn line_of(point: usize, nic_ports: usize) -> usize {
    let (nic, own) = (point / POINTS_A_NIC, point % POINTS_A_NIC);
    nic * nic_ports + own * nic_ports / POINTS_A_NIC
}

impl<C: Clocked<In = In, Out = Out>> NetfpgaSetup<C> {
    /// A set-up with its own random words.
    pub fn new(settings: &Settings, seed: u64) -> Self {
        let mut streams: Vec<_> = (0..=2 * POINTS as u64).map(|stream| Random::new(seed << 8 | stream)).collect();
        let words = move |stream| {
            let index = match stream {
                Stream::Cp => 0,
                Stream::Byte(point) => 1 + 2 * point,
                Stream::Timer(point) => 2 + 2 * point,
            };
            streams[index].word()
        };
        Self::with_words(settings, seed, Box::new(words))
    }

    /// A set-up that is given the words; `seed` says what registers hold before reset. No flow has started, the time runs.
    pub fn with_words(settings: &Settings, seed: u64, words: Box<dyn FnMut(Stream) -> u32>) -> Self {
        let input = In { rst_i: true, ..In::default() };
        let masters = [NIC_REGISTERS, NIC_REGISTERS, SWITCH_REGISTERS].map(Master::new);
        let mut bed = Self { core: C::new(seed), input, buses: masters, words, clock: 0, last: Out::default() };
        // Logic that sleeps in fast builds wakes within a clock.
        for _ in 0..4 {
            bed.clock();
        }
        bed.input.rst_i = false;
        bed.set(settings);
        bed.write(Bus::Switch, "clock.run", 1);
        for nic in 0..NICS {
            bed.write(Bus::Nic(nic), "clock.run", 1);
        }
        bed
    }

    fn set(&mut self, settings: &Settings) {
        for nic in 0..NICS {
            // The priority that the switch stops.
            self.write(Bus::Nic(nic), "flow.data_priority", 3);
        }
        for point in 0..POINTS {
            let (nic, own) = (Bus::Nic(point / POINTS_A_NIC), point % POINTS_A_NIC);
            let put = |name: &str| format!("reaction_point[{own}].{name}");
            self.write(nic, &put("mac"), mac(point));
            self.write(nic, &put("destination_mac"), SINK_MAC);
            self.write(nic, &put("octets"), settings.octets.into());
            self.write(nic, &format!("delay_out[{own}].delay"), settings.delay.into());
            self.write(nic, &format!("delay_in[{own}].delay"), settings.delay.into());
            // Where messages for it go.
            self.write(Bus::Switch, "forwarding.write_entry", point as u64);
            self.write(Bus::Switch, "forwarding.write_used", 1);
            self.write(Bus::Switch, "forwarding.write_mac", mac(point));
            self.write(Bus::Switch, "forwarding.write_ports", 1 << line_of(point, settings.nic_ports));
            self.write(Bus::Switch, "forwarding.write", 1);
        }
        self.write(Bus::Switch, "forwarding.default_ports", 1 << (NICS * settings.nic_ports));
        self.write(Bus::Switch, "port.rate", settings.rate);
        self.write(Bus::Switch, "port.schedule_entries", settings.changes.len() as u64);
        for (index, &(at, rate)) in settings.changes.iter().enumerate() {
            self.write(Bus::Switch, &format!("port.schedule_at[{index}]"), at);
            self.write(Bus::Switch, &format!("port.schedule_rate[{index}]"), rate);
        }
        for &(bus, name, value) in &settings.registers {
            self.write(bus, name, value);
        }
    }

    /// Writes a register, and waits until that is done.
    ///
    /// # Panics
    /// If there is none of this name, or the value does not fit.
    pub fn write(&mut self, bus: Bus, name: &str, value: u64) {
        self.buses[bus.index()].write(name, value);
        self.wait();
    }

    /// Reads a register.
    ///
    /// # Panics
    /// If there is none of this name.
    pub fn read(&mut self, bus: Bus, name: &str) -> u64 {
        self.buses[bus.index()].read(name);
        self.wait();
        self.buses[bus.index()].answer().expect("it has been read")
    }

    /// Reads a counter of a port of the switch.
    pub fn line(&mut self, port: usize, name: &str) -> u64 {
        self.write(Bus::Switch, "line.select", port as u64);
        self.read(Bus::Switch, &format!("line.{name}"))
    }

    fn wait(&mut self) {
        for _ in 0..1000 {
            if !self.busy() {
                return;
            }
            self.clock();
        }
        panic!("the registers do not answer");
    }

    /// Something is being written or read.
    pub fn busy(&self) -> bool {
        self.buses.iter().any(Master::busy)
    }

    /// A flow begins in the next clocks: its reaction point at the largest rate, its packet generator on.
    pub fn begin(&mut self, point: usize) {
        let own = point % POINTS_A_NIC;
        self.buses[point / POINTS_A_NIC].write(&format!("reaction_point[{own}].start"), 1);
        self.buses[point / POINTS_A_NIC].write(&format!("reaction_point[{own}].enable"), 1);
    }

    /// A flow begins; waits until it has.
    pub fn start(&mut self, point: usize) {
        self.begin(point);
        self.wait();
    }

    /// A flow ends.
    pub fn stop(&mut self, point: usize) {
        let own = point % POINTS_A_NIC;
        self.write(Bus::Nic(point / POINTS_A_NIC), &format!("reaction_point[{own}].enable"), 0);
    }

    /// The inputs of the ports in the last clock.
    pub fn input(&self) -> &In {
        &self.input
    }

    /// Clocks since the first reset.
    pub fn clocks(&self) -> u64 {
        self.clock
    }

    /// One clock.
    pub fn clock(&mut self) -> Out {
        self.ask();
        let (_, shown) = self.core.run(&self.input, 0);
        self.draw(&shown);
        self.last = self.core.clock(&self.input);
        self.clock += 1;
        self.answers();
        self.last
    }

    /// As many clocks, fast.
    pub fn run(&mut self, clocks: u64) {
        let end = self.clock + clocks;
        while self.clock < end && self.busy() {
            self.clock();
        }
        self.ask();
        loop {
            let (done, shown) = self.core.run(&self.input, end - self.clock);
            self.clock += done;
            self.last = shown;
            if self.clock == end {
                return;
            }
            self.draw(&shown);
            self.core.clock(&self.input);
            self.clock += 1;
        }
    }

    /// The inputs of the buses.
    fn ask(&mut self) {
        let input = &mut self.input;
        (input.s_axil_awvalid, input.s_axil_wvalid, input.s_axil_arvalid) = (0, 0, 0);
        (input.s_axil_awaddr, input.s_axil_araddr) = (0, 0);
        let all = (1 << self.buses.len()) - 1;
        (input.s_axil_bready, input.s_axil_rready) = (all, all);
        input.s_axil_wstrb = (1 << (4 * self.buses.len())) - 1;
        for (index, bus) in self.buses.iter_mut().enumerate() {
            let given = bus.show();
            input.s_axil_awvalid |= u8::from(given.aw.is_some()) << index;
            input.s_axil_wvalid |= u8::from(given.w.is_some()) << index;
            input.s_axil_arvalid |= u8::from(given.ar.is_some()) << index;
            input.s_axil_awaddr |= u64::from(given.aw.unwrap_or(0)) << (16 * index);
            input.s_axil_araddr |= u64::from(given.ar.unwrap_or(0)) << (16 * index);
            input.s_axil_wdata[index] = given.w.unwrap_or(0);
        }
    }

    /// Their answers.
    fn answers(&mut self) {
        if self.input.rst_i {
            return;
        }
        let out = &self.last;
        for (index, bus) in self.buses.iter_mut().enumerate() {
            let bit = |bits: u8| bits >> index & 1 == 1;
            bus.see(&axil::Shown {
                aw: bit(out.s_axil_awready),
                w: bit(out.s_axil_wready),
                b: bit(out.s_axil_bvalid).then_some(out.s_axil_bresp >> (2 * index) & 3),
                ar: bit(out.s_axil_arready),
                r: bit(out.s_axil_rvalid).then_some((out.s_axil_rresp >> (2 * index) & 3, out.s_axil_rdata[index])),
            });
        }
    }

    /// Words for the clock that comes, in which they are drawn: a reaction point's byte counter draws before its timer, as in
    /// the Rust state machine.
    fn draw(&mut self, shown: &Out) {
        if shown.draw_cp_o {
            self.input.random_cp_i = (self.words)(Stream::Cp);
        }
        for point in 0..POINTS {
            if shown.draw_byte_o >> point & 1 == 1 {
                self.input.random_byte_i[point] = (self.words)(Stream::Byte(point));
            }
            if shown.draw_timer_o >> point & 1 == 1 {
                self.input.random_timer_i[point] = (self.words)(Stream::Timer(point));
            }
        }
    }

    /// The queue in the last clock, octets.
    pub fn queue(&self) -> u64 {
        self.last.queue_o.into()
    }

    /// Current and target rate of a reaction point in the last clock, bit/s.
    pub fn rates(&self, point: usize) -> (u64, u64) {
        (field(&self.last.current_rate_o, 34, point), field(&self.last.target_rate_o, 34, point))
    }

    /// The counts until the last clock.
    pub fn measured(&self) -> Measured {
        Measured {
            clocks: self.last.now_o,
            queue_sum: self.last.queue_sum_o,
            frames: self.last.delivered_frames_o,
            octets: self.last.delivered_octets_o,
        }
    }
}

/// Field `index` of `bits` bits, up to 64, in a wide port.
pub fn field(words: &[u32], bits: usize, index: usize) -> u64 {
    let (at, shift) = (bits * index / 32, bits * index % 32);
    let word = |n: usize| u128::from(words.get(at + n).copied().unwrap_or(0)) << (32 * n);
    ((word(0) | word(1) | word(2)) >> shift) as u64 & (u64::MAX >> (64 - bits))
}
