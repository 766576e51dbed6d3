//! A run that a program drives, with its plan, its error and its summary.

use std::any::Any;
use std::ffi::{CStr, CString};
use std::mem::offset_of;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use penstock_runner::{Driven, Next};
use penstock_scenario::{Choice, Event as Happened, Plan, Scenario, ScenarioError};
use penstock_schemes::Duration;

/// The table of a scenario that has none with messages from outside: all hosts, a rank each.
const ALL_HOSTS: &str = "\n[[job]]\ngraph = \"outside\"\n";

/// The answer of a function. (`penstock_engine_status`)
#[repr(u32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Done.
    Ok = 0,
    /// A pointer is null.
    Null = 1,
    /// A text is not UTF-8.
    BadText = 2,
    /// The scenario is wrong.
    BadScenario = 3,
    /// An argument that the call cannot have.
    BadCall = 4,
    /// The run has ended.
    Ended = 5,
    /// The run cannot go on, or its results cannot be written.
    Failed = 6,
    /// The engine has a defect.
    Broken = 7,
}

/// What has happened. (`penstock_engine_event`)
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Event {
    /// 0: nothing is under way; 1: a message was delivered; 2: acknowledged; 3: an alarm; 4: the scenario's duration
    /// has passed.
    pub kind: u32,
    /// 0.
    pub reserved: u32,
    /// The number that the program gave the message or alarm; 0 where it is neither.
    pub id: u64,
    /// When.
    pub time_ps: u64,
}

// The layout, which the header checks likewise where it is compiled.
const _: () = {
    assert!(size_of::<Status>() == 4);
    assert!(size_of::<Event>() == 24 && offset_of!(Event, id) == 8 && offset_of!(Event, time_ps) == 16);
};

/// An engine. (`penstock_engine`)
pub struct Engine {
    run: Option<Running>,
    /// The host of each rank.
    hosts: Vec<CString>,
    /// The time of a run that has ended.
    end_ps: u64,
    summary: Option<CString>,
    /// The last error; of a run that broke off or never was, the reason.
    error: CString,
    /// The status of calls where there is no run.
    without: Status,
}

/// A run, and the plan that it borrows.
struct Running {
    /// `Some` until it is dropped, before the plan.
    run: Option<Driven<'static>>,
    /// Made from a box.
    plan: *mut Plan,
}

impl Running {
    fn new(plan: Plan, out: Option<&Path>) -> Result<Self, (Status, String)> {
        let mut own = Self { run: None, plan: Box::into_raw(Box::new(plan)) };
        // SAFETY: the plan lives until `own` is dropped, which drops the run first, and nothing changes it.
        let plan: &'static Plan = unsafe { &*own.plan };
        let run = Driven::new(plan, out, false).map_err(|error| (Status::Failed, error.to_string()))?;
        let message = || (Status::BadScenario, "no [[job]] has graph = \"outside\"".to_owned());
        own.run = Some(run.ok_or_else(message)?);
        Ok(own)
    }

    fn get(&mut self) -> &mut Driven<'static> {
        self.run.as_mut().expect("a run is there until it is finished or dropped")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.run = None;
        // SAFETY: it was made from a box, and nothing borrows it any more.
        drop(unsafe { Box::from_raw(self.plan) });
    }
}

/// A text for the caller. A zero within it ends it.
fn c_text(text: &str) -> CString {
    let end = text.find('\0').unwrap_or(text.len());
    CString::new(&text[..end]).unwrap_or_default()
}

/// The message of a panic.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    format!("the engine has a defect, please report it: {}", text.unwrap_or("no message"))
}

/// Reads a scenario and lays it out.
fn plan(toml: &str, name: &str) -> Result<Plan, ScenarioError> {
    let mut scenario = Scenario::parse(toml, name, name)?;
    if !scenario.has_outside() {
        scenario = Scenario::parse(&format!("{toml}{ALL_HOSTS}"), name, name)?;
    }
    scenario.plan(&Choice::default())
}

impl Engine {
    /// The engine without a run, for this reason.
    pub(crate) fn refused(status: Status, error: &str) -> (Self, Status) {
        let error = c_text(error);
        (Self { run: None, hosts: Vec::new(), end_ps: 0, summary: None, error, without: status }, status)
    }

