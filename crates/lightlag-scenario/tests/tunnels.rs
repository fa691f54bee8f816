//! Tunnels in scenarios: what they carry, and errors with path, value and fix.

use lightlag_scenario::{Network, parse_json, parse_toml};

const GOOD: &str = r#"
duration = "60 s"

[[links]]
between = ["terminal", "gateway"]
rate = "10 Mbit/s"
delay = "300 ms"

[[links]]
between = ["gateway", "server"]
rate = "1 Gbit/s"
delay = "1 ms"

[[links]]
between = ["gateway", "aside"]
rate = "1 Gbit/s"
delay = "1 ms"

[[flows]]
name = "page"
from = "server"
to = "terminal"
transport = "quic"
transfer = "1 MB"

[[flows]]
name = "file"
from = "terminal"
to = "server"
transfer = "1 MB"
tcp = { mss = "1300 B" }

[[tunnels]]
between = ["terminal", "gateway"]
"#;

fn network(text: &str) -> Network {
    let scenario = parse_toml(text, &[]).unwrap_or_else(|errors| panic!("{errors:#?}"));
    scenario.expand().unwrap_or_else(|errors| panic!("{errors:#?}\nin\n{text}"))
}

/// Returns the path and the message of each error.
fn errors(text: &str) -> Vec<(String, String)> {
    let all = match parse_toml(text, &[]) {
        Ok(scenario) => scenario.expand().map_or_else(|errors| errors, |_| panic!("no error in\n{text}")),
        Err(errors) => errors,
    };
    all.iter().map(|error| (error.path.clone(), error.message.clone())).collect()
}

#[test]
fn a_tunnel_has_a_connection_after_all_flows() {
    let network = network(GOOD);
    assert_eq!((network.flows.len(), network.own_flows().len()), (3, 2));
    let connection = &network.flows[2];
    assert_eq!((connection.name.as_str(), connection.part.is_tunnel()), ("tunnel terminal-gateway", true));
    let quic = connection.quic.as_ref().unwrap();
    // 1500 B less the headers of IPv4 and UDP.
    assert_eq!((quic.sender.datagram, quic.receiver.max_datagram_frame), (1_472, u16::MAX));
    assert!(quic.sender.keep_alive.is_some());
    let [tunnel] = &network.tunnels[..] else { panic!("one tunnel") };
    assert_eq!((tunnel.flow, &tunnel.headers[..]), (2, &[Some(2), Some(2), None][..]));
}

#[test]
fn keys_survive_writing_and_reading() {
    let keys = "payload = \"udp\"\nflows = [\"page\"]\nqueue = \"20 packets\"\nstart = \"2 s\"\n\
                quic = { datagram = \"1400 B\", congestion = \"bbr\" }\n";
    let scenario = parse_toml(&format!("{GOOD}{keys}"), &[]).unwrap();
    let written = serde_json::to_string(&scenario.written()).unwrap();
    let again = parse_json(&written, &[]).unwrap();
    assert_eq!(scenario.tunnels, again.tunnels);
    assert_eq!(serde_json::to_string(&again.written()).unwrap(), written);
    let network = scenario.expand().unwrap();
    assert_eq!(network.tunnels[0].headers, [Some(2), None, None]);
}

#[test]
fn a_search_for_the_mtu_starts_below_its_end() {
    let network = network(&format!("{GOOD}quic = {{ profile = \"quinn\" }}\n"));
    let quic = network.flows[2].quic.as_ref().unwrap();
    assert_eq!(quic.sender.datagram, 1_452);
}

