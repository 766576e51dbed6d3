//! Calls by hand: times that were worked out, the order of events of one time, and calls that are refused.

use std::ptr::{null, null_mut};

use penstock_engine::*;

use crate::{Handle, STAR};

const IDLE: u32 = 0;
const DELIVERED: u32 = 1;
const ACKNOWLEDGED: u32 = 2;
const ALARM: u32 = 3;
const END: u32 = 4;
const US: u64 = 1_000_000;

/// The job of a star with a transport.
const TRANSPORTED: &str = "[[job]]\ngraph = \"outside\"\ntransport = \"go-back-n\"\n";

/// A frame of 1000 octets takes 80 ns at 100 Gb/s, twice, and 1 us on each of two links.
#[test]
fn a_message_without_a_transport_is_acknowledged_as_it_arrives() {
    let engine = Handle::new(STAR);
    assert_eq!(engine.send(0, 1, 1000, 77), Status::Ok);
    let at = 2 * (80_000 + US);
    assert_eq!(engine.events(3), [(DELIVERED, 77, at), (ACKNOWLEDGED, 77, at), (IDLE, 0, at)]);
    assert_eq!(engine.now(), at);
    // The connection is there: the second message starts at this time.
    assert_eq!(engine.send(0, 1, 1000, 78), Status::Ok);
    assert_eq!(engine.events(2), [(DELIVERED, 78, 2 * at), (ACKNOWLEDGED, 78, 2 * at)]);
}

/// A segment of 1000 octets has 44 octets of IP, UDP and RoCEv2 around its data, and 18 of Ethernet: 1062, 84.96 ns a link.
/// The acknowledgement has 4 more and no data: 66, 5.28 ns.
#[test]
fn a_sender_learns_of_the_end_from_the_acknowledgement() {
    let engine = Handle::new(&format!("{STAR}{TRANSPORTED}"));
    assert_eq!(engine.send(2, 3, 1000, 5), Status::Ok);
    let arrived = 2 * (84_960 + US);
    let acknowledged = arrived + 2 * (5_280 + US);
    assert_eq!(engine.events(3), [(DELIVERED, 5, arrived), (ACKNOWLEDGED, 5, acknowledged), (IDLE, 0, acknowledged)]);
}

/// Many messages of one connection end in their order, and one number of the engine is used again: no event is lost.
#[test]
fn messages_of_a_connection_end_in_order() {
    for transport in ["", "transport = \"go-back-n\"\n", "transport = \"selective\"\n", "transport = \"tcp\"\n"] {
        // Acknowledgements of TCP are delayed.
        let star = STAR.replace("10 ms", "1 s");
        let engine = Handle::new(&format!("{star}[[job]]\ngraph = \"outside\"\n{transport}"));
        let (mut delivered, mut acknowledged) = (Vec::new(), Vec::new());
        for id in 0..200 {
            assert_eq!(engine.send(0, 3, 1 + id * 37, id), Status::Ok);
            if id % 50 == 49 {
                loop {
                    match engine.next().unwrap() {
                        (DELIVERED, id, _) => delivered.push(id),
                        (ACKNOWLEDGED, id, _) => acknowledged.push(id),
                        (kind, ..) => break assert_eq!(kind, IDLE),
                    }
                }
            }
        }
        let all: Vec<u64> = (0..200).collect();
        assert_eq!((delivered, acknowledged), (all.clone(), all), "{transport}");
    }
}

#[test]
fn events_of_one_time_come_in_the_order_of_their_calls() {
    let engine = Handle::new(STAR);
    let at = 2 * (80_000 + US);
    // Two messages to different hosts end at one time, with alarms before, between and after their calls.
    assert_eq!(engine.schedule(at, 1), Status::Ok);
    assert_eq!(engine.send(0, 1, 1000, 2), Status::Ok);
    assert_eq!(engine.schedule(at, 3), Status::Ok);
    assert_eq!(engine.send(2, 3, 1000, 4), Status::Ok);
    assert_eq!(engine.schedule(at, 5), Status::Ok);
    assert_eq!(engine.schedule(at - 1, 6), Status::Ok);
    assert_eq!(engine.events(2), [(ALARM, 6, at - 1), (ALARM, 1, at)]);
    // An alarm of this time that is set now comes after all that are there.
    assert_eq!(engine.schedule(0, 7), Status::Ok);
    let rest =
        [(DELIVERED, 2), (ACKNOWLEDGED, 2), (ALARM, 3), (DELIVERED, 4), (ACKNOWLEDGED, 4), (ALARM, 5), (ALARM, 7)];
    assert_eq!(engine.events(7), rest.map(|(kind, id)| (kind, id, at)));
}

