//! Threads that wait for the steps of many runs, and take them together with the caller.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The work of a step: one item after another, each by any thread.
pub(super) trait Items: Send + Sync + 'static {
    /// How many there are.
    fn count(&self) -> usize;
    /// Takes one.
    fn take(&self, index: usize);
}

/// Threads besides the caller's, which end with it.
pub(super) struct Crew<W: Items> {
    shared: Arc<Shared<W>>,
    threads: usize,
}

struct Shared<W> {
    work: W,
    /// The item that is taken next.
    next: AtomicUsize,
    turn: Mutex<Turn>,
    /// Signalled when a step begins, or when no more will; and when the last thread has done its part.
    begun: Condvar,
    done: Condvar,
}

#[derive(Default)]
struct Turn {
    number: u64,
    busy: usize,
    /// A thread has panicked.
    broken: bool,
    closed: bool,
}

impl<W: Items> Crew<W> {
    /// Starts `threads` threads.
    ///
    /// # Errors
    /// If the system has no room for another one.
    pub(super) fn new(work: W, threads: usize) -> std::io::Result<Self> {
        let (next, turn) = (AtomicUsize::new(0), Mutex::default());
        let shared = Arc::new(Shared { work, next, turn, begun: Condvar::new(), done: Condvar::new() });
        let mut crew = Self { shared, threads: 0 };
        for _ in 0..threads {
            let shared = Arc::clone(&crew.shared);
            std::thread::Builder::new().name("penstock-agents".to_owned()).spawn(move || shared.wait_for_steps())?;
            crew.threads += 1;
        }
        Ok(crew)
    }

    pub(super) fn work(&self) -> &W {
        &self.shared.work
    }

    /// Takes all items; false if a thread has panicked.
    pub(super) fn step(&self) -> bool {
        let shared = &*self.shared;
        shared.next.store(0, Ordering::Relaxed);
        if self.threads == 0 {
            return shared.take_all();
        }
        let mut turn = shared.turn();
        (turn.number, turn.busy) = (turn.number + 1, self.threads);
        drop(turn);
        shared.begun.notify_all();
        let well = shared.take_all();
        let turn = shared.done.wait_while(shared.turn(), |turn| turn.busy > 0);
        well && !turn.unwrap_or_else(PoisonError::into_inner).broken
    }
}

impl<W: Items> Drop for Crew<W> {
    fn drop(&mut self) {
        self.shared.turn().closed = true;
        self.shared.begun.notify_all();
    }
}

impl<W: Items> Shared<W> {
    fn turn(&self) -> MutexGuard<'_, Turn> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_all(&self) -> bool {
        let rest = || {
            loop {
                let index = self.next.fetch_add(1, Ordering::Relaxed);
                if index >= self.work.count() {
                    return;
                }
                self.work.take(index);
            }
        };
        catch_unwind(AssertUnwindSafe(rest)).is_ok()
    }

    fn wait_for_steps(&self) {
        let mut seen = 0;
        loop {
            let idle = |turn: &mut Turn| turn.number == seen && !turn.closed;
            let turn = self.begun.wait_while(self.turn(), idle).unwrap_or_else(PoisonError::into_inner);
            if turn.closed {
                return;
            }
            seen = turn.number;
            drop(turn);
            let well = self.take_all();
            let mut turn = self.turn();
            turn.busy -= 1;
            turn.broken |= !well;
            if turn.busy == 0 {
                self.done.notify_all();
            }
        }
    }
}
