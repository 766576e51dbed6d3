//! A window by acknowledgements alone, as a shared library in Rust: it grows by a segment a round trip, a loss halves it.
//!
//! ```text
//! cargo build --release -p penstock-example-aimd
//! penstock run SCENARIO --scheme target/release/libaimd.so
//! ```

use penstock_schemes::foreign::abi::{Ack, Call, Echo, Frame, Functions, Limits, Setup};
use penstock_schemes::foreign::description::{Description, Parameter};

/// A point's memory begins with the word that a function gets: here the window, octets, is all of it.
type Window = u64;

const SEGMENT: usize = 0;

extern "C" fn configure(_: &mut Window, _: &Setup<'_>, _: u64, _: &mut Limits) {}

extern "C" fn create(window: &mut Window, setup: &Setup<'_>, _line: u64, limits: &mut Limits) {
    *window = 10 * setup.values[SEGMENT];
    limits.window = *window as i64;
}

extern "C" fn on_ack(window: &mut Window, _: &mut Call<'_>, _flow: u32, ack: &Ack, limits: &mut Limits) {
    const SEGMENT: u64 = 1500;
    if ack.lost > 0 {
        *window = (*window / 2).max(SEGMENT);
        limits.limiting = 1;
    } else {
        *window += (SEGMENT * ack.acked).div_ceil(*window);
    }
    limits.window = *window as i64;
}

extern "C" fn acknowledge(_: &mut u64, _now: u64, _: &mut Frame<'_>, _: &mut Echo) -> u32 {
    1
}

/// Called once, when the library is loaded: what it returns stays.
#[allow(unsafe_code, reason = "the engine looks for the function by this name")]
#[unsafe(no_mangle)]
pub extern "C" fn penstock_scheme_describe() -> *const Description {
    let parameters = [Parameter {
        name: c"segment".as_ptr(),
        unit: 0,
        standard: 1500,
        minimum: 64,
        maximum: 16_384,
        words: std::ptr::null(),
        source: c"RFC 5681, section 3.1, SMSS".as_ptr(),
        description: c"Octets of a segment of the first window.".as_ptr(),
        bound: std::ptr::null(),
        when: std::ptr::null(),
    }];
    let functions = Functions {
        np_acknowledge: Some(acknowledge),
        rp_create: Some(create),
        rp_configure: Some(configure),
        rp_on_ack: Some(on_ack),
        ..Functions::default()
    };
    Box::leak(Box::new(Description {
        name: c"aimd".as_ptr(),
        title: c"Additive increase, multiplicative decrease".as_ptr(),
        source: c"Chiu and Jain 1989".as_ptr(),
        description: c"A loss halves the window, a round trip without one adds a segment.".as_ptr(),
        parameters: Vec::from(parameters).leak().as_ptr(),
        parameter_count: 1,
        memory: [0, 0, 8],
        // PENSTOCK_ACKNOWLEDGES, PENSTOCK_NEEDS_ORDER; cuts and raises.
        properties: 1 | 32,
        actions: 8 | 16,
        functions,
        ..Description::default()
    }))
}
