//! Asks the processor for memory in advance. An answer never changes what a program computes, and what is asked for in vain costs its time
//! alone.

use prefetch_index::prefetch_index;

/// Asks for the line of cache in which a value lies, or begins.
#[inline(always)]
pub fn ask_for<T>(value: &T) {
    prefetch_index(std::slice::from_ref(value), 0);
}

/// Asks for the line in which an entry of a list begins.
#[inline(always)]
pub fn ask_for_start<T>(entries: &[T], index: usize) {
    prefetch_index(entries, index);
}

/// Asks for the first and the last line of an entry of a list.
#[inline(always)]
pub fn ask_for_entry<T>(entries: &[T], index: usize) {
    prefetch_index(entries, index);
    prefetch_index(entries, index.wrapping_add(1));
}

/// The place where a value begins, as the first field of its `repr(C)`: its lines are counted from there.
pub type Start = [[u8; LINE]; 0];
/// That place.
pub const START: Start = [];

/// Octets of a line of cache.
const LINE: usize = 64;

/// Asks for the lines of so many octets.
#[inline(always)]
pub fn ask_for_lines(start: &Start, octets: usize) {
    (0..octets.div_ceil(LINE)).for_each(|line| prefetch_index(start, line));
}
