//! The functions on points. Each takes a handle; with a null handle it does nothing and answers with nothing.

use alloc::boxed::Box;

use penstock_schemes::{BitRate, Fate, FlowKey, Instant};

use crate::abi::{
    Ack, Allowance, Echo, Frame, Host, LENGTH, Label, Message, NONE, Place, Queue, RATE, Release, SPAN, Status,
    VERSION, held, span,
};
use crate::create::Scheme;
use crate::points::{AnyCp, AnyNp, AnyRp};

/// A reaction point. (`penstock_rp`)
pub struct Rp(Box<dyn AnyRp>);
/// A congestion point. (`penstock_cp`)
pub struct Cp(Box<dyn AnyCp>);
/// A notification point. (`penstock_np`)
pub struct Np(Box<dyn AnyNp>);

/// The version of this library.
#[unsafe(no_mangle)]
pub extern "C" fn penstock_version() -> u32 {
    VERSION
}

/// Hands a new object to the caller; `None` is one that the scheme does not have.
///
/// # Safety
/// `place` is null or can be written.
pub(crate) unsafe fn hand_out<T>(place: *mut *mut T, made: Option<T>) -> Status {
    let (status, made) = match made {
        Some(made) => (Status::Ok, Box::into_raw(Box::new(made))),
        None => (Status::NotOffered, core::ptr::null_mut()),
    };
    // SAFETY: the promise of the function's caller.
    unsafe { *place = made };
    status
}

/// A pointer of the caller.
trait Pointer<'a> {
    type Reference;
    /// As a reference; `None` if it is null.
    ///
    /// # Safety
    /// It is null, or what it points to is alive, and for a reference that can be written nobody else's.
    unsafe fn reference(self) -> Option<Self::Reference>;
}

impl<'a, T: 'a> Pointer<'a> for *const T {
    type Reference = &'a T;
    unsafe fn reference(self) -> Option<&'a T> {
        // SAFETY: the function's own condition.
        unsafe { self.as_ref() }
    }
}

impl<'a, T: 'a> Pointer<'a> for *mut T {
    type Reference = &'a mut T;
    unsafe fn reference(self) -> Option<&'a mut T> {
        // SAFETY: the function's own condition.
        unsafe { self.as_mut() }
    }
}

/// Declares functions on a handle: a reference to what is behind it, and pointers of the caller as references.
macro_rules! functions {
    ($handle:ident: $(
        $(#[$doc:meta])*
        fn $name:ident(|$point:ident| $($arg:ident: $type:ty),*; $($ptr:ident: $kind:tt $target:ty),*) -> $answer:ty, else $default:expr => $body:block
    )+) => {
        $(
            $(#[$doc])*
            ///
            /// # Safety
            /// The handle is alive and used by this thread alone; each pointer is null or points to what its type says.
            #[unsafe(no_mangle)]
            #[allow(clippy::unused_unit)]
            pub unsafe extern "C" fn $name(handle: *mut $handle, $($arg: $type,)* $($ptr: *$kind $target),*) -> $answer {
                // SAFETY: the caller's promise.
                let Some($handle($point)) = (unsafe { handle.as_mut() }) else { return $default };
                $(
                    // SAFETY: the caller's promise.
                    let Some($ptr) = (unsafe { $ptr.reference() }) else { return $default };
                )*
                $body
            }
        )+
    };
}

/// Declares the functions that end objects.
macro_rules! destroy {
    ($($name:ident: $handle:ident),+) => {
        $(
            /// Ends the object.
            ///
            /// # Safety
            /// The handle was not ended before, or is null.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(handle: *mut $handle) {
                if !handle.is_null() {
                    // SAFETY: the caller's promise.
                    drop(unsafe { Box::from_raw(handle) });
                }
            }
        )+
    };
}
pub(crate) use destroy;

destroy!(penstock_rp_destroy: Rp, penstock_cp_destroy: Cp, penstock_np_destroy: Np);

/// Makes a reaction point in front of a line of rate `line_bps`.
///
/// # Safety
/// Pointers are null or point to what their types say; the functions of `host` may be called while the point lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn penstock_rp_create(
    scheme: *const Scheme,
    line_bps: u64,
    host: *const Host,
    rp: *mut *mut Rp,
) -> Status {
    // SAFETY: the caller's promise.
    let (Some(Scheme(scheme)), Some(host), false) = (unsafe { (scheme.as_ref(), host.as_ref(), rp.is_null()) }) else {
        return Status::Null;
    };
    let line = BitRate(line_bps);
    if line_bps > RATE || !scheme.suits(line) {
        return Status::BadNumber;
    }
    // SAFETY: it is not null.
    unsafe { hand_out(rp, scheme.reaction_point(line, *host).map(Rp)) }
}

