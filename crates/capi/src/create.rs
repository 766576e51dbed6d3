//! A scheme from its name and its parameters as text.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::ffi::{CStr, c_char};

use penstock_schemes::info::{Configuration, Refused};
use penstock_schemes::{TypeVisitor, visit_type};

use crate::abi::Status;
use crate::points::{AnyScheme, Of};

/// A scheme with its parameters. (`penstock_scheme`)
pub struct Scheme(pub(crate) Box<dyn AnyScheme>);

type Refusal = (Status, String);

/// Reads a scheme.
///
/// # Safety
/// `name` and `parameters` are texts that end in a zero octet, or null; `scheme` is where a handle can be written; `message` has
/// room for `message_octets`, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn penstock_scheme_create(
    name: *const c_char,
    parameters: *const c_char,
    scheme: *mut *mut Scheme,
    message: *mut c_char,
    message_octets: usize,
) -> Status {
    if scheme.is_null() {
        return Status::Null;
    }
    // SAFETY: the caller's promise.
    let made = unsafe { text(name) }.and_then(|name| {
        let name = name.ok_or((Status::Null, "a scheme has a name".into()))?;
        // SAFETY: the caller's promise.
        let parameters = unsafe { text(parameters) }?.unwrap_or_default();
        visit_type(name, Make { parameters })
            .unwrap_or_else(|| Err((Status::UnknownScheme, format!("there is no scheme \"{name}\""))))
    });
    let (status, made, said) = match made {
        Ok(made) => (Status::Ok, Box::into_raw(Box::new(Scheme(made))), String::new()),
        Err((status, said)) => (status, core::ptr::null_mut(), said),
    };
    // SAFETY: the caller's promises; neither pointer is null.
    unsafe {
        *scheme = made;
        if !message.is_null() {
            write(&said, message, message_octets);
        }
    }
    status
}

/// Ends a scheme; points that were made from it go on.
///
/// # Safety
/// `scheme` came from [`penstock_scheme_create`] and was not ended before, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn penstock_scheme_destroy(scheme: *mut Scheme) {
    if !scheme.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(scheme) });
    }
}

/// A caller's text; `None` for a null pointer.
unsafe fn text<'a>(text: *const c_char) -> Result<Option<&'a str>, Refusal> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: the promise of the functions that call this.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map(Some).map_err(|_| (Status::BadText, "the text is not UTF-8".into()))
}

/// Writes as much of `said` as fits, and a zero octet.
unsafe fn write(said: &str, message: *mut c_char, octets: usize) {
    let Some(room) = octets.checked_sub(1) else { return };
    let mut end = said.len().min(room);
    while !said.is_char_boundary(end) {
        end -= 1;
    }
    // SAFETY: the caller has room for `octets`, and `end` is less.
    unsafe {
        core::ptr::copy_nonoverlapping(said.as_ptr().cast::<c_char>(), message, end);
        *message.add(end) = 0;
    }
}

struct Make<'a> {
    parameters: &'a str,
}

impl TypeVisitor for Make<'_> {
    type Output = Result<Box<dyn AnyScheme>, Refusal>;

    fn visit<S: penstock_schemes::Scheme>(self) -> Self::Output {
        let values = S::INFO.read(self.parameters).map_err(|refused| match refused {
            Refused::Unknown(said) => (Status::UnknownParameter, said),
            Refused::Value(said) => (Status::BadValue, said),
        })?;
        let config = S::Config::from_values(&values).expect("each value is in its parameter's unit");
        Ok(Box::new(Of::<S> { config, values }))
    }
}
