//! Tokens to statements. Names become places while they are read: those of a method are its arguments and what it assigns.

use std::collections::BTreeMap;

use crate::code::{Class, Does, Expr, Method, Stmt, Target, What};
use crate::lexer::{Token, tokens};
use crate::value::{Binary, Value};
use crate::{At, Error, Role, field};

/// The deepest nesting of blocks and brackets.
const DEEPEST: usize = 60;

/// Words that are no names.
const KEYWORDS: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
    "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
    "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// Operators of assignments that calculate.
const AUGMENTED: &[(&str, Binary)] = &[
    ("+=", Binary::Add),
    ("-=", Binary::Sub),
    ("*=", Binary::Mul),
    ("/=", Binary::Div),
    ("//=", Binary::Floor),
    ("%=", Binary::Mod),
    ("**=", Binary::Power),
    ("<<=", Binary::Left),
    (">>=", Binary::Right),
    ("&=", Binary::And),
    ("|=", Binary::Or),
    ("^=", Binary::Xor),
];

/// A method that is read.
#[derive(Default)]
pub(crate) struct Scope {
    /// Local names with the place where each is first read, and whether it is an argument or assigned.
    names: Vec<(String, Option<At>, bool)>,
    loops: usize,
}

/// A point's class that is read.
pub(crate) struct Reading {
    pub(crate) role: Role,
    pub(crate) fields: Vec<Field>,
    pub(crate) methods: Vec<(String, Option<Method>)>,
    /// Calls of methods: which, from where, with how many arguments.
    calls: Vec<(usize, At, usize)>,
}

pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) initial: Value,
    is_set: bool,
    read: Option<At>,
}

pub(crate) struct Parser {
    tokens: Vec<(Token, At)>,
    next: usize,
    pub(crate) depth: usize,
    /// Constants of the text, and of the class that is read.
    pub(crate) constants: BTreeMap<String, Value>,
    pub(crate) of_class: BTreeMap<String, Value>,
    pub(crate) has_math: bool,
    /// Parameters, and where each is first read.
    pub(crate) parameters: Vec<(String, At)>,
    /// Where a random number is first read.
    pub(crate) random: Option<At>,
    pub(crate) scope: Option<Scope>,
    pub(crate) class: Option<Reading>,
}

impl Parser {
    pub(crate) fn new(text: &str) -> Result<Self, Error> {
        Ok(Self {
            tokens: tokens(text)?,
            next: 0,
            depth: 0,
            constants: BTreeMap::new(),
            of_class: BTreeMap::new(),
            has_math: false,
            parameters: Vec::new(),
            random: None,
            scope: None,
            class: None,
        })
    }

    pub(crate) fn at(&self) -> At {
        self.tokens[self.next].1
    }

    pub(crate) fn peek(&self) -> &Token {
        &self.tokens[self.next].0
    }

    /// The token after the next one.
    pub(crate) fn second(&self) -> &Token {
        self.tokens.get(self.next + 1).map_or(&Token::End, |(token, _)| token)
    }

    /// Takes a token; the last one stays.
    pub(crate) fn take(&mut self) -> Token {
        let token = self.tokens[self.next].0.clone();
        if self.next + 1 < self.tokens.len() {
            self.next += 1;
        }
        token
    }