    pub(crate) fn new(toml: Option<&str>, name: &str, out: Option<&str>) -> (Self, Status) {
        let Some(toml) = toml else { return Self::refused(Status::Null, "the scenario is null") };
        let made = catch_unwind(AssertUnwindSafe(|| {
            let plan = plan(toml, name).map_err(|error| (Status::BadScenario, error.to_string()))?;
            Running::new(plan, out.map(Path::new))
        }));
        match made.unwrap_or_else(|panic| Err((Status::Broken, message(&*panic)))) {
            Ok(mut run) => {
                let hosts = run.get().hosts().map(c_text).collect();
                let without = Status::Ended;
                (
                    Self { run: Some(run), hosts, end_ps: 0, summary: None, error: CString::default(), without },
                    Status::Ok,
                )
            }
            Err((status, error)) => Self::refused(status, &error),
        }
    }

    pub(crate) fn ranks(&self) -> u32 {
        self.hosts.len() as u32
    }

    pub(crate) fn host(&self, rank: u32) -> Option<&CStr> {
        self.hosts.get(rank as usize).map(CString::as_c_str)
    }

    pub(crate) fn rank(&self, host: &CStr) -> Option<u32> {
        self.hosts.iter().position(|own| own.as_c_str() == host).map(|rank| rank as u32)
    }

    pub(crate) fn now(&self) -> u64 {
        self.run.as_ref().and_then(|own| own.run.as_ref()).map_or(self.end_ps, |run| run.now().0)
    }

    pub(crate) fn error(&self) -> &CStr {
        &self.error
    }

    pub(crate) fn summary(&self) -> Option<&CStr> {
        self.summary.as_deref()
    }

    pub(crate) fn send(&mut self, from: u32, to: u32, octets: u64, id: u64) -> Status {
        self.call(|run| run.send(from, to, octets, id).map_err(|error| refusal(run, error)))
    }

    pub(crate) fn schedule(&mut self, delay_ps: u64, id: u64) -> Status {
        self.call(|run| run.schedule(Duration(delay_ps), id).map_err(|error| refusal(run, error)))
    }

    pub(crate) fn next(&mut self, event: &mut Event) -> Status {
        self.call(|run| {
            let next = run.next_event().map_err(|error| (Status::Failed, error.to_string()))?;
            let (kind, id) = match next {
                Next::Idle => (0, 0),
                Next::Event(Happened::Delivered(id)) => (1, id),
                Next::Event(Happened::Acknowledged(id)) => (2, id),
                Next::Event(Happened::Alarm(id)) => (3, id),
                Next::End => (4, 0),
            };
            *event = Event { kind, reserved: 0, id, time_ps: run.now().0 };
            Ok(())
        })
    }

    pub(crate) fn finish(&mut self) -> Status {
        let Some(mut own) = self.run.take() else { return self.refuse() };
        self.end_ps = own.get().now().0;
        let finished = catch_unwind(AssertUnwindSafe(|| {
            let run = own.run.take().expect("a run that was not finished is there");
            let run = run.finish().map_err(|error| (Status::Failed, error.to_string()))?;
            Ok(c_text(&run.summary.to_json()))
        }));
        match finished.unwrap_or_else(|panic| Err((Status::Broken, message(&*panic)))) {
            Ok(summary) => {
                self.summary = Some(summary);
                self.error = c_text("the run was finished");
                Status::Ok
            }
            Err((status, error)) => self.break_off(status, &error),
        }
    }

    /// Calls the run. One that fails is not called again.
    fn call(&mut self, ask: impl FnOnce(&mut Driven<'static>) -> Result<(), (Status, String)>) -> Status {
        let Some(own) = &mut self.run else { return self.refuse() };
        let answer = catch_unwind(AssertUnwindSafe(|| ask(own.get())));
        match answer.unwrap_or_else(|panic| Err((Status::Broken, message(&*panic)))) {
            Ok(()) => Status::Ok,
            Err((status @ (Status::Failed | Status::Broken), error)) => self.break_off(status, &error),
            Err((status, error)) => {
                self.error = c_text(&error);
                status
            }
        }
    }

    /// The status where there is no run. The reason stays the engine's error.
    fn refuse(&mut self) -> Status {
        if self.summary.is_some() {
            self.error = c_text("the run was finished: create another engine");
        }
        self.without
    }

    /// The run has failed.
    fn break_off(&mut self, status: Status, error: &str) -> Status {
        self.end_ps = self.now();
        let run = self.run.take();
        // After a defect its parts may not be as their ends expect: a second message adds nothing to the first.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(run)));
        (self.error, self.without) = (c_text(error), status);
        status
    }
}

/// The status of a call that was refused with a sentence.
fn refusal(run: &Driven<'_>, error: String) -> (Status, String) {
    (if run.has_ended() { Status::Ended } else { Status::BadCall }, error)
}
