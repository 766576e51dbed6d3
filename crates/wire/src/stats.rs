//! Senders, receivers and strength of notifications: counts of the notifications in a capture, of pauses, of congestion marks
//! and of faults.

mod pauses;
mod roce;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

pub use pauses::{Paused, Pauser, Pauses, STORM_PS, Span, Stopped};
pub use roce::{QueuePair, Roce};

use crate::capture::Captured;
use crate::layers::{Layer, Types, layers_of_captured};
use crate::{Error, Format, MacAddress, fast_cnp, mrc};

/// A path of notifications: from a congestion point to a flow, seen at an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Way {
    /// Number of the interface in the capture.
    pub interface: u32,
    /// The format of the notification: `cnp`, `fast_cnp`, or that of a message.
    pub format: &'static str,
    /// The sender of its frame.
    pub source: MacAddress,
    /// The addressee.
    pub destination: MacAddress,
    /// The congestion point that it names.
    pub cp_id: Option<u64>,
    /// The flow at the addressee: CN-TAG, RLQ-ID, or queue pair.
    pub flow: Option<u32>,
    /// The destination of the flow's frames.
    pub to: Option<MacAddress>,
}

/// The notifications of one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notified {
    /// How many there were.
    pub frames: u64,
    /// Strength, as the format's message declares it; `None` if it has none.
    pub strength: Option<Strength>,
    /// Time of the first, nanoseconds.
    pub first_ns: Option<u64>,
    /// Time of the last.
    pub last_ns: Option<u64>,
}

/// The values of one path's notifications.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Strength {
    /// How many there are.
    pub frames: u64,
    /// The least.
    pub least: i128,
    /// The most.
    pub most: i128,
    /// The sum, for a mean.
    pub sum: i128,
}

/// Frames that an interface saw in one interval of a time series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Interval {
    /// Frames.
    pub frames: u64,
    /// Octets of them, without check sequences.
    pub octets: u64,
    /// RoCEv2 packets among them.
    pub roce: Roce,
}

/// Frames with the same fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faulty {
    /// The fault of the first.
    pub first: Error,
    /// How many there are.
    pub frames: u64,
    /// The first of them, as numbers in the capture from 1; [`FAULTS_LISTED`] at most.
    pub numbers: Vec<u64>,
}

/// The most frames of a fault whose numbers are kept.
pub const FAULTS_LISTED: usize = 10;

/// Counts of a capture's frames.
#[derive(Debug, Clone, Default)]
pub struct Stats {
    /// Frames.
    pub frames: u64,
    /// Octets of all frames, without check sequences.
    pub octets: u64,
    /// Frames by the name of their first format behind Ethernet, 802.1Q and CN-TAG.
    pub formats: BTreeMap<&'static str, u64>,
    /// Frames with a CN-TAG that are no notification.
    pub tagged: u64,
    /// Frames of which a part was not captured.
    pub cut: u64,
    /// Frames with a fault.
    pub faulty: u64,
    /// Faults by format and kind, each with its frames. A frame counts with the first fault that it has.
    pub faults: BTreeMap<(&'static str, &'static str), Faulty>,
    /// Notifications by their path.
    pub notified: BTreeMap<Way, Notified>,
    /// Pause frames by sender and priority.
    pub paused: Pauses,
    /// RoCEv2 packets by interface.
    pub roce: BTreeMap<u32, Roce>,
    /// The same by sender and queue pair.
    pub queue_pairs: BTreeMap<QueuePair, Roce>,
    /// Frames by interval and interface; interval n begins n times the length of an interval after 0 of the file's clock.
    /// It is empty without [`Stats::with_series`].
    pub series: BTreeMap<(u64, u32), Interval>,
    /// Length of an interval of the series, nanoseconds.
    every_ns: Option<u64>,
    /// Time of the first frame, nanoseconds of the file's clock.
    pub first_ns: Option<u64>,
    /// Time of the last.
    pub last_ns: Option<u64>,
    /// All frames that were handed over, those of other links too: a frame's number in the capture.
    read: u64,
}

