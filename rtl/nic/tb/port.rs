//! A port of the NIC alone, for lines of several rates: how long a pause lasts, in which clock it begins, and how much of its
//! rate the line reaches.

use penstock_cosim::bits::Bits;
use penstock_cosim::stream::{Frame, Source};
use penstock_cosim::{Random, nic_port_10, nic_port_25, nic_port_40, nic_port_100};

use crate::pins::Memories;

/// From the last beat of a pause frame at the line until it is obeyed, with the least delay.
const OBEYED: u64 = 6 + 3;

/// Bits of a word of the delay lines' memories, and of an address.
const WORD: usize = 93;
const ADDRESS: usize = 10;

/// A clock of a port of any rate with its memories, which answer two clocks later.
macro_rules! clock {
    ($core:ident, $given:ident, $memories:ident) => {{
        for (w, memory) in $memories.iter().enumerate() {
            $given.mem_read_data_i.put(WORD * w, 64, memory.answer()[0]);
            $given.mem_read_data_i.put(WORD * w + 64, WORD - 64, memory.answer()[1]);
        }
        let out = $core.clock(&$given);
        for (w, memory) in $memories.iter_mut().enumerate() {
            let write = (out.mem_write_o.get(w, 1) == 1).then(|| {
                let data = &out.mem_write_data_o;
                let word = [data.get(WORD * w, 64), data.get(WORD * w + 64, WORD - 64)];
                (out.mem_write_address_o.get(ADDRESS * w, ADDRESS) as usize, word)
            });
            let read =
                (out.mem_read_o.get(w, 1) == 1).then(|| out.mem_read_address_o.get(ADDRESS * w, ADDRESS) as usize);
            memory.clock(write, read);
        }
        out
    }};
}

macro_rules! clocks_of_a_pause {
    ($module:ident, $quanta:expr) => {{
        let mut core = penstock_cosim::$module::Core::new(71);
        let mut given = $module::In { rst_i: true, m_axis_rx_tready: false, ..Default::default() };
        core.clock(&given);
        given.rst_i = false;
        let mut memories = [Memories::new(1 << ADDRESS), Memories::new(1 << ADDRESS)];
        let mut frame = Frame::new(vec![0; 60]);
        frame.octets[..6].copy_from_slice(&[0x01, 0x80, 0xc2, 0, 0, 1]);
        frame.octets[12..18].copy_from_slice(&[0x88, 0x08, 0x01, 0x01, 0, 1]);
        frame.octets[18..20].copy_from_slice(&($quanta as u16).to_be_bytes());
        let mut beats = frame.beats::<u64>().into_iter();
        let (mut last, mut began, mut ended) = (0u64, None, None);
        for now in 0.. {
            let beat = beats.next();
            if beat.is_some() {
                last = now;
            }
            let shown = beat.unwrap_or_default();
            given.s_axis_line_tvalid = beat.is_some();
            given.s_axis_line_tdata = shown.data;
            given.s_axis_line_tkeep = shown.keep;
            given.s_axis_line_tlast = shown.last;
            let out = clock!(core, given, memories);
            // The eight priorities that are stopped, in front of three counters of 32 bits.
            let paused = out.pfc_o.get(96, 8);
            assert!(paused <= 1);
            match (paused, began, ended) {
                (1, None, _) => began = Some(now),
                (0, Some(_), None) => ended = Some(now),
                _ => {}
            }
            if ended.is_some() || now > 1_000_000 {
                break;
            }
        }
        assert_eq!(began, Some(last + OBEYED), "when it begins");
        ended.expect("it ends") - began.expect("it begins")
    }};
}

/// 512 bit times each. At 10 Gb/s they are 51.2 ns, 8 clocks of 6.4 ns; at 25 Gb/s 20.48 ns, 3.2 clocks, and 4 are whole.
/// At 40 Gb/s they are 12.8 ns, 2 clocks; at 100 Gb/s 5.12 ns, 1.28 clocks of 4 ns, and 2 are whole.
#[test]
fn pauses_last_as_long_as_the_line_says() {
    for quanta in [1, 100, 65_535] {
        assert_eq!(clocks_of_a_pause!(nic_port_10, quanta), 8 * quanta);
        assert_eq!(clocks_of_a_pause!(nic_port_25, quanta), 4 * quanta);
        assert_eq!(clocks_of_a_pause!(nic_port_40, quanta), 2 * quanta);
        assert_eq!(clocks_of_a_pause!(nic_port_100, quanta), 2 * quanta);
    }
}

