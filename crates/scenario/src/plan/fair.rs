//! The reference allocation: the rate of each flow if the network were shared fairly, while nothing changes.
//!
//! Two notions of fairness. *Max-min*: no flow can get more except at the cost of one that has less. It is found by raising
//! all rates evenly until a link or a demand limits them. *Proportional*: the sum of the logarithms of the rates is largest.
//! It is found by adjusting the price of one link after the other until its load is its capacity; a flow's rate is the
//! inverse of the prices along its path. Uncontrolled flows are served first, and controlled ones share the rest.
//! Greedy flows demand all, others their mean rate. A flow counts from its start to its stop; one with a size counts to its end,
//! which only the run knows: see [`FairShares`].
//!
//! Only `+ - * /` on `f64`, in a fixed order, so that the bits agree on all machines.

use std::borrow::Cow;

use penstock_schemes::{BitRate, Duration, Instant};
use penstock_sim::network::{Flow, HopId, Network, PortEvent};

use crate::limits::{Bounds, Excess};
use crate::{FairPeriod, Plan};

/// Proportional rates are as exact as this, relatively, when the iteration stops by itself.
const TOLERANCE: f64 = 1e-10;
/// Price updates (one flow on one link) after which the iteration stops in any case, over all periods; each period has
/// at least [`MIN_SWEEPS`] over all links.
const MAX_UPDATES: usize = 100_000_000;
const MIN_SWEEPS: usize = 20;
/// The load of a link at its price is as near to its capacity as this, relatively.
const CLEARED: f64 = 1e-13;
/// Steps after which a price is taken as it is: as many halvings exhaust the precision of `f64`.
const MAX_STEPS: usize = 60;

/// A flow's links and the most that it wants, bit/s.
#[derive(Debug, Clone)]
struct Want {
    links: Vec<usize>,
    demand: f64,
}

/// The search for prices.
struct Search {
    /// The price of each link, which the search starts from and updates. Prices change little between periods.
    price: Vec<f64>,
    /// How many updates a period may take.
    max_updates: usize,
}

/// The reference allocation of a run, in which flows with a size end. [`Plan::fair`] takes them to go on.
#[derive(Debug, Clone)]
pub struct FairShares {
    routes: Vec<Vec<usize>>,
    boundaries: Vec<Instant>,
}

impl FairShares {
    /// That of a run of `plan`; `None` if [`Plan::fair`] holds whatever flows end.
    #[must_use]
    pub fn new(plan: &Plan) -> Option<Self> {
        let network = &plan.network;
        (plan.shared && plan.finite)
            .then(|| Self { routes: routes(network), boundaries: boundaries(network, plan.duration, &[]) })
    }

    /// When the traffic or a link last changed by the plan, up to `now`.
    #[must_use]
    pub fn changed(&self, now: Instant) -> Instant {
        self.boundaries[self.boundaries.partition_point(|at| *at <= now) - 1]
    }

    /// The max-min fair rate of each flow at `now`, bit/s, where `ended` has the time at which each flow ended, if it has.
    #[must_use]
    pub fn max_min_bps(&self, plan: &Plan, now: Instant, ended: &[Option<Instant>]) -> Vec<f64> {
        let mut links = Links::new(&plan.network, &self.routes);
        links.change(&plan.network, now);
        let mut waits = || true;
        let bounds = Bounds::new(plan.limits, &mut waits);
        let active = Active { network: &plan.network, ended };
        let (rates, _) = allocate(&active, &links.routes, links.capacity(), None, now, &bounds)
            .unwrap_or_else(|(message, _)| panic!("nothing interrupts: {message}"));
        rates
    }

    /// The periods of a run whose flows have ended so.
    #[must_use]
    pub fn periods(&self, plan: &Plan, ended: &[Option<Instant>]) -> Vec<FairPeriod> {
        let mut waits = || true;
        along(&self.routes, &plan.network, plan.duration, ended, &Bounds::new(plan.limits, &mut waits))
            .unwrap_or_else(|(message, _)| panic!("nothing interrupts: {message}"))
    }
}