impl Stats {
    /// Counts that have a time series, too, with intervals of `every_ns`.
    #[must_use]
    pub fn with_series(every_ns: u64) -> Stats {
        Stats { every_ns: Some(every_ns.max(1)), ..Stats::default() }
    }

    /// Counts a frame that is none of Ethernet: it has a number in the capture.
    pub fn pass(&mut self) {
        self.read += 1;
    }

    /// Counts a frame of Ethernet. `bits_per_s` is the rate of its line, if it is known: pauses are so long by it.
    pub fn add(&mut self, captured: &Captured<'_>, bits_per_s: Option<u64>, types: Types) {
        let Captured { interface, time_ns, octets: frame, original, .. } = *captured;
        self.read += 1;
        self.frames += 1;
        self.octets += u64::from(original);
        self.cut += u64::from(original as usize > frame.len());
        self.first_ns = self.first_ns.min(time_ns).or(time_ns);
        self.last_ns = self.last_ns.max(time_ns);
        let (mut source, mut destination) = (MacAddress::default(), MacAddress::default());
        let mut pair = QueuePair::at(interface);
        let interval = self.every_ns.zip(time_ns).map(|(every_ns, time_ns)| (time_ns / every_ns, interface));
        if let Some(interval) = interval {
            let seen = self.series.entry(interval).or_default();
            seen.frames += 1;
            seen.octets += u64::from(original);
        }
        let (mut flow, mut ecn, mut tagged, mut first, mut notified) = (None, None, false, true, false);
        let (mut fault, mut fast) = (None, false);
        for layer in layers_of_captured(frame, original as usize, types).filter(|layer| !layer.encapsulated) {
            fault = fault.or(layer.fault);
            let value = |name| layer.value(name);
            match layer.name() {
                "eth" => {
                    source = mac(value("source")).unwrap_or_default();
                    destination = mac(value("destination")).unwrap_or_default();
                }
                "vlan" | "padding" => {}
                "cn_tag" => {
                    tagged = true;
                    flow = value("flow_identifier").map(|value| value as u32);
                }
                _ if layer.format.is_some_and(Format::is_tag) => {}
                name => {
                    if core::mem::take(&mut first) {
                        *self.formats.entry(name).or_default() += 1;
                    }
                    if layer.fault.is_some() {
                        continue;
                    }
                    let pauser = Pauser { interface, source, priority: None };
                    match name {
                        "pfc" => self.pfc(pauser, time_ns, bits_per_s, &layer),
                        "pause" => {
                            if let Some(quanta) = value("pause_time") {
                                pauses::count(&mut self.paused, pauser, time_ns, quanta, bits_per_s);
                            }
                        }
                        "ipv4" | "ipv6" => {
                            ecn = value("ecn");
                            pair.ends(name == "ipv6", value("source"), value("destination"));
                        }
                        "fast_cnp" => fast = true,
                        _ => {
                            if name == "bth" {
                                pair.qp = value("dest_qp").map(|qp| qp as u32);
                                self.roce(
                                    interval,
                                    pair,
                                    value("opcode").and_then(|opcode| Roce::of(opcode as u8, ecn)),
                                );
                            }
                            if name == mrc::FORMAT.name && value("m") != Some(mrc::NONE.into()) {
                                self.roce(interval, pair, Some(Roce { skips: 1, ..Roce::default() }));
                            }
                            let way = Way { interface, format: "", source, destination, cp_id: None, flow, to: None };
                            if let Some((way, strength)) = notification(way, &layer, fast) {
                                notified = true;
                                self.notify(way, strength, time_ns);
                            }
                        }
                    }
                }
            }
        }
        if let Some(fault) = fault {
            self.fault(fault);
        }
        self.tagged += u64::from(tagged && !notified);
    }

