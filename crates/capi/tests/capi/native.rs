//! Every scheme through the interface beside the same state machine called directly: the same events, the same answers.

use std::ffi::c_void;

use penstock::*;
use penstock_schemes::info::Configuration;
use penstock_schemes::{
    self as schemes, BitRate, Class, CongestionPoint, CpId, Draw, Duration, Fate, FlowKey, Instant, NotificationPoint,
    Octets, Out, ReactionPoint, SCHEMES, Scheme as _, SchemeConfig, Signal as _, To, Visitor, dcqcn,
};

use crate::{Random, scheme};

const LINE: u64 = 10_000_000_000;

/// The random words of one side, and the signals that it sent.
#[derive(Default)]
struct Side {
    words: u64,
    sent: Vec<Signal>,
}

impl Side {
    fn word(&mut self) -> u32 {
        let mut random = Random(self.words);
        let word = random.next();
        self.words = random.0;
        word
    }
}

unsafe extern "C" fn draw(context: *mut c_void) -> u32 {
    // SAFETY: the context is a side that outlives its points.
    unsafe { &mut *context.cast::<Side>() }.word()
}

unsafe extern "C" fn send(context: *mut c_void, signal: *const Signal) {
    // SAFETY: likewise; the signal lives as long as the call.
    unsafe { (*context.cast::<Side>()).sent.push(*signal) }
}

/// The side of the native calls, from whose signals are kept their addressee and length, and messages as they were.
#[derive(Default)]
struct Words(Side);

impl Draw for Words {
    fn draw(&mut self) -> u32 {
        self.0.word()
    }
}

struct Sent<S: schemes::Scheme>(Vec<(To, Class, S::Signal)>);

impl<S: schemes::Scheme> Out<S> for Sent<S> {
    fn send(&mut self, to: To, class: Class, signal: S::Signal) {
        self.0.push((to, class, signal));
    }
}

/// Runs a source, a queue and a destination both ways.
struct Beside<'a> {
    name: &'a str,
    handle: *mut Scheme,
}

