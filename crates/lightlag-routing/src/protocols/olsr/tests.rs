//! Networks of agents on an ideal medium.

use super::*;
use crate::model::Model;
use crate::testbed::{Bed, Graph, PacketEnd, at, wifi};
use crate::{Break, Identity, Kind};
use lightlag_core::{Instant, RandomStream};
use lightlag_net::NodeId;
use std::collections::BTreeSet;

fn bed(graph: Graph, config: Config, seed: u64) -> Bed {
    let agent = |node: u32| config.build(&Identity { node: NodeId(node), name: &format!("n{node}"), seed });
    let agents = (0..graph.nodes()).map(agent).collect();
    Bed::new(graph, agents, wifi)
}

/// Returns true if every node has a shortest path to every other node that it can reach, and no route to the others.
fn is_converged(bed: &Bed) -> bool {
    (0..bed.graph.nodes()).all(|node| {
        let hops = bed.graph.hops(node);
        let routes = bed.agents[node as usize].routes(bed.now);
        let reachable = hops.iter().flatten().count() - 1;
        routes.len() == reachable && routes.iter().all(|route| hops[route.destination.0 as usize] == Some(route.hops))
    })
}

fn convergence(bed: &mut Bed, max: f64) -> Option<f64> {
    let steps = (max * 10.0) as u64;
    (1..=steps).map(|step| step as f64 * 0.1).find(|seconds| {
        bed.run(at(*seconds));
        is_converged(bed)
    })
}

#[test]
fn a_grid_converges_after_two_hellos_and_two_tcs() {
    for (seed, side) in (0..12).flat_map(|seed| [(seed, 3), (seed, 4), (seed, 5)]) {
        let mut bed = bed(Graph::grid(side), Config::default(), seed);
        let time = convergence(&mut bed, 20.0);
        // 2·2 s + 2·5 s.
        assert!(time.is_some_and(|time| time <= 14.0), "seed {seed}, side {side}: {time:?}");
        println!("seed {seed}, {side}x{side}: {time:?}");
        assert_eq!(bed.cycle(), None);
    }
}

/// Returns the neighbours that each node chose, from its last HELLO.
fn chosen(bed: &Bed) -> Vec<BTreeSet<NodeId>> {
    let mut chosen = vec![BTreeSet::new(); bed.agents.len()];
    for (_, node, _, message) in &bed.sent {
        let crate::Message::Olsr(packet) = message else { continue };
        for message in &packet.messages {
            if let OlsrBody::Hello(hello) = &message.body {
                let relays = hello.links.iter().filter(|(code, _)| code.neighbour == NeighbourType::Relay);
                chosen[node.0 as usize] = relays.flat_map(|(_, nodes)| nodes.iter().copied()).collect();
            }
        }
    }
    chosen
}

#[test]
fn relays_reach_every_node_two_hops_away() {
    for seed in 0..30 {
        let graph = Graph::disc(20, 0.35, &mut RandomStream::new(seed, "disc"));
        let mut bed = bed(graph, Config::default(), seed);
        bed.run(at(12.0));
        for (node, relays) in chosen(&bed).into_iter().enumerate() {
            let near = |node: u32| -> Vec<u32> {
                (0..20).filter(|other| bed.graph.has(NodeId(node), NodeId(*other))).collect()
            };
            let reached: BTreeSet<u32> = relays.iter().flat_map(|relay| near(relay.0)).collect();
            let hops = bed.graph.hops(node as u32);
            let two_hops = (0..20).filter(|other| hops[*other as usize] == Some(2));
            let uncovered: Vec<u32> = two_hops.filter(|other| !reached.contains(other)).collect();
            assert!(uncovered.is_empty(), "seed {seed}, node {node}: {uncovered:?}");
        }
        bed.run(at(25.0));
        assert!(is_converged(&bed), "seed {seed}");
    }
}

#[test]
fn only_chosen_nodes_report_and_relay() {
    // In a star the centre is the only relay.
    let mut graph = Graph::new(6);
    (1..6).for_each(|leaf| graph.join(0, leaf));
    let mut bed = bed(graph, Config::default(), 1);
    bed.run(at(30.0));
    assert!(is_converged(&bed));
    let tcs = |node: usize| bed.agents[node].traffic().messages(Kind::TopologyControl);
    // At 10, 15, 20, 25 s and perhaps 30 s; the HELLO of 6 s notifies the centre that it was chosen.
    assert!((4..=5).contains(&tcs(0)), "{}", tcs(0));
    assert_eq!((1..6).map(tcs).sum::<u64>(), 0);
    // In a full mesh there are no relays, and no TCs.
    let mut mesh = Graph::new(5);
    (0..5).flat_map(|a| (0..a).map(move |b| (a, b))).for_each(|(a, b)| mesh.join(a, b));
    let mut bed = super::tests::bed(mesh, Config::default(), 1);
    bed.run(at(30.0));
    assert!(is_converged(&bed));
    assert_eq!((bed.count(Kind::TopologyControl), bed.count(Kind::Hello) >= 5 * 15), (0, true));
}

