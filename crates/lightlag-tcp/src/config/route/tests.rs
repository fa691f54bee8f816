use super::*;
use crate::config::{Options, TokenRelease};

fn options(json: &str) -> Options {
    serde_json::from_str(json).unwrap()
}

fn config(json: &str) -> Config {
    options(json).resolve().unwrap()
}

const MARS: PathParameters = PathParameters {
    rtt: Duration::from_secs(500),
    rate: Rate::from_mbps(1),
    ack_rate: Rate::from_mbps(2),
    data_rate: Rate::from_mbps(1),
};

#[test]
fn parameters_of_a_route_set_its_timers() {
    let moon = config(r#"{ "profile": "scps", "route": { "rtt": "2.6 s" } }"#);
    // As RFC 6298 after a first sample: R + 4 R/2.
    let rto = Duration::from_millis(7_800);
    assert_eq!((moon.rto.initial, moon.rto.syn, moon.rto.max), (rto, rto, Duration::from_secs(64)));
    let given = config(r#"{ "profile": "scps", "route": { "rtt": "2.6 s", "rto": "6 s" }, "rto": { "syn": "5 s" } }"#);
    assert_eq!((given.rto.initial, given.rto.syn), (Duration::from_secs(6), Duration::from_secs(5)));
    let mars = config(r#"{ "profile": "scps", "route": { "rtt": "500 s" } }"#);
    assert_eq!((mars.rto.initial, mars.rto.max), (Duration::from_secs(1_500), Duration::from_secs(3_000)));
    assert_eq!((mars.time_wait, mars.fin_wait), (mars.rto.max, Some(mars.rto.max)));
    let named = config(r#"{ "route": { "rtt": "500 s" }, "time_wait": "1 s", "rto": { "max": "2000 s" } }"#);
    assert_eq!((named.time_wait, named.rto.max), (Duration::from_secs(1), Duration::from_secs(2_000)));
    // Never below the profile's: the queues of a short route may be full.
    let near = config(r#"{ "profile": "scps", "route": { "rtt": "1 ms" } }"#);
    assert_eq!((near.rto.initial, near.rto.max), (Duration::from_secs(1), Duration::from_secs(64)));
    let sure = config(r#"{ "profile": "scps", "route": { "rtt": "1 ms", "rto": "300 ms" } }"#);
    assert_eq!(sure.rto.initial, Duration::from_millis(300));
    // An ACK may wait for its interval.
    let slow = config(r#"{ "profile": "scps", "ack_interval": "10 s", "route": { "rtt": "1 s" } }"#);
    assert_eq!(slow.rto.initial, Duration::from_secs(11));
}

#[test]
fn rate_and_round_trip_give_the_bdp_of_a_route() {
    // 1.5 Mbit/s × 0.52 s are 97,500 B, of which 512 of 552 are payload.
    let config = |more: &str| config(&format!(r#"{{ "profile": "scps", "route": {{ "rate": "1.5 Mbit/s"{more} }} }}"#));
    let route = |more| config(more).route.unwrap();
    assert_eq!(route(r#", "rtt": "520 ms""#).bdp, Some(Bytes(97_500 * 512 / 552)));
    assert_eq!(route(r#", "rtt": "520 ms", "bdp": "40 kB""#).bdp, Some(Bytes(40_000)));
    assert_eq!(route("").bdp, None);
    let control = config("").rate_control.unwrap();
    assert_eq!((control.rate.as_bps(), control.ack_rate, control.bucket), (1_500_000, None, None));
}

#[test]
fn rate_control_names_its_own_rate_or_takes_the_routes() {
    let control = |json| config(json).rate_control.unwrap();
    let both = r#"{ "route": { "rate": "1 Mbit/s" }, "rate_control": { "rate": "2 Mbit/s" } }"#;
    assert_eq!(control(both).rate, Rate::from_mbps(2));
    let bucket = r#"{ "route": { "rate": "1 Mbit/s" }, "rate_control": { "bucket": "3 kB" } }"#;
    assert_eq!((control(bucket).rate, control(bucket).bucket), (Rate::from_mbps(1), Some(Bytes(3_000))));
    let acks = r#"{ "rate_control": { "rate": "2 Mbit/s", "release": "acks" } }"#;
    assert_eq!((control(acks).release, control(both).release), (TokenRelease::Acks, TokenRelease::Tokens));
    let error = options(r#"{ "rate_control": { "bucket": "3 kB" } }"#).resolve().unwrap_err();
    assert_eq!(error.key, "rate_control.rate");
}

#[test]
fn a_path_fills_in_missing_parameters_of_a_route() {
    for json in [r#"{ "profile": "scps", "route": "path" }"#, r#"{ "profile": "scps", "route": true }"#] {
        let waiting = config(json);
        assert!(waiting.awaits_path());
        assert_eq!((waiting.rto.initial, waiting.rate_control), (Duration::from_secs(1), None));
        let known = waiting.on_path(&MARS).unwrap();
        assert!(!known.awaits_path());
        assert_eq!(known.rto.initial, Duration::from_secs(1_500));
        let control = known.rate_control.unwrap();
        assert_eq!((control.rate, control.ack_rate), (MARS.rate, Some(MARS.ack_rate)));
        // 62.5 MB of packets of 552 bytes.
        assert_eq!(known.route.unwrap().bdp, Some(Bytes(57_971_014)));
    }
    // If the listening end sends the data, the rate of its direction counts.
    let answers = PathParameters { data_rate: MARS.ack_rate, ..MARS };
    let known = config(r#"{ "profile": "scps", "route": "path" }"#).on_path(&answers).unwrap();
    assert_eq!((known.route.unwrap().bdp, known.rate_control.unwrap().rate), (Some(Bytes(115_942_028)), MARS.rate));
    let given = r#"{ "route": { "path": true, "rto": "600 s", "rate": "500 kbit/s" }, "rto": { "syn": "700 s" } }"#;
    let known = config(given).on_path(&MARS).unwrap();
    assert_eq!((known.rto.initial, known.rto.syn), (Duration::from_secs(600), Duration::from_secs(700)));
    let control = known.rate_control.unwrap();
    assert_eq!((control.rate.as_bps(), control.ack_rate), (500_000, None));
    let short = config(r#"{ "route": { "path": true, "rto": "60 s" } }"#).on_path(&MARS).unwrap_err();
    assert_eq!(short.key, "route.rto");
    let small = r#"{ "route": "path", "rate_control": { "bucket": "1 kB" } }"#;
    assert_eq!(config(small).on_path(&MARS).unwrap_err().key, "rate_control.bucket");
}

#[test]
fn a_route_of_one_table_completes_the_route_of_another() {
    let merged = |base, over| options(base).merge(&options(over)).route;
    let [path, table, off] = [r#"{ "route": "path" }"#, r#"{ "route": { "rto": "6 s" } }"#, r#"{ "route": false }"#];
    let rto = Some(Duration::from_secs(6));
    let both = RouteSwitch::On(RouteOptions { path: Some(true), rto, ..RouteOptions::default() });
    assert_eq!((merged(path, table), merged(table, path)), (Some(both), Some(both)));
    assert_eq!((merged(path, off), merged(off, path)), (options(off).route, options(path).route));
    assert_eq!(config(off).route, None);
}

#[test]
fn a_route_survives_being_written() {
    for json in [r#"{"route":"path"}"#, r#"{"route":false}"#, r#"{"route":{"rtt":"2.6 s","bdp":"3 MB"}}"#] {
        assert_eq!(serde_json::to_string(&options(json)).unwrap(), json);
    }
    for json in [r#"{"initial_window":4}"#, r#"{"initial_window":"rfc3390"}"#] {
        assert_eq!(serde_json::to_string(&options(json)).unwrap(), json);
    }
}

#[test]
fn impossible_routes_are_rejected_with_their_key() {
    for (json, key) in [
        (r#"{ "route": {} }"#, "route"),
        (r#"{ "route": { "rtt": "0 s" } }"#, "route.rtt"),
        (r#"{ "route": { "rtt": "25 h" } }"#, "route.rtt"),
        (r#"{ "route": { "rto": "0 s" } }"#, "route.rto"),
        (r#"{ "route": { "rtt": "5 s", "rto": "4 s" } }"#, "route.rto"),
        (r#"{ "route": { "bdp": "0 B" } }"#, "route.bdp"),
        (r#"{ "route": { "rtt": "500 s" }, "rto": { "max": "100 s" } }"#, "rto.max"),
    ] {
        let error = options(json).resolve().unwrap_err();
        assert_eq!(error.key, key, "{error}");
    }
    for json in [r#"{ "route": "way" }"#, r#"{ "route": 3 }"#] {
        assert!(serde_json::from_str::<Options>(json).unwrap_err().to_string().contains("\"path\", true, false"));
    }
    assert!(serde_json::from_str::<Options>(r#"{ "route": { "rate": 0 } }"#).is_err());
    assert!(serde_json::from_str::<Options>(r#"{ "initial_window": "rfc2414" }"#).is_err());
}

#[test]
fn the_first_window_of_rfc3390_depends_on_the_segment() {
    let first = config(r#"{ "profile": "scps", "initial_window": "rfc3390" }"#);
    assert_eq!((first.initial_window, first.initial_window_bytes), (4, Some(Bytes(4_380))));
    let plain = config(r#"{ "profile": "rfc", "initial_window": 10 }"#);
    assert_eq!((plain.initial_window, plain.initial_window_bytes), (10, None));
}
