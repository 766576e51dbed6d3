//! The text as a whole: imports, constants, the class of a scheme, and in it those of its points.

use std::collections::BTreeMap;

use crate::code::{Class, Expr, Method};
use crate::lexer::Token;
use crate::machine::{FUEL, Machine, Object, Sent};
use crate::parser::{Parser, Scope};
use crate::settings::check;
use crate::value::Value;
use crate::{At, Error, Role, field};

/// A parameter, with its texts as they are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    /// Its name.
    pub name: String,
    /// Its place in the text.
    pub at: At,
    /// Its unit.
    pub unit: String,
    /// The value where nobody sets it, and its range; one that is not written is empty.
    pub range: [String; 3],
    /// The words of a choice.
    pub words: Vec<String>,
    /// Where it is from.
    pub source: String,
    /// Its effect.
    pub description: String,
}

/// A scheme that can be called.
#[derive(Debug, Clone)]
pub struct Program {
    /// The name of its class.
    pub class: String,
    /// The place of it.
    pub at: At,
    /// The text that describes it.
    pub description: String,
    /// Its parameters, in their order.
    pub parameters: Vec<Declared>,
    /// Variables of congestion points and of reaction points, with their meanings.
    pub variables: [Vec<(String, String)>; 2],
    settings: BTreeMap<String, (Value, At)>,
    classes: [Class; 3],
    /// The parameters in the order in which the text reads them, then those that it does not.
    names: Vec<String>,
}

/// A call's answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// What the method returns.
    pub value: Value,
    /// The signals that it sends.
    pub sent: Vec<Sent>,
    /// The steps that it took.
    pub steps: u32,
}

impl Program {
    /// Reads a text.
    ///
    /// # Errors
    /// If it is not the class of a scheme, or has a part of Python that is not known here.
    pub fn new(text: &str) -> Result<Self, Error> {
        let mut parser = Parser::new(text)?;
        let mut program = None;
        let mut imported = false;
        while *parser.peek() != Token::End {
            let at = parser.at();
            match parser.peek().clone() {
                Token::Text(_) => parser.note()?,
                Token::Line => drop(parser.take()),
                Token::Word(word) if word == "import" => imported |= parser.import()?,
                Token::Word(word) if word == "class" => {
                    if program.is_some() {
                        return Err(Error::new(at, "a second scheme", "one text has one; delete the other"));
                    }
                    if !imported {
                        let message = "penstock is not imported";
                        return Err(Error::new(at, message, "write import penstock in a line above"));
                    }
                    program = Some(parser.scheme()?);
                }
                Token::Word(word) if word == "from" => {
                    return Err(Parser::unknown(at, "\"from\"", "write import penstock, and penstock.Scheme"));
                }
                Token::Word(word) if word == "def" => {
                    return Err(Parser::unknown(at, "a function outside of a class", "write a method of a point"));
                }
                _ => {
                    for (name, value, _) in parser.constants_of_line()? {
                        parser.constants.insert(name, value);
                    }
                }
            }
        }
        let nothing = || Error::new(At::START, "the text has no scheme", "write class MyScheme(penstock.Scheme):");
        program.ok_or_else(nothing)
    }

