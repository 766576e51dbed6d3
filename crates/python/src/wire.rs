//! Frames as octets: decoded, encoded, counted in captures.

use std::collections::BTreeMap;
use std::ops::Range;

use penstock_wire::capture::{Damage, ETHERNET, frames, pcapng};
use penstock_wire::encode::{encode, kinds};
use penstock_wire::layers::{Layer, Types, layers_of_captured};
use penstock_wire::stats::{Notified, Paused, Pauser, Stats, Way};
use penstock_wire::{FORMATS, Message, Show};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Value, json};

/// EtherTypes of SMCC, of the other messages without one, and of congestion isolation messages.
type EtherTypes = (u16, u16, Option<u16>);

fn types((smcc, experimental, cim): EtherTypes) -> Types {
    Types { smcc, experimental, cim }
}

/// Every format with its fields, and every kind of frame that can be written, as JSON.
#[pyfunction]
pub(crate) fn wire_formats() -> String {
    let show = |show| match show {
        Show::Number => "number",
        Show::Signed => "signed",
        Show::Flag => "flag",
        Show::Hex => "hex",
        Show::Mac => "mac",
        Show::Ipv4 => "ipv4",
        Show::Ipv6 => "ipv6",
    };
    let formats = FORMATS.iter().map(|format| {
        let mut fields: Vec<_> = format.fields.iter().collect();
        fields.sort_by_key(|field| field.first);
        let fields = fields.into_iter().map(|field| {
            json!({
                "name": field.name,
                "label": field.label,
                "first_bit": field.first,
                "bits": field.bits,
                "shown_as": show(field.show),
                "reserved": field.reserved,
                "usual": if field.bits <= 64 { json!(field.usual as u64) } else { Value::Null },
                "fixed": field.fixed.is_some(),
                "meaning": field.meaning.trim(),
            })
        });
        json!({
            "name": format.name,
            "title": format.title,
            "source": format.source,
            "octets": format.octets,
            "fields": fields.collect::<Vec<_>>(),
            "message": format.message.map(|message| self::message(&message)),
        })
    });
    let kinds = kinds().map(|kind| {
        let formats = kind.formats.iter().map(|(format, always)| json!({"name": format.name, "always": always}));
        json!({
            "name": kind.name,
            "title": kind.title,
            "formats": formats.collect::<Vec<_>>(),
            "rest": kind.rest,
        })
    });
    json!({"formats": formats.collect::<Vec<_>>(), "kinds": kinds.collect::<Vec<_>>()}).to_string()
}

fn message(message: &Message) -> Value {
    json!({
        "abbreviation": message.abbreviation,
        "ether_type": message.ether_type,
        "info": message.info,
        "strength": message.strength.map(|strength| json!({"field": strength.field, "unit": strength.unit})),
        "sampled": message.sampled.map(|sampled| {
            json!({"name": sampled.name, "label": sampled.label, "length": sampled.length, "most": sampled.most})
        }),
    })
}

/// The layers of a frame that had `original` octets on the line, as a JSON list.
#[pyfunction]
pub(crate) fn wire_decode(frame: &[u8], original: usize, ether_types: EtherTypes) -> String {
    let layers = layers_of_captured(frame, original, types(ether_types));
    Value::from(layers.map(|layer| one_layer(&layer)).collect::<Vec<_>>()).to_string()
}

fn one_layer(layer: &Layer<'_>) -> Value {
    let fields = layer.fields().map(|(field, value)| {
        // JSON's numbers are read as they are, but IPv6 addresses have no use as numbers.
        let number = if field.bits <= 64 { json!(i64_or_u64(value.number())) } else { Value::Null };
        json!({"name": field.name, "label": field.label, "value": number, "text": value.to_string()})
    });
    json!({
        "name": layer.name(),
        "title": layer.format.map(|format| format.title),
        "offset": layer.offset,
        "octets": layer.octets.len(),
        "missing": layer.missing,
        "encapsulated": layer.encapsulated,
        "fields": fields.collect::<Vec<_>>(),
        "parts": layer.parts(),
        "fault": layer.fault.map(|fault| fault.to_string()),
        "unchecked": layer.unchecked,
        "notes": layer.notes().map(|note| note.to_string()).collect::<Vec<_>>(),
    })
}

fn i64_or_u64(number: i128) -> Value {
    i64::try_from(number).map_or_else(|_| json!(number as u64), |number| json!(number))
}

