//! The golden frames of `golden.txt`, and random numbers that are the same in every run.
//! Not every test uses all of it.
#![allow(dead_code, unused_imports, unused_macros)]

use penstock_wire::capture::{Captured, ETHERNET};

/// A frame of the file.
pub(crate) struct Golden {
    pub(crate) name: String,
    pub(crate) octets: Vec<u8>,
    /// `layer.field` and its value, or `layer` and its octets, in the file's order.
    pub(crate) values: Vec<(String, String)>,
}

/// All frames of the file.
pub(crate) fn golden() -> Vec<Golden> {
    let mut frames: Vec<Golden> = Vec::new();
    for line in include_str!("../../golden.txt").lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(name) = line.strip_prefix('[') {
            let name = name.trim_end_matches(']').to_string();
            frames.push(Golden { name, octets: Vec::new(), values: Vec::new() });
            continue;
        }
        let frame = frames.last_mut().expect("a frame has its name first");
        if let Some(octets) = line.strip_prefix("hex:") {
            frame.octets.extend(octets.split_whitespace().map(|octet| u8::from_str_radix(octet, 16).expect("hex")));
        } else {
            let (name, value) = line.split_once(" = ").expect("name = value");
            frame.values.push((name.to_string(), value.to_string()));
        }
    }
    frames
}

/// The record of a frame of Ethernet that had `original` octets.
pub(crate) fn captured(interface: u32, time_ns: u64, octets: &[u8], original: usize) -> Captured<'_> {
    let original = original as u32;
    Captured { interface, link: ETHERNET, time_ns: Some(time_ns), octets, original, offset: 0, comment: None }
}

/// A generator of Marsaglia's (2003), xorshift64*.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `end`, which is above 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }
}
