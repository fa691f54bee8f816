//! Flows that cross a gateway. Their paths use media, links and the constellation.

use crate::text::run;
use lightlag_sim::RunResult;

/// Returns the paths of a flow, each with the time of its first use and its nodes. Asserts that the hop columns are
/// consistent.
fn ways<'a>(result: &'a RunResult, flow: &str) -> Vec<(f64, Vec<&'a str>)> {
    let flow = result.summary.flows.iter().position(|of| of.name == flow).unwrap() as u32;
    let paths = &result.paths;
    let (mut ways, names) = (Vec::<(f64, Vec<&str>)>::new(), result.node_names());
    for row in (0..paths.rows()).filter(|row| paths.flow[*row] == flow) {
        if paths.hop[row] == 0 {
            ways.push((paths.time_s[row], Vec::new()));
        }
        let (time, nodes) = ways.last_mut().unwrap();
        assert_eq!((*time, paths.hop[row]), (paths.time_s[row], nodes.len() as u32));
        nodes.push(names[paths.node[row] as usize]);
        assert!(nodes.len() as u32 <= paths.hops[row] + 1, "{nodes:?} has {} hops", paths.hops[row]);
    }
    ways
}

/// Returns the nodes of a flow's path. Asserts that the flow has only one.
fn only<'a>(result: &'a RunResult, flow: &str) -> Vec<&'a str> {
    let mut ways = ways(result, flow);
    assert_eq!(ways.len(), 1, "{ways:?}");
    ways.remove(0).1
}

/// Returns a node on a medium, `x` metres from the first node.
fn node(name: &str, medium: &str, x: u32) -> String {
    format!("[[nodes]]\nname = {name:?}\nmedia = {medium}\nat = [\"{x} m\", \"0 m\", \"10 m\"]\n")
}

fn medium(name: &str, routing: &str) -> String {
    format!("[[media]]\nname = {name:?}\nrate = \"24 Mbit/s\"\nbroadcast_rate = \"24 Mbit/s\"\nrouting = {routing:?}\n")
}

fn link(from: &str, to: &str) -> String {
    format!("[[links]]\nbetween = [{from:?}, {to:?}]\nrate = \"5 Mbit/s\"\ndelay = \"20 ms\"\nqueue = \"1 bdp\"\n")
}

fn flow(from: &str, to: &str, keys: &str) -> String {
    format!("[[flows]]\nfrom = {from:?}\nto = {to:?}\ntransfer = \"50 kB\"\n{keys}")
}

/// Returns a scenario with a scout, a relay and a gateway 40 m apart, and a server behind a router.
fn relief() -> String {
    let nodes = [("scout", 0), ("relay", 40), ("gateway", 80)].map(|(name, x)| node(name, "[\"air\"]", x)).concat();
    ["duration = \"20 s\"\n", &medium("air", "aodv"), &nodes, &link("gateway", "router"), &link("router", "server")]
        .concat()
}

const OUT: [&str; 5] = ["scout", "relay", "gateway", "router", "server"];

#[test]
fn a_flow_from_the_air_to_a_wire_has_its_complete_path() {
    let result = run(&[relief(), flow("scout", "server", "")].concat());
    assert_eq!(result.summary.flows[0].delivered_bytes, 50_000);
    assert_eq!(only(&result, "scout->server"), OUT);
    assert!(result.paths.hops.iter().all(|hops| *hops == 4));
}

#[test]
fn a_flow_from_a_wire_to_the_air_has_its_complete_path() {
    let datagrams =
        "transport = \"udp\"\ntraffic = { kind = \"constant\", rate = \"100 kbit/s\", size = \"1000 B\" }\n";
    for transport in ["", datagrams] {
        let result = run(&[relief(), flow("server", "scout", transport)].concat());
        assert_eq!(result.summary.flows[0].delivered_bytes, 50_000);
        assert_eq!(only(&result, "server->scout"), OUT.iter().rev().copied().collect::<Vec<_>>());
    }
}

