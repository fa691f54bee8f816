//! Any text results in a scenario or in errors, never in a panic. Any scenario can be read back from its serialised
//! form.

use lightlag_scenario::{Flow, FlowRole, parse_json, parse_toml};
use proptest::prelude::*;

const VALID: &str = include_str!("../../../scenarios/siot.toml");
const GENERATED: &str = include_str!("../../../scenarios/dumbbell.toml");
const TRAFFIC: &str = include_str!("../../../scenarios/traffic.toml");

/// Returns a valid text, the starting point of changes.
fn good() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![VALID, GENERATED, TRAFFIC])
}

/// Does everything with a text that a user may do with it.
fn exercise(text: &str) {
    for parsed in [parse_toml(text, &[]), parse_json(text, &[])] {
        match parsed {
            Ok(scenario) => {
                let json = scenario.to_json().to_string();
                assert_eq!(parse_json(&json, &[]).as_ref(), Ok(&scenario), "{json}");
                if scenario.link_count() < 2_000
                    && scenario.flow_count() < 2_000
                    && let Ok(network) = scenario.expand()
                {
                    assert_eq!(network.links.len() as u64, 2 * scenario.link_count());
                    // A flow may become several: transfers that arrive, of which there may be none, or connections.
                    let is_asked_for = |flow: &&Flow| matches!(flow.part, FlowRole::Whole | FlowRole::Connection(0));
                    assert!(network.flows.iter().filter(is_asked_for).count() as u64 <= scenario.flow_count());
                    scenario.warnings(&network);
                }
            }
            Err(errors) => {
                assert!(!errors.is_empty());
                assert!(errors.iter().all(|error| !error.message.is_empty()), "{errors:?}");
            }
        }
    }
}

/// Returns a value of any form that a scenario accepts, or of a form that it never accepts.
fn value() -> impl Strategy<Value = String> {
    let number = prop_oneof![any::<i64>().prop_map(|n| n.to_string()), any::<f64>().prop_map(|n| format!("{n:e}"))];
    let unit = prop::sample::select(vec![
        "", "s", "ms", "ns", "h", "B", "kB", "TB", "Mbit/s", "bit/s", "Tbit/s", "packets", "packet", "bdp", "m",
    ]);
    let quantity = (number.clone(), unit).prop_map(|(number, unit)| format!("\"{number} {unit}\""));
    let word = prop::sample::select(vec![
        "true",
        "nan",
        "inf",
        "[]",
        "{}",
        "\"\"",
        "\"hybla\"",
        "\"client\"",
        "{ at = [\"1 s\"] }",
        "\"off\"",
        "2026-11-21",
        "{ forward = 0.1 }",
        "{ forward = \"1 s\", backward = \"2 s\" }",
        "[\"a\", \"b\"]",
        "{ algorithm = \"cubic\" }",
    ]);
    prop_oneof![number, quantity, word.prop_map(str::to_owned), "\\PC{0,12}"]
}

const KEYS: [&str; 47] = [
    "name",
    "duration",
    "seed",
    "defaults.tcp",
    "defaults.tcp.mss",
    "defaults.tcp.rto",
    "links.0.between",
    "links.0.rate",
    "links.1.delay",
    "links.1.queue",
    "links.1.queue.discipline",
    "links.1.queue.forward.discipline",
    "links.1.queue.limit",
    "links.1.queue.ecn",
    "links.1.reorder",
    "links.0.reorder.forward.delay",
    "links.0.duplicate",
    "links.1.loss",
    "links.1.loss.forward",
    "links.0.header",
    "links",
    "links.7",
    "flows.0.name",
    "flows.0.from",
    "flows.1.to",
    "flows.0.transfer",
    "flows.0.start",
    "flows.0.tcp",
    "flows.1.congestion",
    "flows.0.tcp.delayed_ack",
    "flows.0.transport",
    "flows.4.transport",
    "flows.0.traffic",
    "flows.0.traffic.html",
    "flows.0.traffic.object.shape",
    "flows.2.traffic.response.weights",
    "flows.3.traffic.size.max",
    "flows.3.traffic.load",
    "flows.4.traffic.on.mean",
    "flows.9.traffic.messages",
    "topology.kind",
    "topology.pairs",
    "topology.access.rate",
    "topology.flow.count",
    "topology.flow.stagger",
    "record.interval",
    "record.trace",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_text_is_read_or_rejected(text in "\\PC*") {
        exercise(&text);
    }

    #[test]
    fn a_damaged_scenario_is_read_or_rejected(
        good in good(),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0usize..20, "\\PC{0,6}"), 1..6),
    ) {
        let mut text: Vec<char> = good.chars().collect();
        for (place, length, instead) in cuts {
            let start = place.index(text.len());
            let end = (start + length).min(text.len());
            text.splice(start..end, instead.chars());
        }
        exercise(&text.into_iter().collect::<String>());
    }

    #[test]
    fn changed_values_are_taken_or_rejected(
        good in good(),
        changes in prop::collection::vec((prop::sample::select(KEYS.to_vec()), value()), 1..4),
    ) {
        let sets: Vec<(String, String)> = changes.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        if let Ok(scenario) = parse_toml(good, &sets) {
            let json = scenario.to_json().to_string();
            let again = parse_json(&json, &[]);
            prop_assert_eq!(again.as_ref(), Ok(&scenario), "{}", json);
            if scenario.link_count() < 2_000 && scenario.flow_count() < 2_000
                && let Ok(network) = scenario.expand()
            {
                scenario.warnings(&network);
            }
        }
    }

    #[test]
    fn a_scenario_survives_serialisation(
        rate in 1u64..1_000_000_000_000_000,
        delays in (0u64..1_728_000_000_000_000, 0u64..1_728_000_000_000_000),
        packets in 1u64..1_000_000_000_000,
        bytes in 1u64..1_000_000_000_000_000,
        factor in 1e-6f64..1e6,
        loss in 0.0f64..=1.0,
        ber in 0.0f64..=1.0,
        seed in 0..=i64::MAX as u64,
        which in 0u8..3,
    ) {
        let queue = [format!("{packets} packets"), format!("{bytes} B"), format!("{factor} bdp")][usize::from(which)].clone();
        let json = serde_json::json!({
            "duration": format!("{} ns", delays.0 + 1),
            "record": { "interval": format!("{} ns", delays.0 + 1) },
            "seed": seed,
            "links": [{
                "between": ["a", "b"],
                "rate": { "forward": format!("{rate} bit/s"), "backward": "5 kbit/s" },
                "delay": { "forward": format!("{} ns", delays.0), "backward": format!("{} ns", delays.1) },
                "queue": queue,
                "loss": { "forward": loss, "backward": { "bit_error_rate": ber } },
            }],
            "flows": [{ "from": "a", "to": "b", "transfer": format!("{bytes} B"), "start": format!("{} ns", delays.1) }],
        });
        let scenario = parse_json(&json.to_string(), &[]).unwrap();
        prop_assert_eq!(parse_json(&scenario.to_json().to_string(), &[]), Ok(scenario));
    }
}
