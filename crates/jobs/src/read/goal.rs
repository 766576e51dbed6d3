//! GOAL: the schedules of LogGOPSim as text.
//!
//! Source of the grammar: the scanner `src/LogGOPSim/txt2bin.re` of <https://github.com/spcl/LogGOPSim>.
//!
//! ```text
//! file := 'num_ranks' INT { 'rank' INT '{' { line } '}' }
//! line := [LABEL ':'] op NL | LABEL ('requires' | 'irequires') LABEL NL | comment
//! op   := 'calc' INT ['cpu' INT]
//!       | 'send' INT 'b' 'to' INT ['tag' (INT | -1)] ['cpu' INT] ['nic' INT]
//!       | 'recv' INT 'b' 'from' (INT | -1) ['tag' (INT | -1)] ['cpu' INT] ['nic' INT]
//! ```
//!
//! A comment goes from `//` to the end of its line, or from `/*` to `*/`. Blanks between words may be left out. A label
//! holds within its rank and is defined above its use. `requires` waits for the end of the other, `irequires` for its
//! start. A calculation has nanoseconds.
//!
//! Here ranks may have any order, a line may begin with blanks, and a comment may follow an operation. A rank or a
//! label that appears twice is refused. So are a file that lacks a rank, and numbers that the scanner would cut to 8 or
//! 32 bits. As there, -1 at a receive is any, and a send of tag -1 has the tag 2^32 - 1.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::draft::Draft;
use super::{File, Imported, Options, Place, ReadError, shown};
use crate::graph::{NodeId, Rank, Work};
use crate::time::Time;

/// Reads the schedules of all ranks.
///
/// # Errors
///
/// A line is none of the grammar, names a label before its definition, or has a number beyond its range; a rank is
/// missing.
pub fn read(file: &File<'_>, options: &Options<'_>) -> Result<Imported, ReadError> {
    schedules(file, options).map_err(|error| error.in_file(file.name))
}

fn schedules(file: &File<'_>, options: &Options<'_>) -> Result<Imported, ReadError> {
    let mut text = Scanner { octets: file.octets, at: 0, line: 1 };
    text.space();
    if !text.take(b"num_ranks") {
        return Err(text.error("the file does not begin with num_ranks; write, for instance, num_ranks 16"));
    }
    let begin = text.line;
    let ranks = text.number("the number of ranks", u64::from(u32::MAX))? as u32;
    let mut draft = Draft::new(ranks, options);
    draft.begin_file(file.name);
    let mut seen = BTreeSet::new();
    let mut fixed = 0;
    while !text.is_empty_after_space() {
        let line = text.line;
        if !text.take(b"rank") {
            return Err(text.error("a rank is due here; write, for instance, rank 0 {"));
        }
        let rank = text.number("a rank", u64::from(u32::MAX))? as u32;
        if rank >= ranks {
            return Err(ReadError::new(Place::Line(line), format!("there is no rank {rank}; num_ranks is {ranks}")));
        }
        if !seen.insert(rank) {
            return Err(ReadError::new(Place::Line(line), format!("rank {rank} appears twice; write it once")));
        }
        text.blanks();
        if !text.take(b"{") {
            return Err(text.error("a { is due here, before the operations of the rank"));
        }
        fixed += operations(&mut text, rank, &mut draft)?;
    }
    if seen.len() as u64 != u64::from(ranks) {
        let missing = (0..ranks).zip(seen.iter().map(Some).chain(core::iter::repeat(None)));
        let missing = missing.filter(|&(rank, seen)| seen != Some(&rank)).map(|(rank, _)| rank).next().unwrap_or(0);
        let reason = format!("num_ranks is {ranks}, and there is no rank {missing}; write rank {missing} {{ and }}");
        return Err(ReadError::new(Place::Line(begin), reason));
    }
    if ranks == 0 {
        return Err(ReadError::new(Place::Line(begin), "num_ranks is 0; write 1 at least"));
    }
    if fixed > 0 {
        draft
            .notes
            .push(format!("{fixed} sends and receives name a cpu or nic other than 0, which changes nothing here"));
    }
    draft.finish()
}

