//! Runs a program on a workload and takes the time.

use std::path::Path;

use penstock_runner::Recorder;
use penstock_scenario::{Choice, Plan, Scenario};
use penstock_schemes::none::NoControl;
use penstock_schemes::qcn::Qcn;
use penstock_schemes::{Instant, Scheme, SchemeConfig, Visitor};
use penstock_sim::probe::{NoProbe, Probe};
use penstock_sim::{Full, Lean, Model, Sim};

use crate::minimal;
use crate::stats::Repeated;
use crate::workload::{Program, Workload};

/// One run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured {
    /// Frames, data or control, that crossed a link.
    pub hops: u64,
    /// Events handled.
    pub events: u64,
    /// Time that the run took, with the building of the network, in nanoseconds.
    pub wall_ns: u64,
}

/// The times of one program over several runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    pub ns_per_hop: Repeated,
    pub events_per_s: f64,
    /// Time over that of the minimal program in the same turn, where there is one.
    pub ratio: Option<Repeated>,
}

/// Runs `program` once, for `duration` (scenario notation) or as long as the scenario says.
///
/// # Errors
/// If the scenario cannot be read or refuses the scheme or the duration.
pub(crate) fn run(
    workload: &Workload,
    program: &Program,
    root: &Path,
    duration: Option<&str>,
) -> Result<Measured, String> {
    let plan = plan(workload, program, root, duration)?;
    once(workload, program, &plan)
}

/// Whether the bench has an engine for `scheme` with the probe on `workload`: it has none with switches that trim, or that spread by
/// entropy, which are of the models with flow control.
///
/// # Errors
/// If the scenario cannot be read or refuses the scheme.
pub(crate) fn has_engine(workload: &Workload, scheme: &str, root: &Path) -> Result<bool, String> {
    let program = Program::Engine { scheme: scheme.to_owned(), probe: true };
    Ok(!plan(workload, &program, root, None)?.network.needs_flow_control())
}

/// Runs all programs of `workload` in turns, `repeats` times, and checks that they forward the same frames. Every other turn
/// goes backwards, so that a machine that grows slower or faster favours none.
///
/// # Errors
/// If the scenario cannot be read, or if the programs disagree.
pub(crate) fn interleaved(workload: &Workload, root: &Path, repeats: u32) -> Result<Vec<Times>, String> {
    let programs: Vec<Program> = workload.programs().into_iter().map(|(program, _)| program).collect();
    let plans: Vec<Plan> =
        programs.iter().map(|p| plan(workload, p, root, Some(workload.timed))).collect::<Result<_, _>>()?;
    let mut runs: Vec<Vec<Measured>> = vec![Vec::new(); programs.len()];
    for turn in 0..repeats {
        for i in 0..programs.len() {
            let i = if turn % 2 == 0 { i } else { programs.len() - 1 - i };
            runs[i].push(once(workload, &programs[i], &plans[i])?);
        }
    }
    if workload.minimal.is_some() {
        same_frames(workload, &plans[0], runs[0][0].hops, runs[1][0].hops)?;
    }
    let nanoseconds = |m: &Measured| m.wall_ns as f64 / m.hops as f64;
    Ok(runs
        .iter()
        .map(|own| Times {
            ns_per_hop: Repeated::of(own.iter().map(nanoseconds).collect()),
            events_per_s: Repeated::of(own.iter().map(|m| m.events as f64 * 1e9 / m.wall_ns as f64).collect()).median,
            ratio: workload.minimal.map(|_| {
                Repeated::of(own.iter().zip(&runs[0]).map(|(m, least)| nanoseconds(m) / nanoseconds(least)).collect())
            }),
        })
        .collect())
}

/// The programs count a hop at different moments of a frame's crossing, so they may differ by the frames in flight.
fn same_frames(workload: &Workload, plan: &Plan, minimal: u64, engine: u64) -> Result<(), String> {
    let under_way = plan.network.hops.len() as u64 * 16;
    if minimal.abs_diff(engine) > under_way {
        return Err(format!("{}: the minimal program counts {minimal} hops, the engine {engine}", workload.name));
    }
    Ok(())
}

