use super::*;
use crate::config::SnackForm;

fn options(json: &str) -> Options {
    serde_json::from_str(json).unwrap()
}

fn refused(json: &str) -> String {
    serde_json::from_str::<Options>(json).unwrap_err().to_string()
}

#[test]
fn the_default_is_linux() {
    assert_eq!(Options::default().resolve().unwrap(), Profile::Linux.config());
}

#[test]
fn a_later_table_overrides_key_by_key() {
    let base = options(r#"{ "profile": "inet", "mss": "1024 B", "rto": { "min": "2 s" }, "delayed_ack": {} }"#);
    let over = options(r#"{ "sack": true, "rto": { "max": "90 s" }, "delayed_ack": { "segments": 3 } }"#);
    let config = base.merge(&over).resolve().unwrap();
    assert_eq!((config.mss, config.sack, config.profile), (1024, true, Profile::Inet));
    assert_eq!((config.rto.min, config.rto.max), (Duration::from_secs(2), Duration::from_secs(90)));
    let delayed = config.delayed_ack.unwrap();
    assert_eq!((delayed.segments, delayed.timeout), (3, Duration::from_millis(200)));
}

#[test]
fn delayed_acks_can_be_switched_off_and_on() {
    let delayed = |json| options(json).resolve().unwrap().delayed_ack;
    assert_eq!(delayed(r#"{ "delayed_ack": false }"#), None);
    assert_eq!(delayed(r#"{ "delayed_ack": true }"#), Profile::Linux.config().delayed_ack);
    assert_eq!(delayed(r#"{ "profile": "inet", "delayed_ack": true }"#).unwrap().segments, 2);
    assert!(refused(r#"{ "delayed_ack": 3 }"#).contains("segments = 2"));
    assert!(refused(r#"{ "delayed_ack": { "count": 3 } }"#).contains("segments"));
}

#[test]
fn careful_resume_requires_a_window_that_can_jump() {
    let json = r#"{"careful_resume":{"saved_cwnd":"2 MB","saved_rtt":"600 ms"}}"#;
    let saved = options(json).resolve().unwrap().careful_resume.unwrap();
    assert_eq!(
        (saved.saved_cwnd, saved.saved_rtt, saved.max_jump),
        (Bytes(2_000_000), Duration::from_millis(600), None)
    );
    assert_eq!(serde_json::to_string(&options(json)).unwrap(), json);
    assert!(refused(r#"{ "careful_resume": { "saved_cwnd": "2 MB" } }"#).contains("saved_rtt"));
    let wrong = |keys: &str| options(&format!("{{ {keys} }}")).resolve().unwrap_err().to_string();
    for (keys, parts) in [
        (r#""careful_resume": { "saved_cwnd": "0 B", "saved_rtt": "1 s" }"#, ["careful_resume.saved_cwnd", "0 B"]),
        (r#""careful_resume": { "saved_cwnd": "1 B", "saved_rtt": "0 s" }"#, ["careful_resume.saved_rtt", "0 s"]),
        (
            r#""careful_resume": { "saved_cwnd": "1 B", "saved_rtt": "1 s", "rule": "picoquic" }"#,
            ["careful_resume.rule", "QUIC with profile"],
        ),
        (
            r#""careful_resume": { "saved_cwnd": "1 B", "saved_rtt": "1 s", "max_jump": "0 B" }"#,
            ["careful_resume.max_jump", "0 B"],
        ),
        (
            r#""congestion": "bbr", "careful_resume": { "saved_cwnd": "1 B", "saved_rtt": "1 s" }"#,
            ["careful_resume: bbr", "\"cubic\""],
        ),
    ] {
        let message = wrong(keys);
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    }
}

#[test]
fn ecn_has_two_forms() {
    let ecn = |json| options(json).resolve().unwrap().ecn;
    assert_eq!((ecn("{}"), ecn(r#"{ "ecn": "classic" }"#)), (EcnMode::Off, EcnMode::Classic));
    assert_eq!(ecn(r#"{ "ecn": "accecn", "ect": "ect1", "abe": true }"#), EcnMode::Accecn);
    assert!(refused(r#"{ "ecn": "on" }"#).contains("accecn"));
}

#[test]
fn the_receive_buffer_is_a_size_or_tunes_itself() {
    let buffer = |json| {
        let config = options(json).resolve().unwrap();
        (config.receive_buffer.0, config.receive_buffer_initial.map(|bytes| bytes.0))
    };
    assert_eq!(buffer("{}"), (16 << 20, Some(80_896)));
    assert_eq!(buffer(r#"{ "receive_buffer": "300 kB" }"#), (300_000, None));
    assert_eq!(buffer(r#"{ "profile": "rfc", "receive_buffer": "auto" }"#), (16 << 20, Some(80_896)));
    let json = r#"{"receive_buffer":{"auto":{"initial":"8 kB","max":"1 MB"}}}"#;
    assert_eq!(buffer(json), (1_000_000, Some(8_000)));
    assert_eq!(serde_json::to_string(&options(json)).unwrap(), json);
    assert!(refused(r#"{ "receive_buffer": "automatic" }"#).contains("automatic"));
    assert!(refused(r#"{ "receive_buffer": { "initial": "1 kB" } }"#).contains("auto"));
}

#[test]
fn growth_is_a_name_or_a_table() {
    let growth = |json| options(json).growth.unwrap();
    assert_eq!(growth(r#"{ "growth": "per_ack" }"#), Growth::PerAck);
    assert_eq!(growth(r#"{ "growth": { "abc": 2 } }"#), Growth::Abc(2));
    assert!(refused(r#"{ "growth": "abc" }"#).contains("{ abc = 2 }"));
}

#[test]
fn values_that_cannot_work_are_rejected_with_their_key() {
    for (json, key) in [
        (r#"{ "mss": "10 B" }"#, "mss"),
        (r#"{ "mss": "1 MB" }"#, "mss"),
        (r#"{ "initial_window": 0 }"#, "initial_window"),
        (r#"{ "receive_buffer": "1 B" }"#, "receive_buffer"),
        (r#"{ "receive_buffer": "2 GB" }"#, "receive_buffer"),
        (r#"{ "receive_buffer": { "auto": { "max": "1 kB" } } }"#, "receive_buffer.initial"),
        (r#"{ "delayed_ack": { "segments": 0 } }"#, "delayed_ack.segments"),
        (r#"{ "delayed_ack": { "timeout": "0 s" } }"#, "delayed_ack.timeout"),
        (r#"{ "rto": { "min": "9 min" } }"#, "rto.min"),
        (r#"{ "rto": { "initial": "9 min" } }"#, "rto.max"),
        (r#"{ "rto": { "min": "0 s", "variance_floor": "0 s" } }"#, "rto.min"),
        (r#"{ "rto": { "scaled_gains": true } }"#, "rto.scaled_gains"),
        (r#"{ "profile": "inet", "rto": { "scaled_gains": true } }"#, "rto.scaled_gains"),
        (r#"{ "growth": { "abc": 0 } }"#, "growth.abc"),
        (r#"{ "keep_alive": { "idle": "0 s" } }"#, "keep_alive.idle"),
        (r#"{ "keep_alive": { "probes": 0 } }"#, "keep_alive.probes"),
        (r#"{ "challenge_acks": { "count": 0, "every": "5 s" } }"#, "challenge_acks.count"),
        (r#"{ "time_wait": "9999 h" }"#, "time_wait"),
    ] {
        let error = options(json).resolve().unwrap_err();
        assert_eq!(error.key, key, "{error}");
    }
}

#[test]
fn unknown_keys_are_rejected() {
    assert!(refused(r#"{ "sacks": true }"#).contains("sacks"));
    assert!(refused(r#"{ "rto": { "minimum": "1 s" } }"#).contains("minimum"));
}

#[test]
fn options_survive_a_round_trip() {
    let json =
        r#"{"profile":"ns3","mss":"1448 B","delayed_ack":false,"rto":{"variance_gain":"1/8"},"growth":{"abc":2}}"#;
    let there = serde_json::to_string(&options(json)).unwrap();
    assert_eq!(options(&there), options(json));
}

#[test]
fn contradictory_switches_of_scps_are_explained() {
    for (options, key, fragment) in [
        (r#"{ "recovery": "snack" }"#, "recovery", "set scps = true"),
        (r#"{ "recovery": "snack", "scps": { "snack": "off" } }"#, "recovery", "they are not offered"),
        (r#"{ "scps": { "snack": "short" }, "recovery": "rack" }"#, "scps.snack", "snack = \"off\""),
        (
            r#"{ "profile": "scps", "scps": { "snack": "long" }, "recovery": "newreno" }"#,
            "scps.snack",
            "remove recovery",
        ),
        (r#"{ "scps": { "snack": "off", "snack_delay": "1 s" } }"#, "scps.snack_delay", "snack is off"),
        (r#"{ "outage_after": 17 }"#, "outage_after", "retries = 15"),
        (r#"{ "ack_interval": "64 s", "profile": "scps" }"#, "ack_interval", "rto.max, which is 64 s"),
        (r#"{ "ack_interval": "2 h" }"#, "ack_interval", "7200 s"),
        (r#"{ "scps": { "record_size": "0 B" } }"#, "scps.record_size", "0 B"),
        (r#"{ "scps": { "snack_delay": "2 h" } }"#, "scps.snack_delay", "7200 s"),
        // 1460 + 20 + 20, and 512 + 40.
        (r#"{ "rate_control": { "rate": "1 Mbit/s", "bucket": "1499 B" } }"#, "rate_control.bucket", "1500 B"),
        (
            r#"{ "profile": "scps", "rate_control": { "rate": "1 Mbit/s", "bucket": "551 B" } }"#,
            "rate_control.bucket",
            "552 B",
        ),
    ] {
        let error = serde_json::from_str::<Options>(options).unwrap().resolve().unwrap_err();
        assert_eq!(error.key, key, "{options}");
        assert!(error.message.contains(fragment), "{options}: {}", error.message);
    }
}

#[test]
fn scps_can_be_switched_on_and_off_by_itself() {
    let config = |options: &str| serde_json::from_str::<Options>(options).unwrap().resolve().unwrap();
    assert_eq!(config(r#"{ "profile": "scps", "scps": false }"#).recovery, Scheme::NewReno);
    assert_eq!(config(r#"{ "profile": "scps", "scps": false, "sack": true }"#).recovery, Scheme::Sack);
    assert_eq!(config(r#"{ "profile": "scps", "ack_interval": "0 s" }"#).ack_interval, None);
    for linux in [r#"{ "scps": { "record_size": "10 kB" } }"#, r#"{ "scps": true, "recovery": "snack" }"#] {
        let linux = config(linux);
        assert_eq!((linux.profile, linux.recovery), (Profile::Linux, Scheme::Snack));
    }
    // Another scheme of repair means no SNACK: both cannot be negotiated.
    let rack = config(r#"{ "profile": "scps", "sack": true, "recovery": "rack" }"#);
    assert_eq!((rack.scps.unwrap().snack, rack.recovery), (SnackForm::Off, Scheme::Rack));
    // A timeout is at least SRTT and the interval.
    assert_eq!(config(r#"{ "ack_interval": "400 ms" }"#).rto.variance_floor, Duration::from_millis(400));
    let control = config(r#"{ "rate_control": { "rate": "1 Mbit/s" } }"#);
    assert_eq!(control.rate_control.unwrap().size(&control), 5 * 1_500);
}

#[test]
fn rate_halving_and_proportional_reduction_replace_each_other() {
    let resolved = |json: &str| {
        let config = options(json).resolve().unwrap();
        (config.prr, config.rate_halving)
    };
    assert_eq!(resolved(r#"{ "profile": "ns2-linux" }"#), (false, true));
    assert_eq!(resolved(r#"{ "profile": "ns2-linux", "prr": true }"#), (true, false));
    assert_eq!(resolved(r#"{ "rate_halving": true }"#), (false, true));
    let wrong = |json| options(json).resolve().unwrap_err().to_string();
    assert!(
        wrong(r#"{ "prr": true, "rate_halving": true }"#)
            .contains("rate_halving: true cannot be combined with prr = true")
    );
    assert!(wrong(r#"{ "sack": false, "rate_halving": true }"#).contains("rate_halving: true needs sack = true"));
    assert!(wrong(r#"{ "sack": false, "recovery": "fack" }"#).contains("recovery"));
}

#[test]
fn the_first_threshold_is_two_segments_or_more() {
    assert_eq!(options(r#"{ "initial_ssthresh": 5000 }"#).resolve().unwrap().initial_ssthresh, Some(5000));
    assert_eq!(options(r#"{ "max_cwnd": 400 }"#).resolve().unwrap().max_cwnd, Some(400));
    let error = options(r#"{ "max_cwnd": 1 }"#).resolve().unwrap_err().to_string();
    assert!(error.contains("max_cwnd: 1 segments is not between 2"), "{error}");
    let error = options(r#"{ "max_cwnd": 400, "congestion": "bbr" }"#).resolve().unwrap_err().to_string();
    assert!(error.contains("max_cwnd: bbr"), "{error}");
    assert!(options(r#"{ "initial_ssthresh": 1 }"#).resolve().unwrap_err().to_string().contains("initial_ssthresh: 1"));
}
