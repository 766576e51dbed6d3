//! Names that vendors of network interfaces have for parameters, and their numbers.

use super::Value;
use crate::units::{BitRate, Duration, Octets};

/// A vendor's name of a parameter. Scenarios take it in place of the parameter's own, with the vendor's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alias {
    /// As the vendor writes it.
    pub name: &'static str,
    /// The unit of a bare number under this name.
    pub unit: AliasUnit,
}

/// The unit of a vendor's bare numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AliasUnit {
    /// Mb/s.
    Mbps,
    /// Microseconds.
    Us,
    /// Octets.
    Octets,
    /// Stages that go before the next phase: the parameter counts the one in which it begins too.
    Stages,
    /// 0 or 1, for these words.
    Words([&'static str; 2]),
    /// 1/1024, of a share.
    Of1024,
    /// 1/1024, of the weight `x` of the old value in a mean: the parameter is the inverse of the newest one's, 1024 / (1024 - x), rounded to the
    /// nearest whole number.
    OldOf1024,
}

impl AliasUnit {
    /// The unit, as text.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mbps => "Mb/s",
            Self::Us => "us",
            Self::Octets => "octets",
            Self::Stages => "stages before the next phase, one less than here",
            Self::Words(_) => "0 or 1",
            Self::Of1024 => "1/1024",
            Self::OldOf1024 => "1/1024, of the old value's weight",
        }
    }

    /// The parameter's value for a vendor's `number`; `None` for one that stands for none.
    #[must_use]
    pub fn value(self, number: u64) -> Option<Value> {
        Some(match self {
            Self::Mbps => Value::Rate(BitRate(number.checked_mul(1_000_000)?)),
            Self::Us => Value::Time(Duration(number.checked_mul(1_000_000)?)),
            Self::Octets => Value::Octets(Octets(number)),
            Self::Stages => Value::Count(number.checked_add(1)?),
            Self::Words(words) => Value::Choice(words.get(usize::try_from(number).ok()?)?),
            Self::Of1024 => Value::Real(f64::from(u32::try_from(number).ok()?) / 1024.0),
            Self::OldOf1024 => {
                let newest = 1024_u64.checked_sub(number).filter(|newest| *newest > 0)?;
                Value::Count((1024 + newest / 2) / newest)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::AliasUnit;
    use crate::info::Value;
    use crate::info::values::{count, mbps, octets, us};

    /// 1019 of 1024 for the old value leave 5/1024, the inverse of which is 204.8.
    #[test]
    fn numbers_of_vendors() {
        use AliasUnit::{Mbps, Octets, Of1024, OldOf1024, Stages, Us, Words};
        assert_eq!((Mbps.value(5), Us.value(300), Octets.value(7)), (Some(mbps(5)), Some(us(300)), Some(octets(7))));
        assert_eq!((OldOf1024.value(1019), OldOf1024.value(1024)), (Some(count(205)), None));
        assert_eq!((Of1024.value(512), Stages.value(1)), (Some(Value::Real(0.5)), Some(count(2))));
        let words = Words(["off", "on"]);
        assert_eq!((words.value(1), words.value(2)), (Some(Value::Choice("on")), None));
        assert_eq!((Mbps.value(u64::MAX), Stages.value(u64::MAX)), (None, None));
    }
}
