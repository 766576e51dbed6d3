//! Frames as octets: decoded, encoded, read from captures.

use std::collections::BTreeMap;
use std::ops::Range;

use penstock_wire::capture::{Damage, frames, pcapng};
use penstock_wire::encode::{encode, kinds};
use penstock_wire::layers::{Layer, Types, layers_of_captured};
use penstock_wire::{FORMATS, Message, Show};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Value, json};

/// EtherTypes of SMCC, of the other messages without one, and of congestion isolation messages.
pub(crate) type EtherTypes = (u16, u16, Option<u16>);

pub(crate) fn types((smcc, experimental, cim): EtherTypes) -> Types {
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

pub(crate) fn i64_or_u64(number: i128) -> Value {
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
