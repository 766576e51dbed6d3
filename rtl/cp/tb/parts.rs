//! The parts of the congestion point that are of use alone: queue monitor, notifier, output select.

use std::collections::VecDeque;

use penstock_cosim::{Random, at_least, cp_notifier, cp_output_select, cp_queue_monitor};

/// The buffer of the build, octets.
const BUFFER: u32 = 20_000;

/// Octets of one frame and another at the same time and at any pace. The length is the octets that came less those that
/// left, within 0 and the buffer. Faults (frames that leave without having come) do not take it out of its bounds.
#[test]
fn queue_monitor_counts_within_its_bounds() {
    use cp_queue_monitor::{Core, In};
    let seed = 1;
    let mut random = Random::new(seed);
    let mut core = Core::new(seed);
    core.clock(&In { rst_i: true, ..In::default() });
    let (mut queue, mut deciding, mut leaving) = (0u32, None::<u32>, None::<u32>);
    let mut settled = false;
    let mut queued = VecDeque::new();
    let (mut drops, mut wrong) = (0, 0);
    let clocks = at_least(2_000_000);
    for clock in 0..clocks {
        let pace = 2 + clock / 10_000 % 30;
        if random.one_in(3_000) {
            core.clock(&In { rst_i: true, ..In::default() });
            (queue, deciding, leaving, settled) = (0, None, None, false);
            queued.clear();
        }
        let mut input = In { store_full_i: random.one_in(100), ..In::default() };
        input.frame_octets_i = if random.one_in(8) { random.word() as u16 } else { 64 + random.below(1459) as u16 };
        input.frame_valid_i = deciding.is_none() && random.one_in(pace);
        if leaving.is_none() && random.one_in(pace + clock / 100_000 % 3) {
            // Mostly a frame that is there; seldom any other.
            let honest = queued.front().copied().filter(|_| !random.one_in(1000));
            input.sent_octets_i = honest.unwrap_or_else(|| random.word() as u16);
            input.sent_valid_i = honest.is_some() || random.one_in(200);
            if input.sent_valid_i && honest.is_some() {
                queued.pop_front();
            }
            wrong += u32::from(input.sent_valid_i && honest.is_none());
        }
        let out = core.clock(&input);
        let at = || format!("seed {seed}, clock {clock}");
        let fits = deciding.map(|sum| sum <= BUFFER && !input.store_full_i);
        assert_eq!(out.queue_o, queue, "{}", at());
        assert_eq!((out.decided_o, out.queued_o), (fits.is_some(), fits == Some(true)), "{}", at());
        if fits == Some(true) {
            queued.push_back((deciding.expect("it is decided") - queue) as u16);
            queue = deciding.expect("it is decided");
        }
        // A frame that has left is taken off when it has stood for a clock, and no frame comes or is decided.
        let stood = std::mem::replace(&mut settled, leaving.is_some() && deciding.is_none());
        if stood
            && deciding.is_none()
            && !input.frame_valid_i
            && let Some(octets) = leaving.take()
        {
            queue = queue.saturating_sub(octets);
            settled = false;
        }
        drops += u32::from(fits == Some(false));
        deciding = input.frame_valid_i.then(|| out.queue_o + u32::from(input.frame_octets_i));
        if input.sent_valid_i {
            leaving = Some(input.sent_octets_i.into());
        }
    }
    assert!(u64::from(drops) > clocks / 10_000 && u64::from(wrong) > clocks / 200_000, "{drops} drops, {wrong} wrong");
}

