//! The engine in C: layouts, calls by hand, programs in C and C++ under the sanitizers, and collectives beside those of
//! scenarios.

#![allow(unsafe_code, reason = "it calls the functions for C")]

mod calls;
mod collectives;
mod programs;

use std::ffi::{CStr, CString};
use std::ptr::{null, null_mut};

use penstock_engine::*;

/// A star without schemes: 100 Gb/s, 1 us a link.
const STAR: &str = "question = \"?\"\nduration = \"10 ms\"\nscheme = \"none\"\n\
    [topology.star]\nhosts = 4\nlink_rate = \"100 Gbps\"\nlink_delay = \"1 us\"\nbuffer = \"1 MB\"\n";

/// An engine that is destroyed in the end.
struct Handle(*mut Engine);

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: it is destroyed once.
        unsafe { penstock_engine_destroy(self.0) };
    }
}

impl Handle {
    /// The engine of a scenario, and the status of its creation.
    fn create(toml: &str, out: Option<&str>) -> (Self, Status) {
        let (toml, out) = (CString::new(toml).unwrap(), out.map(|out| CString::new(out).unwrap()));
        let mut engine = null_mut();
        let out = out.as_ref().map_or(null(), |out| out.as_ptr());
        // SAFETY: all pointers are of this function.
        let status = unsafe { penstock_engine_create(toml.as_ptr(), c"test".as_ptr(), out, &raw mut engine) };
        (Self(engine), status)
    }

    fn new(toml: &str) -> Self {
        let (engine, status) = Self::create(toml, None);
        assert_eq!(status, Status::Ok, "{}", engine.error());
        engine
    }

    fn error(&self) -> String {
        // SAFETY: the engine is alive, here and below.
        unsafe { CStr::from_ptr(penstock_engine_error(self.0)) }.to_str().unwrap().to_owned()
    }

    fn send(&self, from: u32, to: u32, octets: u64, id: u64) -> Status {
        // SAFETY: as above.
        unsafe { penstock_engine_send(self.0, from, to, octets, id) }
    }

    fn schedule(&self, delay_ps: u64, id: u64) -> Status {
        // SAFETY: as above.
        unsafe { penstock_engine_schedule(self.0, delay_ps, id) }
    }

    /// The next event: kind, id, time.
    fn next(&self) -> Result<(u32, u64, u64), Status> {
        let mut event = Event::default();
        // SAFETY: as above.
        match unsafe { penstock_engine_next(self.0, &raw mut event) } {
            Status::Ok => Ok((event.kind, event.id, event.time_ps)),
            status => Err(status),
        }
    }

    /// The next events, this number of them.
    fn events(&self, count: usize) -> Vec<(u32, u64, u64)> {
        (0..count).map(|_| self.next().unwrap()).collect()
    }

    fn now(&self) -> u64 {
        // SAFETY: as above.
        unsafe { penstock_engine_now(self.0) }
    }

    fn finish(&self) -> Status {
        // SAFETY: as above.
        unsafe { penstock_engine_finish(self.0) }
    }

    fn summary(&self) -> Option<String> {
        // SAFETY: as above.
        let text = unsafe { penstock_engine_summary(self.0) };
        // SAFETY: it is null, or a text of the engine.
        (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned())
    }
}
