//! Networks of agents on an ideal medium.

use super::*;
use crate::model::Model;
use crate::testbed::{Bed, Graph, PacketEnd, at, wifi};
use crate::{Identity, Kind};
use lightlag_core::{Duration, RandomStream};
use lightlag_mobility::Vector;
use lightlag_net::NodeId;

fn bed(graph: Graph, config: Config, seed: u64) -> Bed {
    let agent = |node: u32| config.build(&Identity { node: NodeId(node), name: &format!("n{node}"), seed });
    let agents = (0..graph.nodes()).map(agent).collect();
    Bed::new(graph, agents, wifi)
}

fn placed(coordinates: &[(f64, f64)], range: f64) -> Graph {
    let mut graph = Graph::new(coordinates.len());
    for (position, (x, y)) in graph.positions.iter_mut().zip(coordinates) {
        *position = Vector::new(*x, *y, 0.0);
    }
    graph.join_within(range);
    graph
}

/// A void between node 0 and node 6, with a path around it to the left, and a dead end, node 7, to the right. Edges
/// reach 50 m.
const VOID: [(f64, f64); 8] =
    [(0.0, 0.0), (-20.0, 40.0), (-5.0, 85.0), (40.0, 100.0), (80.0, 85.0), (100.0, 45.0), (100.0, 0.0), (-20.0, -40.0)];

fn nodes(list: &[u32]) -> Vec<NodeId> {
    list.iter().copied().map(NodeId).collect()
}

#[test]
fn a_packet_goes_around_a_void_by_the_right_hand_rule() {
    let mut bed = bed(placed(&VOID, 50.0), Config::default(), 1);
    bed.run(at(3.0));
    let packet = bed.send(0, 6);
    bed.run(at(3.1));
    // 100 m from the destination node 0 has no better neighbour. Counter-clockwise from the line to the destination the
    // first edge leads to 1. At 4, 87 m away, greedy mode continues.
    let PacketEnd::Delivered { path, .. } = &bed.ends[&packet] else { panic!("{:?}", bed.ends) };
    assert_eq!(*path, nodes(&[0, 1, 2, 3, 4, 5]));
    let mut greedy = super::tests::bed(placed(&VOID, 50.0), Config { void: Void::Drop, ..Config::default() }, 1);
    greedy.run(at(3.0));
    let packet = greedy.send(0, 6);
    greedy.run(at(3.1));
    assert_eq!(greedy.ends[&packet], PacketEnd::Unreachable { path: vec![] });
}

#[test]
fn a_packet_that_has_gone_around_its_face_is_dropped() {
    let mut graph = placed(&VOID, 50.0);
    graph.cut(5, 6);
    let mut bed = bed(graph, Config::default(), 1);
    bed.run(at(3.0));
    let packet = bed.send(0, 6);
    bed.run(at(3.1));
    // Greedy from 4 to 5, 45 m away. Then all edges of the only face, each from both sides, until (5, 4) is repeated.
    let path = nodes(&[0, 1, 2, 3, 4, 5, 4, 3, 2, 1, 0, 7, 0, 1, 2, 3, 4]);
    assert_eq!(bed.ends[&packet], PacketEnd::Unreachable { path });
}

#[test]
fn every_packet_arrives_in_connected_random_graphs() {
    let (mut pairs, mut around) = (0, 0);
    for (seed, planar) in (0..60).flat_map(|seed| [(seed, Planar::Gabriel), (seed, Planar::RelativeNeighbourhood)]) {
        let graph = Graph::disc(40, 0.2, &mut RandomStream::new(seed, "disc"));
        let mut bed = bed(graph, Config { planar, ..Config::default() }, seed);
        bed.run(at(3.0));
        bed.ttl = 255;
        for origin in 0..40 {
            let hops = bed.graph.hops(origin);
            let destinations: Vec<u32> = (0..40).filter(|node| *node != origin).collect();
            let packets: Vec<usize> = destinations.iter().map(|node| bed.send(origin, *node)).collect();
            bed.run(bed.now + Duration::from_millis(60));
            for (destination, packet) in destinations.into_iter().zip(packets) {
                let (end, hops) = (&bed.ends[&packet], hops[destination as usize]);
                let arrived = if let PacketEnd::Delivered { path, .. } = end { Some(path.len() as u32) } else { None };
                assert!(!matches!(end, PacketEnd::Looped { .. }), "seed {seed}: {origin} to {destination}: {end:?}");
                assert_eq!(
                    arrived.is_some(),
                    hops.is_some(),
                    "seed {seed} {planar:?}: {origin} to {destination}: {end:?}"
                );
                pairs += u32::from(arrived.is_some());
                around += u32::from(arrived > hops);
            }
        }
    }
    assert!(pairs > 50_000 && around > 5_000, "{pairs} {around}");
    println!("{pairs} pairs, {around} by more than the fewest hops");
}

