//! Congestion notification domains: managed objects, Linux's messages, and the modes that ports agree on.

use std::collections::BTreeMap;

use penstock_domain::dcbnl::{self, Member, Order, Qcn, QcnStats, Reply};
use penstock_domain::lldpdu::MOST_OCTETS;
use penstock_domain::objects::{self, Default, NotAValue, Object, TABLES};
use penstock_domain::{Component, Port, Received, Station};
use penstock_schemes::Instant;
use penstock_wire::MacAddress;
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Value, json};

/// Every table of managed objects, and the members of Linux's structures, as a JSON object.
#[pyfunction]
pub(crate) fn dcb_objects() -> String {
    let tables = TABLES.iter().map(|table| {
        json!({
            "name": table.name,
            "per": table.per,
            "clause": table.clause,
            "meaning": table.meaning.trim(),
            "objects": table.objects.iter().map(one_object).collect::<Vec<_>>(),
        })
    });
    let members = |list: &[Member]| -> Vec<Value> {
        list.iter()
            .map(|member| json!({"name": member.name, "octets": member.octets, "unit": member.unit.name()}))
            .collect()
    };
    json!({
        "tables": tables.collect::<Vec<_>>(),
        "qcn": members(Qcn::MEMBERS),
        "qcn_stats": members(QcnStats::MEMBERS),
        "states": dcbnl::CNDD_STATES,
    })
    .to_string()
}

fn one_object(object: &Object) -> Value {
    let origin = match object.default {
        Default::Mib(_) => Some("mib"),
        Default::Own(_) => Some("own"),
        Default::None => None,
    };
    json!({
        "key": object.key,
        "name": object.name,
        "variable": object.variable,
        "clause": object.clause,
        "values": object.range(),
        "writable": object.writable,
        "default": object.default.number().map(|number| object.show(number)),
        "default_origin": origin,
        "parameter": object.parameter.map(|parameter| parameter.name),
        "meaning": object.meaning.trim(),
    })
}

/// A value of a managed object as a person reads it.
#[pyfunction]
pub(crate) fn dcb_show(key: &str, number: i128) -> PyResult<String> {
    Ok(objects::object(key).ok_or_else(|| PyKeyError::new_err(key.to_owned()))?.show(number))
}

/// The number of the object that is nearest to a parameter's value in the catalogue's unit, and whether it is that value.
#[pyfunction]
pub(crate) fn dcb_fit(key: &str, value: f64) -> PyResult<(i128, bool)> {
    let fit = objects::object(key).ok_or_else(|| PyKeyError::new_err(key.to_owned()))?.fit(value);
    Ok((fit.number, fit.exact))
}

/// The number of a text for a member of Linux's structures, in its unit there.
#[pyfunction]
pub(crate) fn dcb_read(member: &str, text: &str) -> PyResult<u64> {
    let refused = |NotAValue { message, hint, .. }| PyValueError::new_err((message, hint));
    named(member)?.read(text).map_err(refused)
}

/// A number of a member of Linux's structures as a person reads it.
#[pyfunction]
pub(crate) fn dcb_show_member(member: &str, number: u64) -> PyResult<String> {
    Ok(named(member)?.show(number))
}

fn named(member: &str) -> PyResult<&'static Member> {
    Member::named(member).ok_or_else(|| PyKeyError::new_err(member.to_owned()))
}

/// The request for a device's structures.
#[pyfunction]
pub(crate) fn dcb_get<'py>(py: Python<'py>, device: &str, sequence: u32) -> PyResult<Bound<'py, PyBytes>> {
    let message =
        dcbnl::get(device, sequence, Order::NATIVE).map_err(|fault| PyValueError::new_err(fault.to_string()))?;
    Ok(PyBytes::new(py, &message))
}

