//! One input: read, laid out, and if it is small run twice, the second time on two threads. Gives all findings: things that must not be.

use std::any::Any;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use penstock_runner::{Options, Run, RunError, Threads, fingerprint};
use penstock_scenario::{Choice, Plan, Scenario, ScenarioError};
use penstock_schemes::Duration;
use penstock_sim::Partition;
use rustix::time::{ClockId, clock_gettime};

use crate::mutate::Input;
use crate::{estimate, results};

/// Plans of this number of events or fewer are run to the end, twice.
const SMALL: f64 = 40_000.0;
/// A run that was estimated to be small is interrupted after this number of events.
const BUDGET: u64 = 300_000;
/// One in this number of larger runs is begun, and interrupted as soon as possible.
const BEGUN: u64 = 6;
/// Longest time of the processor from one occasion to stop to the next, s. Builds for debugging are slower.
const PATIENCE: f64 = if cfg!(debug_assertions) { 5.0 } else { 1.0 };
/// Two threads run a plan whose parts meet no more often than this.
const MEETINGS: u64 = 20_000;
const TWO: NonZeroUsize = NonZeroUsize::new(2).expect("two are some");
/// Plans with this number of flows or fewer are planned again from their resolved form.
const FEW_FLOWS: usize = 100;

/// How far an input came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// It is no scenario, and was refused.
    Refused,
    /// It was laid out; a run would be long.
    Planned,
    /// Its run was begun and broken off.
    Stopped,
    /// It was run whole, twice.
    Ran,
}

impl Outcome {
    pub(crate) const ALL: [Self; 4] = [Self::Refused, Self::Planned, Self::Stopped, Self::Ran];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Planned => "laid out",
            Self::Stopped => "broken off",
            Self::Ran => "run twice",
        }
    }
}

/// Something that must not be.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// Its kind.
    pub(crate) class: String,
    pub(crate) detail: String,
}

impl Finding {
    pub(crate) fn new(class: &str, detail: impl Into<String>) -> Self {
        Self { class: class.into(), detail: detail.into() }
    }

    /// The same text for findings with one cause: the message without numbers and names.
    pub(crate) fn signature(&self) -> String {
        let (mut text, mut quoted) = (format!("{}: ", self.class), false);
        for c in self.detail.chars().take(2000) {
            match c {
                '"' => {
                    quoted = !quoted;
                    text.push('"');
                }
                _ if quoted => {}
                '0'..='9' if text.ends_with('#') => {}
                '0'..='9' => text.push('#'),
                c => text.push(c),
            }
        }
        text.truncate(text.char_indices().nth(160).map_or(text.len(), |(end, _)| end));
        text
    }
}

/// Location and message of the last panic.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// The message of a panic.
fn words_of(payload: &dyn Any) -> &str {
    let owned = payload.downcast_ref::<String>().map(String::as_str);
    payload.downcast_ref::<&str>().copied().or(owned).unwrap_or("a panic without a message")
}

/// Keeps the messages of panics for [`examine`] instead of showing them.
pub(crate) fn listen_to_panics() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(|at| format!("{}:{}", at.file(), at.line())).unwrap_or_default();
        let words = words_of(info.payload());
        *PANIC.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = format!("{place}: {words}");
    }));
}

/// Tries `input`. `draw` decides the choices that are left open.
pub(crate) fn examine(input: &Input, draw: u64) -> Examined {
    let mut examined = Examined { outcome: Outcome::Stopped, findings: Vec::new(), refusal: None };
    let outcome = catch_unwind(AssertUnwindSafe(|| examined.try_out(input, draw)));
    match outcome {
        Ok(outcome) => examined.outcome = outcome,
        Err(_) => {
            let words = PANIC.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
            examined.findings.push(Finding::new("panic", words));
        }
    }
    examined
}

/// Result of trying an input.
#[derive(Debug)]
pub(crate) struct Examined {
    pub(crate) outcome: Outcome,
    pub(crate) findings: Vec<Finding>,
    /// The message with which it was refused.
    pub(crate) refusal: Option<String>,
}

