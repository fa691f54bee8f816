//! Warnings and errors of scenarios with radio media.

use lightlag_core::params::Registered;
use lightlag_scenario::{ScenarioError, Warning, parse_toml};
use lightlag_wifi::class::Parameters;
use lightlag_wifi::rate::{Arf, RateControl};
use lightlag_wifi::{Class, Radio};

/// Returns the warnings of a scenario.
fn warnings(text: &str) -> Vec<Warning> {
    let scenario = parse_toml(text, &[]).unwrap_or_else(|errors| panic!("{errors:#?}\nin\n{text}"));
    scenario.warnings(&scenario.expand().unwrap_or_else(|errors| panic!("{errors:#?}\nin\n{text}")))
}

/// Asserts that there is exactly one warning, at `path`, that contains all of `fragments`.
fn assert_warns(text: &str, path: &str, fragments: &[&str]) {
    let warnings = warnings(text);
    let [warning] = warnings.as_slice() else { panic!("one warning, not {warnings:#?}") };
    assert_eq!(warning.path, path, "{warning}");
    for fragment in fragments {
        assert!(warning.message.contains(fragment), "{warning} does not contain {fragment:?}");
    }
}

/// Returns a scenario with nodes in a row, with these keys of their medium. `gaps` are the distances between adjacent
/// nodes.
fn row(medium: &str, gaps: &[f64], rest: &str) -> String {
    let mut text = format!("duration = \"10 s\"\n[[media]]\n{medium}\n");
    let mut east = 0.0;
    for (index, gap) in std::iter::once(&0.0).chain(gaps).enumerate() {
        east += gap;
        text += &format!("[[nodes]]\nname = \"n{index}\"\nat = [\"{east} m\", \"0 m\", \"1 m\"]\n");
    }
    text + rest
}

fn flow(from: usize, to: usize) -> String {
    format!("[[flows]]\nfrom = \"n{from}\"\nto = \"n{to}\"\n")
}

#[test]
fn a_row_in_which_neighbours_reach_each_other_has_none() {
    for routing in ["static", "oracle", "aodv", "olsr", "dsdv", "gpsr"] {
        let text = row(&format!("routing = {routing:?}"), &[30.0; 4], &flow(0, 4));
        assert_eq!(warnings(&text), [], "{routing}");
    }
}

#[test]
fn too_few_pairs_are_connected() {
    // Log-distance loses 46.7 dB in the first metre and 30 dB in each factor of ten: 16 - 46.7 - 30 lg 48 = -81.1 dBm,
    // 12.9 dB above the noise.
    let text = row("", &[30.0, 300.0, 30.0, 300.0, 30.0], &flow(0, 1));
    assert_warns(
        &text,
        "media[0]",
        &["20 % of the pairs of its 6 nodes", "at 24 Mbit/s reach 48 m", "the nearest neighbour is 30 m away"],
    );
}

#[test]
fn unconnected_endpoints_are_a_warning_with_a_reason() {
    let text = row("", &[30.0, 30.0, 300.0], &flow(0, 3));
    assert_warns(
        &text,
        "flows[0]",
        &["n0 and n3 are not connected at the start", "no nearer to each other than 360 m"],
    );
    let text = text.replace(
        "at = [\"360 m\", \"0 m\", \"1 m\"]",
        "mobility = { model = \"waypoints\", times = [[0, 360, 0, 1], [10, 160, 0, 1]] }",
    );
    assert_warns(&text, "flows[0]", &["at none of 50 times of the run", "than 164 m, at 9.8 s"]);
    let text = text.replace("[10, 160, 0, 1]", "[5, 90, 0, 1]");
    assert_eq!(warnings(&text), [], "they meet");
}

#[test]
fn broadcasts_that_reach_farther_than_data_mislead() {
    let medium = "detection = \"-101 dBm\"\nrate = \"54 Mbit/s\"\nrouting = \"aodv\"";
    let text = row(medium, &[20.0; 7], &flow(0, 1));
    assert_warns(
        &text,
        "media[0].routing",
        &["messages of aodv at 6 Mbit/s reach", "frames of data at 54 Mbit/s only", "set min_snr = \"2"],
    );
    for change in [
        text.replace("\"aodv\"", "\"oracle\""),
        text.replace("\"aodv\"", "{ protocol = \"aodv\", min_snr = \"25 dB\" }"),
        text.replace("routing", "broadcast_rate = \"54 Mbit/s\"\nrouting"),
    ] {
        assert_eq!(warnings(&change), [], "{change}");
    }
}