#[test]
fn silent_neighbours_are_forgotten_and_broken_ones_gone_around() {
    // 0-1-3 and 0-2-3, 1 nearer to 3.
    let places = [(0.0, 0.0), (40.0, 5.0), (35.0, -20.0), (75.0, 0.0)];
    let mut bed = bed(placed(&places, 50.0), Config::default(), 1);
    bed.run(at(3.0));
    bed.graph.cut(0, 1);
    let packet = bed.send(0, 3);
    bed.run(at(3.1));
    let PacketEnd::Delivered { path, .. } = &bed.ends[&packet] else { panic!("{:?}", bed.ends) };
    assert_eq!(*path, nodes(&[0, 2]));
    assert_eq!(bed.next_hop(0, 1), None);
    assert_eq!(bed.next_hop(1, 0), Some((0, 1)));
    bed.run(at(7.6));
    assert_eq!(bed.next_hop(1, 0), None);
}

#[test]
fn a_packet_that_returns_carries_no_information_about_its_last_sender() {
    // 0 gives a packet to 1, which moves, and loses 2, the neighbour nearest to 4.
    let places = [(0.0, 0.0), (40.0, 0.0), (80.0, 0.0), (70.0, 30.0), (110.0, 10.0)];
    let mut bed = bed(placed(&places, 50.0), Config { void: Void::Drop, ..Config::default() }, 1);
    bed.run(at(3.0));
    let packet = bed.send(0, 4);
    bed.run(at(3.0002));
    bed.graph.cut(1, 2);
    bed.graph.positions[1].x = 39.0;
    bed.run(at(3.1));
    let PacketEnd::Delivered { path, .. } = &bed.ends[&packet] else { panic!("{:?}", bed.ends) };
    assert_eq!(*path, nodes(&[0, 1, 3]));
    // For node 1 node 0 is still where it was, nearer to (-30, 0): 30 m, and not 70 from its own place before.
    let heading = crate::PacketInfo { origin: NodeId(1), destination: NodeId(9), ttl: 9, size: 100 };
    let mut world = Elsewhere { graph: bed.graph.clone(), node: NodeId(9), position: Vector::new(-30.0, 0.0, 0.0) };
    let verdict = bed.agents[1].route(bed.now, &heading, None, &mut crate::RoutingHeader::None, &mut world);
    assert_eq!(verdict, crate::Verdict::Via(NodeId(0)));
}

/// A graph, in which one node is elsewhere.
struct Elsewhere {
    graph: Graph,
    node: NodeId,
    position: Vector,
}

impl crate::Surroundings for Elsewhere {
    fn has(&self, _node: NodeId) -> bool {
        true
    }

    fn position(&mut self, node: NodeId, now: lightlag_core::Instant) -> Vector {
        if node == self.node { self.position } else { self.graph.position(node, now) }
    }

    fn neighbours(
        &mut self,
        node: NodeId,
        now: lightlag_core::Instant,
        min_delivery: lightlag_core::Probability,
    ) -> &[NodeId] {
        self.graph.neighbours(node, now, min_delivery)
    }
}

#[test]
fn beacons_are_sent_once_per_second_on_average() {
    let mut bed = bed(Graph::chain(2), Config::default(), 1);
    bed.run(at(1000.0));
    // U(0.5, 1.5) s: a standard deviation of 0.289 s, of 1000 of them 9.1; five of those.
    let beacons = bed.count(Kind::Beacon);
    assert!(beacons.abs_diff(2 * 1000) < 2 * 46, "{beacons}");
    assert_eq!(bed.agents[0].traffic().payload(), 12 * bed.agents[0].traffic().messages(Kind::Beacon));
}

#[test]
fn a_position_is_used_for_its_age_and_with_its_error() {
    let mut bed = bed(
        placed(&[(0.0, 0.0), (30.0, 0.0)], 50.0),
        Config { location_age: Duration::from_secs(2), ..Config::default() },
        1,
    );
    let reported = |bed: &mut Bed| {
        let heading = crate::PacketInfo { origin: NodeId(0), destination: NodeId(1), ttl: 9, size: 100 };
        let mut extra = crate::RoutingHeader::None;
        let mut graph = bed.graph.clone();
        bed.agents[0].route(bed.now, &heading, None, &mut extra, &mut graph);
        assert_eq!(extra.size(), 49);
        let crate::RoutingHeader::Gpsr(header) = extra else { panic!() };
        header.destination
    };
    assert_eq!(reported(&mut bed), GpsrPosition { x: 3_000, y: 0, z: 0 });
    bed.graph.positions[1].x = 20.0;
    bed.now = at(1.9);
    assert_eq!(reported(&mut bed).x, 3_000);
    bed.now = at(2.0);
    assert_eq!(reported(&mut bed).x, 2_000);
    let mut bed = super::tests::bed(bed.graph, Config { location_error: 10.0, ..Config::default() }, 1);
    let errors: Vec<f64> = (0..10_000).map(|_| f64::from(reported(&mut bed).x) / 100.0 - 20.0).collect();
    let mean = errors.iter().sum::<f64>() / 1e4;
    let deviation = libm::sqrt(errors.iter().map(|error| error * error).sum::<f64>() / 1e4);
    // Five standard deviations: 10/100, and 10/141.
    assert!(mean.abs() < 0.5 && (deviation - 10.0).abs() < 0.36, "{mean} {deviation}");
}
