//! Names, and ranges of them: `"h0..h7"` stands for h0, h1, … h7.

use crate::limits::Excess;

/// The most octets of a scenario's name: file systems take 255, and something is often put behind.
const MAX_NAME: usize = 200;

/// The names that `text` stands for: itself, or those of a range of at most `most`.
pub(crate) fn expand(text: &str, most: usize) -> Result<Vec<String>, Excess> {
    let Some((first, last)) = text.split_once("..") else {
        check(text)?;
        return Ok(vec![text.to_owned()]);
    };
    let (Some((prefix, low)), Some((other, high))) = (numbered(first), numbered(last)) else {
        return Err((format!("\"{text}\" is not a range of numbered names"), "for instance \"h0..h7\"".to_owned()));
    };
    check(first)?;
    check(last)?;
    if prefix != other {
        let message = format!("the range \"{text}\" begins with {prefix} and ends with {other}");
        return Err((message, "both ends have the same letters, as in \"h0..h7\"".to_owned()));
    }
    if low > high {
        return Err((format!("the range \"{text}\" runs backwards"), format!("write \"{last}..{first}\"")));
    }
    if high - low >= most as u64 {
        let message = format!("the range \"{text}\" has {} names; {most} are the most", high - low + 1);
        return Err((message, format!("for instance \"{prefix}{low}..{prefix}{}\"", low + most as u64 - 1)));
    }
    Ok((low..=high).map(|i| format!("{prefix}{i}")).collect())
}

/// All names of a list of names and ranges, at most `most`.
///
/// # Errors
/// If a text is neither a name nor a range of names, or if there are more.
pub fn expand_all(texts: &[String], most: usize) -> Result<Vec<String>, Excess> {
    let mut names = Vec::new();
    for text in texts {
        names.extend(expand(text, most)?);
        if names.len() > most {
            return Err((format!("more than {most} names"), "list fewer, or shorter ranges".to_owned()));
        }
    }
    Ok(names)
}

/// A name is letters, digits, `_` and `-`, and begins with a letter: ports are called `node->node`.
pub(crate) fn check(name: &str) -> Result<(), Excess> {
    let good = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let begins = name.starts_with(char::is_alphabetic);
    if begins && name.chars().all(good) && !name.contains("--") && !name.ends_with('-') && name.len() <= 64 {
        Ok(())
    } else {
        let hint = "a name has letters, digits, _ and single -, a letter first, and at most 64 octets";
        Err((format!("\"{name}\" is not a name"), hint.to_owned()))
    }
}

/// The scenario's name of a file called `name`, for folders of results: characters that a file's name cannot hold
/// everywhere become `-`, dots in front are left out, and it ends after 200 octets.
pub(crate) fn for_files(name: &str) -> String {
    let plain: String = name.chars().map(|c| if c.is_control() || matches!(c, '/' | '\\') { '-' } else { c }).collect();
    let plain = plain.trim().trim_start_matches('.').trim();
    let end = (0..=MAX_NAME.min(plain.len())).rev().find(|end| plain.is_char_boundary(*end)).unwrap_or(0);
    if end == 0 { "scenario".to_owned() } else { plain[..end].trim_end().to_owned() }
}

/// The letters and the number of a name such as `h12`; the number is written without leading zeros.
fn numbered(name: &str) -> Option<(&str, u64)> {
    let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = &name[prefix.len()..];
    let plain = digits == "0" || !digits.starts_with('0');
    (plain && !digits.is_empty() && digits.len() <= 12).then(|| (prefix, digits.parse().expect("at most 12 digits")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_become_names_that_can_be_filed() {
        let long = "x".repeat(300);
        for (name, filed) in [
            ("ten-gig", "ten-gig"),
            (" a b ", "a b"),
            (".hidden", "hidden"),
            ("..", "scenario"),
            ("", "scenario"),
            ("a/b\\c", "a-b-c"),
            ("a\nb\u{1b}[31m", "a-b-[31m"),
            (&long, &long[..200]),
            (&"\u{e9}".repeat(150), &"\u{e9}".repeat(100)),
        ] {
            assert_eq!(for_files(name), filed, "{name:?}");
            assert_eq!(for_files(filed), filed, "{name:?}");
        }
    }

    #[test]
    fn a_range_counts_its_ends() {
        assert_eq!(expand("h9..h11", 3).unwrap(), ["h9", "h10", "h11"]);
        assert_eq!(expand("leaf3", 1).unwrap(), ["leaf3"]);
        for bad in
            ["", "h3..h1", "h9..h12", "h1..g3", "h..h3", "a b", "h0..h999999999", "9", "h0->h1", "h00..h01", "a--b"]
        {
            assert!(expand(bad, 3).is_err(), "{bad}");
        }
    }
}