/// The flows that are active.
struct Active<'a> {
    network: &'a Network,
    /// When each flow ended, if it did; empty where that is not known.
    ended: &'a [Option<Instant>],
}

impl Active<'_> {
    fn at(&self, flow: usize, time: Instant) -> bool {
        let Flow { start, stop, .. } = &self.network.flows[flow];
        let over = |at: &Option<Instant>| at.is_some_and(|at| at <= time);
        *start <= time && !over(stop) && !self.ended.get(flow).is_some_and(over)
    }
}

/// The links' capacities along time.
struct Links<'a> {
    /// The links on each flow's path.
    routes: Cow<'a, [Vec<usize>]>,
    /// How many of the network's changes of routes are done.
    reroutes: usize,
    rates: Vec<BitRate>,
    down: Vec<bool>,
    /// How many of the network's changes are done.
    changes: usize,
}

impl<'a> Links<'a> {
    fn new(network: &Network, routes: &'a [Vec<usize>]) -> Self {
        let rates: Vec<BitRate> = network.ports.iter().map(|p| p.rate).collect();
        Self { routes: Cow::Borrowed(routes), reroutes: 0, down: vec![false; rates.len()], rates, changes: 0 }
    }

    /// Does the changes up to `now`.
    fn change(&mut self, network: &Network, now: Instant) {
        for change in network.changes[self.changes..].iter().take_while(|change| change.at <= now) {
            self.changes += 1;
            match change.event {
                PortEvent::Rate(rate) => self.rates[change.port.index()] = rate,
                PortEvent::Down => self.down[change.port.index()] = true,
                PortEvent::Up => self.down[change.port.index()] = false,
            }
        }
        for reroute in network.reroutes[self.reroutes..].iter().take_while(|reroute| reroute.at <= now) {
            self.reroutes += 1;
            self.routes.to_mut()[reroute.flow.index()] = route(network, reroute.root);
        }
    }

    fn capacity(&self) -> Vec<f64> {
        self.rates.iter().zip(&self.down).map(|(r, down)| if *down { 0.0 } else { r.0 as f64 }).collect()
    }
}

/// The links on each flow's path.
fn routes(network: &Network) -> Vec<Vec<usize>> {
    network.flows.iter().map(|flow| route(network, flow.root)).collect()
}

fn route(network: &Network, root: HopId) -> Vec<usize> {
    network.route_from(root).map(|hop| network.hops[hop.index()].port.index()).collect()
}

/// Start of each period: the start and the instants at which a flow starts, stops or has `ended`, or a link changes.
pub(crate) fn boundaries(network: &Network, duration: Duration, ended: &[Option<Instant>]) -> Vec<Instant> {
    let flows = network.flows.iter().flat_map(|f| [Some(f.start), f.stop]).chain(ended.iter().copied()).flatten();
    let changes = network.changes.iter().map(|c| c.at).chain(network.reroutes.iter().map(|r| r.at));
    let mut times: Vec<Instant> = flows.chain(changes).filter(|t| t.0 < duration.0).collect();
    times.push(Instant::ZERO);
    times.sort_unstable();
    times.dedup();
    times
}

/// The reference allocation in each period of a run of length `duration`, if flows with a size went on to the end.
pub(crate) fn periods(network: &Network, duration: Duration, bounds: &Bounds<'_>) -> Result<Vec<FairPeriod>, Excess> {
    along(&routes(network), network, duration, &[], bounds)
}

