//! The metrics of a run and of its queues, by the registry: from the summary, or from the recorded samples.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int32Type, UInt8Type, UInt64Type};
use arrow_array::{Array as _, RecordBatch};
use penstock_results::Summary;
use penstock_results::registry::{Level, Metric, Over, Source};
use penstock_results::summary::{FlowSummary, QueueSummary};
use serde_json::{Map, Number, Value, to_value};

use crate::{Run, RunError, Table};

/// An object of a summary by its keys.
type Keys = Map<String, Value>;

/// A run, judged by a queue where there is one.
#[derive(Debug)]
pub struct Judged<'r> {
    run: &'r Run,
    queue: Option<&'r QueueSummary>,
    queue_keys: Keys,
    /// The objects whose keys are numbers of the run, in the order in which they are searched.
    places: Vec<Keys>,
}

impl<'r> Judged<'r> {
    /// A run, judged by the queue called `name`; of its priorities, by the longest on average.
    #[must_use]
    pub fn new(run: &'r Run, name: Option<&str>) -> Self {
        let summary = &run.summary;
        let queue = first_longest(summary.queues.iter().filter(|queue| Some(queue.name.as_str()) == name));
        let mut places = vec![keys(to_value(crate::in_brief(summary))), keys(to_value(&summary.totals))];
        places.extend(summary.completions.first().map(|all| keys(to_value(all))));
        places.extend(summary.jobs.first().map(|job| keys(to_value(job))));
        Self { run, queue, queue_keys: queue.map(|queue| keys(to_value(queue))).unwrap_or_default(), places }
    }

    /// The name of the queue by which a run is judged unless one is named: the longest on average.
    #[must_use]
    pub fn longest(summary: &Summary) -> Option<&str> {
        first_longest(summary.queues.iter()).map(|queue| queue.name.as_str())
    }

    /// A key of the summary or of its totals, or one of an object of the summary behind the object's name: `actions_cuts`.
    #[must_use]
    pub fn key(&self, name: &str) -> Option<&Value> {
        let [summary, totals, ..] = &self.places[..] else { return None };
        let apart = || summary.get("actions")?.get(name.strip_prefix("actions_")?);
        summary.get(name).or_else(apart).or_else(|| totals.get(name))
    }

    /// A metric of the run or of the queue; nothing where the run has none, or where it is one of another level.
    ///
    /// # Errors
    /// If its samples were not recorded, or cannot be read.
    pub fn value(&self, metric: &Metric) -> Result<Option<Number>, RunError> {
        if !matches!(metric.level, Level::Run | Level::Queue) || (metric.level == Level::Queue && self.queue.is_none())
        {
            return Ok(None);
        }
        Ok(match metric.source {
            Source::Keys(keys) if metric.level == Level::Run => self.sum(keys, &self.places),
            Source::Keys(keys) => match self.sum(keys, std::slice::from_ref(&self.queue_keys)) {
                // A run without histograms has samples.
                None => match rank(metric.name) {
                    Some(rank) => self.octets()?.map(|octets| percentile(&octets, rank)).and_then(Number::from_f64),
                    None => None,
                },
                found => found,
            },
            Source::Flows(over, key) => over_flows(&self.run.summary.flows, over, key),
            Source::Function => self.function(metric.name)?,
        })
    }

    /// The sum of keys, each from the first object that has it.
    fn sum(&self, keys: &[&str], places: &[Keys]) -> Option<Number> {
        let find = |key: &&str| places.iter().find_map(|place| place.get(*key)).and_then(Value::as_number);
        let found: Vec<&Number> = keys.iter().map(find).collect::<Option<_>>()?;
        if let [one] = found[..] {
            return Some(one.clone());
        }
        match found.iter().map(|number| number.as_u64()).collect::<Option<Vec<u64>>>() {
            Some(whole) => Some(whole.iter().sum::<u64>().into()),
            None => Number::from_f64(found.iter().filter_map(|number| number.as_f64()).sum()),
        }
    }

    fn function(&self, name: &str) -> Result<Option<Number>, RunError> {
        let real = |value: Option<f64>| value.and_then(Number::from_f64);
        let summary = &self.run.summary;
        Ok(match name {
            "queue_amplitude_octets" => {
                let half = |octets: Vec<f64>| (percentile(&octets, 95.0) - percentile(&octets, 5.0)) / 2.0;
                real(self.octets()?.map(half))
            }
            "throughput_bps" => real((!summary.flows.is_empty()).then(|| throughput_bps(summary))),
            "jain_index" => real((!summary.flows.is_empty()).then_some(summary.jain_index)),
            "rate_amplitude_bps" => real(self.rate_amplitude_bps()?),
            // The first completions are those of all flows.
            "flows_left" => summary.completions.first().map(|all| (all.flows - all.completed).into()),
            "frames_dropped_measured" => real(self.frames_dropped_measured()?.map(|frames| frames as f64)),
            _ => None,
        })
    }