/// Makes a congestion point at `place`.
///
/// # Safety
/// As for [`penstock_rp_create`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn penstock_cp_create(
    scheme: *const Scheme,
    place: *const Place,
    host: *const Host,
    cp: *mut *mut Cp,
) -> Status {
    // SAFETY: the caller's promise.
    let given = unsafe { (scheme.as_ref(), place.as_ref(), host.as_ref(), cp.is_null()) };
    let (Some(Scheme(scheme)), Some(place), Some(host), false) = given else {
        return Status::Null;
    };
    if place.line_bps == 0 || place.line_bps > RATE || place.capacity_octets > LENGTH || place.phase_ps > SPAN {
        return Status::BadNumber;
    }
    // SAFETY: it is not null.
    unsafe { hand_out(cp, scheme.congestion_point(place.into(), *host).map(Cp)) }
}

/// Makes the notification point of a flow.
///
/// # Safety
/// As for [`penstock_rp_create`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn penstock_np_create(
    scheme: *const Scheme,
    flow: u32,
    host: *const Host,
    np: *mut *mut Np,
) -> Status {
    // SAFETY: the caller's promise.
    let (Some(Scheme(scheme)), Some(host), false) = (unsafe { (scheme.as_ref(), host.as_ref(), np.is_null()) }) else {
        return Status::Null;
    };
    // SAFETY: it is not null.
    unsafe { hand_out(np, scheme.notification_point(FlowKey(flow), *host).map(Np)) }
}

/// A status of whether something was understood.
fn understood(it_was: bool) -> Status {
    if it_was { Status::Ok } else { Status::NotOffered }
}

/// A time for the caller.
fn ps(time: Option<Instant>) -> u64 {
    time.map_or(NONE, |time| time.0)
}

functions! { Rp:
    /// Goes by the parameters of `scheme`, which has to be the same scheme, from now on.
    fn penstock_rp_configure(|point| ; scheme: const Scheme) -> Status, else Status::Null => {
        understood(point.configure(&*scheme.0))
    }
    /// Sets the round-trip time of the empty network.
    fn penstock_rp_round_trip(|point| round_trip_ps: u64;) -> (), else () => {
        point.learn_round_trip(span(round_trip_ps));
    }
    /// A flow starts.
    fn penstock_rp_start(|point| now_ps: u64, flow: u32;) -> (), else () => {
        point.start(now_ps, FlowKey(flow));
    }
    /// A flow is stopped.
    fn penstock_rp_stop(|point| now_ps: u64, flow: u32;) -> (), else () => {
        point.stop(now_ps, FlowKey(flow));
    }
    /// A message for the source of a flow has come.
    fn penstock_rp_message(|point| now_ps: u64, flow: u32; message: const Message) -> Status, else Status::Null => {
        understood(point.message(now_ps, FlowKey(flow), message))
    }
    /// Frames of a flow have been acknowledged.
    fn penstock_rp_ack(|point| now_ps: u64, flow: u32; ack: const Ack) -> Status, else Status::Null => {
        understood(point.ack(now_ps, FlowKey(flow), ack))
    }
    /// No acknowledgement has come for so long that `lost_octets` are held for lost.
    fn penstock_rp_silence(|point| now_ps: u64, flow: u32, lost_octets: u64;) -> (), else () => {
        point.silence(now_ps, FlowKey(flow), held(lost_octets));
    }
    /// A frame goes; `label` gets what it carries.
    fn penstock_rp_send(|point| now_ps: u64; frame: const Release, label: mut Label) -> (), else () => {
        *label = point.send(now_ps, frame.into());
    }
    /// The timer has run out.
    fn penstock_rp_timeout(|point| now_ps: u64;) -> (), else () => {
        point.timeout(now_ps);
    }
    /// When the timer runs out; the largest number where none runs.
    fn penstock_rp_next_timeout(|point| ;) -> u64, else NONE => {
        ps(point.next_timeout())
    }
    /// What the source may do now.
    fn penstock_rp_allowance(|point| ; allowance: mut Allowance) -> (), else () => {
        *allowance = point.allowance();
    }
    /// Whether a rate limiter is installed.
    fn penstock_rp_limiting(|point| ;) -> bool, else false => {
        point.limiting()
    }
}

