//! The NIC and its trace, with less than the registers have room for.

use penstock_cosim::axil::{Master, NIC_REGISTERS, Shown};
use penstock_cosim::{nic_trace_none, qcn_nic_one};

/// The counters of reaction points and lines that are not there read 0.
#[test]
fn points_and_lines_that_are_not_there_count_nothing() {
    let mut core = qcn_nic_one::Core::new(81);
    let mut given = qcn_nic_one::In { rst_i: true, s_axil_bready: true, s_axil_rready: true, ..Default::default() };
    core.clock(&given);
    given.rst_i = false;
    let mut bus = Master::new(NIC_REGISTERS);
    let counters = ["current_rate", "target_rate", "byte_stage", "time_stage", "tokens", "dropped", "next_sequence"];
    let points = counters.map(|name| (1..4).map(move |i| format!("reaction_point[{i}].{name}")));
    let groups = [("line", "frames"), ("line", "bad"), ("delay_out", "words"), ("delay_in", "late"), ("pfc", "paused")];
    let lines = groups.map(|(group, name)| (1..4).map(move |p| format!("{group}[{p}].{name}")));
    for name in points.into_iter().flatten().chain(lines.into_iter().flatten()) {
        bus.read(&name);
        while bus.busy() {
            let shown = bus.show();
            given.s_axil_arvalid = shown.ar.is_some();
            given.s_axil_araddr = shown.ar.unwrap_or(0);
            let out = core.clock(&given);
            bus.see(&Shown {
                ar: out.s_axil_arready,
                r: out.s_axil_rvalid.then_some((out.s_axil_rresp, out.s_axil_rdata)),
                ..Shown::default()
            });
        }
        assert_eq!(bus.answer(), Some(0), "{name}");
    }
}

/// A NIC without a trace sends no record and drops none.
#[test]
fn no_trace_shows_nothing() {
    let out = nic_trace_none::Core::new(82).clock(&nic_trace_none::In::default());
    assert_eq!(out, nic_trace_none::Out::default());
}
