//! What is written for a page alone, as the page declares it.

use std::collections::BTreeMap;
use std::path::Path;

use penstock_results::jobs::JobRow;
use penstock_web::export::{Engine, count_background, count_sources, define_scheme, set};
use serde_json::Value;

const TEXT: &str = r#"
    question = "Which keys has it?"
    duration = "1 ms"
    scheme = "qcn"
    topology.star = { hosts = 3, link_rate = "10 Gbps", buffer = "150 KB" }
    [[flow]]
    from = "h0..h1"
    to = "h2"
"#;

/// The keys of an interface of `lab/src/protocol.ts`, in alphabetical order.
fn declared(interface: &str) -> Vec<String> {
    let text =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/src/protocol.ts")).unwrap();
    let (_, after) = text.split_once(&format!("export interface {interface} {{\n")).expect("it is declared");
    let (body, _) = after.split_once("\n}").expect("it ends");
    let key = |line: &str| Some(line.trim().split_once(": ")?.0.to_owned());
    let mut keys: Vec<String> = body.lines().filter(|line| !line.trim().starts_with('/')).filter_map(key).collect();
    keys.sort_unstable();
    keys
}

#[test]
fn what_is_written_for_a_page_alone_has_the_keys_of_its_interfaces() {
    let described = Engine::new(TEXT, None).unwrap().describe();
    let with_job = format!("{TEXT}\n[[collective]]\nkind = \"all-reduce\"\nsize = \"1 MB\"");
    let job: Value = serde_json::from_str(&Engine::new(&with_job, None).unwrap().describe()).unwrap();
    let refusal = set(TEXT, "duration.x", "1").unwrap_err();
    let sources = count_sources(TEXT, 0.0).unwrap();
    let background = count_background(TEXT, "sw0->h2", 0.0).unwrap();
    let own = define_scheme("import penstock\nclass Keys(penstock.Scheme):\n    pass\n").unwrap();
    let written = [
        ("Description", described),
        ("Job", job["jobs"][0].to_string()),
        (
            "JobRow",
            serde_json::to_string(&JobRow::OBJECT.keys.iter().map(|key| (key.name, 0)).collect::<BTreeMap<_, _>>())
                .unwrap(),
        ),
        ("Refusal", refusal),
        ("Sources", sources),
        ("Background", background),
        ("Own", own),
    ];
    for (interface, text) in written {
        let value: Value = serde_json::from_str(&text).unwrap();
        let mut keys: Vec<String> = value.as_object().unwrap().keys().cloned().collect();
        keys.sort_unstable();
        assert_eq!(keys, declared(interface), "{interface} in lab/src/protocol.ts");
    }
}
