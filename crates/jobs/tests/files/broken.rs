//! Files that are cut off or changed: an error with its place, or a graph, but no panic and no endless memory.

use penstock_jobs::read::{self, File, Options};
use proptest::prelude::*;

use crate::{ALL_REDUCE, RING, data};

/// Reads whatever it is, and looks at the result as a caller does.
fn examine(name: &str, octets: &[u8], format: read::Format) -> Result<read::Imported, read::ReadError> {
    let file = File { name, octets };
    let options = Options { complete: true, ..Options::default() };
    let read = match format {
        read::Format::Goal => read::goal::read(&file, &options),
        read::Format::Chakra => read::chakra::read(&[file], &options),
        read::Format::ChakraJson => read::chakra_json::read(&[file], &options),
        read::Format::SimAi => read::simai::read(&file, &options),
    };
    match &read {
        Ok(read) => drop(read.graph.check()),
        Err(error) => assert!(error.file == name && !error.message.is_empty(), "{error:?}"),
    }
    read
}

const TEXTS: [(File<'static>, read::Format); 3] = [
    (data!("goal/messages.goal"), read::Format::Goal),
    (data!("simai/microAllReduce.txt"), read::Format::SimAi),
    (data!("chakra/small_chakra.0.json"), read::Format::ChakraJson),
];

#[test]
fn texts_that_are_cut_off_are_refused() {
    for (file, format) in TEXTS {
        // Blanks at the end of a file say nothing.
        let length = file.octets.trim_ascii_end().len();
        for end in 0..length {
            examine(file.name, &file.octets[..end], format).expect_err(file.name);
        }
        let whole = examine(file.name, &file.octets[..file.octets.len().min(length + 1)], format).expect("it is whole");
        assert!(!whole.graph.is_empty());
    }
}

#[test]
fn traces_that_are_cut_off_are_refused_or_have_fewer_nodes() {
    // A message that ends where the file ends is whole: such a file has the nodes up to there, and lacks partners.
    let mut graphs = 0;
    for end in 0..RING[0].octets.len() {
        let mut files = RING;
        files[0].octets = &RING[0].octets[..end];
        if let Ok(read) = read::read(&files, &Options::default()) {
            graphs += 1;
            assert_eq!(read.lost.sends.number + read.lost.receives.number > 0, graphs < 36, "{end}");
            assert_eq!(read.graph.len(), 7 * 35 + graphs - 1);
            read.graph.check().expect_err("messages lack their partners");
        }
    }
    // After the metadata, and after each node but the last.
    assert_eq!(graphs, 35);
    for end in 0..ALL_REDUCE[1].octets.len() {
        let mut files = ALL_REDUCE;
        files[1].octets = &ALL_REDUCE[1].octets[..end];
        match read::read(&files, &Options::default()) {
            Ok(read) => assert!(end == 8 && read.graph.check().is_err(), "{end}"),
            Err(error) => assert_eq!(error.file, files[1].name),
        }
    }
}

#[test]
fn no_octets_at_all_and_no_file_are_refused() {
    for format in [read::Format::Goal, read::Format::Chakra, read::Format::ChakraJson, read::Format::SimAi] {
        examine("x", b"", format).expect_err("it is empty");
    }
    read::read(&[], &Options::default()).expect_err("there is no file");
}

/// A file with some octets changed, taken out, or put twice.
fn changed(octets: &'static [u8]) -> impl Strategy<Value = Vec<u8>> {
    let change = (0..octets.len(), any::<u8>(), 0..4_usize);
    prop::collection::vec(change, 1..6).prop_map(|changes| {
        let mut changed = octets.to_vec();
        for (at, octet, how) in changes {
            let at = at.min(changed.len() - 1);
            match how {
                0 => changed[at] = octet,
                1 => drop(changed.remove(at)),
                2 => changed.insert(at, octet),
                _ => changed.extend_from_within(at..),
            }
            if changed.is_empty() {
                changed.push(octet);
            }
        }
        changed
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn changed_goal(octets in changed(TEXTS[0].0.octets)) {
        drop(examine("x", &octets, read::Format::Goal));
    }

    #[test]
    fn changed_simai(octets in changed(TEXTS[1].0.octets)) {
        drop(examine("x", &octets, read::Format::SimAi));
    }

    #[test]
    fn changed_json(octets in changed(TEXTS[2].0.octets)) {
        drop(examine("x", &octets, read::Format::ChakraJson));
    }

    #[test]
    fn changed_chakra(octets in changed(RING[0].octets)) {
        drop(examine("x", &octets, read::Format::Chakra));
    }

    #[test]
    fn random_octets(octets in prop::collection::vec(any::<u8>(), 0..300)) {
        for format in [read::Format::Goal, read::Format::Chakra, read::Format::ChakraJson, read::Format::SimAi] {
            drop(examine("x", &octets, format));
        }
    }
}
