//! Networks of agents on an ideal medium.

use super::*;
use crate::testbed::{Bed, Graph, PacketEnd, at, wifi};
use crate::{Agent, Break, Identity, Kind, NodeAction, PacketInfo, Receiver};
use lightlag_core::{Duration, Instant, RandomStream};
use lightlag_net::NodeId;

fn quiet() -> Config {
    Config { hello: HelloPolicy::Off, ..Config::default() }
}

fn bed(graph: Graph, config: Config, seed: u64) -> Bed {
    let agent = |node: u32| {
        let name = format!("n{node}");
        Box::new(Aodv::new(config, &Identity { node: NodeId(node), name: &name, seed })) as Box<dyn Agent>
    };
    let agents = (0..graph.nodes()).map(agent).collect();
    Bed::new(graph, agents, wifi)
}

/// Returns the time in seconds from sending a packet to receiving the route reply, at the first node of a chain with
/// this number of hops.
fn discovery(hops: u32, config: Config, seed: u64) -> (f64, Bed) {
    let mut bed = bed(Graph::chain(hops as usize + 1), config, seed);
    bed.run(at(3.0));
    bed.sent.clear();
    let packet = bed.send(0, hops);
    bed.run(at(8.0));
    let Some(PacketEnd::Delivered { path, .. }) = bed.ends.get(&packet) else { panic!("{hops} hops: {:?}", bed.ends) };
    assert_eq!(*path, (0..hops).map(NodeId).collect::<Vec<_>>());
    // The reply's last hop: it left the first relay, or the destination, a frame before it came.
    let is_reply = |message: &crate::Message| matches!(message, crate::Message::Aodv(AodvMessage::Reply(reply)) if !reply.is_hello());
    let (left, ..) = bed.sent.iter().find(|(_, node, _, message)| *node == NodeId(1) && is_reply(message)).unwrap();
    let seconds = left.since(at(3.0)).as_secs_f64() + wifi(crate::Receiver::One(NodeId(0)), 48).as_secs_f64();
    (seconds, bed)
}

/// Returns how long the ring searches last that fail before one reaches a destination at this number of hops, and how
/// many requests all nodes send. A ring with time to live n lasts 80 ms × (n + 2).
fn rings(hops: u32) -> (f64, u64) {
    let (mut wait, mut requests) = (0.0, 0);
    for ttl in [1, 3, 5, 7, 35] {
        requests += u64::from(hops.min(ttl));
        if ttl >= hops {
            break;
        }
        wait += 0.08 * f64::from(ttl + 2);
    }
    (wait, requests)
}

#[test]
fn discovery_takes_the_rings_and_five_milliseconds_a_hop() {
    const SEEDS: u64 = 200;
    for (hops, wait) in (1..=8).zip([0.0, 0.24, 0.24, 0.64, 0.64, 1.20, 1.20, 1.92]) {
        assert!((rings(hops).0 - wait).abs() < 1e-9);
        let total: f64 = (0..SEEDS).map(|seed| discovery(hops, quiet(), seed).0).sum();
        let (mean, expected) = (total / SEEDS as f64, wait + 0.0052 * f64::from(hops));
        assert!((mean - expected).abs() < 0.005, "{hops} hops: {mean} s, expected {expected} s");
        println!("{hops} hops: {mean:.4} s, closed form {expected:.4} s");
    }
}

#[test]
fn hellos_save_the_last_hop_of_the_search() {
    for hops in 2..=8 {
        let (seconds, bed) = discovery(hops, Config::default(), 5);
        let expected = rings(hops - 1).0 + 0.0052 * f64::from(hops - 1);
        // The jitter of one run: U{0..10} ms per hop.
        assert!(
            (seconds - expected).abs() < 0.005 * f64::from(hops),
            "{hops} hops: {seconds} s, expected {expected} s"
        );
        let acks = bed.count(Kind::ReplyAck);
        // The neighbour of the destination requests one; with two hops it is also the node that replies first.
        assert_eq!(acks, 1, "{hops} hops");
    }
}

#[test]
fn requests_and_replies_are_counted_exactly() {
    for hops in 1..=8 {
        let (_, bed) = discovery(hops, quiet(), 1);
        assert_eq!(bed.count(Kind::RouteRequest), rings(hops).1, "{hops} hops");
        assert_eq!(bed.count(Kind::RouteReply), u64::from(hops), "{hops} hops");
        assert_eq!((bed.count(Kind::RouteError), bed.count(Kind::Hello)), (0, 0));
    }
    // 1 + 3 + 5 + 7 + 8 of 24 bytes, and 8 of 20.
    let (_, bed) = discovery(8, quiet(), 1);
    let bytes = |kind| bed.agents.iter().map(|agent| agent.traffic().bytes(kind)).sum::<u64>();
    assert_eq!((bytes(Kind::RouteRequest), bytes(Kind::RouteReply)), (24 * 24, 8 * 20));
}