/// The example of 802.1Qau's message: Qsp 26 000, queue 52 000 after 39 000, w 2; sampled priority 3, VID 100, message's
/// priority 6, flow 5. Without the two tags the octets behind them move up.
#[test]
fn notifier_makes_the_standards_example() {
    use cp_notifier::{Core, In};
    const TAGS: [u8; 8] = [0x81, 0x00, 0xc0, 0x64, 0x22, 0xe9, 0x00, 0x05];
    const HEAD: [u8; 12] = [0x02, 0, 0, 0, 0, 0x01, 0x02, 0, 0, 0, 0, 0xaa];
    const BODY: [u8; 26] = [
        0x22, 0xe7, 0x00, 0x19, 0x02, 0x00, 0x00, 0x00, 0x00, 0xaa, 0x00, 0x01, 0xfe, 0x6a, 0x00, 0xcb, 0x60, 0x00,
        0x02, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00,
    ];
    for (vlan, flow) in [(true, true), (true, false), (false, true), (false, false)] {
        let mut expected = HEAD.to_vec();
        expected.extend_from_slice(if vlan { &TAGS[..4] } else { &[] });
        expected.extend_from_slice(if flow { &TAGS[4..] } else { &[] });
        expected.extend_from_slice(&BODY);
        if !vlan {
            // An untagged frame has priority 0.
            let at = expected.len() - BODY.len() + 16;
            expected[at] = 0;
        }
        expected.resize(60, 0);

        let mut core = Core::new(1);
        core.clock(&In { rst_i: true, ..In::default() });
        // header_t: destination, source, VLAN tag there, priority, VID, CN-TAG there, flow.
        let header = (0x0200_0000_0002u128 << 81)
            | (0x0200_0000_0001u128 << 33)
            | (u128::from(vlan) << 32)
            | ((u128::from(vlan) * 3) << 29)
            | (100 << 17)
            | (u128::from(flow) << 16)
            | 5;
        let mut words = [0; 5];
        for (n, word) in words.iter_mut().take(4).enumerate() {
            *word = (header >> (32 * n)) as u32;
        }
        // 129 bits: the highest, that of an individual address' first octet, is 0 here.
        let idle = In {
            m_axis_tready: true,
            cp_mac_i: 0x0200_0000_00aa,
            cp_id_i: 0x0200_0000_00aa_0001,
            cnm_priority_i: 6,
            ..In::default()
        };
        // Offset and growth are there two clocks before.
        let measure = In { message_q_off_i: 26_000, message_q_delta_i: 13_000, ..idle };
        core.clock(&measure);
        core.clock(&measure);
        core.clock(&In { message_valid_i: true, message_header_i: words, message_fb_i: 0x19, ..measure });
        let mut octets = Vec::new();
        for clock in 1.. {
            let out = core.clock(&idle);
            // A beat of two words in each second clock; the last has one word.
            assert_eq!(out.m_axis_tvalid, (clock >= 4 && clock % 2 == 0) || clock == 17, "clock {clock}");
            if out.m_axis_tvalid {
                octets.extend_from_slice(&out.m_axis_tdata.to_le_bytes()[..out.m_axis_tkeep.count_ones() as usize]);
                if out.m_axis_tlast {
                    break;
                }
            }
        }
        assert_eq!(octets, expected, "VLAN tag {vlan}, CN-TAG {flow}");
    }
}

/// Lengths of a message are in units of 64 octets, rounded towards zero, held within 16 bits, from one end of their range to the
/// other. The bounds are met by queues of more than 2.1 MB.
#[test]
fn notifier_holds_lengths_within_their_bits() {
    use cp_notifier::{Core, In};
    // A message begins with the client's EtherType behind two addresses; version and Fb, CPID, offset, growth.
    const Q_OFFSET: usize = 14 + 2 + 8;
    let of_64 = |octets: i32| (octets / 64).clamp(i16::MIN.into(), i16::MAX.into()) as i16;
    let mut random = Random::new(2);
    let mut core = Core::new(2);
    let idle = In { m_axis_tready: true, ..In::default() };
    core.clock(&In { rst_i: true, ..idle });
    let mut held = [0u64; 2];
    let corners = [0, 1, 63, 64, 65, 64 * 32_767, 64 * 32_768, 64 * 32_769, (1 << 24) - 1];
    for message in 0..20_000 {
        // The offset is the set point less the queue: of the other sign than what comes in.
        let mut lengths = [0; 2];
        for length in &mut lengths {
            let near = corners[random.below(9) as usize] + random.below(3) as i32 - 1;
            let octets = if random.one_in(2) { near } else { random.below(1 << 24) as i32 };
            *length = octets.clamp(0, (1 << 24) - 1) * if random.one_in(2) { -1 } else { 1 };
        }
        let [offset, growth] = lengths;
        let port = |octets: i32| octets as u32 & ((1 << 25) - 1);
        let measure = In { message_q_off_i: port(offset), message_q_delta_i: port(growth), ..idle };
        core.clock(&measure);
        core.clock(&measure);
        core.clock(&In { message_valid_i: true, message_fb_i: 1, ..measure });
        let mut octets = Vec::new();
        for _ in 0..30 {
            let out = core.clock(&idle);
            if out.m_axis_tvalid {
                octets.extend_from_slice(&out.m_axis_tdata.to_le_bytes()[..out.m_axis_tkeep.count_ones() as usize]);
            }
        }
        assert_eq!(octets.len(), 60);
        let field = |at: usize| i16::from_be_bytes([octets[at], octets[at + 1]]);
        let sent = [field(Q_OFFSET), field(Q_OFFSET + 2)];
        assert_eq!(sent, [of_64(-offset), of_64(growth)], "message {message}: offset {offset}, growth {growth}");
        for (held, sent) in held.iter_mut().zip(sent) {
            *held += u64::from(sent == i16::MAX || sent == i16::MIN);
        }
    }
    assert!(held.iter().all(|&held| held > 1_000), "{held:?}");
}

