use super::*;

#[test]
fn addresses_and_ports_belong_to_nodes_and_flows() {
    let [a, b] = [NodeId(0), NodeId(299)];
    let forward = addresses(IpVersion::V4, [a, b], FlowIndex(0));
    assert_eq!(forward.source, "10.0.0.1:49152".parse().unwrap());
    assert_eq!(forward.destination, "10.0.1.44:9".parse().unwrap());
    let v6 = addresses(IpVersion::V6, [a, b], FlowIndex(1));
    assert_eq!(v6.source, "[fd00::1]:49153".parse().unwrap());
    assert_eq!(v6.destination, "[fd00::12c]:9".parse().unwrap());
}

#[test]
fn no_two_flows_share_their_addresses() {
    let nodes = [NodeId(0), NodeId(1)];
    let addresses = |flow| addresses(IpVersion::V4, nodes, FlowIndex(flow));
    let ends: BTreeSet<Addresses> = (0..50_000).map(addresses).collect();
    assert_eq!(ends.len(), 50_000);
}

#[test]
fn a_client_that_moves_has_other_addresses_and_ports_than_its_own() {
    let at_start = quic_addresses(addresses(IpVersion::V4, [NodeId(0), NodeId(1)], FlowIndex(3)), Side::Client);
    assert_eq!(moved(at_start, Side::Client, 0, 0), at_start);
    let other = moved(at_start, Side::Client, 2, 1);
    // 49,155 - 16,384 + 997; 10.0.0.1 with 2 in the eleventh bit of its node's number.
    assert_eq!(other.source, "10.64.0.1:33768".parse().unwrap());
    assert_eq!(other.destination, at_start.destination);
    let ports: BTreeSet<u16> = (0..8).map(|port| moved(at_start, Side::Client, 0, port).source.port()).collect();
    assert_eq!(ports.len(), 8);
    let v6 = quic_addresses(addresses(IpVersion::V6, [NodeId(1), NodeId(0)], FlowIndex(0)), Side::Server);
    assert_eq!(moved(v6, Side::Server, 1, 0).destination.ip(), "fd00:0:0:1::1".parse::<IpAddr>().unwrap());
}

#[test]
fn files_are_named_after_capture_points() {
    let mut taken = BTreeSet::new();
    let names = ["ground", "Ground", "a->b", "über all/x", "..", "a-to-b"].map(|place| file_name(place, &mut taken));
    let expected =
        ["ground.pcapng", "Ground-2.pcapng", "a-to-b.pcapng", "über_all_x.pcapng", "_...pcapng", "a-to-b-2.pcapng"];
    assert_eq!(names, expected);
}