/// The same where flows have `ended` so, along these routes.
fn along(
    routes: &[Vec<usize>],
    network: &Network,
    duration: Duration,
    ended: &[Option<Instant>],
    bounds: &Bounds<'_>,
) -> Result<Vec<FairPeriod>, Excess> {
    let active = Active { network, ended };
    let starts = boundaries(network, duration, ended);
    let ends = starts.iter().skip(1).copied().chain([Instant(duration.0)]);
    let mut links = Links::new(network, routes);
    let mut search = Search { price: vec![0.0; network.ports.len()], max_updates: MAX_UPDATES / starts.len() };
    starts
        .iter()
        .zip(ends)
        .map(|(&start, end)| {
            links.change(network, start);
            let (max_min_bps, proportional_bps) =
                allocate(&active, &links.routes, links.capacity(), Some(&mut search), start, bounds)?;
            Ok(FairPeriod { time: start..end, max_min_bps, proportional_bps })
        })
        .collect()
}

/// The max-min fair rate of each flow at `time`, and the proportionally fair one; zero without a `search`.
fn allocate(
    active: &Active<'_>,
    routes: &[Vec<usize>],
    mut capacity: Vec<f64>,
    search: Option<&mut Search>,
    time: Instant,
    bounds: &Bounds<'_>,
) -> Result<(Vec<f64>, Vec<f64>), Excess> {
    let flows = &active.network.flows;
    let (controlled, free): (Vec<usize>, Vec<usize>) =
        (0..flows.len()).filter(|f| active.at(*f, time)).partition(|f| flows[*f].reaction_point.is_some());
    let want =
        |f: &usize| Want { links: routes[*f].clone(), demand: flows[*f].traffic.mean_bps().unwrap_or(f64::INFINITY) };
    let mut max_min_bps = vec![0.0; flows.len()];
    let mut proportional_bps = vec![0.0; flows.len()];

    let wants: Vec<Want> = free.iter().map(want).collect();
    for ((f, want), rate) in free.iter().zip(&wants).zip(max_min(&capacity, &wants, bounds)?) {
        max_min_bps[*f] = rate;
        proportional_bps[*f] = rate;
        for link in &want.links {
            capacity[*link] = (capacity[*link] - rate).max(0.0);
        }
    }
    let wants: Vec<Want> = controlled.iter().map(want).collect();
    for (f, rate) in controlled.iter().zip(max_min(&capacity, &wants, bounds)?) {
        max_min_bps[*f] = rate;
    }
    if let Some(search) = search {
        for (f, rate) in controlled.iter().zip(proportional(&capacity, &wants, search, bounds)?) {
            proportional_bps[*f] = rate;
        }
    }
    Ok((max_min_bps, proportional_bps))
}

/// Max-min fair rates.
fn max_min(capacity: &[f64], wants: &[Want], bounds: &Bounds<'_>) -> Result<Vec<f64>, Excess> {
    let mut rates: Vec<Option<f64>> = vec![None; wants.len()];
    let members = members(capacity.len(), wants);
    let mut left = capacity.to_vec();
    let mut waiting: Vec<usize> = members.iter().map(Vec::len).collect();
    let mut links: Vec<usize> = (0..capacity.len()).filter(|l| waiting[*l] > 0).collect();
    let mut unset: Vec<usize> = (0..wants.len()).collect();
    while !unset.is_empty() {
        bounds.go_on()?;
        links.retain(|l| waiting[*l] > 0);
        let share = |l: usize, left: &[f64], waiting: &[usize]| (left[l] / waiting[l] as f64).max(0.0);
        let level = links.iter().map(|l| share(*l, &left, &waiting)).fold(f64::INFINITY, f64::min);
        // A flow that wants no more than every flow can have gets it; if there is no such flow, the tightest links are
        // full.
        let modest: Vec<(usize, f64)> =
            unset.iter().filter(|f| wants[**f].demand <= level).map(|f| (*f, wants[*f].demand)).collect();
        let settled = if modest.is_empty() {
            let full = links.iter().filter(|l| share(**l, &left, &waiting) <= level * (1.0 + 1e-12));
            full.flat_map(|l| members[*l].iter().map(|f| (*f, level))).collect()
        } else {
            modest
        };
        for (f, rate) in settled {
            if rates[f].is_some() {
                continue;
            }
            rates[f] = Some(rate);
            for link in &wants[f].links {
                left[*link] -= rate;
                waiting[*link] -= 1;
            }
        }
        unset.retain(|f| rates[*f].is_none());
    }
    Ok(rates.into_iter().map(|rate| rate.expect("every flow is settled")).collect())
}