/// Reads the operations of a rank up to its `}`; returns how many messages have a cpu or nic that is not followed.
fn operations(text: &mut Scanner<'_>, rank: Rank, draft: &mut Draft<'_>) -> Result<u64, ReadError> {
    let mut labels: BTreeMap<&[u8], NodeId> = BTreeMap::new();
    let mut fixed = 0;
    loop {
        text.space();
        if text.take(b"}") {
            return Ok(fixed);
        }
        if text.is_empty() {
            return Err(text.error(format!("the file ends inside rank {rank}; write a }} after its last operation")));
        }
        let place = Place::Line(text.line);
        let mut word = text.label();
        let mut label = None;
        if !matches!(word, b"calc" | b"send" | b"recv") {
            if word.is_empty() || matches!(word, b"rank" | b"num_ranks") {
                return Err(
                    text.error(format!("an operation, a label or a }} is due here, and not {}", text.next_shown()))
                );
            }
            text.blanks();
            let at_start = text.take(b"irequires");
            if at_start || text.take(b"requires") {
                text.blanks();
                let other = text.label();
                let find = |label: &[u8]| {
                    let reason = || {
                        format!("no operation of rank {rank} above has the label {:?}; define it first", shown(label))
                    };
                    labels.get(label).copied().ok_or_else(|| ReadError::new(place, reason()))
                };
                let (node, other) = (find(word)?, find(other)?);
                if at_start {
                    draft.after_start(node, other)
                } else {
                    draft.after(node, other)
                }
                text.end_of_line()?;
                continue;
            }
            if !text.take(b":") {
                return Err(
                    text.error(format!("after the label {:?} a colon, requires or irequires is due", shown(word)))
                );
            }
            label = Some(word);
            text.blanks();
            word = [&b"calc"[..], b"send", b"recv"].into_iter().find(|operation| text.take(operation)).unwrap_or(b"");
        }
        let Operation { work, cpu, other_unit } = operation(text, word)?;
        fixed += u64::from(other_unit);
        let name = label.map_or(String::new(), |label| String::from_utf8_lossy(label).into_owned());
        let node = draft.node(rank, work, &name, cpu, place)?;
        if let Some(label) = label
            && labels.insert(label, node).is_some()
        {
            let reason =
                format!("the label {:?} appears twice in rank {rank}; give each operation its own", shown(label));
            return Err(ReadError::new(place, reason));
        }
        text.end_of_line()?;
    }
}

/// An operation, its processor, and whether it is a message that names a cpu or nic other than 0.
struct Operation {
    work: Work,
    cpu: u32,
    other_unit: bool,
}

/// Reads an operation after its first word.
fn operation(text: &mut Scanner<'_>, word: &[u8]) -> Result<Operation, ReadError> {
    let unit = |text: &mut Scanner<'_>, name: &[u8], largest: u64| {
        text.blanks();
        if text.take(name) { text.number("a number", largest).map(|number| number as u32) } else { Ok(0) }
    };
    if word == b"calc" {
        let ns = text.number("a time in ns", u64::MAX / 1000)?;
        let cpu = unit(text, b"cpu", 255)?;
        return Ok(Operation {
            work: Work::Compute { time: Time::Fixed(ns * 1000), unit: cpu },
            cpu,
            other_unit: false,
        });
    }
    if word != b"send" && word != b"recv" {
        return Err(text.error(format!("calc, send or recv is due here, and not {}", text.next_shown())));
    }
    let octets = text.number("a size in octets", u64::MAX)?;
    text.blanks();
    if !text.take(b"b") {
        return Err(text.error("a b is due after the size; write, for instance, 4096b"));
    }
    text.blanks();
    let direction = if word == b"send" { &b"to"[..] } else { b"from" };
    if !text.take(direction) {
        return Err(text.error(format!("{} and a rank are due after the size", shown(direction))));
    }
    text.blanks();
    let any = word == b"recv" && text.take(b"-1");
    let peer = if any { None } else { Some(text.number("a rank", u64::from(u32::MAX))? as u32) };
    text.blanks();
    let tag = if text.take(b"tag") {
        text.blanks();
        if text.take(b"-1") { None } else { Some(text.number("a tag", u64::from(u32::MAX))? as u32) }
    } else {
        Some(0)
    };
    let cpu = unit(text, b"cpu", 255)?;
    let nic = unit(text, b"nic", 255)?;
    let work = match peer.filter(|_| word == b"send") {
        Some(to) => Work::Send { to, octets, tag: tag.unwrap_or(u32::MAX) },
        None => Work::Receive { from: peer, octets, tag },
    };
    Ok(Operation { work, cpu, other_unit: cpu != 0 || nic != 0 })
}

