//! Delays from orbits, and the generator of satellite networks.

use crate::text::run;
use lightlag_core::{Duration, Rate};
use lightlag_net::{Loss, QueueLimit};
use lightlag_scenario::{LinkDirection, Network, Scenario, Topology, parse_json, parse_toml};

fn scenario(text: &str) -> Scenario {
    parse_toml(text, &[]).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"))
}

fn network(text: &str) -> Network {
    scenario(text).expand().unwrap()
}

/// Returns a scenario with one link from a to b with this delay, and one flow.
fn link(delay: &str) -> String {
    format!(
        "duration = \"10 s\"\n[[links]]\nbetween = [\"a\", \"b\"]\nrate = \"10 Mbit/s\"\ndelay = {delay}\n\
         [[flows]]\nfrom = \"a\"\nto = \"b\"\n"
    )
}

/// Returns a scenario with a generated satellite network with these keys.
fn satellite(keys: &str) -> String {
    format!("duration = \"20 s\"\n[topology]\nkind = \"satellite\"\n{keys}\n")
}

const GEO: &str = r#"
pairs = 2
orbit = "geo"
elevation = ["40 deg", "25 deg"]
uplink = { rate = "20 Mbit/s", loss = 5e-4, queue = "100 packets" }
downlink = { rate = { forward = "30 Mbit/s", backward = "5 Mbit/s" }, loss = { forward = 1e-3 }, queue = "50 packets" }
"#;

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn named<'a>(network: &'a Network, name: &str) -> &'a LinkDirection {
    network.links.iter().find(|link| link.name == name).unwrap_or_else(|| panic!("no link {name}"))
}

#[test]
fn a_delay_is_a_time_a_distance_or_an_orbit() {
    for (delay, expected) in [
        ("\"300 ms\"", 300.0),
        ("{ distance = \"384400 km\" }", 1282.22),
        ("{ distance = \"0.5 au\" }", 249_502.4),
        ("{ orbit = \"geo\", elevation = \"40 deg\" }", 126.02),
        ("{ height = \"35786 km\", elevation = \"40 deg\" }", 126.02),
        ("{ orbit = \"35786 km\", elevation = \"40 deg\" }", 126.02),
        ("{ orbit = \"geo\", elevation = [\"40 deg\", \"25 deg\"], processing = \"5 ms\" }", 261.35),
        ("{ orbit = \"meo\", elevation = \"90 deg\" }", 26.89),
        ("{ orbit = \"leo-550\", satellites = 22 }", 6.58),
        ("{ orbit = \"leo-780\", satellites = 11 }", 13.45),
    ] {
        let links = network(&link(delay)).links;
        for direction in &links {
            assert!((ms(direction.delay) - expected).abs() < 0.02, "{delay}: {} ms", ms(direction.delay));
        }
        let one = scenario(&link(&format!("{{ forward = {delay}, backward = \"1 ms\" }}")));
        let links = one.expand().unwrap().links;
        assert!((ms(links[0].delay) - expected).abs() < 0.02 && links[1].delay == Duration::from_millis(1));
        assert_eq!(parse_json(&one.to_json().to_string(), &[]), Ok(one), "{delay}");
    }
}

#[test]
fn a_change_of_the_delay_may_be_an_orbit() {
    let changes = "changes = [{ at = \"1 s\", delay = { orbit = \"leo-550\", elevation = \"25 deg\" } }]";
    let text =
        link("{ orbit = \"leo-550\", elevation = \"90 deg\" }").replace("[[flows]]", &format!("{changes}\n[[flows]]"));
    let network = network(&text);
    let phases = network.links[0].timetable.as_ref().unwrap().phases();
    let delays: Vec<f64> = phases.iter().map(|phase| (ms(phase.delay) * 100.0).round() / 100.0).collect();
    assert_eq!(delays, [1.83, 3.75]);
}

