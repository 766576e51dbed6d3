//! The runs that figures are drawn from, and how the set-up is set for them.

use std::fmt::Write as _;

use penstock_cosim::{netfpga_setup_paper, netfpga_setup_sliding_mode};
use penstock_schemes::parts::gain::Gain;

use super::driver::{Bus, CLOCK_HZ, NICS, POINTS, Settings};
use super::lines;

/// Which set-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Build {
    /// `netfpga_setup_paper`
    Qcn,
    /// `netfpga_setup_sliding_mode`
    Smcc,
}

impl Build {
    /// Which sources it is made from.
    fn sources(self) -> u64 {
        match self {
            Self::Qcn => netfpga_setup_paper::SOURCES,
            Self::Smcc => netfpga_setup_sliding_mode::SOURCES,
        }
    }
}

/// A run.
#[derive(Debug, Clone)]
pub struct Run {
    pub name: String,
    pub build: Build,
    /// The reaction points that send.
    pub points: Vec<usize>,
    pub settings: Settings,
    /// The clock in which it ends.
    end: u64,
    /// The divisor of its times.
    scale: u64,
    /// Its text in the header.
    says: String,
}

/// Frames of all runs, octets with FCS. (papers/netfpga/profile.toml; Jiang et al. 2015, section 5.2)
const OCTETS: u16 = 1000;
const US: u64 = CLOCK_HZ / 1_000_000;

impl Run {
    /// Clocks that it has.
    pub fn clocks(&self) -> u64 {
        self.end
    }

    /// The rate of the congestion point's port from a clock on, bit/s.
    pub fn rate_at(&self, clock: u64) -> u64 {
        let mut changes = self.settings.changes.iter().filter(|change| change.0 <= clock);
        changes.next_back().map_or(self.settings.rate, |change| change.1)
    }

    /// The lines above the table: settings, and the names of the columns.
    pub fn header(&self, seed: u64) -> String {
        let Settings { octets, delay, rate, changes, nic_ports, registers } = &self.settings;
        let seconds = |clocks: u64| clocks as f64 / CLOCK_HZ as f64;
        let mut text = format!(
            "# {}\n# times / {}, seed {seed}, {} s at {CLOCK_HZ} Hz; frames of {octets} octets, ports a NIC {nic_ports}\n# \
             reaction points {:?}; line delay {delay} clocks; service rate {rate} bit/s",
            self.says,
            self.scale,
            seconds(self.end),
            self.points,
        );
        for (at, rate) in changes {
            let _ = write!(text, ", {rate} bit/s from {} s", seconds(*at));
        }
        let _ = writeln!(text, "\n# sources of the hardware {:016x}", self.build.sources());
        for (bus, name, value) in registers {
            let _ = writeln!(text, "# {bus:?} {name} = {value}");
        }
        text.push_str("time_s,queue_octets,mean_queue_octets,service_rate_bps,frames,utilization");
        for point in &self.points {
            let _ = write!(text, ",rate_{point}_bps");
        }
        text.push('\n');
        text
    }
}

/// The runs of the figures that are named, of all if none is.
pub fn chosen(wanted: &str, scale: u64) -> Result<Vec<Run>, String> {
    let figures: Vec<&str> = wanted.split([' ', ',']).filter(|name| !name.is_empty()).collect();
    let all = all(scale);
    let figure = |run: &Run| run.name.split('-').nth(1).expect("a run is named after its figure").to_owned();
    if let Some(unknown) = figures.iter().find(|name| !all.iter().any(|run| figure(run) == **name)) {
        return Err(format!("FIGURE: there is no \"{unknown}\"; there are 8 to 13 and 15"));
    }
    Ok(all.into_iter().filter(|run| figures.is_empty() || figures.contains(&figure(run).as_str())).collect())
}

fn all(scale: u64) -> Vec<Run> {
    let mut runs = Vec::new();
    for (figure, points, round_trip_us) in
        [(8, 1, 100), (9, 1, 500), (10, 1, 1000), (11, POINTS, 100), (12, POINTS, 500), (13, POINTS, 1000)]
    {
        runs.push(netfpga(figure, points, round_trip_us, scale));
    }
    for (ra, rb) in [(256, 64), (256, 32), (64, 64), (64, 32)] {
        runs.push(sliding_mode(ra, rb, scale));
    }
    runs
}

/// Kabbani and Yasuda 2010: the service rate falls for 3.7 s. Settings that are not
/// named here have their value in the registers' reset values and the build.
fn netfpga(figure: u32, points: usize, round_trip_us: u64, scale: u64) -> Run {
    let at = |tenths: u64| tenths * CLOCK_HZ / 10 / scale;
    let one_way = round_trip_us / 2 * US;
    let sources = if points == 1 { "1 source" } else { "8 sources" };
    Run {
        name: format!("figure-{figure}"),
        build: Build::Qcn,
        points: (0..points).collect(),
        settings: Settings {
            octets: OCTETS,
            rate: 950_000_000,
            changes: vec![(at(23), 200_000_000), (at(60), 950_000_000)],
            delay: one_way as u32,
            registers: lines::delays(OCTETS, one_way as u32),
            ..Settings::default()
        },
        end: at(100),
        scale,
        says: format!("Kabbani and Yasuda 2010, figure {figure}: {sources}, round trip {round_trip_us} us"),
    }
}

/// Jiang et al. 2015, figure 15: three sources, each on its own line; papers/sliding-mode/profile.toml.
fn sliding_mode(ra_mbps: u64, rb_mbps: u64, scale: u64) -> Run {
    let gain = |rate_mbps: u64, octets| {
        let gain = Gain::new(rate_mbps * 1_000_000, octets);
        u64::from(gain.mantissa()) << 7 | u64::from(gain.shift() as u8 & 0x7f)
    };
    let mut registers = vec![
        (Bus::Switch, "cp.q_eq", 64_000),
        // 0.01
        (Bus::Switch, "cp.sample_probability", 42_949_672),
    ];
    for nic in (0..NICS).map(Bus::Nic) {
        registers.extend([(nic, "smcc.alpha", gain(ra_mbps, 128_000)), (nic, "smcc.beta", gain(rb_mbps, 16_000))]);
    }
    registers.extend(lines::delays(OCTETS, US as u32));
    Run {
        name: format!("figure-15-{ra_mbps}-{rb_mbps}"),
        build: Build::Smcc,
        points: vec![0, 2, 4],
        settings: Settings {
            octets: OCTETS,
            rate: 1_000_000_000,
            nic_ports: 2,
            delay: US as u32,
            registers,
            ..Settings::default()
        },
        end: 2 * CLOCK_HZ / scale,
        scale,
        says: format!("Jiang et al. 2015, figure 15: 3 sources, Ra {ra_mbps} Mb/s, Rb {rb_mbps} Mb/s"),
    }
}
