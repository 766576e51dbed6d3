//! Links that lose frames, hosts that pause their switch, links that flap and fail: numbers worked out by hand.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use penstock_runner::{Options, Run, Summary, Threads, fingerprint, run};
use penstock_scenario::{Choice, Scenario};

fn run_on(text: &str, threads: usize) -> Run {
    let scenario = Scenario::parse(text, "test.toml", "test").unwrap_or_else(|error| panic!("{error}"));
    let plan = scenario.plan(&Choice::default()).unwrap_or_else(|error| panic!("{error}"));
    let threads = Threads::Number(NonZeroUsize::new(threads).unwrap());
    run(&plan, &Options { threads, ..Options::default() }, &mut |_| ControlFlow::Continue(())).unwrap()
}

fn summary(text: &str) -> Summary {
    run_on(text, 1).summary
}

/// Frames of 1250 octets, 1 us each at 10 Gb/s, over lines without delay.
fn star(hosts: usize, duration: &str, flows: &str, rest: &str) -> String {
    format!(
        "question = \"Does it work?\"\nduration = \"{duration}\"\nscheme = \"none\"\nlossless = true\n\
         [topology.star]\nhosts = {hosts}\nlink_rate = \"10 Gbps\"\nbuffer = \"1 MB\"\n{flows}\n{rest}\n"
    )
}

fn flow(from: &str, to: &str) -> String {
    format!("[[flow]]\nfrom = \"{from}\"\nto = \"{to}\"\nframe = \"1250 octets\"\n")
}

fn queue<'s>(summary: &'s Summary, name: &str) -> &'s penstock_runner::summary::QueueSummary {
    summary.queues.iter().find(|queue| queue.name == name).expect("a recorded queue")
}

/// Every frame whose transmission starts in 100 us is hit: 100 of them. They use the line, and break no claim unless that is asked for.
#[test]
fn corrupted_frames_use_the_line_and_count_apart() {
    let lossy = "[[impairment]]\nlinks = [\"sw0->h1\"]\nloss = 1.0\nfrom = \"100 us\"\nuntil = \"200 us\"\n";
    let text = star(2, "1 ms", &flow("h0", "h1"), lossy);
    let result = summary(&text);
    let totals = &result.totals;
    assert_eq!((totals.frames_impaired, totals.control_frames_impaired), (Some(100), Some(0)));
    assert_eq!((totals.frames_dropped, totals.frames_lost_on_link, result.lossless), (0, 0, Some(true)));
    assert_eq!(totals.frames_sent, totals.frames_delivered + 100 + totals.frames_in_flight);
    let port = queue(&result, "sw0->h1");
    assert_eq!((port.frames_impaired, result.flows[0].frames_impaired), (Some(100), Some(100)));
    let whole = summary(&text.replace("loss = 1.0", "loss = 0.0"));
    assert_eq!(queue(&whole, "sw0->h1").utilization, port.utilization, "a corrupted frame takes its time");
    let claimed = summary(&text.replace("lossless = true", "lossless = true\nimpaired_is_lost = true"));
    assert_eq!(claimed.lossless, Some(false));
    assert_eq!(summary(&star(2, "1 ms", &flow("h0", "h1"), "")).totals.frames_impaired, None);
}

/// No acknowledgement comes back, or only data may be lost.
#[test]
fn acknowledgements_are_lost_where_control_frames_are() {
    let tcp = "[[flow]]\nfrom = \"h0\"\nto = \"h1\"\ntransport = \"tcp\"\n";
    let text = star(2, "10 ms", tcp, "[[impairment]]\nlinks = [\"h1->sw0\"]\nloss = 1.0\n");
    let lost = summary(&text);
    assert!(
        lost.totals.control_frames_impaired > Some(0) && lost.totals.timeouts == Some(0),
        "the first timeout is 1 s"
    );
    // Ten segments, the initial window, and no acknowledgement.
    assert_eq!((lost.totals.frames_delivered, lost.totals.control_frames_impaired), (10, Some(5)));
    let kept = summary(&format!("{text}control = false\n"));
    assert_eq!(kept.totals.control_frames_impaired, Some(0));
    assert!(kept.totals.frames_delivered > 5000, "{}", kept.totals.frames_delivered);
}

