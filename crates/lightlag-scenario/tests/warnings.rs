//! When warnings are given, and the numbers in them.

use lightlag_scenario::{Warning, WarningKind, parse_toml};

/// Returns the warnings about one flow over a GEO path of 10 Mbit/s and 600 ms, with these changes.
fn warnings(sets: &[(&str, &str)]) -> Vec<Warning> {
    let text = "duration = \"120 s\"\n[[links]]\nbetween = [\"a\", \"b\"]\nrate = \"10 Mbit/s\"\ndelay = \"300 ms\"\n\
                queue = \"1 bdp\"\n[[flows]]\nfrom = \"a\"\nto = \"b\"\n";
    let sets: Vec<(String, String)> =
        sets.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let scenario = parse_toml(text, &sets).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let reported = scenario.warnings(&scenario.expand().unwrap());
    // A path without noise has that one wherever its queue is short; it has a separate test.
    reported.into_iter().filter(|warning| warning.kind != WarningKind::PhaseLock).collect()
}

/// Asserts that there is exactly one warning, at `path`, that contains all of `fragments`.
fn assert_warns(sets: &[(&str, &str)], path: &str, fragments: &[&str]) {
    let warnings = warnings(sets);
    let [warning] = warnings.as_slice() else { panic!("{sets:?}: one warning, not {warnings:#?}") };
    assert_eq!(warning.path, path, "{warning}");
    for fragment in fragments {
        assert!(warning.message.contains(fragment), "{warning} does not contain {fragment:?}");
    }
}

#[test]
fn a_path_that_fits_its_tcp_has_none() {
    assert_eq!(warnings(&[]), []);
}

#[test]
fn a_receive_window_below_the_product_caps_goodput() {
    // 64 kB / 601.3 ms = 852 kbit/s of 10 Mbit/s; the product is 10 Mbit/s × 601.3 ms = 752 kB.
    let set = [("defaults.tcp.receive_buffer", "64 kB")];
    assert_warns(
        &set,
        "flows[0].tcp.receive_buffer",
        &["64 kB are below", "752 kB", "852 kbit/s", "9 % of the 10 Mbit/s"],
    );
}

#[test]
fn no_window_scaling_caps_goodput_at_64_kib() {
    let set = [("defaults.tcp.window_scaling", "false")];
    assert_warns(&set, "flows[0].tcp.window_scaling", &["65535 B", "872 kbit/s", "set window_scaling = true"]);
    assert_eq!(warnings(&[set[0], ("links.0.delay", "1 ms")]), [], "a short path needs none");
}

#[test]
fn a_queue_below_a_tenth_of_the_product_starves_the_link() {
    // 10 × 1500 B of 752 kB is 2 %.
    let set = [("links.0.queue", "10 packets")];
    assert_warns(&set, "links[0].queue", &["10 packets on a->b", "2 %", "75 % of the rate", "try \"1 bdp\""]);
    assert_warns(
        &[("links.0.queue", "{ forward = \"20 kB\", backward = \"1 bdp\" }")],
        "links[0].queue.forward",
        &["20 kB", "3 %"],
    );
    assert_eq!(warnings(&[("links.0.queue", "0.11 bdp")]), []);
}

#[test]
fn a_timeout_below_the_round_trip_repeats_for_nothing() {
    assert_warns(
        &[("defaults.tcp.rto", "{ initial = \"500 ms\" }")],
        "flows[0].tcp.rto.initial",
        &["500 ms is below", "601 ms", "SYN"],
    );
    let set = [("defaults.tcp.rto", "{ initial = \"300 ms\", min = \"200 ms\", max = \"300 ms\" }")];
    assert_warns(&set, "flows[0].tcp.rto.max", &["300 ms is below", "every segment times out"]);
}

