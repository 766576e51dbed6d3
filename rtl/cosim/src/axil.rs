//! The registers as software sees them: names instead of addresses, and a master of AXI4-Lite.

use std::collections::VecDeque;

include!("../../build/generated/addresses.rs");

/// Registers of a map: name, address, bits.
pub type Map = &'static [(&'static str, u16, u32)];

/// A word that is to be written or read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Write(u16, u32),
    Read(u16),
}

/// Inputs of the bus in a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Given {
    /// `awaddr`, if `awvalid`.
    pub aw: Option<u16>,
    /// `wdata`, if `wvalid`.
    pub w: Option<u32>,
    /// `araddr`, if `arvalid`.
    pub ar: Option<u16>,
}

/// Outputs of the bus in a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shown {
    /// `awready`.
    pub aw: bool,
    /// `wready`.
    pub w: bool,
    /// `bresp`, if `bvalid`.
    pub b: Option<u8>,
    /// `arready`.
    pub ar: bool,
    /// `rresp` and `rdata`, if `rvalid`.
    pub r: Option<(u8, u32)>,
}

/// A master that does one access after the other. It is always ready for an answer.
#[derive(Debug)]
pub struct Master {
    map: Map,
    coming: VecDeque<Access>,
    now: Option<Access>,
    given: Given,
    words: Vec<u32>,
}

impl Master {
    /// A master of a map, with nothing to do.
    #[must_use]
    pub fn new(map: Map) -> Self {
        Self { map, coming: VecDeque::new(), now: None, given: Given::default(), words: Vec::new() }
    }

    fn place(&self, name: &str) -> (u16, u32) {
        let found = self.map.iter().find(|(path, ..)| *path == name);
        let &(_, address, bits) = found.unwrap_or_else(|| panic!("there is no register {name}"));
        (address, bits)
    }

    /// A register is to be written.
    ///
    /// # Panics
    /// If there is no such register, or the value does not fit.
    pub fn write(&mut self, name: &str, value: u64) {
        let (address, bits) = self.place(name);
        assert!(bits == 64 || value >> bits == 0, "{value} does not fit {name}");
        self.coming.push_back(Access::Write(address, value as u32));
        if bits > 32 {
            self.coming.push_back(Access::Write(address + 4, (value >> 32) as u32));
        }
    }

    /// A register is to be read; its words are the next that [`Self::answer`] gives.
    ///
    /// # Panics
    /// If there is no such register.
    pub fn read(&mut self, name: &str) {
        let (address, bits) = self.place(name);
        self.coming.push_back(Access::Read(address));
        if bits > 32 {
            self.coming.push_back(Access::Read(address + 4));
        }
    }

    /// The register that was read, once all is done.
    pub fn answer(&mut self) -> Option<u64> {
        if self.busy() {
            return None;
        }
        let value = self.words.iter().rev().fold(0, |all, &word| all << 32 | u64::from(word));
        self.words.clear();
        Some(value)
    }

    /// There is something to do.
    #[must_use]
    pub fn busy(&self) -> bool {
        self.now.is_some() || !self.coming.is_empty()
    }

    /// Reset: the accesses that were to come are forgotten.
    pub fn clear(&mut self) {
        *self = Self::new(self.map);
    }

    /// Inputs of the bus in this clock.
    pub fn show(&mut self) -> Given {
        if self.now.is_none() {
            self.now = self.coming.pop_front();
            self.given = match self.now {
                Some(Access::Write(address, data)) => Given { aw: Some(address), w: Some(data), ar: None },
                Some(Access::Read(address)) => Given { aw: None, w: None, ar: Some(address) },
                None => Given::default(),
            };
        }
        self.given
    }

    /// Its outputs in the same clock.
    ///
    /// # Panics
    /// If it answers with an error, or to nothing.
    pub fn see(&mut self, shown: &Shown) {
        let given = &mut self.given;
        given.aw = given.aw.filter(|_| !shown.aw);
        given.w = given.w.filter(|_| !shown.w);
        given.ar = given.ar.filter(|_| !shown.ar);
        if let Some(response) = shown.b {
            assert_eq!((response, matches!(self.now, Some(Access::Write(..)))), (0, true), "{:?}", self.now);
            self.now = None;
        }
        if let Some((response, data)) = shown.r {
            assert_eq!((response, matches!(self.now, Some(Access::Read(_)))), (0, true), "{:?}", self.now);
            self.now = None;
            self.words.push(data);
        }
    }
}