/// Proportionally fair rates.
fn proportional(
    capacity: &[f64],
    wants: &[Want],
    search: &mut Search,
    bounds: &Bounds<'_>,
) -> Result<Vec<f64>, Excess> {
    let price = &mut search.price;
    let cap: Vec<f64> = wants.iter().map(|w| w.links.iter().map(|l| capacity[*l]).fold(w.demand, f64::min)).collect();
    let members = members(capacity.len(), wants);
    // Only these can be full.
    let tight: Vec<usize> = (0..capacity.len())
        .filter(|l| capacity[*l] > 0.0 && members[*l].iter().map(|f| cap[*f]).sum::<f64>() > capacity[*l])
        .collect();
    let mut is_tight = vec![false; capacity.len()];
    tight.iter().for_each(|l| is_tight[*l] = true);
    price.iter_mut().zip(is_tight).for_each(|(p, tight)| *p = if tight { *p } else { 0.0 });
    // The sum of the prices along each flow's path.
    let mut toll: Vec<f64> = wants.iter().map(|w| w.links.iter().map(|l| price[*l]).sum()).collect();
    let rate = |cap: f64, toll: f64| if toll * cap > 1.0 { 1.0 / toll } else { cap };
    let sweep: usize = tight.iter().map(|l| members[*l].len()).sum();
    let sweeps = search.max_updates.checked_div(sweep).map_or(0, |n| n.max(MIN_SWEEPS));
    for _ in 0..sweeps {
        let before: Vec<f64> = cap.iter().zip(&toll).map(|(c, t)| rate(*c, *t)).collect();
        for &l in &tight {
            bounds.go_on()?;
            let others: Vec<(f64, f64)> = members[l]
                .iter()
                .filter(|f| cap[**f] > 0.0)
                .map(|f| (cap[*f], (toll[*f] - price[l]).max(0.0)))
                .collect();
            let new = clearing_price(capacity[l], &others, price[l]);
            for f in &members[l] {
                toll[*f] = (toll[*f] - price[l]).max(0.0) + new;
            }
            price[l] = new;
        }
        let moved = |(b, (c, t)): (&f64, (&f64, &f64))| (rate(*c, *t) - b).abs() > TOLERANCE * b;
        if !before.iter().zip(cap.iter().zip(&toll)).any(moved) {
            break;
        }
    }
    Ok(cap.iter().zip(&toll).map(|(c, t)| rate(*c, *t)).collect())
}

/// The price at which flows of these caps and other tolls fill `capacity`, sought from `price` on; zero if they never
/// do.
fn clearing_price(capacity: f64, flows: &[(f64, f64)], mut price: f64) -> f64 {
    // The load at a price, and how fast it falls there.
    let load = |price: f64| {
        flows.iter().fold((0.0, 0.0), |(load, fall), &(cap, toll)| {
            let toll = toll + price;
            if toll * cap > 1.0 { (load + 1.0 / toll, fall + 1.0 / (toll * toll)) } else { (load + cap, fall) }
        })
    };
    if load(0.0).0 <= capacity {
        return 0.0;
    }
    // Above n / capacity even flows without other tolls leave room. Newton's steps within these bounds, halving where
    // they would leave them.
    let (mut low, mut high) = (0.0, flows.len() as f64 / capacity);
    for _ in 0..MAX_STEPS {
        let (load, fall) = load(price);
        let over = load - capacity;
        if over.abs() <= CLEARED * capacity {
            break;
        }
        if over > 0.0 {
            low = price;
        } else {
            high = price;
        }
        let step = price + over / fall;
        price = if low < step && step < high { step } else { (low + high) / 2.0 };
    }
    price
}

