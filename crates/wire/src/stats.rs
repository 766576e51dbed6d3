//! Senders, receivers and strength of notifications: counts of the notifications in a capture.

use alloc::collections::BTreeMap;

use crate::MacAddress;
use crate::layers::{Layer, Types, layers};

/// A way of notifications: from a congestion point to a flow, seen at an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Way {
    /// Number of the interface in the capture.
    pub interface: u32,
    /// The format of the notification: `cnm`, `smcc`, `bcn`, `fecn`, `e2cm`, `rocc`, `sfc`, `cnp` or `cim`.
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

/// The notifications of one way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notified {
    /// How many there were.
    pub frames: u64,
    /// How hard: Quantized Feedback of CNMs, queue offset in octets (positive under congestion) of SMCC and BCN, rate in
    /// bit/s of FECN and RoCC, pause in picoseconds of source flow control; `None` where the format says nothing.
    pub strength: Option<Strength>,
    /// Time of the first, nanoseconds.
    pub first_ns: Option<u64>,
    /// Time of the last.
    pub last_ns: Option<u64>,
}

/// The values of one way's notifications.
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

/// Frames that stop a priority, or let it go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Paused {
    /// Frames with a time above 0.
    pub stops: u64,
    /// Frames with time 0.
    pub resumes: u64,
    /// The sum of all times, quanta of 512 bit times.
    pub quanta: u64,
}

/// The sender of pause frames, as an interface saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pauser {
    /// Number of the interface in the capture.
    pub interface: u32,
    /// The sender.
    pub source: MacAddress,
    /// The priority; `None` for PAUSE, which stops all.
    pub priority: Option<u8>,
}

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
    /// Frames with a fault.
    pub faulty: u64,
    /// Notifications by their way.
    pub notified: BTreeMap<Way, Notified>,
    /// Pause frames by sender and priority.
    pub paused: BTreeMap<Pauser, Paused>,
}

impl Stats {
    /// Counts a frame.
    pub fn add(&mut self, interface: u32, time_ns: Option<u64>, frame: &[u8], original: u32, types: Types) {
        self.frames += 1;
        self.octets += u64::from(original);
        let (mut source, mut destination) = (MacAddress::default(), MacAddress::default());
        let (mut flow, mut tagged, mut first, mut notified, mut fault) = (None, false, true, false, false);
        for layer in layers(frame, types).filter(|layer| !layer.encapsulated) {
            fault |= layer.fault.is_some();
            let value = |name| layer.value(name);
            match layer.name() {
                "eth" => {
                    source = mac(value("source"));
                    destination = mac(value("destination"));
                }
                "vlan" | "rlt" | "padding" => {}
                "cn_tag" => {
                    tagged = true;
                    flow = value("flow_identifier").map(|value| value as u32);
                }
                name => {
                    if core::mem::take(&mut first) {
                        *self.formats.entry(name).or_default() += 1;
                    }
                    if layer.fault.is_some() {
                        continue;
                    }
                    match name {
                        "pfc" => self.pfc(interface, source, &layer),
                        "pause" => self.pause(interface, source, None, value("pause_time").unwrap_or(0)),
                        _ => {
                            let way = Way { interface, format: "", source, destination, cp_id: None, flow, to: None };
                            if let Some((way, strength)) = notification(way, &layer) {
                                notified = true;
                                self.notify(way, strength, time_ns);
                            }
                        }
                    }
                }
            }
        }
        self.faulty += u64::from(fault);
        self.tagged += u64::from(tagged && !notified);
    }

    fn pfc(&mut self, interface: u32, source: MacAddress, layer: &Layer<'_>) {
        const TIMES: [&str; 8] = ["time_0", "time_1", "time_2", "time_3", "time_4", "time_5", "time_6", "time_7"];
        let enable = layer.value("priority_enable").unwrap_or(0);
        for (priority, name) in (0..).zip(TIMES).filter(|(priority, _)| enable >> priority & 1 == 1) {
            self.pause(interface, source, Some(priority), layer.value(name).unwrap_or(0));
        }
    }

    fn pause(&mut self, interface: u32, source: MacAddress, priority: Option<u8>, quanta: u128) {
        let paused = self.paused.entry(Pauser { interface, source, priority }).or_default();
        if quanta == 0 {
            paused.resumes += 1;
        } else {
            paused.stops += 1;
        }
        paused.quanta += quanta as u64;
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

/// The way of a notification and how hard it is, if the layer is one that reaches a source.
fn notification(way: Way, layer: &Layer<'_>) -> Option<(Way, Option<i128>)> {
    let value = |name| layer.value(name);
    let signed = |name| Some(layer.format?.field(name)?.read_signed(layer.octets));
    let cp_id = value("cp_id").map(|id| id as u64);
    let rlq = value("rlq_id").map(|id| id as u32);
    let name = layer.name();
    let way = Way { format: name, cp_id, ..way };
    let units = |name| signed(name).map(|units| -units * i128::from(crate::cnm::UNIT));
    match name {
        "cnm" => {
            let to = Some(mac(value("encapsulated_destination")));
            Some((Way { to, ..way }, value("quantized_feedback").map(|value| value as i128)))
        }
        "smcc" => Some((Way { to: Some(mac(value("encapsulated_destination"))), ..way }, signed("q_off"))),
        "bcn" => Some((Way { flow: rlq, ..way }, units("q_off"))),
        // On its way to the destination, a probe notifies nobody.
        "fecn" if value("returned") == Some(1) => {
            let rate = value("rate").filter(|&rate| rate != u128::from(crate::experimental::UNLIMITED));
            Some((Way { flow: rlq, ..way }, rate.map(|rate| rate as i128)))
        }
        "e2cm" if value("returned") == Some(1) => {
            let offset = signed("q_off").filter(|_| value("measured") == Some(1));
            Some((Way { flow: rlq, ..way }, offset))
        }
        "rocc" => Some((Way { flow: rlq, ..way }, value("rate").map(|rate| rate as i128))),
        "sfc" => Some((Way { flow: rlq, ..way }, value("pause_time").map(|time| time as i128))),
        "bth" if value("opcode") == Some(crate::roce::CNP.into()) => {
            Some((Way { format: "cnp", flow: value("dest_qp").map(|qp| qp as u32), ..way }, None))
        }
        "cim" => Some((Way { to: Some(mac(value("destination"))), ..way }, None)),
        _ => None,
    }
}

fn mac(bits: Option<u128>) -> MacAddress {
    MacAddress::from_u64(bits.unwrap_or(0) as u64)
}