/// A stream of numbered frames.
struct Source {
    number: u64,
    beats_left: u64,
    valid: bool,
}

impl Source {
    fn clock(&mut self, random: &mut Random, pause: u64) {
        if !self.valid && random.one_in(pause) {
            if self.beats_left == 0 {
                self.number += 1;
                self.beats_left = 1 + random.below(6);
            }
            self.valid = true;
        }
    }

    /// A beat says whose it is, of which frame, and how many follow.
    fn data(&self, message: bool) -> u64 {
        u64::from(message) << 63 | self.number << 8 | self.beats_left
    }

    /// A last beat has some octets, a message's four.
    fn keep(&self, message: bool) -> u8 {
        match (self.beats_left, message) {
            (1, true) => 0x0f,
            (1, false) => 0xff >> (self.number % 8),
            _ => 0xff,
        }
    }

    fn taken(&mut self) {
        self.beats_left -= 1;
        self.valid = false;
    }
}

/// All frames of both inputs come out whole, in order and one after the other, and none of data begins while a message
/// waits.
#[test]
fn output_select_prefers_messages_and_keeps_frames_whole() {
    use cp_output_select::{Core, In};
    let seed = 1;
    let mut random = Random::new(seed);
    let mut core = Core::new(seed);
    core.clock(&In { rst_i: true, ..In::default() });
    let new = || Source { number: 0, beats_left: 0, valid: false };
    let (mut message, mut data) = (new(), new());
    let mut expected = VecDeque::new();
    let mut inside = None;
    let (mut messages, mut frames) = (0u64, 0u64);
    let clocks = at_least(2_000_000);
    for clock in 0..clocks {
        let pause = 1 + clock / 1000 % 7;
        message.clock(&mut random, pause * pause);
        data.clock(&mut random, 1 + clock / 7000 % 3);
        let input = In {
            rst_i: false,
            s_axis_message_tdata: message.data(true),
            s_axis_message_tkeep: message.keep(true),
            s_axis_message_tvalid: message.valid,
            s_axis_message_tlast: message.beats_left == 1,
            s_axis_message_tuser: false,
            s_axis_tdata: data.data(false),
            s_axis_tkeep: data.keep(false),
            s_axis_tvalid: data.valid,
            s_axis_tlast: data.beats_left == 1,
            s_axis_tuser: data.number % 3 == 0,
            m_axis_tready: !random.one_in(1 + clock / 3000 % 4 + 1),
        };
        let out = core.clock(&input);
        let at = || format!("seed {seed}, clock {clock}");
        if out.m_axis_tvalid {
            let shown = (out.m_axis_tdata, out.m_axis_tkeep, out.m_axis_tlast, out.m_axis_tuser);
            assert_eq!(Some(&shown), expected.front(), "{}", at());
            if input.m_axis_tready {
                expected.pop_front();
            }
        }
        let took = (message.valid && out.s_axis_message_tready, data.valid && out.s_axis_tready);
        assert!(took != (true, true), "{}", at());
        // At a frame's beginning a message that waits is first.
        assert!(!(took.1 && inside.is_none() && message.valid), "{}", at());
        for (takes, source, is_message) in [(took.0, &mut message, true), (took.1, &mut data, false)] {
            if takes {
                assert!(inside.is_none_or(|whose| whose == is_message), "{}", at());
                let last = source.beats_left == 1;
                let user = !is_message && source.number % 3 == 0;
                expected.push_back((source.data(is_message), source.keep(is_message), last, user));
                source.taken();
                inside = (!last).then_some(is_message);
                messages += u64::from(last && is_message);
                frames += u64::from(last && !is_message);
            }
        }
        assert!(expected.len() <= 1, "{}", at());
    }
    assert!(messages > clocks / 200 && frames > clocks / 100, "{messages} {frames}");
}