/// The request that gives a device other values: eight of each member.
#[pyfunction]
pub(crate) fn dcb_set<'py>(
    py: Python<'py>,
    device: &str,
    sequence: u32,
    values: BTreeMap<String, Vec<u64>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut qcn = Qcn::default();
    for (member, entries) in &values {
        for (priority, number) in entries.iter().enumerate() {
            if !qcn.set(member, priority, *number) {
                return Err(PyValueError::new_err(format!("{member} of priority {priority} cannot be {number}")));
            }
        }
    }
    let message =
        dcbnl::set(device, sequence, &qcn, Order::NATIVE).map_err(|fault| PyValueError::new_err(fault.to_string()))?;
    Ok(PyBytes::new(py, &message))
}

/// The answer to the request of this number, as a JSON object: `error`, `qcn` and `stats`.
#[pyfunction]
pub(crate) fn dcb_reply(octets: &[u8], sequence: u32) -> PyResult<String> {
    let read = dcbnl::reply(octets, sequence, Order::NATIVE);
    let answer = match read.map_err(|fault| PyValueError::new_err(fault.to_string()))? {
        Reply::Refused(error) => json!({"error": error, "qcn": null, "stats": null}),
        Reply::Done => json!({"error": null, "qcn": null, "stats": null}),
        Reply::Values { qcn, stats } => json!({
            "error": null,
            "qcn": qcn.map(|qcn| by_name(qcn.values())),
            "stats": stats.map(|stats| by_name(stats.values())),
        }),
    };
    Ok(answer.to_string())
}

fn by_name(values: impl Iterator<Item = (&'static Member, [u64; 8])>) -> Value {
    values.map(|(member, entries)| (member.name.to_owned(), json!(entries))).collect::<serde_json::Map<_, _>>().into()
}

/// The modes of the two ports of a link whose stations have these congestion notification priorities (bit n for priority n),
/// after their announcements have converged. A JSON list of two, with an object for each priority of the port.
#[pyfunction]
pub(crate) fn dcb_negotiate(left: u8, right: u8) -> PyResult<String> {
    let component = |cnpvs| Component::with(cnpvs).map_err(|fault| PyValueError::new_err(fault.to_string()));
    let components = [component(left)?, component(right)?];
    let mut ports = [Port::new(&components[0]), Port::new(&components[1])];
    // Each side has news at most three times: of its priorities, that it is ready, and nothing more.
    for turn in 0..6 {
        let from = turn % 2;
        let mut frame = [0; MOST_OCTETS];
        let station = Station { address: MacAddress([2, 0, 0, 0, 0, from as u8]), port: "port" };
        let length = ports[from].announce(&components[from], &station, 1, 120, &mut frame).expect("it has room");
        let heard = ports[1 - from].receive(&components[1 - from], Instant::ZERO, &mut frame[..length]);
        debug_assert!(matches!(heard, Received::Announcement { .. }));
    }
    let sides = ports.iter().zip(&components).map(|(port, component)| {
        let tlv = port.tlv(component, 1);
        let priorities = (0..8).filter(|&priority| component.row(priority).is_some()).map(|priority| {
            let (mode, row) = (port.mode(priority), port.row(priority));
            json!({
                "priority": priority,
                "mode": show("port_admin_defense_mode", objects::Managed::number(mode)),
                "alternate_priority": component.alternate(priority, row),
                "cn_tag_out": mode.accepts_cn_tag(),
                "announces_cnpv": tlv.is_some_and(|tlv| tlv.cnpv >> priority & 1 == 1),
                "announces_ready": tlv.is_some_and(|tlv| tlv.ready >> priority & 1 == 1),
                "state": dcbnl::CNDD_STATES[dcbnl::cndd_state(port.state(priority)) as usize],
            })
        });
        priorities.collect::<Vec<_>>()
    });
    Ok(Value::from(sides.map(Value::from).collect::<Vec<_>>()).to_string())
}

fn show(key: &str, number: i128) -> Option<String> {
    objects::object(key).map(|object| object.show(number))
}
