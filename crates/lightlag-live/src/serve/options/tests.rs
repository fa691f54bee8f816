use super::*;

fn options(changes: &str) -> ServeOptions {
    let mut json: serde_json::Value = serde_json::from_str(
        r#"{"tun": "ho-0", "peer": "10.9.0.1/24", "seed": 1,
            "host": {"address": "10.9.0.2", "port": 5001, "role": "sink"}}"#,
    )
    .unwrap();
    let changes: serde_json::Value = serde_json::from_str(changes).unwrap();
    for (key, value) in changes.as_object().unwrap() {
        let of_device = ["peer", "mtu", "priority", "path", "at"].contains(&key.as_str());
        let table = if of_device { &mut json } else { &mut json["host"] };
        table[key] = value.clone();
    }
    serde_json::from_value(json).unwrap()
}

#[test]
fn fast_open_is_one_of_two_words() {
    assert!(!options("{}").resolve().unwrap().hosts[0].early);
    for (word, bare) in [("cookie", false), ("no-cookie", true)] {
        let config = options(&format!(r#"{{"fast_open": "{word}"}}"#)).resolve().unwrap().hosts.remove(0);
        let fast_open = config.host.fast_open;
        assert!(config.early && fast_open.client && fast_open.server && fast_open.all_listeners);
        assert_eq!((fast_open.client_without_cookie, fast_open.server_without_cookie), (bare, bare));
    }
    let refused = options(r#"{"fast_open": "yes"}"#).resolve().unwrap_err();
    assert_eq!(refused, "--fast-open \"yes\": is not cookie or no-cookie");
}

#[test]
fn a_host_takes_the_other_address_of_its_network() {
    let config = options(r#"{"tcp": {"congestion": "bbr"}}"#).resolve().unwrap();
    assert_eq!(config.tun.addresses, [("10.9.0.1".parse().unwrap(), 24)]);
    assert_eq!(config.hosts[0].host.tcp.congestion.name(), "bbr");
    assert!(matches!(config.hosts[0].action, Action::Listen { port: 5001, role: Role::Sink, connections: None }));
}

#[test]
fn what_cannot_be_is_named() {
    for (changes, expected) in [
        (r#"{"address": "10.9.0"}"#, "--address \"10.9.0\""),
        (r#"{"address": "0.0.0.0"}"#, "--address 0.0.0.0"),
        (r#"{"peer": "10.9.0.1"}"#, "--peer \"10.9.0.1\""),
        (r#"{"peer": "10.9.0.1/33"}"#, "--peer \"10.9.0.1/33\""),
        (r#"{"peer": "10.8.0.1/24"}"#, "--peer 10.8.0.1/24: --address 10.9.0.2 lies outside"),
        (r#"{"peer": "10.9.0.2/24"}"#, "--peer 10.9.0.2/24: --address is the same address"),
        (
            r#"{"port": null, "connect": "10.9.0.1:0"}"#,
            "10.9.0.1:0: nobody listens at port 0; write for example 10.9.0.1:5001",
        ),
        (r#"{"port": null, "connect": "10.9.0.2:5001"}"#, "10.9.0.2:5001: is the address of this host itself"),
        (r#"{"port": null, "connect": "0.0.0.0:5001"}"#, "0.0.0.0:5001: is not the address of one host"),
        (r#"{"port": 0}"#, "--port"),
        (r#"{"mtu": 60}"#, "--mtu 60"),
        (r#"{"max_connections": 0}"#, "--max-connections 0: a server needs"),
        (r#"{"max_memory": "1 MB"}"#, "--max-memory 1 MB: is below 16 MB"),
        (r#"{"stall_timeout": "0 s"}"#, "--stall-timeout 0 s"),
        (r#"{"tcp": {"mss": "1 B"}}"#, "--set mss"),
        (r#"{"tcp": {"route": "path"}}"#, "--set route: a host has no path"),
        (r#"{"port": null, "connect": "10.9.0.1"}"#, "\"10.9.0.1\""),
        (r#"{"port": null, "connect": "[fd00::1]:80"}"#, "[fd00::1]:80"),
        (r#"{"connect": "10.9.0.1:80"}"#, "--connect: a host that connects does not listen; leave --port out"),
        (r#"{"time": "3 s"}"#, "--time: only a client of iperf3 has it"),
        (r#"{"port": null, "connect": "10.9.0.1:80", "role": "iperf", "time": "0 s"}"#, "--time 0 s: is not above"),
        (r#"{"role": "send"}"#, "--send: is missing"),
        (r#"{"role": "send", "file": "/nowhere"}"#, "--file /nowhere"),
        (r#"{"role": "http", "http": "/nowhere"}"#, "--http /nowhere"),
    ] {
        let error = options(changes).resolve().err().unwrap_or_default();
        assert!(error.starts_with(expected), "{changes}: {error}");
    }
}

#[test]
fn a_prefix_of_zero_holds_everything() {
    assert!(same_network("1.2.3.4".parse().unwrap(), "200.0.0.1".parse().unwrap(), 0));
    assert!(!same_network("10.9.0.1".parse().unwrap(), "10.9.0.2".parse().unwrap(), 32));
    assert!(same_network("fd00::1".parse().unwrap(), "fd00::2".parse().unwrap(), 64));
}

/// Two hosts on a path, with these changes of the second.
fn two_hosts(changes: &str) -> Result<ServeConfig, String> {
    let path = r#"{"duration": "1 s", "links": [
        {"between": ["client", "router"], "rate": "8 Mbit/s", "delay": "1 ms"},
        {"between": ["server", "router"], "rate": "8 Mbit/s", "delay": "1 ms"},
        {"between": ["router", "outside"], "rate": "8 Mbit/s", "delay": "1 ms"}],
        "flows": [{"from": "client", "to": "outside"}]}"#;
    let mut json = serde_json::json!({
        "tun": "ho-0", "peer": "10.9.0.1/24", "seed": 1, "path": path, "at": "outside",
        "hosts": [
            {"node": "client", "address": "10.9.0.2", "connect": "10.9.0.1:5201", "role": "iperf", "time": "3 s"},
            {"node": "server", "address": "10.9.0.3", "port": 5201, "role": "iperf"},
        ],
    });
    let changes: serde_json::Value = serde_json::from_str(changes).unwrap();
    json["hosts"][1].as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    serde_json::from_value::<ServeOptions>(json).unwrap().resolve()
}

#[test]
fn hosts_of_a_file_stand_at_their_nodes() {
    let config = two_hosts("{}").unwrap();
    let test = Test { time: Duration::from_secs(3), reverse: false };
    assert!(matches!(&config.hosts[0].action, Action::Connect { role: Role::Test(known), .. } if *known == test));
    assert!(matches!(&config.hosts[1].action, Action::Listen { port: 5201, role: Role::Iperf, .. }));
    assert_ne!(config.hosts[0].host.seed, config.hosts[1].host.seed);
    assert!(config.path.is_some());
}

#[test]
fn keys_of_a_file_are_named_with_their_host() {
    for (changes, expected) in [
        (r#"{"address": "10.9.0.2"}"#, "hosts[1].address 10.9.0.2: another host has it already"),
        (r#"{"address": "10.8.0.3"}"#, "--peer 10.9.0.1/24: hosts[1].address 10.8.0.3 lies outside that network"),
        (r#"{"address": "10.9.0.1"}"#, "--peer 10.9.0.1/24: hosts[1].address is the same address"),
        (r#"{"address": "here"}"#, "hosts[1].address \"here\": is no IP address"),
        (r#"{"node": "x"}"#, "hosts[1].node: there is no node \"x\" in the scenario; there are client, router"),
        (r#"{"node": null}"#, "hosts[1].node: is missing"),
        (r#"{"node": "client"}"#, "hosts[1].node: \"client\" has a host already"),
        (r#"{"tcp": {"mss": "1 B"}}"#, "hosts[1].tcp.mss: "),
        (r#"{"prot": 80}"#, "hosts[1]: unknown field `prot`, expected one of"),
        (r#"{"port": null, "connect": "10.9.0.3:1"}"#, "hosts[1].connect 10.9.0.3:1: is the address of this host"),
    ] {
        let error = two_hosts(changes).err().unwrap_or_default();
        assert!(error.starts_with(expected), "{changes}: {error}");
    }
}

#[test]
fn a_send_buffer_of_tcp_is_that_of_the_sockets() {
    let config = options(r#"{"tcp": {"send_buffer": "64 kB"}}"#).resolve().unwrap();
    assert_eq!(config.hosts[0].host.send_buffer.most, Bytes(64_000));
    assert!(options("{}").resolve().unwrap().hosts[0].host.send_buffer.most > Bytes(4_000_000));
}
