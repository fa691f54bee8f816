//! Links that send packets in baseband frames.

use crate::text::run;
use lightlag_scenario::parse_toml;
use lightlag_sim::results::LinkSummary;
use lightlag_sim::{Control, Parallel, Simulation};

/// Returns a satellite link with these additional keys of its table `fade`, and a flow over it.
fn scenario(keys: &str, flow: &str) -> String {
    let hop = |between: &str, rate: &str, delay: &str, keys: &str| {
        format!("[[links]]\nbetween = [{between}]\nrate = \"{rate}\"\ndelay = \"{delay}\"\n{keys}\n")
    };
    let fade = format!(
        "fade = {{ forward = {{ mean = -2, deviation = 1.2, correlation_time = \"20 s\", clear_sky = \"12 dB\", symbol_rate \
         = \"5 MBd\", modcods = \"dvb-s2\"{keys} }} }}\nqueue = \"100 packets\""
    );
    String::from("duration = \"60 s\"\n")
        + &hop("\"a\", \"gateway\"", "1 Gbit/s", "5 ms", "")
        + &hop("\"gateway\", \"terminal\"", "15 Mbit/s", "250 ms", &fade)
        + &hop("\"terminal\", \"d\"", "1 Gbit/s", "1 ms", "")
        + "[[flows]]\nfrom = \"a\"\nto = \"d\"\n"
        + flow
}

const CLEAR: &str = ", offset = \"10 dB\"";

fn stream(rate: &str) -> String {
    format!("transport = \"udp\"\ntraffic = {{ kind = \"constant\", rate = \"{rate}\", size = \"1400 B\" }}\n")
}

/// Returns the forward direction of the satellite link.
fn forward(text: &str) -> LinkSummary {
    let summary = run(text).summary;
    summary.links.iter().find(|link| link.name == "gateway->terminal").unwrap().clone()
}

#[test]
fn a_saturated_link_is_full_of_packets_and_overhead() {
    let link = forward(&scenario(&format!("{CLEAR}, frames = {{}}"), &stream("40 Mbit/s")));
    // Rain above 10 dB does not occur in this run. 12 dB less a margin of 1 dB: 8PSK 9/10 needs 10.98 dB, 8PSK 8/9 is not
    // used, 16APSK 3/4 needs 10.21 dB and carries more: (48,408 − 80)/8 = 6,041 B in 16,290 symbols, 3.258 ms.
    let seconds = 60.0;
    let frames = seconds / (16_290.0 / 5e6);
    assert!((link.baseband_frames as f64 - frames).abs() < 5.0, "{} frames, not {frames}", link.baseband_frames);
    assert!(link.dummy_frames < 25 && link.padding_bytes < link.baseband_frames, "{link:?}");
    // Datagrams of 1,428 B with IP and UDP have 10 B more, and 10 B more if they are split, once per frame.
    let share = 6_031.0 / 1_438.0 * 10.0 + 10.0;
    let overhead = link.encapsulation_bytes as f64 / link.baseband_frames as f64;
    // One frame in a hundred ends with less than the 14 B of a first fragment, and splits none.
    assert!((overhead / share - 1.0).abs() < 0.01, "{overhead} B per frame, not {share} B");
    // The same link without frames carries the bits of the frames.
    let stream_link = forward(&scenario(CLEAR, &stream("40 Mbit/s")));
    let ratio = link.carried_bytes as f64 / stream_link.carried_bytes as f64;
    assert!((ratio - (1.0 - share / 6_041.0)).abs() < 1e-3, "{ratio}");
}

#[test]
fn frames_of_an_idle_link_are_dummies_and_padding() {
    let link = forward(&scenario(&format!("{CLEAR}, frames = {{ label = 0 }}"), &stream("100 kbit/s")));
    // 100 kbit/s are a datagram of 1,428 B each 112 ms, alone in its frame: 1,432 of 6,041 B. The last ones are in
    // transit.
    let count = link.baseband_frames;
    assert!((530..=537).contains(&count), "{count}");
    assert_eq!((link.encapsulation_bytes, link.padding_bytes), (4 * count, (6_041 - 1_432) * count));
    let symbols = count * 16_290 + link.dummy_frames * 3_330;
    assert!((300_000_000..300_003_330).contains(&symbols), "{symbols} symbols");
}

#[test]
fn results_do_not_depend_on_partitions() {
    for keys in [", frames = {}", ", frames = { label = 3, hold = \"10 ms\" }"] {
        for flow in [stream("6 Mbit/s"), String::from("congestion = \"cubic\"\n")] {
            let text = scenario(keys, &flow);
            let alone = run(&text).summary.result_hash;
            let scenario = parse_toml(&text, &[]).unwrap();
            let parallel = Parallel { lanes: 2, threads: 2, always: true };
            let result = Simulation::parallel(&scenario, None, parallel).unwrap().run(&mut |_| Control::Continue);
            assert_eq!(result.summary.result_hash, alone, "{text}");
        }
    }
}

#[test]
fn keys_that_do_not_fit_are_rejected() {
    let demand = "on_demand = { latency = \"500 ms\" }";
    for (keys, extra, path, fragment) in [
        ("label = 4", "", "fade.forward.frames.label", "write 0, 3 or 6"),
        ("labels = 3", "", "fade.forward.frames.labels", "did you mean \"label\"?"),
        ("", demand, "fade", "has frames, which cannot be combined with on_demand"),
        ("", "aggregate = { interval = \"1 ms\" }", "fade", "cannot be combined with aggregate"),
        ("", "fec = { data = 10, repair = 2 }", "fade", "cannot be combined with fec"),
    ] {
        let text = scenario(&format!(", frames = {{ {keys} }}"), &stream("1 Mbit/s"));
        let text = text.replace("queue = \"100 packets\"", extra);
        let errors = parse_toml(&text, &[]).expect_err(keys);
        assert_eq!(errors.len(), 1, "{keys}{extra}: {errors:#?}");
        assert_eq!(errors[0].path, format!("links[1].{path}"), "{keys}{extra}");
        assert!(errors[0].message.contains(fragment), "{keys}{extra}: {}", errors[0]);
    }
}
