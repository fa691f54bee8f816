//! Sensors, sinks and a satellite: the fate of every message, and its delay.

use crate::text::run;
use lightlag_scenario::parse_toml;
use lightlag_sim::RunResult;
use lightlag_sim::results::MessageSummary;
use proptest::prelude::*;

/// Returns a network of `sinks` sinks with `sensors` sensors each, whose satellite link has 1 Mbit/s and 270 ms.
fn network(sinks: u64, sensors: u64, more: &str) -> String {
    format!(
        "duration = \"60 s\"\n[topology]\nkind = \"iot\"\nsinks = {sinks}\nsensors = {sensors}\nrate = \"1 Mbit/s\"\n\
         delay = \"270 ms\"\n{more}\n[record]\ntrace = \"off\"\n"
    )
}

/// Returns the summary of the messages of each sink.
fn messages(result: &RunResult) -> Vec<MessageSummary> {
    result.summary.flows.iter().filter_map(|flow| flow.messages.as_deref().copied()).collect()
}

/// The delay consists of radio link, access link and satellite link, each with its transmission time: 128 B with UDP on
/// the radio link, then 152 B with TCP.
#[test]
fn an_idle_network_delays_a_message_by_its_links_alone() {
    let text = network(
        2,
        3,
        "sensor = { start = \"5 s\", traffic = { kind = \"periodic\", size = \"100 B\", \
        every = \"4 s\", first = { distribution = \"uniform\", min = \"0 s\", max = \"4 s\" }, stop = \"50 s\" } }",
    );
    let result = run(&text);
    let expected = (128.0 * 8.0 / 250e3 + 0.005) + (152.0 * 8.0 / 10e6 + 0.001) + (152.0 * 8.0 / 1e6 + 0.27);
    let all = messages(&result);
    assert_eq!(all.len(), 2);
    for sink in all {
        assert!((33..=36).contains(&sink.sent), "{sink:?}");
        assert_eq!((sink.lost, sink.dropped, sink.delivered), (0, 0, sink.sent));
        let mean = sink.mean_delay_s.unwrap();
        assert!((mean / expected - 1.0).abs() < 0.01, "{mean} s, {expected} s expected");
    }
    let sink = result.summary.flows.iter().find(|flow| flow.name == "sink1->server").unwrap();
    assert_eq!(sink.delivered_bytes, 100 * messages(&result)[0].sent);
}

/// All sensors of a sink send at the same time. The messages that fit into the buffer are delivered, and the others are
/// counted as dropped.
#[test]
fn an_alarm_fills_the_buffer_of_the_sink() {
    let alarm = "sensor = { traffic = { kind = \"burst\", messages = 1, size = \"100 B\", first = \"10 s\" } }\n\
                 flow = { traffic = { kind = \"collect\", buffer = \"2 kB\" } }";
    for sink in messages(&run(&network(3, 50, alarm))) {
        assert_eq!((sink.sent, sink.lost, sink.delivered, sink.dropped), (50, 0, 20, 30), "{sink:?}");
    }
}

#[test]
fn losses_in_the_radio_are_lost_and_those_on_the_satellite_are_repaired() {
    let poisson = "{ kind = \"poisson\", size = \"80 B\", every = \"1 s\", stop = \"50 s\" }";
    let radio = format!("radio = {{ loss = 0.2 }}\nsensor = {{ traffic = {poisson} }}");
    let satellite = format!("loss = 0.05\nsensor = {{ traffic = {poisson} }}");
    for sink in messages(&run(&network(2, 40, &radio))) {
        let share = sink.lost as f64 / sink.sent as f64;
        assert!((0.16..0.24).contains(&share), "{sink:?}");
        assert_eq!((sink.dropped, sink.delivered), (0, sink.sent - sink.lost));
    }
    let (clean, lossy) = (messages(&run(&network(2, 40, &format!("sensor = {{ traffic = {poisson} }}")))), satellite);
    for (sink, clean) in messages(&run(&network(2, 40, &lossy))).into_iter().zip(clean) {
        assert_eq!((sink.lost, sink.dropped, sink.delivered), (0, 0, sink.sent), "{sink:?}");
        // What follows a loss waits for its repair: order costs delay.
        assert!(sink.p95_delay_s.unwrap() > clean.p95_delay_s.unwrap() + 0.25, "{sink:?} {clean:?}");
    }
}

