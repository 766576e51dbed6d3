//! Tokens to expressions.

use crate::code::{DEEPEST, Expr, Function, Named, Unary, What};
use crate::lexer::Token;
use crate::parser::Parser;
use crate::value::{Binary, Comparison, Value};
use crate::{At, Error, KINDS};

/// Operators with two operands by their strength, the weakest first.
const LEVELS: &[&[(&str, Binary)]] = &[
    &[("|", Binary::Or)],
    &[("^", Binary::Xor)],
    &[("&", Binary::And)],
    &[("<<", Binary::Left), (">>", Binary::Right)],
    &[("+", Binary::Add), ("-", Binary::Sub)],
    &[("*", Binary::Mul), ("/", Binary::Div), ("//", Binary::Floor), ("%", Binary::Mod)],
];

const COMPARISONS: &[(&str, Comparison)] = &[
    ("<", Comparison::Less),
    ("<=", Comparison::LessEqual),
    (">", Comparison::Greater),
    (">=", Comparison::GreaterEqual),
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
];

/// The most values beside one another.
const MOST_VALUES: usize = 100;

/// Arguments without a name, and those with one.
pub(crate) type Arguments = (Vec<Expr>, Vec<(String, At, Expr)>);

fn deepest(all: &[Expr]) -> u16 {
    all.iter().map(|own| own.depth).max().unwrap_or(0)
}

fn node(at: At, inner: u16, what: What) -> Result<Expr, Error> {
    if inner >= DEEPEST {
        return Err(Error::new(at, "the expression is too long", "use a variable for a part of it"));
    }
    Ok(Expr { at, depth: inner + 1, what })
}

fn pair(at: At, left: Expr, right: Expr, what: impl FnOnce(Box<(Expr, Expr)>) -> What) -> Result<Expr, Error> {
    let inner = left.depth.max(right.depth);
    node(at, inner, what(Box::new((left, right))))
}

impl Parser {
    /// Expressions with commas between them are one tuple.
    pub(crate) fn expressions(&mut self) -> Result<Expr, Error> {
        let at = self.at();
        let first = self.expression()?;
        if !self.is_sign(",") {
            return Ok(first);
        }
        let mut all = vec![first];
        while self.take_sign(",") {
            let ends = matches!(self.peek(), Token::Line | Token::End | Token::Sign(")" | "=" | ";"));
            if ends {
                break;
            }
            all.push(self.expression()?);
        }
        self.tuple(at, all)
    }

    fn tuple(&self, at: At, all: Vec<Expr>) -> Result<Expr, Error> {
        if all.len() > MOST_VALUES {
            return Err(Error::new(at, format!("more than {MOST_VALUES} values"), "use fewer"));
        }
        node(at, deepest(&all), What::Tuple(all))
    }

    pub(crate) fn expression(&mut self) -> Result<Expr, Error> {
        self.deeper(|parser| {
            let at = parser.at();
            if *parser.second() == Token::Sign(":=") {
                let name = parser.name("the name of a variable")?;
                parser.take();
                let value = parser.expression()?;
                if parser.scope.is_none() {
                    return Err(Self::unknown(at, ":= outside of a method", "use ="));
                }
                let slot = parser.local(&name, None);
                return node(at, value.depth, What::Keep(slot, Box::new(value)));
            }
            let value = parser.disjunction()?;
            if !parser.take_word("if") {
                return Ok(value);
            }
            let condition = parser.disjunction()?;
            if !parser.take_word("else") {
                return Err(parser.unexpected("else"));
            }
            let other = parser.expression()?;
            let inner = value.depth.max(condition.depth).max(other.depth);
            node(at, inner, What::Choose(Box::new((condition, value, other))))
        })
    }