/// Two ranks a host, with a link of 400 Gb/s and 500 ns: 1000 octets take 20 ns, and the second message waits for the
/// first.
#[test]
fn ranks_of_one_host_have_their_own_link() {
    let job = "[[job]]\ngraph = \"outside\"\nhosts = \"h1..h2\"\nranks_per_host = 2\nlocal_rate = \"400 Gbps\"\n\
        local_latency = \"500 ns\"\n";
    let engine = Handle::new(&format!("{STAR}{job}"));
    // SAFETY: the engine is alive, and the texts end.
    let (ranks, second, third, first_of, none) = unsafe {
        (
            penstock_engine_ranks(engine.0),
            std::ffi::CStr::from_ptr(penstock_engine_host(engine.0, 1)),
            std::ffi::CStr::from_ptr(penstock_engine_host(engine.0, 2)),
            penstock_engine_rank(engine.0, c"h2".as_ptr()),
            penstock_engine_rank(engine.0, c"h0".as_ptr()),
        )
    };
    assert_eq!((ranks, second, third, first_of, none), (4, c"h1", c"h2", 2, u32::MAX));
    assert_eq!((engine.send(0, 1, 1000, 1), engine.send(0, 1, 1000, 2)), (Status::Ok, Status::Ok));
    assert_eq!(engine.send(0, 2, 1000, 3), Status::Ok);
    let inside =
        [(DELIVERED, 1, 520_000), (ACKNOWLEDGED, 1, 520_000), (DELIVERED, 2, 540_000), (ACKNOWLEDGED, 2, 540_000)];
    assert_eq!(engine.events(4), inside);
    assert_eq!(engine.next(), Ok((DELIVERED, 3, 2 * (80_000 + US))));
}

/// A run has the same events twice, with other traffic, losses and a scheme; another seed gives others.
#[test]
fn the_same_calls_give_the_same_events() {
    let toml = |seed: u32| {
        format!(
            "question = \"?\"\nseed = {seed}\nduration = \"10 ms\"\nscheme = \"dcqcn\"\n\
             [topology.star]\nhosts = 4\nlink_rate = \"10 Gbps\"\nlink_delay = \"1 us\"\nbuffer = \"100 KB\"\n\
             [[load]]\nload = 0.3\nsize = {{ exponential = {{ mean = \"20 KB\" }} }}\n{TRANSPORTED}"
        )
    };
    let play = |seed| {
        let engine = Handle::new(&toml(seed));
        for id in 0..12 {
            assert_eq!(engine.send(id % 4, (id + 1 + id / 4) % 4, 30_000, id.into()), Status::Ok);
        }
        engine.events(24)
    };
    let (one, same) = (play(1), play(1));
    assert_eq!(one, same);
    assert_ne!(one, play(2));
}

#[test]
fn wrong_calls_are_refused_with_a_sentence_and_change_nothing() {
    let engine = Handle::new(STAR);
    for (from, to, octets, part) in [
        (0, 4, 1, "there is no rank 4: ranks are 0 to 3"),
        (u32::MAX, 0, 1, "there is no rank 4294967295"),
        (2, 2, 1, "rank 2 would send to itself"),
        (0, 1, 0, "a message of 0 octets"),
        (0, 1, (1 << 62) + 1, "1 to 2^62"),
        (0, 1, 1 << 63, "1 to 2^62"),
        (0, 1, u64::MAX, "1 to 2^62"),
    ] {
        assert_eq!(engine.send(from, to, octets, 1), Status::BadCall);
        assert!(engine.error().contains(part), "{}", engine.error());
    }
    assert_eq!(engine.schedule(u64::MAX, 1), Status::BadCall);
    assert_eq!(engine.send(0, 1, 1 << 62, 1), Status::Ok);
    assert_eq!(engine.send(0, 1, 1, 1), Status::BadCall);
    assert!(engine.error().contains("together"), "{}", engine.error());
    assert_eq!(engine.now(), 0);
    // The large message is under way until the run ends.
    let end = 10_000 * US;
    assert_eq!(engine.next(), Ok((END, 0, end)));
    assert_eq!((engine.send(0, 1, 1, 1), engine.schedule(0, 1)), (Status::Ended, Status::Ended));
    assert!(engine.error().contains("longer duration"), "{}", engine.error());
    assert_eq!(engine.next(), Ok((END, 0, end)));
    assert_eq!((engine.finish(), engine.now()), (Status::Ok, end));
    assert_eq!(
        (engine.send(0, 1, 1, 1), engine.next(), engine.finish()),
        (Status::Ended, Err(Status::Ended), Status::Ended)
    );
    assert!(engine.summary().is_some_and(|summary| summary.contains("\"scheme\"")));
}

