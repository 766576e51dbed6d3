//! Callers that do wrong: texts that name nothing, null pointers, numbers without sense, calls in any order.

use std::ptr::null_mut;

use penstock::*;
use penstock_schemes::SCHEMES;

use crate::{Random, scheme};

#[test]
fn what_is_refused_says_why() {
    let refusal = |name: &str, parameters: &str| scheme(name, parameters).unwrap_err();
    assert_eq!(refusal("dcqnc", ""), (Status::UnknownScheme, "there is no scheme \"dcqnc\"".into()));
    assert_eq!(refusal("dcqcn", "kmin = 4 KB"), (Status::UnknownParameter, "dcqcn has no parameter \"kmin\"".into()));
    let (status, said) = refusal("dcqcn", "profile = hpcc-99g");
    assert_eq!(status, Status::UnknownParameter);
    assert!(said.starts_with("dcqcn has no profile \"hpcc-99g\" ("), "{said}");
    let (status, said) = refusal("dcqcn", "k_min = 4");
    assert_eq!(status, Status::BadValue);
    assert!(said.starts_with("k_min: "), "{said}");
    let (status, said) = refusal("dcqcn", "k_min = 40 KB; k_max = 30 KB");
    assert_eq!((status, said.as_str()), (Status::BadValue, "k_max: 30 KB is below k_min, 40 KB"));
    let (status, said) = refusal("dcqcn", "k_min");
    assert_eq!((status, said.as_str()), (Status::BadValue, "\"k_min\" is not of the form name = value"));
    let (status, said) = refusal("timely", "d_min = auto");
    assert_eq!(status, Status::BadValue, "{said}");
}

#[test]
fn null_handles_do_nothing() {
    // SAFETY: null is what is asked about.
    unsafe {
        assert_eq!(penstock_scheme_create(null_mut(), null_mut(), null_mut(), null_mut(), 0), Status::Null);
        penstock_rp_start(null_mut(), 0, 0);
        penstock_rp_send(null_mut(), 0, null_mut(), null_mut());
        assert_eq!(penstock_rp_next_timeout(null_mut()), u64::MAX);
        assert_eq!(penstock_rp_message(null_mut(), 0, 0, null_mut()), Status::Null);
        assert!(!penstock_cp_mark(null_mut(), 0, 0, null_mut()));
        assert_eq!(penstock_token_bucket_create(1, 1, 1, 1, null_mut()), Status::Null);
        let mut bucket = null_mut();
        assert_eq!(penstock_token_bucket_create(1, 0, 1, 1, &raw mut bucket), Status::BadNumber);
        penstock_rp_destroy(null_mut());
        penstock_scheme_destroy(null_mut());
    }
}

/// A number of any size, often at an end of its range.
fn number(random: &mut Random) -> u64 {
    let word = u64::from(random.next()) << 32 | u64::from(random.next());
    match random.below(6) {
        0 => 0,
        1 => u64::MAX,
        2 => word,
        3 => word >> 40,
        4 => 1 << random.below(64),
        _ => word >> random.below(64),
    }
}

/// A debug build panics where a sum overflows, and a panic here ends the program.
#[test]
fn no_calls_in_any_order_end_the_program() {
    let mut random = Random(17);
    let host = Host { context: null_mut(), draw: None, send: None };
    for info in SCHEMES {
        let handle = scheme(info.name, "").unwrap();
        for _ in 0..6 {
            let (mut rp, mut cp, mut np) = (null_mut(), null_mut(), null_mut());
            let n = &mut random;
            // SAFETY: the handles are of this function, or null.
            unsafe {
                let line = [10_000_000_000, number(n)][n.below(2) as usize];
                penstock_rp_create(handle, line, &raw const host, &raw mut rp);
                let place = Place {
                    cp: number(n),
                    line_bps: line,
                    capacity_octets: number(n),
                    phase_ps: number(n) >> n.below(40),
                };
                penstock_cp_create(handle, &raw const place, &raw const host, &raw mut cp);
                penstock_np_create(handle, n.next(), &raw const host, &raw mut np);
                for _ in 0..2000 {
                    let (now, flow) = (number(n), n.below(4));
                    let mut label = Label { kind: n.below(7), marked: n.below(3), cp: number(n) };
                    let mut frame = Frame {
                        flow,
                        octets: number(n) as u32,
                        seq: number(n),
                        sent_at_ps: number(n),
                        weight: number(n) as u32,
                        flags: n.below(5),
                        label,
                    };
                    let mut queue = Queue {
                        octets: number(n),
                        rate_bps: number(n),
                        sent_octets: number(n),
                        frames: n.next(),
                        paused: n.below(2),
                    };
                    let mut message = Message {
                        kind: n.below(11),
                        flags: n.below(5),
                        cp: number(n),
                        q_off: number(n) as i64,
                        q_delta: number(n) as i64,
                        rate_bps: number(n),
                        time_ps: number(n),
                        feedback: number(n) as u32,
                        number: n.next(),
                        carried: n.next(),
                        reserved: 0,
                    };
                    let mut echo =
                        Echo { flags: n.below(9), hops: n.next() as u8, rx_buffer_level: n.next() as u8, reserved: 0 };
                    let mut ack = Ack { acked_octets: number(n), lost_octets: number(n), rtt_ps: number(n), echo };
                    let mut release = Release { flow, octets: n.next(), seq: number(n), last: n.below(2), reserved: 0 };
                    match n.below(15) {
                        0 => penstock_rp_start(rp, now, flow),
                        1 => penstock_rp_stop(rp, now, flow),
                        2 => drop(penstock_rp_message(rp, now, flow, &raw mut message)),
                        3 => drop(penstock_rp_ack(rp, now, flow, &raw mut ack)),
                        4 => penstock_rp_silence(rp, now, flow, number(n)),
                        5 => penstock_rp_send(rp, now, &raw mut release, &raw mut label),
                        6 => penstock_rp_timeout(rp, now),
                        7 => penstock_rp_round_trip(rp, number(n)),
                        8 => penstock_cp_arrival(cp, now, n.below(2) == 0, &raw mut frame, &raw mut queue),
                        9 => drop(penstock_cp_mark(cp, now, number(n), &raw mut frame)),
                        10 => penstock_cp_departure(cp, now, &raw mut frame, &raw mut queue),
                        11 => penstock_cp_timeout(cp, now, &raw mut queue),
                        12 => penstock_np_frame(np, now, &raw mut frame),
                        13 => drop(penstock_np_acknowledge(np, now, &raw mut frame, &raw mut echo)),
                        _ => drop(penstock_np_message(np, now, &raw mut message)),
                    }
                }
                penstock_rp_destroy(rp);
                penstock_cp_destroy(cp);
                penstock_np_destroy(np);
            }
        }
        // SAFETY: it is alive.
        unsafe { penstock_scheme_destroy(handle) };
    }
}
