//! The trace: every event arrives with its clock, or is counted.

use std::collections::VecDeque;

use penstock_cosim::{Random, trace, trace_probe};

const SOURCES: usize = 8;
const STAMP_BITS: u32 = 22;
const TIME: u64 = 0;
/// Clocks from one record of the time to the next.
const EVERY: u64 = 1 << (STAMP_BITS - 1);

/// Reads records as a user does: the clock of one is the nearest to that of the last record of the time.
#[derive(Default)]
struct Reader {
    time: u64,
}

impl Reader {
    /// Kind, source, value and clock of a record.
    fn read(&mut self, record: u64) -> (u8, u8, u64, u64) {
        let (what, source) = (record >> 60, record >> 56 & 15);
        let (value, stamp) = (record >> STAMP_BITS & ((1 << 34) - 1), record & ((1 << STAMP_BITS) - 1));
        if what == TIME {
            self.time = value << STAMP_BITS | stamp;
            return (0, source as u8, 0, self.time);
        }
        let shift = 64 - STAMP_BITS;
        let away = (stamp.wrapping_sub(self.time) << shift) as i64 >> shift;
        (what as u8, source as u8, value, self.time.wrapping_add_signed(away))
    }
}

#[test]
fn records_all_or_counts() {
    let mut random = Random::new(81);
    let mut core = trace::Core::new(82);
    let mut reader = Reader::default();
    let mut events: [VecDeque<(u8, u64, u64)>; SOURCES] = Default::default();
    let mut given = trace::In::default();
    let (mut now, mut since_reset) = (0u64, 0u64);
    let (mut came, mut recorded, mut skipped, mut times, mut all) = (0u64, 0u64, 0u64, 0, 0u64);
    let (mut load, mut stalls, mut waits, mut quiet) = (1, 1, None, 0u64);
    // Records of the time since the last reset, and when that was; clocks since the sink last let a record wait; when an event
    // of each source that was recorded has come.
    let (mut since_times, mut began, mut free, mut last) = (0u64, 0u64, 0u64, [0u64; SOURCES]);
    for clock in 0..10_000_000u64 {
        given.rst_i = clock == 0 || since_reset > 3_000_000 && random.one_in(100_000);
        since_reset += 1;
        if given.rst_i {
            now = random.next() >> 20;
        }
        if clock.is_multiple_of(20_000) {
            (load, stalls) = (1 + random.below(300), 1 + random.below(5));
            // A sink that stands for more than half the range of a stamp.
            quiet = if clock == 3_000_000 { 2_500_000 } else { quiet };
        }
        quiet = quiet.saturating_sub(1);
        now += 1;
        given.now_i = now;
        given.valid_i = 0;
        // The time is not an event's to tell.
        given.kind_i = random.word() | 0x1111_1111;
        given.value_i = std::array::from_fn(|_| random.word());
        for source in 0..SOURCES {
            // Bursts of all at once, too.
            if random.one_in(load) || load > 200 && now.is_multiple_of(100) {
                given.valid_i |= 1 << source;
            }
        }
        given.m_axis_tready = quiet == 0 && random.one_in(stalls);
        let out = core.clock(&given);
        if given.rst_i {
            events = Default::default();
            (since_reset, came, recorded, skipped, waits) = (0, 0, 0, 0, None);
            (since_times, began, free, last) = (0, now, 0, [0; SOURCES]);
            reader = Reader::default();
            continue;
        }
        for (source, events) in events.iter_mut().enumerate().filter(|(s, _)| given.valid_i >> s & 1 == 1) {
            let bit = |b: usize| u64::from(given.value_i[b / 32] >> (b % 32) & 1);
            let value = (0..34).map(|b| bit(34 * source + b) << b).sum();
            let what = (given.kind_i >> (4 * source) & 15) as u8;
            events.push_back((what, value, now));
            came += 1;
        }
        assert!(waits.is_none_or(|data| out.m_axis_tvalid && data == out.m_axis_tdata), "in clock {clock}");
        free = if given.m_axis_tready { free + 1 } else { 0 };
        assert_eq!((out.m_axis_tkeep, out.m_axis_tlast, out.m_axis_tuser), (0xff, true, false));
        waits = (out.m_axis_tvalid && !given.m_axis_tready).then_some(out.m_axis_tdata);
        if out.m_axis_tvalid && given.m_axis_tready {
            let first = reader.time == 0;
            let (what, source, value, at) = reader.read(out.m_axis_tdata);
            if what == 0 && source == 0 && value == 0 && at == reader.time {
                times += 1;
                since_times += 1;
                // Due when the lower bits of the clock are 0; a clock later it goes.
                assert!(since_times == 1 || at % EVERY != 0, "in clock {clock}: the time comes too soon");
                assert!(at <= now, "in clock {clock}");
                assert!(since_times <= 2 + (now - began) / EVERY, "in clock {clock}: the time comes too often");
            } else {
                assert!(!first, "the time comes first");
                // Those in front of it were dropped.
                let source = usize::from(source);
                let events = &mut events[source];
                // If nothing has waited for the sink, an event is recorded in its turn, and one is dropped only while another of its
                // source occupies the slot.
                let in_turn = |came: u64| came + free > now + 100;
                while let Some(lost) = events.pop_front_if(|event| *event != (what, value, at)) {
                    skipped += 1;
                    assert!(
                        !in_turn(lost.2) || lost.2 <= last[source] + SOURCES as u64 + 3,
                        "in clock {clock}: {lost:?}"
                    );
                }
                assert!(events.pop_front().is_some(), "in clock {clock}: {what} {source} {value} {at}");
                assert!(!in_turn(at) || now - at <= SOURCES as u64 + 5, "in clock {clock}: one of {at}");
                last[source] = at;
                recorded += 1;
                all += 1;
            }
        }
        assert!(
            u64::from(out.dropped_o) + 4 * SOURCES as u64 >= skipped && u64::from(out.dropped_o) <= came - recorded
        );
    }
    assert!(times > 3 && all > 500_000, "{times} records of the time, {all} of events");
}