#[test]
fn null_pointers_and_texts_that_are_none_are_refused() {
    let mut event = Event::default();
    let not_utf8 = [0xff_u8, 0];
    // SAFETY: null is allowed everywhere, and the text ends.
    unsafe {
        assert_eq!(penstock_engine_create(c"".as_ptr(), null(), null(), null_mut()), Status::Null);
        assert_eq!(penstock_engine_next(null_mut(), &raw mut event), Status::Null);
        assert_eq!(penstock_engine_send(null_mut(), 0, 1, 1, 1), Status::Null);
        assert_eq!((penstock_engine_ranks(null()), penstock_engine_now(null())), (0, 0));
        assert!(penstock_engine_host(null(), 0).is_null() && penstock_engine_summary(null()).is_null());
        penstock_engine_destroy(null_mut());
        let mut engine = null_mut();
        assert_eq!(penstock_engine_create(null(), null(), null(), &raw mut engine), Status::Null);
        let engine = Handle(engine);
        assert_eq!((engine.error().as_str(), engine.next()), ("the scenario is null", Err(Status::Null)));
        let mut other = null_mut();
        assert_eq!(penstock_engine_create(not_utf8.as_ptr().cast(), null(), null(), &raw mut other), Status::BadText);
        assert_eq!(Handle(other).send(0, 1, 1, 1), Status::BadText);
    }
}

#[test]
fn a_wrong_scenario_is_refused_with_its_line_and_key() {
    let job = "[[job]]\ngraph = \"outside\"\n";
    let twice = format!("{STAR}{job}{job}");
    let per_message = format!("{STAR}{job}connections = \"per-message\"\n");
    for (toml, part) in [
        ("question = \"?\"\nduration = \"1 ms\"\nschem = \"none\"\n", "test:3: schem: "),
        (twice.as_str(), "a second job has its messages from outside"),
        (per_message.as_str(), "keep their connections"),
    ] {
        let (engine, status) = Handle::create(toml, None);
        assert_eq!((status, engine.send(0, 1, 1, 1)), (Status::BadScenario, Status::BadScenario));
        let error = engine.error();
        assert!(error.contains(part) && error.contains("test:"), "{error}");
    }
}

/// The results of a run go to a folder, which must not be there.
#[test]
fn a_finished_run_has_a_folder() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("results");
    let name = folder.to_str().unwrap();
    let (engine, status) = Handle::create(STAR, Some(name));
    assert_eq!((status, engine.send(0, 1, 100_000, 1)), (Status::Ok, Status::Ok));
    engine.events(2);
    assert!(!folder.exists());
    assert_eq!(engine.finish(), Status::Ok, "{}", engine.error());
    let written = std::fs::read_to_string(folder.join("summary.json")).unwrap();
    assert_eq!(Some(written.trim_end().to_owned()), engine.summary().map(|text| text.trim_end().to_owned()));
    assert!(folder.join("queues.parquet").exists() && folder.join("scenario.toml").exists());
    let (engine, status) = Handle::create(STAR, Some(name));
    assert_eq!(status, Status::Failed);
    assert!(engine.error().contains("exists already"), "{}", engine.error());
}

/// Without a program nobody sends: the scenario runs, and has none of its messages.
#[test]
fn a_scenario_without_its_program_runs() {
    let toml = format!("{STAR}{TRANSPORTED}");
    let plan = penstock_scenario::Scenario::parse(&toml, "test", "test").unwrap().plan(&Default::default()).unwrap();
    let run = penstock_runner::run(&plan, &Default::default(), &mut |_| std::ops::ControlFlow::Continue(())).unwrap();
    assert_eq!(run.summary.jobs, []);
    assert!(plan.notes.iter().any(|note| note.contains("come from a program")), "{:?}", plan.notes);
}