    fn fault(&mut self, fault: Error) {
        self.faulty += 1;
        let new = || Faulty { first: fault, frames: 0, numbers: Vec::new() };
        let known = self.faults.entry((fault.format(), fault.kind())).or_insert_with(new);
        known.frames += 1;
        if known.numbers.len() < FAULTS_LISTED {
            known.numbers.push(self.read);
        }
    }

    fn pfc(&mut self, pauser: Pauser, time_ns: Option<u64>, bits_per_s: Option<u64>, layer: &Layer<'_>) {
        const TIMES: [&str; 8] = ["time_0", "time_1", "time_2", "time_3", "time_4", "time_5", "time_6", "time_7"];
        let enable = layer.value("priority_enable").unwrap_or(0);
        for (priority, name) in (0..).zip(TIMES).filter(|(priority, _)| enable >> priority & 1 == 1) {
            // Of a frame that was not captured whole, the last times are not known.
            if let Some(quanta) = layer.value(name) {
                let pauser = Pauser { priority: Some(priority), ..pauser };
                pauses::count(&mut self.paused, pauser, time_ns, quanta, bits_per_s);
            }
        }
    }

    fn roce(&mut self, interval: Option<(u64, u32)>, pair: QueuePair, seen: Option<Roce>) {
        let Some(seen) = seen else { return };
        *self.roce.entry(pair.interface).or_default() += seen;
        *self.queue_pairs.entry(pair).or_default() += seen;
        if let Some(interval) = interval {
            self.series.entry(interval).or_default().roce += seen;
        }
    }

    fn notify(&mut self, way: Way, strength: Option<i128>, time_ns: Option<u64>) {
        let new = Notified { frames: 0, strength: None, first_ns: time_ns, last_ns: time_ns };
        let known = self.notified.entry(way).or_insert(new);
        known.frames += 1;
        if let Some(value) = strength {
            let all = known.strength.get_or_insert(Strength { frames: 0, least: value, most: value, sum: 0 });
            let (least, most) = (all.least.min(value), all.most.max(value));
            *all = Strength { frames: all.frames + 1, least, most, sum: all.sum + value };
        }
        known.first_ns = known.first_ns.min(time_ns).or(time_ns);
        known.last_ns = known.last_ns.max(time_ns);
    }
}

/// The path of a notification and its strength, if the layer is one that reaches a source; `fast`: options of a Fast CNP precede it.
fn notification(way: Way, layer: &Layer<'_>, fast: bool) -> Option<(Way, Option<i128>)> {
    let (name, format) = (layer.name(), layer.format?);
    let (has, value) = (|name| format.field(name).is_some(), |name| layer.value(name));
    if name == "bth" && value("opcode") == Some(crate::roce::CNP.into()) {
        let format = if fast { fast_cnp::FORMAT.name } else { "cnp" };
        return Some((Way { format, flow: value("dest_qp").map(|qp| qp as u32), ..way }, None));
    }
    let message = format.message?;
    // A probe towards the destination notifies nobody.
    if has("returned") && value("returned") != Some(1) {
        return None;
    }
    let flow = if has("rlq_id") { value("rlq_id").map(|id| id as u32) } else { way.flow };
    let to = mac(value("encapsulated_destination").or_else(|| value("destination")));
    let strength = message.strength.and_then(|strength| {
        let none = strength.unless.is_some_and(|(name, is)| value(name).is_none_or(|value| value == is.into()));
        let (_, value) = layer.fields().find(|(field, _)| field.name == strength.field && !none)?;
        Some(value.number() * i128::from(strength.factor))
    });
    Some((Way { format: name, cp_id: value("cp_id").map(|id| id as u64), flow, to, ..way }, strength))
}

fn mac(bits: Option<u128>) -> Option<MacAddress> {
    bits.map(|bits| MacAddress::from_u64(bits as u64))
}
