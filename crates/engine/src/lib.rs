//! The simulator for programs in C and C++: they send messages and set alarms, and take what happens, one event after
//! the other.
//!
//! `include/penstock_engine.h` describes each function, as a caller reads it. This file has the functions; `engine` has
//! the run behind them.
//!
//! # What holds at the border
//!
//! - Nothing here calls the caller: events are taken by [`penstock_engine_next`].
//! - No panic leaves a function. One that happens ends the run, and its message is the engine's error.
//! - Null pointers are answered by a status, or by nothing.
//! - An engine belongs to one thread at a time. Engines share nothing.
#![allow(unsafe_code, reason = "pointers of callers in C")]

mod engine;

use std::ffi::{CStr, c_char};
use std::ptr::null;

pub use engine::{Engine, Event, Status};

/// The version of the header.
pub const VERSION: u32 = 1;

/// The version of this library.
#[unsafe(no_mangle)]
pub extern "C" fn penstock_engine_version() -> u32 {
    VERSION
}

/// A text of the caller: `None` if it is null, an error if it is not UTF-8.
///
/// # Safety
/// `text` is null or ends with a zero, and is not changed while the result is used.
unsafe fn text<'a>(text: *const c_char) -> Result<Option<&'a str>, std::str::Utf8Error> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: it is not null; the rest is the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_str().map(Some)
}

/// Hands out the run of the scenario `toml`, at time zero: even if that fails, so that it can be asked for the error.
///
/// # Safety
/// Each text is null or ends with a zero; `engine` is null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn penstock_engine_create(
    toml: *const c_char,
    name: *const c_char,
    out: *const c_char,
    engine: *mut *mut Engine,
) -> Status {
    if engine.is_null() {
        return Status::Null;
    }
    // SAFETY: the caller's promise.
    let texts = unsafe { (text(toml), text(name), text(out)) };
    let (made, status) = match texts {
        (Ok(toml), Ok(name), Ok(out)) => Engine::new(toml, name.unwrap_or("scenario"), out),
        _ => Engine::refused(Status::BadText, "the scenario, its name or the results folder is not UTF-8 text"),
    };
    // SAFETY: it is not null.
    unsafe { *engine = Box::into_raw(Box::new(made)) };
    status
}

/// Ends the engine. A results folder that was not finished is not there.
///
/// # Safety
/// The engine is null or one that was not destroyed before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn penstock_engine_destroy(engine: *mut Engine) {
    if !engine.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(engine) });
    }
}

/// The number of ranks.
///
/// # Safety
/// The engine is null or alive, here and below.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn penstock_engine_ranks(engine: *const Engine) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { engine.as_ref() }.map_or(0, Engine::ranks)
}

/// The name of a rank's host; null if there is no such rank.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn penstock_engine_host(engine: *const Engine, rank: u32) -> *const c_char {
    // SAFETY: the caller's promise.
    unsafe { engine.as_ref() }.and_then(|engine| engine.host(rank)).map_or(null(), CStr::as_ptr)
}

/// The first rank on a host; the largest number if there is none.
///
/// # Safety
/// As above; the name is null or ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn penstock_engine_rank(engine: *const Engine, host: *const c_char) -> u32 {
    // SAFETY: the caller's promise.
    let (engine, host) = unsafe { (engine.as_ref(), (!host.is_null()).then(|| CStr::from_ptr(host))) };
    engine.zip(host).and_then(|(engine, host)| engine.rank(host)).unwrap_or(u32::MAX)
}

/// Sends the message `id` now.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn penstock_engine_send(engine: *mut Engine, from: u32, to: u32, octets: u64, id: u64) -> Status {
    // SAFETY: the caller's promise.
    unsafe { engine.as_mut() }.map_or(Status::Null, |engine| engine.send(from, to, octets, id))
}

/// Sets the alarm `id`, for `delay_ps` from now.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn penstock_engine_schedule(engine: *mut Engine, delay_ps: u64, id: u64) -> Status {
    // SAFETY: the caller's promise.
    unsafe { engine.as_mut() }.map_or(Status::Null, |engine| engine.schedule(delay_ps, id))
}

/// Goes on to the next event, and writes it.
///
/// # Safety
/// As above; `event` is null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn penstock_engine_next(engine: *mut Engine, event: *mut Event) -> Status {
    // SAFETY: the caller's promise.
    let (Some(engine), Some(event)) = (unsafe { (engine.as_mut(), event.as_mut()) }) else { return Status::Null };
    engine.next(event)
}

/// The time, in picoseconds.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn penstock_engine_now(engine: *const Engine) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { engine.as_ref() }.map_or(0, Engine::now)
}

/// Ends the run here, and writes its results.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn penstock_engine_finish(engine: *mut Engine) -> Status {
    // SAFETY: the caller's promise.
    unsafe { engine.as_mut() }.map_or(Status::Null, Engine::finish)
}

/// The summary of a run that was finished, as JSON; else null.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn penstock_engine_summary(engine: *const Engine) -> *const c_char {
    // SAFETY: the caller's promise.
    unsafe { engine.as_ref() }.and_then(Engine::summary).map_or(null(), CStr::as_ptr)
}

/// The error of the last call that failed; empty before.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn penstock_engine_error(engine: *const Engine) -> *const c_char {
    // SAFETY: the caller's promise.
    unsafe { engine.as_ref() }.map_or(c"the engine is null", Engine::error).as_ptr()
}