#[test]
fn packets_without_a_destination_are_discarded_after_all_rings() {
    let mut graph = Graph::chain(4);
    graph.cut(2, 3);
    let mut bed = bed(graph, quiet(), 1);
    bed.send(0, 3);
    // .24 + .40 + .56 + .72 + 2.8 + 5.6 s.
    bed.run(at(10.319));
    assert!(bed.ends.is_empty());
    bed.run(at(10.321));
    assert_eq!(bed.ends[&0], PacketEnd::Discarded);
    // TTL 1 reaches one node, 3 and more are sent by all three.
    assert_eq!(bed.count(Kind::RouteRequest), 1 + 5 * 3);
}

#[test]
fn a_break_is_reported_to_those_who_use_the_route() {
    let mut bed = bed(Graph::chain(5), quiet(), 1);
    bed.send(0, 4);
    bed.run(at(2.0));
    assert!(bed.ends[&0].is_delivery());
    bed.graph.cut(3, 4);
    let lost = bed.send(0, 4);
    bed.run(at(2.2));
    assert_eq!(bed.ends[&lost], PacketEnd::Broken { path: vec![NodeId(0), NodeId(1), NodeId(2)] });
    // Node 3 notifies 2, which notifies 1, which notifies 0: each is the only user of the next.
    let errors: Vec<_> = bed
        .sent
        .iter()
        .filter(|(.., message)| matches!(message, crate::Message::Aodv(AodvMessage::Error(_))))
        .collect();
    let ways: Vec<_> = errors.iter().map(|(_, node, to, _)| (node.0, *to)).collect();
    let one = |node| crate::Receiver::One(NodeId(node));
    assert_eq!(ways, [(3, one(2)), (2, one(1)), (1, one(0))]);
    assert!((0..4).all(|node| bed.next_hop(node, 4).is_none()));
    // Each node is notified once, and only of this destination.
    assert_eq!(bed.told_of(4), [3, 2, 1, 0]);
    assert_eq!(bed.broken.len(), 4);
}

#[test]
fn a_relay_without_a_route_notifies_the_sender() {
    let mut bed = bed(Graph::chain(3), quiet(), 1);
    bed.send(0, 2);
    bed.run(at(1.0));
    assert!(bed.ends[&0].is_delivery());
    // 0 keeps using its route while 1 loses its own by a break that it reports to no node: its precursor is out of
    // reach.
    bed.graph.cut(0, 1);
    bed.graph.cut(1, 2);
    bed.agents[1].broken(bed.now, NodeId(2), crate::Break::Retry, None);
    bed.run(at(1.1));
    bed.graph.join(0, 1);
    let refused = bed.send(0, 2);
    bed.run(at(1.2));
    assert_eq!(bed.ends[&refused], PacketEnd::Unreachable { path: vec![NodeId(0)] });
    assert_eq!(bed.next_hop(0, 2), None);
}

#[test]
fn silent_neighbours_are_lost_after_two_seconds() {
    let mut bed = bed(Graph::chain(2), Config::default(), 3);
    bed.run(at(5.0));
    assert_eq!(bed.next_hop(0, 1), Some((1, 1)));
    let last = bed.sent.iter().rev().find(|(_, node, ..)| *node == NodeId(1)).unwrap().0;
    bed.graph.cut(0, 1);
    let timeout = last + wifi(crate::Receiver::All, 48) + Duration::from_secs(2);
    bed.run(Instant::from_nanos(timeout.as_nanos() - 1));
    assert_eq!(bed.next_hop(0, 1), Some((1, 1)));
    bed.run(timeout);
    assert_eq!(bed.next_hop(0, 1), None);
}

#[test]
fn hellos_come_every_second_and_requests_replace_them() {
    let mut bed = bed(Graph::chain(2), Config::default(), 3);
    bed.run(at(10.0));
    assert_eq!(bed.count(Kind::Hello), 20);
    let mut quiet = super::tests::bed(Graph::chain(2), Config { hello: HelloPolicy::Active, ..Config::default() }, 3);
    quiet.run(at(10.0));
    assert_eq!(quiet.count(Kind::Hello), 0);
    quiet.send(0, 1);
    quiet.run(at(15.0));
    // Data at 10 s count for 3 s. The HELLO of node 0 due first was replaced by its request.
    assert!((4..=6).contains(&quiet.count(Kind::Hello)), "{}", quiet.count(Kind::Hello));
}

#[test]
fn requests_wait_for_the_next_second_and_errors_are_dropped() {
    let mut bed = bed(Graph::new(40), Config { rreq_rate_limit: 10, ..quiet() }, 1);
    (1..=25).for_each(|node| {
        bed.send(0, node);
    });
    bed.run(at(0.2));
    assert_eq!(bed.count(Kind::RouteRequest), 10);
    bed.run(at(1.0));
    assert_eq!(bed.count(Kind::RouteRequest), 10);
    bed.run(at(1.2));
    assert_eq!(bed.count(Kind::RouteRequest), 20);
    let mut table = bed_with_error_storm();
    table.run(at(1.0));
    assert_eq!(table.count(Kind::RouteError), 10);
}

