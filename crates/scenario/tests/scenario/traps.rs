//! Notes on settings that are valid and do not do what a reader takes them to do.

use crate::common::plan;

fn notes(text: &str) -> String {
    plan(text).notes.join("\n")
}

/// Four hosts send to a fifth one through a pool of 1 MB with alpha 1/8. A line alone is stopped at 1/9 MB, each of four at 1/12 MB,
/// 333 333 octets together, for the fifth line brings nothing to the queue that leads to its host.
fn incast(k_min: &str, k_max: &str) -> String {
    format!(
        "question = \"?\"\nduration = \"1 ms\"\nscheme = \"dcqcn\"\n[schemes.dcqcn]\nk_min = \"{k_min}\"\nk_max = \"{k_max}\"\n[pfc]\n\
         [[buffer]]\nsize = \"1 MB\"\ningress_alpha = 0.125\n[topology.star]\nhosts = 5\nlink_rate = \"100 Gbps\"\n\
         buffer = \"1 MB\"\n[[flow]]\nfrom = \"h0..h3\"\nto = \"h4\"\n"
    )
}

#[test]
fn marks_that_come_after_pauses_are_noted() {
    let never = notes(&incast("340 KB", "500 KB"));
    let expected = "flow control comes before marks: sw0 stops a line at 111111 octets, and 4 lines at 333332 octets together; a queue is \
                    marked from 340 KB on (schemes.dcqcn.k_min), so that nothing is ever marked there";
    assert!(never.contains(expected), "{never}");
    // Two lines: 2 x 100 000; three: 3 x 90 909. A frame of 1500 octets more may join.
    let late = notes(&incast("210 KB", "500 KB"));
    let expected = "sw0 stops a line at 111111 octets, and a queue is marked from 210 KB on (schemes.dcqcn.k_min): where fewer than 3 lines \
                    feed the queue they are stopped and nothing is marked";
    assert!(late.contains(expected), "{late}");
    assert!(!notes(&incast("50 KB", "100 KB")).contains("before marks"));
    // The threshold for frames of transports is one, too; and without flow control there is nothing to say.
    let of_network = incast("50 KB", "100 KB")
        .replace("scheme = \"dcqcn\"\n", "scheme = \"none\"\n")
        .replace("[pfc]\n", "[network]\necn_threshold = \"400 KB\"\n[pfc]\n");
    let found = notes(&of_network.replace("to = \"h4\"\n", "to = \"h4\"\ntransport = \"tcp\"\n"));
    assert!(found.contains("a queue is marked from 400 KB on (network.ecn_threshold), so that nothing"), "{found}");
    assert!(!notes(&incast("340 KB", "500 KB").replace("[pfc]\n", "")).contains("before marks"));
}

/// Four hosts of 10 Gb/s a leaf and one link of 10 Gb/s to the one spine. 60 % of the hosts' rate is 24 Gb/s, of which 80 % leave the leaf
/// (12 of 15 other hosts are elsewhere): 192 % of the link.
#[test]
fn a_load_beyond_the_uplinks_is_noted() {
    let fabric = |load: f64| {
        format!(
            "question = \"?\"\nduration = \"20 ms\"\nscheme = \"none\"\n[topology.leaf-spine]\nleaves = 4\nspines = 1\n\
             hosts_per_leaf = 4\nhost_rate = \"10 Gbps\"\nfabric_rate = \"10 Gbps\"\nbuffer = \"1 MB\"\n\
             [[load]]\nload = {load}\nsize = \"20 KB\"\n"
        )
    };
    let found = notes(&fabric(0.6));
    let percent = found.split("the loads offer ").nth(1).and_then(|rest| rest.split(" %").next()).expect(&found);
    let percent: f64 = percent.parse().unwrap();
    assert!((180.0..205.0).contains(&percent), "{found}");
    assert!(found.contains("% of the rate of the links from leaf") && found.contains("to other switches"), "{found}");
    assert!(!notes(&fabric(0.25)).contains("the loads offer"), "80 % fit");
}
