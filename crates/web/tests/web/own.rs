//! A scheme of the reader's gives the numbers of the native one, to the last bit; its mistakes have their place in the text.

use crate::{FOUR, to_end};
use penstock_schemes::Instant;
use penstock_web::{Refusal, Session, change_parameter, define, set};
use serde_json::Value;

const DCTCP: &str = include_str!("../../../../examples/foreign/dctcp.py");
const QCN: &str = include_str!("../../../../examples/foreign/qcn.py");
const AIMD: &str = include_str!("../../../../examples/foreign/aimd.py");
const POWER: &str = include_str!("../../../../examples/foreign/theta_powertcp.py");

/// The same four sources under DCTCP, measured once they have started.
fn dctcp() -> String {
    set(&set(FOUR, "scheme", "dctcp").unwrap(), "warmup", "5 ms").unwrap()
}

/// The scenario under the scheme of a text.
fn under(text: &str) -> String {
    let (location, _) = define(text).expect("the text is right");
    set(&dctcp(), "scheme", &location).unwrap()
}

/// What is measured, without names of schemes and without numbers that the schemes themselves record.
fn measured(session: &Session) -> Value {
    let summary: Value = serde_json::from_str(&session.summary().unwrap().to_json()).unwrap();
    let keys = ["queues", "flows", "network", "loss_rate", "jain_index"];
    keys.iter().filter_map(|key| Some(((*key).to_owned(), summary.get(*key)?.clone()))).collect()
}

fn number(session: &Session, path: &str) -> f64 {
    measured(session).pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path}"))
}

#[test]
fn a_dctcp_gives_the_numbers_of_the_native_one() {
    let own = to_end(&under(DCTCP), None, 10_000);
    let native = to_end(&dctcp(), None, 10_000);
    assert_eq!(own.samples(0), native.samples(0));
    assert_eq!(own.work(), native.work());
    assert_eq!(measured(&own), measured(&native));
    assert!(measured(&own)["queues"].as_array().is_some_and(|queues| !queues.is_empty()));
    // Another threshold is another run.
    let longer = set(&under(DCTCP), "schemes.dctcp-py.k", "60 KB").unwrap();
    assert_ne!(to_end(&longer, None, 10_000).samples(0), native.samples(0));
}

#[test]
fn slices_change_nothing_and_two_runs_at_a_time_do_not_mix() {
    let scenario = under(AIMD);
    let whole = to_end(&scenario, None, 1_000_000);
    let (mut one, mut two) = (Session::new(&scenario, None).unwrap(), Session::new(&scenario, None).unwrap());
    while !one.advance(Instant::NEVER, 777).unwrap() {
        two.advance(Instant::NEVER, 1500).unwrap();
    }
    while !two.advance(Instant::NEVER, 1500).unwrap() {}
    assert_eq!(one.samples(0), whole.samples(0));
    assert_eq!(two.samples(0), whole.samples(0));
}

/// A queue of 30 KB marks: the window of each source swings below a fourth of 30 KB and the path's 25 KB or so.
#[test]
fn the_templates_hold_their_queues() {
    let aimd = to_end(&under(AIMD), None, 10_000);
    let mean = number(&aimd, "/queues/0/mean_octets");
    assert!((5_000.0..40_000.0).contains(&mean), "{mean}");
    assert!(number(&aimd, "/queues/0/utilization") > 0.95);
    let scenario = set(&under(QCN), "duration", "100 ms").unwrap();
    let qcn = to_end(&set(&scenario, "warmup", "40 ms").unwrap(), None, 10_000);
    let mean = number(&qcn, "/queues/0/mean_octets");
    assert!((10_000.0..60_000.0).contains(&mean), "{mean}");
    assert!(number(&qcn, "/queues/0/utilization") > 0.9);
    let power = set(&under(POWER), "topology.star.buffer", "2 MB").unwrap();
    let power = to_end(&power, None, 10_000);
    assert!(number(&power, "/queues/0/utilization") > 0.9);
}

/// A parameter changes while the run goes on, as a slider changes it.
#[test]
fn a_parameter_changes_in_the_middle() {
    let scenario = under(AIMD);
    let half = penstock_schemes::Duration::from_ms(10);
    let changed = change_parameter(&scenario, half, "schemes.aimd-py.k", "90 KB").unwrap();
    let (before, after) = (to_end(&scenario, None, 10_000), to_end(&changed, None, 10_000));
    let rows = |session: &Session, until: f64| -> Vec<f64> {
        let rows = session.samples(0).chunks(session.width());
        rows.filter(|row| row[0] < until).flatten().copied().collect()
    };
    assert_eq!(rows(&before, 0.009_9), rows(&after, 0.009_9));
    assert!(number(&after, "/queues/0/mean_octets") > 1.5 * number(&before, "/queues/0/mean_octets"));
}