#[test]
fn datagrams_that_need_more_airtime_than_available() {
    let udp = "transport = \"udp\"\ntraffic = { kind = \"constant\", rate = \"12 Mbit/s\", size = \"1000 B\" }\n";
    // 12 Mbit/s in 1000 B are 1500 packets per second of 0.36 ms of data, 0.05 ms of ACK and 0.11 ms before it: 0.8 s.
    assert_eq!(warnings(&row("", &[30.0; 2], &(flow(0, 1) + udp))), []);
    let text = row("", &[30.0; 2], &(flow(0, 1) + udp + &flow(2, 1) + udp));
    assert_warns(&text, "media[0]", &["1.6 s of airtime per second", "over up to one hop", "6"]);
    let text = row("rate = \"6 Mbit/s\"", &[40.0; 2], &(flow(0, 2) + udp));
    assert_warns(&text, "media[0]", &["s of airtime per second", "2 hops at 6 Mbit/s"]);
}

#[test]
fn static_routes_over_hops_that_do_not_last() {
    // Half of the frames arrive at the end of the range, and all of them some metres before.
    let weak = "routing = \"static\"\nrate = \"54 Mbit/s\"\ndetection = \"-101 dBm\"";
    let text = row(weak, &[23.8], &flow(0, 1));
    assert_warns(&text, "flows[0]", &["has the hop n0->n1 with 2", "the full frames at 54 Mbit/s are lost"]);
    let near = row("routing = \"static\"", &[30.0, 30.0], &flow(0, 2));
    assert_eq!(warnings(&near), []);
    let leaves = |times: &str| {
        near.replace(
            "at = [\"60 m\", \"0 m\", \"1 m\"]",
            &format!("mobility = {{ model = \"waypoints\", times = {times} }}"),
        )
    };
    let text = leaves("[[0, 60, 0, 1], [5, 60, 0, 1], [6, 200, 0, 1]]");
    assert_warns(&text, "flows[0]", &["its static route breaks: n2 is out of the range of n1 at 5.2 s"]);
    let text = leaves("[[0, 200, 0, 1], [5, 60, 0, 1]]");
    let reported = warnings(&text);
    assert!(
        reported.iter().any(|warning| warning.message.starts_with("there is no path from n0 to n2 at the start")),
        "{reported:#?}"
    );
}

#[test]
fn paths_that_jump_or_end_are_doubted() {
    let file = std::env::temp_dir().join(format!("lightlag-doubts-{}.csv", std::process::id()));
    std::fs::write(&file, "time,node,x,y,z\n0,n1,30,0,1\n1,n1,430,0,1\n2,n1,30,0,1\n").unwrap();
    let text = row("", &[30.0], &flow(0, 1))
        .replace("at = [\"30 m\", \"0 m\", \"1 m\"]", &format!("mobility = {{ model = \"trace\", file = {file:?} }}"));
    let reported = warnings(&text);
    std::fs::remove_file(&file).unwrap();
    let messages: Vec<String> = reported.iter().map(ToString::to_string).collect();
    let expected = [
        "nodes[1].mobility.file: node n1 flies at 400.0 m/s starting at 0 s, faster than 340 m/s",
        "nodes[1].mobility.file: the path of node n1 ends at 2 s, before the run of 10 s; it stays at its last \
         position",
    ];
    assert_eq!(messages, expected);
}

#[test]
fn legacy_rates_never_aggregate() {
    let text = row("aggregation = 8000", &[30.0], &flow(0, 1));
    assert_warns(&text, "media[0].aggregation", &["frames at OfdmRate24Mbps are never aggregated"]);
    // Also where the length is the default one, of a standard that has no aggregates.
    let usual = text.replace("aggregation = 8000", "standard = \"802.11a\"\naggregation = 65535");
    assert_warns(&usual, "media[0].aggregation", &["frames at OfdmRate24Mbps are never aggregated"]);
    assert_eq!(warnings(&text.replace("8000", "0")), []);
    assert_eq!(warnings(&text.replace("aggregation = 8000", "aggregation = 8000\nrate = \"HtMcs3\"")), []);
}

/// A valid scenario; each case makes one change that is an error.
const SWARM: &str = r#"
duration = "10 s"