#[test]
fn a_flow_through_two_media_has_its_complete_path() {
    let nodes = [
        node("a", "[\"low\"]", 0),
        node("up", "[\"low\"]", 40),
        node("down", "[\"high\"]", 0),
        node("b", "[\"high\"]", 40),
    ];
    let text = [
        "duration = \"20 s\"\n",
        &medium("low", "static"),
        &medium("high", "static"),
        &nodes.concat(),
        &link("up", "down"),
        &flow("a", "b", ""),
        &flow("b", "a", ""),
    ];
    let result = run(&text.concat());
    assert_eq!(only(&result, "a->b"), ["a", "up", "down", "b"]);
    assert_eq!(only(&result, "b->a"), ["b", "down", "up", "a"]);
    // A node on both media needs no link.
    let text = [
        "duration = \"20 s\"\n",
        &medium("low", "static"),
        &medium("high", "static"),
        &node("a", "[\"low\"]", 0),
        &node("both", "[\"low\", \"high\"]", 40),
        &node("b", "[\"high\"]", 80),
        &flow("a", "b", ""),
    ];
    assert_eq!(only(&run(&text.concat()), "a->b"), ["a", "both", "b"]);
}

#[test]
fn a_proxy_at_the_gateway_is_a_node_of_the_path() {
    let proxy = "[[proxies]]\nnode = \"gateway\"\nbuffer = \"1 MB\"\n";
    let result = run(&[&relief(), proxy, &flow("scout", "server", ""), &flow("server", "scout", "")].concat());
    assert_eq!(only(&result, "scout->server"), OUT);
    assert_eq!(only(&result, "server->scout"), OUT.iter().rev().copied().collect::<Vec<_>>());
}

#[test]
fn a_path_changes_with_its_relay() {
    // The first relay leaves after 5 s, when the second one arrives.
    let relay = |name: &str, places: &str| {
        format!("[[nodes]]\nname = {name:?}\nmobility = {{ model = \"waypoints\", times = {places} }}\n")
    };
    let text = [
        "duration = \"20 s\"\n",
        &medium("air", "oracle"),
        &node("scout", "[\"air\"]", 0),
        &relay("first", "[[0, 40, 0, 10], [5, 40, 0, 10], [6, 40, 300, 10]]"),
        &relay("second", "[[0, 40, 300, 10], [4, 40, 300, 10], [5, 40, 0, 10]]"),
        &node("gateway", "[\"air\"]", 80),
        &link("gateway", "server"),
        &flow("scout", "server", "").replace("50 kB", "20 MB"),
    ];
    let result = run(&text.concat());
    let ways = ways(&result, "scout->server");
    assert_eq!(ways.first().unwrap().1, ["scout", "first", "gateway", "server"]);
    let (since, last) = ways.last().unwrap();
    assert_eq!(last, &["scout", "second", "gateway", "server"]);
    assert!((4.0..7.0).contains(since), "{since} s");
}

#[test]
fn a_path_leads_from_the_air_over_satellites() {
    let text = [
        "duration = \"40 s\"\n",
        &medium("air", "static"),
        &node("scout", "[\"air\"]", 0),
        &node("gateway", "[\"air\"]", 40),
        &link("gateway", "London"),
        "[constellation]\nshells = [{ height = \"1200 km\", inclination = \"87.9 deg\", planes = 12, slots = 49, \
         phasing = 10, spread = \"180 deg\" }]\n[[stations]]\nname = \"London\"\n[[stations]]\nname = \"Paris\"\n",
        &flow("scout", "Paris", "").replace("50 kB", "100 MB"),
        &flow("Paris", "London", ""),
    ];
    let result = run(&text.concat());
    let (_, way) = &ways(&result, "scout->Paris")[0];
    assert_eq!(way[..3], ["scout", "gateway", "London"]);
    assert!(way.len() > 4 && *way.last().unwrap() == "Paris", "{way:?}");
    // The same satellites as for senders on the ground.
    let (_, beside) = &ways(&result, "Paris->London")[0];
    assert_eq!(beside.len(), way.len() - 2, "{beside:?} beside {way:?}");
    assert!(result.paths.time_s.is_sorted());
}