/// Two hosts send to one, so that the switch pauses both. Where one of them never gets a pause frame, its buffer overflows.
#[test]
fn a_lost_pause_frame_stops_nobody() {
    let flows = format!("{}{}", flow("h0", "h2"), flow("h1", "h2"));
    let pfc = "[pfc]\nbuffer = \"100 KB\"\n[[impairment]]\nlinks = [\"sw0->h0\"]\nloss = 1.0\n";
    let text = star(3, "5 ms", &flows, pfc);
    let lost = summary(&text);
    assert!(lost.totals.control_frames_impaired > Some(0) && lost.totals.frames_dropped > 1000, "{:?}", lost.totals);
    let kept = summary(&format!("{text}control = false\n"));
    assert_eq!((kept.totals.control_frames_impaired, kept.lossless), (Some(0), Some(true)));
}

/// A pause frame of 64 octets takes 51.2 ns, and so does the one that resumes: the queue is stopped for as long as the storm lasts. It is sent
/// again each 10 us.
#[test]
fn a_storm_stops_the_queue_for_its_time() {
    let storm = "[pfc]\nresponse = \"0 s\"\n[[event]]\nkind = \"pfc-storm\"\nhost = \"h1\"\nfrom = \"100 us\"\nuntil = \"195 us\"\n";
    let text = star(2, "1 ms", &flow("h0", "h1"), storm);
    let once = summary(&text);
    let port = queue(&once, "sw0->h1");
    assert_eq!((port.paused_s, port.pause_frames, port.stops), (95e-6, 1, 1));
    let often = summary(&format!("{text}interval = \"10 us\"\n"));
    let port = queue(&often, "sw0->h1");
    assert_eq!((port.paused_s, port.pause_frames, port.stops), (95e-6, 10, 1));
    assert_eq!(often.lossless, Some(true));
}

/// h0 sends to h2, which storms from 1 ms on, and to h3. The switch pauses h0 when the frames for h2 have filled the buffer, so that h3 gets
/// nothing either: for ever, or until the watchdog lets the queue to h2 go, once.
#[test]
fn a_watchdog_ends_a_storm_once() {
    let flows = format!("{}{}", flow("h0", "h2"), flow("h0", "h3"));
    let storm = "[pfc]\nbuffer = \"100 KB\"\n[[event]]\nkind = \"pfc-storm\"\nhost = \"h2\"\nfrom = \"1 ms\"\ninterval = \"100 us\"\n\
         [[window]]\nname = \"late\"\nstart = \"3 ms\"\n";
    let text = star(4, "10 ms", &flows, storm);
    let rates = |summary: &Summary| -> Vec<f64> {
        summary.windows[0].flows.iter().map(|flow| (flow.throughput_bps / 1e8).round() / 10.0).collect()
    };
    let stopped = summary(&text);
    assert_eq!((rates(&stopped), stopped.lossless), (vec![0.0, 0.0], Some(true)));
    let watched = summary(&format!("{text}[pfc.watchdog]\nafter = \"1 ms\"\nrestoration = \"500 us\"\n"));
    assert_eq!((rates(&watched), watched.totals.watchdog_fired), (vec![0.0, 5.0], Some(1)));
    // 1 ms less the time in which 5 Gb/s fill the buffer to XOFF.
    let paused = watched.hosts[0].paused_s.expect("flow control");
    assert!(paused > 0.8e-3 && paused < 1e-3, "{paused}");
}

/// Three ports are stopped from 1 ms on: one lets its queue go after 1 ms and drops it, one after 3 ms and sends it, one has no watchdog.
#[test]
fn each_port_has_its_own_watchdog() {
    let flows: String = (0..3).map(|i| flow(&format!("h{i}"), &format!("h{}", i + 3))).collect();
    let storm =
        |i| format!("[[event]]\nkind = \"pfc-storm\"\nhost = \"h{i}\"\nfrom = \"1 ms\"\ninterval = \"100 us\"\n");
    let storms: String = (3..6).map(storm).collect();
    let rest = "[pfc]\nresponse = \"0 s\"\n[pfc.watchdog]\nports = [\"sw0->h3\"]\nafter = \"1 ms\"\nrestoration = \"1 ms\"\n\
         [[pfc.watchdog.port]]\nports = [\"sw0->h4\"]\nafter = \"3 ms\"\naction = \"forward\"\n\
         [[window]]\nname = \"late\"\nstart = \"5 ms\"\n";
    let result = summary(&star(6, "10 ms", &flows, &format!("{rest}{storms}")));
    let paused = |name| (queue(&result, name).paused_s * 1e6).round();
    assert_eq!(["sw0->h3", "sw0->h4", "sw0->h5"].map(paused), [1000.0, 3000.0, 9000.0]);
    assert_eq!(result.totals.watchdog_fired, Some(2));
    let rates: Vec<f64> =
        result.windows[0].flows.iter().map(|flow| (flow.throughput_bps / 1e8).round() / 10.0).collect();
    assert_eq!(rates, [0.0, 10.0, 0.0]);
}

