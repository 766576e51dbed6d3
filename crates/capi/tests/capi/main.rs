//! The interface in C: layouts, answers beside the native state machines, callers that do wrong, and the examples in C.

#![allow(unsafe_code, reason = "it calls the functions for C")]

mod callers;
mod examples;
mod layout;
mod native;

use std::ffi::{CStr, CString, c_char};

use penstock::{Scheme, Status, penstock_scheme_create};

/// A scheme, or the status and the message of its refusal.
fn scheme(name: &str, parameters: &str) -> Result<*mut Scheme, (Status, String)> {
    let (name, parameters) = (CString::new(name).unwrap(), CString::new(parameters).unwrap());
    let mut scheme = std::ptr::null_mut();
    let mut message = [0 as c_char; 200];
    // SAFETY: all pointers are of this function.
    let status = unsafe {
        penstock_scheme_create(name.as_ptr(), parameters.as_ptr(), &raw mut scheme, message.as_mut_ptr(), message.len())
    };
    // SAFETY: the function has written a text that ends.
    let said = unsafe { CStr::from_ptr(message.as_ptr()) }.to_str().unwrap().to_owned();
    if status == Status::Ok { Ok(scheme) } else { Err((status, said)) }
}

/// Random words: a linear congruential generator, the high half.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 32) as u32
    }

    fn below(&mut self, most: u32) -> u32 {
        self.next() % most
    }
}
