//! Prefetch: loads memory into the processor's cache before it is needed. It changes no result; a useless prefetch costs only its
//! time. For drivers of many endpoints, whose state exceeds the cache.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use prefetch_index::prefetch_index;

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline(always)]
fn prefetch_index<T>(_: &[T], _: usize) {}

/// Asks for the line of cache in which a value lies, or begins.
#[inline(always)]
pub fn ask_for<T>(value: &T) {
    prefetch_index(core::slice::from_ref(value), 0);
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

/// The address at which a value begins, as the first field of its `repr(C)`: its cache lines are counted from there.
pub type Start = [[u8; LINE]; 0];
/// That address.
pub const START: Start = [];

/// Octets of a line of cache.
const LINE: usize = 64;

/// Prefetches the cache lines of `octets` octets.
#[inline(always)]
pub fn ask_for_lines(start: &Start, octets: usize) {
    (0..octets.div_ceil(LINE)).for_each(|line| prefetch_index(start, line));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[repr(C, align(64))]
    struct Marked {
        start: Start,
        value: [u64; 9],
    }

    #[test]
    fn the_mark_takes_no_room_and_stands_at_the_beginning() {
        assert_eq!((core::mem::offset_of!(Marked, start), size_of::<Marked>()), (0, 128));
        let marked = Marked { start: START, value: [7; 9] };
        ask_for_lines(&marked.start, size_of::<Marked>());
        assert_eq!(marked.value, [7; 9]);
    }

    /// Entries that are not there may be asked for.
    #[test]
    fn nothing_happens_beyond_a_list() {
        for index in [0, 3, usize::MAX] {
            ask_for_start(&[1_u8, 2], index);
            ask_for_entry(&[1_u64; 0], index);
        }
    }
}