[topology]
kind = "swarm"
nodes = 8
area = ["200 m", "200 m", "50 m"]
placement = { kind = "grid", spacing = "20 m", height = "10 m" }
mobility = { model = "gauss-markov", alpha = 0.85 }
flows = 2

[topology.medium]
standard = "802.11n"
frequency = "5.18 GHz"
propagation = { model = "log-distance", exponent = 3 }
power = "20 dBm"
rate = "HtMcs3"
max_attempts = 7
rts_threshold = 2000
routing = { protocol = "aodv", ttl_start = 1 }
"#;

/// A valid scenario with a row of listed nodes.
const LISTED: &str = r#"
duration = "10 s"

[[media]]
name = "low"

[[media]]
name = "high"

[[nodes]]
name = "a"
media = ["low"]
at = ["0 m", "0 m", "1 m"]

[[nodes]]
name = "b"
media = ["low", "high"]
at = ["30 m", "0 m", "1 m"]

[[flows]]
from = "a"
to = "b"
"#;

fn errors(text: &str) -> Vec<ScenarioError> {
    parse_toml(text, &[]).and_then(|scenario| scenario.expand().map(drop)).expect_err(text)
}

/// Replaces a part of a valid scenario, and asserts that there is exactly one error, at `path`, whose message contains
/// `fragment`.
fn assert_refused(good: &str, cases: &[(&str, &str, &str, &str)]) {
    parse_toml(good, &[]).expect("good").expand().expect("good");
    for (part, instead, path, fragment) in cases {
        assert_eq!(good.matches(part).count(), 1, "{part:?} is once in the good scenario");
        let errors = errors(&good.replace(part, instead));
        let [error] = errors.as_slice() else { panic!("{instead:?}: one error, not {errors:#?}") };
        assert_eq!(error.path, *path, "{instead:?}: {error}");
        assert!(error.message.contains(fragment), "{instead:?}: {error} does not contain {fragment:?}");
    }
}

