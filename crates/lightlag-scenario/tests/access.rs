//! Errors and warnings of satellite beams and of random access.

use lightlag_scenario::{ScenarioError, parse_toml};

/// Returns a scenario with a gateway and `terminals` terminals on a medium with these keys.
fn beam(medium: &str, terminals: u32, rest: &str) -> String {
    format!(
        "duration = \"60 s\"\n[topology]\nkind = \"swarm\"\nnodes = {}\nmedium = {{ {medium} }}\n{rest}",
        terminals + 1
    )
}

fn errors(text: &str) -> Vec<ScenarioError> {
    match parse_toml(text, &[]) {
        Err(errors) => errors,
        Ok(scenario) => scenario.expand().err().unwrap_or_default(),
    }
}

/// Asserts that there is exactly one error, at `path`, that contains all of `fragments`.
fn assert_refuses(text: &str, path: &str, fragments: &[&str]) {
    let errors = errors(text);
    let [error] = errors.as_slice() else { panic!("one error, not {errors:#?} in\n{text}") };
    assert_eq!(error.path, path, "{error}");
    for fragment in fragments {
        assert!(error.message.contains(fragment), "{error} does not contain {fragment:?}");
    }
}

#[test]
fn settings_that_cannot_be_combined_are_rejected() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("kind = \"rcs2\", slots = 1000, slot_guard = \"30 us\"", "slots", &["1000 slots in 26.5 ms", "26.5 us each"]),
        ("kind = \"rcs2\", contention_slots = 161", "contention_slots", &["161", "160 slots of a superframe"]),
        ("kind = \"rcs2\", contention_slots = 1", "contention_slots", &["cannot hold the 2 replicas"]),
        ("kind = \"rcs2\", contention_slots = 0", "contention_slots", &["without a first burst", "control_period"]),
        ("kind = \"rcs2\", constant = \"100 Mbit/s\"", "constant", &["sends on one carrier at a time"]),
        ("kind = \"rcs2\", constant = \"1 Mbit/s\"", "constant", &["terminals takes 180 slots", "there are 160"]),
        ("kind = \"rcs2\", slot_payload = \"9 B\"", "slot_payload", &["less than the 10 B"]),
        (
            "kind = \"rcs2\", adaptive = true, request_size = \"120 B\", slot_payload = \"400 B\"",
            "adaptive",
            &["123 B", "request_size"],
        ),
        ("kind = \"rcs2\", adaptive = true, acm_step = \"10 us\"", "acm_step", &["below 1 ms"]),
        ("kind = \"rcs2\", adaptive = true, clear_sky = \"90 dB\"", "clear_sky", &["60 dB"]),
        ("kind = \"rcs2\", volume_based = false", "volume_based", &["cannot obtain capacity"]),
        ("kind = \"rcs2\", routing = \"aodv\"", "routing", &["does not apply to rcs2"]),
        ("kind = \"rcs2\", gateway = \"nowhere\"", "gateway", &["nowhere", "terminal1"]),
        ("kind = \"rcs2\", carriers = 1, slots = 20", "carriers", &["none is left to assign"]),
        ("kind = \"random_access\", technique = \"crdsa-3\", frame_slots = 2", "frame_slots", &["3 replicas"]),
        (
            "kind = \"random_access\", passes = { duration = \"8 min\", period = \"8 min\" }",
            "passes",
            &["not longer than its duration"],
        ),
        (
            "kind = \"random_access\", passes = { starts = [\"1 min\", \"2 min\"], ends = [\"3 min\", \"4 min\"] }",
            "passes",
            &["before the next start"],
        ),
        ("kind = \"random_access\", passes = { starts = [\"1 min\"] }", "passes", &["as many ends as starts"]),
        ("kind = \"random_access\", passes = { every = \"95 min\" }", "passes.every", &["period"]),
        (
            "kind = \"random_access\", technique = \"crdsa-2\", burst_rate = \"1 kbit/s\", \
             passes = { duration = \"2 min\", period = \"95 min\" }",
            "passes",
            &["a pass of 120 s", "two frames of 80 s", "frame_slots"],
        ),
        (
            "kind = \"random_access\", technique = \"nb-iot\", coverage = [[1, 40, 1, 1]]",
            "coverage",
            &["40", "12, 24, 36 or 48"],
        ),
        (
            "kind = \"random_access\", technique = \"nb-iot\", coverage = [[1, 48, 3, 1]]",
            "coverage",
            &["3 is not a number of rep"],
        ),
        (
            "kind = \"random_access\", technique = \"nb-iot\", coverage = [[0.5, 36, 1, 1], [0.4, 12, 1, 1]]",
            "coverage",
            &["add up to 0.9"],
        ),
        (
            "kind = \"random_access\", technique = \"nb-iot\", coverage = [[0.5, 36, 1, 1], [0.5, 24, 1, 1]]",
            "coverage",
            &["60 subcarriers"],
        ),
        (
            "kind = \"random_access\", technique = \"nb-iot\", nprach_period = \"40 ms\", coverage = [[1, 48, 8, 1]]",
            "nprach_period",
            &["40 ms", "8 preambles", "51.2 ms"],
        ),
        ("kind = \"random_access\", technique = \"nb-iot\", tones = 2", "tones", &["1, 3, 6 or 12"]),
        ("kind = \"random_access\", technique = \"nb-iot\", tones = 3, spacing = \"3.75 kHz\"", "tones", &["15 kHz"]),
        ("kind = \"random_access\", technique = \"nb-iot\", tbs_index = 12", "tbs_index", &["several tones"]),
        ("kind = \"random_access\", technique = \"lora\", spreading_min = 6", "spreading_min", &["below 7"]),
    ];
    for (medium, key, fragments) in cases {
        assert_refuses(&beam(medium, 10, ""), &format!("topology.medium.{key}"), fragments);
    }
}