/// Returns a network in which node 1 gets 30 packets for which it has no route.
fn bed_with_error_storm() -> Bed {
    let mut bed = bed(Graph::chain(2), quiet(), 1);
    let heading = crate::PacketInfo { origin: NodeId(0), destination: NodeId(9), ttl: 9, size: 100 };
    for _ in 0..30 {
        let mut graph = bed.graph.clone();
        let verdict =
            bed.agents[1].route(bed.now, &heading, Some(NodeId(0)), &mut crate::RoutingHeader::None, &mut graph);
        assert_eq!(verdict, crate::Verdict::Unreachable);
    }
    bed
}

#[test]
fn frames_that_are_too_old_break_links_only_on_request_and_full_queues_never() {
    use crate::Break::{Lifetime, Queue};
    for (link_break_on, cause, survives) in [
        (LinkBreakOn::Retry, Lifetime, true),
        (LinkBreakOn::Retry, Queue, true),
        (LinkBreakOn::Any, Lifetime, false),
        (LinkBreakOn::Any, Queue, true),
    ] {
        let mut bed = bed(Graph::chain(3), Config { link_break_on, ..quiet() }, 1);
        bed.send(0, 2);
        bed.run(at(1.0));
        bed.agents[0].broken(bed.now, NodeId(1), cause, None);
        assert_eq!(bed.next_hop(0, 2).is_some(), survives, "{link_break_on:?} {cause:?}");
    }
}

#[test]
fn a_hello_that_brings_the_route_releases_packets_immediately_or_when_the_ring_ends() {
    // The ring of the first request ends 80 ms for its hop and two more after it.
    let ring = 0.24;
    for (release_on, waits) in [(ReleaseOn::Route, false), (ReleaseOn::Reply, true)] {
        let mut agent = Aodv::new(Config { release_on, ..quiet() }, &Identity { node: NodeId(0), name: "a", seed: 1 });
        let mut graph = Graph::chain(2);
        agent.start(at(0.0));
        let heading = PacketInfo { origin: NodeId(0), destination: NodeId(1), ttl: 64, size: 100 };
        let route = |agent: &mut Aodv, now| {
            agent.route(at(now), &heading, None, &mut crate::RoutingHeader::None, &mut Graph::chain(2))
        };
        assert_eq!(route(&mut agent, 0.0), crate::Verdict::Wait);
        let hello = Reply {
            ack_required: false,
            hop_count: 0,
            destination: NodeId(1),
            destination_sequence: Sequence(1),
            origin: NodeId(1),
            lifetime: Duration::from_secs(2),
            ttl: 1,
        };
        let hello = crate::Message::Aodv(AodvMessage::Reply(hello));
        agent.hear(at(0.1), NodeId(1), Receiver::All, &hello, 30.0, &mut graph);
        let releases = |agent: &mut Aodv| {
            let release = NodeAction::Release { destination: NodeId(1) };
            std::iter::from_fn(|| agent.poll_action()).filter(|action| *action == release).count()
        };
        assert_eq!(releases(&mut agent), usize::from(!waits));
        // The route serves packets that come now, in both cases.
        assert_eq!(route(&mut agent, 0.15), crate::Verdict::Via(NodeId(1)));
        agent.handle_timeout(at(ring - 0.001), &mut graph);
        assert_eq!(releases(&mut agent), 0);
        agent.handle_timeout(at(ring), &mut graph);
        assert_eq!(releases(&mut agent), usize::from(waits));
    }
}

#[test]
fn only_the_destination_replies_if_configured() {
    let config = Config { destination_only: true, ..Config::default() };
    let (_, bed) = discovery(4, config, 1);
    let first = bed
        .sent
        .iter()
        .find(|(.., message)| matches!(message, crate::Message::Aodv(AodvMessage::Reply(reply)) if !reply.is_hello()));
    assert_eq!(first.unwrap().1, NodeId(4));
    assert_eq!(bed.count(Kind::ReplyAck), 0);
}

#[test]
fn a_gratuitous_reply_gives_the_destination_a_route_to_the_origin() {
    for (gratuitous_reply, knows) in [(true, true), (false, false)] {
        let mut bed = bed(Graph::chain(4), Config { gratuitous_reply, ..quiet() }, 1);
        bed.send(1, 3);
        bed.run(at(1.0));
        bed.send(0, 3);
        bed.run(at(1.02));
        assert_eq!(bed.next_hop(3, 0).is_some(), knows);
    }
}

/// Returns a request from node 0 for a route to node 2, as received by node 1.
fn request(id: u32) -> crate::Message {
    crate::Message::Aodv(AodvMessage::Request(Request {
        gratuitous: false,
        destination_only: false,
        unknown_sequence: true,
        hop_count: 0,
        id,
        destination: NodeId(2),
        destination_sequence: Sequence(0),
        origin: NodeId(0),
        origin_sequence: Sequence(id),
        ttl: 5,
    }))
}