#[test]
fn wrong_media_are_rejected() {
    assert_refused(
        SWARM,
        &[
            ("exponent = 3", "exponent = 0", "topology.medium.propagation.exponent", "0 is not from 0.5 to 10"),
            ("exponent = 3", "exponent = -2", "topology.medium.propagation.exponent", "-2 is not from 0.5 to 10"),
            ("exponent = 3", "exponent = nan", "topology.medium.propagation.exponent", "is not a finite number"),
            ("power = \"20 dBm\"", "power = \"61 dBm\"", "topology.medium.power", "61 dBm"),
            ("power = \"20 dBm\"", "power = \"20 mW\"", "topology.medium.power", "is not a power such as"),
            ("power = \"20 dBm\"", "power = \"nan dBm\"", "topology.medium.power", "is not a power such as"),
            (
                "max_attempts = 7",
                "detection = \"-110 dBm\"",
                "topology.medium.detection",
                "\"-110 dBm\" is below the sensitivity; increase it, or reduce the sensitivity",
            ),
            (
                "max_attempts = 7",
                "energy_detection = \"-110 dBm\"",
                "topology.medium.energy_detection",
                "is below the sensitivity",
            ),
            (
                "max_attempts = 7",
                "carrier_sense = \"-110 dBm\"",
                "topology.medium.carrier_sense",
                "is below the sensitivity",
            ),
            ("\"802.11n\"", "\"802.11b\"", "topology.medium.standard", "is not a standard; write"),
            ("\"5.18 GHz\"", "\"3.6 GHz\"", "topology.medium.frequency", "is outside the 802.11 bands"),
            ("\"802.11n\"", "\"802.11ac\"", "topology.medium.rate", "needs standard = \"802.11n\""),
            ("\"802.11n\"", "\"802.11a\"", "topology.medium.rate", "or standard = \"802.11n\""),
            ("max_attempts = 7", "width = \"80 MHz\"", "topology.medium.width", "needs 802.11ac"),
            ("max_attempts = 7", "width = \"25 MHz\"", "topology.medium.width", "is not a width"),
            (
                "frequency = \"5.18 GHz\"",
                "frequency = \"2.412 GHz\"\nwidth = \"80 MHz\"",
                "topology.medium.width",
                "needs 802.11ac",
            ),
            ("max_attempts = 7", "streams = 5", "topology.medium.streams", "from 1 to 4"),
            ("\"HtMcs3\"", "\"HtMcs9\"", "topology.medium.rate", "the maximum is 7"),
            ("\"HtMcs3\"", "\"11 Mbit/s\"", "topology.medium.rate", "is not a rate such as"),
            (
                "max_attempts = 7",
                "broadcast_rate = \"fast\"",
                "topology.medium.broadcast_rate",
                "is not a rate such as",
            ),
            ("max_attempts = 7", "max_attempts = 0", "topology.medium.max_attempts", "from 1 to 255"),
            ("rts_threshold = 2000", "rts_threshold = -1", "topology.medium.rts_threshold", "-1 is not a whole number"),
            (
                "max_attempts = 7",
                "aggregation = -1",
                "topology.medium.aggregation",
                "-1 is not a number from 0 to 65535",
            ),
            ("max_attempts = 7", "edca = 3", "topology.medium.edca", "3 is not a table such as { voice = {"),
            ("max_attempts = 7", "edca.voices.cw_min = 3", "topology.medium.edca.voices", "did you mean \"voice\"?"),
            (
                "max_attempts = 7",
                "edca.voice.cwmin = 3",
                "topology.medium.edca.voice.cwmin",
                "did you mean \"cw_min\"?",
            ),
            (
                "max_attempts = 7",
                "edca.voice.cw_min = 0",
                "topology.medium.edca.voice.cw_min",
                "a contention window from 1",
            ),
            ("max_attempts = 7", "edca.voice.cw_min = 6", "topology.medium.edca.voice.cw_min", "write 7, or 3"),
            ("max_attempts = 7", "edca.video.cw_max = 3", "topology.medium.edca.video.cw_max", "3 is below cw_min = 7"),
            ("max_attempts = 7", "edca.voice.aifsn = 1", "topology.medium.edca.voice.aifsn", "1 is below 2"),
            ("max_attempts = 7", "edca.voice.aifsn = 16", "topology.medium.edca.voice.aifsn", "from 1 to 15"),
            (
                "max_attempts = 7",
                "edca.voice.txop = \"3 s\"",
                "topology.medium.edca.voice.txop",
                "3 s is above 2.09712 s",
            ),
            (
                "max_attempts = 7",
                "rate_control = \"minstrel\"",
                "topology.medium.rate_control",
                "did you mean \"minstrel-ht\"?",
            ),
            (
                "max_attempts = 7",
                "rate_control = { algorithm = \"arf\", successes = 0 }",
                "topology.medium.rate_control.successes",
                "from 1 to 1000",
            ),
            (
                "max_attempts = 7",
                "rate_control = { algorithm = \"ideal\", bit_errors = 0.7 }",
                "topology.medium.rate_control.bit_errors",
                "0.7 is not from",
            ),
            (
                "max_attempts = 7",
                "rate_control = { algorithm = \"minstrel-ht\", memory = 100 }",
                "topology.medium.rate_control.memory",
                "from 0 to 99",
            ),
            (
                "max_attempts = 7",
                "rate_control = { algorithm = \"minstrel-ht\", successes = 3 }",
                "topology.medium.rate_control.successes",
                "is not a key here; write one of algorithm, window, memory, sampling",
            ),
            ("ttl_start = 1", "ttl_start = 0", "topology.medium.routing.ttl_start", "from 1 to"),
            ("\"aodv\", ttl_start = 1", "\"rip\"", "topology.medium.routing.protocol", "is not a routing protocol"),
            ("max_attempts = 7", "elfn = \"on\"", "topology.medium.elfn", "is not true or false"),
            (
                "max_attempts = 7\nrts_threshold = 2000\nrouting = { protocol = \"aodv\", ttl_start = 1 }",
                "elfn = true\nrouting = \"olsr\"",
                "topology.medium.elfn",
                "needs routing = \"aodv\": olsr does not notify the source that its route broke",
            ),
        ],
    );
    let legacy = SWARM.replace("\"802.11n\"", "\"802.11a\"").replace("\"HtMcs3\"", "\"24 Mbit/s\"");
    assert_refused(
        &legacy,
        &[
            ("max_attempts = 7", "guard = \"short\"", "topology.medium.guard", "needs 802.11n or 802.11ac"),
            ("max_attempts = 7", "width = \"40 MHz\"", "topology.medium.width", "needs 802.11n or 802.11ac"),
            ("max_attempts = 7", "streams = 2", "topology.medium.streams", "needs 802.11n or 802.11ac"),
            ("max_attempts = 7", "edca.voice.cw_min = 1", "topology.medium.edca", "802.11a has no access classes"),
        ],
    );
    let wide = SWARM.replace("\"802.11n\"", "\"802.11ac\"").replace("\"HtMcs3\"", "\"VhtMcs8\"");
    assert_refused(
        &wide,
        &[(
            "\"VhtMcs8\"",
            "\"VhtMcs9\"",
            "topology.medium.rate",
            "does not exist at 20 MHz with one stream; use MCS 8",
        )],
    );
}