/// 1250 octets take 2.5 us at 4 Gb/s. Frames come each microsecond: without flow control 80 of them wait, and all others are lost.
#[test]
fn a_slow_receiver_drops_or_pauses() {
    let slow = "[[host]]\nnames = \"h1\"\ndrain_rate = \"4 Gbps\"\nbuffer = \"100 KB\"\n[[window]]\nname = \"late\"\nstart = \"2 ms\"\n";
    let text = star(2, "10 ms", &flow("h0", "h1"), slow);
    let lossy = summary(&text);
    let rate = |summary: &Summary| summary.windows[0].flows[0].throughput_bps / 1e9;
    let drops = lossy.hosts[1].receive_drops.expect("a slow receiver");
    // 9998 frames come, of which 3999 are processed and 80 wait.
    assert!((5917..=5921).contains(&drops), "{drops}");
    assert_eq!((lossy.totals.frames_dropped, lossy.lossless), (drops, Some(false)));
    assert!((rate(&lossy) - 4.0).abs() < 0.01, "{}", rate(&lossy));
    let paused = summary(&format!("{text}[pfc]\n"));
    assert_eq!((paused.hosts[1].receive_drops, paused.lossless), (Some(0), Some(true)));
    assert!((rate(&paused) - 4.0).abs() < 0.02, "{}", rate(&paused));
    // The line is busy for 4 of 10 parts of the time, and stopped for the rest.
    let share = queue(&paused, "sw0->h1").paused_s / 10e-3;
    assert!((share - 0.6).abs() < 0.02, "{share}");
}

/// Everything of it at once, on one thread and on several.
#[test]
fn faults_give_the_same_on_several_threads() {
    let text = r#"
        question = "Is it the same on several threads?"
        duration = "2 ms"
        scheme = "dctcp"
        [network]
        convergence = { uniform = { minimum = "50 us", maximum = "200 us" } }
        BALANCING
        [topology.leaf-spine]
        leaves = 4
        spines = 2
        hosts_per_leaf = 3
        host_rate = "10 Gbps"
        fabric_rate = "20 Gbps"
        link_delay = "1 us"
        buffer = "150 KB"
        [pfc]
        [[flow]]
        from = "h0..h5"
        to = "h6..h11"
        transport = { selective = { reordering = 64 } }
        [[load]]
        load = 0.2
        size = "50 KB"
        end = "1 ms"
        transport = { selective = { reordering = 64 } }
        [[impairment]]
        loss = 0.001
        [[impairment]]
        links = ["leaf0--spine0", "h3--leaf1"]
        burst = { p = 0.001, r = 0.2 }
        [[host]]
        names = ["h6", "h7"]
        drain_rate = "6 Gbps"
        buffer = "100 KB"
        [[event]]
        kind = "pfc-storm"
        host = "h9"
        from = "300 us"
        until = "600 us"
        interval = "40 us"
        [[change]]
        link = "leaf0--spine1"
        at = "200 us"
        state = "down"
        down_for = "100 us"
        every = "500 us"
        [record]
        interval = "10 us"
    "#;
    for balancing in ["", "load_balancing = \"spray\""] {
        let text = text.replace("BALANCING", balancing);
        let one = run_on(&text, 1);
        let totals = &one.summary.totals;
        assert!(totals.frames_impaired > Some(0) && totals.control_frames_impaired > Some(0), "{totals:?}");
        assert!(totals.frames_lost_on_link > 0 && totals.pause_frames > Some(10), "{totals:?}");
        let expected = fingerprint(&one).unwrap();
        for threads in [2, 3] {
            let several = run_on(&text, threads);
            assert_eq!(several.threading.as_ref().map(|own| own.threads), Some(threads), "{:?}", several.threading);
            assert_eq!(fingerprint(&several).unwrap(), expected, "{threads} threads, {balancing}");
        }
    }
}

