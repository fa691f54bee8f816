use super::*;
use crate::congestion::hystart::Policy;
use crate::congestion::tests::start;
use crate::congestion::{Probes, cubic};
use lightlag_core::Duration;

fn choice(json: &str) -> Choice {
    serde_json::from_str(json).unwrap()
}

fn refused(json: &str) -> String {
    serde_json::from_str::<Choice>(json).unwrap_err().to_string()
}

#[test]
fn a_name_is_the_algorithm_with_its_defaults() {
    for name in NAMES {
        let named = choice(&format!("{name:?}"));
        assert_eq!(named.name(), *name);
        assert_eq!(named, Choice::named(name));
        assert_eq!(named, choice(&format!(r#"{{ "algorithm": "{name}" }}"#)));
        assert_eq!(serde_json::to_string(&named).unwrap(), format!("{name:?}"));
        assert_eq!(name.parse(), Ok(named));
    }
    assert_eq!("qubic".parse::<Choice>(), Err(UnknownAlgorithm("qubic".to_owned())));
}

#[test]
fn names_of_the_literature_are_aliases_in_any_case() {
    for (alias, name) in [
        ("hstcp", "highspeed"),
        ("HSTCP", "highspeed"),
        ("stcp", "scalable"),
        ("h-tcp", "htcp"),
        ("H-TCP", "htcp"),
        ("tcp-j", "jersey"),
        ("TCP-J", "jersey"),
        ("TCP Jersey", "jersey"),
        ("tcp-star", "star"),
        ("CUBIC", "cubic"),
        ("TCP_Vegas", "vegas"),
        ("FAST TCP", "fast"),
        ("BIC-TCP", "bic"),
        ("Compound TCP", "compound"),
        ("TCP-Peach+", "peach+"),
        ("TCPW-BR", "westwoodbr"),
        ("BBRv3", "bbr3"),
    ] {
        assert_eq!(choice(&format!("{alias:?}")), Choice::named(name), "{alias}");
        assert_eq!(choice(&format!(r#"{{ "algorithm": {alias:?} }}"#)), Choice::named(name), "{alias}");
        assert_eq!(serde_json::to_string(&choice(&format!("{alias:?}"))).unwrap(), format!("{name:?}"));
    }
    for unknown in ["j", "h", "tcp", "tcp-", "-tcp", "", "tcp-tcp"] {
        assert_eq!(canonical(unknown), None, "{unknown}");
    }
}

#[test]
fn every_alias_leads_to_an_algorithm_and_hides_none() {
    for (alias, name) in ALIASES {
        assert!(NAMES.contains(name), "{name}");
        assert!(!NAMES.contains(alias), "{alias}");
    }
}

#[test]
fn a_table_changes_what_it_names() {
    let Choice::Cubic(config) = choice(r#"{ "beta": 0.75, "variant": "rfc8312", "algorithm": "cubic" }"#) else {
        panic!("cubic is chosen");
    };
    assert_eq!(config, cubic::Config { beta: 0.75, ..cubic::Config::of(cubic::CubicVariant::Rfc8312) });
    let Choice::Hybla(config) =
        choice(r#"{ "algorithm": "hybla", "reference_rtt": "50 ms", "slow_start": "hystart" }"#)
    else {
        panic!("hybla is chosen");
    };
    assert_eq!(config.reference_rtt, Duration::from_millis(50));
    assert_eq!(config.hystart.policy, Policy::HyStart);
}

#[test]
fn the_variant_brings_its_own_defaults_wherever_it_stands() {
    for variant in ["paper2008", "inet2023"] {
        let Choice::Cubic(config) = choice(&format!(r#"{{ "algorithm": "cubic", "variant": "{variant}" }}"#)) else {
            panic!("cubic is chosen");
        };
        assert_eq!((config.beta, config.hystart.policy), (0.8, Policy::Standard));
    }
    let Choice::Cubic(config) = choice(r#"{ "beta": 0.7, "algorithm": "cubic", "variant": "paper2008" }"#) else {
        panic!("cubic is chosen");
    };
    assert_eq!(config.beta, 0.7);
}

#[test]
fn choices_survive_a_round_trip_in_short() {
    for (json, short) in [
        (r#"{ "algorithm": "cubic", "beta": 0.7 }"#, r#""cubic""#),
        (
            r#"{ "algorithm": "cubic", "variant": "paper2008", "beta": 0.8 }"#,
            r#"{"algorithm":"cubic","variant":"paper2008"}"#,
        ),
        (
            r#"{ "algorithm": "cubic", "variant": "paper2008", "beta": 0.7, "hystart_delay_min": "8 ms" }"#,
            r#"{"algorithm":"cubic","variant":"paper2008","beta":0.7,"hystart_delay_min":"8 ms"}"#,
        ),
        (r#"{ "algorithm": "newreno", "increase": "whole" }"#, r#"{"algorithm":"newreno","increase":"whole"}"#),
    ] {
        let there = serde_json::to_string(&choice(json)).unwrap();
        assert_eq!(there, short);
        assert_eq!(choice(&there), choice(json));
    }
}

#[test]
fn what_does_not_fit_is_refused_with_key_value_and_range() {
    for (json, parts) in [
        (r#""qubic""#, ["`qubic`", "expected one of `tahoe`, `reno`, `newreno`, `bic`"]),
        (r#"{ "algorithm": "qubic" }"#, ["`qubic`", "expected one of `tahoe`, `reno`, `newreno`, `bic`"]),
        (r#"{ "algorithm": 3 }"#, ["algorithm: 3", "a name in quotes"]),
        (r#"{ "variant": "rfc9438" }"#, ["missing field", "algorithm"]),
        ("3", ["3", "the name of an algorithm"]),
        ("true", ["true", "the name of an algorithm"]),
        (r#"{ "algorithm": "cubic", "beta": 1.3 }"#, ["beta: 1.3", "a number from 0.1 to 0.99"]),
        (r#"{ "algorithm": "cubic", "beta": "0.7" }"#, ["beta: \"0.7\"", "a number from 0.1 to 0.99"]),
        (r#"{ "algorithm": "cubic", "c": 0 }"#, ["c: 0", "a number from 0.001 to 1000"]),
        (r#"{ "algorithm": "cubic", "variant": "bsd" }"#, ["variant: \"bsd\"", "\"rfc9438\" or \"rfc8312\""]),
        (r#"{ "algorithm": "cubic", "fast_convergence": 1 }"#, ["fast_convergence: 1", "true or false"]),
        (r#"{ "algorithm": "cubic", "hystart_delay_max": "16" }"#, ["hystart_delay_max: \"16\"", "with its unit"]),
        (r#"{ "algorithm": "cubic", "hystart_delay_max": "2 h" }"#, ["hystart_delay_max", "up to 60 s"]),
        (r#"{ "algorithm": "cubic", "c": [1] }"#, ["c: this table, list or nothing", "a number"]),
        (r#"{ "algorithm": "cubic", "gamma": 2 }"#, ["`gamma`", "`beta`"]),
        (
            r#"{ "algorithm": "cubic", "variant": "inet2023", "slow_start": "hystart++" }"#,
            ["slow_start: \"hystart++\"", "inet2023"],
        ),
        (r#"{ "algorithm": "cubic", "initial_ssthresh": 50 }"#, ["initial_ssthresh: 50", "linux-2.6"]),
        (r#"{ "algorithm": "hybla", "reference_rtt": "0 s" }"#, ["reference_rtt: 0 s", "1 ms"]),
        (r#"{ "algorithm": "hybla", "rho_source": "rtt" }"#, ["rho_source: \"rtt\"", "\"min_rtt\" or \"srtt\""]),
        (r#"{ "algorithm": "hybla", "hystart_delay_min": "9 ms", "hystart_delay_max": "5 ms" }"#, ["9 ms", "5 ms"]),
        (r#"{ "algorithm": "cubic", "c": 0.4, "c": 0.5 }"#, ["\"c\"", "is duplicated"]),
    ] {
        let message = refused(json);
        for part in parts {
            assert!(message.contains(part), "{json}: {message}: no {part}");
        }
    }
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let message = refused(r#"{ "algorithm": "cubic", "beta": 2, "c": -1, "x": 0 }"#);
    for part in ["beta: 2", "c: -1", "`x`"] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn the_catalog_says_everything_about_every_algorithm() {
    let names: Vec<&str> = catalog().iter().map(|entry| entry.name).collect();
    assert_eq!(names, NAMES);
    for entry in catalog() {
        assert!(entry.about.len() > 80 && entry.equations.len() >= 5 && entry.source.len() > 30, "{}", entry.name);
        for parameter in &entry.parameters {
            assert!(parameter.meaning.ends_with('.') && !parameter.default.is_empty() && !parameter.range.is_empty());
            if parameter.name == "slow_start" {
                let word = parameter.default.split(';').next().unwrap();
                assert!(parameter.range.contains(&format!("{word:?}")), "{}: {word}", entry.name);
            }
        }
    }
}

#[test]
fn the_catalog_says_in_a_word_how_far_a_model_follows_its_source() {
    let cubic = catalog().iter().find(|entry| entry.name == "cubic").unwrap();
    assert_eq!(cubic.provenance, Provenance::Established);
    assert_eq!(serde_json::to_value(cubic).unwrap()["provenance"], "established");
}

#[test]
fn deviations_name_both_rules_and_a_reason() {
    for entry in catalog() {
        for Deviation { scope, source, here, reason } in entry.deviations {
            for text in [source, here, reason] {
                assert!(!text.is_empty() && !text.ends_with('.'), "{}: {scope}: {text:?}", entry.name);
            }
        }
        assert!(entry.provenance == Provenance::Established || !entry.deviations.is_empty(), "{}", entry.name);
        assert!((1980..2100).contains(&entry.year), "{}", entry.name);
    }
}

#[test]
fn variants_are_values_of_a_parameter() {
    for entry in catalog() {
        for (value, rules) in entry.variants {
            let value = format!("{value:?}");
            let parameters = entry.parameters.iter().filter(|parameter| parameter.range.contains(&value)).count();
            assert_eq!((parameters, rules.is_empty()), (1, false), "{}: {value}", entry.name);
        }
    }
}

#[test]
fn the_schema_knows_every_key_and_no_other() {
    let schema = serde_json::to_value(schemars::schema_for!(Choice)).unwrap();
    let forms = schema["anyOf"].as_array().unwrap();
    assert_eq!(forms[0]["enum"], serde_json::json!(NAMES));
    for (form, entry) in forms[1..].iter().zip(catalog()) {
        let keys: Vec<&String> = form["properties"].as_object().unwrap().keys().collect();
        assert_eq!(keys.len(), entry.parameters.len() + 1);
        assert!(entry.parameters.iter().all(|parameter| form["properties"].get(parameter.name).is_some()));
        assert_eq!(form["properties"]["algorithm"]["const"], entry.name);
        assert_eq!(form["additionalProperties"], false);
    }
}

#[test]
fn what_is_left_to_the_profile_is_the_kernels_in_profile_linux() {
    let linux = |json: &str| choice(json).in_linux();
    assert_eq!(linux(r#""cubic""#), Choice::Cubic(cubic::Config::of(cubic::CubicVariant::Linux)));
    let Choice::Cubic(config) = linux(r#"{ "algorithm": "cubic", "beta": 0.5, "fast_convergence": false }"#) else {
        panic!("cubic is chosen");
    };
    let expected =
        cubic::Config { beta: 0.5, fast_convergence: false, ..cubic::Config::of(cubic::CubicVariant::Linux) };
    assert_eq!(config, expected);
    for json in
        [r#"{ "algorithm": "cubic", "variant": "rfc9438" }"#, r#"{ "algorithm": "reno", "increase": "fraction" }"#]
    {
        assert_eq!(linux(json), choice(json), "an explicit value stays: {json}");
        // It is also written out with the scenario.
        assert_eq!(choice(&serde_json::to_string(&choice(json)).unwrap()), choice(json));
    }
    assert_eq!(linux(r#""newreno""#), choice(r#"{ "algorithm": "newreno", "increase": "whole" }"#));
    assert_eq!(linux(r#""hybla""#), choice(r#""hybla""#));
}

#[test]
fn what_is_left_to_the_profile_is_a_simulators_in_its_profile() {
    let variant = |choice: &Choice| match serde_json::to_value(choice).unwrap() {
        serde_json::Value::Object(table) => table["variant"].as_str().unwrap().to_owned(),
        other => other.as_str().unwrap().to_owned(),
    };
    for name in
        ["bic", "cubic", "highspeed", "htcp", "hybla", "illinois", "scalable", "vegas", "veno", "westwood", "yeah"]
    {
        assert_eq!(variant(&Choice::named(name).in_linux26()), "linux-2.6", "{name}");
    }
    for name in ["cubic", "htcp", "vegas", "veno"] {
        assert_eq!(variant(&Choice::named(name).in_ns3()), "ns3", "{name}");
    }
    // ns-2.35 sets no first ssthresh.
    let cubic = choice(r#"{ "algorithm": "cubic", "variant": "linux-2.6", "initial_ssthresh": 0 }"#);
    assert_eq!(Choice::named("cubic").in_linux26(), cubic);
}

#[test]
fn what_a_scenario_says_of_a_variant_stays_in_a_simulators_profile() {
    for json in [
        r#"{ "algorithm": "bic", "variant": "paper" }"#,
        r#"{ "algorithm": "illinois", "variant": "paper" }"#,
        r#"{ "algorithm": "highspeed", "response": "table" }"#,
        r#"{ "algorithm": "veno", "rtt_source": "sample" }"#,
        r#"{ "algorithm": "westwood", "ack_limit": 2 }"#,
    ] {
        assert_eq!(choice(json).in_linux26(), choice(json), "{json}");
    }
    let set = choice(r#"{ "algorithm": "bic", "beta": 0.5 }"#).in_linux26();
    assert_eq!(set, choice(r#"{ "algorithm": "bic", "variant": "linux-2.6", "beta": 0.5 }"#));
}

#[test]
fn a_module_refuses_parameters_that_it_does_not_have() {
    for (json, key) in [
        (r#"{ "algorithm": "highspeed", "variant": "linux-2.6", "response": "table" }"#, "response"),
        (r#"{ "algorithm": "veno", "variant": "ns3", "rtt_source": "sample" }"#, "rtt_source"),
        (r#"{ "algorithm": "westwood", "variant": "linux-2.6", "ack_limit": 2 }"#, "ack_limit"),
        (r#"{ "algorithm": "cubic", "variant": "ns3", "reno_friendly": true }"#, "reno_friendly"),
    ] {
        assert!(refused(json).contains(key), "{json}");
    }
}

#[test]
fn an_algorithm_has_the_capabilities_that_it_needs() {
    for entry in catalog() {
        let choice = Choice::named(entry.name);
        for ecn in [false, true] {
            let needs = choice.needs(ecn);
            let mut algorithm = build(&choice, &ConnectionStart { ecn, ..start(10) });
            assert_eq!(algorithm.departures().is_some(), needs.pacing || needs.bursts, "{}", entry.name);
            assert_eq!(algorithm.transmissions().is_some(), needs.rate || needs.bursts, "{}", entry.name);
            assert_eq!(algorithm.low_priority().is_some(), needs.probes != Probes::None, "{}", entry.name);
            assert_eq!(algorithm.diagnosis().is_some(), needs.bulk_repeat || needs.patience, "{}", entry.name);
        }
    }
}
