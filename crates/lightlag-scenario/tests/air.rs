//! Warnings about radio media, and what they refuse.

use lightlag_scenario::{Warning, parse_toml};

/// The warnings of a scenario.
fn warnings(text: &str) -> Vec<Warning> {
    let scenario = parse_toml(text, &[]).unwrap_or_else(|errors| panic!("{errors:#?}\nin\n{text}"));
    scenario.warnings(&scenario.expand().unwrap_or_else(|errors| panic!("{errors:#?}\nin\n{text}")))
}

/// Expects one warning, at `path`, that says all of `fragments`.
fn assert_warns(text: &str, path: &str, fragments: &[&str]) {
    let warnings = warnings(text);
    let [warning] = warnings.as_slice() else { panic!("one warning, not {warnings:#?}") };
    assert_eq!(warning.path, path, "{warning}");
    for fragment in fragments {
        assert!(warning.message.contains(fragment), "{warning} does not say {fragment:?}");
    }
}

/// Nodes in a row, with these keys of their medium and this distance of each to the one before it.
fn row(medium: &str, gaps: &[f64], rest: &str) -> String {
    let mut text = format!("duration = \"10 s\"\n[[media]]\n{medium}\n");
    let mut east = 0.0;
    for (at, gap) in std::iter::once(&0.0).chain(gaps).enumerate() {
        east += gap;
        text += &format!("[[nodes]]\nname = \"n{at}\"\nat = [\"{east} m\", \"0 m\", \"1 m\"]\n");
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
    // Log-distance loses 46.7 dB in the first metre and 30 dB in each factor of ten: 16 - 46.7 - 30 lg 48 = -81.1 dBm, 12.9 dB
    // above the noise.
    let text = row("", &[30.0, 300.0, 30.0, 300.0, 30.0], &flow(0, 1));
    assert_warns(
        &text,
        "media[0]",
        &["20 % of the pairs of its 6 nodes", "at 24 Mbit/s reach 48 m", "the nearest neighbour is 30 m away"],
    );
}

#[test]
fn ends_that_never_meet_say_why() {
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
fn datagrams_that_ask_for_more_than_the_time_there_is() {
    let udp = "transport = \"udp\"\ntraffic = { kind = \"constant\", rate = \"12 Mbit/s\", size = \"1000 B\" }\n";
    // 12 Mbit/s in 1000 B are 1500 packets a second of 0.36 ms of data, 0.05 ms of ACK and 0.11 ms before it: 0.8 s.
    assert_eq!(warnings(&row("", &[30.0; 2], &(flow(0, 1) + udp))), []);
    let text = row("", &[30.0; 2], &(flow(0, 1) + udp + &flow(2, 1) + udp));
    assert_warns(&text, "media[0]", &["1.6 s of airtime in each second", "over up to one hop", "6"]);
    let text = row("rate = \"6 Mbit/s\"", &[40.0; 2], &(flow(0, 2) + udp));
    assert_warns(&text, "media[0]", &["of airtime in each second", "2 hops at 6 Mbit/s"]);
}

#[test]
fn static_routes_over_hops_that_do_not_last() {
    // Half of the frames arrive at the end of the range, and all of them some metres before.
    let weak = "routing = \"static\"\nrate = \"54 Mbit/s\"\ndetection = \"-101 dBm\"";
    let text = row(weak, &[23.8], &flow(0, 1));
    assert_warns(&text, "flows[0]", &["has the hop n0->n1 with 2", "of the full frames at 54 Mbit/s are lost"]);
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
    let found = warnings(&text);
    assert!(
        found.iter().any(|warning| warning.message.starts_with("there is no way from n0 to n2 at the start")),
        "{found:#?}"
    );
}

#[test]
fn paths_that_jump_or_end_are_doubted() {
    let file = std::env::temp_dir().join(format!("lightlag-doubts-{}.csv", std::process::id()));
    std::fs::write(&file, "time,node,x,y,z\n0,n1,30,0,1\n1,n1,430,0,1\n2,n1,30,0,1\n").unwrap();
    let text = row("", &[30.0], &flow(0, 1))
        .replace("at = [\"30 m\", \"0 m\", \"1 m\"]", &format!("mobility = {{ model = \"trace\", file = {file:?} }}"));
    let found = warnings(&text);
    std::fs::remove_file(&file).unwrap();
    let messages: Vec<String> = found.iter().map(ToString::to_string).collect();
    let expected = [
        "nodes[1].mobility.file: node n1 flies at 400.0 m/s from 0 s on, faster than 340 m/s",
        "nodes[1].mobility.file: the path of node n1 ends at 2 s, before the run of 10 s; it stays at its last place",
    ];
    assert_eq!(messages, expected);
}