    /// A text among its settings.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.settings.get(name) {
            Some((Value::Text(own), _)) => Some(own),
            _ => None,
        }
    }

    /// Whether a setting holds; `standard` where it is not set.
    #[must_use]
    pub fn switch(&self, name: &str, standard: bool) -> bool {
        self.settings.get(name).map_or(standard, |(own, _)| own.is_true())
    }

    /// Octets among its settings.
    #[must_use]
    pub fn octets(&self, name: &str, standard: u16) -> u16 {
        let own = self.settings.get(name).and_then(|(own, _)| own.whole());
        own.and_then(|own| u16::try_from(own).ok()).unwrap_or(standard)
    }

    /// Its actions, if they are set.
    #[must_use]
    pub fn actions(&self) -> Option<Vec<&str>> {
        let (Value::Tuple(all), _) = self.settings.get("actions")? else { return None };
        all.iter().map(|own| if let Value::Text(own) = own { Some(&**own) } else { None }).collect()
    }

    /// The place of a setting, or else of the class.
    #[must_use]
    pub fn place_of(&self, setting: &str) -> At {
        self.settings.get(setting).map_or(self.at, |(_, at)| *at)
    }

    /// A method of a point, by its name.
    #[must_use]
    pub fn method(&self, role: Role, name: &str) -> Option<usize> {
        self.classes[role as usize].methods.iter().position(|own| own.name == name)
    }

    /// The place of a method.
    #[must_use]
    pub fn place_of_method(&self, role: Role, method: usize) -> At {
        self.classes[role as usize].methods[method].at
    }

    /// Values of the parameters in the order in which calls take them.
    #[must_use]
    pub fn arrange(&self, values: &[Value]) -> Vec<Value> {
        let place = |name: &String| self.parameters.iter().position(|own| own.name == *name);
        self.names.iter().filter_map(|name| values.get(place(name)?).cloned()).collect()
    }

    /// Makes a point: `argument` is its place, its flow, or the rate of its line.
    ///
    /// # Errors
    /// If its `__init__` fails.
    pub fn make(&self, role: Role, values: &[Value], argument: Value) -> Result<Object, Error> {
        let class = &self.classes[role as usize];
        let fields = class.fields.iter().map(|(_, value)| value.clone()).collect();
        let mut object = Object { fields, set: [self.at; field::NAMES.len()] };
        let standard =
            [(field::WINDOW, Value::None), (field::LIMITING, Value::Bool(false)), (field::TIMEOUT, Value::None)];
        for (slot, value) in standard {
            if object.fields[slot] == Value::Unset {
                object.fields[slot] = value;
            }
        }
        if role == Role::Reaction {
            object.fields[field::LINE] = argument.clone();
            object.fields[field::RATE] = argument.clone();
        }
        if let Some(method) = self.method(role, "__init__") {
            self.call(role, method, &mut object, values, &[Value::Parameters, argument])?;
        }
        Ok(object)
    }

    /// Calls a method of a point.
    ///
    /// # Errors
    /// If the method fails.
    pub fn call(
        &self,
        role: Role,
        method: usize,
        object: &mut Object,
        values: &[Value],
        arguments: &[Value],
    ) -> Result<Answer, Error> {
        let class = &self.classes[role as usize];
        let names = &self.names;
        let mut machine = Machine { class, names, values, object, fuel: FUEL, depth: 0, sent: Vec::new() };
        let value = machine.call(&class.methods[method], arguments)?;
        Ok(Answer { value, steps: FUEL - machine.fuel, sent: machine.sent })
    }

    fn check(&self) -> Result<(), Error> {
        let missing = |name: &str, owner: &str| {
            let message = format!("ReactionPoint has no method {name}, and the scheme {owner}");
            Error::new(self.at, message, format!("write def {name}(self, …) in it"))
        };
        let reacts = |name: &str| self.method(Role::Reaction, name).is_some();
        if self.method(Role::Notification, "acknowledge").is_some() && !reacts("on_ack") {
            return Err(missing("on_ack", "acknowledges"));
        }
        let signals = self.text("signals").unwrap_or("");
        if !["", "backward", "by destination"].contains(&signals) {
            let hint = "\"\", \"backward\" (by queues) or \"by destination\"";
            return Err(Error::new(self.place_of("signals"), format!("signals \"{signals}\" are not known"), hint));
        }
        if !signals.is_empty() && !reacts("on_signal") {
            return Err(missing("on_signal", "has signals"));
        }
        for (role, variables, name) in [
            (Role::Congestion, &self.variables[0], "cp_variables"),
            (Role::Reaction, &self.variables[1], "rp_variables"),
        ] {
            if !variables.is_empty() && self.method(role, "variables").is_none() {
                let message = format!("{} has no method variables, and the scheme {name}", role.class());
                return Err(Error::new(self.at, message, "write def variables(self): with a number for each"));
            }
        }
        Ok(())
    }
}

impl Parser {
    /// A text on a line, which says something to readers.
    fn note(&mut self) -> Result<(), Error> {
        self.take();
        self.line_end()
    }

    /// `import penstock` or `import math`; whether it is the first.
    fn import(&mut self) -> Result<bool, Error> {
        self.take();
        let at = self.at();
        let name = self.name("penstock")?;
        self.line_end()?;
        match name.as_str() {
            "penstock" => Ok(true),
            "math" => {
                self.has_math = true;
                Ok(false)
            }
            _ => Err(Self::unknown(at, &format!("the module {name}"), "penstock and math are there")),
        }
    }

