//! Four sources at one port: a scheme of one's own, compared with no control.

use own_scheme::halving::Halving;
use own_scheme::star;
use penstock_schemes::none::NoControl;
use penstock_schemes::{BitRate, Configuration, Duration, Instant, Scheme};
use penstock_sim::{Lean, NoProbe, Outcome, Sim};

/// 100 ms of four greedy sources of 10 Gb/s that share a port of the same rate; measured from 20 ms on.
fn run<S: Scheme>() -> (Outcome, usize) {
    let values: Vec<_> = S::INFO.parameters.iter().map(|p| p.default).collect();
    let config = S::Config::from_values(&values).expect("defaults are of their parameters' kinds");
    let network = star::star(4, BitRate::from_gbps(10));
    let mut sim = Sim::<S, _, Lean>::new(&network, &[config], 1, NoProbe);
    sim.run_until(Instant::ZERO + Duration::from_ms(20));
    sim.start_measuring();
    sim.run_until(Instant::ZERO + Duration::from_ms(100));
    (sim.finish().0, star::bottleneck(&network).index())
}

#[expect(clippy::print_stdout, reason = "a program that prints")]
fn main() {
    println!("{:<10}{:>12}{:>12}{:>14}{:>12}", "scheme", "sent", "dropped", "queue mean", "used");
    for (name, (outcome, queue)) in [(NoControl::INFO.name, run::<NoControl>()), (Halving::INFO.name, run::<Halving>())]
    {
        let (totals, queue) = (outcome.totals, outcome.queues[queue]);
        println!(
            "{name:<10}{:>12}{:>12}{:>11.1} KB{:>10.1} %",
            totals.frames_sent,
            totals.frames_dropped,
            queue.mean_octets / 1000.0,
            100.0 * queue.utilization
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halving_keeps_the_queue_short_and_the_line_busy() {
        let ((without, at), (with, _)) = (run::<NoControl>(), run::<Halving>());
        // Without control four links meet one: three frames of four are lost, and the queue is full.
        assert!(without.totals.frames_dropped * 10 > without.totals.frames_sent * 7);
        assert!(without.queues[at].mean_octets > 140_000.0);
        assert!(with.totals.frames_dropped * 100 < with.totals.frames_sent);
        assert!(with.queues[at].mean_octets < 75_000.0, "{}", with.queues[at].mean_octets);
        assert!(with.queues[at].utilization > 0.8, "{}", with.queues[at].utilization);
    }
}