#[test]
fn neighbours_that_acknowledge_no_reply_are_ignored() {
    for acknowledges in [true, false] {
        let mut bed = bed(Graph::chain(3), Config::default(), 1);
        bed.run(at(3.0));
        let (mut graph, now) = (bed.graph.clone(), bed.now);
        let agent = &mut bed.agents[1];
        let mut ask = |agent: &mut Box<dyn Agent>, now, id| {
            agent.hear(now, NodeId(0), crate::Receiver::All, &request(id), 30.0, &mut graph);
            let answer = agent.poll_action();
            assert_eq!(agent.poll_action(), None);
            answer
        };
        // Node 1 has node 2 from its HELLOs, and replies.
        assert!(ask(agent, now, 100).is_some());
        if acknowledges {
            let ack = crate::Message::Aodv(AodvMessage::ReplyAck);
            agent.hear(now, NodeId(0), crate::Receiver::One(NodeId(1)), &ack, 30.0, &mut bed.graph);
        }
        agent.handle_timeout(now + Duration::from_millis(50), &mut bed.graph);
        assert_eq!(ask(agent, now + Duration::from_millis(51), 101).is_some(), acknowledges);
        if !acknowledges {
            // BLACKLIST_TIMEOUT, 5.6 s, is over. The route to node 2 is gone, and the request is relayed.
            assert_eq!(ask(agent, now + Duration::from_millis(5_651), 102), None);
            agent.handle_timeout(now + Duration::from_millis(5_661), &mut bed.graph);
            let actions: Vec<_> = std::iter::from_fn(|| agent.poll_action()).collect();
            assert!(
                actions.iter().any(|action| is_request(action, 102))
                    && !actions.iter().any(|action| is_request(action, 101))
            );
        }
    }
}

fn is_request(action: &crate::NodeAction, id: u32) -> bool {
    matches!(action, crate::NodeAction::Send { message: crate::Message::Aodv(AodvMessage::Request(request)), .. } if request.id == id)
}

#[test]
fn local_repair_finds_a_detour() {
    // 0-1-2-3-4, and 2-5-4 as well: the break at 2-3 is repaired there.
    let mut graph = Graph::new(7);
    [(0, 1), (1, 2), (2, 3), (3, 4), (2, 5), (5, 6), (6, 4)].iter().for_each(|&(a, b)| graph.join(a, b));
    let mut bed = bed(graph, Config { local_repair: true, ..quiet() }, 1);
    bed.send(0, 4);
    bed.run(at(2.0));
    assert_eq!(bed.next_hop(2, 4), Some((3, 2)));
    bed.graph.cut(2, 3);
    let kept = bed.send(0, 4);
    bed.run(at(3.0));
    let PacketEnd::Delivered { path, .. } = &bed.ends[&kept] else { panic!("{:?}", bed.ends) };
    assert_eq!(*path, [0, 1, 2, 5, 6].map(NodeId));
    assert_eq!(bed.next_hop(2, 4), Some((5, 3)));
    // The path is longer now, so an error with the flag N goes up to the origin, which keeps its route.
    let errors = bed
        .sent
        .iter()
        .filter(|(.., message)| matches!(message, crate::Message::Aodv(AodvMessage::Error(error)) if error.no_delete));
    assert_eq!(errors.count(), 2);
    assert_eq!(bed.next_hop(0, 4).map(|(hop, _)| hop), Some(1));
    assert_eq!(bed.told_of(4), [0; 0], "the route is there for all that use it");
}

#[test]
fn a_repair_without_success_is_reported() {
    let mut bed = bed(Graph::chain(4), Config { local_repair: true, ..quiet() }, 1);
    bed.send(0, 3);
    bed.run(at(2.0));
    bed.graph.cut(2, 3);
    let lost = bed.send(0, 3);
    bed.run(at(4.0));
    assert_eq!(bed.ends[&lost], PacketEnd::Discarded);
    assert_eq!(bed.next_hop(0, 3), None);
    assert_eq!(bed.count(Kind::RouteError), 2);
    assert_eq!(bed.told_of(3), [2, 1, 0]);
    // The ring of a repair is at least 240 ms.
    assert!(bed.broken[0].0 > at(2.24), "{:?}", bed.broken);
}

#[test]
fn routes_expire_and_are_forgotten() {
    let mut bed = bed(Graph::chain(3), quiet(), 1);
    bed.send(0, 2);
    bed.run(at(1.0));
    let route = bed.agents[0].routes(bed.now).into_iter().find(|route| route.destination == NodeId(2)).unwrap();
    let lifetime = route.lifetime.unwrap();
    assert!(lifetime > Duration::from_secs(10) && lifetime < Duration::from_millis(11_200));
    bed.run(at(12.5));
    assert_eq!(bed.next_hop(0, 2), None);
    // Known but expired: the first request goes two hops further than the route did, so one request is enough.
    let before = bed.count(Kind::RouteRequest);
    bed.send(0, 2);
    bed.run(at(12.7));
    assert!(bed.ends[&1].is_delivery());
    assert_eq!(bed.count(Kind::RouteRequest) - before, 2);
}

