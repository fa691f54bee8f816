//! Links with assigned capacity: bandwidth on demand, and rates that depend on the rain.

use crate::text::run;
use lightlag_core::Duration;
use lightlag_net::QueueLimit;
use lightlag_scenario::{parse_json, parse_toml};
use lightlag_sim::RunResult;

/// Returns a scenario with one flow from a terminal over a satellite link with these additional keys.
fn scenario(seed: u64, keys: &str, flow: &str) -> String {
    format!(
        "duration = \"300 s\"\nseed = {seed}\n[[links]]\nbetween = [\"terminal\", \"hub\"]\nrate = \"2 Mbit/s\"\n\
         delay = \"280 ms\"\nqueue = \"1000 packets\"\n{keys}\n[[flows]]\nfrom = \"terminal\"\nto = \"hub\"\n{flow}\n"
    )
}

const REQUESTS: &str = "on_demand = { forward = { frame = \"26.5 ms\", latency = \"560 ms\" } }";
const RAIN: &str = "fade = { mean = 1, deviation = 1.2, correlation_time = \"50 s\", clear_sky = \"15 dB\", \
                    symbol_rate = \"1 MBd\" }";

fn hash(text: &str) -> String {
    run(text).summary.result_hash
}

#[test]
fn a_handshake_waits_for_its_requests() {
    // The SYN is requested at 0.0265 s or before and granted 560 ms later; so is the data after the SYN-ACK.
    let flow = "transfer = \"1000 B\"\nstart = \"1 s\"\ntcp = { rto = { initial = \"6 s\", syn = \"6 s\" } }";
    let finish = run(&scenario(1, REQUESTS, flow)).summary.flows[0].finish_s.unwrap();
    let plain = run(&scenario(1, "", flow)).summary.flows[0].finish_s.unwrap();
    let added = finish - plain;
    assert!((2.0 * 0.560..=2.0 * 0.5865 + 1e-3).contains(&added), "twice the latency and up to a frame: {added}");
}

#[test]
fn a_long_flow_reaches_its_assignment() {
    for (max_rate, expected) in [("500 kbit/s", 500e3), ("2 Mbit/s", 2e6)] {
        let keys = REQUESTS.replace("\"560 ms\"", &format!("\"560 ms\", max_rate = \"{max_rate}\""));
        let flow = "tcp = { receive_buffer = \"2 MB\", rto = { initial = \"6 s\", syn = \"6 s\" } }";
        let result = run(&scenario(1, &keys, flow));
        let goodput = result.summary.flows[0].goodput_bps;
        // 1448 of 1500 bytes are payload, and it starts slowly.
        assert!((0.85..0.966).contains(&(goodput / expected)), "{max_rate}: {goodput}");
    }
}

/// Returns the fraction of a run in which a link transmits.
fn utilisation(result: &RunResult) -> f64 {
    result.summary.links[0].utilisation
}

#[test]
fn rain_takes_rate_and_the_seed_decides_when() {
    let flow = "tcp = { receive_buffer = \"4 MB\" }";
    let hashes = [1, 1, 2].map(|seed| hash(&scenario(seed, RAIN, flow)));
    assert_eq!(hashes[0], hashes[1]);
    assert_ne!(hashes[0], hashes[2]);
    let clear = run(&scenario(1, &RAIN.replace("mean = 1", "mean = -20"), flow));
    let rainy = run(&scenario(1, RAIN, flow));
    let [clear_goodput, rainy_goodput] = [&clear, &rainy].map(|result| result.summary.flows[0].goodput_bps);
    // 32APSK 3/4 at 1 MBd carries 3.703 Mbit/s.
    assert!((0.85..0.966).contains(&(clear_goodput / 3.703e6)), "{clear_goodput}");
    assert!(rainy_goodput < 0.9 * clear_goodput, "{rainy_goodput}");
    assert!(utilisation(&rainy) > 0.0);
}

#[test]
fn a_storm_is_an_outage() {
    let storm = RAIN.replace("mean = 1", "mean = 5").replace("deviation = 1.2", "deviation = 0.01");
    let result = run(&scenario(1, &storm, "transfer = \"1 MB\""));
    assert_eq!(result.summary.flows[0].delivered_bytes, 0);
    assert_eq!(result.summary.links[0].carried_bytes, 0, "nothing is sent");
}

#[test]
fn both_can_be_combined_with_jitter_and_losses() {
    let keys = format!("{REQUESTS}\n{RAIN}\njitter = \"5 ms\"\nloss = 0.01\nduplicate = 0.01");
    let result = run(&scenario(3, &keys, "tcp = { rto = { initial = \"6 s\", syn = \"6 s\" } }"));
    // The run itself checks that packets are conserved.
    assert!(result.summary.flows[0].delivered_bytes > 100_000);
}

#[test]
fn the_complete_forms_read_back() {
    for keys in [
        REQUESTS,
        RAIN,
        "on_demand = { latency = \"500 ms\", constant = \"64 kbit/s\", free = \"1 Mbit/s\", max_rate = \"1.5 Mbit/s\" }",
        "fade = { backward = { mean = 0, deviation = 0, clear_sky = \"10 dB\", symbol_rate = \"5 MBd\", margin = \"2 dB\", \
         hysteresis = \"0.5 dB\", loop_delay = \"600 ms\", step = \"1 s\" } }",
    ] {
        let scenario = parse_toml(&scenario(1, keys, ""), &[]).unwrap();
        assert_eq!(parse_json(&scenario.to_json().to_string(), &[]), Ok(scenario), "{keys}");
    }
}