#[test]
fn a_sink_can_be_written_out() {
    let text = "duration = \"30 s\"\n[[links]]\nbetween = [\"sensor\", \"sink\"]\nrate = \"250 kbit/s\"\ndelay = \"5 ms\"\n\
                [[links]]\nbetween = [\"sink\", \"server\"]\nrate = \"1 Mbit/s\"\ndelay = \"300 ms\"\n\
                [[flows]]\nfrom = \"sensor\"\nto = \"sink\"\ntransport = \"udp\"\n\
                traffic = { kind = \"periodic\", size = \"50 B\", every = \"1 s\", stop = \"20 s\" }\n\
                [[flows]]\nname = \"up\"\nfrom = \"sink\"\nto = \"server\"\ntraffic = { kind = \"collect\" }\n";
    let [sink] = messages(&run(text))[..] else { panic!("one sink") };
    // The first message arrives while the connection is being opened, and waits for that.
    assert_eq!((sink.sent, sink.delivered), (20, 20));
    assert!(sink.p95_delay_s.unwrap() > 0.3);
}

#[test]
fn bad_sinks_are_rejected() {
    let good = network(1, 1, "flow = { traffic = { kind = \"collect\", buffer = \"2 kB\" } }");
    parse_toml(&good, &[]).expect("good");
    for (from, to, path, fragment) in [
        ("sinks = 1", "sinks = 0", "topology.sinks", "is not a whole number from 1"),
        ("sensors = 1", "", "topology.sensors", "is missing"),
        ("buffer = \"2 kB\"", "buffer = \"0 B\"", "topology.flow.traffic.buffer", "is not a size from 1 B"),
        ("flow = {", "sensor = { transport = \"tcp\" }\nflow = {", "topology.flow.traffic", "no message arrives there"),
        ("flow = {", "sensor = 3\nflow = {", "topology.sensor", "is not a table"),
        ("flow = {", "flow = { count = 2, ", "topology.flow.traffic", "where another flow already collects"),
        ("flow = {", "radio = { rat = \"1 Mbit/s\" }\nflow = {", "topology.radio.rat", "did you mean \"rate\"?"),
        ("flow = {", "flow = { transfer = \"1 MB\", ", "topology.flow.transfer", "remove it"),
        ("flow = {", "flow = { transport = \"udp\", ", "topology.flow.traffic.kind", "needs connections"),
    ] {
        assert_eq!(good.matches(from).count(), 1, "{from}");
        let text = good.replace(from, to);
        let errors = parse_toml(&text, &[]).expect_err(to);
        assert!(errors[0].path == path && errors[0].message.contains(fragment), "{to}: {errors:#?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Whatever is lost and however small the buffers are, every message is either lost, dropped, or delivered once and
    /// in order.
    #[test]
    fn every_message_has_one_fate(
        sinks in 1_u64..4,
        sensors in 1_u64..12,
        kind in prop::sample::select(vec!["poisson", "periodic"]),
        size in 1_u64..3_000,
        gap_ms in 20_u64..3_000,
        buffer in 100_u64..20_000,
        losses in (0_u32..200, 0_u32..100),
        seed in 1_u64..100_000,
    ) {
        let more = format!(
            "loss = {}\nradio = {{ loss = {} }}\n\
             sensor = {{ traffic = {{ kind = \"{kind}\", size = \"{size} B\", every = \"{gap_ms} ms\", stop = \"5 s\" }} }}\n\
             flow = {{ traffic = {{ kind = \"collect\", buffer = \"{buffer} B\" }} }}",
            f64::from(losses.1) / 1000.0,
            f64::from(losses.0) / 1000.0
        );
        let text = network(sinks, sensors, &more).replace("\"60 s\"", &format!("\"600 s\"\nseed = {seed}"));
        let result = run(&text);
        for (index, sink) in messages(&result).into_iter().enumerate() {
            prop_assert_eq!(sink.sent, sink.lost + sink.dropped + sink.delivered, "{:?}", sink);
            let flow = &result.summary.flows[(sinks * sensors) as usize + index];
            // Longer messages become several datagrams.
            prop_assert!(flow.delivered_bytes <= size * sink.delivered);
            prop_assert!(size > 1400 || flow.delivered_bytes == size * sink.delivered);
        }
        prop_assert_eq!(result.summary.result_hash, run(&text).summary.result_hash);
    }
}