/// The text from `at` on, whose first octet is in `line`.
struct Scanner<'a> {
    octets: &'a [u8],
    at: usize,
    line: usize,
}

impl<'a> Scanner<'a> {
    fn error(&self, reason: impl Into<String>) -> ReadError {
        ReadError::new(Place::Line(self.line), reason)
    }

    fn rest(&self) -> &'a [u8] {
        &self.octets[self.at..]
    }

    fn is_empty(&self) -> bool {
        self.at == self.octets.len()
    }

    /// Takes these octets if they come next.
    fn take(&mut self, word: &[u8]) -> bool {
        let found = self.rest().starts_with(word);
        self.at += if found { word.len() } else { 0 };
        found
    }

    /// Takes octets as long as they are of a kind, and returns them.
    fn take_while(&mut self, kind: impl Fn(u8) -> bool) -> &'a [u8] {
        let rest = self.rest();
        let length = rest.iter().position(|&octet| !kind(octet)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn blanks(&mut self) {
        self.take_while(|octet| octet == b' ' || octet == b'\t');
    }

    /// Takes the end of a line, if it comes next.
    fn new_line(&mut self) -> bool {
        let found = self.take(b"\n") || self.take(b"\r\n");
        self.line += usize::from(found);
        found
    }

    /// Takes blanks, ends of lines and comments.
    fn space(&mut self) {
        loop {
            self.blanks();
            if self.take(b"//") {
                self.take_while(|octet| octet != b'\n');
            } else if self.take(b"/*") {
                while !self.is_empty() && !self.take(b"*/") {
                    self.line += usize::from(self.octets[self.at] == b'\n');
                    self.at += 1;
                }
            } else if !self.new_line() {
                return;
            }
        }
    }

    fn is_empty_after_space(&mut self) -> bool {
        self.space();
        self.is_empty()
    }

    /// Takes a label: a letter, then letters, digits and underscores. Empty if there is none.
    fn label(&mut self) -> &'a [u8] {
        if self.rest().first().is_some_and(u8::is_ascii_alphabetic) {
            self.take_while(|octet| octet.is_ascii_alphanumeric() || octet == b'_')
        } else {
            &[]
        }
    }

    /// Takes blanks and a whole number of up to `largest`.
    fn number(&mut self, what: &str, largest: u64) -> Result<u64, ReadError> {
        self.blanks();
        let digits = self.take_while(|octet| octet.is_ascii_digit());
        if digits.is_empty() {
            return Err(self.error(format!("{what} is due here, and not {}", self.next_shown())));
        }
        let number = core::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
        number
            .filter(|&number| number <= largest)
            .ok_or_else(|| self.error(format!("{what} is {} here; write {largest} at most", shown(digits))))
    }

    /// Takes the end of a line after an operation; the file may end here too.
    fn end_of_line(&mut self) -> Result<(), ReadError> {
        self.blanks();
        let commented = self.rest().starts_with(b"//") || self.rest().starts_with(b"/*");
        if commented || self.is_empty() || self.new_line() {
            return Ok(());
        }
        Err(self.error(format!("the end of the line is due here, and not {}", self.next_shown())))
    }

    /// The next word, for a message.
    fn next_shown(&self) -> String {
        let word: Vec<u8> =
            self.rest().iter().copied().take_while(|octet| !octet.is_ascii_whitespace()).take(40).collect();
        if self.is_empty() {
            String::from("the end of the file")
        } else if word.is_empty() {
            String::from("the end of the line")
        } else {
            format!("{:?}", shown(&word))
        }
    }
}
