//! The rows of a row group that have some names.
//!
//! A file has each name of a row group once, in a dictionary, and a number a row that stands for one. To compare these numbers
//! takes a seventh of the time that it takes to make a name of each and compare the names.
//!
//! The crate `parquet` unpacks such numbers as well, and shows how only under its feature `experimental`, for which it promises nothing.
//!
//! Source: Apache Parquet format, *Encodings*: "Run Length Encoding / Bit-Packing Hybrid", "Dictionary Encoding".

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, DictionaryArray, Int32Array};
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageReader};
use parquet::errors::ParquetError;

use super::row_runs::Rows;

/// Rows that have one of some names, and the column of these rows' names.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) rows: Rows,
    pub(super) names: ArrayRef,
}

/// Finds the rows that have one of the names `wanted`, in a column without missing values.
///
/// `None` if the column has another encoding or is damaged. Then it is to be read value by value, which reports the damage.
///
/// # Errors
/// If a page cannot be read.
pub(super) fn named(
    mut pages: Box<dyn PageReader>,
    rows: usize,
    wanted: &[&str],
) -> Result<Option<Found>, ParquetError> {
    let Some(Page::DictionaryPage { buf, num_values, encoding, .. }) = pages.get_next_page()? else { return Ok(None) };
    if !matches!(encoding, Encoding::PLAIN | Encoding::PLAIN_DICTIONARY) {
        return Ok(None);
    }
    let Some(places) = places(&buf, num_values, wanted) else { return Ok(None) };
    let mut search = Search { places, rows: Rows::default(), passed: 0, found: Vec::new() };
    let mut seen = 0;
    while let Some(page) = pages.get_next_page()? {
        let Page::DataPage { buf, num_values, encoding, .. } = page else { return Ok(None) };
        let numbers = matches!(encoding, Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY);
        seen += num_values as usize;
        if !numbers || seen > rows || search.page(&buf, num_values as usize).is_none() {
            return Ok(None);
        }
    }
    Ok((seen == rows).then(|| search.over(wanted)))
}

/// The index of a name that is not wanted.
const NOWHERE: u32 = u32::MAX;

