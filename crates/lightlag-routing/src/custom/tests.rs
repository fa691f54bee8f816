use super::*;
use crate::testbed::{Bed, Graph, PacketEnd, at, wifi};
use lightlag_core::Duration;
use lightlag_core::custom::{Description, Origin};

/// Routes along a chain, to the neighbour with the next number. At the start the node broadcasts its number.
struct Chain {
    node: NodeId,
    known: Vec<NodeId>,
    orders: Vec<Order>,
    wake: Option<Instant>,
    /// Next hop of packets to node 9.
    nine: NodeId,
    /// Whether the router holds packets until a message of the next neighbour arrives.
    waits: bool,
}

impl NodeRouter for Chain {
    fn start(&mut self, now: Instant, world: &mut dyn Surroundings) -> Result<(), String> {
        assert!(world.has(self.node));
        self.wake = Some(now + Duration::from_millis(500));
        Ok(())
    }

    fn next_hop(
        &mut self,
        _now: Instant,
        heading: &PacketInfo,
        _from: Option<NodeId>,
        _world: &mut dyn Surroundings,
    ) -> Result<Verdict, String> {
        let next = match heading.destination {
            NodeId(9) => return Ok(Verdict::Via(self.nine)),
            to if to > self.node => NodeId(self.node.0 + 1),
            _ => NodeId(self.node.0 - 1),
        };
        let knows = self.known.contains(&next);
        Ok(if knows {
            Verdict::Via(next)
        } else if self.waits {
            Verdict::Wait
        } else {
            Verdict::Unreachable
        })
    }

    fn hear(&mut self, _now: Instant, heard: &Heard, _world: &mut dyn Surroundings) -> Result<(), String> {
        assert_eq!((heard.payload, heard.to), (&[heard.from.0 as u8][..], Receiver::All));
        self.known.push(heard.from);
        self.orders.extend((0..5).map(|to| Order::Release(NodeId(to))));
        Ok(())
    }

    fn wake(&mut self, _now: Instant, _world: &mut dyn Surroundings) -> Result<(), String> {
        self.wake = None;
        self.orders.push(Order::Send(Receiver::All, vec![self.node.0 as u8].into()));
        Ok(())
    }

    fn broken(
        &mut self,
        _now: Instant,
        _to: NodeId,
        _heading: Option<&PacketInfo>,
    ) -> Result<FailedPacketFate, String> {
        Err("a neighbour is lost".to_owned())
    }

    fn take(&mut self) -> Option<Order> {
        self.orders.pop()
    }

    fn wakes_at(&self) -> Option<Instant> {
        self.wake
    }
}

struct Chains {
    facts: Description,
    nine: u32,
    waits: bool,
}

impl Factory for Chains {
    fn facts(&self) -> &Description {
        &self.facts
    }
}

impl RouterFactory for Chains {
    fn build(self: Arc<Self>, start: &NodeInfo, _values: &[f64]) -> Box<dyn NodeRouter> {
        let (nine, waits) = (NodeId(self.nine), self.waits);
        Box::new(Chain { node: start.node, known: Vec::new(), orders: Vec::new(), wake: None, nine, waits })
    }
}

fn bed(nine: u32, waits: bool) -> Bed {
    let facts = Description {
        name: "chain",
        origin: Origin::Registered,
        code: String::new(),
        parameters: Vec::new(),
        holds_interpreter: false,
    };
    let own = CustomRouter::of(Arc::new(Chains { facts, nine, waits }) as Arc<dyn RouterFactory>);
    let agent = |node| build(&own, &Identity { node: NodeId(node), name: &format!("n{node}"), seed: 1 });
    Bed::new(Graph::chain(4), (0..4).map(agent).collect(), wifi)
}

#[test]
fn messages_reach_neighbours_and_packets_are_forwarded() {
    let mut bed = bed(0, false);
    let early = bed.send(0, 3);
    bed.run(at(1.0));
    assert!(matches!(&bed.ends[&early], PacketEnd::Unreachable { .. }), "no message has arrived yet");
    let packet = bed.send(0, 3);
    bed.run(at(2.0));
    let PacketEnd::Delivered { path, .. } = &bed.ends[&packet] else { panic!("{:?}", bed.ends) };
    assert_eq!(path.len(), 3);
    let agent = &bed.agents[1];
    assert_eq!((agent.changes(), agent.traffic().datagrams(), agent.traffic().payload()), (1, 1, 1));
    assert_eq!(agent.traffic().messages(crate::Kind::Custom), 1);
    let routes: Vec<_> = agent.routes(bed.now).iter().map(|route| (route.destination, route.next_hop)).collect();
    assert_eq!(routes, [(NodeId(3), NodeId(2))]);
}

#[test]
fn packets_wait_until_they_are_released() {
    let mut bed = bed(0, true);
    let packet = bed.send(0, 3);
    bed.run(at(2.0));
    assert!(matches!(&bed.ends[&packet], PacketEnd::Delivered { path, .. } if path.len() == 3));
}

#[test]
fn a_next_hop_that_cannot_be_is_a_failure() {
    for (next, why) in [(2, "the node itself"), (17, "not another node of the medium")] {
        let mut bed = bed(next, false);
        let packet = bed.send(2, 9);
        bed.run(at(1.0));
        assert!(matches!(&bed.ends[&packet], PacketEnd::Unreachable { .. }));
        let fault = bed.agents[2].fault().expect("it has failed");
        let said = format!("chain: next_hop: returned {next} for a packet from 2 to 9, which is {why};");
        assert!(fault.message.starts_with(&said), "{}", fault.message);
        assert_eq!(bed.agents[2].poll_timeout(), None);
        assert_eq!(bed.agents[1].fault(), None);
    }
}

#[test]
fn an_error_is_a_failure_at_its_time() {
    let mut bed = bed(0, false);
    bed.run(at(1.0));
    bed.graph.cut(1, 2);
    bed.send(0, 3);
    bed.run(at(2.0));
    let fault = bed.agents[1].fault().expect("it has failed");
    assert_eq!(fault.message, "chain: on_broken: a neighbour is lost");
    assert!(fault.at > at(1.0));
}