#[test]
fn an_automatic_buffer_spoils_the_start_of_peach_and_hybla() {
    // (80,896 B + 1,024 B) · 4/5 = 65.5 kB are advertised at first; the product is 752 kB.
    for name in ["peach", "peach+"] {
        let set = ("defaults.tcp.congestion", name);
        assert_warns(
            &[set],
            "flows[0].tcp.receive_buffer",
            &["65.5 kB at first", "Sudden Start", name, "601 ms", "752 kB"],
        );
        assert_eq!(warnings(&[set, ("defaults.tcp.receive_buffer", "752 kB")]), [], "a fixed buffer of the product");
        let probes = format!("{{ algorithm = \"{name}\", sudden_window = 300 }}");
        assert_eq!(warnings(&[("defaults.tcp.congestion", &probes)]), [], "it does not depend on the receive window");
    }
    // 601.2 ms / 25 ms = 24.0.
    let hybla = ("defaults.tcp.congestion", "hybla");
    assert_warns(&[hybla], "flows[0].tcp.receive_buffer", &["65.5 kB at first", "24.0 times", "752 kB"]);
    assert_eq!(warnings(&[hybla, ("links.0.delay", "12 ms")]), [], "ρ is 1 below 25 ms");
    assert_eq!(warnings(&[hybla, ("defaults.tcp.initial_window", "1")]), [], "24 segments fit");
    assert_eq!(warnings(&[("defaults.tcp.congestion", "cubic")]), []);
}

#[test]
fn a_start_of_peach_or_hybla_without_sack_takes_long_to_repair() {
    let fixed = ("defaults.tcp.receive_buffer", "4 MB");
    for (name, fragment) in [("peach", "in two round trips"), ("hybla", "2^24.0 times")] {
        let sets = [("defaults.tcp.congestion", name), fixed];
        let none = [sets[0], sets[1], ("defaults.tcp.sack", "false")];
        assert_warns(&none, "flows[0].tcp.sack", &[fragment, "519 segments", "601 ms"]);
        let newreno = [sets[0], sets[1], ("defaults.tcp.recovery", "newreno")];
        assert_warns(&newreno, "flows[0].tcp.recovery", &[fragment, "sack = true"]);
    }
}

#[test]
fn no_sack_on_a_long_path_repairs_one_loss_a_round_trip() {
    // 752 kB / 1448 B = 519 segments; half of them × 601 ms = 156 s.
    assert_warns(&[("defaults.tcp.sack", "false")], "flows[0].tcp.sack", &["up to 519 segments", "takes 156 s"]);
    assert_warns(&[("defaults.tcp.recovery", "newreno")], "flows[0].tcp.recovery", &["without SACK"]);
    assert_eq!(warnings(&[("defaults.tcp.sack", "false"), ("links.0.delay", "1 ms")]), []);
}

#[test]
fn a_transfer_that_cannot_finish_is_announced() {
    // 200 MB / 10 Mbit/s = 160 s, and the round trip.
    assert_warns(
        &[("flows.0.transfer", "200 MB")],
        "flows[0].transfer",
        &["at least 161 s", "120 s after", "unfinished"],
    );
    assert_eq!(warnings(&[("flows.0.transfer", "100 MB")]), []);
    assert_warns(&[("flows.0.start", "2 min")], "flows[0].start", &["sends nothing"]);
}

#[test]
fn a_slow_return_path_limits_the_data() {
    // 5 kbit/s / (52 B × 8) = 12 ACK/s × 2 × 1448 B × 8 = 278 kbit/s.
    let set = [("links.0.rate.backward", "5 kbit/s")];
    let warnings = warnings(&set);
    assert!(
        warnings.iter().any(|warning| warning.path == "flows[0]"
            && warning.message.contains("12 ACKs per second")
            && warning.message.contains("278 kbit/s")),
        "{warnings:#?}"
    );
}

#[test]
fn many_flows_give_one_warning_and_a_count() {
    let text = "duration = \"9 s\"\n[topology]\nkind = \"dumbbell\"\npairs = 50\nrate = \"1 Gbit/s\"\ndelay = \"300 ms\"\n\
                queue = \"1 bdp\"\nflow = { tcp = { receive_buffer = \"64 kB\" } }";
    let scenario = parse_toml(text, &[]).unwrap();
    let warnings = scenario.warnings(&scenario.expand().unwrap());
    let [warning] = warnings.as_slice() else { panic!("one warning, not {warnings:#?}") };
    assert_eq!(warning.path, "topology.flow.tcp.receive_buffer");
    assert!(
        warning.message.contains("the flow's share") && warning.message.ends_with("(and 49 more flows)"),
        "{warning}"
    );
}