/// For each name of a dictionary its index among the wanted ones.
fn places(mut dictionary: &[u8], names: u32, wanted: &[&str]) -> Option<Vec<u32>> {
    let place = |name: &[u8]| wanted.iter().position(|wanted| wanted.as_bytes() == name);
    let mut places = Vec::new();
    for _ in 0..names {
        let (length, rest) = dictionary.split_first_chunk::<4>()?;
        let (name, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        places.push(place(name).map_or(NOWHERE, |place| place as u32));
        dictionary = rest;
    }
    Some(places)
}

/// An unfinished search.
struct Search {
    places: Vec<u32>,
    rows: Rows,
    /// Rows behind the last one that was found.
    passed: usize,
    /// For each row found the index of its name.
    found: Vec<u32>,
}

impl Search {
    /// Looks at the numbers of a page, which are in runs: of one number that is repeated, or of groups of eight with just the bits
    /// that the largest needs. `None` if it has fewer than it should have, or one that stands for no name.
    fn page(&mut self, page: &[u8], mut left: usize) -> Option<()> {
        let (&width, mut rest) = page.split_first()?;
        let width = usize::from(width);
        if width > 32 {
            return None;
        }
        while left > 0 {
            let (head, behind) = run_head(rest)?;
            if head & 1 == 1 {
                let (packed, behind) = behind.split_at_checked((head >> 1).checked_mul(width)?)?;
                // The last group is filled up with numbers that stand for no row.
                let numbers = left.min((head >> 1).checked_mul(8)?);
                for number in 0..numbers {
                    self.rows_of(bits(packed, number * width, width), 1)?;
                }
                (left, rest) = (left - numbers, behind);
            } else {
                let (number, behind) = behind.split_at_checked(width.div_ceil(8))?;
                let repeated = left.min(head >> 1);
                self.rows_of(bits(number, 0, width), repeated)?;
                (left, rest) = (left - repeated, behind);
            }
            if head < 2 {
                // A run of nothing could go on for ever.
                return None;
            }
        }
        Some(())
    }

    /// Looks at rows that have the same number.
    fn rows_of(&mut self, number: usize, rows: usize) -> Option<()> {
        let place = *self.places.get(number)?;
        if place == NOWHERE {
            self.passed += rows;
        } else {
            self.rows.add(std::mem::take(&mut self.passed), rows);
            self.found.extend(std::iter::repeat_n(place, rows));
        }
        Some(())
    }

    fn over(self, wanted: &[&str]) -> Found {
        let mut keys = vec![None; wanted.len()];
        let (mut names, mut listed) = (StringBuilder::new(), 0);
        let keys: Int32Array = self
            .found
            .iter()
            .map(|&place| {
                *keys[place as usize].get_or_insert_with(|| {
                    names.append_value(wanted[place as usize]);
                    listed += 1;
                    listed - 1
                })
            })
            .collect();
        Found { rows: self.rows, names: Arc::new(DictionaryArray::new(keys, Arc::new(names.finish()))) }
    }
}

/// The head of a run, seven bits an octet, the lowest first; and the octets behind it.
fn run_head(octets: &[u8]) -> Option<(usize, &[u8])> {
    let mut head = 0;
    for (place, &octet) in octets.iter().enumerate().take(5) {
        head |= usize::from(octet & 0x7f) << (7 * place);
        if octet & 0x80 == 0 {
            return Some((head, &octets[place + 1..]));
        }
    }
    None
}

/// The number of `width` bits, 32 at most, that begins at the bit `first` of packed numbers.
fn bits(packed: &[u8], first: usize, width: usize) -> usize {
    let behind = &packed[(first / 8).min(packed.len())..];
    let octets = behind.first_chunk::<8>().copied().unwrap_or_else(|| {
        let mut octets = [0; 8];
        octets[..behind.len()].copy_from_slice(behind);
        octets
    });
    (u64::from_le_bytes(octets) >> (first % 8) & ((1 << width) - 1)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of rows, and the indices of the names of these rows.
    type RowsAndPlaces = (Vec<(usize, usize)>, Vec<u32>);

    /// Looks at a page of numbers.
    fn page(page: &[u8], numbers: usize, places: &[u32]) -> Option<RowsAndPlaces> {
        let mut search = Search { places: places.to_vec(), rows: Rows::default(), passed: 0, found: Vec::new() };
        search.page(page, numbers)?;
        Some((search.rows.runs().to_vec(), search.found))
    }

    #[test]
    fn numbers_are_read_as_the_format_has_them() {
        // The example of the format: 0 to 7 in three bits each, 10001000 11000110 11111010.
        let packed = [3, 0b11, 0b1000_1000, 0b1100_0110, 0b1111_1010];
        let places = [NOWHERE, NOWHERE, 1, NOWHERE, NOWHERE, 0, 0, NOWHERE];
        assert_eq!(page(&packed, 8, &places), Some((vec![(2, 1), (2, 2)], vec![1, 0, 0])));
        // Fewer rows than a group has numbers: the rest stands for nothing.
        assert_eq!(page(&packed, 6, &places), Some((vec![(2, 1), (2, 1)], vec![1, 0])));
        // 200 times the number 2, then 100 times 1.
        let repeated = [2, 0b1001_0000, 0b11, 2, 0b1100_1000, 0b1, 1];
        assert_eq!(page(&repeated, 300, &[NOWHERE, NOWHERE, 0]), Some((vec![(0, 200)], vec![0; 200])));
        assert_eq!(page(&repeated, 300, &[NOWHERE, 0, NOWHERE]), Some((vec![(200, 100)], vec![0; 100])));
        // A dictionary of one name needs no bits.
        assert_eq!(page(&[0, 0b1000], 4, &[0]), Some((vec![(0, 4)], vec![0; 4])));
        // 32 bits, the widest.
        let wide =
            [32, 0b11, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(page(&wide, 8, &[NOWHERE, 0]), Some((vec![(0, 1), (1, 1), (1, 3)], vec![0; 5])));
    }

    #[test]
    fn a_page_that_is_not_whole_is_left_to_the_other_reader() {
        let places = [0, NOWHERE];
        for broken in [
            &[][..],
            &[1],
            // Wider than any number.
            &[33, 0b10, 0, 0, 0, 0, 0],
            // A head without end, and runs that lack their numbers.
            &[1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80],
            &[1, 0b10],
            &[1, 0b101, 0xff],
            // Runs of nothing.
            &[1, 0, 0, 0, 0],
            &[1, 1, 1, 1, 1],
            // A number that stands for no name.
            &[2, 0b10, 2],
            // As many numbers as no machine holds.
            &[32, 0xff, 0xff, 0xff, 0xff, 0x0f],
        ] {
            assert_eq!(page(broken, 9, &places), None, "{broken:?}");
        }
    }

    #[test]
    fn a_dictionary_that_is_not_whole_is_left_to_the_other_reader() {
        let dictionary = [2, 0, 0, 0, b'h', b'1', 0, 0, 0, 0, 2, 0, 0, 0, b'h', b'2'];
        assert_eq!(places(&dictionary, 3, &["h2", "h1"]), Some(vec![1, NOWHERE, 0]));
        assert_eq!(places(&dictionary, 4, &["h2", "h1"]), None);
        assert_eq!(places(&dictionary[..15], 3, &["h2", "h1"]), None);
        assert_eq!(places(&[0xff; 16], 1, &["h2", "h1"]), None);
    }
}
