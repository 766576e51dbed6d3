//! Values, and what operators do with them: as in Python, but that a whole number has at most 127 bits.

use std::cmp::Ordering;
use std::sync::Arc;

/// The kind of an object that a method is given, and the names of its fields.
#[derive(Debug, PartialEq, Eq)]
pub struct Kind {
    /// As messages name it.
    pub name: &'static str,
    /// Its fields.
    pub fields: &'static [&'static str],
}

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A field or a local variable that has none yet.
    Unset,
    /// None.
    None,
    /// True or False.
    Bool(bool),
    /// A whole number.
    Int(i128),
    /// A number.
    Float(f64),
    /// A text.
    Text(Arc<str>),
    /// Several values.
    Tuple(Arc<[Value]>),
    /// What a method is given: a frame, a queue, an acknowledgement.
    Record(&'static Kind, Arc<[Value]>),
    /// The parameters of the scheme, `self.p`.
    Parameters,
}

/// An operator with two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Floor,
    Mod,
    Power,
    Left,
    Right,
    And,
    Or,
    Xor,
}

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    Is,
    IsNot,
}

/// The sentence for a result that does not fit.
const TOO_LARGE: &str = "a whole number beyond 2^127";

impl Value {
    /// The name of its type in messages.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Unset => "nothing",
            Self::None => "None",
            Self::Bool(_) => "True or False",
            Self::Int(_) => "a whole number",
            Self::Float(_) => "a number",
            Self::Text(_) => "a text",
            Self::Tuple(_) => "several values",
            Self::Record(kind, _) => kind.name,
            Self::Parameters => "the parameters",
        }
    }

    /// Whether a condition holds that has this value.
    #[must_use]
    pub fn is_true(&self) -> bool {
        match self {
            Self::Unset | Self::None => false,
            Self::Bool(own) => *own,
            Self::Int(own) => *own != 0,
            Self::Float(own) => *own != 0.0,
            Self::Text(own) => !own.is_empty(),
            Self::Tuple(own) => !own.is_empty(),
            Self::Record(..) | Self::Parameters => true,
        }
    }

    /// The whole number that it is, True being 1.
    #[must_use]
    pub fn whole(&self) -> Option<i128> {
        match self {
            Self::Bool(own) => Some((*own).into()),
            Self::Int(own) => Some(*own),
            _ => None,
        }
    }

    pub(crate) fn real(&self) -> Option<f64> {
        match self {
            Self::Float(own) => Some(*own),
            _ => self.whole().map(|own| own as f64),
        }
    }

    /// As Python writes it, or nearly so.
    #[must_use]
    pub fn written(&self) -> String {
        match self {
            Self::Unset | Self::None => "None".to_owned(),
            Self::Bool(own) => if *own { "True" } else { "False" }.to_owned(),
            Self::Int(own) => own.to_string(),
            Self::Float(own) => format!("{own:?}"),
            Self::Text(own) => format!("\"{own}\""),
            Self::Tuple(_) | Self::Record(..) | Self::Parameters => self.kind().to_owned(),
        }
    }
}

/// The value of `left op right`, or why there is none.
pub(crate) fn binary(op: Binary, left: &Value, right: &Value) -> Result<Value, String> {
    if let (Some(a), Some(b)) = (left.whole(), right.whole()) {
        if matches!((left, right), (Value::Bool(_), Value::Bool(_))) {
            match op {
                Binary::And => return Ok(Value::Bool(a & b != 0)),
                Binary::Or => return Ok(Value::Bool(a | b != 0)),
                Binary::Xor => return Ok(Value::Bool(a ^ b != 0)),
                _ => {}
            }
        }
        return whole(op, a, b);
    }
    match (left.real(), right.real()) {
        (Some(a), Some(b)) => real(op, a, b).map(Value::Float),
        _ => Err(format!("no arithmetic with {} and {}", left.kind(), right.kind())),
    }
}