#[test]
fn a_rate_that_changes_leaves_open_how_long_a_transfer_takes() {
    // 200 MB at 10 Mbit/s take 160 s of 120; at 100 Mbit/s from 10 s on they do not.
    let transfer = ("flows.0.transfer", "200 MB");
    assert_warns(&[transfer], "flows[0].transfer", &["at least 161 s", "unfinished"]);
    assert_eq!(warnings(&[transfer, ("links.0.changes", "[{ at = \"10 s\", rate = \"100 Mbit/s\" }]")]), []);
}

#[test]
fn an_outage_without_an_end_stops_finite_flows() {
    let down = |from: &str| format!("[{{ at = \"{from}\", down = true }}]");
    let warn = |from: &str, transfer: &str, fragments: &[&str]| {
        let down = down(from);
        let set = [("links.0.changes", down.as_str()), ("flows.0.transfer", transfer)];
        assert_warns(&set, "links[0].changes", fragments);
    };
    // 20 MB take 16 s at 10 Mbit/s, and a round trip.
    warn("10 s", "20 MB", &["a->b that starts at 10 s never ends", "20 MB must cross", "16.6 s at the earliest"]);
    warn("60 s", "20 MB", &["starts at 60 s", "if it has not finished by then"]);
    // One that comes back, one after the end, and flows without an end have none.
    let back = "[{ at = \"10 s\", down = true }, { at = \"20 s\", down = false }]";
    assert_eq!(warnings(&[("links.0.changes", back), ("flows.0.transfer", "20 MB")]), []);
    assert_eq!(warnings(&[("links.0.changes", &down("120 s")), ("flows.0.transfer", "20 MB")]), []);
    assert_eq!(warnings(&[("links.0.changes", &down("10 s"))]), []);
}

#[test]
fn an_ack_interval_beyond_the_timeout_is_a_warning() {
    let scps = [("defaults.tcp.profile", "\"scps\""), ("defaults.tcp.receive_buffer", "\"2 MB\"")];
    assert_eq!(warnings(&scps), []);
    // 600.46 ms and 0.03 ms of propagation and transmission; three times that.
    let set = [scps[0], scps[1], ("defaults.tcp.ack_interval", "\"2 s\"")];
    assert_warns(&set, "flows[0].tcp.ack_interval", &["2 s are longer", "timeout of 1.8 s", "of 600 ms", "2.6 s"]);
}

#[test]
fn clocked_acks_may_be_too_many_for_the_return_path() {
    // 40 bytes in 1 ms are 320 kbit/s.
    let set = [
        ("defaults.tcp.profile", "\"scps\""),
        ("defaults.tcp.receive_buffer", "\"2 MB\""),
        ("defaults.tcp.ack_interval", "\"1 ms\""),
        ("links[0].rate", "{ forward = \"10 Mbit/s\", backward = \"100 kbit/s\" }"),
    ];
    let path = "flows[0].tcp.ack_interval";
    let found = warnings(&set);
    let warning = found.iter().find(|warning| warning.path == path).expect("a warning");
    assert!(warning.message.contains("320 kbit/s") && warning.message.contains("100 kbit/s"), "{warning}");
}

#[test]
fn tokens_above_the_rate_of_the_link_are_a_warning_with_both() {
    let set = [("defaults.tcp.rate_control", "{ rate = \"12 Mbit/s\" }")];
    assert_warns(&set, "flows[0].tcp.rate_control.rate", &["12 Mbit/s are above the 10 Mbit/s", "120 %"]);
}

#[test]
fn a_route_that_does_not_fit_its_path_is_a_warning() {
    let set = [("defaults.tcp.route", "{ rate = \"12 Mbit/s\" }")];
    assert_warns(&set, "flows[0].tcp.route.rate", &["12 Mbit/s are above the 10 Mbit/s"]);
    let set = [("defaults.tcp.route", "{ rtt = \"100 ms\", rto = \"300 ms\" }")];
    assert_warns(&set, "flows[0].tcp.route", &["300 ms is below the round trip of 601 ms", "the SYN times out"]);
    assert_eq!(warnings(&[("defaults.tcp.route", "path")]), []);
}

#[test]
fn tokens_for_acks_above_the_return_path_are_a_warning_with_both() {
    let set = [("defaults.tcp.rate_control", "{ rate = \"9 Mbit/s\", ack_rate = \"11 Mbit/s\" }")];
    assert_warns(&set, "flows[0].tcp.rate_control.ack_rate", &["11 Mbit/s are above the 10 Mbit/s", "90 %"]);
}

