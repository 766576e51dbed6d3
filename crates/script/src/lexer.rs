//! From text to tokens: words, numbers, texts, signs, and the indentation that makes blocks.

use crate::{At, Error};

/// The longest text, octets.
pub(crate) const MOST_TEXT: usize = 32_000;

/// A token.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token {
    /// A name or a keyword.
    Word(String),
    Int(i128),
    Float(f64),
    Text(String),
    /// An operator or a bracket.
    Sign(&'static str),
    /// The end of a statement's line.
    Line,
    /// A block begins, or ends.
    Indent,
    Dedent,
    End,
}

/// Signs, the longer ones before those that they begin with.
const SIGNS: &[&str] = &[
    "**=", "//=", "<<=", ">>=", "**", "//", "<<", ">>", "<=", ">=", "==", "!=", ":=", "->", "+=", "-=", "*=", "/=",
    "%=", "&=", "|=", "^=", "+", "-", "*", "/", "%", "(", ")", "[", "]", "{", "}", ",", ":", ".", ";", "=", "<", ">",
    "&", "|", "^", "~", "@",
];

/// The tokens of a text with their places. The last one is [`Token::End`].
pub(crate) fn tokens(text: &str) -> Result<Vec<(Token, At)>, Error> {
    if text.len() > MOST_TEXT {
        let message = format!("the text has {} octets, and {MOST_TEXT} are the most", text.len());
        return Err(Error::new(At::START, message, "shorten it"));
    }
    let mut lexer = Lexer { rest: text.chars().collect(), next: 0, at: At::START, out: Vec::new(), open: Vec::new() };
    lexer.all()?;
    Ok(lexer.out)
}

struct Lexer {
    rest: Vec<char>,
    next: usize,
    at: At,
    out: Vec<(Token, At)>,
    /// Brackets that are open: a line within them goes on.
    open: Vec<(char, At)>,
}