fn whole(op: Binary, a: i128, b: i128) -> Result<Value, String> {
    let by_zero = || Err("a division by zero".to_owned());
    let bits = || u32::try_from(b).map_err(|_| format!("a shift by {b} bits"));
    let result = match op {
        Binary::Add => a.checked_add(b),
        Binary::Sub => a.checked_sub(b),
        Binary::Mul => a.checked_mul(b),
        Binary::Div if b == 0 => return by_zero(),
        Binary::Div => return Ok(Value::Float(a as f64 / b as f64)),
        Binary::Floor | Binary::Mod if b == 0 => return by_zero(),
        Binary::Floor => a.checked_div_euclid(b).map(|own| if b < 0 && a.rem_euclid(b) != 0 { own - 1 } else { own }),
        Binary::Mod => a.checked_rem_euclid(b).map(|own| if b < 0 && own != 0 { own + b } else { own }),
        Binary::Power if b < 0 => return Err("a power with a negative exponent".to_owned()),
        Binary::Power => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
        Binary::Left => {
            let bits = bits()?;
            if a == 0 { Some(0) } else { 2i128.checked_pow(bits).and_then(|factor| a.checked_mul(factor)) }
        }
        Binary::Right => Some(a >> bits()?.min(127)),
        Binary::And => Some(a & b),
        Binary::Or => Some(a | b),
        Binary::Xor => Some(a ^ b),
    };
    result.map(Value::Int).ok_or_else(|| TOO_LARGE.to_owned())
}

fn real(op: Binary, a: f64, b: f64) -> Result<f64, String> {
    Ok(match op {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div | Binary::Floor | Binary::Mod if b == 0.0 => return Err("a division by zero".to_owned()),
        Binary::Div => a / b,
        Binary::Floor => floor_and_rest(a, b).0,
        Binary::Mod => floor_and_rest(a, b).1,
        // The libraries of two machines may differ in its last bit.
        Binary::Power => return Err("a power of numbers that are not whole".to_owned()),
        Binary::Left | Binary::Right | Binary::And | Binary::Or | Binary::Xor => {
            return Err("an operator on bits, with a number that is not whole".to_owned());
        }
    })
}

/// Python's `divmod` of floats. (CPython, `float_divmod`)
fn floor_and_rest(a: f64, b: f64) -> (f64, f64) {
    let mut rest = a % b;
    let mut quotient = (a - rest) / b;
    if rest == 0.0 {
        rest = 0f64.copysign(b);
    } else if (b < 0.0) != (rest < 0.0) {
        rest += b;
        quotient -= 1.0;
    }
    let floor = if quotient == 0.0 {
        0f64.copysign(a / b)
    } else {
        let floor = quotient.floor();
        if quotient - floor > 0.5 { floor + 1.0 } else { floor }
    };
    (floor, rest)
}

/// How two numbers compare; `None` where one is no number.
fn order(left: &Value, right: &Value) -> Option<Option<Ordering>> {
    match (left.whole(), right.whole()) {
        (Some(a), Some(b)) => Some(Some(a.cmp(&b))),
        (Some(a), None) => Some(whole_and_real(a, right.real()?)),
        (None, Some(b)) => Some(whole_and_real(b, left.real()?).map(Ordering::reverse)),
        (None, None) => Some(left.real()?.partial_cmp(&right.real()?)),
    }
}

/// Exact, as in Python: a whole number is not rounded first.
fn whole_and_real(a: i128, b: f64) -> Option<Ordering> {
    if b.is_nan() {
        return None;
    }
    let limit = 2f64.powi(127);
    if b >= limit {
        return Some(Ordering::Less);
    }
    if b < -limit {
        return Some(Ordering::Greater);
    }
    let floor = b.floor();
    Some(a.cmp(&(floor as i128)).then(if b > floor { Ordering::Less } else { Ordering::Equal }))
}

