use super::*;
use crate::testbed::{Bed, End, Graph, at, wifi};
use lightlag_core::Duration;
use lightlag_core::own::{Facts, Origin};

/// Sends along a chain to the neighbour with the next number. At the start it tells its number to its neighbours.
struct Chain {
    node: NodeId,
    known: Vec<NodeId>,
    orders: Vec<Order>,
    wake: Option<Instant>,
    /// The neighbour to which it sends packets for node 9.
    nine: NodeId,
    /// Whether it waits until it knows the next neighbour.
    waits: bool,
}

impl Router for Chain {
    fn start(&mut self, now: Instant, world: &mut dyn Surroundings) -> Result<(), String> {
        assert!(world.has(self.node));
        self.wake = Some(now + Duration::from_millis(500));
        Ok(())
    }

    fn next_hop(
        &mut self,
        _now: Instant,
        heading: &Heading,
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

    fn broken(&mut self, _now: Instant, _to: NodeId, _heading: Option<&Heading>) -> Result<Fate, String> {
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
    facts: Facts,
    nine: u32,
    waits: bool,
}

impl Outside for Chains {
    fn facts(&self) -> &Facts {
        &self.facts
    }
}

impl Maker for Chains {
    fn build(self: Arc<Self>, start: &Start, _values: &[f64]) -> Box<dyn Router> {
        let (nine, waits) = (NodeId(self.nine), self.waits);
        Box::new(Chain { node: start.node, known: Vec::new(), orders: Vec::new(), wake: None, nine, waits })
    }
}

fn bed(nine: u32, waits: bool) -> Bed {
    let facts = Facts {
        name: "chain",
        origin: Origin::Registered,
        code: String::new(),
        parameters: Vec::new(),
        holds_interpreter: false,
    };
    let own = Own::of(Arc::new(Chains { facts, nine, waits }) as Arc<dyn Maker>);
    let agent = |node| build(&own, &Identity { node: NodeId(node), name: &format!("n{node}"), seed: 1 });
    Bed::new(Graph::chain(4), (0..4).map(agent).collect(), wifi)
}

#[test]
fn messages_tell_neighbours_and_packets_go_on() {
    let mut bed = bed(0, false);
    let early = bed.send(0, 3);
    bed.run(at(1.0));
    assert!(matches!(&bed.ends[&early], End::Unreachable { .. }), "nobody has told anything yet");
    let packet = bed.send(0, 3);
    bed.run(at(2.0));
    let End::Delivered { path, .. } = &bed.ends[&packet] else { panic!("{:?}", bed.ends) };
    assert_eq!(path.len(), 3);
    let agent = &bed.agents[1];
    assert_eq!((agent.changes(), agent.traffic().datagrams(), agent.traffic().payload()), (1, 1, 1));
    assert_eq!(agent.traffic().messages(crate::Kind::Own), 1);
    let routes: Vec<_> = agent.routes(bed.now).iter().map(|route| (route.destination, route.next_hop)).collect();
    assert_eq!(routes, [(NodeId(3), NodeId(2))]);
}

#[test]
fn packets_wait_until_they_are_released() {
    let mut bed = bed(0, true);
    let packet = bed.send(0, 3);
    bed.run(at(2.0));
    assert!(matches!(&bed.ends[&packet], End::Delivered { path, .. } if path.len() == 3));
}

#[test]
fn a_next_hop_that_cannot_be_is_a_failure() {
    for (next, why) in [(2, "the node itself"), (17, "no other node of the medium")] {
        let mut bed = bed(next, false);
        let packet = bed.send(2, 9);
        bed.run(at(1.0));
        assert!(matches!(&bed.ends[&packet], End::Unreachable { .. }));
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
