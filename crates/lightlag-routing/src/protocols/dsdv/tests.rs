//! Networks of agents on an ideal medium.

use super::*;
use crate::Payload;
use crate::model::Model;
use crate::testbed::{Bed, Graph, PacketEnd, at, wifi};
use crate::{Break, Identity, Kind};
use lightlag_core::{Duration, RandomStream};
use lightlag_net::NodeId;

fn bed(graph: Graph, config: Config, seed: u64) -> Bed {
    let agent = |node: u32| config.build(&Identity { node: NodeId(node), name: &format!("n{node}"), seed });
    let agents = (0..graph.nodes()).map(agent).collect();
    Bed::new(graph, agents, wifi)
}

fn knows_all(bed: &Bed) -> bool {
    (0..bed.graph.nodes()).all(|node| {
        let reachable = bed.graph.hops(node).iter().flatten().count() - 1;
        bed.agents[node as usize].routes(bed.now).len() == reachable
    })
}

#[test]
fn a_grid_converges_within_two_dumps_and_a_settling_time() {
    for (seed, side) in (0..8).flat_map(|seed| [(seed, 3), (seed, 4), (seed, 5)]) {
        let mut bed = bed(Graph::grid(side), Config::default(), seed);
        // 2·15 + 5 s.
        bed.run(at(35.0));
        assert!(knows_all(&bed), "seed {seed}, side {side}");
        assert_eq!(bed.cycle(), None);
    }
}

#[test]
fn on_a_chain_hops_are_exact_and_updates_travel_one_hop_per_settling_time() {
    let mut bed = bed(Graph::chain(4), Config::default(), 1);
    // The dumps at the start tell the neighbours, and perhaps more, if they come in order.
    bed.run(at(4.9));
    assert_eq!(bed.next_hop(1, 2), Some((2, 1)));
    assert!(!knows_all(&bed));
    bed.run(at(10.2));
    assert!(knows_all(&bed));
    for node in 0..4 {
        let hops = bed.graph.hops(node);
        let routes = bed.agents[node as usize].routes(bed.now);
        assert!(routes.iter().all(|route| hops[route.destination.0 as usize] == Some(route.hops)));
    }
}

#[test]
fn dumps_hold_the_full_table_and_updates_the_changes() {
    let mut bed = bed(Graph::chain(3), Config::default(), 1);
    bed.run(at(100.0));
    // At 0, 15, …, 90 s, each up to 25 ms later than the nominal time after the one before.
    assert_eq!(bed.agents[1].traffic().messages(Kind::FullDump), 7);
    let last = bed.sent.iter().rev().find(|(_, node, ..)| *node == NodeId(1)).unwrap();
    let crate::Message::Dsdv(update) = &last.3 else { panic!() };
    assert_eq!((update.is_full, update.size()), (true, 3 * 12));
    let own = update.entries.iter().find(|entry| entry.destination == NodeId(1)).unwrap();
    assert_eq!((own.hops, own.sequence), (0, 14));
    // Nothing changed after the start, so nothing but dumps was sent.
    let updates = bed.sent.iter().filter(|(time, .., message)| {
        *time > at(20.1) && matches!(message, crate::Message::Dsdv(update) if !update.is_full)
    });
    assert_eq!(updates.count(), 0);
}

#[test]
fn the_first_dump_has_a_wait_of_its_own() {
    let config = Config { first_dump: Duration::from_millis(1), ..Config::default() };
    let mut bed = bed(Graph::chain(4), config, 1);
    bed.run(at(14.9));
    let firsts: Vec<_> = bed.sent.iter().take(4).map(|(time, node, ..)| (*time, *node)).collect();
    assert!(firsts.iter().all(|(time, _)| *time <= at(0.001)));
    assert_eq!(firsts.iter().map(|(_, node)| *node).collect::<std::collections::BTreeSet<_>>().len(), 4);
}

#[test]
fn each_newer_number_is_forwarded_immediately_as_in_ns3() {
    let config = Config { advertise: Advertise::Newer, ..Config::default() };
    let mut bed = bed(Graph::chain(4), config, 1);
    // Dumps are sent within 25 ms, and changes cross the chain in three hops of at most 1 ms and their time on the air.
    bed.run(at(0.1));
    assert!(knows_all(&bed));
    bed.run(at(14.9));
    bed.sent.clear();
    bed.run(at(29.9));
    let updates: Vec<_> = bed
        .sent
        .iter()
        .filter_map(|(_, node, _, message)| match message {
            crate::Message::Dsdv(update) if !update.is_full => Some((*node, update)),
            _ => None,
        })
        .collect();
    // Each of the three other nodes passes each of the four numbers on, and its own with it.
    assert_eq!(updates.len(), 4 * 3);
    assert!(updates.iter().all(|(node, update)| update.entries[0].destination == *node && update.size() == 2 * 12));
}