fn plan(workload: &Workload, program: &Program, root: &Path, duration: Option<&str>) -> Result<Plan, String> {
    let scheme = match program {
        Program::Minimal => "none",
        Program::Engine { scheme, .. } => scheme,
    };
    let choice = Choice { scheme: Some(scheme.to_owned()), ..Choice::default() };
    let mut scenario = Scenario::load(&workload.path(root)).map_err(|e| e.to_string())?;
    if let Some(duration) = duration {
        // The distance of the samples stays that of the whole run, or a shorter run would sample more often.
        let interval = scenario.plan(&choice).map_err(|e| e.to_string())?.record.interval;
        scenario.set("record.interval", &format!("{} ps", interval.0)).map_err(|e| e.to_string())?;
        scenario.set("duration", duration).map_err(|e| e.to_string())?;
    }
    scenario.plan(&choice).map_err(|e| e.to_string())
}

#[expect(clippy::disallowed_types, reason = "a bench reads the clock")]
fn once(workload: &Workload, program: &Program, plan: &Plan) -> Result<Measured, String> {
    let begin = std::time::Instant::now();
    let (hops, events) = match program {
        Program::Minimal => {
            let queue = workload.minimal.ok_or_else(|| format!("{} has no minimal program", workload.name))?;
            let done = minimal::forward(&plan.network, queue, plan.duration.0);
            (done.hops, done.events)
        }
        Program::Engine { probe, .. } => engine(plan, *probe)?,
    };
    let wall_ns = u64::try_from(begin.elapsed().as_nanos()).expect("a bench ends within 584 years");
    Ok(Measured { hops, events, wall_ns })
}

/// A run of the engine; gives packet hops and events.
///
/// The engine is compiled once for each scheme, for each probe, and with or without flow control. All of them together
/// would take many minutes: every scheme is there with the probe, the rest for two schemes.
fn engine(plan: &Plan, probe: bool) -> Result<(u64, u64), String> {
    let (configs, pfc) = (plan.configs(), plan.network.needs_flow_control());
    match &configs[..] {
        configs if probe && !pfc => Ok(SchemeConfig::visit_engine(configs, Watched(plan))),
        [SchemeConfig::None(config)] => Ok(special::<NoControl>(plan, config, probe)),
        [SchemeConfig::Qcn(config)] => Ok(special::<Qcn>(plan, config, probe)),
        _ => Err(format!("{}: without probe, and with flow control, the bench has none and qcn", plan.scheme())),
    }
}

/// A run with the sampling probe and without flow control, waiting for its scheme's type.
struct Watched<'a>(&'a Plan);

impl Visitor for Watched<'_> {
    type Output = (u64, u64);

    fn visit<S: Scheme>(self, configs: &[S::Config]) -> Self::Output {
        drive::<S, _, Lean>(self.0, configs, Recorder::<false>::in_memory::<S>(self.0))
    }
}

/// A run that is not [`Watched`].
fn special<S: Scheme>(plan: &Plan, config: &S::Config, probe: bool) -> (u64, u64) {
    let configs = core::slice::from_ref(config);
    match (probe, plan.network.needs_flow_control()) {
        (true, _) => drive::<S, _, Full>(plan, configs, Recorder::<true>::in_memory::<S>(plan)),
        (false, true) => drive::<S, _, Full>(plan, configs, NoProbe),
        (false, false) => drive::<S, _, Lean>(plan, configs, NoProbe),
    }
}

fn drive<S: Scheme, P: Probe<S>, M: Model>(plan: &Plan, configs: &[S::Config], probe: P) -> (u64, u64) {
    let mut sim = Sim::<S, P, M>::new(&plan.network, configs, plan.seed, probe);
    sim.feed(plan.generated.arrivals());
    plan.generated.work().into_iter().for_each(|work| sim.employ(work));
    sim.run_until(Instant::ZERO + plan.warmup);
    sim.start_measuring();
    sim.run_until(Instant::ZERO + plan.duration);
    let (outcome, _) = sim.finish();
    (outcome.totals.packet_hops, outcome.totals.events)
}