/// Two streams share a line of 10 Gb/s at 156.25 MHz, 64 bits a clock. Whatever the length of their frames, and with all of them
/// mixed, the line never waits for the choice of the next one.
#[test]
fn the_line_has_all_of_its_rate() {
    const CLOCKS: u64 = 12_000;
    let lengths = [60usize, 61, 64, 65, 100, 128, 133, 252, 509, 1000, 1514];
    let mut random = Random::new(72);
    for choice in lengths.chunks(1).chain([&lengths[..]]) {
        let mut core = nic_port_10::Core::new(73);
        let mut given = nic_port_10::In { rst_i: true, m_axis_line_tready: true, ..Default::default() };
        // Behind the two delays, of 0.
        given.rate_i = 10_000_000_000;
        core.clock(&given);
        given.rst_i = false;
        let mut sources = [Source::<u64>::default(), Source::<u64>::default()];
        let mut memories = [Memories::new(1 << ADDRESS), Memories::new(1 << ADDRESS)];
        let (mut first, mut last, mut octets, mut length, mut bits) = (None, 0, 0, 0, 0);
        for now in 0..CLOCKS {
            for (i, source) in sources.iter_mut().enumerate() {
                while source.left() < 10 {
                    let length = choice[random.below(choice.len() as u64) as usize];
                    source.push(&Frame::random(&mut random, length));
                }
                let beat = source.show(true).expect("there is always a frame");
                given.s_axis_tx_tdata.put(64 * i, 64, beat.data);
                given.s_axis_tx_tkeep.put(8 * i, 8, beat.keep.into());
                given.s_axis_tx_tvalid.put(i, 1, 1);
                given.s_axis_tx_tlast.put(i, 1, beat.last.into());
            }
            let out = clock!(core, given, memories);
            for (i, source) in sources.iter_mut().enumerate() {
                if out.s_axis_tx_tready.get(i, 1) == 1 {
                    source.take();
                }
            }
            // The time on the line is counted from first beat to first beat.
            if out.m_axis_line_tvalid {
                if length == 0 {
                    first.get_or_insert(now);
                    (last, bits) = (now, octets * 8);
                }
                length += u64::from(out.m_axis_line_tkeep.count_ones());
                if out.m_axis_line_tlast {
                    octets += length + 24;
                    length = 0;
                }
            }
        }
        let reached = bits as f64 / (64 * (last - first.expect("frames go"))) as f64;
        println!("{choice:?}: {:.2} % of 10 Gb/s", 100.0 * reached);
        assert!((0.995..1.001).contains(&reached), "{choice:?}: {reached}");
    }
}

/// The next frame is chosen when the line is about to get free: of two that wait then, the one whose turn it is goes, though the
/// other came first.
#[test]
fn the_choice_is_late() {
    let mut core = nic_port_10::Core::new(74);
    let mut given = nic_port_10::In { rst_i: true, m_axis_line_tready: true, ..Default::default() };
    given.rate_i = 1_000_000_000;
    core.clock(&given);
    given.rst_i = false;
    let mut sources = [Source::<u64>::default(), Source::<u64>::default()];
    let mut memories = [Memories::new(1 << ADDRESS), Memories::new(1 << ADDRESS)];
    for (input, octets) in [(0, 1_514), (0, 100), (1, 200)] {
        sources[input].push(&Frame::new(vec![input as u8; octets]));
    }
    let mut order = Vec::new();
    for now in 0..5_000 {
        for (i, source) in sources.iter_mut().enumerate() {
            let beat = source.show(i == 0 || now > 500);
            let shown = beat.unwrap_or_default();
            given.s_axis_tx_tdata.put(64 * i, 64, shown.data);
            given.s_axis_tx_tkeep.put(8 * i, 8, shown.keep.into());
            given.s_axis_tx_tvalid.put(i, 1, beat.is_some().into());
            given.s_axis_tx_tlast.put(i, 1, shown.last.into());
        }
        let out = clock!(core, given, memories);
        for (i, source) in sources.iter_mut().enumerate() {
            if given.s_axis_tx_tvalid.get(i, 1) == 1 && out.s_axis_tx_tready.get(i, 1) == 1 {
                source.take();
            }
        }
        if out.m_axis_line_tvalid && out.m_axis_line_tlast {
            order.push(out.m_axis_line_tdata as u8);
        }
    }
    assert_eq!(order, [0, 1, 0]);
}
