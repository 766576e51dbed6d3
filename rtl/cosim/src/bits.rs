//! Fields of ports: bits of a number, of a flag, or of as many words as a port has.

/// A port that holds fields of up to 64 bits.
pub trait Bits {
    /// The field of `bits` bits that begins at the bit `from`.
    fn get(&self, from: usize, bits: usize) -> u64;
    /// Sets that field.
    fn put(&mut self, from: usize, bits: usize, value: u64);
}

macro_rules! bits_of {
    ($($kind:ty),*) => {$(
        impl Bits for $kind {
            fn get(&self, from: usize, bits: usize) -> u64 {
                u64::from(*self) >> from & (!0 >> (64 - bits))
            }
            fn put(&mut self, from: usize, bits: usize, value: u64) {
                let mask = (!0u64 >> (64 - bits)) << from;
                *self = ((u64::from(*self) & !mask) | (value << from)) as $kind;
            }
        }
    )*};
}

bits_of!(u8, u16, u32, u64);

impl Bits for bool {
    fn get(&self, _: usize, _: usize) -> u64 {
        (*self).into()
    }
    fn put(&mut self, _: usize, _: usize, value: u64) {
        *self = value != 0;
    }
}

impl<const N: usize> Bits for [u32; N] {
    fn get(&self, from: usize, bits: usize) -> u64 {
        let word = |i: usize| u128::from(self.as_slice().get(from / 32 + i).copied().unwrap_or(0));
        let three = word(0) | word(1) << 32 | word(2) << 64;
        (three >> (from % 32)) as u64 & (!0 >> (64 - bits))
    }
    fn put(&mut self, from: usize, bits: usize, value: u64) {
        let mask = u128::from(!0u64 >> (64 - bits)) << (from % 32);
        let value = u128::from(value) << (from % 32);
        for (i, word) in self.iter_mut().skip(from / 32).take(3).enumerate() {
            let part = |all: u128| (all >> (32 * i)) as u32;
            *word = (*word & !part(mask)) | part(value & mask);
        }
    }
}