#[test]
fn wrong_swarms_are_rejected() {
    let mobility = "{ model = \"gauss-markov\", alpha = 0.85 }";
    assert_refused(
        SWARM,
        &[
            ("nodes = 8", "nodes = 0", "topology.nodes", "0 is not a whole number from 1"),
            ("nodes = 8", "nodes = 10001", "topology.nodes", "to 10000"),
            ("flows = 2", "flows = 57", "topology.flows", "57 flows are more than the 56 pairs of 8 nodes"),
            ("alpha = 0.85", "alpha = 1.1", "topology.mobility.alpha", "1.1 is not from 0 to 1"),
            ("alpha = 0.85", "alpha = -0.1", "topology.mobility.alpha", "-0.1 is not from 0 to 1"),
            ("alpha = 0.85", "time_step = \"0 s\"", "topology.mobility.time_step", "0 s is below"),
            (mobility, "\"brownian\"", "topology.mobility", "is not a model of mobility"),
            (mobility, "\"trace\"", "topology.mobility", "needs file"),
            (
                mobility,
                "{ model = \"random-waypoint\", speed_min = \"0 m/s\" }",
                "topology.mobility.speed_min",
                "is not from 0.001 m/s",
            ),
            (
                mobility,
                "{ model = \"random-waypoint\", speed_min = \"9 m/s\", speed_max = \"2 m/s\" }",
                "topology.mobility.speed_max",
                "is below",
            ),
            (
                "[\"200 m\", \"200 m\", \"50 m\"]",
                "[\"0 m\", \"200 m\", \"50 m\"]",
                "topology.area",
                "from 0 m to 0 m in x; the second number must be larger",
            ),
            (
                "[\"200 m\", \"200 m\", \"50 m\"]",
                "[\"200 m\", \"-1 m\", \"50 m\"]",
                "topology.area[1]",
                "-1 m is below 0 m",
            ),
            ("[\"200 m\", \"200 m\", \"50 m\"]", "[\"200 m\", \"200 m\"]", "topology.area", "three lengths"),
            ("spacing = \"20 m\"", "spacing = \"150 m\"", "topology.placement", "outside"),
        ],
    );
}

#[test]
fn wrong_nodes_are_rejected() {
    let position = "at = [\"0 m\", \"0 m\", \"1 m\"]";
    assert_refused(
        LISTED,
        &[
            ("media = [\"low\"]\n", "", "nodes[0].media", "there are several media: low, high"),
            ("media = [\"low\"]\n", "media = [\"middle\"]\n", "nodes[0].media[0]", "\"middle\" is not a medium"),
            (
                "media = [\"low\", \"high\"]",
                "media = [\"low\", \"low\"]",
                "nodes[1].media[1]",
                "already has a radio on \"low\"",
            ),
            (
                "name = \"high\"",
                "name = \"high\"\n[[media]]\nname = \"low\"",
                "media[2].name",
                "is already the name of another medium",
            ),
            ("[[flows]]", "[[nodes]]\nname = \"a\"\n[[flows]]", "nodes[2].name", "\"a\" already has a table"),
            (position, "", "nodes[0].at", "is missing; specify the coordinates"),
            (position, "at = [\"0 m\", \"0 m\"]", "nodes[0].at", "is not a list of three lengths"),
            (
                position,
                "at = [\"0 m\", \"0 m\", \"9 m\"]\narea = [\"5 m\", \"5 m\", \"5 m\"]",
                "nodes[0].at",
                "(0, 0, 9) m is outside the area",
            ),
            (
                position,
                &format!("{position}\nradio = {{ max_attempts = 0 }}"),
                "nodes[0].radio.max_attempts",
                "from 1 to 255",
            ),
            (
                position,
                &format!("{position}\nradio = {{ sensitivity = \"-80 dBm\", carrier_sense = \"-70 dBm\" }}"),
                "nodes[0].radio.detection",
                "\"-82 dBm\" is below the sensitivity",
            ),
            (
                position,
                &format!("{position}\nradio = {{ edca.video.aifsn = 1 }}"),
                "nodes[0].radio.edca.video.aifsn",
                "1 is below 2",
            ),
            (
                position,
                &format!("{position}\nradio = {{ rate_control = {{ algorithm = \"arf\", timer = 0 }} }}"),
                "nodes[0].radio.rate_control.timer",
                "from 1 to 1000",
            ),
            (
                position,
                &format!("{position}\nradio = {{ rate = \"VhtMcs1\" }}"),
                "nodes[0].radio.rate",
                "needs standard",
            ),
            ("from = \"a\"", "from = \"b\"", "flows[0].to", "\"b\""),
            ("media = [\"low\"]\n", "media = [\"high\"]\nmobility = \"fly\"\n", "nodes[0].mobility", "not a model of"),
        ],
    );
    // Each on a separate medium.
    let apart = LISTED.replace("media = [\"low\", \"high\"]", "media = [\"high\"]");
    let errors = errors(&apart);
    let [error] = errors.as_slice() else { panic!("{errors:#?}") };
    assert_eq!(error.path, "flows[0].to");
    assert!(error.message.contains("unreachable from \"a\""), "{error}");
}

