//! The watch over a foreign scheme: which of its functions runs, and which one broke a rule.
//!
//! Nothing in a run may fail, so a broken rule is noted here and the point stops calling its functions. The caller looks between
//! two slices of the run, and ends it.

use core::fmt;
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};

use super::abi::Function;

/// A rule that a function broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Rule {
    /// A rate is negative, or above that of the line.
    Rate = 1,
    /// A window is negative, and not -1.
    Window,
    /// A timer is set that has run out already.
    Timer,
}

impl Rule {
    const ALL: [Self; 3] = [Self::Rate, Self::Window, Self::Timer];
}

/// A broken rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// The function.
    pub function: Function,
    /// The rule.
    pub rule: Rule,
    /// The value that broke it.
    pub value: i64,
}

impl fmt::Display for Fault {
    /// As a sentence: the function, the value, and what is legal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, value) = (self.function.name(), self.value);
        match self.rule {
            Rule::Rate => write!(f, "{name} sets the rate to {value} bit/s: it is from 0 to the rate of the line"),
            Rule::Window => write!(f, "{name} sets the window to {value} octets: it is at least 0, or -1 for none"),
            Rule::Timer => write!(f, "{name} sets its timer to {value} ps, which is not later than now"),
        }
    }
}

/// One for the points of a run, which may be on several threads.
#[derive(Debug, Default)]
pub struct Watch {
    calls: AtomicUsize,
    /// 1 + index in [`Function::ALL`]; 0 outside of all.
    running: AtomicU32,
    /// The same of the function that broke `rule`.
    at_fault: AtomicU32,
    rule: AtomicU32,
    high: AtomicU32,
    low: AtomicU32,
}

impl Watch {
    /// A function is entered. Only a watchdog and messages read it: a count that loses a step does no harm.
    #[inline(always)]
    pub(super) fn enter(&self, function: Function) {
        self.calls.store(self.calls.load(Relaxed).wrapping_add(1), Relaxed);
        self.running.store(1 + function as u32, Relaxed);
    }

    /// It has returned.
    #[inline(always)]
    pub(super) fn leave(&self) {
        self.running.store(0, Relaxed);
    }

    /// Calls so far, and the function that runs now.
    #[must_use]
    pub fn progress(&self) -> (usize, Option<Function>) {
        (self.calls.load(Relaxed), named(self.running.load(Relaxed)))
    }

    /// Notes a broken rule. The first one stays.
    #[cold]
    pub fn fail(&self, fault: Fault) {
        if self.rule.compare_exchange(0, fault.rule as u32, Relaxed, Relaxed).is_ok() {
            self.high.store((fault.value >> 32) as u32, Relaxed);
            self.low.store(fault.value as u32, Relaxed);
            self.at_fault.store(1 + fault.function as u32, Relaxed);
        }
    }

    /// Whether a rule is broken.
    #[inline(always)]
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.rule.load(Relaxed) != 0
    }

    /// The rule that was broken first.
    #[must_use]
    pub fn fault(&self) -> Option<Fault> {
        let rule = *Rule::ALL.get((self.rule.load(Relaxed) as usize).checked_sub(1)?)?;
        let function = named(self.at_fault.load(Relaxed))?;
        let value = (i64::from(self.high.load(Relaxed)) << 32) | i64::from(self.low.load(Relaxed));
        Some(Fault { function, rule, value })
    }
}

fn named(number: u32) -> Option<Function> {
    Function::ALL.get((number as usize).checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_fault_stays_with_its_value() {
        let watch = Watch::default();
        assert_eq!((watch.fault(), watch.progress()), (None, (0, None)));
        watch.enter(Function::RpOnAck);
        assert_eq!(watch.progress(), (1, Some(Function::RpOnAck)));
        let first = Fault { function: Function::RpOnAck, rule: Rule::Rate, value: -5_000_000_000 };
        watch.fail(first);
        watch.fail(Fault { function: Function::CpMark, rule: Rule::Timer, value: 1 });
        watch.leave();
        assert_eq!((watch.fault(), watch.progress()), (Some(first), (1, None)));
    }
}
