//! The header and the library have the same structures: the compiler of C says sizes and offsets.

use std::fmt::Write;
use std::mem::{offset_of, size_of};

use penstock::{Ack, Allowance, Echo, Frame, Host, Label, Message, Place, Queue, RateState, Release, Signal};

use crate::examples::{Sanitise, compile, run};

macro_rules! layouts {
    ($($type:ident $c:literal { $($field:ident $name:literal),+ })+) => {
        /// A line for each structure and field: its size, or its offset.
        fn of_rust() -> String {
            let mut text = String::new();
            $(
                writeln!(text, "{} {}", $c, size_of::<$type>()).unwrap();
                $(writeln!(text, "{}.{} {}", $c, $name, offset_of!($type, $field)).unwrap();)+
            )+
            text
        }

        /// A program in C that prints the same.
        fn program() -> String {
            let mut text = String::from("#include <penstock.h>\n#include <stdio.h>\nint main(void) {\n");
            $(
                writeln!(text, "printf(\"{0} %zu\\n\", sizeof({0}));", $c).unwrap();
                $(writeln!(text, "printf(\"{0}.{1} %zu\\n\", offsetof({0}, {1}));", $c, $name).unwrap();)+
            )+
            text + "return PENSTOCK_VERSION == penstock_version() ? 0 : 1;\n}\n"
        }
    };
}

layouts! {
    Message "penstock_message" {
        kind "kind", flags "flags", cp "cp", q_off "q_off", q_delta "q_delta", rate_bps "rate_bps", time_ps "time_ps",
        feedback "feedback", number "number", carried "carried", reserved "reserved"
    }
    Signal "penstock_signal" { to "to", class "class_", flow "flow", octets "octets", message "message" }
    Host "penstock_host" { context "context", draw "draw", send "send" }
    Label "penstock_label" { kind "kind", marked "marked", cp "cp" }
    Release "penstock_release" { flow "flow", octets "octets", seq "seq", last "last", reserved "reserved" }
    Frame "penstock_frame" {
        flow "flow", octets "octets", seq "seq", sent_at_ps "sent_at_ps", weight "weight", flags "flags", label "label"
    }
    Queue "penstock_queue" {
        octets "octets", rate_bps "rate_bps", sent_octets "sent_octets", frames "frames", paused "paused"
    }
    Place "penstock_place" { cp "cp", line_bps "line_bps", capacity_octets "capacity_octets", phase_ps "phase_ps" }
    Echo "penstock_echo" { flags "flags", hops "hops", rx_buffer_level "rx_buffer_level", reserved "reserved" }
    Ack "penstock_ack" { acked_octets "acked_octets", lost_octets "lost_octets", rtt_ps "rtt_ps", echo "echo" }
    Allowance "penstock_allowance" { rate_bps "rate_bps", window_octets "window_octets" }
    RateState "penstock_rate_state" {
        current_bps "current_bps", target_bps "target_bps", byte_count "byte_count", timer_ps "timer_ps",
        byte_stage "byte_stage", time_stage "time_stage", phase "phase", reserved "reserved"
    }
}

#[test]
fn structures_are_laid_out_as_the_header_says() {
    let program = compile("layout", &program(), Sanitise::No);
    assert_eq!(run(&program, ""), of_rust());
}

/// Each function of the header is in the library, and each of the library in the header.
#[test]
fn the_header_declares_what_the_library_has() {
    let names = |text: &str| {
        let mut names: Vec<String> = text
            .match_indices("penstock_")
            .map(|(at, _)| text[at..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect())
            .collect();
        names.sort();
        names.dedup();
        names
    };
    let header = include_str!("../../include/penstock.h");
    let declared: Vec<String> = names(header).into_iter().filter(|name| header.contains(&format!("{name}("))).collect();
    let sources = [
        include_str!("../../src/handles.rs"),
        include_str!("../../src/create.rs"),
        include_str!("../../src/calculators.rs"),
    ];
    let defined: Vec<String> = names(&sources.concat())
        .into_iter()
        .filter(|name| {
            let is = |form: String| sources.iter().any(|source| source.contains(&form));
            is(format!("fn {name}(")) || is(format!("{name}: "))
        })
        .collect();
    assert_eq!(declared, defined);
}