const FABRIC: &str = r#"
    question = "Do sprayed flows come back?"
    duration = "9 ms"
    scheme = "SCHEME"
    [network]
    wire_overhead = "20 octets"
    SETTINGS
    [topology.leaf-spine]
    leaves = 2
    spines = 2
    hosts_per_leaf = 4
    host_rate = "100 Gbps"
    fabric_rate = "400 Gbps"
    link_delay = "1 us"
    buffer = "2 MB"
    [[flow]]
    from = "h0..h3"
    to = "h4..h7"
    transport = { selective = { reordering = 64 } }
    [[change]]
    link = "LINK--spine0"
    at = "2 ms"
    state = "down"
    down_for = "4 ms"
    [[window]]
    name = "before"
    start = "1 ms"
    end = "2 ms"
    [[window]]
    name = "down"
    start = "2.5 ms"
    end = "6 ms"
    [[window]]
    name = "back"
    start = "6.1 ms"
"#;

/// The least rate of the four flows in each window, Gb/s.
fn least_rates(scheme: &str, link: &str, settings: &str) -> Vec<f64> {
    let text = FABRIC.replace("SCHEME", scheme).replace("LINK", link).replace("SETTINGS", settings);
    let summary = summary(&text);
    let least = |flows: &[f64]| flows.iter().copied().fold(f64::INFINITY, f64::min);
    let windows = summary.windows.iter();
    windows.map(|own| least(&own.flows.iter().map(|flow| flow.throughput_bps / 1e9).collect::<Vec<_>>())).collect()
}

/// Four sprayed flows, and the link of their leaf breaks for 4 ms. Where acknowledgements are sprayed too, what is left carries all of them; else
/// those whose acknowledgements went over the link stand still.
#[test]
fn sprayed_flows_recover_in_a_few_round_trips() {
    for scheme in ["dctcp", "nscc"] {
        for balancing in ["spray", "reps"] {
            let settings = format!("load_balancing = \"{balancing}\"\nconvergence = \"never\"\n");
            let rates = least_rates(scheme, "leaf0", &format!("{settings}spray_acks = true"));
            assert!(rates.iter().all(|rate| *rate > 0.9 * rates[0]), "{scheme}, {balancing}: {rates:?}");
        }
    }
}

/// The link breaks at the leaf of the receivers, and no switch of the senders knows. Half of the frames that are sprayed are lost; sources that use
/// entropy values again leave the path.
#[test]
fn recycled_entropy_avoids_a_distant_failure() {
    let rate = |balancing: &str| {
        let settings = format!("load_balancing = \"{balancing}\"\nconvergence = \"never\"\nspray_acks = true");
        least_rates("dctcp", "leaf1", &settings)
    };
    let (spray, reps) = (rate("spray"), rate("reps"));
    assert!(reps[1] > 0.8 * reps[0] && reps[2] > 0.9 * reps[0], "{reps:?}");
    assert!(spray[1] < 0.5 * spray[0], "{spray:?}");
}

/// Rate = MSS / RTT × C / √p with C = 1.31 for random losses (Mathis et al. 1997; Ott, Kemperman and Mathis 1996), within 10 %. C is 1.19 and
/// 1.18 here, the mean over four seeds: recovery, which the law leaves out, costs the rest. The window grows by the octets that are
/// acknowledged (RFC 5681, section 3.1), so that one acknowledgement for two segments changes little.
#[test]
fn tcp_over_a_lossy_link_keeps_the_square_root_law() {
    let constant = |loss: f64, ack_every: u32| {
        let rate = |seed: u64| {
            let text = format!(
                "question = \"Is it Mathis' law?\"\nduration = \"60 s\"\nwarmup = \"5 s\"\nseed = {seed}\nscheme = \"none\"\n\
                 [topology.star]\nhosts = 2\nlink_rate = \"1 Gbps\"\nlink_delay = \"2.5 ms\"\nbuffer = \"10 MB\"\n\
                 [[flow]]\nfrom = \"h0\"\nto = \"h1\"\ntransport = {{ tcp = {{ congestion = \"newreno\", ack_every = {ack_every} }} }}\n\
                 [[impairment]]\nlinks = [\"h0->sw0\"]\nloss = {loss}\n[record]\ninterval = \"1 s\"\n"
            );
            summary(&text).flows[0].goodput_bps.expect("a transport")
        };
        (1..=4).map(rate).sum::<f64>() / 4.0 / (1460.0 * 8.0 / 0.010 / loss.sqrt())
    };
    let (seldom, often, delayed) = (constant(0.0002, 1), constant(0.0005, 1), constant(0.0005, 2));
    for found in [seldom, often] {
        assert!((found / 1.31 - 1.0).abs() < 0.1, "C = {found}");
    }
    // The rate goes by the root of the losses: the constant is the same.
    assert!((seldom / often - 1.0).abs() < 0.03, "{seldom}, {often}");
    assert!((delayed / often - 1.0).abs() < 0.06, "{delayed}, {often}");
}