/// The octets of a frame of a kind, with these values of its fields.
#[pyfunction]
pub(crate) fn wire_encode<'py>(
    py: Python<'py>,
    kind: &str,
    pairs: Vec<(String, String)>,
) -> PyResult<Bound<'py, PyBytes>> {
    let pairs: Vec<(&str, &str)> = pairs.iter().map(|(key, value)| (&**key, &**value)).collect();
    let frame = encode(kind, &pairs).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(PyBytes::new(py, &frame))
}

/// Interface, its name, time in ns, octets, length on the line, comment.
type Frame<'py> = (u32, Option<String>, Option<u64>, Bound<'py, PyBytes>, u32, Option<String>);

/// The position of a frame in its file, and the file's notes on it.
struct Place {
    interface: u32,
    time_ns: Option<u64>,
    octets: Range<usize>,
    original: u32,
    comment: Option<String>,
}

/// A capture in memory, and the positions of its frames.
#[pyclass(name = "WireCapture", frozen)]
pub(crate) struct PyCapture {
    file: Py<PyBytes>,
    places: Vec<Place>,
    names: BTreeMap<u32, Option<String>>,
    damage: Option<Damage>,
}

#[pymethods]
impl PyCapture {
    #[new]
    fn new(py: Python<'_>, file: Bound<'_, PyBytes>) -> Self {
        let octets = file.as_bytes();
        let (places, names, damage) = py.detach(|| index(octets));
        Self { file: file.unbind(), places, names, damage }
    }

    fn __len__(&self) -> usize {
        self.places.len()
    }

    fn frame<'py>(&self, py: Python<'py>, number: usize) -> PyResult<Frame<'py>> {
        let place = self.places.get(number).ok_or_else(|| PyIndexError::new_err(number))?;
        let octets = self.file.bind(py).as_bytes().get(place.octets.clone()).unwrap_or_default();
        let name = self.names.get(&place.interface).cloned().flatten();
        let octets = PyBytes::new(py, octets);
        Ok((place.interface, name, place.time_ns, octets, place.original, place.comment.clone()))
    }

    /// The position and the fault at which reading stopped.
    #[getter]
    fn damage(&self) -> Option<(usize, String)> {
        self.damage.as_ref().map(|damage| (damage.offset, damage.to_string()))
    }
}

type Index = (Vec<Place>, BTreeMap<u32, Option<String>>, Option<Damage>);

fn index(file: &[u8]) -> Index {
    let (mut places, mut names) = (Vec::new(), BTreeMap::new());
    let mut read = match frames(file) {
        Ok(read) => read,
        Err(damage) => return (places, names, Some(damage)),
    };
    while let Some(frame) = read.next() {
        let frame = match frame {
            Ok(frame) => frame,
            Err(damage) => return (places, names, Some(damage)),
        };
        names.entry(frame.interface).or_insert_with(|| read.interface_name(frame.interface));
        let start = frame.octets.as_ptr() as usize - file.as_ptr() as usize;
        places.push(Place {
            interface: frame.interface,
            time_ns: frame.time_ns,
            octets: start..start + frame.octets.len(),
            original: frame.original,
            comment: frame.comment.map(Into::into),
        });
    }
    (places, names, None)
}

/// Counts of a capture's notifications and pause frames, as a JSON object; `damage` says where it could not be read on.
/// `bits_per_s` is the rate of all lines, instead of those in the file.
#[pyfunction]
pub(crate) fn wire_stats(py: Python<'_>, file: &[u8], ether_types: EtherTypes, bits_per_s: Option<u64>) -> String {
    py.detach(|| stats(file, types(ether_types), bits_per_s).to_string())
}

