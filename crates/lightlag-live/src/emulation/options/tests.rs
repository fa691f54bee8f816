use super::*;
use crate::serve::{HostTask, Role, TestRequest};
use lightlag_core::Bytes;

/// Returns options with one host, as from the command line, with `changes` applied to the options of the host or the
/// device.
fn options(changes: &str) -> EmulationOptions {
    let mut json: serde_json::Value = serde_json::from_str(
        r#"{"devices": [{"name": "ho-0", "addresses": ["10.9.0.1/24"]}], "seed": 1,
            "host": {"address": "10.9.0.2", "port": 5001, "role": "sink"}}"#,
    )
    .unwrap();
    let changes: serde_json::Value = serde_json::from_str(changes).unwrap();
    for (key, value) in changes.as_object().unwrap() {
        match key.as_str() {
            "peer" => json["devices"][0]["addresses"][0] = value.clone(),
            "mtu" | "priority" | "scenario" => json[key] = value.clone(),
            _ => json["host"][key] = value.clone(),
        }
    }
    serde_json::from_value(json).unwrap()
}

fn resolve(changes: &str) -> EmulationPlan {
    options(changes).resolve().unwrap()
}

fn error(options: &EmulationOptions) -> String {
    options.resolve().err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn fast_open_is_one_of_two_keywords() {
    assert!(!resolve("{}").hosts[0].early);
    for (word, bare) in [("cookie", false), ("no-cookie", true)] {
        let config = resolve(&format!(r#"{{"fast_open": "{word}"}}"#)).hosts.remove(0);
        let fast_open = config.host.fast_open;
        assert!(config.early && fast_open.client && fast_open.server && fast_open.all_listeners);
        assert_eq!((fast_open.client_without_cookie, fast_open.server_without_cookie), (bare, bare));
    }
    let refused = error(&options(r#"{"fast_open": "yes"}"#));
    assert_eq!(refused, "--fast-open \"yes\": is not cookie or no-cookie");
}

#[test]
fn a_host_takes_the_other_address_of_its_network() {
    let config = resolve(r#"{"tcp": {"congestion": "bbr"}}"#);
    assert_eq!(config.devices[0].addresses, [("10.9.0.1".parse().unwrap(), 24)]);
    assert_eq!(config.hosts[0].host.tcp.congestion.name(), "bbr");
    assert!(matches!(config.hosts[0].action, HostTask::Listen { port: 5001, role: Role::Sink, connections: None }));
}

#[test]
fn impossible_settings_are_named() {
    for (changes, expected) in [
        (r#"{"address": "10.9.0"}"#, "--address \"10.9.0\""),
        (r#"{"address": "0.0.0.0"}"#, "--address 0.0.0.0"),
        (r#"{"peer": "10.9.0.1"}"#, "--peer \"10.9.0.1\""),
        (r#"{"peer": "10.9.0.1/33"}"#, "--peer \"10.9.0.1/33\": a prefix has at most 32 bits"),
        (r#"{"peer": "10.8.0.1/24"}"#, "--peer 10.8.0.1/24: --address 10.9.0.2 is outside"),
        (r#"{"peer": "10.9.0.2/24"}"#, "--peer 10.9.0.2/24: --address is the same address"),
        (r#"{"port": null, "connect": "10.9.0.1:0"}"#, "10.9.0.1:0: 0 is not a port; give 1 to 65535"),
        (r#"{"port": null, "connect": "10.9.0.2:5001"}"#, "10.9.0.2:5001: is the address of this host itself"),
        (r#"{"port": null, "connect": "0.0.0.0:5001"}"#, "0.0.0.0:5001: is not the address of one host"),
        (r#"{"port": 0}"#, "--port: 0 is not a port; give 1 to 65535"),
        (r#"{"port": null}"#, "--port: is missing; give a port from 1 to 65535, or --connect a server"),
        (r#"{"address": null}"#, "--address: is missing; write one such as 10.9.0.2"),
        (r#"{"start": "1 s"}"#, "--start: a host that listens does so from the start; remove it"),
        (r#"{"mtu": 60}"#, "--mtu 60"),
        (r#"{"max_connections": 0}"#, "--max-connections 0: a server needs"),
        (r#"{"max_memory": "1 MB"}"#, "--max-memory 1 MB: is below 16 MB"),
        (r#"{"stall_timeout": "0 s"}"#, "--stall-timeout 0 s"),
        (r#"{"tcp": {"mss": "1 B"}}"#, "--set mss"),
        (r#"{"tcp": {"route": "path"}}"#, "--set route: a host has no path"),
        (r#"{"port": null, "connect": "10.9.0.1"}"#, "\"10.9.0.1\""),
        (r#"{"port": null, "connect": "[fd00::1]:80"}"#, "[fd00::1]:80"),
        (r#"{"connect": "10.9.0.1:80"}"#, "--connect: a host that connects does not listen; remove --port"),
        (r#"{"time": "3 s"}"#, "--time: only an iperf3 client has it"),
        (r#"{"port": null, "connect": "10.9.0.1:80", "role": "iperf", "time": "0 s"}"#, "--time 0 s: is not above"),
        (r#"{"role": "send"}"#, "--send: is missing"),
        (r#"{"role": "send", "file": "/nowhere"}"#, "--file /nowhere"),
        (r#"{"role": "http", "http": "/nowhere"}"#, "--http /nowhere"),
    ] {
        let error = error(&options(changes));
        assert!(error.starts_with(expected), "{changes}: {error}");
    }
}

/// Returns options with two hosts on a path, with `changes` applied to the second.
fn two_hosts(changes: &str) -> EmulationOptions {
    let path = r#"{"duration": "1 s", "links": [
        {"between": ["client", "router"], "rate": "8 Mbit/s", "delay": "1 ms"},
        {"between": ["server", "router"], "rate": "8 Mbit/s", "delay": "1 ms"},
        {"between": ["router", "outside"], "rate": "8 Mbit/s", "delay": "1 ms"}],
        "flows": [{"from": "client", "to": "outside"}]}"#;
    let mut json = serde_json::json!({
        "devices": [{"name": "ho-0", "addresses": ["10.9.0.1/24"], "node": "outside"}],
        "seed": 1,
        "scenario": path,
        "hosts": [
            {"node": "client", "address": "10.9.0.2", "connect": "10.9.0.1:5201", "role": "iperf", "time": "3 s"},
            {"node": "server", "address": "10.9.0.3", "port": 5201, "role": "iperf"},
        ],
    });
    let changes: serde_json::Value = serde_json::from_str(changes).unwrap();
    json["hosts"][1].as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    serde_json::from_value(json).unwrap()
}

#[test]
fn hosts_of_a_file_are_at_their_nodes() {
    let config = two_hosts(r#"{"port": null, "connect": "10.9.0.2:80", "start": "2 s"}"#).resolve().unwrap();
    let start = Duration::from_secs(2);
    assert!(matches!(&config.hosts[1].action, HostTask::Connect { start: known, .. } if *known == start));
    let config = two_hosts("{}").resolve().unwrap();
    let test = TestRequest { time: Duration::from_secs(3), reverse: false };
    assert!(matches!(&config.hosts[0].action, HostTask::Connect { role: Role::Test(known), .. } if *known == test));
    assert!(matches!(&config.hosts[1].action, HostTask::Listen { port: 5201, role: Role::Iperf, .. }));
    assert_ne!(config.hosts[0].host.seed, config.hosts[1].host.seed);
    assert_eq!(config.network.unwrap().host_nodes().collect::<Vec<_>>(), ["client", "server"]);
    assert_eq!(config.end, EmulationEnd::WithHosts);
}

#[test]
fn keys_of_a_file_are_named_with_their_host() {
    for (changes, expected) in [
        (r#"{"address": "10.9.0.2"}"#, "hosts[1].address 10.9.0.2: another host has it already"),
        (r#"{"address": "10.8.0.3"}"#, "--peer 10.9.0.1/24: hosts[1].address 10.8.0.3 is outside that network"),
        (r#"{"address": "10.9.0.1"}"#, "--peer 10.9.0.1/24: hosts[1].address is the same address"),
        (r#"{"address": "here"}"#, "hosts[1].address \"here\": is not an IP address"),
        (r#"{"node": "x"}"#, "hosts[1].node: there is no node \"x\" in the scenario; there are client, router"),
        (r#"{"node": null}"#, "hosts[1].node: is missing"),
        (r#"{"node": "client"}"#, "hosts[1].node: \"client\" already has a host"),
        (r#"{"tcp": {"mss": "1 B"}}"#, "hosts[1].tcp.mss: "),
        (r#"{"prot": 80}"#, "hosts[1].prot: unknown field `prot`, expected one of"),
        (r#"{"port": 0}"#, "hosts[1].port: 0 is not a port; give 1 to 65535"),
        (r#"{"port": 70000}"#, "hosts[1].port: 70000 is not a port; give 1 to 65535"),
        (r#"{"port": -1}"#, "hosts[1].port: -1 is not a port; give 1 to 65535"),
        (r#"{"port": null}"#, "hosts[1].port: is missing; give a port from 1 to 65535, or hosts[1].connect a server"),
        (r#"{"address": null}"#, "hosts[1].address: is missing"),
        (r#"{"start": "1 s"}"#, "hosts[1].start: a host that listens does so from the start; remove it"),
        (r#"{"start": "soon"}"#, "hosts[1].start: "),
        (r#"{"port": null, "connect": "10.9.0.1:0"}"#, "hosts[1].connect 10.9.0.1:0: 0 is not a port; give 1 to 65535"),
        (r#"{"port": null, "connect": "10.9.0.3:1"}"#, "hosts[1].connect 10.9.0.3:1: is the address of this host"),
    ] {
        let error = error(&two_hosts(changes));
        assert!(error.starts_with(expected), "{changes}: {error}");
    }
}

#[test]
fn the_send_buffer_of_tcp_applies_to_the_sockets() {
    let config = resolve(r#"{"tcp": {"send_buffer": "64 kB"}}"#);
    assert_eq!(config.hosts[0].host.send_buffer.most, Bytes(64_000));
    assert!(resolve("{}").hosts[0].host.send_buffer.most > Bytes(4_000_000));
}

#[test]
fn hosts_between_two_devices_are_in_the_network_of_one_of_them() {
    let mut options = two_hosts("{}");
    let device = |name: &str, address: &str, node: &str| DeviceOptions {
        name: name.to_owned(),
        namespace: None,
        addresses: vec![address.to_owned()],
        node: Some(node.to_owned()),
    };
    options.devices = vec![device("tunA", "10.9.0.1/24", "outside"), device("tunB", "10.8.0.1/24", "router")];
    let plan = options.resolve().unwrap();
    assert_eq!((plan.devices.len(), plan.end), (2, EmulationEnd::Never));
    options.duration = Some(Duration::from_secs(3));
    assert_eq!(options.resolve().unwrap().end, EmulationEnd::After(Duration::from_secs(3)));
    for (address, expected) in [
        ("10.7.0.3", "--address 10.9.0.1/24 10.8.0.1/24: hosts[1].address 10.7.0.3 is outside those networks"),
        ("10.8.0.1", "--address 10.9.0.1/24 10.8.0.1/24: hosts[1].address is the same address"),
    ] {
        options.hosts[1]["address"] = address.into();
        let error = error(&options);
        assert!(error.starts_with(expected), "{error}");
    }
    options.hosts.clear();
    assert!(options.resolve().unwrap().hosts.is_empty());
    options.scenario = None;
    assert!(error(&options).starts_with("--hosts: hosts are attached to nodes of a scenario"));
}