#[test]
fn sequence_numbers_may_wrap() {
    let mut bed = bed(Graph::chain(3), quiet(), 1);
    let hello = |sequence| {
        let reply = Reply {
            ack_required: false,
            hop_count: 0,
            destination: NodeId(1),
            destination_sequence: Sequence(sequence),
            origin: NodeId(1),
            lifetime: Duration::from_secs(2),
            ttl: 1,
        };
        crate::Message::Aodv(AodvMessage::Reply(reply))
    };
    let mut graph = bed.graph.clone();
    for sequence in [u32::MAX - 1, u32::MAX, 0, 1] {
        bed.agents[0].hear(bed.now, NodeId(1), crate::Receiver::All, &hello(sequence), 30.0, &mut graph);
    }
    // Node 0 replies to a request for node 1 that has the number before the wrap.
    let request = Request {
        gratuitous: false,
        destination_only: false,
        unknown_sequence: false,
        hop_count: 0,
        id: 1,
        destination: NodeId(1),
        destination_sequence: Sequence(u32::MAX),
        origin: NodeId(2),
        origin_sequence: Sequence(1),
        ttl: 5,
    };
    bed.agents[0].hear(
        bed.now,
        NodeId(2),
        crate::Receiver::All,
        &crate::Message::Aodv(AodvMessage::Request(request)),
        30.0,
        &mut graph,
    );
    let answer = bed.agents[0].poll_action().unwrap();
    let crate::NodeAction::Send { message: crate::Message::Aodv(AodvMessage::Reply(reply)), .. } = answer else {
        panic!("{answer:?}")
    };
    assert_eq!((reply.destination_sequence, reply.hop_count, reply.ack_required), (Sequence(1), 1, true));
}

#[test]
fn weak_broadcasts_make_no_routes_if_configured() {
    for (min_snr, knows) in [(29.0, true), (31.0, false)] {
        let mut bed = bed(Graph::chain(2), Config { min_snr, ..Config::default() }, 1);
        bed.run(at(1.0));
        assert_eq!(bed.next_hop(0, 1).is_some(), knows);
    }
}

/// Runs flows between random nodes on random graphs whose links come and go.
fn storm(seed: u64, config: Config, loss: f64) -> (usize, usize) {
    let mut random = RandomStream::new(seed, "storm");
    let graph = Graph::disc(14, 0.4, &mut random);
    let mut bed = bed(graph, config, seed);
    bed.loss = Some((loss, RandomStream::new(seed, "loss")));
    let mut pick = |most: u32| (random.uniform() * f64::from(most)) as u32;
    for step in 1..=400 {
        let (a, b) = (pick(14), pick(14));
        if a != b {
            match pick(4) {
                0 => bed.graph.cut(a, b),
                1 if bed.graph.positions[a as usize].distance(bed.graph.positions[b as usize]) < 50.0 => {
                    bed.graph.join(a, b)
                }
                _ => drop(bed.send(a, b)),
            }
        }
        bed.run(at(0.1 * f64::from(step)));
        assert_eq!(bed.cycle(), None, "seed {seed}, at {}", bed.now);
    }
    let looped = bed.ends.values().filter(|end| matches!(end, PacketEnd::Looped { .. })).count();
    (looped, bed.ends.values().filter(|end| end.is_delivery()).count())
}

#[test]
fn next_hops_never_form_a_cycle() {
    for seed in 0..25 {
        for config in
            [Config::default(), quiet(), Config { local_repair: true, link_break_on: LinkBreakOn::Any, ..quiet() }]
        {
            let (looped, delivered) = storm(seed, config, 0.0);
            assert_eq!(looped, 0);
            assert!(delivered > 20, "{delivered}");
        }
    }
}

#[test]
fn lost_messages_make_no_cycles() {
    for seed in 100..120 {
        assert_eq!(storm(seed, Config::default(), 0.2).0, 0);
    }
}

/// Runs flows between four pairs of nodes and some others, at random rates, with up to 30 % of the messages lost.
/// Returns the first routing loop, if there is one, and the number of packets that arrived.
fn long_storm(seed: u64, config: Config) -> (Option<Vec<u32>>, usize) {
    const NODES: u32 = 12;
    let mut random = RandomStream::new(seed, "storm");
    let graph = Graph::disc(NODES as usize, 0.3 + 0.2 * random.uniform(), &mut random);
    let mut bed = bed(graph, config, seed);
    bed.loss = Some((0.3 * random.uniform(), RandomStream::new(seed, "loss")));
    let pace = 0.02 + random.uniform() * random.uniform();
    let mut pick = |most: u32| (random.uniform() * f64::from(most)) as u32;
    let pairs: Vec<(u32, u32)> = (0..4).map(|_| (pick(NODES), pick(NODES))).collect();
    for step in 1..=400 {
        let (a, b) = if pick(3) == 0 { (pick(NODES), pick(NODES)) } else { pairs[pick(4) as usize] };
        let (c, d) = (pick(NODES), pick(NODES));
        let is_near = bed.graph.positions[c as usize].distance(bed.graph.positions[d as usize]) < 50.0;
        match pick(8) {
            0 if c != d => bed.graph.cut(c, d),
            1 if c != d && is_near => bed.graph.join(c, d),
            _ if a != b => drop(bed.send(a, b)),
            _ => {}
        }
        bed.run(at(pace * f64::from(step)));
        if let Some(cycle) = bed.cycle() {
            return (Some(cycle), 0);
        }
    }
    (None, bed.ends.values().filter(|end| end.is_delivery()).count())
}

