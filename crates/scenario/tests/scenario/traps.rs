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

/// `[[wred]]` holds instead of the scheme's thresholds: 400 KB are more than four lines hold together, 50 KB at h4 alone are not.
#[test]
fn thresholds_of_wred_that_come_after_pauses_are_noted() {
    let text = incast("50 KB", "100 KB");
    let late = notes(&format!("{text}[[wred]]\nmin = \"400 KB\"\nmax = \"500 KB\"\n"));
    assert!(
        late.contains("a queue is marked from 400 KB on (min of [[wred]]), so that nothing is ever marked"),
        "{late}"
    );
    // 32 us at 100 Gb/s are 400 KB.
    let late = notes(&format!("{text}[[wred]]\nmin = \"32 us\"\nmax = \"40 us\"\n"));
    assert!(late.contains("a queue is marked from 400 KB on (min of [[wred]])"), "{late}");
    let early = "[[wred]]\nmin = \"50 KB\"\nmax = \"100 KB\"\n";
    assert!(!notes(&format!("{}{early}", incast("340 KB", "500 KB"))).contains("before marks"));
    // A TCP flow whose scheme marks nothing is marked by it, too.
    let tcp = text
        .replace("scheme = \"dcqcn\"\n[schemes.dcqcn]\nk_min = \"50 KB\"\nk_max = \"100 KB\"\n", "scheme = \"none\"\n");
    let late = notes(&format!("{tcp}transport = \"tcp\"\n[[wred]]\nmin = \"400 KB\"\nmax = \"500 KB\"\n"));
    assert!(late.contains("(min of [[wred]]), so that nothing"), "{late}");
}

/// A queue that is alone takes alpha / (1 + alpha) of 1 MB: 500 KB with 1, 111 111 octets with 1/8.
#[test]
fn a_minimum_of_wred_beyond_the_queue_is_noted() {
    let text = incast("50 KB", "100 KB").replace("[pfc]\n", "").replace("ingress_alpha", "alpha");
    let with = |alpha: &str, min: &str| {
        let early = format!("[[wred]]\nports = [\"sw0->h4\"]\nmin = \"{min}\"\nmax = \"900 KB\"\n");
        notes(&format!("{}{early}", text.replace("0.125", alpha)))
    };
    let found = with("0.125", "112 KB");
    let expected = "wred: the queue of sw0->h4 holds at most 111111 octets, and nothing happens up to min, 112 KB: it marks and drops no \
                    frame early";
    assert!(found.contains(expected), "{found}");
    assert!(!with("0.125", "111 KB").contains("wred:") && with("1", "500 KB").contains("wred:"));
    let alone = text.replace("[[buffer]]\nsize = \"1 MB\"\nalpha = 0.125\n", "").replace("\"1 MB\"", "\"90 KB\"");
    let found = notes(&format!("{}[[wred]]\nmin = \"100 KB\"\nmax = \"200 KB\"\n", alone.replace("100 KB", "80 KB")));
    assert!(found.contains("holds at most 90 KB") && found.contains("(and the same at 4 others)"), "{found}");
}

/// Five ports: with 1/8 each one takes 1/9 of the pool alone, and all five 5/13, 38 %. With 1/4 they take 5/9. Five lossless lines likewise.
#[test]
fn a_pool_that_cannot_be_used_is_noted() {
    let text = incast("10 KB", "20 KB");
    let found = notes(&text);
    let expected = "buffer: ingress_alpha = 0.125 leaves most of the 1 MB that sw0 shares unused: one of its lines and priorities takes at \
                    most 11 % of it, alpha / (1 + alpha), and all 5 together 38 %; a larger ingress_alpha, or a smaller pool";
    assert!(found.contains(expected), "{found}");
    assert!(!notes(&text.replace("0.125", "0.25")).contains("unused"));
    let lossy = text.replace("[pfc]\n", "").replace("ingress_alpha", "alpha");
    assert!(notes(&lossy).contains("buffer: alpha = 0.125 leaves most"));
    // Lossless frames go by ingress_alpha alone, which is \"none\" by default.
    assert!(!notes(&text.replace("ingress_alpha", "alpha")).contains("unused"));
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