functions! { Cp:
    /// Goes by the parameters of `scheme`, which has to be the same scheme, from now on.
    fn penstock_cp_configure(|point| ; scheme: const Scheme) -> Status, else Status::Null => {
        understood(point.configure(&*scheme.0))
    }
    /// A data frame has come to the queue, which includes it; or was dropped at it.
    fn penstock_cp_arrival(|point| now_ps: u64, dropped: bool; frame: mut Frame, queue: const Queue) -> (), else () => {
        let fate = if dropped { Fate::Dropped } else { Fate::Queued };
        point.arrival(now_ps, frame, fate, &queue.into());
    }
    /// Whether the frame is marked; its label says so, too.
    fn penstock_cp_mark(|point| now_ps: u64, queue_octets: u64; frame: mut Frame) -> bool, else false => {
        point.mark(now_ps, frame, held(queue_octets))
    }
    /// The transmission of a data frame starts; the queue does not include it.
    fn penstock_cp_transmission(|point| now_ps: u64; frame: mut Frame, queue: const Queue) -> (), else () => {
        point.transmission(now_ps, frame, &queue.into());
    }
    /// A data frame has left the queue.
    fn penstock_cp_departure(|point| now_ps: u64; frame: mut Frame, queue: const Queue) -> (), else () => {
        point.departure(now_ps, frame, &queue.into());
    }
    /// The transmission of a message towards the destination starts; the point may edit it.
    fn penstock_cp_probe_departure(|point| now_ps: u64; message: mut Message, queue: const Queue) -> Status, else Status::Null => {
        understood(point.probe_departure(now_ps, message, &queue.into()))
    }
    /// The timer has run out.
    fn penstock_cp_timeout(|point| now_ps: u64; queue: const Queue) -> (), else () => {
        point.timeout(now_ps, &queue.into());
    }
    /// When the timer runs out; the largest number where none runs.
    fn penstock_cp_next_timeout(|point| ;) -> u64, else NONE => {
        ps(point.next_timeout())
    }
}

functions! { Np:
    /// Goes by the parameters of `scheme`, which has to be the same scheme, from now on.
    fn penstock_np_configure(|point| ; scheme: const Scheme) -> Status, else Status::Null => {
        understood(point.configure(&*scheme.0))
    }
    /// A data frame has arrived.
    fn penstock_np_frame(|point| now_ps: u64; frame: mut Frame) -> (), else () => {
        point.frame(now_ps, frame);
    }
    /// Whether the frame is acknowledged now; then `echo` gets what the acknowledgement says.
    fn penstock_np_acknowledge(|point| now_ps: u64; frame: mut Frame, echo: mut Echo) -> bool, else false => {
        match point.acknowledge(now_ps, frame) {
            Some(said) => {
                *echo = said;
                true
            }
            None => false,
        }
    }
    /// A message for the destination has come.
    fn penstock_np_message(|point| now_ps: u64; message: const Message) -> Status, else Status::Null => {
        understood(point.message(now_ps, message))
    }
    /// The timer has run out.
    fn penstock_np_timeout(|point| now_ps: u64;) -> (), else () => {
        point.timeout(now_ps);
    }
    /// When the timer runs out; the largest number where none runs.
    fn penstock_np_next_timeout(|point| ;) -> u64, else NONE => {
        ps(point.next_timeout())
    }
}