fn stats(file: &[u8], types: Types, bits_per_s: Option<u64>) -> Value {
    let (mut stats, mut damage, mut others, mut file_of) = (Stats::default(), None, 0u64, None);
    match frames(file) {
        Err(found) => damage = Some(found),
        Ok(mut read) => {
            while let Some(frame) = read.next() {
                match frame {
                    Ok(frame) if frame.link == ETHERNET => {
                        stats.add(&frame, bits_per_s.or_else(|| read.interface_rate(frame.interface)), types);
                    }
                    Ok(_) => {
                        stats.pass();
                        others += 1;
                    }
                    Err(found) => damage = Some(found),
                }
            }
            file_of = Some(read);
        }
    }
    let name = |interface| file_of.as_ref().and_then(|read| read.interface_name(interface));
    let notified = stats.notified.iter().map(|(way, found)| notified(way, found, name(way.interface)));
    let span_ns = stats.first_ns.zip(stats.last_ns);
    let paused = stats.paused.iter().map(|(pauser, found)| paused(*pauser, found, name(pauser.interface), span_ns));
    let roce = stats.roce.iter().map(|(&interface, seen)| {
        json!({
            "interface": interface,
            "interface_name": name(interface),
            "data": seen.data,
            "marked": seen.marked,
            "share": (seen.data > 0).then(|| seen.marked as f64 / seen.data as f64),
            "cnps": seen.cnps,
        })
    });
    let faults = stats.faults.iter().map(|((format, kind), faulty)| {
        json!({
            "format": format,
            "kind": kind,
            "frames": faulty.frames,
            "numbers": faulty.numbers,
            "first": faulty.first.to_string(),
        })
    });
    json!({
        "frames": stats.frames,
        "octets": stats.octets,
        "span_s": span_ns.map(|(first, last)| (last - first) as f64 / 1e9),
        "formats": stats.formats,
        "tagged": stats.tagged,
        "cut": stats.cut,
        "faulty": stats.faulty,
        "faults": faults.collect::<Vec<_>>(),
        "not_ethernet": others,
        "notified": notified.collect::<Vec<_>>(),
        "paused": paused.collect::<Vec<_>>(),
        "roce": roce.collect::<Vec<_>>(),
        "damage": damage.map(|damage| json!({"offset": damage.offset, "message": damage.to_string()})),
    })
}

/// `span_ns`: the times of the capture's first and last frames.
fn paused(pauser: Pauser, found: &Paused, interface_name: Option<String>, span_ns: Option<(u64, u64)>) -> Value {
    let seconds = |ps: u128| ps as f64 / 1e12;
    let (first_ns, last_ns) = span_ns.unwrap_or_default();
    let (stopped, end_ps) = (found.stopped, u128::from(last_ns) * 1000);
    let span_s = (last_ns - first_ns) as f64 / 1e9;
    let share = stopped.filter(|_| last_ns > first_ns).map(|it| seconds(it.total_ps(end_ps)) / span_s);
    json!({
        "interface": pauser.interface,
        "interface_name": interface_name,
        "source": pauser.source.to_string(),
        "priority": pauser.priority,
        "stops": found.stops,
        "resumes": found.resumes,
        "quanta": found.quanta,
        "pauses": stopped.map(|it| it.pauses),
        "paused_s": stopped.map(|it| seconds(it.total_ps(end_ps))),
        "longest_s": stopped.map(|it| seconds(it.longest_ps(end_ps))),
        "storms": stopped.map(|it| it.storms(end_ps)),
        "share": share,
        "open_s": stopped.map(|it| seconds(it.open_ps(end_ps))),
    })
}

fn notified(way: &Way, found: &Notified, interface_name: Option<String>) -> Value {
    let strength = found.strength.map(|strength| {
        json!({
            "frames": strength.frames,
            "least": i64_or_u64(strength.least),
            "mean": strength.sum as f64 / strength.frames as f64,
            "most": i64_or_u64(strength.most),
        })
    });
    json!({
        "interface": way.interface,
        "interface_name": interface_name,
        "format": way.format,
        "source": way.source.to_string(),
        "destination": way.destination.to_string(),
        "cp_id": way.cp_id.map(|id| format!("0x{id:016x}")),
        "flow": way.flow,
        "to": way.to.map(|to| to.to_string()),
        "frames": found.frames,
        "strength": strength,
        "first_ns": found.first_ns,
        "last_ns": found.last_ns,
    })
}

/// Interface, time in ns, octets, length on the line, comment.
type Written = (u32, u64, Vec<u8>, u32, Option<String>);

/// A pcapng file with these interfaces and frames.
#[pyfunction]
pub(crate) fn wire_pcapng<'py>(
    py: Python<'py>,
    interfaces: Vec<String>,
    written: Vec<Written>,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut file = Vec::new();
    pcapng::section(&mut file, concat!("Penstock ", env!("CARGO_PKG_VERSION")), None);
    for name in &interfaces {
        pcapng::interface(&mut file, name, None, None);
    }
    for (interface, time_ns, octets, original, comment) in &written {
        if *interface as usize >= interfaces.len() {
            return Err(PyValueError::new_err(format!("there is no interface {interface}")));
        }
        pcapng::part(&mut file, *interface, *time_ns, octets, *original, comment.as_deref());
    }
    Ok(PyBytes::new(py, &file))
}