#[test]
fn a_bent_pipe_has_no_queue_and_the_smaller_rate() {
    let network = network(&satellite(GEO));
    let names: Vec<&str> = network.links.iter().step_by(2).map(|link| link.name.as_str()).collect();
    let edges = ["client1->gateway-left", "gateway-right->server1", "client2->gateway-left", "gateway-right->server2"];
    assert_eq!(names[..2], ["gateway-left->satellite", "satellite->gateway-right"]);
    assert_eq!(names[2..], edges);
    let [up, relay_back, down, up_back, ..] = network.links.as_slice() else { panic!("four directions") };
    assert_eq!((up.rate, up_back.rate), (Rate::from_mbps(20), Rate::from_mbps(5)), "the smaller one of both hops");
    assert_eq!((up.queue, up_back.queue), (QueueLimit::Packets(100), QueueLimit::Packets(50)));
    for relay in [relay_back, down] {
        assert!(relay.rate.as_bps() >= 1_000_000_000_000, "bits leave as they come");
    }
    for (hop, expected) in [(up, 126.02), (relay_back, 126.02), (down, 130.33), (up_back, 130.33)] {
        assert!((ms(hop.delay) - expected).abs() < 0.01, "{}: {} ms", hop.name, ms(hop.delay));
    }
    let packet = |loss: &Loss| match loss {
        Loss::Packet(probability) => probability.value(),
        _ => 0.0,
    };
    let losses = [up, relay_back, down, up_back].map(|hop| packet(&hop.loss));
    assert_eq!(losses, [5e-4, 5e-4, 1e-3, 0.0], "each hop has its own, in each direction");
}

#[test]
fn a_regenerative_satellite_is_a_node_with_queues() {
    let text = satellite(&format!("{GEO}\npayload = \"regenerative\"\nprocessing = \"10 ms\""));
    let network = network(&text);
    let down = named(&network, "satellite->gateway-right");
    assert_eq!((down.rate, down.queue), (Rate::from_mbps(30), QueueLimit::Packets(50)));
    assert!((ms(down.delay) - 140.33).abs() < 0.01, "the processing delay of the satellite is included");
    assert_eq!(named(&network, "satellite->gateway-left").rate, Rate::from_mbps(20));
    assert!((ms(named(&network, "gateway-left->satellite").delay) - 126.02).abs() < 0.01);
}

#[test]
fn satellites_in_a_row_are_joined_by_links_of_their_own() {
    let isl = "isl = { rate = \"1 Gbit/s\", delay = { orbit = \"leo-550\", satellites = 22 } }";
    let keys = format!("{GEO}\npayload = \"regenerative\"\nsatellites = 3\nprocessing = \"1 ms\"\n{isl}");
    let network = network(&satellite(&keys.replace("\"geo\"", "\"leo-550\"")));
    for name in
        ["gateway-left->satellite1", "satellite1->satellite2", "satellite2->satellite3", "satellite3->gateway-right"]
    {
        let _ = named(&network, name);
    }
    assert!((ms(named(&network, "satellite2->satellite1").delay) - 7.58).abs() < 0.01);
    assert!((ms(named(&network, "satellite3->gateway-right").delay) - 4.75).abs() < 0.01);
}

#[test]
fn flows_on_the_ground_share_the_bottleneck() {
    let ground = r#"bottleneck = { rate = "10 Mbit/s", delay = "7.5 ms", queue = "50 packets" }
        access = { rate = "100 Mbit/s", delay = "2.5 ms" }
        terrestrial = { pairs = 3, rate = "100 Mbit/s", delay = "2.5 ms", last_delay = "7.5 ms" }"#;
    let text = satellite(&format!("{GEO}\n{ground}"));
    let whole = network(&text);
    let delays = [1, 2, 3].map(|pair| ms(named(&whole, &format!("terrestrial{pair}->gateway-right")).delay));
    assert_eq!(delays, [2.5, 5.0, 7.5]);
    assert_eq!(whole.flows.len(), 5, "one a pair");
    let shared = whole.links.iter().position(|link| link.name == "gateway-right->router").unwrap();
    for flow in &whole.flows {
        let way = whole.routes.at_start().path(flow.from, flow.to).unwrap();
        assert!(way.iter().any(|link| link.0 as usize == shared), "{} crosses the bottleneck", flow.name);
    }
    assert_eq!(scenario(&text).link_count() * 2, whole.links.len() as u64);
    assert_eq!(scenario(&text).flow_count(), 5);
}