#[test]
fn a_lost_link_is_noticed_after_six_seconds_and_its_report_forgotten_in_fifteen() {
    let mut bed = bed(Graph::chain(4), Config::default(), 2);
    bed.run(at(30.0));
    assert!(is_converged(&bed));
    bed.graph.cut(2, 3);
    let mut noticed = None;
    for step in 1..=400 {
        bed.run(at(30.0 + 0.1 * f64::from(step)));
        if noticed.is_none() && bed.next_hop(2, 3).is_none() {
            noticed = Some(bed.now.as_secs_f64() - 30.0);
        }
        if is_converged(&bed) {
            break;
        }
    }
    // The last HELLO came up to 2.5 s before the break.
    assert!(noticed.is_some_and(|noticed| (3.4..=6.1).contains(&noticed)), "{noticed:?}");
    // Node 2 drops its selector immediately, and reports the rest with its next TC; the report of node 3 ends after 15
    // s.
    let converged = bed.now.as_secs_f64() - 30.0;
    assert!(converged <= 6.1 + 15.0, "{converged}");
    assert!(is_converged(&bed));
}

#[test]
fn feedback_of_the_link_layer_removes_a_link_immediately() {
    for (link_feedback, kept) in [(false, true), (true, false)] {
        let mut bed = bed(Graph::chain(3), Config { link_feedback, ..Config::default() }, 2);
        bed.run(at(20.0));
        bed.agents[1].broken(bed.now, NodeId(2), Break::Retry, None);
        assert_eq!(bed.next_hop(1, 2).is_some(), kept);
    }
}

#[test]
fn a_node_that_never_relays_is_gone_around() {
    // 0-1-3 and 0-2-3, where 1 is unwilling.
    let mut graph = Graph::new(4);
    [(0, 1), (1, 3), (0, 2), (2, 3)].iter().for_each(|&(a, b)| graph.join(a, b));
    let agent = |node: u32| {
        let config = Config { willingness: if node == 1 { 0 } else { 3 }, ..Config::default() };
        config.build(&Identity { node: NodeId(node), name: &format!("n{node}"), seed: 1 })
    };
    let mut bed = Bed::new(graph, (0..4).map(agent).collect(), wifi);
    bed.run(at(20.0));
    assert_eq!((bed.next_hop(0, 3), bed.next_hop(0, 1)), (Some((2, 2)), Some((1, 1))));
    let packet = bed.send(0, 3);
    bed.run(at(21.0));
    assert_eq!(
        bed.ends[&packet],
        PacketEnd::Delivered { at: delivery(&bed, packet), path: vec![NodeId(0), NodeId(2)] }
    );
}

fn delivery(bed: &Bed, packet: usize) -> Instant {
    let PacketEnd::Delivered { at, .. } = bed.ends[&packet] else { panic!("{:?}", bed.ends[&packet]) };
    at
}

#[test]
fn messages_have_the_sizes_of_their_parts_and_share_packets() {
    let mut bed = bed(Graph::chain(3), Config::default(), 4);
    bed.run(at(60.0));
    let centre = bed.agents[1].traffic();
    // HELLO of the centre: 4 + 12 + 4 and two links of one code, 4 + 8. TC: 12 + 4 + 8.
    let last = |kind: fn(&OlsrBody) -> bool| {
        let messages = bed.sent.iter().rev().filter(|(_, node, ..)| *node == NodeId(1)).filter_map(|(.., message)| {
            let crate::Message::Olsr(packet) = message else { return None };
            packet
                .messages
                .iter()
                .find(|message| message.originator == NodeId(1) && kind(&message.body))
                .map(OlsrMessage::size)
        });
        messages.take(1).sum::<u32>()
    };
    assert_eq!(last(|body| matches!(body, OlsrBody::Hello(_))), 12 + 4 + 4 + 8);
    assert_eq!(last(|body| matches!(body, OlsrBody::TopologyControl(_))), 12 + 4 + 8);
    let messages = centre.messages(Kind::Hello) + centre.messages(Kind::TopologyControl);
    assert!(centre.datagrams() < messages, "{} of {messages}", centre.datagrams());
    assert_eq!(
        centre.payload(),
        4 * centre.datagrams() + centre.bytes(Kind::Hello) + centre.bytes(Kind::TopologyControl)
    );
}