    /// Gives the samples of a column of the queue to `take`, each with its time in s, in order.
    fn samples(&self, column: &str, mut take: impl FnMut(f64, u64)) -> Result<(), RunError> {
        let Some(queue) = self.queue else { return Ok(()) };
        let own = [queue.name.as_str()];
        // A file is read for the rows of this queue alone. Rows in memory are not copied, and looked through here.
        let only = self.run.path.as_ref().map(|_| &own[..]);
        let rows = self.run.rows_of(Table::Queues, &["time_s", "queue", "priority", column], only)?;
        for batch in &rows.batches {
            let names = named(batch, "queue").as_dictionary::<Int32Type>();
            let listed = names.values().as_string::<i32>();
            let wanted: Vec<bool> = (0..listed.len()).map(|i| listed.value(i) == queue.name).collect();
            let (time, keys) = (reals(batch, "time_s"), names.keys().values());
            let priority = named(batch, "priority").as_primitive::<UInt8Type>().values();
            let values = named(batch, column).as_primitive::<UInt64Type>().values();
            for (row, &time_s) in time.iter().enumerate() {
                if wanted[keys[row] as usize] && priority[row] == queue.priority {
                    take(time_s, values[row]);
                }
            }
        }
        Ok(())
    }

    /// The samples of the queue's length after the warm-up, sorted, octets; nothing where there are none.
    fn octets(&self) -> Result<Option<Vec<f64>>, RunError> {
        let (warmup_s, mut found) = (self.run.summary.warmup_s, Vec::new());
        self.samples("queue_octets", |time_s, octets| {
            if time_s >= warmup_s {
                found.push(octets as f64);
            }
        })?;
        found.sort_by(f64::total_cmp);
        Ok((!found.is_empty()).then_some(found))
    }

    /// The frames that the queue dropped in the intervals which end after the warm-up.
    fn frames_dropped_measured(&self) -> Result<Option<u64>, RunError> {
        let (warmup_s, mut sum) = (self.run.summary.warmup_s, 0);
        self.samples("frames_dropped", |time_s, dropped| {
            if time_s > warmup_s {
                sum += dropped;
            }
        })?;
        Ok(self.queue.map(|_| sum))
    }

    /// The mean over the controlled flows of half the distance between the 5th and the 95th percentile of the sampled rate.
    fn rate_amplitude_bps(&self) -> Result<Option<f64>, RunError> {
        #[derive(Default)]
        struct Samples {
            active_from_s: Option<f64>,
            rates: Vec<(f64, f64)>,
        }
        let summary = &self.run.summary;
        let controlled: BTreeMap<&str, usize> = summary
            .flows
            .iter()
            .enumerate()
            .filter(|(_, flow)| flow.controlled)
            .map(|(i, flow)| (&*flow.name, i))
            .collect();
        let mut flows: Vec<Samples> = summary.flows.iter().map(|_| Samples::default()).collect();
        let rows = self.run.rows_of(Table::Rates, &["time_s", "flow", "rate_bps", "fair_rate_bps"], None)?;
        for batch in &rows.batches {
            let (time, fair) = (reals(batch, "time_s"), reals(batch, "fair_rate_bps"));
            let rates = named(batch, "rate_bps").as_primitive::<UInt64Type>().values();
            let names = named(batch, "flow").as_dictionary::<Int32Type>();
            let listed = names.values().as_string::<i32>();
            let places: Vec<Option<usize>> =
                (0..listed.len()).map(|i| controlled.get(listed.value(i)).copied()).collect();
            for (row, &name) in names.keys().values().iter().enumerate() {
                let Some(flow) = places[name as usize].filter(|_| fair[row] > 0.0) else { continue };
                flows[flow].active_from_s.get_or_insert(time[row]);
                if time[row] >= summary.warmup_s {
                    flows[flow].rates.push((time[row], rates[row] as f64));
                }
            }
        }
        let amplitude = |(flow, samples): (&FlowSummary, Samples)| {
            let lasts = flow.completion_time_s;
            let end_s = samples.active_from_s.zip(lasts).map_or(f64::INFINITY, |(from_s, lasts_s)| from_s + lasts_s);
            let while_it_lasts = samples.rates.into_iter().filter(|&(time_s, _)| time_s <= end_s);
            let mut rates: Vec<f64> = while_it_lasts.map(|(_, rate)| rate).collect();
            rates.sort_by(f64::total_cmp);
            (!rates.is_empty()).then(|| (percentile(&rates, 95.0) - percentile(&rates, 5.0)) / 2.0)
        };
        let found: Vec<f64> = summary.flows.iter().zip(flows).filter_map(amplitude).collect();
        Ok((!found.is_empty()).then(|| mean(&found)))
    }
}

/// An object of a summary by its keys.
fn keys(object: serde_json::Result<Value>) -> Keys {
    match object {
        Ok(Value::Object(keys)) => keys,
        _ => Keys::new(),
    }
}

/// The longest queue on average; of several the first.
fn first_longest<'q>(queues: impl Iterator<Item = &'q QueueSummary>) -> Option<&'q QueueSummary> {
    queues.reduce(|longest, queue| if queue.mean_octets > longest.mean_octets { queue } else { longest })
}