    /// The names and values of a line such as `a, b = 1, 2` or `a = b = 0`, outside of methods.
    fn constants_of_line(&mut self) -> Result<Vec<(String, Value, At)>, Error> {
        let mut targets: Vec<Vec<(String, At)>> = Vec::new();
        let at = self.at();
        while matches!(self.second(), Token::Sign("=" | "," | ":")) && matches!(self.peek(), Token::Word(_)) {
            let mut names = Vec::new();
            loop {
                let at = self.at();
                names.push((self.name("a name")?, at));
                if !self.take_sign(",") {
                    break;
                }
            }
            if self.is_sign(":") {
                return Err(Self::unknown(self.at(), "an annotation", "leave the type out"));
            }
            self.want("=")?;
            targets.push(names);
        }
        if targets.is_empty() {
            return Err(self.unexpected("a definition, as in name = 1,"));
        }
        let expr = self.expressions()?;
        self.line_end()?;
        let value = self.evaluate(&expr)?;
        let mut all = Vec::new();
        for names in targets {
            if let [(name, at)] = &names[..] {
                all.push((name.clone(), value.clone(), *at));
                continue;
            }
            match &value {
                Value::Tuple(values) if values.len() == names.len() => {
                    all.extend(
                        names.into_iter().zip(values.iter()).map(|((name, at), value)| (name, value.clone(), at)),
                    );
                }
                _ => {
                    let message = format!("{} for {} names", value.written(), names.len());
                    return Err(Error::new(at, message, "write as many values as names"));
                }
            }
        }
        Ok(all)
    }

    /// The value of an expression outside of methods.
    fn evaluate(&self, expr: &Expr) -> Result<Value, Error> {
        let class = Class::default();
        let mut object = Object { fields: Vec::new(), set: [At::START; field::NAMES.len()] };
        let (object, sent) = (&mut object, Vec::new());
        let mut machine = Machine { class: &class, names: &[], values: &[], object, fuel: FUEL, depth: 0, sent };
        let nowhere = Method { name: String::new(), at: At::START, arguments: 0, locals: Vec::new(), body: Vec::new() };
        machine.value(expr, &nowhere, &mut [])
    }

    /// The head of a class: its name, where the class that it is below is `penstock.BASE`.
    fn head(&mut self, base: &str) -> Result<(String, At), Error> {
        self.take();
        let at = self.at();
        let name = self.name("the name of a class")?;
        let is_below = self.take_sign("(") && self.take_word("penstock") && self.take_sign(".") && self.take_word(base);
        if !is_below || !self.take_sign(")") {
            let message = format!("{name} is no class below penstock.{base}");
            return Err(Error::new(at, message, format!("write class {name}(penstock.{base}):")));
        }
        Ok((name, at))
    }

    fn scheme(&mut self) -> Result<Program, Error> {
        let (class, at) = self.head("Scheme")?;
        let mut program = Program {
            class,
            at,
            description: String::new(),
            parameters: Vec::new(),
            variables: Default::default(),
            settings: BTreeMap::new(),
            classes: Default::default(),
            names: Vec::new(),
        };
        self.block(&mut |parser| parser.part(&mut program))?;
        let own = std::mem::take(&mut self.parameters);
        for (name, at) in own {
            if program.parameters.iter().all(|known| known.name != name) {
                let known: Vec<&str> = program.parameters.iter().map(|own| own.name.as_str()).collect();
                let hint = format!("declare it in parameters; there are: {}", known.join(", "));
                return Err(Error::new(at, format!("the scheme has no parameter {name}"), hint));
            }
            program.names.push(name);
        }
        let unread = program.parameters.iter().filter(|own| !program.names.contains(&own.name));
        let unread: Vec<String> = unread.map(|own| own.name.clone()).collect();
        program.names.extend(unread);
        if let (Some(at), false) = (self.random, program.switch("random", false)) {
            return Err(Error::new(
                at,
                "random numbers are not asked for",
                "write random = True in the scheme's class",
            ));
        }
        program.check()?;
        Ok(program)
    }