/// The flows on each link.
fn members(links: usize, wants: &[Want]) -> Vec<Vec<usize>> {
    let mut members = vec![Vec::new(); links];
    for (f, want) in wants.iter().enumerate() {
        for link in &want.links {
            members[*link].push(f);
        }
    }
    members
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    fn want(links: &[usize], demand: f64) -> Want {
        Want { links: links.to_vec(), demand }
    }

    fn near(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (f, e) in found.iter().zip(expected) {
            assert!((f - e).abs() <= 1e-6 * e.abs() + 1e-9, "{found:?} is not {expected:?}");
        }
    }

    fn proportional(capacity: &[f64], wants: &[Want]) -> Vec<f64> {
        let mut search = Search { price: vec![0.0; capacity.len()], max_updates: MAX_UPDATES };
        super::proportional(capacity, wants, &mut search, &Bounds::new(Limits::default(), &mut || true)).unwrap()
    }

    fn max_min(capacity: &[f64], wants: &[Want]) -> Vec<f64> {
        super::max_min(capacity, wants, &Bounds::new(Limits::default(), &mut || true)).unwrap()
    }

    const GREEDY: f64 = f64::INFINITY;

    #[test]
    fn one_bottleneck_is_shared_evenly_by_both_notions() {
        let wants = vec![want(&[0, 4], GREEDY), want(&[1, 4], GREEDY), want(&[2, 4], GREEDY), want(&[3, 4], GREEDY)];
        let capacity = [10e9, 10e9, 10e9, 10e9, 10e9];
        near(&max_min(&capacity, &wants), &[2.5e9; 4]);
        near(&proportional(&capacity, &wants), &[2.5e9; 4]);
    }

    #[test]
    fn the_two_notions_differ_on_a_parking_lot() {
        // Three links of 10, one flow over all of them, one flow on each: max-min 5 each; proportionally the long flow
        // gets 1/(n+1) = 2.5 and leaves 7.5.
        let wants = vec![want(&[0, 1, 2], GREEDY), want(&[0], GREEDY), want(&[1], GREEDY), want(&[2], GREEDY)];
        near(&max_min(&[10.0, 10.0, 10.0], &wants), &[5.0, 5.0, 5.0, 5.0]);
        near(&proportional(&[10.0, 10.0, 10.0], &wants), &[2.5, 7.5, 7.5, 7.5]);
    }

    #[test]
    fn a_modest_demand_is_met_and_the_rest_is_shared() {
        let wants = vec![want(&[0], 1.0), want(&[0], GREEDY), want(&[0], GREEDY)];
        near(&max_min(&[10.0], &wants), &[1.0, 4.5, 4.5]);
        near(&proportional(&[10.0], &wants), &[1.0, 4.5, 4.5]);
    }

    #[test]
    fn unequal_links_are_filled_in_turn() {
        // Link 0 (3) holds flows 0 and 1: 1.5 each. Link 1 (10) holds flows 1 and 2: flow 2 gets the other 8.5.
        let wants = vec![want(&[0], GREEDY), want(&[0, 1], GREEDY), want(&[1], GREEDY)];
        near(&max_min(&[3.0, 10.0], &wants), &[1.5, 1.5, 8.5]);
    }

    #[test]
    fn a_dead_link_carries_nothing() {
        let wants = vec![want(&[0, 1], GREEDY), want(&[1], GREEDY)];
        near(&max_min(&[0.0, 4.0], &wants), &[0.0, 4.0]);
        near(&proportional(&[0.0, 4.0], &wants), &[0.0, 4.0]);
    }

    #[test]
    fn demands_below_capacity_need_no_price() {
        let wants = vec![want(&[0], 4.0), want(&[0], 6.0)];
        near(&max_min(&[10.0], &wants), &[4.0, 6.0]);
        near(&proportional(&[10.0], &wants), &[4.0, 6.0]);
    }
}