    pub(crate) fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Token::Sign(own) if *own == sign)
    }

    pub(crate) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(own) if own == word)
    }

    pub(crate) fn take_sign(&mut self, sign: &str) -> bool {
        let is_it = self.is_sign(sign);
        if is_it {
            self.take();
        }
        is_it
    }

    pub(crate) fn take_word(&mut self, word: &str) -> bool {
        let is_it = self.is_word(word);
        if is_it {
            self.take();
        }
        is_it
    }

    pub(crate) fn want(&mut self, sign: &'static str) -> Result<(), Error> {
        if self.take_sign(sign) { Ok(()) } else { Err(self.unexpected(&format!("\"{sign}\""))) }
    }

    /// The error for the next token, where something else is to stand.
    pub(crate) fn unexpected(&self, wanted: &str) -> Error {
        let found = match self.peek() {
            Token::Word(word) => format!("\"{word}\""),
            Token::Int(_) | Token::Float(_) => "a number".to_owned(),
            Token::Text(_) => "a text".to_owned(),
            Token::Sign(sign) => format!("\"{sign}\""),
            Token::Line => "the end of the line".to_owned(),
            Token::Indent => "a line that is indented".to_owned(),
            Token::Dedent => "the end of the block".to_owned(),
            Token::End => "the end of the text".to_owned(),
        };
        Error::new(self.at(), format!("{found} stands where {wanted} is to stand"), format!("write {wanted}"))
    }

    /// The error for a part of Python that is not known here.
    pub(crate) fn unknown(at: At, what: &str, hint: &str) -> Error {
        Error::new(at, format!("{what}: that part of Python does not run here"), hint)
    }

    pub(crate) fn name(&mut self, what: &str) -> Result<String, Error> {
        match self.peek() {
            Token::Word(word) if !KEYWORDS.contains(&word.as_str()) => {
                let word = word.clone();
                self.take();
                Ok(word)
            }
            _ => Err(self.unexpected(what)),
        }
    }

    pub(crate) fn line_end(&mut self) -> Result<(), Error> {
        match self.peek() {
            Token::Line => drop(self.take()),
            Token::Sign(";") => {
                self.take();
                if *self.peek() == Token::Line {
                    self.take();
                }
            }
            Token::End | Token::Dedent => {}
            _ => return Err(self.unexpected("the end of the line")),
        }
        Ok(())
    }

    /// Reads something that may be inside of itself.
    pub(crate) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        if self.depth >= DEEPEST {
            return Err(Error::new(self.at(), "this is nested too deeply", "use a variable, or a further method"));
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    /// The lines of a block, each read by `line`.
    pub(crate) fn block(&mut self, line: &mut dyn FnMut(&mut Self) -> Result<(), Error>) -> Result<(), Error> {
        self.want(":")?;
        if *self.peek() != Token::Line {
            // On the same line.
            loop {
                if ["if", "while", "for", "def", "class"].iter().any(|word| self.is_word(word)) {
                    return Err(Error::new(self.at(), "a block begins within a line", "begin a new line"));
                }
                line(self)?;
                let before = self.next.checked_sub(1).map(|last| &self.tokens[last].0);
                if matches!(before, Some(Token::Line)) || *self.peek() == Token::End {
                    return Ok(());
                }
            }
        }
        self.take();
        if *self.peek() != Token::Indent {
            return Err(Error::new(self.at(), "a block is to stand here", "indent its lines, or write pass"));
        }
        self.take();
        while *self.peek() != Token::Dedent {
            line(self)?;
        }
        self.take();
        Ok(())
    }

    pub(crate) fn statements(&mut self) -> Result<Vec<Stmt>, Error> {
        let mut all = Vec::new();
        self.deeper(|parser| {
            parser.block(&mut |parser| {
                all.push(parser.statement()?);
                Ok(())
            })
        })?;
        Ok(all)
    }

    fn statement(&mut self) -> Result<Stmt, Error> {
        let at = self.at();
        let word = match self.peek() {
            Token::Word(word) => word.clone(),
            Token::Sign("@") => return Err(Self::unknown(at, "a decorator", "remove it")),
            Token::Indent => return Err(Error::new(at, "the line is indented", "no block begins above it")),
            _ => String::new(),
        };
        let what = match word.as_str() {
            "if" => self.condition()?,
            "while" => {
                self.take();
                let condition = self.expression()?;
                Does::While(condition, self.of_loop()?)
            }
            "for" => self.for_range()?,
            "break" | "continue" => {
                self.take();
                if self.scope.as_ref().is_none_or(|scope| scope.loops == 0) {
                    return Err(Error::new(at, format!("{word} stands in no loop"), "remove it"));
                }
                self.line_end()?;
                if word == "break" { Does::Break } else { Does::Continue }
            }
            "pass" => {
                self.take();
                self.line_end()?;
                Does::Pass
            }
            "return" => {
                self.take();
                let ends = matches!(self.peek(), Token::Line | Token::Sign(";") | Token::Dedent | Token::End);
                let value = if ends { None } else { Some(self.expressions()?) };
                self.line_end()?;
                Does::Return(value)
            }
            "def" | "class" => return Err(Self::unknown(at, "a definition in a method", "write a further method")),
            "elif" | "else" => return Err(Error::new(at, format!("{word} follows no if"), "indent it like its if")),
            _ if KEYWORDS.contains(&word.as_str()) && !matches!(&*word, "not" | "None" | "True" | "False") => {
                return Err(Self::unknown(at, &format!("\"{word}\""), "use if, while, for … in range(…) and return"));
            }
            _ => self.simple()?,
        };
        Ok(Stmt { at, what })
    }

    fn condition(&mut self) -> Result<Does, Error> {
        let mut branches = Vec::new();
        loop {
            self.take();
            let condition = self.expression()?;
            branches.push((condition, self.statements()?));
            if !self.is_word("elif") {
                break;
            }
        }
        let otherwise = if self.take_word("else") { self.statements()? } else { Vec::new() };
        Ok(Does::If(branches, otherwise))
    }

    fn of_loop(&mut self) -> Result<Vec<Stmt>, Error> {
        let count = |parser: &mut Self, more: bool| {
            let loops = parser.scope.as_mut().map(|scope| &mut scope.loops);
            loops.map(|loops| *loops = if more { *loops + 1 } else { *loops - 1 })
        };
        count(self, true);
        let body = self.statements();
        count(self, false);
        if self.is_word("else") {
            return Err(Self::unknown(self.at(), "else after a loop", "use a variable"));
        }
        body
    }

    fn for_range(&mut self) -> Result<Does, Error> {
        self.take();
        let name = self.name("the name of a variable")?;
        let slot = self.local(&name, None);
        let at = self.at();
        let is_range = self.take_word("in") && self.take_word("range") && self.take_sign("(");
        if !is_range {
            return Err(Self::unknown(at, "a loop over something else than a range", "write for i in range(10):"));
        }
        let mut arguments = Vec::new();
        while !self.take_sign(")") {
            arguments.push(self.expression()?);
            if !self.is_sign(")") {
                self.want(",")?;
            }
        }
        if arguments.is_empty() || arguments.len() > 3 {
            return Err(Error::new(at, "a range has one to three numbers", "as in range(10) or range(1, 10, 2)"));
        }
        Ok(Does::For(slot, arguments, self.of_loop()?))
    }

    /// An assignment or an expression.
    fn simple(&mut self) -> Result<Does, Error> {
        let first = self.expressions()?;
        let augmented = match self.peek() {
            Token::Sign(sign) => AUGMENTED.iter().find(|(own, _)| own == sign).map(|(_, op)| *op),
            _ => None,
        };
        if let Some(op) = augmented {
            self.take();
            let target = self.target(&first)?;
            if let Target::Local(slot) = target {
                self.read_local(slot, first.at);
            }
            let value = self.expressions()?;
            self.line_end()?;
            return Ok(Does::Augment(target, op, value));
        }
        if self.is_sign(":") {
            return Err(Self::unknown(self.at(), "an annotation", "leave the type out"));
        }
        let mut targets = Vec::new();
        let mut value = first;
        while self.take_sign("=") {
            targets.push(self.target(&value)?);
            value = self.expressions()?;
        }
        self.line_end()?;
        Ok(if targets.is_empty() { Does::Value(value) } else { Does::Assign(targets, value) })
    }

    /// What an expression names, to be assigned.
    fn target(&mut self, own: &Expr) -> Result<Target, Error> {
        match &own.what {
            What::Local(slot) => {
                if let Some(scope) = &mut self.scope {
                    scope.names[*slot].2 = true;
                }
                Ok(Target::Local(*slot))
            }
            What::Field(slot) => {
                if let Some(class) = &mut self.class {
                    let field = &mut class.fields[*slot];
                    field.is_set = true;
                    // The reading that the target looked like.
                    field.read = field.read.filter(|read| *read != own.at);
                }
                Ok(Target::Field(*slot, own.at))
            }
            What::Parameters => Ok(Target::Parameters),
            What::Tuple(all) => all.iter().map(|own| self.target(own)).collect::<Result<_, _>>().map(Target::Tuple),
            _ => Err(Error::new(own.at, "nothing can be assigned to this", "assign to a variable, or to self.NAME")),
        }
    }

    /// The place of a local variable, read at a place or assigned.
    pub(crate) fn local(&mut self, name: &str, read: Option<At>) -> usize {
        let Some(scope) = &mut self.scope else { return 0 };
        let slot = scope.names.iter().position(|(own, ..)| own == name).unwrap_or_else(|| {
            scope.names.push((name.to_owned(), None, false));
            scope.names.len() - 1
        });
        let own = &mut scope.names[slot];
        match read {
            Some(at) => own.1 = own.1.or(Some(at)),
            None => own.2 = true,
        }
        slot
    }

    fn read_local(&mut self, slot: usize, at: At) {
        if let Some(scope) = &mut self.scope {
            scope.names[slot].1.get_or_insert(at);
        }
    }

    pub(crate) fn field(&mut self, name: &str, at: At) -> usize {
        let Some(class) = &mut self.class else { return 0 };
        let slot = class.fields.iter().position(|own| own.name == name).unwrap_or_else(|| {
            class.fields.push(Field { name: name.to_owned(), initial: Value::Unset, is_set: false, read: None });
            class.fields.len() - 1
        });
        class.fields[slot].read.get_or_insert(at);
        slot
    }

    /// A field that the class itself sets.
    pub(crate) fn first_value(&mut self, name: &str, at: At, value: Value) {
        let slot = self.field(name, at);
        let Some(class) = &mut self.class else { return };
        let field = &mut class.fields[slot];
        (field.initial, field.is_set) = (value, true);
    }

    pub(crate) fn method(&mut self, name: &str, call: Option<(At, usize)>) -> usize {
        let Some(class) = &mut self.class else { return 0 };
        let slot = class.methods.iter().position(|(own, _)| own == name).unwrap_or_else(|| {
            class.methods.push((name.to_owned(), None));
            class.methods.len() - 1
        });
        if let Some((at, arguments)) = call {
            class.calls.push((slot, at, arguments));
        }
        slot
    }

    /// Ends a method: names that it only reads are constants of the text.
    pub(crate) fn locals(&mut self) -> Result<Vec<(String, Value)>, Error> {
        let scope = self.scope.take().unwrap_or_default();
        let of_text = |(name, read, assigned): (String, Option<At>, bool)| {
            if assigned {
                return Ok((name, Value::Unset));
            }
            match self.constants.get(&name) {
                Some(value) => Ok((name, value.clone())),
                None => {
                    let at = read.unwrap_or(At::START);
                    let known = self.class.iter().any(|class| class.fields.iter().any(|field| field.name == name));
                    let hint = if known { format!("write self.{name}") } else { "assign it first".to_owned() };
                    Err(Error::new(at, format!("the name {name} has no value"), hint))
                }
            }
        };
        scope.names.into_iter().map(of_text).collect()
    }

    /// Begins the class of a point.
    pub(crate) fn begin(&mut self, role: Role) {
        let own = |name: &&str| {
            let is_set = *name != "line" || role == Role::Reaction;
            Field { name: (*name).to_owned(), initial: Value::Unset, is_set, read: None }
        };
        let fields = field::NAMES.iter().map(own).collect();
        self.class = Some(Reading { role, fields, methods: Vec::new(), calls: Vec::new() });
        self.of_class.clear();
    }

    /// Ends it: every field that is read is set somewhere, and every method that is called is there.
    pub(crate) fn end(&mut self) -> Result<Class, Error> {
        self.of_class.clear();
        let Some(class) = self.class.take() else { return Ok(Class::default()) };
        for own in &class.fields {
            if let (false, Some(at)) = (own.is_set, own.read) {
                let message = format!("self.{} is read, and never set", own.name);
                return Err(Error::new(at, message, format!("set it in the class, as in {} = 0", own.name)));
            }
        }
        for (slot, at, arguments) in class.calls {
            let (name, method) = &class.methods[slot];
            let Some(method) = method else {
                return Err(Error::new(at, format!("{} has no method {name}", class.role.class()), "write it"));
            };
            if method.arguments != arguments {
                let message = format!("{name} has {} arguments, and gets {arguments}", method.arguments);
                return Err(Error::new(at, message, "give as many"));
            }
        }
        let methods = class.methods.into_iter().filter_map(|(_, method)| method).collect();
        let fields = class.fields.into_iter().map(|own| (own.name, own.initial)).collect();
        Ok(Class { fields, methods, is_written: true })
    }
}