impl Lexer {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.rest.get(self.next + ahead).copied()
    }

    fn take(&mut self) -> Option<char> {
        let taken = self.peek(0)?;
        self.next += 1;
        if taken == '\n' {
            self.at = At { line: self.at.line + 1, column: 1 };
        } else {
            self.at.column += 1;
        }
        Some(taken)
    }

    fn skip(&mut self, count: usize) {
        for _ in 0..count {
            self.take();
        }
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> String {
        let mut word = String::new();
        while let Some(letter) = self.peek(0).filter(|&letter| wanted(letter)) {
            word.push(letter);
            self.take();
        }
        word
    }

    fn all(&mut self) -> Result<(), Error> {
        let mut levels = vec![0];
        loop {
            // The first token of a line decides on the block.
            if self.open.is_empty() && self.at.column == 1 {
                let width = self.take_while(|letter| letter == ' ').len();
                match self.peek(0) {
                    Some('\t') => {
                        return Err(Error::new(self.at, "a tab in front of a line", "indent with four spaces"));
                    }
                    Some('\n' | '\r' | '#') | None => {}
                    Some(_) => self.block(width, &mut levels)?,
                }
            }
            let at = self.at;
            match self.peek(0) {
                None => break,
                Some('#') => drop(self.take_while(|letter| letter != '\n')),
                Some('\n') => {
                    if self.open.is_empty() && !matches!(self.out.last(), None | Some((Token::Line, _))) {
                        self.out.push((Token::Line, at));
                    }
                    self.take();
                }
                Some('\\') if self.peek(1) == Some('\n') => {
                    self.take();
                    self.take();
                    self.take_while(|letter| letter == ' ');
                }
                Some(' ' | '\t' | '\r') => self.skip(1),
                Some(letter) => {
                    let token = self.token(letter, at)?;
                    self.out.push((token, at));
                }
            }
        }
        if let Some(&(bracket, at)) = self.open.last() {
            return Err(Error::new(at, format!("\"{bracket}\" is not closed"), "close the bracket"));
        }
        if !matches!(self.out.last(), None | Some((Token::Line, _))) {
            self.out.push((Token::Line, self.at));
        }
        for _ in 1..levels.len() {
            self.out.push((Token::Dedent, self.at));
        }
        self.out.push((Token::End, self.at));
        Ok(())
    }

    fn block(&mut self, width: usize, levels: &mut Vec<usize>) -> Result<(), Error> {
        let last = levels.last().copied().unwrap_or(0);
        if width > last {
            levels.push(width);
            self.out.push((Token::Indent, self.at));
        }
        while levels.last().is_some_and(|&level| level > width) {
            levels.pop();
            self.out.push((Token::Dedent, self.at));
        }
        if levels.last() != Some(&width) {
            let message = "the line is indented as no block above it";
            return Err(Error::new(self.at, message, "indent it like the line of its block"));
        }
        Ok(())
    }

    fn token(&mut self, first: char, at: At) -> Result<Token, Error> {
        if first.is_alphabetic() || first == '_' {
            let word = self.take_while(|letter| letter.is_alphanumeric() || letter == '_');
            if matches!(self.peek(0), Some('"' | '\'')) {
                let message = format!("a text with a prefix, {word}");
                return Err(Error::new(at, message, "write a plain text, as in \"source\""));
            }
            return Ok(Token::Word(word));
        }
        if first.is_ascii_digit() || (first == '.' && self.peek(1).is_some_and(|next| next.is_ascii_digit())) {
            return self.number(at);
        }
        if first == '"' || first == '\'' {
            return self.text(first, at);
        }
        let ahead: String = (0..3).filter_map(|i| self.peek(i)).collect();
        let Some(sign) = SIGNS.iter().find(|sign| ahead.starts_with(**sign)) else {
            return Err(Error::new(at, format!("the sign \"{first}\" has no meaning here"), "remove it"));
        };
        self.skip(sign.len());
        match *sign {
            "(" | "[" | "{" => self.open.push((first, at)),
            ")" | "]" | "}" => {
                let fits = |open: char| matches!((open, first), ('(', ')') | ('[', ']') | ('{', '}'));
                if !self.open.pop().is_some_and(|(open, _)| fits(open)) {
                    return Err(Error::new(at, format!("\"{first}\" closes no bracket"), "open one, or remove it"));
                }
            }
            _ => {}
        }
        Ok(Token::Sign(sign))
    }

    fn number(&mut self, at: At) -> Result<Token, Error> {
        let is_exponent = |lexer: &Self| {
            let sign = usize::from(matches!(lexer.peek(1), Some('+' | '-')));
            matches!(lexer.peek(0), Some('e' | 'E')) && lexer.peek(1 + sign).is_some_and(|next| next.is_ascii_digit())
        };
        let wrong = |written: &str| {
            let hint = "as in 1500, 1_000_000, 0.5, 1e6 or 0xff, below 2^127";
            Error::new(at, format!("\"{written}\" is no number"), hint)
        };
        let radix = match (self.peek(0), self.peek(1)) {
            (Some('0'), Some('x' | 'X')) => 16,
            (Some('0'), Some('b' | 'B')) => 2,
            _ => 10,
        };
        if radix != 10 {
            self.skip(2);
            let digits = self.take_while(|letter| letter.is_alphanumeric() || letter == '_');
            return i128::from_str_radix(&digits.replace('_', ""), radix).map(Token::Int).map_err(|_| wrong(&digits));
        }
        let digit = |letter: char| letter.is_ascii_digit() || letter == '_';
        let mut written = self.take_while(digit);
        let mut is_float = false;
        if self.peek(0) == Some('.') {
            is_float = true;
            written.extend(self.take());
            written += &self.take_while(digit);
        }
        if is_exponent(self) {
            is_float = true;
            written.extend(self.take());
            written.extend(self.take());
            written += &self.take_while(digit);
        }
        if self.peek(0).is_some_and(char::is_alphanumeric) {
            return Err(wrong(&(written + &self.take_while(char::is_alphanumeric))));
        }
        let plain = written.replace('_', "");
        if is_float {
            plain.parse().map(Token::Float).map_err(|_| wrong(&written))
        } else {
            plain.parse().map(Token::Int).map_err(|_| wrong(&written))
        }
    }

    fn text(&mut self, quote: char, at: At) -> Result<Token, Error> {
        let unclosed = || Error::new(at, "a text is not closed", "close it with the quotation mark that opens it");
        let triple = self.peek(1) == Some(quote) && self.peek(2) == Some(quote);
        self.skip(if triple { 3 } else { 1 });
        let mut text = String::new();
        loop {
            match self.peek(0) {
                None => return Err(unclosed()),
                Some('\n') if !triple => return Err(unclosed()),
                Some(letter) if letter == quote => {
                    if !triple {
                        self.take();
                        return Ok(Token::Text(text));
                    }
                    if self.peek(1) == Some(quote) && self.peek(2) == Some(quote) {
                        self.skip(3);
                        return Ok(Token::Text(text));
                    }
                    text.extend(self.take());
                }
                Some('\\') => {
                    self.take();
                    match self.take() {
                        Some('n') => text.push('\n'),
                        Some(letter @ ('\\' | '"' | '\'')) => text.push(letter),
                        _ => {
                            return Err(Error::new(
                                at,
                                "a text has an unknown \\",
                                "\\n, \\\\, \\\" and \\' are known",
                            ));
                        }
                    }
                }
                Some(_) => text.extend(self.take()),
            }
        }
    }
}
