//! Traces computed by hand, long flows beside their theory, and the parameters.

mod golden_traces;
mod golden_traces_of_signals;
mod throughput_laws;

use super::*;

#[test]
fn the_initial_window_is_that_of_rfc_6928() {
    let window = |mss| Config { mss: Octets(mss), ..Config::default() }.first_window();
    // min(10 * 1460, max(2 * 1460, 14 600)); min(5360, 14 600); jumbo: max(2 * 8960, 14 600).
    assert_eq!((window(1460), window(536), window(8960)), (14_600, 5360, 17_920));
}

#[test]
fn every_parameter_accepts_its_default_and_names_its_source() {
    for p in Config::PARAMETERS {
        assert!(p.accepts(p.default), "{}", p.name);
        assert!(!p.source.is_empty() && p.description.ends_with('.'), "{}", p.name);
    }
}

#[test]
fn dctcp_is_marked_without_being_asked() {
    assert!(Config { congestion: Congestion::Dctcp, ..Config::default() }.marks());
    assert!(!Config::default().marks());
}