fn mixed(seed: u64) -> Config {
    Config {
        local_repair: seed.is_multiple_of(3),
        hello: if seed.is_multiple_of(2) { HelloPolicy::Off } else { HelloPolicy::Always },
        drop_returning: seed.is_multiple_of(5),
        ..Config::default()
    }
}

#[test]
fn routes_that_expire_make_no_cycles() {
    for seed in 5_000..5_100 {
        let (cycle, delivered) = long_storm(seed, mixed(seed));
        assert_eq!(cycle, None, "seed {seed}");
        assert!(delivered > 10, "seed {seed}: {delivered}");
    }
}

#[test]
fn without_an_increment_on_expiry_there_are_cycles() {
    // Six of 1200 networks from seed 5000 have a cycle then, and none otherwise. Two of the six:
    for seed in [5_108, 5_208] {
        for increment_on_expiry in [false, true] {
            let (cycle, _) = long_storm(seed, Config { increment_on_expiry, ..mixed(seed) });
            assert_eq!(cycle.is_none(), increment_on_expiry, "seed {seed}");
        }
    }
}

#[test]
fn a_request_from_the_next_hop_is_relayed_unless_it_shall_be_dropped() {
    for drop_returning in [false, true] {
        let mut bed = bed(Graph::chain(4), Config { drop_returning, ..quiet() }, 1);
        // Node 2 has a route to node 0 over node 1. Its route expires, and node 1 requests node 0.
        bed.send(2, 0);
        bed.run(at(1.0));
        assert_eq!(bed.next_hop(2, 0), Some((1, 2)));
        bed.graph.cut(0, 1);
        bed.run(at(14.0));
        bed.sent.clear();
        bed.send(1, 0);
        bed.run(at(15.0));
        let relayed = bed.sent.iter().any(|(_, node, ..)| *node == NodeId(2));
        assert_eq!(relayed, !drop_returning);
    }
}

fn error_about(destination: u32, sequence: u32) -> crate::Message {
    crate::Message::Aodv(AodvMessage::Error(Error {
        no_delete: false,
        unreachable: vec![(NodeId(destination), Sequence(sequence))],
    }))
}

/// Returns the number of errors that a relay in a chain of four nodes sends after `act`, once a packet has passed
/// through it.
fn errors_of_a_relay(config: Config, mut act: impl FnMut(&mut dyn Agent, Instant)) -> usize {
    let mut bed = bed(Graph::chain(4), config, 1);
    let packet = bed.send(0, 3);
    bed.run(at(2.0));
    assert!(bed.ends[&packet].is_delivery());
    let relay = bed.agents[1].as_mut();
    while relay.poll_action().is_some() {}
    act(relay, bed.now);
    relay.handle_timeout(at(2.05), &mut Graph::new(0));
    let sent = std::iter::from_fn(|| relay.poll_action());
    let is_error = |action: &crate::NodeAction| {
        matches!(action, crate::NodeAction::Send { message: crate::Message::Aodv(AodvMessage::Error(_)), .. })
    };
    sent.filter(is_error).count()
}

#[test]
fn redundant_errors_are_forwarded_again_as_in_ns3() {
    for (errors, expected) in [(Errors::Rfc3561, 1), (Errors::Ns3, 5)] {
        let sent = errors_of_a_relay(Config { errors, ..quiet() }, |relay, now| {
            for _ in 0..5 {
                let error = error_about(3, 9);
                relay.hear(now, NodeId(2), crate::Receiver::One(NodeId(1)), &error, 30.0, &mut Graph::new(0));
            }
        });
        assert_eq!(sent, expected);
    }
}

#[test]
fn each_packet_without_a_route_gets_an_error_until_forwarded_errors_reach_the_limit_as_in_ns3() {
    let refuse = |relay: &mut dyn Agent, now: Instant| {
        let heading = crate::PacketInfo { origin: NodeId(0), destination: NodeId(9), ttl: 9, size: 100 };
        let verdict = relay.route(now, &heading, Some(NodeId(0)), &mut crate::RoutingHeader::None, &mut Graph::new(0));
        assert_eq!(verdict, crate::Verdict::Unreachable);
    };
    for (errors, expected) in [(Errors::Rfc3561, 10), (Errors::Ns3, 25)] {
        let config = Config { errors, ..quiet() };
        assert_eq!(errors_of_a_relay(config, |relay, now| (0..25).for_each(|_| refuse(relay, now))), expected);
    }
    let config = Config { errors: Errors::Ns3, ..quiet() };
    let sent = errors_of_a_relay(config, |relay, now| {
        for _ in 0..12 {
            let error = error_about(3, 9);
            relay.hear(now, NodeId(2), crate::Receiver::One(NodeId(1)), &error, 30.0, &mut Graph::new(0));
        }
        refuse(relay, now);
    });
    assert_eq!(sent, 10);
}

