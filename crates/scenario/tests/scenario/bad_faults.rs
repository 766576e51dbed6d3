//! Every mistake in a table about faults is refused with its location.

use crate::common::plan_or_message as outcome;

const GOOD: &str = r#"question = "Does it work?"
duration = "1 s"
scheme = "none"
[topology.star]
hosts = 4
link_rate = "10 Gbps"
buffer = "1 MB"
[[flow]]
from = "h0..h2"
to = "h3"
"#;

#[test]
fn each_mistake_in_a_fault_is_named() {
    outcome(GOOD).unwrap();
    for (table, expected) in [
        (
            "[[change]]\nlink = \"sw0--h3\"\nat = \"0.1 s\"\nstate = \"up\"\ndown_for = \"1 ms\"",
            "change.0.down_for: only a link that goes down comes back",
        ),
        (
            "[[change]]\nlink = \"sw0--h3\"\nat = \"0.1 s\"\nstate = \"down\"\nevery = \"1 ms\"",
            "change.0.every: a change that is repeated has to be undone",
        ),
        (
            "[[change]]\nlink = \"sw0--h3\"\nat = \"0.1 s\"\nrate = \"1 Gbps\"\nevery = \"1 ms\"",
            "change.0.every: a change that is repeated has to be undone",
        ),
        (
            "[[change]]\nlink = \"sw0--h3\"\nat = \"0.1 s\"\nstate = \"down\"\nevery = \"1 ms\"\ndown_for = \"1 ms\"",
            "change.0.down_for: the link would stay down for 1 ms of every 1 ms",
        ),
        (
            "[[change]]\nlink = \"sw0--h3\"\nat = \"0.1 s\"\nstate = \"down\"\ntimes = 3",
            "change.0.times: it limits repetitions, and there are none (add every",
        ),
        (
            "[[change]]\nlink = \"sw0--h3\"\nat = \"0.1 s\"\nstate = \"down\"\nuntil = \"0.2 s\"",
            "change.0.until: it limits repetitions, and there are none",
        ),
        (
            "[[change]]\nlink = \"sw0--h3\"\nat = \"0.1 s\"\nstate = \"down\"\ndown_for = \"1 ns\"\nevery = \"2 ns\"",
            "changes of links; 100000 are the most",
        ),
        ("[network]\nconvergence = \"sometimes\"", "network.convergence: \"sometimes\""),
        (
            "[network]\nconvergence = { uniform = { minimum = \"2 ms\", maximum = \"1 ms\" } }",
            "network.convergence.uniform.maximum: not above the minimum of 2 ms",
        ),
        ("[[impairment]]\n", "impairment.0.loss: an impairment has loss, ber or burst (for instance"),
        ("[[impairment]]\nloss = 0.1\nber = 1e-9", "impairment.0.loss: an impairment has one of loss, ber and burst"),
        ("[[impairment]]\nloss = 1.5", "impairment.0.loss: expected a number from 0 to 1"),
        ("[[impairment]]\nburst = { p = 0.1 }", "impairment.0.burst.r"),
        (
            "[[impairment]]\nloss = 0.1\nlinks = [\"sw0->h8\"]",
            "impairment.0.links: there is no link \"sw0->h8\" (did you mean",
        ),
        (
            "[[impairment]]\nloss = 0.1\nlinks = [\"sw0--h1\", \"h1->sw0\"]",
            "impairment.0.links: the link \"h1->sw0\" is listed twice",
        ),
        (
            "[[impairment]]\nloss = 0.1\nfrom = \"1 s\"",
            "impairment.0.from: an impairment would begin at or after the end",
        ),
        (
            "[[impairment]]\nloss = 0.1\nfrom = \"2 ms\"\nuntil = \"2 ms\"",
            "impairment.0.until: an impairment would end before it begins",
        ),
        (
            "[[host]]\ndrain_rate = \"1 Gbps\"\nnames = \"h1\"\nbuffer = \"1 KB\"",
            "host.0.buffer: 1 KB are too small for a frame of",
        ),
        ("[[host]]\ndrain_rate = \"1 Gbps\"\nnames = \"sw0\"\nbuffer = \"1 MB\"", "host.0.names: \"sw0\" is a switch"),
        (
            "[[host]]\ndrain_rate = \"1 Gbps\"\nnames = [\"h1\", \"h0..h2\"]\nbuffer = \"1 MB\"",
            "host.0.names: the host \"h1\" has a table [[host]] already",
        ),
        (
            "[[host]]\ndrain_rate = \"1 Gbps\"\nnames = \"all\"\nbuffer = \"1 MB\"\nxoff = \"1 KB\"",
            "host.0.xoff: there is no flow control",
        ),
        (
            "[[host]]\ndrain_rate = \"1 Gbps\"\nnames = \"all\"\nbuffer = \"1 MB\"\nxoff = \"2 MB\"\n[pfc]",
            "host.0.xoff: 2 MB are beyond the receive buffer",
        ),
        (
            "[[host]]\ndrain_rate = \"1 Gbps\"\nnames = \"all\"\nbuffer = \"1 MB\"\nxon = \"500 KB\"\n[pfc]",
            "host.0.xon: 500 KB are not below xoff, 500 KB",
        ),
        ("[[event]]\nkind = \"pfc-storm\"\nhost = \"h1\"\nfrom = \"0 s\"", "event.0.kind: there is no flow control"),
        ("[[event]]\nkind = \"pfc-storm\"\nhost = \"sw0\"\nfrom = \"0 s\"\n[pfc]", "event.0.host: \"sw0\" is a switch"),
        (
            "[[event]]\nkind = \"pfc-storm\"\nhost = \"h1\"\nfrom = \"1 s\"\n[pfc]",
            "event.0.from: an event at or after the end",
        ),
        (
            "[[event]]\nkind = \"pfc-storm\"\nhost = \"h1\"\nfrom = \"2 ms\"\nuntil = \"1 ms\"\n[pfc]",
            "event.0.until: a storm would end before it begins",
        ),
        (
            "[[event]]\nkind = \"pfc-storm\"\nhost = \"h1\"\nfrom = \"0 s\"\npriorities = [5]\n[pfc]",
            "event.0.priorities: priority 5 has no flow control",
        ),
        (
            "[[event]]\nkind = \"pfc-storm\"\nhost = \"h1\"\nfrom = \"0 s\"\n[[event]]\nkind = \"pfc-storm\"\nhost = \"h1\"\nfrom = \"1 ms\"\n[pfc]",
            "event.1.from: two storms of h1 would pause",
        ),
        ("[[event]]\nkind = \"fire\"\nhost = \"h1\"\nfrom = \"0 s\"", "event.0.kind: \"fire\" is not known here"),
    ] {
        let message = outcome(&format!("{GOOD}{table}\n")).map(|_| ()).expect_err(table);
        assert!(message.contains(expected), "{table}\n gives {message}\n not {expected}");
    }
}