/// A record of the time that finds the FIFO full comes before every event that waits behind it. Otherwise the clocks of these,
/// more than half the range of a stamp behind the last record of the time, would be read wrongly. The clock leaps over the
/// long while that a sink would have to stand.
#[test]
fn nothing_passes_the_time() {
    let mut random = Random::new(85);
    let mut core = trace::Core::new(86);
    let mut given = trace::In { now_i: EVERY + 5, rst_i: true, ..Default::default() };
    core.clock(&given);
    given.rst_i = false;
    let (mut reader, mut came, mut recorded, mut dropped) = (Reader::default(), 0u64, 0u64, 0);
    let mut events: [VecDeque<(u64, u64)>; SOURCES] = Default::default();
    for round in 0..2_000 {
        // The FIFO fills; the time is due and is refused, twice; then the sink takes all, one record at a time.
        for (leap, clocks, takes) in [(0, 200, 0), (EVERY, 40, 0), (EVERY, 40 + random.below(20), 0), (0, 600, 2)] {
            if leap > 0 {
                given.now_i = given.now_i.next_multiple_of(leap) - 2;
            }
            for clock in 0..clocks {
                given.now_i += 1;
                given.valid_i = if takes > 0 && clock > 300 { 0 } else { random.word() as u8 & random.word() as u8 };
                given.kind_i = 0x1111_1111;
                given.value_i = std::array::from_fn(|_| random.word());
                given.m_axis_tready = takes > 0 && random.one_in(takes);
                let out = core.clock(&given);
                for (source, events) in events.iter_mut().enumerate().filter(|(s, _)| given.valid_i >> s & 1 == 1) {
                    let bit = |b: usize| u64::from(given.value_i[b / 32] >> (b % 32) & 1);
                    events.push_back(((0..34).map(|b| bit(34 * source + b) << b).sum(), given.now_i));
                    came += 1;
                }
                dropped = out.dropped_o;
                if out.m_axis_tvalid && given.m_axis_tready {
                    let (what, source, value, at) = reader.read(out.m_axis_tdata);
                    if what == 0 {
                        continue;
                    }
                    let events = &mut events[usize::from(source)];
                    while events.front().is_some_and(|&event| event != (value, at)) {
                        events.pop_front();
                    }
                    assert!(events.pop_front().is_some(), "round {round}: {source} {value} {at}");
                    recorded += 1;
                }
            }
        }
        assert_eq!(came, recorded + u64::from(dropped), "round {round}: every event is recorded or counted");
        events.iter_mut().for_each(VecDeque::clear);
    }
    // The FIFO's 64 of each round, and those that come while the sink takes: the time has its turn, and lets them through.
    assert!(recorded > 300_000, "{recorded} events");
}

/// A value is reported when it changes, and no more often than asked.
#[test]
fn probe_reports_changes() {
    let mut random = Random::new(83);
    let mut core = trace_probe::Core::new(84);
    let mut given = trace_probe::In::default();
    // The last event, from when on there may be another, how long one has been due, and the values of the last clocks.
    let (mut recorded, mut free_at, mut due, mut events) = (None, 0, 0, 0);
    let mut before = [0; 2];
    for clock in 0..1_000_000u64 {
        given.rst_i = clock == 0 || random.one_in(10_000);
        if random.one_in(20) {
            given.value_i = random.below(4) << 31;
        }
        // That of the clock in which an event is made.
        let interval = given.interval_i.max(1);
        if random.one_in(500) {
            given.interval_i = random.below(60) as u32;
        }
        let out = core.clock(&given);
        if given.rst_i {
            (recorded, free_at, due) = (None, clock + 2, 0);
            before = [given.value_i; 2];
            continue;
        }
        if out.valid_o {
            assert!(clock >= free_at, "in clock {clock}, too soon");
            assert_eq!(out.value_o, before[0], "in clock {clock}");
            assert!(
                recorded != Some(before[0]) || recorded != Some(before[1]),
                "in clock {clock}, nothing has changed"
            );
            recorded = Some(out.value_o);
            free_at = clock + 1 + u64::from(interval);
            events += 1;
        }
        // It is reported in the second clock after the change.
        let waits = clock + 1 < free_at || recorded == Some(given.value_i) || given.value_i != before[0];
        due = if waits { 0 } else { due + 1 };
        assert!(due < 2, "in clock {clock} it has not been reported");
        before = [given.value_i, before[0]];
    }
    assert!(events > 20_000, "{events} events");
}