/// The rate of all flows together. That of a flow with a size covers only the time that it is there.
fn throughput_bps(summary: &Summary) -> f64 {
    let measured_s = summary.duration_s - summary.warmup_s;
    let share = |flow: &FlowSummary| match flow.active_s {
        Some(active_s) if measured_s > 0.0 => active_s / measured_s,
        _ => 1.0,
    };
    summary.flows.iter().map(|flow| flow.throughput_bps * share(flow)).sum()
}

fn over_flows(flows: &[FlowSummary], over: Over, key: &str) -> Option<Number> {
    let mut found: Vec<f64> = flows.iter().filter_map(|flow| keys(to_value(flow)).get(key)?.as_f64()).collect();
    if found.is_empty() {
        return None;
    }
    Number::from_f64(match over {
        Over::Mean => mean(&found),
        Over::Sum => found.iter().sum(),
        Over::Median => {
            found.sort_by(f64::total_cmp);
            let middle = found.len() / 2;
            if found.len() % 2 == 1 { found[middle] } else { (found[middle - 1] + found[middle]) / 2.0 }
        }
    })
}

/// The rank of a percentile of a queue's length by its name, in hundredths; nothing for another metric.
fn rank(name: &str) -> Option<f64> {
    [("p50", 50.0), ("p90", 90.0), ("p95", 95.0), ("p99", 99.0), ("p999", 99.9)]
        .into_iter()
        .find_map(|(word, rank)| (name.strip_prefix("queue_")?.strip_suffix("_octets")? == word).then_some(rank))
}

/// The value at `rank`, 0 to 100, of sorted values, on the line between the two next to it: NumPy's `percentile`, to the last bit.
fn percentile(sorted: &[f64], rank: f64) -> f64 {
    let place = (sorted.len() - 1) as f64 * (rank / 100.0);
    let below = (place.floor() as usize).min(sorted.len() - 1);
    let (low, high) = (sorted[below], sorted[(below + 1).min(sorted.len() - 1)]);
    let (distance, part) = (high - low, place - below as f64);
    if part >= 0.5 { high - distance * (1.0 - part) } else { low + distance * part }
}

/// The mean, of a sum that is rounded once: as Python's `fmean`.
fn mean(values: &[f64]) -> f64 {
    exact_sum(values) / values.len() as f64
}

/// The sum of values as if it were exact, rounded once. (Shewchuk 1997, "Adaptive precision floating-point arithmetic")
fn exact_sum(values: &[f64]) -> f64 {
    let mut parts: Vec<f64> = Vec::new();
    for &value in values {
        let (mut rest, mut kept) = (value, 0);
        for i in 0..parts.len() {
            let (large, small) = if rest.abs() < parts[i].abs() { (parts[i], rest) } else { (rest, parts[i]) };
            let high = large + small;
            let low = small - (high - large);
            if low != 0.0 {
                parts[kept] = low;
                kept += 1;
            }
            rest = high;
        }
        parts.truncate(kept);
        parts.push(rest);
    }
    let Some(mut high) = parts.pop() else { return 0.0 };
    while let Some(next) = parts.pop() {
        let before = high;
        high = before + next;
        let low = next - (high - before);
        if low != 0.0 {
            // Halfway between two numbers, the sign of what is left decides.
            if parts.last().is_some_and(|left| (low < 0.0) == (*left < 0.0) && *left != 0.0) {
                let twice = low * 2.0;
                let rounded = high + twice;
                if rounded - high == twice {
                    high = rounded;
                }
            }
            break;
        }
    }
    high
}

fn named<'b>(batch: &'b RecordBatch, column: &str) -> &'b arrow_array::ArrayRef {
    batch.column_by_name(column).expect("every table has the columns that its declaration names")
}

fn reals<'b>(batch: &'b RecordBatch, column: &str) -> &'b [f64] {
    named(batch, column).as_primitive::<Float64Type>().values()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_lie_between_two_values() {
        let sorted = [0.0, 10.0, 20.0, 30.0];
        // Place 3 · 0.5 = 1.5, halfway from 10 to 20; place 2.85, from the upper one down.
        assert_eq!(percentile(&sorted, 50.0), 15.0);
        assert_eq!(percentile(&sorted, 95.0), 30.0 - 10.0 * (1.0 - (3.0 * 0.95 - 2.0)));
        assert_eq!(percentile(&[7.0], 95.0), 7.0);
    }

    #[test]
    fn a_sum_is_rounded_once() {
        assert_eq!(exact_sum(&[1e100, 1.0, -1e100]), 1.0);
        assert_eq!(exact_sum(&[0.1; 10]), 1.0);
        // 2^53 + 1 + 2^-60: just above the middle of two numbers.
        assert_eq!(exact_sum(&[9_007_199_254_740_992.0, 1.0, 2f64.powi(-60)]), 9_007_199_254_740_994.0);
        assert_eq!(exact_sum(&[]), 0.0);
    }

    #[test]
    fn percentiles_of_lengths_are_known_by_their_names() {
        assert_eq!(rank("queue_p999_octets"), Some(99.9));
        assert_eq!(rank("queue_max_octets"), None);
    }
}