#[test]
fn a_lost_neighbour_is_advertised_immediately_with_an_odd_number() {
    let mut bed = bed(Graph::chain(4), Config { link_feedback: true, ..Config::default() }, 1);
    bed.run(at(50.0));
    assert!(knows_all(&bed));
    bed.graph.cut(2, 3);
    bed.agents[2].broken(bed.now, NodeId(3), Break::Retry, None);
    bed.sent.clear();
    bed.run(at(50.2));
    assert!((0..3).all(|node| bed.next_hop(node, 3).is_none()));
    let (.., crate::Message::Dsdv(update)) = &bed.sent[0] else { panic!() };
    let lost = update.entries.iter().find(|entry| entry.destination == NodeId(3)).unwrap();
    assert_eq!((lost.hops, lost.sequence % 2), (u32::MAX, 1));
    // Back again: its next dump has a newer number.
    bed.graph.join(2, 3);
    bed.run(at(72.0));
    assert!(knows_all(&bed));
    assert_eq!(bed.cycle(), None);
}

#[test]
fn a_silent_neighbour_is_lost_after_three_dumps() {
    let mut bed = bed(Graph::chain(2), Config::default(), 1);
    bed.run(at(40.0));
    bed.graph.cut(0, 1);
    let last = bed.sent.iter().rev().find(|(_, node, ..)| *node == NodeId(1)).unwrap().0;
    let end = last + wifi(crate::Receiver::All, 24 + 28) + Duration::from_secs(45);
    bed.run(lightlag_core::Instant::from_nanos(end.as_nanos() - 1));
    assert!(bed.next_hop(0, 1).is_some());
    bed.run(end);
    assert!(bed.next_hop(0, 1).is_none());
}

#[test]
fn own_packets_wait_for_a_route_and_others_do_not() {
    for (buffering, waits) in [(true, true), (false, false)] {
        let mut bed = bed(Graph::chain(3), Config { buffering, ..Config::default() }, 1);
        let packet = bed.send(0, 2);
        bed.run(at(20.0));
        assert_eq!(bed.ends[&packet].is_delivery(), waits);
        assert_eq!(bed.ends[&packet] == PacketEnd::Unreachable { path: vec![] }, !waits);
    }
}

#[test]
fn settling_times_follow_the_weighted_mean() {
    // A route, and 1 s later a better one with the same number: (7·5 + 1)/8 = 4.5 s until it is advertised.
    let graph = Graph::new(3);
    let mut agent = Config::default().build(&Identity { node: NodeId(0), name: "a", seed: 1 });
    let mut world = graph;
    let mut tell = |agent: &mut Box<dyn crate::Agent>, seconds, from, hops, sequence| {
        let update = Update { is_full: false, entries: vec![DsdvEntry { destination: NodeId(9), hops, sequence }] };
        agent.hear(at(seconds), NodeId(from), crate::Receiver::All, &crate::Message::Dsdv(update), 30.0, &mut world);
    };
    tell(&mut agent, 1.0, 1, 3, 10);
    assert_eq!(agent.poll_timeout(), Some(at(6.0)));
    tell(&mut agent, 6.0, 1, 4, 12);
    agent.handle_timeout(at(6.0), &mut Graph::new(0));
    while agent.poll_action().is_some() {}
    tell(&mut agent, 20.0, 1, 4, 14);
    assert!(agent.poll_timeout().is_some_and(|next| next > at(40.0)));
    tell(&mut agent, 21.0, 2, 1, 14);
    assert_eq!(agent.poll_timeout(), Some(at(25.5)));
    assert_eq!(agent.routes(at(21.0))[0].next_hop, NodeId(2));
    // Older numbers and longer paths change nothing.
    tell(&mut agent, 22.0, 1, 0, 12);
    tell(&mut agent, 22.0, 1, 1, 14);
    assert_eq!((agent.routes(at(22.0))[0].next_hop, agent.changes()), (NodeId(2), 3));
}

#[test]
fn next_hops_never_form_a_cycle() {
    for seed in 0..20 {
        let mut random = RandomStream::new(seed, "storm");
        let config = Config { link_feedback: seed % 2 == 0, ..Config::default() };
        let mut bed = bed(Graph::disc(14, 0.4, &mut random), config, seed);
        bed.loss = Some((0.1, RandomStream::new(seed, "loss")));
        let mut pick = |most: u32| (random.uniform() * f64::from(most)) as u32;
        for step in 1..=300 {
            let (a, b) = (pick(14), pick(14));
            if a != b {
                match pick(3) {
                    0 => bed.graph.cut(a, b),
                    1 if pick(3) == 0 => bed.graph.join(a, b),
                    _ => drop(bed.send(a, b)),
                }
            }
            bed.run(at(0.5 * f64::from(step)));
            assert_eq!(bed.cycle(), None, "seed {seed}, at {}", bed.now);
        }
        assert!(bed.ends.values().all(|end| !matches!(end, PacketEnd::Looped { .. })));
    }
}
