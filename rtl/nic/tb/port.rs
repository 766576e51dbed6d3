//! A port of the NIC alone, for lines of several rates: how long a pause lasts, and in which clock it begins.

use penstock_cosim::bits::Bits;
use penstock_cosim::stream::Frame;
use penstock_cosim::{nic_port_10, nic_port_25, nic_port_40, nic_port_100};

use crate::pins::Memories;

/// From the last beat of a pause frame at the line until it is obeyed, with the least delay.
const OBEYED: u64 = 6 + 3;

macro_rules! clocks_of_a_pause {
    ($module:ident, $quanta:expr) => {{
        const WORD: usize = 93;
        const ADDRESS: usize = 10;
        let mut core = penstock_cosim::$module::Core::new(71);
        let mut given = $module::In { rst_i: true, m_axis_rx_tready: false, ..Default::default() };
        core.clock(&given);
        given.rst_i = false;
        let mut memories = [Memories::new(1 << ADDRESS), Memories::new(1 << ADDRESS)];
        let mut frame = Frame::new(vec![0; 60]);
        frame.octets[..6].copy_from_slice(&[0x01, 0x80, 0xc2, 0, 0, 1]);
        frame.octets[12..18].copy_from_slice(&[0x88, 0x08, 0x01, 0x01, 0, 1]);
        frame.octets[18..20].copy_from_slice(&($quanta as u16).to_be_bytes());
        let mut beats = frame.beats().into_iter();
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
            for (w, memory) in memories.iter().enumerate() {
                given.mem_read_data_i.put(WORD * w, 64, memory.answer()[0]);
                given.mem_read_data_i.put(WORD * w + 64, WORD - 64, memory.answer()[1]);
            }
            let out = core.clock(&given);
            for (w, memory) in memories.iter_mut().enumerate() {
                let write = (out.mem_write_o.get(w, 1) == 1).then(|| {
                    let data = &out.mem_write_data_o;
                    let word = [data.get(WORD * w, 64), data.get(WORD * w + 64, WORD - 64)];
                    (out.mem_write_address_o.get(ADDRESS * w, ADDRESS) as usize, word)
                });
                let read =
                    (out.mem_read_o.get(w, 1) == 1).then(|| out.mem_read_address_o.get(ADDRESS * w, ADDRESS) as usize);
                memory.clock(write, read);
            }
            // The eight priorities that are stopped, in front of three counters of 32 bits.
            let paused = out.counters_o.get(96, 8);
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

/// 512 bit times each: at 10 Gb/s 51.2 ns, which are 8 clocks of 6.4 ns; at 25 Gb/s 20.48 ns, 3.2 clocks, and 4 are whole;
/// at 40 Gb/s 12.8 ns, 2 clocks; at 100 Gb/s 5.12 ns, 1.28 clocks of 4 ns, and 2 are whole.
#[test]
fn pauses_last_as_long_as_the_line_says() {
    for quanta in [1, 100, 65_535] {
        assert_eq!(clocks_of_a_pause!(nic_port_10, quanta), 8 * quanta);
        assert_eq!(clocks_of_a_pause!(nic_port_25, quanta), 4 * quanta);
        assert_eq!(clocks_of_a_pause!(nic_port_40, quanta), 2 * quanta);
        assert_eq!(clocks_of_a_pause!(nic_port_100, quanta), 2 * quanta);
    }
}