#[test]
fn pairs_on_the_ground_may_have_flows_of_their_own() {
    let ground = r#"bottleneck = { rate = "10 Mbit/s", delay = "7.5 ms" }
        flow = { congestion = "hybla" }
        [topology.terrestrial]
        pairs = 2
        rate = "100 Mbit/s"
        delay = "2.5 ms"
        flow = { congestion = "newreno", start = "1 s", count = 2 }"#;
    let text = satellite(&format!("{GEO}\n{ground}"));
    let flows = |text: &str, sets: &[(String, String)]| -> Vec<(String, f64, String)> {
        let scenario = parse_toml(text, sets).unwrap();
        let network = scenario.expand().unwrap();
        assert_eq!(scenario.flow_count(), network.flows.len() as u64);
        assert_eq!(parse_json(&scenario.to_json().to_string(), &[]), Ok(scenario));
        let flow = |flow: &lightlag_scenario::Flow| {
            (flow.name.clone(), flow.start.as_secs_f64(), flow.tcp.congestion.name().to_owned())
        };
        network.flows.iter().map(flow).collect()
    };
    let four = flows(&text, &[]);
    assert_eq!(four.len(), 6);
    assert!(four[..2].iter().all(|(name, start, law)| name.starts_with("client") && *start == 0.0 && law == "hybla"));
    let (ground, law) = (&four[2..], "newreno");
    assert!(ground.iter().all(|(name, start, own)| name.starts_with("terrestrial") && *start == 1.0 && own == law));
    // A change of the one leaves the other.
    let set = [("topology.terrestrial.flow.congestion".to_owned(), "cubic".to_owned())];
    let laws: Vec<String> = flows(&text, &set).into_iter().map(|(.., law)| law).collect();
    assert_eq!(laws, ["hybla", "hybla", "cubic", "cubic", "cubic", "cubic"]);
}

#[test]
fn the_complete_form_of_a_satellite_reads_back() {
    let isl = "isl = { rate = \"1 Gbit/s\", delay = \"7 ms\" }\nsatellites = 2\npayload = \"regenerative\"";
    let ground = r#"bottleneck = { rate = "10 Mbit/s", delay = "7.5 ms" }
        terrestrial = { pairs = 3, rate = "100 Mbit/s", delay = "2.5 ms", last_delay = "7.5 ms" }"#;
    for keys in
        [GEO.to_owned(), format!("{GEO}\n{isl}"), format!("{GEO}\n{ground}"), format!("{GEO}\nflow = {{ count = 2 }}")]
    {
        let scenario = scenario(&satellite(&keys));
        assert!(matches!(scenario.topology, Some(Topology::Satellite(_))));
        assert_eq!(parse_json(&scenario.to_json().to_string(), &[]), Ok(scenario), "{keys}");
    }
}

#[test]
fn hops_may_set_their_own_delays() {
    // The satellite of CUBIC-INET: 100 ms per hop, errors on each, a clean gigabit to the gateway.
    let keys = r#"pairs = 4
        uplink = { rate = "100 Mbit/s", delay = "100 ms", loss = 5e-4, queue = "10000 packets" }
        downlink = { rate = "100 Mbit/s", delay = "100 ms", loss = 5e-4, queue = "10000 packets" }
        access = { rate = "1 Gbit/s", delay = "0 s" }
        flow = { transfer = "100 kB", start = "1.2 s" }"#;
    let result = run(&satellite(keys));
    for flow in &result.summary.flows {
        assert_eq!(flow.delivered_bytes, 100_000);
    }
}

/// A handshake and one segment take three one-way delays and the transmission times. A bent pipe adds no second
/// transmission time.
#[test]
fn a_bent_pipe_adds_no_transmission_time() {
    let time = |payload: &str| {
        let keys = format!(
            "pairs = 1\npayload = \"{payload}\"\nprocessing = \"3 ms\"\n\
             uplink = {{ rate = \"100 kbit/s\", delay = \"100 ms\" }}\n\
             downlink = {{ rate = \"100 kbit/s\", delay = \"150 ms\" }}\n\
             access = {{ rate = \"1 Gbit/s\", delay = \"0 s\" }}\nflow = {{ transfer = \"1000 B\" }}"
        );
        let result = run(&satellite(&keys));
        result.summary.flows[0].finish_s.expect("it finishes")
    };
    // SYN 60 B, SYN-ACK 60 B, ACK 52 B and 1052 B of data at 100 kbit/s, and 3 · 253 ms. A node sends all of them a
    // second time, except for the ACK, which is ahead of the data.
    let bytes = |bytes: f64| 8.0 * bytes / 100e3;
    let (once, twice) = (0.759 + bytes(1224.0), 0.759 + bytes(1224.0 + 1172.0));
    assert!((time("transparent") - once).abs() < 1e-4, "{}", time("transparent"));
    assert!((time("regenerative") - twice).abs() < 1e-4, "{}", time("regenerative"));
}

