//! Laws of every transport: over a line with any faults each octet of a flow is delivered once and in order, and the
//! flow ends.

use proptest::prelude::*;

use super::lossy_channel::{Caller, Channel, Line};
use crate::transport::sequence::Numbering;
use crate::transport::{Ack, Receiver, SackBlocks, Segment, Sender, go_back_n, selective, tcp};
use penstock_schemes::{Duration, Instant, Octets};

const MS: u64 = 1_000_000_000;

/// Lines of every kind: a tenth of a millisecond to five of delay, up to a fifth of segments and of acknowledgements lost, up to
/// a third of segments cut to their headers.
fn lines() -> impl Strategy<Value = Line> {
    let shares = (0u64..200, 0u64..200, 0u64..100, 0u64..300, 0u64..300, 0u64..300);
    let outage = (0u64..2000, 1u64..1500).prop_map(|(from, length)| (from * MS, (from + length) * MS));
    (shares, 1u64..50, 1u64..50, prop_oneof![Just(0), 1u64..10_000], prop::collection::vec(outage, 0..3), any::<u64>())
        .prop_map(|((loss, ack_loss, repeats, marks, reordered, cut), delay, jitter, octet, outages, seed)| Line {
            delay: Duration(delay * MS / 10),
            octet,
            loss,
            cut,
            ack_loss,
            repeats,
            marks,
            reordered,
            jitter: Duration(jitter * MS / 10),
            outages,
            seed,
            ..Line::default()
        })
}

fn tcp_configs() -> impl Strategy<Value = tcp::Config> {
    use tcp::Congestion::{Bbr, Cubic, Dctcp, NewReno};
    let congestion = prop_oneof![Just(NewReno), Just(Cubic), Just(Dctcp), Just(Bbr)];
    let numbers = (1u32..12, 1u32..4, 1u64..40, prop_oneof![Just(2_000u64), Just(10_000), Just(6_000_000)]);
    (congestion, any::<(bool, bool, bool)>(), numbers).prop_map(
        |(congestion, (sack, rack, ecn), (initial_window, ack_every, ack_delay, window))| tcp::Config {
            mss: Octets(1000),
            congestion,
            sack,
            rack,
            ecn,
            initial_window,
            ack_every,
            ack_delay: Duration::from_ms(ack_delay),
            receive_window: Octets(window),
            rto_min: Duration::from_ms(10),
            rto_max: Duration::from_ms(1000),
            ..tcp::Config::default()
        },
    )
}

/// The application hands over `pieces`, all at once.
fn supply(sender: &mut impl Sender, pieces: &[u64]) -> u64 {
    pieces.iter().for_each(|&n| sender.supply(Octets(n)));
    sender.finish();
    pieces.iter().sum()
}

/// Runs a flow to its end; the longest that may take is ten minutes beyond the last outage.
fn finish<S: Sender + std::fmt::Debug, R: Receiver + std::fmt::Debug>(
    mut channel: Channel<S, R>,
    total: u64,
) -> Vec<(u64, Segment)> {
    channel.run_until(Duration::from_ms(600_000));
    assert!(channel.sender.is_finished(), "{:?}\n{:?}", channel.sender, channel.receiver);
    assert_eq!((channel.receiver.delivered().0, channel.sender.acknowledged().0), (total, total));
    // Neither half keeps state of acknowledged octets.
    let sizes = (format!("{:?}", channel.sender).len(), format!("{:?}", channel.receiver).len());
    assert!(sizes.0 < 3000 && sizes.1 < 1000, "{sizes:?} characters of state: {:?}", channel.sender);
    let statistics = channel.sender.statistics();
    let again: Vec<_> = channel.sent.iter().filter(|s| s.1.retransmission).collect();
    assert_eq!(statistics.retransmissions, again.len() as u64);
    assert_eq!(statistics.retransmitted.0, again.iter().map(|s| u64::from(s.1.len)).sum::<u64>());
    channel.sent
}

fn tcp_channel(config: &tcp::Config, line: Line, first: u32) -> Channel<tcp::TcpSender, tcp::TcpReceiver> {
    let (sender, receiver) = (tcp::TcpSender::new(config, first), tcp::TcpReceiver::new(config, first));
    let mut channel = Channel::new(sender, receiver, line, Numbering::tcp(first), 1);
    channel.most_outstanding = config.receive_window.0;
    channel
}

