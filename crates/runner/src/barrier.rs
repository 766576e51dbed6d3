//! The barrier at which the threads of a run wait for one another: thousands of times a second, mostly for microseconds.
//!
//! The standard library's barrier puts a thread to sleep at once, which takes longer than most windows, and never returns
//! after a thread has failed.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// A waiting thread spins this many times (about 50 us), then yields [`YIELDS`] times, then sleeps: a wake-up costs as much as a window.
const LOOKS: u32 = 1000;
const YIELDS: u32 = 1000;

/// A barrier of a fixed number of threads.
#[derive(Debug)]
pub(crate) struct Barrier {
    threads: usize,
    arrived: AtomicUsize,
    /// How often all threads have arrived.
    meetings: AtomicU64,
    /// A thread has failed and will not arrive.
    broken: AtomicBool,
    sleepers: Mutex<usize>,
    met: Condvar,
}

impl Barrier {
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            threads,
            arrived: AtomicUsize::new(0),
            meetings: AtomicU64::new(0),
            broken: AtomicBool::new(false),
            sleepers: Mutex::new(0),
            met: Condvar::new(),
        }
    }

    /// Waits for all others. The last to come calls `last` while they wait.
    ///
    /// # Panics
    /// If another thread has failed.
    pub(crate) fn meet(&self, last: impl FnOnce()) {
        let meetings = self.meetings.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            last();
            self.arrived.store(0, Ordering::Relaxed);
            self.wake(|| self.meetings.store(meetings + 1, Ordering::Release));
        } else {
            self.wait(meetings);
        }
        assert!(!self.broken.load(Ordering::Acquire), "another thread of the run has failed");
    }

    /// Lets everybody go, for a thread has failed.
    fn give_up(&self) {
        self.wake(|| self.broken.store(true, Ordering::Release));
    }

    fn wake(&self, change: impl FnOnce()) {
        let sleepers = self.sleepers.lock().unwrap_or_else(PoisonError::into_inner);
        change();
        if *sleepers > 0 {
            self.met.notify_all();
        }
    }

    fn wait(&self, meetings: u64) {
        let over = || self.meetings.load(Ordering::Acquire) != meetings || self.broken.load(Ordering::Acquire);
        for look in 0..LOOKS + YIELDS {
            if over() {
                return;
            }
            if look < LOOKS {
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
        let mut sleepers = self.sleepers.lock().unwrap_or_else(PoisonError::into_inner);
        *sleepers += 1;
        while !over() {
            sleepers = self.met.wait(sleepers).unwrap_or_else(PoisonError::into_inner);
        }
        *sleepers -= 1;
    }
}

/// Lets the others go if this thread fails.
pub(crate) struct Guard<'a>(pub(crate) &'a Barrier);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.give_up();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_goes_before_all_have_come() {
        let (barrier, come, calls) = (Barrier::new(3), AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let (barrier, come, calls) = (&barrier, &come, &calls);
                scope.spawn(move || {
                    for meeting in 1..200 {
                        if thread == 0 && meeting % 50 == 0 {
                            // The others fall asleep.
                            std::thread::sleep(std::time::Duration::from_millis(2));
                        }
                        come.fetch_add(1, Ordering::Relaxed);
                        barrier.meet(|| {
                            calls.fetch_add(1, Ordering::Relaxed);
                            assert_eq!(come.load(Ordering::Relaxed), 3 * meeting);
                        });
                        assert_eq!(calls.load(Ordering::Relaxed), meeting);
                        barrier.meet(|| {});
                    }
                });
            }
        });
    }

    #[test]
    fn a_thread_that_fails_lets_the_others_go() {
        let barrier = Barrier::new(2);
        let failed = std::thread::scope(|scope| {
            let waits = scope.spawn(|| barrier.meet(|| {}));
            let fails = scope.spawn(|| {
                let _guard = Guard(&barrier);
                panic!("on purpose");
            });
            waits.join().is_err() && fails.join().is_err()
        });
        assert!(failed);
    }
}