#[test]
fn a_bent_pipe_loses_on_both_hops() {
    let keys = "pairs = 1\nuplink = { rate = \"50 Mbit/s\", delay = \"5 ms\", loss = 0.02 }\n\
                downlink = { rate = \"50 Mbit/s\", delay = \"5 ms\", loss = 0.03 }";
    let result = run(&satellite(keys).replace("20 s", "120 s"));
    let dropped = |name: &str| result.summary.links.iter().find(|link| link.name == name).unwrap().dropped_error as f64;
    // The SYN and the ACK of the handshake are not counted: two packets of many thousands.
    let sent = result.summary.flows[0].sent_segments as f64;
    assert!(sent > 10_000.0, "{sent}");
    let (up, down) = (dropped("gateway-left->satellite"), dropped("satellite->gateway-right"));
    for (what, lost, sent, per) in [("uplink", up, sent, 0.02), ("downlink", down, sent - up, 0.03)] {
        let interval = 2.576 * (per * (1.0_f64 - per) / sent).sqrt();
        assert!((lost / sent - per).abs() < interval, "{what}: {lost} of {sent}");
    }
}

#[test]
fn a_bent_pipe_loses_arrivals_during_an_outage_of_its_downlink() {
    let keys = r#"pairs = 1
        uplink = { rate = "10 Mbit/s", delay = "5 ms" }
        access = { rate = "1 Gbit/s", delay = "1 ms" }
        flow = { transfer = "5 MB" }
        [topology.downlink]
        rate = "10 Mbit/s"
        delay = "5 ms"
        changes.forward = [{ at = "1 s", down = true, rate = "1 kbit/s" }, { at = "1500 ms", down = false }]"#;
    let network = network(&satellite(keys));
    let down = named(&network, "satellite->gateway-right").timetable.as_ref().unwrap();
    assert!(down.phases().iter().all(|phase| phase.rate.as_bps() > 1_000_000_000_000), "it has no rate of its own");
    let result = run(&satellite(keys));
    let links = &result.summary.links;
    let [relay, access] = ["satellite->gateway-right", "gateway-right->server1"]
        .map(|name| links.iter().find(|link| link.name == name).unwrap());
    assert!(relay.dropped_outage > 0 && relay.max_queue_packets <= 1, "nothing waits at the satellite: {relay:?}");
    assert_eq!((access.dropped_error, result.summary.flows[0].delivered_bytes), (0, 5_000_000));
}

/// If a handover shortens the path by more than the transmission time of three packets, later packets overtake earlier
/// ones. SACK then reports three segments above a segment that is only late, which looks like a loss. If packets stay
/// in order, there is no such effect, and RACK waits long enough.
#[test]
fn a_handover_to_a_shorter_path_looks_like_a_loss_where_packets_overtake() {
    let retransmitted = |overtakes: bool, recovery: &str| {
        let changes = r#"queue = "1 bdp"
            changes = [{ at = "5 s", delay = { orbit = "leo-550", elevation = "80 deg", processing = "15 ms" } }]"#;
        let delay = "{ orbit = \"leo-1200\", elevation = \"10 deg\", processing = \"15 ms\" }";
        let text = link(delay).replace("[[flows]]", &format!("{changes}\nreorder = {overtakes}\n[[flows]]"));
        let tcp = format!("tcp = {{ profile = \"rfc\", recovery = \"{recovery}\", receive_buffer = \"100 kB\" }}\n");
        run(&(text + &tcp)).summary.flows[0].retransmitted_segments
    };
    // 8.6 ms less: seven packets at 10 Mbit/s.
    assert_eq!(retransmitted(false, "sack"), 0);
    assert!(retransmitted(true, "sack") > 0);
    assert_eq!(retransmitted(true, "rack"), 0);
}

fn refused(text: &str) -> (String, String) {
    let errors = parse_toml(text, &[]).expect_err(text);
    let [error] = errors.as_slice() else { panic!("one error, not {errors:#?}\n{text}") };
    (error.path.clone(), error.message.clone())
}