    fn disjunction(&mut self) -> Result<Expr, Error> {
        let mut left = self.conjunction()?;
        while self.is_word("or") {
            let at = self.at();
            self.take();
            left = pair(at, left, self.conjunction()?, What::Or)?;
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Result<Expr, Error> {
        let mut left = self.inversion()?;
        while self.is_word("and") {
            let at = self.at();
            self.take();
            left = pair(at, left, self.inversion()?, What::And)?;
        }
        Ok(left)
    }

    fn inversion(&mut self) -> Result<Expr, Error> {
        let at = self.at();
        if !self.take_word("not") {
            return self.comparison();
        }
        let own = self.deeper(Self::inversion)?;
        node(at, own.depth, What::Unary(Unary::Not, Box::new(own)))
    }

    fn comparison(&mut self) -> Result<Expr, Error> {
        let first = self.operation(0)?;
        let at = self.at();
        let mut rest = Vec::new();
        loop {
            let here = self.at();
            let op = match self.peek() {
                Token::Sign(sign) => COMPARISONS.iter().find(|(own, _)| own == sign).map(|(_, op)| *op),
                Token::Word(word) if word == "is" => Some(Comparison::Is),
                Token::Word(word) if word == "in" || (word == "not" && !rest.is_empty()) => {
                    return Err(Self::unknown(here, "\"in\"", "compare with == and or"));
                }
                _ => None,
            };
            let Some(mut op) = op else { break };
            self.take();
            if op == Comparison::Is && self.take_word("not") {
                op = Comparison::IsNot;
            }
            rest.push((op, self.operation(0)?));
        }
        if rest.is_empty() {
            return Ok(first);
        }
        let inner = rest.iter().map(|(_, own)| own.depth).fold(first.depth, u16::max);
        node(at, inner, What::Compare(Box::new(first), rest))
    }

    fn operation(&mut self, level: usize) -> Result<Expr, Error> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.operation(level + 1)?;
        loop {
            let at = self.at();
            let op = match self.peek() {
                Token::Sign(sign) => operators.iter().find(|(own, _)| own == sign).map(|(_, op)| *op),
                _ => None,
            };
            let Some(op) = op else { return Ok(left) };
            self.take();
            left = pair(at, left, self.operation(level + 1)?, |both| What::Binary(op, both))?;
        }
    }

    fn unary(&mut self) -> Result<Expr, Error> {
        let at = self.at();
        let op = match self.peek() {
            Token::Sign("-") => Unary::Minus,
            Token::Sign("+") => Unary::Plus,
            Token::Sign("~") => Unary::Invert,
            _ => return self.power(),
        };
        self.take();
        let own = self.deeper(Self::unary)?;
        node(at, own.depth, What::Unary(op, Box::new(own)))
    }

    fn power(&mut self) -> Result<Expr, Error> {
        let base = self.primary()?;
        let at = self.at();
        if !self.take_sign("**") {
            return Ok(base);
        }
        let exponent = self.deeper(Self::unary)?;
        pair(at, base, exponent, |both| What::Binary(Binary::Power, both))
    }

    fn primary(&mut self) -> Result<Expr, Error> {
        let mut own = self.atom()?;
        loop {
            let at = self.at();
            if self.take_sign(".") {
                let at = self.at();
                let name = self.name("the name of a field")?;
                own = self.attribute(own, name, at)?;
            } else if self.take_sign("[") {
                let index = self.expression()?;
                if self.is_sign(":") {
                    return Err(Self::unknown(self.at(), "a part of a tuple", "take its values one by one"));
                }
                self.want("]")?;
                own = pair(at, own, index, What::Index)?;
            } else if self.is_sign("(") {
                return Err(Error::new(at, "this cannot be called", "call self.METHOD, or a function such as min"));
            } else {
                return Ok(own);
            }
        }
    }

    fn attribute(&mut self, own: Expr, name: String, at: At) -> Result<Expr, Error> {
        if matches!(own.what, What::Parameters) {
            let slot = self.parameters.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
                self.parameters.push((name, at));
                self.parameters.len() - 1
            });
            return node(at, 0, What::Parameter(slot));
        }
        let known = KINDS.iter().any(|kind| kind.fields.contains(&name.as_str()));
        // A method may get the parameters under any name.
        if !known && !matches!(own.what, What::Local(_)) {
            return Err(Error::new(at, format!("nothing has a field {name}"), fields_hint()));
        }
        if name == "random" {
            self.random.get_or_insert(at);
        }
        node(at, own.depth, What::Attribute(Box::new(own), name))
    }

    fn atom(&mut self) -> Result<Expr, Error> {
        let at = self.at();
        let constant = |value| node(at, 0, What::Constant(value));
        match self.peek().clone() {
            Token::Int(number) => {
                self.take();
                constant(Value::Int(number))
            }
            Token::Float(number) => {
                self.take();
                constant(Value::Float(number))
            }
            Token::Text(mut text) => {
                self.take();
                // Texts beside one another are one.
                while let Token::Text(more) = self.peek() {
                    text += more;
                    self.take();
                }
                constant(Value::Text(text.into()))
            }
            Token::Sign("(") => {
                self.take();
                if self.take_sign(")") {
                    return node(at, 0, What::Tuple(Vec::new()));
                }
                let own = self.expressions()?;
                self.want(")")?;
                Ok(own)
            }
            Token::Sign("[" | "{") => {
                Err(Self::unknown(at, "a list or a dictionary", "use fields of self, or a tuple in round brackets"))
            }
            Token::Word(word) => match word.as_str() {
                "True" | "False" => {
                    self.take();
                    constant(Value::Bool(word == "True"))
                }
                "None" => {
                    self.take();
                    constant(Value::None)
                }
                "self" => {
                    self.take();
                    self.of_self(at)
                }
                "math" if self.has_math => {
                    self.take();
                    self.of_math(at)
                }
                "lambda" | "yield" | "await" => Err(Self::unknown(at, &format!("\"{word}\""), "write a method")),
                _ => {
                    let name = self.name("a value")?;
                    if self.is_sign("(") { self.function(&name, at) } else { self.variable(&name, at) }
                }
            },
            _ => Err(self.unexpected("a value")),
        }
    }

    fn variable(&mut self, name: &str, at: At) -> Result<Expr, Error> {
        if self.scope.is_some() {
            let slot = self.local(name, Some(at));
            return node(at, 0, What::Local(slot));
        }
        match self.of_class.get(name).or_else(|| self.constants.get(name)) {
            Some(value) => node(at, 0, What::Constant(value.clone())),
            None => Err(Error::new(at, format!("the name {name} has no value"), "assign it in a line above")),
        }
    }

    fn function(&mut self, name: &str, at: At) -> Result<Expr, Error> {
        let Some(&(_, function, least, most)) = Function::ALL.iter().find(|(own, ..)| *own == name) else {
            let known: Vec<&str> = Function::ALL.iter().map(|(own, ..)| *own).collect();
            let is_method = self.class.iter().any(|class| class.methods.iter().any(|(own, _)| own == name));
            let hint =
                if is_method { format!("write self.{name}(…)") } else { format!("{} are known", known.join(", ")) };
            return Err(Error::new(at, format!("there is no function {name}"), hint));
        };
        let (all, named) = self.arguments()?;
        if let Some((name, at, _)) = named.first() {
            return Err(Self::unknown(*at, &format!("the argument {name}"), "leave it out"));
        }
        if all.len() < least || all.len() > most {
            let message = format!("{name} gets {} arguments", all.len());
            return Err(Error::new(at, message, format!("from {least} to {most}")));
        }
        node(at, deepest(&all), What::Call(function, all))
    }

    /// Arguments in brackets: those without and those with names.
    pub(crate) fn arguments(&mut self) -> Result<Arguments, Error> {
        self.want("(")?;
        let (mut all, mut named) = (Vec::new(), Vec::new());
        while !self.take_sign(")") {
            let at = self.at();
            if self.is_sign("*") || self.is_sign("**") {
                return Err(Self::unknown(at, "an argument with a star", "write the arguments one by one"));
            }
            if *self.second() == Token::Sign("=") {
                let name = self.name("the name of an argument")?;
                self.take();
                named.push((name, at, self.expression()?));
            } else if named.is_empty() {
                all.push(self.expression()?);
            } else {
                return Err(Error::new(at, "an argument without a name follows one with a name", "write it before"));
            }
            if !self.is_sign(")") {
                self.want(",")?;
            }
            if all.len() + named.len() > MOST_VALUES {
                return Err(Error::new(at, format!("more than {MOST_VALUES} arguments"), "use fewer"));
            }
        }
        Ok((all, named))
    }

    fn of_math(&mut self, at: At) -> Result<Expr, Error> {
        self.want(".")?;
        let name = self.name("a function of math")?;
        if name == "inf" {
            return node(at, 0, What::Constant(Value::Float(f64::INFINITY)));
        }
        let Some(&(_, function)) = Function::MATH.iter().find(|(own, _)| *own == name) else {
            let message = format!("math.{name} does not run here");
            return Err(Error::new(at, message, "math.sqrt, math.floor, math.ceil and math.inf do"));
        };
        let (all, named) = self.arguments()?;
        if all.len() != 1 || !named.is_empty() {
            return Err(Error::new(at, format!("math.{name} has one argument"), "give one"));
        }
        node(at, deepest(&all), What::Call(function, all))
    }

    fn of_self(&mut self, at: At) -> Result<Expr, Error> {
        if self.scope.is_none() || self.class.is_none() {
            return Err(Error::new(at, "self is known in methods alone", "write the value"));
        }
        if !self.take_sign(".") {
            return Err(Self::unknown(at, "self as a value", "use its fields, self.NAME"));
        }
        let name = self.name("the name of a field")?;
        if name == "p" {
            return node(at, 0, What::Parameters);
        }
        if !self.is_sign("(") {
            let slot = self.field(&name, at);
            return node(at, 0, What::Field(slot));
        }
        let (all, named) = self.arguments()?;
        if name == "send" {
            return self.send(at, all, named);
        }
        if let Some((name, at, _)) = named.first() {
            return Err(Self::unknown(*at, &format!("the name of an argument, {name}"), "leave the name out"));
        }
        let slot = self.method(&name, Some((at, all.len())));
        node(at, deepest(&all), What::Method(slot, all))
    }

    fn send(&mut self, at: At, all: Vec<Expr>, named: Vec<(String, At, Expr)>) -> Result<Expr, Error> {
        if all.is_empty() || all.len() > 5 {
            let message = format!("send gets {} arguments without a name", all.len());
            return Err(Error::new(at, message, "the flow, and up to four numbers"));
        }
        let mut known = Vec::new();
        for (name, at, value) in named {
            let Some(&(_, which)) = Named::ALL.iter().find(|(own, _)| *own == name) else {
                let hint = "to, octets, kind and control are known";
                return Err(Error::new(at, format!("send has no argument {name}"), hint));
            };
            known.push((which, value));
        }
        let inner = known.iter().map(|(_, own)| own.depth).fold(deepest(&all), u16::max);
        node(at, inner, What::Send(all, known))
    }
}

/// The fields of all that methods get.
fn fields_hint() -> String {
    let fields: Vec<String> =
        KINDS.iter().map(|kind| format!("{} has {}", kind.name, kind.fields.join(", "))).collect();
    fields.join("; ")
}