pub(crate) fn compare(op: Comparison, left: &Value, right: &Value) -> Result<bool, String> {
    let equal = || match order(left, right) {
        Some(order) => order == Some(Ordering::Equal),
        None => left == right,
    };
    let ordered = |wanted: fn(Ordering) -> bool| match order(left, right) {
        Some(order) => Ok(order.is_some_and(wanted)),
        None => Err(format!("{} and {} have no order", left.kind(), right.kind())),
    };
    match op {
        Comparison::Less => ordered(Ordering::is_lt),
        Comparison::LessEqual => ordered(Ordering::is_le),
        Comparison::Greater => ordered(Ordering::is_gt),
        Comparison::GreaterEqual => ordered(Ordering::is_ge),
        Comparison::Equal => Ok(equal()),
        Comparison::NotEqual => Ok(!equal()),
        Comparison::Is => Ok(left == right),
        Comparison::IsNot => Ok(left != right),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(op: Binary, a: i128, b: i128) -> Value {
        binary(op, &Value::Int(a), &Value::Int(b)).unwrap()
    }

    /// Python 3: 7 // 2, -7 // 2, 7 // -2, -7 // -2 are 3, -4, -4, 3, and the rests 1, 1, -1, -1.
    #[test]
    fn quotients_and_rests_are_those_of_python() {
        let cases = [(7, 2, 3, 1), (-7, 2, -4, 1), (7, -2, -4, -1), (-7, -2, 3, -1), (6, -2, -3, 0), (6, 3, 2, 0)];
        for (a, b, quotient, rest) in cases {
            assert_eq!((int(Binary::Floor, a, b), int(Binary::Mod, a, b)), (Value::Int(quotient), Value::Int(rest)));
            let both = floor_and_rest(a as f64, b as f64);
            assert_eq!(both, (quotient as f64, rest as f64), "{a} {b}");
        }
        // Python: divmod(-1e-20, 3.0) is (-1.0, 3.0), divmod(5.5, -2.0) is (-3.0, -0.5).
        assert_eq!((floor_and_rest(-1e-20, 3.0), floor_and_rest(5.5, -2.0)), ((-1.0, 3.0), (-3.0, -0.5)));
    }

    #[test]
    fn whole_numbers_are_exact_and_have_a_limit() {
        assert_eq!(int(Binary::Left, 1, 63), Value::Int(1 << 63));
        assert_eq!(int(Binary::Right, -5, 1), Value::Int(-3));
        let over =
            [(Binary::Left, 1, 127), (Binary::Mul, i128::MAX, 2), (Binary::Power, 10, 40), (Binary::Left, 1, 500)];
        for (op, a, b) in over {
            assert!(binary(op, &Value::Int(a), &Value::Int(b)).unwrap_err().contains("2^127"));
        }
        for op in [Binary::Div, Binary::Floor, Binary::Mod] {
            assert!(binary(op, &Value::Int(1), &Value::Bool(false)).unwrap_err().contains("zero"));
            assert!(binary(op, &Value::Float(1.0), &Value::Int(0)).unwrap_err().contains("zero"));
        }
        assert!(binary(Binary::Left, &Value::Int(1), &Value::Int(-1)).is_err());
        assert_eq!(binary(Binary::Add, &Value::Bool(true), &Value::Int(2)).unwrap(), Value::Int(3));
    }

    /// 2^53 + 1 is not the float next to it, and no number compares with NaN.
    #[test]
    fn comparisons_are_exact() {
        let large = Value::Int((1 << 53) + 1);
        let near = Value::Float(9_007_199_254_740_992.0);
        assert!(compare(Comparison::Greater, &large, &near).unwrap());
        assert!(compare(Comparison::Less, &near, &large).unwrap());
        assert!(!compare(Comparison::Equal, &large, &near).unwrap());
        assert!(compare(Comparison::Less, &Value::Int(2), &Value::Float(2.5)).unwrap());
        assert!(compare(Comparison::Less, &Value::Int(i128::MAX), &Value::Float(f64::INFINITY)).unwrap());
        let nan = Value::Float(f64::NAN);
        for op in [Comparison::Less, Comparison::GreaterEqual, Comparison::Equal] {
            assert!(!compare(op, &Value::Int(0), &nan).unwrap());
        }
        assert!(compare(Comparison::Less, &Value::None, &Value::Int(0)).is_err());
        assert!(compare(Comparison::Is, &Value::None, &Value::None).unwrap());
    }
}