#[test]
fn a_beam_needs_a_gateway_and_a_terminal() {
    assert_refuses(&beam("kind = \"rcs2\"", 0, ""), "topology.medium", &["has 1 nodes", "gateway"]);
}

#[test]
fn settings_of_other_kinds_are_rejected() {
    let nodes = |kind: &str, keys: &str| {
        format!(
            "duration = \"1 s\"\n[[media]]\nkind = {kind:?}\n[[nodes]]\nname = \"hub\"\nat = [\"0 m\", \"0 m\", \"0 m\"]\n\
             [[nodes]]\nname = \"a\"\nat = [\"1 m\", \"0 m\", \"0 m\"]\n{keys}\n[[flows]]\nfrom = \"a\"\nto = \"hub\"\n"
        )
    };
    assert_refuses(&nodes("rcs2", "radio = { power = \"1 dBm\" }"), "nodes[1].radio", &["the kind rcs2"]);
    assert_refuses(&nodes("wifi", "terminal = { delay = \"1 ms\" }"), "nodes[1].terminal", &["the kind wifi"]);
    assert_eq!(errors(&nodes("rcs2", "terminal = { delay = \"1 ms\" }")), []);
}

#[test]
fn a_beam_survives_writing() {
    let text = "duration = \"1 s\"\n[[media]]\nkind = \"rcs2\"\ncarriers = 3\nconstant = \"64 kbit/s\"\ngateway = \"a\"\n\
                [[nodes]]\nname = \"hub\"\n[[nodes]]\nname = \"a\"\nterminal = { slot_payload = \"400 B\" }\n\
                [[flows]]\nfrom = \"hub\"\nto = \"a\"\n";
    let scenario = parse_toml(text, &[]).unwrap();
    let json = serde_json::to_string(&scenario).unwrap();
    assert!(json.contains("\"constant\":\"64 kbit/s\"") && json.contains("400 B"), "{json}");
    assert_eq!(lightlag_scenario::parse_json(&json, &[]).unwrap(), scenario);
}

#[test]
fn passes_survive_writing() {
    for passes in [
        "{ first = \"5 min\", duration = \"8 min\", period = \"95 min\" }",
        "{ starts = [\"5 min\", \"100 min\"], ends = [\"13 min\", \"107 min\"] }",
    ] {
        let text = beam(&format!("kind = \"random_access\", pass_backoff = \"2 min\", passes = {passes}"), 3, "");
        let scenario = parse_toml(&text, &[]).unwrap();
        let json = serde_json::to_string(&scenario).unwrap();
        assert!(json.contains("\"pass_backoff\":\"120 s\"") && json.contains("\"passes\":{"), "{json}");
        assert_eq!(lightlag_scenario::parse_json(&json, &[]).unwrap(), scenario);
    }
}

/// Returns a scenario whose sink at the gateway has these keys.
fn sink(keys: &str) -> String {
    let flow = "flow = { transport = \"udp\", traffic = { kind = \"poisson\", size = \"20 B\", every = \"60 s\" } }\n";
    beam("kind = \"random_access\"", 3, flow)
        + "[[links]]\nbetween = [\"gateway\", \"ground\"]\nrate = \"1 Mbit/s\"\ndelay = \"5 ms\"\n\
           [[flows]]\nfrom = \"gateway\"\nto = \"ground\"\n"
        + &format!("traffic = {{ kind = \"collect\", {keys} }}\n")
}

#[test]
fn a_sink_with_contacts_survives_writing_and_rejects_contacts_without_time_to_write() {
    let keys = "contacts = { first = \"1 min\", duration = \"8 min\", period = \"95 min\" }, overflow = \"oldest\"";
    let scenario = parse_toml(&sink(keys), &[]).unwrap();
    let json = serde_json::to_string(&scenario).unwrap();
    assert!(json.contains("\"overflow\":\"oldest\"") && !json.contains("contact_guard"), "{json}");
    assert_eq!(lightlag_scenario::parse_json(&json, &[]).unwrap(), scenario);
    let plain = serde_json::to_string(&parse_toml(&sink("buffer = \"1 MB\""), &[]).unwrap()).unwrap();
    assert!(!plain.contains("contacts") && !plain.contains("overflow"), "{plain}");

    let path = "flows[0].traffic";
    let contacts = "contacts = { duration = \"8 min\" }";
    assert_refuses(&sink(contacts), &format!("{path}.contacts"), &["period", "not longer than its duration"]);
    let contacts = "contact_guard = \"9 min\", contacts = { duration = \"8 min\", period = \"95 min\" }";
    assert_refuses(&sink(contacts), &format!("{path}.contact_guard"), &["540 s", "shortest contact"]);
    assert_refuses(&sink("overflow = \"all\""), &format!("{path}.overflow"), &["newest", "oldest"]);
}