impl Visitor for Beside<'_> {
    /// How many events had an effect: signals, acknowledgements, marks.
    type Output = usize;

    fn visit<S: schemes::Scheme>(self, configs: &[S::Config]) -> usize {
        let config = &configs[0];
        let mut side = Side::default();
        let host = Host { context: (&raw mut side).cast(), draw: Some(draw), send: Some(send) };
        let place = Place { cp: 0x51, line_bps: LINE, capacity_octets: 150_000, phase_ps: 3_000 };
        let (mut rp, mut cp, mut np) = (std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: all pointers are of this function, and live until its end.
        let made = unsafe {
            [
                penstock_rp_create(self.handle, LINE, &raw const host, &raw mut rp),
                penstock_cp_create(self.handle, &raw const place, &raw const host, &raw mut cp),
                penstock_np_create(self.handle, 7, &raw const host, &raw mut np),
            ]
        };
        let offered = made.map(|status| status == Status::Ok);
        let (mut words, mut sent) = (Words::default(), Sent::<S>(Vec::new()));
        let native_place =
            schemes::Place { cp: CpId(0x51), line: BitRate(LINE), capacity: Octets(150_000), phase: Duration(3_000) };
        let mut native_rp = S::Rp::new(config, BitRate(LINE));
        let mut native_cp = S::Cp::new(config, native_place);
        let mut native_np = S::Np::new(config, FlowKey(7));
        if offered != [true; 3] {
            return usize::from(offered.contains(&true));
        }
        let mut random = Random(u64::from(self.name.len() as u32) + 9);
        let (mut now, mut seq, mut effects) = (0_u64, 0_u64, 0);
        // SAFETY: as above.
        unsafe { penstock_rp_start(rp, now, 7) };
        native_rp.on_start(Instant(now), FlowKey(7), &mut words, &mut sent);
        for _ in 0..4000 {
            now += u64::from(random.below(3_000_000));
            let len = u64::from(random.below(140_000));
            let at = Instant(now);
            // SAFETY: as above, for all calls of this loop.
            unsafe {
                if native_rp.next_timeout().is_some_and(|due| due <= at) {
                    penstock_rp_timeout(rp, now);
                    native_rp.on_timeout(at, &mut words, &mut sent);
                }
                let release = Release { flow: 7, octets: 1518, seq, last: 0, reserved: 0 };
                let mut label = Label::default();
                penstock_rp_send(rp, now, &raw const release, &raw mut label);
                let native_release = schemes::Release { flow: FlowKey(7), octets: 1518, seq: Octets(seq), last: false };
                let mut tag = native_rp.on_send(at, native_release, &mut words, &mut sent);
                assert_eq!(label, S::label(&tag).into());
                let mut frame = Frame { flow: 7, octets: 1518, seq, sent_at_ps: now, weight: 1, flags: 0, label };
                seq += 1518;
                let mut queue =
                    Queue { octets: len, rate_bps: LINE, sent_octets: seq, frames: (len / 1518) as u32, paused: 0 };
                let native_queue = schemes::Queue {
                    len: Octets(len),
                    frames: queue.frames,
                    rate: BitRate(LINE),
                    sent: Octets(seq),
                    paused: false,
                };
                macro_rules! seen {
                    () => {
                        schemes::Frame {
                            flow: FlowKey(7),
                            octets: 1518,
                            weight: 1,
                            seq: Octets(frame.seq),
                            last: false,
                            trimmed: false,
                            sent_at: at,
                            tag: &mut tag,
                        }
                    };
                }
                if native_cp.next_timeout().is_some_and(|due| due <= at) {
                    penstock_cp_timeout(cp, now, &raw mut queue);
                    native_cp.on_timeout(at, &native_queue, &mut words, &mut sent);
                }
                penstock_cp_arrival(cp, now, false, &raw mut frame, &raw mut queue);
                native_cp.on_arrival(at, seen!(), Fate::Queued, &native_queue, &mut words, &mut sent);
                if S::Cp::MARKS {
                    let marked = penstock_cp_mark(cp, now, len, &raw mut frame);
                    assert_eq!(marked, native_cp.mark(at, seen!(), Octets(len), &mut words));
                    effects += usize::from(marked);
                }
                penstock_cp_transmission(cp, now, &raw mut frame, &raw mut queue);
                native_cp.on_transmission(at, seen!(), &native_queue);
                penstock_cp_departure(cp, now, &raw mut frame, &raw mut queue);
                native_cp.on_departure(at, seen!(), &native_queue);
                assert_eq!(frame.label, S::label(&tag).into());
                if native_np.next_timeout().is_some_and(|due| due <= at) {
                    penstock_np_timeout(np, now);
                    native_np.on_timeout(at, &mut words, &mut sent);
                }
                penstock_np_frame(np, now, &raw mut frame);
                native_np.on_frame(at, seen!(), &mut words, &mut sent);
                let mut echo = Echo::default();
                let acknowledged = penstock_np_acknowledge(np, now, &raw mut frame, &raw mut echo);
                let native_echo = native_np.acknowledge(at, seen!());
                assert_eq!(acknowledged, native_echo.is_some());
                if let Some(native_echo) = native_echo {
                    assert_eq!(echo, S::report(&native_echo).into());
                    let rtt = 10_000_000 + u64::from(random.below(90_000_000));
                    let mut ack = Ack { acked_octets: 1518, lost_octets: 0, rtt_ps: rtt, echo };
                    assert_eq!(penstock_rp_ack(rp, now, 7, &raw mut ack), Status::Ok);
                    let ack =
                        schemes::Ack { acked: Octets(1518), lost: Octets(0), rtt: Duration(rtt), echo: native_echo };
                    native_rp.on_ack(at, FlowKey(7), &ack, &mut words, &mut sent);
                    effects += 1;
                }
                let (theirs, ours) = (std::mem::take(&mut side.sent), std::mem::take(&mut sent.0));
                assert_eq!(theirs.len(), ours.len());
                for (mut signal, (to, _, native_signal)) in theirs.into_iter().zip(ours) {
                    assert_eq!(signal.octets, u32::from(native_signal.octets()));
                    effects += 1;
                    match to {
                        To::Source(flow) => {
                            assert_eq!((signal.to, signal.flow), (0, flow.0));
                            assert_eq!(penstock_rp_message(rp, now, flow.0, &raw mut signal.message), Status::Ok);
                            native_rp.on_signal(at, flow, native_signal, &mut words, &mut sent);
                        }
                        To::Destination(flow) => {
                            let mut native_signal = native_signal;
                            assert_eq!(
                                penstock_cp_probe_departure(cp, now, &raw mut signal.message, &raw mut queue),
                                Status::Ok
                            );
                            native_cp.on_probe_departure(at, &mut native_signal, &native_queue);
                            assert_eq!(penstock_np_message(np, now, &raw mut signal.message), Status::Ok);
                            native_np.on_signal(at, flow, native_signal, &mut words, &mut sent);
                        }
                        To::PreviousHop(_) => {}
                    }
                }
                let mut allowance = Allowance::default();
                penstock_rp_allowance(rp, &raw mut allowance);
                assert_eq!(allowance, native_rp.allowance().into(), "{} at {now} ps", self.name);
                assert_eq!(penstock_rp_next_timeout(rp), native_rp.next_timeout().map_or(u64::MAX, |at| at.0));
                assert_eq!(penstock_rp_limiting(rp), native_rp.limiting());
            }
        }
        assert_eq!(side.words, words.0.words, "{}: as many random words", self.name);
        // SAFETY: they are alive.
        unsafe {
            penstock_rp_destroy(rp);
            penstock_cp_destroy(cp);
            penstock_np_destroy(np);
        }
        effects + 2
    }
}

