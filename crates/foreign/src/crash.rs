//! What the user reads when a library crashes: its location, and which of its functions ran.
//!
//! ```text
//!   signal --> on_signal: every watch of a run with a library: a function runs? --> a line on standard error
//!                                                               +--> the handler before ours, which ends the process
//! ```
//!
//! The handler loads atomics and writes octets, as a handler may. It knows no thread: of two libraries that run at the moment of the crash
//! it names both.

use std::any::Any;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

use penstock_schemes::foreign::Definition;
use penstock_schemes::foreign::watch::Watch;

use crate::SYMBOL;

/// A run with a library, or a library that is being loaded.
struct Slot {
    /// Its location. Null: the slot is free.
    location: AtomicPtr<&'static str>,
    /// Null while the library is loaded.
    watch: AtomicPtr<Watch>,
}

/// More runs than these at a time go without a message.
const SLOTS: usize = 64;
static RUNS: [Slot; SLOTS] =
    [const { Slot { location: AtomicPtr::new(ptr::null_mut()), watch: AtomicPtr::new(ptr::null_mut()) } }; SLOTS];

/// Keeps a slot, and the watch in it, until it is dropped.
struct Kept {
    slot: Option<&'static Slot>,
    _watch: Option<Arc<Watch>>,
}

impl Drop for Kept {
    fn drop(&mut self) {
        if let Some(slot) = self.slot {
            slot.watch.store(ptr::null_mut(), Ordering::SeqCst);
            slot.location.store(ptr::null_mut(), Ordering::SeqCst);
        }
    }
}

fn keep(location: &'static &'static str, watch: Option<&Arc<Watch>>) -> Kept {
    handler::install();
    let address = ptr::from_ref(location).cast_mut();
    let free = |slot: &&Slot| {
        slot.location.compare_exchange(ptr::null_mut(), address, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    };
    let slot = RUNS.iter().find(free);
    if let (Some(slot), Some(watch)) = (slot, watch) {
        slot.watch.store(Arc::as_ptr(watch).cast_mut(), Ordering::SeqCst);
    }
    Kept { slot, _watch: watch.cloned() }
}

/// A run of a library begins.
pub(crate) fn guard(definition: &'static Definition, watch: &Arc<Watch>) -> Box<dyn Any + Send> {
    Box::new(keep(&definition.location, Some(watch)))
}

/// A library is loaded and described until the answer is dropped.
pub(crate) fn loading(location: &str) -> impl Drop {
    keep(Box::leak(Box::new(crate::define::lasting(location))), None)
}

/// The location and the function of a slot in use, while a function runs.
#[cfg_attr(not(unix), allow(dead_code, reason = "no handler asks"))]
#[allow(unsafe_code, reason = "a handler of a signal can take no lock")]
fn running(slot: &Slot) -> Option<(&'static str, &'static str)> {
    // SAFETY: who stored an address keeps what it is of until it has taken the address away.
    let location = unsafe { slot.location.load(Ordering::SeqCst).as_ref() }?;
    // SAFETY: as above.
    let watch = unsafe { slot.watch.load(Ordering::SeqCst).as_ref() };
    match watch {
        Some(watch) => Some((location, watch.progress().1?.name())),
        None => Some((location, SYMBOL)),
    }
}

#[cfg(not(unix))]
mod handler {
    /// No signals here.
    pub(super) fn install() {}
}

#[cfg(unix)]
mod handler {
    use std::mem::MaybeUninit;
    use std::ptr;
    use std::sync::{Once, OnceLock};

    use libc::{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, c_int};

    use super::{RUNS, running};

    /// The signals of a crash, with their names.
    const SIGNALS: [(c_int, &str); 5] = [
        (SIGSEGV, "SIGSEGV, a wrong address"),
        (SIGBUS, "SIGBUS, a wrong address"),
        (SIGFPE, "SIGFPE, an illegal operation on numbers"),
        (SIGILL, "SIGILL, an illegal instruction"),
        (SIGABRT, "SIGABRT, a failed assertion or an exception"),
    ];

    /// The handlers before ours, in the order of [`SIGNALS`].
    static BEFORE: OnceLock<[libc::sigaction; 5]> = OnceLock::new();
    static INSTALLED: Once = Once::new();

    #[allow(unsafe_code, reason = "the system's calls for signals")]
    pub(super) fn install() {
        INSTALLED.call_once(|| {
            let before = SIGNALS.map(|(signal, _)| {
                let mut action = MaybeUninit::<libc::sigaction>::zeroed();
                // SAFETY: with no new action the call only writes the current one, which all zeros is room for.
                unsafe {
                    libc::sigaction(signal, ptr::null(), action.as_mut_ptr());
                    action.assume_init()
                }
            });
            BEFORE.get_or_init(|| before);
            for (signal, _) in SIGNALS {
                // SAFETY: an action of zeros is one without flags; the handler only loads atomics and calls what a handler may call.
                unsafe {
                    let mut action = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
                    action.sa_sigaction = on_signal as *const () as usize;
                    // The alternative stack, for a stack that is full; not blocked, so that the handler before ours gets it at once.
                    action.sa_flags = libc::SA_ONSTACK | libc::SA_NODEFER;
                    libc::sigaction(signal, &action, ptr::null_mut());
                }
            }
        });
    }

    /// Says what ran, and hands the signal to the handler before ours.
    #[allow(unsafe_code, reason = "the system's calls for signals")]
    extern "C" fn on_signal(signal: c_int) {
        let at = SIGNALS.iter().position(|(known, _)| *known == signal).unwrap_or(0);
        for (location, function) in RUNS.iter().filter_map(running) {
            for text in ["Error: ", location, ": ", function, " has ended the process: ", SIGNALS[at].1, "\n"] {
                // SAFETY: the octets are a text's; whether they are written, nobody can do anything about.
                let _ = unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
            }
        }
        if let Some(before) = BEFORE.get() {
            // SAFETY: it is what the system gave, and both calls may be made in a handler.
            unsafe {
                libc::sigaction(signal, &before[at], ptr::null_mut());
                libc::raise(signal);
            }
        }
    }
}