impl Examined {
    fn try_out(&mut self, input: &Input, draw: u64) -> Outcome {
        let findings = &mut self.findings;
        let plan = {
            let started = processor_time();
            let plan = lay_out(input);
            let time = processor_time() - started;
            if time > PATIENCE {
                findings
                    .push(Finding::new("slow layout", format!("{time:.1} s of the processor to lay out or refuse")));
            }
            match plan {
                Ok(plan) => plan,
                Err(error) => {
                    findings.extend(poor_refusal(input, &error));
                    self.refusal = Some(error.to_string());
                    return Outcome::Refused;
                }
            }
        };
        if plan.network.flows.len() + plan.generated.len() <= FEW_FLOWS {
            findings.extend(unlike_its_resolved_form(&plan));
            findings.extend(results::unfair(&plan).map(|found| Finding::new("impossible", found)));
        }
        if estimate::events(&plan) > SMALL {
            if !draw.is_multiple_of(BEGUN) {
                return Outcome::Planned;
            }
            let started = processor_time();
            let run = penstock_runner::run(&plan, &Options::default(), &mut |_| ControlFlow::Break(()));
            let time = processor_time() - started;
            if time > PATIENCE {
                let found = format!("{time:.1} s of the processor until a run stopped that was asked to at once");
                findings.push(Finding::new("ignored interrupt", found));
            }
            findings.extend(poor_result(&plan, &run));
            return Outcome::Stopped;
        }
        let (first, whole) = run_in_slices(&plan, 3 + draw % 20);
        let before = findings.len();
        findings.extend(poor_result(&plan, &first));
        if !whole {
            return Outcome::Stopped;
        }
        let options = Options { threads: threads(&plan), ..Options::default() };
        let second = penstock_runner::run(&plan, &options, &mut |_| ControlFlow::Continue(()));
        if findings.len() == before
            && let (Ok(first), Ok(second)) = (&first, &second)
        {
            let prints = [first, second].map(|run| fingerprint(run).map(|print| print.to_string()).unwrap_or_default());
            if prints[0] != prints[1] {
                findings.push(Finding::new("fingerprint", format!("{} and {} for one scenario", prints[0], prints[1])));
            }
        }
        Outcome::Ran
    }
}

/// Two threads, unless the parts of the network would meet too often.
fn threads(plan: &Plan) -> Threads {
    let partition = Partition::new(&plan.network, 2);
    let few = partition.is_ok_and(|cut| plan.duration.0 / cut.lookahead().0 <= MEETINGS);
    Threads::Number(if few { TWO } else { NonZeroUsize::MIN })
}

/// Runs in `slices` slices; false if it was broken off because it had too many events.
fn run_in_slices(plan: &Plan, slices: u64) -> (Result<Run, RunError>, bool) {
    let options = Options { slice: Some(Duration((plan.duration.0 / slices).max(1))), ..Options::default() };
    let mut whole = true;
    let run = penstock_runner::run(plan, &options, &mut |progress| {
        whole = progress.events <= BUDGET;
        if whole { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    (run, whole)
}

fn lay_out(input: &Input) -> Result<Plan, ScenarioError> {
    let mut scenario = Scenario::parse(&input.text, "input.toml", &input.name)?;
    for (key, value) in &input.set {
        scenario.set(key, value)?;
    }
    scenario.plan(&Choice {
        scheme: input.scheme.clone(),
        profile: input.profile.clone(),
        seed: input.run_seed,
        ..Choice::default()
    })
}

/// A refusal that lacks a line, a key or a hint, or that has control characters which reach a terminal.
fn poor_refusal(input: &Input, error: &ScenarioError) -> Option<Finding> {
    // Where the command names the scheme, no line asks for its parameters.
    let by_choice = input.scheme.is_some() && error.key.as_deref().is_some_and(|key| key.starts_with("schemes."));
    let given = error.message.contains("given by --");
    let text_alone =
        error.message.starts_with("not TOML") || error.message == "is empty" || error.message.contains("4 MB");
    let lacks = if error.line.is_none()
        && !given
        && !by_choice
        && error.message != "is empty"
        && !error.message.contains("4 MB")
    {
        "a line"
    } else if error.key.is_none() && !text_alone {
        "a key"
    } else if error.hint.as_deref().is_none_or(|hint| hint.trim().is_empty()) {
        "a hint"
    } else if error.to_string().contains(|c: char| c.is_control()) {
        "an escape for control characters"
    } else if given
        && input.set.is_empty()
        && input.scheme.is_none()
        && input.profile.is_none()
        && input.run_seed.is_none()
    {
        "the truth: nothing was given beside the file"
    } else if error.to_string().chars().count() > 2000 {
        "brevity"
    } else {
        return None;
    };
    Some(Finding::new("refusal", format!("lacks {lacks}: {error}")))
}

/// Whether the resolved scenario, read again, is another.
fn unlike_its_resolved_form(plan: &Plan) -> Option<Finding> {
    let again = Scenario::parse(&plan.resolved, "resolved.toml", "resolved").and_then(|s| s.plan(&Choice::default()));
    let found = match again {
        Err(error) => format!("is refused: {error}"),
        Ok(again) if again.resolved != plan.resolved => {
            let differ = again.resolved.lines().zip(plan.resolved.lines()).find(|(a, b)| a != b);
            let (after, before) = differ.unwrap_or(("more or fewer lines", ""));
            format!("is another: {before} becomes {after}")
        }
        Ok(again) if again.name != plan.name => format!("has another name: {}", again.name),
        Ok(_) => return None,
    };
    Some(Finding::new("resolved", format!("the resolved scenario {found}")))
}

/// A run that failed, or that has an impossible result.
fn poor_result(plan: &Plan, run: &Result<Run, RunError>) -> Option<Finding> {
    match run {
        // A worker has little memory; to say so is right.
        Err(RunError::Memory { .. }) => None,
        Err(error) => Some(Finding::new("run", format!("{error}"))),
        Ok(run) => results::impossible(plan, run).map(|found| Finding::new("impossible", found)),
    }
}

/// Time of the processor that this thread has used, s.
fn processor_time() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