/// Returns a reply from node 1 to `origin`; it is a HELLO if `origin` is the destination.
fn reply(origin: u32, destination: u32, ack_required: bool) -> crate::Message {
    crate::Message::Aodv(AodvMessage::Reply(Reply {
        ack_required,
        hop_count: u8::from(origin != destination),
        destination: NodeId(destination),
        destination_sequence: Sequence(1),
        origin: NodeId(origin),
        lifetime: Duration::from_secs(5),
        ttl: 1,
    }))
}

/// Returns the agent of node 0, which has no neighbours.
fn alone(config: Config) -> Aodv {
    Aodv::new(config, &Identity { node: NodeId(0), name: "n0", seed: 1 })
}

#[test]
fn a_dropped_frame_breaks_no_link_to_a_neighbour_that_is_not_expected_in_ns3() {
    for (proof, survives) in [(Proof::Acknowledged, false), (Proof::Forwarded, true)] {
        let mut agent = alone(Config { proof, ..Config::default() });
        let tell = |agent: &mut Aodv, to, message: &crate::Message| {
            agent.hear(at(1.0), NodeId(1), to, message, 30.0, &mut Graph::new(0));
        };
        tell(&mut agent, crate::Receiver::One(NodeId(0)), &reply(0, 2, false));
        agent.broken(at(1.0), NodeId(1), Break::Retry, None);
        assert_eq!(agent.routes(at(1.0)).iter().any(|route| route.destination == NodeId(2)), survives);
        tell(&mut agent, crate::Receiver::All, &reply(1, 1, false));
        agent.broken(at(1.0), NodeId(1), Break::Retry, None);
        assert!(agent.routes(at(1.0)).is_empty());
        // A packet that came over the neighbour shows that it is there, and acknowledgements show nothing.
        let heading = crate::PacketInfo { origin: NodeId(2), destination: NodeId(0), ttl: 9, size: 100 };
        agent.delivered(at(1.0), &heading, NodeId(1), &crate::RoutingHeader::None);
        agent.sent(at(3.0), NodeId(1));
        assert_eq!(agent.neighbours.contains(at(3.9), NodeId(1)), survives);
        assert!(!agent.neighbours.contains(at(4.0), NodeId(1)));
    }
}

#[test]
fn a_message_by_unicast_shows_that_a_neighbour_is_there_if_the_route_to_it_is_valid_in_ns3() {
    for proof in [Proof::Acknowledged, Proof::Forwarded] {
        let mut agent = alone(Config { proof, ..Config::default() });
        for shows in [false, proof == Proof::Forwarded] {
            let to = crate::Receiver::One(NodeId(0));
            agent.hear(at(1.0), NodeId(1), to, &reply(0, 2, false), 30.0, &mut Graph::new(0));
            assert_eq!(agent.neighbours.contains(at(3.9), NodeId(1)), shows);
        }
    }
}

#[test]
fn a_message_without_a_route_to_its_neighbour_waits_for_one_if_configured() {
    let sent = |agent: &mut Aodv, now: Instant| -> Vec<crate::Message> {
        agent.handle_timeout(now, &mut Graph::new(0));
        let messages = std::iter::from_fn(|| agent.poll_action()).filter_map(|action| match action {
            crate::NodeAction::Send { message, .. } => Some(message),
            _ => None,
        });
        messages.collect()
    };
    let is_ack = |message: &crate::Message| matches!(message, crate::Message::Aodv(AodvMessage::ReplyAck));
    for route_messages in [false, true] {
        let mut agent = alone(Config { route_messages, ..Config::default() });
        let tell = |agent: &mut Aodv, now, to, message: &crate::Message| {
            agent.hear(now, NodeId(1), to, message, 30.0, &mut Graph::new(0));
        };
        tell(&mut agent, at(1.0), crate::Receiver::All, &reply(1, 1, false));
        agent.broken(at(1.0), NodeId(1), Break::Retry, None);
        tell(&mut agent, at(1.0), crate::Receiver::One(NodeId(0)), &reply(0, 2, true));
        let first = sent(&mut agent, at(1.05));
        assert_eq!(first.iter().any(is_ack), !route_messages);
        let asks = |message: &crate::Message| match message {
            crate::Message::Aodv(AodvMessage::Request(request)) => request.destination == NodeId(1),
            _ => false,
        };
        assert_eq!(first.iter().any(asks), route_messages);
        tell(&mut agent, at(1.1), crate::Receiver::All, &reply(1, 1, false));
        assert_eq!(sent(&mut agent, at(1.15)).iter().any(is_ack), route_messages);
    }
}