#[test]
fn wrong_delays_are_rejected() {
    for (delay, path, fragment) in [
        ("{ orbit = \"geo\", elevation = \"-5 deg\" }", "elevation", "-5 deg is below the horizon"),
        ("{ orbit = \"geo\", elevation = \"95 deg\" }", "elevation", "beyond the zenith"),
        ("{ orbit = \"geo\", elevation = [\"40 deg\", \"-1 deg\"] }", "elevation[1]", "below the horizon"),
        ("{ orbit = \"geo\", elevation = [\"40 deg\"] }", "elevation", "one or two"),
        ("{ orbit = \"geo\", elevation = 40 }", "elevation", "40 is not an angle"),
        ("{ orbit = \"geo\" }", "elevation", "is missing; specify the elevation"),
        ("{ elevation = \"40 deg\" }", "orbit", "is missing; write geo"),
        ("{ orbit = \"goe\", elevation = \"40 deg\" }", "orbit", "did you mean \"geo\"?"),
        ("{ orbit = 550, elevation = \"40 deg\" }", "orbit", "550 is not an orbit"),
        ("{ height = \"35.786 km\", elevation = \"40 deg\" }", "height", "35.786 km is not a valid height of an orbit"),
        (
            "{ height = \"550 km\", orbit = \"geo\", elevation = \"40 deg\" }",
            "height",
            "cannot be combined with a named orbit",
        ),
        (
            "{ orbit = \"geo\", elevation = \"40 deg\", satellites = 3 }",
            "satellites",
            "cannot be combined with elevation",
        ),
        ("{ orbit = \"geo\", satellites = 1 }", "satellites", "from 2 to"),
        ("{ distance = \"1 km\", orbit = \"geo\", elevation = \"40 deg\" }", "", "both a distance and an orbit"),
        ("{ distance = \"9 parsec\" }", "distance", "is not a distance"),
        ("{ distance = \"9000 au\" }", "", "the maximum time"),
        ("{}", "", "neither"),
        ("{ distanz = \"1 km\" }", "distanz", "did you mean \"distance\"?"),
    ] {
        let (error_path, message) = refused(&link(delay));
        let expected = if path.is_empty() { "links[0].delay".to_owned() } else { format!("links[0].delay.{path}") };
        assert_eq!(error_path, expected, "{delay}: {message}");
        assert!(message.contains(fragment), "{delay}: {message}");
    }
}

#[test]
fn wrong_satellites_are_rejected() {
    for (line, instead, path, fragment) in [
        ("elevation = [\"40 deg\", \"25 deg\"]", "", "topology.elevation", "is missing; specify the elevation"),
        ("orbit = \"geo\"", "", "topology.orbit", "is missing; write geo"),
        ("[\"40 deg\", \"25 deg\"]", "\"-3 deg\"", "topology.elevation", "below the horizon"),
        ("pairs = 2", "pairs = 0", "topology.pairs", "from 1 to"),
        ("pairs = 2", "pairs = 2\npayload = \"bent\"", "topology.payload", "\"bent\" is not a payload"),
        ("pairs = 2", "pairs = 2\nsatellites = 2", "topology.isl", "is missing"),
        (
            "pairs = 2",
            "pairs = 2\nisl = { rate = \"1 Mbit/s\", delay = \"1 ms\" }",
            "topology.isl",
            "there is only one",
        ),
        (
            "pairs = 2",
            "pairs = 2\nsatellites = 2\nisl = { rate = \"1 Mbit/s\", delay = \"1 ms\" }",
            "topology.payload",
            "write payload = \"regenerative\"",
        ),
        (
            "pairs = 2",
            "pairs = 2\nterrestrial = { pairs = 1, rate = \"1 Mbit/s\", delay = \"1 ms\" }",
            "topology.bottleneck",
            "is missing",
        ),
        ("pairs = 2", "pairs = 2\nleaves = 2", "topology.leaves", "is not a key here"),
        ("rate = \"20 Mbit/s\", loss = 5e-4", "loss = 5e-4", "topology.uplink.rate", "is missing"),
        ("loss = 5e-4", "loss = 1.5", "topology.uplink.loss", "is not a probability"),
        ("loss = 5e-4", "trace = \"x.csv\"", "topology.uplink.trace", "{ forward = … }"),
    ] {
        assert_eq!(GEO.matches(line).count(), 1, "{line}");
        let (at, message) = refused(&satellite(&GEO.replace(line, instead)));
        assert_eq!(at, path, "{instead}: {message}");
        assert!(message.contains(fragment), "{instead}: {message}");
    }
    let (error_path, message) = refused(&satellite(
        "pairs = 1\nuplink = { rate = \"1 Mbit/s\" }\n\
        downlink = { rate = \"1 Mbit/s\", delay = \"1 ms\" }",
    ));
    assert_eq!((error_path.as_str(), message.contains("is missing")), ("topology.uplink.delay", true));
}
