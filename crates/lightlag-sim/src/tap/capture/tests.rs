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
fn files_are_named_after_capture_points() {
    let mut taken = BTreeSet::new();
    let names = ["ground", "Ground", "a->b", "über all/x", "..", "a-to-b"].map(|place| file_name(place, &mut taken));
    let expected =
        ["ground.pcapng", "Ground-2.pcapng", "a-to-b.pcapng", "über_all_x.pcapng", "_...pcapng", "a-to-b-2.pcapng"];
    assert_eq!(names, expected);
}