#[test]
fn an_error_about_a_packet_is_a_broadcast_without_a_route_to_its_origin_in_ns3() {
    for (errors, origin, expected) in [
        (Errors::Rfc3561, 5, crate::Receiver::One(NodeId(1))),
        (Errors::Ns3, 1, crate::Receiver::One(NodeId(1))),
        (Errors::Ns3, 5, crate::Receiver::All),
    ] {
        let mut agent = alone(Config { errors, ..Config::default() });
        agent.hear(at(1.0), NodeId(1), crate::Receiver::All, &reply(1, 1, false), 30.0, &mut Graph::new(0));
        let heading = crate::PacketInfo { origin: NodeId(origin), destination: NodeId(9), ttl: 9, size: 100 };
        agent.route(at(1.0), &heading, Some(NodeId(1)), &mut crate::RoutingHeader::None, &mut Graph::new(0));
        let Some(crate::NodeAction::Send { to, message: crate::Message::Aodv(AodvMessage::Error(_)), .. }) =
            agent.poll_action()
        else {
            panic!()
        };
        assert_eq!(to, expected);
    }
}

#[test]
fn a_request_leaves_an_invalid_reverse_route_invalid_if_configured() {
    for revive_reverse_route in [true, false] {
        let mut bed = bed(Graph::chain(3), Config { revive_reverse_route, ..quiet() }, 1);
        bed.send(0, 2);
        bed.run(at(1.0));
        assert!(bed.next_hop(2, 0).is_some());
        bed.agents[2].broken(bed.now, NodeId(1), Break::Retry, None);
        bed.agents[0].broken(bed.now, NodeId(1), Break::Retry, None);
        let packet = bed.send(0, 2);
        bed.run(at(2.0));
        assert!(bed.ends[&packet].is_delivery());
        assert_eq!(bed.next_hop(2, 0).is_some(), revive_reverse_route);
    }
}

#[test]
fn a_broken_route_keeps_its_sequence_number_if_configured() {
    for increment_on_break in [true, false] {
        let mut bed = bed(Graph::chain(3), Config { increment_on_break, ..quiet() }, 1);
        bed.send(0, 2);
        bed.run(at(1.0));
        bed.sent.clear();
        bed.agents[0].broken(bed.now, NodeId(1), Break::Retry, None);
        bed.send(0, 2);
        bed.run(at(1.1));
        let (.., crate::Message::Aodv(AodvMessage::Request(request))) = &bed.sent[0] else { panic!() };
        assert_eq!(request.destination_sequence, Sequence(u32::from(increment_on_break)));
    }
}

/// Returns the times to live of the replies that a node sends in a ring of three nodes, in which each node forwards the
/// others' requests.
fn replies_in_a_loop(config: Config) -> Vec<u8> {
    let mut agent = alone(config);
    let mut graph = Graph::new(0);
    agent.start(at(0.0));
    for (from, origin) in [(1, 1), (2, 2), (2, 8), (1, 9)] {
        let crate::Message::Aodv(AodvMessage::Request(template)) = request(1) else { panic!() };
        let looped_request = Request { origin: NodeId(origin), destination: NodeId(7), ..template };
        let message = crate::Message::Aodv(AodvMessage::Request(looped_request));
        agent.hear(at(0.1), NodeId(from), Receiver::All, &message, 30.0, &mut graph);
    }
    while agent.poll_action().is_some() {}
    let mut left = Vec::new();
    let crate::Message::Aodv(AodvMessage::Reply(first)) = reply(8, 9, false) else { panic!() };
    let mut next = Some(Reply { ttl: 4, ..first });
    while let Some(next_reply) = next.take() {
        let message = crate::Message::Aodv(AodvMessage::Reply(next_reply));
        agent.hear(at(0.2), NodeId(1), Receiver::One(NodeId(0)), &message, 30.0, &mut graph);
        for action in std::iter::from_fn(|| agent.poll_action()) {
            if let NodeAction::Send {
                to: Receiver::One(_),
                message: crate::Message::Aodv(AodvMessage::Reply(passed)),
                ttl,
            } = action
            {
                left.push(ttl);
                // It returns over the loop.
                next = (left.len() < 100).then_some(passed);
            }
        }
    }
    left
}

#[test]
fn a_reply_dies_in_a_loop() {
    assert_eq!(replies_in_a_loop(quiet()), [3, 2, 1]);
}

#[test]
fn a_reply_starts_with_the_hops_of_its_route_as_in_ns3_or_with_the_diameter() {
    for (route_messages, first) in [(false, 35), (true, 3)] {
        let config = Config { route_messages, ..quiet() };
        let mut bed = bed(Graph::chain(4), config, 1);
        let packet = bed.send(0, 3);
        bed.run(at(4.0));
        assert!(bed.ends[&packet].is_delivery());
        let replies: Vec<u8> = (bed.sent.iter())
            .filter_map(|(.., message)| match message {
                crate::Message::Aodv(AodvMessage::Reply(reply)) => Some(reply.ttl),
                _ => None,
            })
            .collect();
        assert_eq!(replies, [first, first - 1, first - 2]);
    }
}