#[test]
fn wrong_paths_are_rejected_with_their_line() {
    let file = std::env::temp_dir().join(format!("lightlag-paths-{}.csv", std::process::id()));
    let mobility = format!("mobility = {{ model = \"trace\", file = {file:?} }}");
    let text = LISTED.replace("at = [\"0 m\", \"0 m\", \"1 m\"]", &mobility);
    for (content, fragment) in [
        ("", "empty"),
        ("time,node,x,y,z\n", "no"),
        ("time,node,x,y\n0,a,0,0\n", "z"),
        ("time,node,x,y,z\n0,a,0,0,nan\n", "line 2"),
        ("time,node,x,y,z\n1,a,0,0,0\n0,a,1,0,0\n", "line 3"),
        ("time,node,x,y,z\n1,a,0,0,0\n1,a,1,0,0\n", "line 3"),
        ("time,node,x,y,z\n0,a,0,0,0\n1,a,1,0", "line 3"),
        ("time,node,x,y,z\n0,c,0,0,0\n0,d,0,0,0\n", "no path for \"a\""),
    ] {
        std::fs::write(&file, content).unwrap();
        let errors = errors(&text);
        let [error] = errors.as_slice() else { panic!("{content:?}: {errors:#?}") };
        assert_eq!(error.path, "nodes[0].mobility.file", "{error}");
        assert!(error.message.contains(fragment), "{content:?}: {error} does not contain {fragment:?}");
    }
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn wrong_code_points_are_rejected() {
    let good = LISTED.to_owned() + "dscp = \"EF\"\n";
    assert_refused(
        &good,
        &[
            ("dscp = \"EF\"", "dscp = \"AF44\"", "flows[0].dscp", "is not a code point; did you mean \"AF41\"?"),
            ("dscp = \"EF\"", "dscp = 64", "flows[0].dscp", "64 is not a code point; write a name such as \"EF\""),
            ("dscp = \"EF\"", "dscp = -1", "flows[0].dscp", "-1 is not a code point"),
            ("dscp = \"EF\"", "dscp = true", "flows[0].dscp", "true is not a code point"),
        ],
    );
}

#[test]
fn a_medium_has_a_kind() {
    let named = LISTED.replace("name = \"low\"", "name = \"low\"\nkind = \"wifi\"");
    assert_eq!(parse_toml(&named, &[]).unwrap(), parse_toml(LISTED, &[]).unwrap(), "the default");
    assert_refused(
        &named,
        &[
            (
                "kind = \"wifi\"",
                "kind = \"wify\"",
                "media[0].kind",
                "\"wify\" is not a kind of medium; did you mean \"wifi\"?",
            ),
            (
                "kind = \"wifi\"",
                "kind = \"dvb\"",
                "media[0].kind",
                "\"dvb\" is not a kind of medium; write one of wifi",
            ),
            ("kind = \"wifi\"", "kind = 3", "media[0].kind", "3 is not"),
        ],
    );
}

#[test]
fn a_radio_is_written_as_it_was_read() {
    let text = LISTED
        .replace(
            "name = \"low\"",
            "name = \"low\"\narp = \"ns3\"\nelfn = true\nrate_control = { algorithm = \"arf\", failures = 3 }\n\
             edca = { voice = { cw_min = 7, cw_max = 15 } }",
        )
        .replacen("at =", "radio = { rate_control = \"ideal\", edca = { video = { aifsn = 4 } } }\nat =", 1)
        + "dscp = 45\n";
    let scenario = parse_toml(&text, &[]).unwrap();
    let written = serde_json::to_string(&scenario).unwrap();
    assert_eq!(lightlag_scenario::parse_json(&written, &[]).unwrap(), scenario);
    let network = scenario.expand().unwrap();
    assert_eq!([0, 1].map(|at| network.media[at].elfn), [true, false]);
    let wifi = network.media[0].plan.wifi().unwrap();
    let [a, b] = [0, 1].map(|at| &wifi.stations[at].radio);
    let parameters = |radio: &Radio, class| {
        let Parameters { aifsn, cw_min, cw_max, .. } = radio.edca.of(class);
        (aifsn, cw_min, cw_max)
    };
    // The table of a node replaces the medium's.
    assert_eq!([a, b].map(|of| parameters(of, Class::Voice)), [(2, 3, 7), (2, 7, 15)]);
    assert_eq!([a, b].map(|of| parameters(of, Class::Video)), [(4, 7, 15), (2, 7, 15)]);
    assert_eq!(a.rate_control.name(), "ideal");
    assert_eq!(b.rate_control, RateControl::Arf(Arf { failures: 3, ..Arf::default() }));
    assert_eq!(network.flows[0].dscp.map(|dscp| dscp.number()), Some(45));
}

#[test]
fn a_standard_with_aggregates_at_a_rate_without_them_is_a_warning() {
    let named = row("standard = \"802.11n\"", &[30.0], &flow(0, 1));
    assert_warns(&named, "media[0].rate", &["frames at OfdmRate24Mbps are never aggregated", "set aggregation = 0"]);
    for fine in [
        "",
        "standard = \"802.11a\"",
        "standard = \"802.11n\"\naggregation = 0",
        "standard = \"802.11n\"\nrate = \"HtMcs0\"",
        "standard = \"802.11n\"\nrate_control = \"minstrel-ht\"",
    ] {
        assert_eq!(warnings(&row(fine, &[30.0], &flow(0, 1))), [], "{fine}");
    }
    let scenario = parse_toml(&named, &[]).unwrap();
    let written = serde_json::to_string(&scenario).unwrap();
    assert_eq!(lightlag_scenario::parse_json(&written, &[]).unwrap(), scenario, "the warning survives");
}

#[test]
fn warnings_read_the_rates_that_radios_choose() {
    // 54 Mbit/s reach 20 m; the slowest rate of Minstrel-HT gives the warned range, whatever `rate` is.
    let fixed = row("rate = \"54 Mbit/s\"", &[30.0], &flow(0, 1));
    assert!(warnings(&fixed).iter().any(|warning| warning.message.contains("54 Mbit/s")));
    let control = "rate = \"54 Mbit/s\"\nrate_control = \"minstrel-ht\"";
    assert_eq!(warnings(&row(control, &[30.0], &flow(0, 1))), []);
    let [few, ends] = &warnings(&row(control, &[300.0], &flow(0, 1)))[..] else { panic!("two warnings") };
    assert!(few.message.contains("HtMcs0 (the slowest rate of minstrel-ht) reach"), "{few}");
    assert!(ends.message.contains("HtMcs0 (the slowest rate of minstrel-ht) reaches"), "{ends}");
    // Datagrams ask for more than there is if they do at the fastest rate, 65 Mbit/s, with nothing around them.
    let datagrams = |mbps: u32| {
        let traffic = format!("transport = \"udp\"\ntraffic = {{ kind = \"constant\", rate = \"{mbps} Mbit/s\" }}");
        warnings(&row(control, &[10.0], &format!("{}{traffic}\n", flow(0, 1))))
    };
    assert_eq!(datagrams(55), []);
    let [much] = &datagrams(70)[..] else { panic!("one warning") };
    assert!(much.message.contains("HtMcs7 (the fastest rate of minstrel-ht)"), "{much}");
}