    /// A line of the scheme's class, or a class in it.
    fn part(&mut self, program: &mut Program) -> Result<(), Error> {
        let at = self.at();
        match self.peek().clone() {
            Token::Text(text) => {
                if program.description.is_empty() {
                    text.trim().clone_into(&mut program.description);
                }
                self.note()
            }
            Token::Word(word) if word == "class" => self.point(program),
            Token::Word(word) if word == "pass" => {
                self.take();
                self.line_end()
            }
            Token::Word(word) if word == "def" => {
                Err(Error::new(at, "a method of the scheme itself", "write it in the class of a point"))
            }
            Token::Word(word) if word == "parameters" => {
                let of_line = self.pairs(Self::parameter)?;
                program.parameters = of_line.into_iter().map(|(name, at, own)| Declared { name, at, ..own }).collect();
                self.line_end()
            }
            Token::Word(word) if word == "cp_variables" || word == "rp_variables" => {
                let all = self.pairs(|parser| match parser.take() {
                    Token::Text(text) => Ok(text),
                    _ => Err(Error::new(at, "a variable without its meaning", "as in {\"window\": \"octets\"}")),
                })?;
                program.variables[usize::from(word == "rp_variables")] =
                    all.into_iter().map(|(name, _, text)| (name, text)).collect();
                self.line_end()
            }
            _ => {
                for (name, value, at) in self.constants_of_line()? {
                    check(&name, &value, at)?;
                    self.of_class.insert(name.clone(), value.clone());
                    program.settings.insert(name, (value, at));
                }
                Ok(())
            }
        }
    }

    /// `NAME = {"text": …, …}`.
    fn pairs<T>(&mut self, mut read: impl FnMut(&mut Self) -> Result<T, Error>) -> Result<Vec<(String, At, T)>, Error> {
        self.take();
        self.want("=")?;
        self.want("{")?;
        let mut all: Vec<(String, At, T)> = Vec::new();
        while !self.take_sign("}") {
            let at = self.at();
            let Token::Text(name) = self.take() else {
                return Err(Error::new(at, "a name is to stand here", "write it in quotation marks"));
            };
            self.want(":")?;
            if all.iter().any(|(known, ..)| *known == name) {
                return Err(Error::new(at, format!("\"{name}\" is there twice"), "give one another name"));
            }
            let own = read(self)?;
            all.push((name, at, own));
            if !self.is_sign("}") {
                self.want(",")?;
            }
        }
        Ok(all)
    }

    /// `penstock.Parameter(unit, default, minimum, maximum, words, source, description)`.
    fn parameter(&mut self) -> Result<Declared, Error> {
        const NAMES: [&str; 7] = ["unit", "default", "minimum", "maximum", "words", "source", "description"];
        let at = self.at();
        if !(self.take_word("penstock") && self.take_sign(".") && self.take_word("Parameter")) {
            let hint = "as in penstock.Parameter(\"threshold\", \"50 KB\", \"64 B\", \"1 GB\")";
            return Err(Error::new(at, "a parameter is to stand here", hint));
        }
        let (all, named) = self.arguments()?;
        let mut given: [Option<Value>; 7] = Default::default();
        if all.len() > NAMES.len() {
            return Err(Error::new(at, "a parameter has at most seven arguments", NAMES.join(", ")));
        }
        for (own, expr) in given.iter_mut().zip(&all) {
            *own = Some(self.evaluate(expr)?);
        }
        for (name, at, expr) in named {
            let Some(place) = NAMES.iter().position(|own| *own == name) else {
                return Err(Error::new(at, format!("a parameter has no {name}"), NAMES.join(", ")));
            };
            given[place] = Some(self.evaluate(&expr)?);
        }
        let [Some(unit), Some(default), minimum, maximum, words, source, description] = given else {
            let hint = "as in penstock.Parameter(\"threshold\", \"50 KB\", \"64 B\", \"1 GB\")";
            return Err(Error::new(at, "a parameter has a unit and a default", hint));
        };
        let text = |value: Option<Value>| match value {
            None => String::new(),
            Some(Value::Text(own)) => own.to_string(),
            Some(Value::Bool(own)) => own.to_string(),
            Some(own) => own.written(),
        };
        let words = match words {
            Some(Value::Tuple(all)) => all.iter().map(|own| text(Some(own.clone()))).collect(),
            _ => Vec::new(),
        };
        let range = [text(Some(default)), text(minimum), text(maximum)];
        let (source, description) = (text(source), text(description));
        Ok(Declared { name: String::new(), at, unit: text(Some(unit)), range, words, source, description })
    }