#[test]
fn buckets_above_the_link_rate_in_total_are_a_warning() {
    let warned = |rate: &str, from: &str| {
        let text = format!(
            r#"
            duration = "120 s"
            defaults.tcp.rate_control = {{ rate = "{rate}" }}
            links = [
                {{ between = ["a", "r"], rate = "100 Mbit/s", delay = "1 ms" }},
                {{ between = ["c", "r"], rate = "100 Mbit/s", delay = "1 ms" }},
                {{ between = ["r", "b"], rate = "10 Mbit/s", delay = "100 ms", queue = "1 bdp" }},
            ]
            flows = [{{ from = "a", to = "b" }}, {{ from = "{from}", to = "b" }}]
            "#
        );
        let scenario = parse_toml(&text, &[]).unwrap();
        scenario.warnings(&scenario.expand().unwrap())
    };
    let two = warned("6 Mbit/s", "c");
    let fragment = "2 token buckets with a combined rate of 12 Mbit/s feed r->b, which carries 10 Mbit/s";
    assert!(two.len() == 1 && two[0].message.contains(fragment), "{two:#?}");
    assert_eq!(two[0].path, "flows[0].tcp.rate_control.rate");
    assert_eq!(warned("5 Mbit/s", "c"), []);
    assert_eq!(warned("6 Mbit/s", "a"), [], "flows of a node share its bucket");
}

#[test]
fn an_interval_and_a_round_trip_beyond_the_maximum_timeout_are_a_warning() {
    let set = [
        ("defaults.tcp.profile", "\"scps\""),
        ("defaults.tcp.receive_buffer", "\"2 MB\""),
        ("defaults.tcp.ack_interval", "\"1 s\""),
        ("defaults.tcp.rto", "{ max = \"1.5 s\" }"),
    ];
    assert_warns(&set, "flows[0].tcp.ack_interval", &["1 s and the round trip of 600 ms", "1.5 s", "raise rto.max"]);
}

#[test]
fn jersey_requires_routers_that_warn() {
    let jersey = ("defaults.tcp.congestion", "jersey");
    let ecn = ("defaults.tcp.ecn", "classic");
    let path = "flows[0].tcp.congestion";
    assert_warns(&[jersey], path, &["without ecn", "as westwood", "discipline = \"step\"", "weight = 0.02"]);
    assert_warns(&[jersey, ecn], path, &["the queue of a->b marks nothing", "keeps the queue full"]);
    for queue in [
        r#"{ discipline = "step", threshold = "50 packets", weight = 0.02, limit = "500 packets" }"#,
        r#"{ discipline = "red", min_threshold = "100 packets", max_threshold = "300 packets", ecn = true }"#,
    ] {
        assert_eq!(warnings(&[jersey, ecn, ("links.0.queue", queue)]), []);
    }
    let deaf = r#"{ discipline = "red", min_threshold = "100 packets", max_threshold = "300 packets" }"#;
    assert_warns(&[jersey, ecn, ("links.0.queue", deaf)], path, &["marks nothing"]);
    assert_eq!(warnings(&[("defaults.tcp.congestion", "star")]), []);
}

/// Returns the paths of the warnings that contain `words`, for two nodes with this link and this flow.
fn found(link: &str, flow: &str, words: &str) -> Vec<String> {
    let text = format!(
        "duration = \"20 s\"\n[[links]]\nbetween = [\"a\", \"b\"]\nrate = \"10 Mbit/s\"\ndelay = \"50 ms\"\n{link}\n\
         [[flows]]\nfrom = \"a\"\nto = \"b\"\n{flow}\n"
    );
    let scenario = lightlag_scenario::parse_toml(&text, &[]).unwrap_or_else(|errors| panic!("{errors:?}"));
    let network = scenario.expand().unwrap();
    let warnings = scenario.warnings(&network).into_iter();
    warnings.filter(|one| one.message.contains(words)).map(|one| one.path).collect()
}