#[test]
fn each_invalid_value_has_one_error_with_a_path_and_a_fix() {
    let second = "[[tunnels]]\nbetween = [\"gateway\", \"terminal\"]\n";
    let cases = [
        (
            "between = [\"terminal\", \"gateway\"]\n",
            "between = [\"terminal\", \"gatewy\"]\n",
            "between[1]",
            "mean \"gateway\"?",
        ),
        (
            "between = [\"terminal\", \"gateway\"]\n",
            "between = [\"gateway\", \"gateway\"]\n",
            "between",
            "is both ends of",
        ),
        (
            "between = [\"terminal\", \"gateway\"]\n",
            "between = [\"gateway\", \"aside\"]\n",
            "between",
            "no flow passes",
        ),
        ("between = [\"terminal\", \"gateway\"]\n", "", "between", "is missing; name the client and the server"),
        (
            "between = [\"terminal\", \"gateway\"]\n",
            "between = [\"terminal\"]\n",
            "between",
            "needs two nodes, and has 1; name the client",
        ),
        ("", "flows = [\"pag\"]\n", "flows[0]", "mean \"page\"?"),
        ("", "flows = []\n", "flows", "names no flow"),
        ("", "payload = \"tcp\"\n", "payload", "is not the contents of a tunnel"),
        ("", "payload = \"udp\"\nflows = [\"file\"]\n", "flows[0]", "uses TCP, and payload = \"udp\" carries only"),
        ("", "queue = \"1 bdp\"\n", "queue", "no rate of its own; write a number of packets"),
        ("", "queue = \"0 packets\"\n", "queue", "at least 1 packet"),
        (
            "",
            "quic = { datagram = \"1250 B\" }\n",
            "quic.datagram",
            "leaves 1.216 kB for a packet of the QUIC flow \"page\"",
        ),
        ("", "quic = { datagram = \"1100 B\" }\n", "quic.datagram", "1100 B"),
        ("", "size = \"1 B\"\n", "size", "size"),
    ];
    for (from, to, key, part) in cases {
        let text = if from.is_empty() {
            format!("{GOOD}{to}")
        } else {
            GOOD.replacen(&format!("[[tunnels]]\n{from}"), &format!("[[tunnels]]\n{to}"), 1)
        };
        let found = errors(&text);
        assert_eq!(found.len(), 1, "{to}: {found:?}");
        assert_eq!(found[0].0, format!("tunnels[0].{key}"), "{to}: {found:?}");
        assert!(found[0].1.contains(part), "{to}: {found:?}");
    }
    let found = errors(&format!("{GOOD}{second}"));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, "tunnels[1].between");
    assert!(found[0].1.contains("tunnels[0] already connects \"gateway\" and \"terminal\"; remove one"), "{found:?}");
    let longer = "[[tunnels]]\nbetween = [\"terminal\", \"server\"]\n";
    let found = errors(&format!("{GOOD}{longer}"));
    assert!(found.len() == 1 && found[0].1.contains("starts at \"terminal\" and leads the same way"), "{found:?}");
}

#[test]
fn the_links_between_the_ends_must_pass_the_packets() {
    let narrow = |mtu: &str| GOOD.replacen("delay = \"300 ms\"", &format!("delay = \"300 ms\"\nmtu = \"{mtu}\""), 1);
    let found = errors(&narrow("1400 B"));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, "tunnels[0].quic.datagram");
    assert!(found[0].1.contains("packets of 1.5 kB are above the mtu of 1.4 kB of terminal->gateway"), "{found:?}");
    assert!(found[0].1.contains("write at most 1.372 kB"), "{found:?}");
    network(&format!("{}quic = {{ datagram = \"1372 B\" }}\n", narrow("1400 B")));
    let found = errors(&narrow("1000 B"));
    assert!(
        found.iter().any(|(_, message)| message.contains("QUIC needs 1.228 kB (RFC 9000 §14); raise the mtu")),
        "{found:?}"
    );
}

#[test]
fn unsupported_features_are_named() {
    let follow = GOOD.replacen("[[links]]", "routing = \"follow links\"\n[[links]]", 1);
    let found = errors(&follow);
    assert!(found.len() == 1 && found[0].0 == "tunnels" && found[0].1.contains("routing: the path"), "{found:?}");
    let proxy = "[[proxies]]\nnode = \"gateway\"\nkind = \"quic\"\nbuffer = \"1 MB\"\n";
    let around = GOOD.replacen(
        "[[tunnels]]\nbetween = [\"terminal\", \"gateway\"]",
        "[[tunnels]]\nbetween = [\"terminal\", \"server\"]",
        1,
    );
    let found = errors(&format!("{around}{proxy}"));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].1.contains("proxies[0] at \"gateway\" splits the flow \"page\" between the ends"), "{found:?}");
}