    /// The class of a point.
    fn point(&mut self, program: &mut Program) -> Result<(), Error> {
        let named = |role: &Role| *self.second() == Token::Word(role.class().to_owned());
        let Some(role) = Role::ALL.into_iter().find(named) else {
            let hint = "CongestionPoint, NotificationPoint and ReactionPoint are";
            return Err(Error::new(self.at(), "the class is that of no point", hint));
        };
        let outer = std::mem::take(&mut self.of_class);
        self.head(role.class())?;
        self.begin(role);
        self.block(&mut Self::member)?;
        if program.classes[role as usize].is_written {
            return Err(Error::new(self.at(), format!("a second {}", role.class()), "write one"));
        }
        program.classes[role as usize] = self.end()?;
        self.of_class = outer;
        Ok(())
    }

    /// A line of a point's class, or a method of it.
    fn member(&mut self) -> Result<(), Error> {
        match self.peek().clone() {
            Token::Text(_) => self.note(),
            Token::Word(word) if word == "pass" => {
                self.take();
                self.line_end()
            }
            Token::Word(word) if word == "def" => self.definition(),
            Token::Sign("@") => Err(Self::unknown(self.at(), "a decorator", "remove it")),
            _ => {
                for (name, value, at) in self.constants_of_line()? {
                    self.first_value(&name, at, value.clone());
                    self.of_class.insert(name, value);
                }
                Ok(())
            }
        }
    }

    fn definition(&mut self) -> Result<(), Error> {
        self.take();
        let at = self.at();
        let name = self.name("the name of a method")?;
        self.scope = Some(Scope::default());
        self.want("(")?;
        if !self.take_word("self") {
            return Err(Error::new(
                self.at(),
                "the first argument of a method is self",
                format!("write def {name}(self, …)"),
            ));
        }
        let mut arguments = 0;
        while !self.take_sign(")") {
            self.want(",")?;
            if self.take_sign(")") {
                break;
            }
            let argument = self.name("the name of an argument")?;
            if self.local(&argument, None) != arguments {
                return Err(Error::new(self.at(), format!("the argument {argument} is there twice"), "rename one"));
            }
            arguments += 1;
            if self.is_sign("=") || self.is_sign(":") {
                return Err(Self::unknown(self.at(), "an argument with a default or a type", "write its name alone"));
            }
        }
        if self.is_sign("->") {
            return Err(Self::unknown(self.at(), "the type of an answer", "leave it out"));
        }
        self.known(&name, at, arguments)?;
        let body = self.statements()?;
        let locals = self.locals()?;
        let slot = self.method(&name, None);
        let Some(class) = &mut self.class else { return Ok(()) };
        if class.methods[slot].1.is_some() {
            return Err(Error::new(at, format!("a second method {name}"), "rename one"));
        }
        class.methods[slot].1 = Some(Method { name, at, arguments, locals, body });
        Ok(())
    }

    /// Refuses a method that the engine would never call, or with other arguments.
    fn known(&self, name: &str, at: At, arguments: usize) -> Result<(), Error> {
        let Some(class) = &self.class else { return Ok(()) };
        let all = class.role.methods();
        if let Some((_, wanted)) = all.iter().find(|(own, _)| *own == name) {
            if wanted.len() != arguments {
                let message = format!("{name} gets {} arguments after self, not {arguments}", wanted.len());
                let words: Vec<&str> = std::iter::once("self").chain(wanted.iter().copied()).collect();
                return Err(Error::new(at, message, format!("write def {name}({}):", words.join(", "))));
            }
        } else if name.starts_with("on_") || name.starts_with("__") || name == "send" {
            let known: Vec<&str> = all.iter().map(|(own, _)| *own).collect();
            let message = format!("nobody calls {name} of a {}", class.role.class());
            return Err(Error::new(at, message, format!("its methods are {}", known.join(", "))));
        }
        Ok(())
    }
}
