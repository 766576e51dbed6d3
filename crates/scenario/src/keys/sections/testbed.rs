//! The keys of `[testbed]`.

use penstock_schemes::Duration;

use crate::keys::declare::{section, words};
use crate::keys::ranges::{SPAN, TIME};

words! {
    pub(crate) enum Sender { Iperf3 = "iperf3", Nobody = "none" }
}

section! {
    /// Settings of the testbed (`penstock testbed run`); the simulator ignores them. Times here are the machine's.
    pub(crate) struct Testbed {
        /// Slow-down of the testbed: with 100, a link of 10 Gb/s carries 100 Mb/s, and a second of the scenario takes 100 s.
        /// Results are in the scenario's times and rates.
        time_scale: u64 [1..=1_000_000] = 1;
        /// A run whose frames are later than this at the 99th percentile is marked invalid. Choose it below the time
        /// in which the queue changes much; at 100 Mb/s a frame takes 0.12 ms.
        lateness: Duration [SPAN] = Duration::from_ms(1);
        /// The program that sends the frames of flows: "iperf3", by UDP, or by TCP where the flow has a transport; or "none" if only the
        /// applications below send.
        flows: Sender = Sender::Iperf3;
        application: Vec<Application> = Vec::new();
    }
}

section! {
    /// A program that runs in a host, such as ping or curl. Names of hosts in braces stand for their addresses, as in "ping -c 5 {h2}".
    pub(crate) struct Application {
        /// The host.
        host: String;
        /// The command, without a shell.
        run: String;
        /// When it begins, after the start of the run.
        start: Duration [TIME] = Duration::ZERO;
    }
}