fn go_back_n_channel(
    line: Line,
    ack_every: u32,
    first: u32,
) -> Channel<go_back_n::GoBackNSender, go_back_n::GoBackNReceiver> {
    let timeout = Duration::from_ms(12);
    let config = go_back_n::Config { mtu: Octets(1000), ack_every, timeout };
    let sender = go_back_n::GoBackNSender::new(&config, first);
    let receiver = go_back_n::GoBackNReceiver::new(&config, first);
    Channel::new(sender, receiver, line, Numbering::psn(first), 1000)
}

fn selective_channel(
    line: Line,
    (ack_every, bitmap): (u32, bool),
    bdp_cap: u32,
    first: u32,
) -> Channel<selective::SelectiveSender, selective::SelectiveReceiver> {
    let (rto_low, rto_high) = (Duration::from_ms(12), Duration::from_ms(15));
    let config = selective::Config { ack_every, bitmap, bdp_cap, rto_low, rto_high, ..selective::Config::default() };
    let sender = selective::SelectiveSender::new(&config, first);
    let receiver = selective::SelectiveReceiver::new(&config, first);
    let mut channel = Channel::new(sender, receiver, line, Numbering::psn(first), 1000);
    channel.most_outstanding = if bdp_cap == 0 { u64::MAX } else { u64::from(bdp_cap) * 1000 };
    channel
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Sequence numbers begin near 2^32, so that they wrap in most flows.
    #[test]
    fn tcp_delivers_everything(line in lines(), config in tcp_configs(), before in 0u32..100_000, octets in 1u64..120_000) {
        let mut channel = tcp_channel(&config, line, 0u32.wrapping_sub(before));
        let total = supply(&mut channel.sender, &[octets]);
        finish(channel, total);
    }

    /// An application that reads now and then closes the window; acknowledgements that open it are lost.
    #[test]
    fn tcp_delivers_everything_to_a_slow_reader(line in lines(), config in tcp_configs(), octets in 1u64..60_000,
                                                (period, most) in (1u64..40, 100u64..9000)) {
        let sender = tcp::TcpSender::new(&config, 0);
        let mut channel = Channel::new(sender, tcp::TcpReceiver::buffered(&config, 0), line, Numbering::tcp(0), 1);
        channel.reads(Duration::from_ms(period), Box::new(move |receiver: &mut tcp::TcpReceiver| {
            let octets = receiver.unread().0.min(most);
            receiver.read(Octets(octets))
        }));
        let total = supply(&mut channel.sender, &[octets]);
        finish(channel, total);
    }

    #[test]
    fn go_back_n_delivers_everything(line in lines(), before in 0u32..100, ack_every in 1u32..5,
                                     messages in prop::collection::vec(1u64..20, 1..6), rest in 1u64..=1000) {
        let mut channel = go_back_n_channel(line, ack_every, 0u32.wrapping_sub(before));
        let pieces: Vec<_> = messages.iter().map(|frames| frames * 1000).chain([rest]).collect();
        let total = supply(&mut channel.sender, &pieces);
        finish(channel, total);
    }

    #[test]
    fn selective_delivers_everything(line in lines(), before in 0u32..100, acks in (1u32..5, any::<bool>()), cap in 0u32..40,
                                     messages in prop::collection::vec(1u64..20, 1..6), rest in 1u64..=1000) {
        let mut channel = selective_channel(line, acks, cap, 0u32.wrapping_sub(before));
        let pieces: Vec<_> = messages.iter().map(|frames| frames * 1000).chain([rest]).collect();
        let total = supply(&mut channel.sender, &pieces);
        finish(channel, total);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// However often the caller asks for lengths and timeouts, the same segments go at the same times.
    #[test]
    fn the_callers_manners_make_no_difference(line in lines(), config in tcp_configs(), octets in 1u64..60_000) {
        let run = |caller| {
            let mut channel = tcp_channel(&config, line.clone(), 7).called_by(caller);
            let total = supply(&mut channel.sender, &[octets]);
            finish(channel, total)
        };
        prop_assert_eq!(run(Caller::Plain), run(Caller::Fussy));
        let run = |caller| {
            let mut channel = go_back_n_channel(line.clone(), 2, 7).called_by(caller);
            let total = supply(&mut channel.sender, &[octets]);
            finish(channel, total)
        };
        prop_assert_eq!(run(Caller::Plain), run(Caller::Fussy));
        let run = |caller| {
            let mut channel = selective_channel(line.clone(), (2, true), 20, 7).called_by(caller);
            let total = supply(&mut channel.sender, &[octets]);
            finish(channel, total)
        };
        prop_assert_eq!(run(Caller::Plain), run(Caller::Fussy));
    }
}

/// Numbers that no peer should send: near those in use and far from them.
fn numbers() -> impl Strategy<Value = u32> {
    prop_oneof![(0u32..40).prop_map(|n| n * 500), 0u32..20_000, any::<u32>()]
}

fn acks() -> impl Strategy<Value = Ack> {
    let blocks = prop::collection::vec((numbers(), numbers()), 0..6);
    let window = prop_oneof![Just(0), 0u32..5000, any::<u32>()];
    let cut = prop::option::of(numbers());
    (numbers(), window, blocks, any::<(bool, bool)>(), cut).prop_map(|(ack, window, blocks, (ece, nak), cut)| {
        let mut sack = SackBlocks::NONE;
        blocks.into_iter().for_each(|(start, end)| sack.push(start, end));
        Ack { ack, window, sack, ece, nak, cut }
    })
}

fn segments() -> impl Strategy<Value = Segment> {
    (numbers(), prop_oneof![Just(1000), 0u32..70_000], any::<(bool, bool, bool)>())
        .prop_map(|(seq, len, (last, retransmission, cwr))| Segment { seq, len, last, retransmission, ect: true, cwr })
}

/// Hands acknowledgements that mean nothing to a sender; it sends on and takes back nothing.
fn confuse(mut sender: impl Sender, acks: &[(Ack, u64, u8)]) {
    supply(&mut sender, &[15_500]);
    let (mut now, mut acknowledged) = (Instant::ZERO, Octets(0));
    for &(ack, later, segments) in acks {
        now += Duration(later * MS / 10);
        for _ in 0..segments {
            let length = sender.next_segment();
            assert_eq!(sender.poll_segment(now).map(|s| s.len), length);
        }
        sender.on_ack(now, &ack);
        if sender.next_timeout().is_some_and(|at| at <= now) {
            sender.on_timeout(now);
        }
        assert!(sender.acknowledged() >= acknowledged && sender.acknowledged() <= Octets(15_500));
        acknowledged = sender.acknowledged();
    }
}

fn confuse_receiver(mut receiver: impl Receiver, segments: &[(Segment, (bool, bool), u64)]) {
    let (mut now, mut delivered) = (Instant::ZERO, Octets(0));
    for &(segment, (ce, cut), later) in segments {
        now += Duration(later * MS / 10);
        let _ = receiver.on_timeout(now);
        let _ = if cut { receiver.on_header(now, &segment) } else { receiver.on_segment(now, &segment, ce) };
        assert!(receiver.delivered() >= delivered);
        delivered = receiver.delivered();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn senders_bear_any_acknowledgement(config in tcp_configs(),
                                        acks in prop::collection::vec((acks(), 0u64..3000, 0u8..20), 1..60)) {
        confuse(tcp::TcpSender::new(&config, 0), &acks);
        confuse(go_back_n::GoBackNSender::new(&go_back_n::Config::default(), 0), &acks);
        confuse(selective::SelectiveSender::new(&selective::Config::default(), 0), &acks);
    }

    #[test]
    fn receivers_bear_any_segment(config in tcp_configs(),
                                  segments in prop::collection::vec((segments(), any::<(bool, bool)>(), 0u64..3000), 1..60)) {
        confuse_receiver(tcp::TcpReceiver::new(&config, 0), &segments);
        confuse_receiver(go_back_n::GoBackNReceiver::new(&go_back_n::Config::default(), 0), &segments);
        confuse_receiver(selective::SelectiveReceiver::new(&selective::Config::default(), 0), &segments);
    }
}