#[test]
fn keys_without_effect_are_warned_of() {
    let cases = [
        ("sack = false, dsack = true", "flows[0].tcp.dsack"),
        ("dsack = false, dsack_undo = true", "flows[0].tcp.dsack_undo"),
        ("abe = true", "flows[0].tcp.abe"),
        ("ecn = \"classic\", accecn_option = \"always\"", "flows[0].tcp.accecn_option"),
        ("ect = \"ect1\"", "flows[0].tcp.ect"),
        ("nagle = false, minshall = true", "flows[0].tcp.minshall"),
        ("congestion = \"bbr\", pacing = true", "flows[0].tcp.pacing"),
        ("partial_acks = \"impatient\"", "flows[0].tcp.partial_acks"),
        ("delayed_ack = { segments = 20 }", "flows[0].tcp.delayed_ack.segments"),
        ("delayed_ack = { segments = 4 }, ack_interval = \"10 ms\"", "flows[0].tcp.delayed_ack"),
        ("rto = { variance = \"peak\", variance_gain = \"1/8\" }", "flows[0].tcp.rto.variance_gain"),
    ];
    for (tcp, place) in cases {
        assert_eq!(found("", &format!("tcp = {{ {tcp} }}"), "effect"), [place], "{tcp}");
    }
    for tcp in [
        "sack = false, dsack = false, tlp = false, prr = false, dsack_undo = false, prr_marks = false, recovery = \"newreno\"",
        "tlp = true, dsack = true, dsack_undo = true",
        "ecn = \"accecn\", abe = true, accecn_option = \"always\", ect = \"ect0\"",
        "delayed_ack = { segments = 20, adaptive = false }",
        "delayed_ack = { segments = 20 }, profile = \"rfc\"",
        "sack = false, dsack = false, recovery = \"newreno\", partial_acks = \"impatient\"",
    ] {
        assert_eq!(found("", &format!("tcp = {{ {tcp} }}"), "effect"), [""; 0], "{tcp}");
    }
    // A key of the defaults is idle if no flow can use it.
    let text =
        |tcp: &str| format!("tcp = {{ {tcp} }}\n[[flows]]\nfrom = \"a\"\nto = \"b\"\n[defaults.tcp]\nabe = true");
    assert_eq!(found("", &text("sack = true"), "effect"), ["defaults.tcp.abe"]);
    assert_eq!(found("", &text("ecn = \"classic\""), "effect"), [""; 0]);
}

#[test]
fn a_single_flow_at_a_short_queue_without_any_noise_may_lock_into_a_phase() {
    let phases = |link: &str, flow: &str| found(link, flow, "stay synchronised");
    // The product of 10 Mbit/s and 102 ms is 84 packets.
    assert_eq!(phases("queue = \"10 packets\"", "transfer = \"1 MB\""), ["links[0]"]);
    let step = "queue = { discipline = \"step\", threshold = \"0.1 bdp\", limit = \"1 bdp\" }";
    assert_eq!(phases(step, "congestion = \"dctcp\""), ["links[0]"]);
    // A long queue, one of more than ten packets, noise, a second flow, or a transfer that the queue can hold.
    for (link, flow) in [
        ("queue = \"1 bdp\"", "transfer = \"1 MB\""),
        ("queue = \"12 packets\"", "transfer = \"1 MB\""),
        ("queue = \"10 packets\"\njitter = \"20 us\"", "transfer = \"1 MB\""),
        ("queue = \"10 packets\"\nloss = 1e-4", "transfer = \"1 MB\""),
        ("queue = \"10 packets\"", "congestion = \"bbr\""),
        ("queue = \"10 packets\"", "transfer = \"10 kB\""),
        ("queue = \"10 packets\"", "transfer = \"1 MB\"\n[[flows]]\nfrom = \"a\"\nto = \"b\""),
    ] {
        assert_eq!(phases(link, flow), [""; 0], "{link} {flow}");
    }
}

#[test]
fn half_of_netem_is_not_netem() {
    let netem = ("links.0.queue", "{ discipline = \"netem\", limit = \"1000 packets\" }");
    let bursts = ("links.0.loss", "{ bursts = 0.01 }");
    assert_warns(&[netem, ("links.0.loss", "0.01")], "links[0].loss", &["a->b", "loss = { bursts = 0.01 }"]);
    assert_warns(&[bursts], "links[0].queue", &["a->b", "1000 packets", "discipline = \"netem\""]);
    assert_eq!(warnings(&[netem, bursts]), []);
    let single = ("links.0.queue", "{ discipline = \"netem\", limit = \"1000 packets\", count = \"packets\" }");
    assert_eq!(warnings(&[single, ("links.0.loss", "0.01")]), [], "a device without bursts loses single packets");
}
