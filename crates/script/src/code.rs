//! The program that a text becomes: names are places of variables, fields and methods.

use crate::value::{Binary, Comparison, Value};
use crate::{At, field};

/// The deepest expression: its evaluation nests as deep.
pub(crate) const DEEPEST: u16 = 60;

#[derive(Debug, Clone)]
pub(crate) struct Expr {
    pub(crate) at: At,
    /// 1 for a leaf.
    pub(crate) depth: u16,
    pub(crate) what: What,
}

#[derive(Debug, Clone)]
pub(crate) enum What {
    Constant(Value),
    Local(usize),
    /// `self.NAME`.
    Field(usize),
    /// `self.p`.
    Parameters,
    /// `self.p.NAME`.
    Parameter(usize),
    Attribute(Box<Expr>, String),
    Index(Box<(Expr, Expr)>),
    Binary(Binary, Box<(Expr, Expr)>),
    Unary(Unary, Box<Expr>),
    And(Box<(Expr, Expr)>),
    Or(Box<(Expr, Expr)>),
    Compare(Box<Expr>, Vec<(Comparison, Expr)>),
    /// Condition, then, else.
    Choose(Box<(Expr, Expr, Expr)>),
    Tuple(Vec<Expr>),
    Call(Function, Vec<Expr>),
    /// A method of the same object.
    Method(usize, Vec<Expr>),
    /// `self.send`: the flow and the words, then what is named.
    Send(Vec<Expr>, Vec<(Named, Expr)>),
    /// `NAME := EXPRESSION`.
    Keep(usize, Box<Expr>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unary {
    Plus,
    Minus,
    Invert,
    Not,
}

/// The arguments of `self.send` that have names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    To,
    Octets,
    Kind,
    Control,
}

impl Named {
    pub(crate) const ALL: [(&'static str, Self); 4] =
        [("to", Self::To), ("octets", Self::Octets), ("kind", Self::Kind), ("control", Self::Control)];
}

/// Functions of Python that are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    Min,
    Max,
    Abs,
    Int,
    Float,
    Bool,
    Round,
    Len,
    Sqrt,
    FloorOf,
    CeilOf,
}

impl Function {
    /// Name, function, and how many arguments it has.
    pub(crate) const ALL: [(&'static str, Self, usize, usize); 8] = [
        ("min", Self::Min, 1, 100),
        ("max", Self::Max, 1, 100),
        ("abs", Self::Abs, 1, 1),
        ("int", Self::Int, 1, 1),
        ("float", Self::Float, 1, 1),
        ("bool", Self::Bool, 1, 1),
        ("round", Self::Round, 1, 1),
        ("len", Self::Len, 1, 1),
    ];
    /// Those of the module `math`. Logarithms and the like are not: two machines may differ in their last bit.
    pub(crate) const MATH: [(&'static str, Self); 3] =
        [("sqrt", Self::Sqrt), ("floor", Self::FloorOf), ("ceil", Self::CeilOf)];
}

#[derive(Debug, Clone)]
pub(crate) enum Target {
    Local(usize),
    Field(usize, At),
    /// `self.p`, which is what is given to it.
    Parameters,
    Tuple(Vec<Target>),
}

#[derive(Debug, Clone)]
pub(crate) struct Stmt {
    pub(crate) at: At,
    pub(crate) what: Does,
}

#[derive(Debug, Clone)]
pub(crate) enum Does {
    Value(Expr),
    Assign(Vec<Target>, Expr),
    Augment(Target, Binary, Expr),
    If(Vec<(Expr, Vec<Stmt>)>, Vec<Stmt>),
    While(Expr, Vec<Stmt>),
    /// Over a range: the variable, and the range's arguments.
    For(usize, Vec<Expr>, Vec<Stmt>),
    Break,
    Continue,
    Return(Option<Expr>),
    Pass,
}

/// A method. The first locals are its arguments after `self`.
#[derive(Debug, Clone)]
pub(crate) struct Method {
    pub(crate) name: String,
    pub(crate) at: At,
    pub(crate) arguments: usize,
    /// Names of the local variables, and constants of the text among them.
    pub(crate) locals: Vec<(String, Value)>,
    pub(crate) body: Vec<Stmt>,
}

/// A point's class: fields with their first values, and methods.
#[derive(Debug, Clone)]
pub(crate) struct Class {
    pub(crate) fields: Vec<(String, Value)>,
    pub(crate) methods: Vec<Method>,
    /// The text has it.
    pub(crate) is_written: bool,
}

impl Default for Class {
    /// That of a point which does nothing.
    fn default() -> Self {
        let fields = field::NAMES.iter().map(|name| ((*name).to_owned(), Value::Unset)).collect();
        Self { fields, methods: Vec::new(), is_written: false }
    }
}
