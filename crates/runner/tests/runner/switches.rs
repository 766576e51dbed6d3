//! The scenarios of shared memory and of deadlocks say what their pages say.

use std::ops::ControlFlow;
use std::path::Path;

use penstock_runner::{Options, Summary};
use penstock_scenario::{Choice, Scenario};

/// The summary of a scenario with changes.
fn summary(name: &str, changes: &[(&str, &str)]) -> Summary {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenarios/{name}.toml"));
    let mut scenario = Scenario::load(&file).unwrap();
    for (key, value) in changes {
        scenario.set(key, value).unwrap();
    }
    let plan = scenario.plan(&Choice::default()).unwrap_or_else(|error| panic!("{error}"));
    penstock_runner::run(&plan, &Options::default(), &mut |_| ControlFlow::Continue(())).unwrap().summary
}

#[test]
fn the_same_memory_holds_an_incast_where_ports_share_it() {
    let parted = summary("shared-buffer/incast-static", &[]);
    assert!(parted.totals.frames_dropped > 0 && parted.pools.is_empty());
    let shared = summary("shared-buffer/incast-dynamic", &[]);
    assert_eq!((shared.totals.frames_dropped, shared.lossless), (0, Some(true)));
    let [pool] = &shared.pools[..] else { panic!("{:?}", shared.pools) };
    assert_eq!((pool.switch.as_str(), pool.name.as_str(), pool.size_octets), ("sw0", "pool0", 1_000_000));
    assert!(pool.max_octets > 4 * 62_500 && pool.max_octets < 300_000, "{pool:?}");
    assert_eq!((pool.frames_refused, pool.headroom_octets), (0, 0));
    // A small alpha is a small partition.
    assert!(summary("shared-buffer/incast-dynamic", &[("buffer.0.alpha", "0.0625")]).pools[0].frames_refused > 0);
}

#[test]
fn a_lossless_pool_keeps_every_frame_beside_one_that_drops() {
    let summary = summary("shared-buffer/lossless-pool", &[]);
    let pool = |name: &str| summary.pools.iter().find(|pool| pool.name == name).expect("the summary has the pool");
    let (lossless, lossy) = (pool("lossless"), pool("lossy"));
    assert_eq!(lossless.frames_refused, 0);
    assert!(lossless.headroom_max_octets > 0 && lossless.headroom_max_octets <= lossless.headroom_octets);
    assert!(summary.totals.pause_frames.expect("flow control") > 0);
    assert_eq!(lossy.frames_refused, summary.totals.frames_dropped);
    assert!(lossy.frames_refused > 0);
    // One congested queue stands at alpha B / (1 + alpha) of the shared part: 200 KB less 8 reserves of 1664 octets, and its own reserve.
    let steady = 0.5 * (200_000.0 - 8.0 * 1664.0) / 1.5 + 1664.0;
    assert!((lossy.mean_octets - steady).abs() < 2.0 * 1664.0, "{} and {steady}", lossy.mean_octets);
}

/// 32 us are 40 KB at 10 Gb/s and 100 KB at 25 Gb/s, 32 and 80 frames of 1250 octets. A burst comes with a frame each 0.1 us, and the ports
/// send one each 1 us and 0.4 us. After frame k the queue has k - (k - 1) / 10 frames, or k - (k - 1) / 4; quotients are rounded down. So the 36th is the
/// first of 33 frames, and the 107th the first of 81.
#[test]
fn a_threshold_in_time_marks_at_the_octets_of_each_port() {
    let marks = |host: &str, frames: u64| {
        let text = format!(
            "question = \"?\"\nduration = \"200 us\"\nscheme = \"dcqcn\"\n[schemes.dcqcn]\nk_min = \"32 us\"\nk_max = \"32 us\"\n\
             [topology.graph]\nhosts = \"h0..h2\"\nswitches = \"sw0\"\nbuffer = \"1 MB\"\n\
             link = [{{ ends = [\"h0\", \"sw0\"], rate = \"100 Gbps\" }}, {{ ends = [\"h1\", \"sw0\"], rate = \"10 Gbps\" }}, \
             {{ ends = [\"h2\", \"sw0\"], rate = \"25 Gbps\" }}]\n\
             [[flow]]\nfrom = \"h0\"\nto = \"{host}\"\nframe = \"1250 octets\"\nsize = \"{} octets\"\n",
            frames * 1250
        );
        let scenario = Scenario::parse(&text, "test.toml", "test").unwrap_or_else(|error| panic!("{error}"));
        let plan = scenario.plan(&Choice::default()).unwrap_or_else(|error| panic!("{error}"));
        let run = penstock_runner::run(&plan, &Options::default(), &mut |_| ControlFlow::Continue(())).unwrap();
        let queue = run.summary.queues.iter().find(|queue| queue.name == format!("sw0->{host}")).unwrap().clone();
        (queue.frames_marked, queue.max_octets)
    };
    assert_eq!([marks("h1", 35), marks("h1", 36)], [(0, 40_000), (1, 41_250)]);
    assert_eq!([marks("h2", 106), marks("h2", 107)], [(0, 100_000), (1, 101_250)]);
}

#[test]
fn a_deadlock_is_named_where_there_is_one() {
    let ring = summary("deadlock/ring", &[]);
    let [deadlock] = &ring.deadlocks[..] else { panic!("{:?}", ring.deadlocks) };
    assert_eq!(deadlock.ports, ["sw0->sw1", "sw1->sw2", "sw2->sw0"]);
    assert_eq!((&deadlock.priorities[..], deadlock.ended_s), (&[0, 0, 0][..], None));
    assert!(deadlock.since_s < 1e-3, "{}", deadlock.since_s);
    let fabric = summary("deadlock/leaf-spine", &[]);
    let [deadlock] = &fabric.deadlocks[..] else { panic!("{:?}", fabric.deadlocks) };
    assert_eq!(deadlock.ports, ["leaf0->spine0", "spine0->leaf1", "leaf1->spine1", "spine1->leaf0"]);
    assert_eq!(fabric.totals.frames_dropped, 0);

    let watched = summary("deadlock/ring-watchdog", &[]);
    assert!(!watched.deadlocks.is_empty() && watched.deadlocks.iter().all(|deadlock| deadlock.ended_s.is_some()));
    assert!(watched.totals.watchdog_fired.expect("a watchdog") > 0);
    assert!(watched.totals.frames_delivered > 4 * ring.totals.frames_delivered);
    let forward = summary("deadlock/leaf-spine", &[("pfc.watchdog.after", "1 ms"), ("pfc.watchdog.action", "forward")]);
    assert!(forward.deadlocks[0].ended_s.is_some(), "{:?}", forward.deadlocks);
    // The fabric's own routes go up, and then down.
    let none = summary("victim-flow/pfc", &[("duration", "15 ms")]);
    assert!(none.deadlocks.is_empty() && none.totals.watchdog_fired.is_none());
}
