//! Directory of an emulation: finds the device or host for which a packet is destined.
//!
//! The address of a host, or of the kernel on a device, identifies one edge. Other addresses belong to the device whose
//! network contains them; the longest prefix wins. A packet for any other address is sent to the first device if it
//! comes from a host, and to the other device if it comes from one of two devices.

use crate::packet;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Point where real packets enter and leave the simulated network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Edge {
    /// TUN device with this index.
    Device(usize),
    /// Simulated host with this index.
    Host(usize),
}

/// Address of a member of a network, and the length of the network's prefix in bits.
pub type Prefix = (IpAddr, u8);

/// Returns true if the two addresses are of the same IP version and share the first `bits` bits.
pub(crate) fn is_same_network(a: IpAddr, b: IpAddr, bits: u8) -> bool {
    let (a, b, width) = match (a, b) {
        (IpAddr::V4(a), IpAddr::V4(b)) => (u128::from(a.to_bits()), u128::from(b.to_bits()), 32),
        (IpAddr::V6(a), IpAddr::V6(b)) => (a.to_bits(), b.to_bits(), 128),
        _ => return false,
    };
    (a ^ b).checked_shr(width - u32::from(bits)).is_none_or(|different| different == 0)
}

/// Edges by address.
pub(super) struct Directory {
    edges: BTreeMap<IpAddr, Edge>,
    /// Networks of devices, longest prefix first.
    networks: Vec<(Prefix, usize)>,
    devices: usize,
}

impl Directory {
    /// Builds the directory. `devices` has the kernel's addresses on each device, `hosts` the address of each host.
    pub(super) fn new(devices: &[Vec<Prefix>], hosts: &[IpAddr]) -> Self {
        let mut networks: Vec<(Prefix, usize)> =
            devices.iter().enumerate().flat_map(|(device, list)| list.iter().map(move |one| (*one, device))).collect();
        networks.sort_by_key(|((_, bits), _)| std::cmp::Reverse(*bits));
        // If two devices have the same address, the first one counts.
        let kernel = networks.iter().rev().map(|((address, _), device)| (*address, Edge::Device(*device)));
        let hosts = hosts.iter().enumerate().map(|(host, address)| (*address, Edge::Host(host)));
        Self { edges: kernel.chain(hosts).collect(), networks, devices: devices.len() }
    }

    /// Returns the destination edge of a packet that entered at `from`; `None` if there is none.
    pub(super) fn find(&self, from: Edge, packet: &[u8]) -> Option<Edge> {
        let named = packet::destination(packet).and_then(|address| self.edge_of(address));
        named.filter(|to| *to != from).or(match (from, self.devices) {
            (Edge::Host(_), 1..) => Some(Edge::Device(0)),
            (Edge::Device(device), 2) => Some(Edge::Device(1 - device)),
            _ => None,
        })
    }

    fn edge_of(&self, destination: IpAddr) -> Option<Edge> {
        let contains = |((address, bits), _): &&(Prefix, usize)| is_same_network(*address, destination, *bits);
        let network = || self.networks.iter().find(contains).map(|(_, device)| Edge::Device(*device));
        self.edges.get(&destination).copied().or_else(network)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an IPv4 packet to this address, with only the fields that the directory reads.
    fn packet_for(address: &str) -> Vec<u8> {
        let IpAddr::V4(address) = address.parse().unwrap() else { panic!("the test uses IPv4") };
        let mut packet = vec![0; 20];
        packet[0] = 0x45;
        packet[16..].copy_from_slice(&address.octets());
        packet
    }

    fn prefix(text: &str) -> Prefix {
        let (address, bits) = text.split_once('/').unwrap();
        (address.parse().unwrap(), bits.parse().unwrap())
    }

    fn directory(devices: &[&str], hosts: &[&str]) -> Directory {
        let devices: Vec<_> = devices.iter().map(|text| vec![prefix(text)]).collect();
        Directory::new(&devices, &hosts.iter().map(|text| text.parse().unwrap()).collect::<Vec<_>>())
    }

    #[test]
    fn a_host_precedes_a_device_and_a_long_prefix_a_short_one() {
        let directory = directory(&["10.0.0.1/8", "10.9.0.1/24"], &["10.9.0.2", "10.9.0.3"]);
        let (a, b, first, second) = (Edge::Device(0), Edge::Device(1), Edge::Host(0), Edge::Host(1));
        for (from, address, to) in [
            (first, "10.9.0.3", second),
            (first, "10.9.0.7", b),
            (first, "10.8.0.7", a),
            (first, "10.0.0.1", a),
            (first, "192.0.2.1", a),
            (a, "10.9.0.2", first),
            (a, "10.9.0.1", b),
            (b, "10.9.0.3", second),
            (b, "10.8.0.7", a),
        ] {
            assert_eq!(directory.find(from, &packet_for(address)), Some(to), "{from:?} {address}");
        }
    }

    #[test]
    fn both_ends_of_one_network_are_distinguished_by_their_own_address() {
        let directory = directory(&["10.77.0.1/24", "10.77.0.2/24"], &["10.77.0.3"]);
        assert_eq!(directory.find(Edge::Host(0), &packet_for("10.77.0.1")), Some(Edge::Device(0)));
        assert_eq!(directory.find(Edge::Host(0), &packet_for("10.77.0.2")), Some(Edge::Device(1)));
    }

    #[test]
    fn two_devices_without_addresses_are_a_wire() {
        let directory = Directory::new(&[Vec::new(), Vec::new()], &[]);
        for packet in [packet_for("192.0.2.1"), vec![0x45], Vec::new()] {
            assert_eq!(directory.find(Edge::Device(0), &packet), Some(Edge::Device(1)));
            assert_eq!(directory.find(Edge::Device(1), &packet), Some(Edge::Device(0)));
        }
    }

    #[test]
    fn a_packet_of_the_only_device_for_no_host_has_no_edge() {
        let directory = directory(&["10.9.0.1/24"], &["10.9.0.2"]);
        assert_eq!(directory.find(Edge::Device(0), &packet_for("10.9.0.9")), None);
        // A packet of a host to itself goes to the device.
        assert_eq!(directory.find(Edge::Host(0), &packet_for("10.9.0.2")), Some(Edge::Device(0)));
    }

    #[test]
    fn a_prefix_of_zero_contains_every_address_of_its_family() {
        let [a, b, c, d] = ["1.2.3.4", "200.0.0.1", "fd00::1", "fd00::2"].map(|text| text.parse().unwrap());
        assert!(is_same_network(a, b, 0));
        assert!(!is_same_network(a, b, 32));
        assert!(is_same_network(c, d, 64));
        assert!(!is_same_network(a, c, 0));
    }
}