#[test]
fn every_scheme_answers_as_its_native_state_machine() {
    let mut whole = Vec::new();
    for info in SCHEMES {
        let handle = scheme(info.name, "").unwrap();
        let config = SchemeConfig::with_defaults(info.name).unwrap();
        let effects = SchemeConfig::visit(&[config], Beside { name: info.name, handle });
        // SAFETY: it is alive.
        unsafe { penstock_scheme_destroy(handle) };
        if effects > 1 {
            assert!(effects > 2 || info.name == "none", "{}: no event had an effect", info.name);
            whole.push(info.name);
        }
    }
    let expected = [
        "none",
        "bcn",
        "fecn",
        "efecn",
        "e2cm",
        "qcn",
        "qcn-bs",
        "qcn-adaptive",
        "qcn-bs-adaptive",
        "af-qcn",
        "fqcn",
        "smcc",
        "dcqcn",
        "dcqcn-window",
        "timely",
        "dctcp",
        "theta-powertcp",
        "nscc",
    ];
    assert_eq!(whole, expected, "schemes whose three points are offered");
}

/// The events of a reaction point of DCQCN and the rate after each, as lines: CNPs at random, frames at the rate, timers.
pub(crate) fn dcqcn_trace() -> Vec<(String, String)> {
    type S = dcqcn::Dcqcn;
    let info = &S::INFO;
    let mut values: Vec<_> = info.parameters.iter().map(|p| p.default).collect();
    for (name, value) in info.profile("hpcc-100g").unwrap().settings {
        values[info.parameters.iter().position(|p| p.name == *name).unwrap()] = *value;
    }
    let config = dcqcn::Config::from_values(&values).unwrap();
    let mut rp = <S as schemes::Scheme>::Rp::new(&config, BitRate(100_000_000_000));
    let (mut words, mut sent, mut random) = (Words::default(), Sent::<S>(Vec::new()), Random(3));
    rp.on_start(Instant(0), FlowKey(1), &mut words, &mut sent);
    let (mut next_frame, mut next_cnp, mut seq, mut trace) = (0_u64, 40_000_000_u64, 0_u64, Vec::new());
    for _ in 0..5000 {
        let timer = rp.next_timeout().map_or(u64::MAX, |at| at.0);
        let now = next_frame.min(next_cnp).min(timer);
        let event = if now == timer {
            rp.on_timeout(Instant(now), &mut words, &mut sent);
            "timeout".to_owned()
        } else if now == next_cnp {
            next_cnp += 20_000_000 + u64::from(random.below(400_000_000));
            rp.on_signal(Instant(now), FlowKey(1), dcqcn::Cnp, &mut words, &mut sent);
            "cnp".to_owned()
        } else {
            let release = schemes::Release { flow: FlowKey(1), octets: 1048, seq: Octets(seq), last: false };
            rp.on_send(Instant(now), release, &mut words, &mut sent);
            seq += 1048;
            next_frame = now + 1048 * 8 * 1_000_000_000_000 / rp.allowance().rate.0;
            "send 1048".to_owned()
        };
        let due = rp.next_timeout().map_or(u64::MAX, |at| at.0);
        trace.push((format!("{now} {event}\n"), format!("{now} {} {due}\n", rp.allowance().rate.0)));
    }
    let rates: std::collections::BTreeSet<&String> = trace.iter().map(|(_, rate)| rate).collect();
    assert!(rates.len() > 1000, "the rate moves");
    trace
}