/// The entry has what sliders are made of.
#[test]
fn the_entry_has_parameters_with_their_ranges() {
    let (location, entry) = define(&AIMD.replace("class Aimd", "class Entry")).unwrap();
    let entry: Value = serde_json::from_str(&entry).unwrap();
    assert_eq!((location.as_str(), &entry["name"]), ("own.py:Entry", &Value::from("aimd-py")));
    let k = &entry["parameters"][0];
    assert_eq!((&k["name"], k["default"].as_f64(), k["maximum"].as_f64()), (&"k".into(), Some(30e3), Some(1e9)));
    assert_eq!((&k["written"]["minimum"], &k["description"]), (&"64 octets".into(), &"A longer queue marks.".into()));
    let unnamed = AIMD.replace("class Aimd", "class MyScheme").replace("\"aimd-py\"", "\"\"");
    let (_, entry) = define(&unnamed).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&entry).unwrap()["name"], "my-scheme");
}

fn refusal(changed: &str) -> Refusal {
    match define(changed) {
        Err(refusal) => refusal,
        Ok((location, _)) => {
            let scenario = set(&dctcp(), "scheme", &location).unwrap();
            let mut session = match Session::new(&scenario, None) {
                Err(refusal) => return refusal,
                Ok(session) => session,
            };
            loop {
                match session.advance(Instant::NEVER, 10_000) {
                    Ok(true) => panic!("nothing was refused in {changed}"),
                    Ok(false) => {}
                    Err(refusal) => {
                        // It stays refused.
                        assert_eq!(session.advance(Instant::NEVER, 10_000), Err(refusal.clone()));
                        return refusal;
                    }
                }
            }
        }
    }
}

/// AIMD in which one line is another one: the line, and what is wrong with it.
#[test]
fn mistakes_have_their_line() {
    let cut = "self.window = max(int(self.window * self.p.beta), self.p.segment)";
    let cases = [
        (cut, "self.window = -5", "self.window is -5"),
        (cut, "self.rate = -1.5", "self.rate is -1.5"),
        (cut, "self.rate = 2 * self.line", "self.rate is 20000000000"),
        (cut, "self.rate = math.inf - math.inf", "self.rate is NaN"),
        (cut, "self.window = None * 2", "no arithmetic with None"),
        (cut, "self.window = self.window / (self.settled * 0)", "a division by zero"),
        (cut, "while True: pass", "has not returned"),
        (cut, "self.timeout = -1", "self.timeout is -1"),
        (cut, "self.wnidow += 1", "read before it is set"),
        (cut, "self.window = (", "is not closed"),
        ("return octets > self.p.k", "return octets > self.p.kk", "no parameter kk"),
        ("return octets > self.p.k", "return octets > None", "no order"),
        ("return True", "return 7", "acknowledge returns 7"),
        ("\"30 KB\", \"64 B\"", "\"30 KB\", \"64 KB\"", "30 KB is not within 64 KB"),
        ("\"30 KB\"", "\"30 KX\"", "parameter k"),
        ("\"threshold\"", "\"furlong\"", "is no unit"),
        ("\"aimd-py\"", "\"dctcp\"", "which is one of Penstock's"),
        ("\"aimd-py\"", "\"Aimd 1\"", "is not legal"),
        ("(\"marks\", \"cuts\", \"raises\")", "(\"waves\", \"cuts\")", "is no action"),
    ];
    for (i, (from, to, message)) in cases.into_iter().enumerate() {
        assert!(AIMD.contains(from), "{from}");
        let text = AIMD.replace("import penstock\n", "import math\nimport penstock\n").replacen(from, to, 1);
        // Loaded schemes are of the process, and each test has its own class.
        let text = text.replace("class Aimd", &format!("class Wrong{i}"));
        let own = refusal(&text);
        assert!(own.message.contains(message), "{to}: {own:?}");
        assert!(own.own && own.column.is_some() && own.hint.is_some_and(|hint| !hint.is_empty()), "{to}");
        let line = text.lines().position(|line| line.contains(to)).unwrap() + 1;
        // Of a wrong answer it is the first line of the method.
        let at = own.line.unwrap();
        assert!(at == line || (message.starts_with("acknowledge") && at + 1 == line), "{to}: {at}, not {line}");
    }
}

#[test]
fn a_timer_that_is_not_set_again_is_off_and_one_in_the_past_is_refused() {
    let timer = |class: &str, body: &str| {
        let text = AIMD.replace("class Aimd", &format!("class {class}"));
        text + "\n        def on_start(self, now, flow):\n            self.timeout = now + 1_000_000\n\n        \
                def on_timer(self, now):\n            "
            + body
            + "\n"
    };
    to_end(&under(&timer("Once", "pass")), None, 10_000);
    let own = refusal(&timer("Past", "self.timeout = now"));
    assert!(own.message.contains("not later than now"), "{own:?}");
}

#[test]
fn a_location_without_its_text_is_refused() {
    let nobody = set(&dctcp(), "scheme", "own.py:Nobody").unwrap();
    let refusal = Session::new(&nobody, None).unwrap_err();
    assert!(refusal.message.contains("own.py:Nobody") && refusal.line == Some(4), "{refusal:?}");
    define(&AIMD.replace("class Aimd", "class Known")).unwrap();
    let other = dctcp().replace("\"dctcp\"", "\"own.py:Other\"");
    let Refusal { message, hint, .. } = Session::new(&other, None).unwrap_err();
    assert!(message.contains("is not the scheme in the editor") && hint.unwrap().contains("own.py:Known"), "{message}");
}
