//! The test bed.
#[path = "driver.rs"]
mod driver;

use driver::{Settings, Testbed};

#[test]
fn speed() {
    let mut bed =
        Testbed::<penstock_cosim::testbed_qcn_fast::Core>::new(&Settings { delay: 6250, ..Settings::default() }, 1);
    for p in 0..8 {
        bed.start(p);
    }
    for i in 0..8 {
        let t = std::time::Instant::now();
        let before = bed.measured();
        bed.run(1_000_000);
        let m = bed.measured().since(&before);
        println!(
            "{i}: {:?} mean queue {:.0} utilisation {:.3} rates {:?}",
            t.elapsed(),
            m.mean_queue(),
            m.utilisation(950_000_000),
            (0..8).map(|p| bed.rates(p).0 / 1000).collect::<Vec<_>>()
        );
    }
}