#[test]
fn an_omitted_key_has_a_default() {
    let network = parse_toml(&scenario(1, &format!("{REQUESTS}\n{RAIN}"), ""), &[]).unwrap().expand().unwrap();
    let demand = network.links[0].on_demand.unwrap();
    assert_eq!((demand.frame, demand.most.as_bps()), (Duration::from_micros(26_500), 2_000_000));
    assert_eq!(network.links[1].on_demand, None);
    let weather = network.links[1].fade.as_ref().unwrap();
    assert_eq!((weather.link.loop_delay, weather.until), (Duration::from_millis(1_120), Duration::from_secs(300)));
    assert_eq!((weather.link.margin.value(), weather.link.hysteresis.value()), (1.0, 0.3));
}

#[test]
fn wrong_assignments_are_rejected() {
    for (keys, path, fragment) in [
        ("on_demand = { frame = \"26.5 ms\" }", "on_demand.latency", "is missing; specify the time"),
        ("on_demand = { latency = \"1 s\", frame = \"0 s\" }", "on_demand.frame", "the minimum duration of a frame"),
        (
            "on_demand = { latency = \"1 s\", max_rate = \"3 Mbit/s\" }",
            "on_demand.max_rate",
            "above the rate of the link",
        ),
        (
            "on_demand = { latency = \"1 s\", max_rate = \"1 Mbit/s\", constant = \"2 Mbit/s\" }",
            "on_demand.constant",
            "above max_rate, 1 Mbit/s",
        ),
        ("on_demand = { latency = \"1 s\", fre = \"1 Mbit/s\" }", "on_demand.fre", "did you mean \"free\"?"),
        ("on_demand = true", "on_demand", "is not a table"),
        (
            "on_demand = { latency = \"1 s\" }\ntrace = { file = \"x\", format = \"mahimahi\" }",
            "on_demand",
            "cannot be combined with a trace of deliveries",
        ),
        ("fade = { mean = 1 }", "fade.deviation", "is missing"),
        (
            "fade = { mean = 100, deviation = 1, clear_sky = \"9 dB\", symbol_rate = \"1 MBd\" }",
            "fade.mean",
            "from -50 to 10",
        ),
        (
            "fade = { mean = 1, deviation = -1, clear_sky = \"9 dB\", symbol_rate = \"1 MBd\" }",
            "fade.deviation",
            "from 0 to",
        ),
        (
            "fade = { mean = 1, deviation = 1, clear_sky = 9, symbol_rate = \"1 MBd\" }",
            "fade.clear_sky",
            "9 is not a ratio",
        ),
        (
            "fade = { mean = 1, deviation = 1, clear_sky = \"9 dB\", symbol_rate = \"0 Bd\" }",
            "fade.symbol_rate",
            "above zero",
        ),
        (
            "fade = { mean = 1, deviation = 1, clear_sky = \"9 dB\", symbol_rate = \"1 MBd\", margin = \"-1 dB\" }",
            "fade.margin",
            "is negative",
        ),
        (
            "fade = { mean = 1, deviation = 1, clear_sky = \"9 dB\", symbol_rate = \"1 MBd\" }\n\
             changes = [{ at = \"1 s\", delay = \"1 ms\" }]",
            "fade",
            "cannot be combined with changes or a trace",
        ),
    ] {
        let errors = parse_toml(&scenario(1, keys, ""), &[]).expect_err(keys);
        let first = &errors[0];
        assert_eq!(first.path, format!("links[0].{path}"), "{keys}: {errors:#?}");
        assert!(first.message.contains(fragment), "{keys}: {first}");
    }
    let steps = RAIN.replace("mean = 1", "step = \"1 ms\", mean = 1");
    let text = scenario(1, &steps, "").replace("\"300 s\"", "\"300 h\"");
    let errors = parse_toml(&text, &[]).unwrap().expand().unwrap_err();
    assert_eq!(errors[0].path, "links[0].fade.step");
    assert!(errors[0].message.contains("use a longer step"), "{errors:?}");
}

#[test]
fn round_trips_include_what_a_request_takes() {
    // 560 ms of propagation and as much for requests; 500 kbit/s · 1.12 s = 70 kB.
    let keys = REQUESTS.replace("\"560 ms\"", "\"560 ms\", max_rate = \"500 kbit/s\"");
    let text = scenario(1, &keys, "").replace("\"1000 packets\"", "\"1 bdp\"");
    let scenario = parse_toml(&text, &[]).unwrap();
    let network = scenario.expand().unwrap();
    assert_eq!(network.links[0].queue, QueueLimit::Bytes(70_000));
    // The first timeout of 1 s is too short for that.
    let warnings = scenario.warnings(&network);
    assert!(warnings.iter().any(|warning| warning.path.contains("rto")), "{warnings:#?}");
    // A constant assignment needs no request.
    let keys = keys.replace("latency", "constant = \"16 kbit/s\", latency");
    let text = self::scenario(1, &keys, "").replace("\"1000 packets\"", "\"1 bdp\"");
    assert_eq!(parse_toml(&text, &[]).unwrap().expand().unwrap().links[0].queue, QueueLimit::Bytes(35_000));
}