#[test]
fn nb_iot_survives_writing_and_warns_of_too_many_preambles() {
    let medium =
        "kind = \"random_access\", technique = \"nb-iot\", coverage = [[0.9, 36, 1, 1], [0.1, 12, 8, 4]], harq = false";
    let flow = |every: &str| {
        format!(
            "flow = {{ transport = \"udp\", traffic = {{ kind = \"poisson\", size = \"20 B\", every = \"{every}\" }} }}\n"
        )
    };
    let scenario = parse_toml(&beam(medium, 300, &flow("2 s")), &[]).unwrap();
    let json = serde_json::to_string(&scenario).unwrap();
    assert_eq!(lightlag_scenario::parse_json(&json, &[]).unwrap(), scenario);
    // 300 sensors, one message per 2 s: 96 preambles per 640 ms for 48 subcarriers.
    let found = scenario.warnings(&scenario.expand().unwrap());
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].message.contains("occupy 2.00 of a channel on average"), "{}", found[0].message);
    let scenario = parse_toml(&beam(medium, 300, &flow("20 s")), &[]).unwrap();
    assert_eq!(scenario.warnings(&scenario.expand().unwrap()), []);
}

#[test]
fn the_weather_of_a_terminal_survives_writing() {
    let text = "duration = \"1 s\"\n[[media]]\nkind = \"rcs2\"\nadaptive = true\nclear_sky = \"-1.5 dB\"\nrain_median = \"2 dB\"\n\
                [[nodes]]\nname = \"gateway\"\n[[nodes]]\nname = \"one\"\n[[nodes]]\nname = \"two\"\n\
                terminal = { rain_median = \"4 dB\", acm_delay = \"2 s\" }\n[[flows]]\nfrom = \"one\"\nto = \"two\"\n";
    let scenario = parse_toml(text, &[]).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let json = serde_json::to_string(&scenario).unwrap();
    assert_eq!(lightlag_scenario::parse_json(&json, &[]).unwrap(), scenario, "{json}");
    let network = scenario.expand().unwrap();
    let beam = network.media[0].plan.rcs2().unwrap();
    let medians: Vec<f64> = beam.stations[1..].iter().map(|of| of.climate.rain_median).collect();
    assert_eq!(medians, [2.0, 4.0], "{json}");
    assert!(beam.stations[1..].iter().all(|of| of.climate.adaptive && of.climate.clear_sky == -1.5));
}

#[test]
fn overloads_and_slow_logons_have_warnings() {
    let warnings = |text: &str| {
        let scenario = parse_toml(text, &[]).unwrap_or_else(|errors| panic!("{errors:#?}\nin\n{text}"));
        scenario.warnings(&scenario.expand().unwrap())
    };
    let flow = |every: &str| {
        format!(
            "flow = {{ transport = \"udp\", traffic = {{ kind = \"poisson\", size = \"72 B\", every = \"{every}\" }} }}\n"
        )
    };
    // 100 sensors, 100 B at 80 kbit/s: 10 ms per message; one per second occupies 1.0, one per 10 s 0.1.
    let medium = "kind = \"random_access\", burst_rate = \"80 kbit/s\"";
    let found = warnings(&beam(medium, 100, &flow("1 s")));
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0].path, "topology.medium");
    assert!(found[0].message.contains("occupy 1.00 of a channel") && found[0].message.contains("more than 0.5"));
    assert_eq!(warnings(&beam(medium, 100, &flow("10 s"))), []);
    // At the start of a pass each sensor has generated 600 · 0.9 / 10 messages, and its queue holds 16: 1,600 in 30 s are
    // 53.3 per second, and 10 more are generated.
    let passes = ", passes = { duration = \"60 s\", period = \"10 min\" }, pass_backoff = \"30 s\"";
    let found = warnings(&beam(&format!("{medium}{passes}"), 100, &flow("10 s")));
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].message.contains("occupy 0.63 of a channel when a pass starts"), "{}", found[0].message);

    let found = warnings(&beam("kind = \"rcs2\", logon = true", 2, "flow = { transfer = \"10 kB\" }\n"));
    assert_eq!(found.len(), 1, "{found:#?}");
    // 2 · 260 ms of logon, 130 ms, 260 ms and 130 ms back are 1.04 s.
    assert!(found[0].message.contains("1 s is below the 1.04 s"), "{}", found[0].message);
    assert_eq!(warnings(&beam("kind = \"rcs2\"", 2, "flow = { transfer = \"10 kB\" }\n")), []);
}
