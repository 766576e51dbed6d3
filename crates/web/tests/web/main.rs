//! The engine for a browser: its numbers, schemes of the reader, what a page reads.

mod export;
mod own;
mod same;

use penstock_schemes::Instant;
use penstock_web::Session;

/// Four sources at one port; short.
const FOUR: &str = r#"
    question = "Is it the same run?"
    duration = "20 ms"
    scheme = "qcn"
    [topology.star]
    hosts = 5
    link_rate = "10 Gbps"
    link_delay = "5 us"
    buffer = "150 KB"
    [[flow]]
    from = "h0..h3"
    to = "h4"
    stagger = "1 ms"
"#;

fn to_end(text: &str, scheme: Option<&str>, work: u64) -> Session {
    let mut session = Session::new(text, scheme).expect("the scenario is right");
    while !session.advance(Instant::NEVER, work).expect("it fits into a page") {}
    session
}
