use super::*;
use crate::link::{Disturbance, LinkModel, QueuedLink, Reordering};
use crate::{EndpointId, NodeId, PacketFlags};
use crate::{Loss, LossProcess};
use lightlag_core::params::{Range, Registered, Value};
use lightlag_core::{Bytes, Duration, Probability};
use proptest::prelude::*;

/// Returns a packet of a flow.
pub(super) fn packet(flow: u32, size: u16, ecn: Codepoint) -> Packet<u32> {
    Packet::new(NodeId(1), EndpointId(flow), size, PacketFlags::new(true).with_ecn(ecn), 0)
}

#[test]
fn a_limit_never_drops_a_packet_at_an_empty_queue() {
    assert!(QueueLimit::Bytes(10).admits(Backlog::default(), 1500));
    let one = Backlog { packets: 1, bytes: 1000 };
    assert!(!QueueLimit::Packets(1).admits(one, 40) && QueueLimit::Packets(2).admits(one, 40));
    assert!(!QueueLimit::Bytes(1999).admits(one, 1000) && QueueLimit::Bytes(2000).admits(one, 1000));
}

#[test]
fn a_parameter_returns_its_value() {
    for name in Choice::NAMES {
        let mut choice = Choice::named(name).unwrap();
        assert_eq!(choice.name(), *name);
        for (index, parameter) in choice.parameters().iter().enumerate() {
            assert_eq!(choice.get(index), parameter.default, "{name}.{}", parameter.key);
            let other = match parameter.range {
                Range::Flag => Value::Flag(parameter.default == Value::Flag(false)),
                Range::Count { most, .. } => Value::Count(most),
                Range::Number { most, .. } => Value::Number(most),
                Range::Whole { most, .. } => Value::Number(most),
                Range::AtLeast { least, .. } => Value::Number(f64::from(least)),
                Range::Time { .. } => Value::Time(Duration::from_secs(1)),
                Range::Probability { .. } => Value::Probability(Probability::new(0.75).unwrap()),
                Range::Size => Value::Size(Bytes(77)),
                Range::Limit => Value::Limit(Limit::Bdp(0.5)),
                Range::Word { words, .. } => Value::Word(words.len() - 1),
                Range::Times => Value::Times(vec![Duration::from_secs(1)]),
                Range::Quantity { most, .. } => Value::Number(most),
                Range::Text { .. } => Value::Text("text".to_owned()),
                Range::Rows { columns, .. } => Value::Rows(vec![vec![1.0; columns.len()]]),
                Range::Packets { .. } => Value::Packets(vec![1]),
                Range::Table { parameters, .. } => {
                    Value::Table(parameters().into_iter().map(|of| of.default).collect())
                }
                other => panic!("{other:?} of {} has no other value here", parameter.key),
            };
            let before: Vec<Value> = (0..choice.parameters().len()).map(|index| choice.get(index)).collect();
            choice.set(index, other.clone());
            assert!(
                (0..before.len()).all(|at| choice.get(at) == *(if at == index { &other } else { &before[at] })),
                "{name}"
            );
        }
    }
}

/// Returns every discipline. Random traffic on a link of 8 Mbit/s exceeds their thresholds.
fn disciplines() -> [DisciplineConfig; 17] {
    let ms = Duration::from_millis;
    let red = RedConfig {
        min_threshold: QueueLimit::Packets(2),
        max_threshold: QueueLimit::Packets(6),
        max_probability: Probability::new(0.1).unwrap(),
        weight: Probability::new(0.1).unwrap(),
        gentle: true,
        ecn: true,
        mean_packet: Bytes(500),
    };
    let bytes = RedConfig {
        min_threshold: QueueLimit::Bytes(2_000),
        max_threshold: QueueLimit::Bytes(6_000),
        gentle: false,
        ecn: false,
        ..red
    };
    let codel = CoDelConfig { target: ms(2), interval: ms(10), ecn: true };
    [
        DisciplineConfig::DropTail,
        DisciplineConfig::Red(red),
        DisciplineConfig::Red(bytes),
        DisciplineConfig::CoDel(codel),
        DisciplineConfig::CoDel(CoDelConfig { ecn: false, ..codel }),
        DisciplineConfig::FqCoDel(FqCoDelConfig { codel, flows: 4, quantum: Bytes(300) }),
        DisciplineConfig::Pie(PieConfig { target: ms(2), update: ms(2), burst: ms(5), ecn: true }),
        DisciplineConfig::DualPi2(DualPi2Config { target: ms(2), max_rtt: ms(10), ..DualPi2Config::default() }),
        DisciplineConfig::Step(StepConfig {
            threshold: QueueLimit::Packets(4),
            drop_not_ect: true,
            weight: Probability::ONE,
        }),
        DisciplineConfig::Priority(PriorityMode::PushOut),
        DisciplineConfig::Priority(PriorityMode::Strict),
        DisciplineConfig::AckFilter(AckFilterConfig { filter: true, every: 2 }),
        DisciplineConfig::PerFlow(PerFlowConfig { drop: DropEnd::Tail }),
        DisciplineConfig::PerFlow(PerFlowConfig { drop: DropEnd::Head }),
        DisciplineConfig::HeadDrop(HeadDropConfig),
        DisciplineConfig::Netem(NetemCount::Bursts),
        DisciplineConfig::Netem(NetemCount::Packets),
    ]
}

const CODEPOINTS: [Codepoint; 4] = [Codepoint::NotEct, Codepoint::Ect0, Codepoint::Ect1, Codepoint::Ce];

/// Outcome of all packets: arrivals and drops with their times, and the counters.
type Story = (Vec<(u64, u32, Codepoint)>, Vec<(u64, u32)>, crate::link::LinkCounters);

fn play(config: &DisciplineConfig, traffic: &[(u64, u16, u8)], limit: u64, disturbed: bool) -> Story {
    let stream = |name| RandomStream::new(1, name);
    let queue = if limit.is_multiple_of(2) { QueueLimit::Packets(limit) } else { QueueLimit::Bytes(limit * 700) };
    let link = LinkConfig { rate: "8 Mbit/s".parse().unwrap(), delay: Duration::from_millis(3), queue, header: 10 };
    let chance = |p| Probability::new(if disturbed { p } else { 0.0 }).unwrap();
    let hold = Reordering { probability: chance(0.2), least: Duration::ZERO, most: Duration::from_millis(9) };
    let disturbance =
        Disturbance::none().reordering(hold, stream("reorder")).duplicating(chance(0.1), stream("duplicate"));
    let loss = LossProcess::new(&Loss::Packet(chance(0.05)), stream("loss"));
    let mut link = QueuedLink::new(link, config.build(&link, stream("queue")), loss, disturbance);
    let (mut arrived, mut dropped) = (Vec::new(), Vec::new());
    let mut now = Instant::ZERO;
    let mut step = |link: &mut QueuedLink<u32>, until: Instant| {
        while let Some(wake) = link.next_wake().filter(|wake| *wake <= until) {
            if let Some(packet) = link.receive(wake) {
                arrived.push((wake.as_nanos(), packet.body, packet.ecn()));
            }
        }
        dropped.extend(link.dropped().map(|dropped| (dropped.at.as_nanos(), dropped.packet.body)));
        let c = link.counters();
        let gone = c.dropped_queue + c.dropped_aqm + c.dropped_error + c.dropped_acks + c.delivered;
        assert_eq!(c.offered + c.duplicated, gone + link.in_flight() as u64, "{config:?}");
    };
    for (body, (gap, size, kind)) in traffic.iter().enumerate() {
        now += Duration::from_nanos(*gap);
        step(&mut link, now);
        let ecn = CODEPOINTS[usize::from(kind % 4)];
        // A part of the packets, with any flows and marks.
        let plain = packet(u32::from(kind / 4), *size, ecn);
        let flags = plain.flags.with_low_priority(kind % 3 == 0).with_following(kind % 5 == 0);
        link.send(now, Packet { body: body as u32, flags, ..plain });
    }
    step(&mut link, Instant::MAX);
    assert_eq!(link.in_flight(), 0, "{config:?}: a queue that waits is served");
    (arrived, dropped, link.counters())
}

proptest! {
    #[test]
    fn every_packet_leaves_or_is_dropped_and_the_same_again_with_the_same_seed(
        traffic in prop::collection::vec((0u64..1_500_000, 40u16..1500, 0u8..64), 1..400),
        limit in 4u64..40,
        disturbed in any::<bool>(),
    ) {
        for config in disciplines() {
            let story = play(&config, &traffic, limit, disturbed);
            prop_assert_eq!(&story, &play(&config, &traffic, limit, disturbed));
            let (arrived, dropped, counters) = story;
            prop_assert!(dropped.is_sorted_by_key(|(at, _)| *at));
            prop_assert_eq!(dropped.len() as u64, counters.dropped_queue + counters.dropped_aqm + counters.dropped_acks);
            prop_assert_eq!(arrived.len() as u64, counters.delivered + counters.dropped_error);
            for (_, body, ecn) in &arrived {
                let sent = CODEPOINTS[usize::from(traffic[*body as usize].2 % 4)];
                prop_assert!(*ecn == sent || (*ecn == Codepoint::Ce && sent.is_capable()), "{sent:?} became {ecn:?}");
            }
            if !disturbed {
                let mut bodies: Vec<u32> = arrived.iter().map(|(_, body, _)| *body).collect();
                bodies.extend(dropped.iter().map(|(_, body)| *body));
                bodies.sort_unstable();
                prop_assert_eq!(bodies, (0..traffic.len() as u32).collect::<Vec<_>>());
            }
        }
    }
}

proptest! {
    #[test]
    fn withdrawing_takes_only_the_selected_packets(flows in prop::collection::vec((0_u32..6, 40_u16..1500), 1..40)) {
        for config in disciplines() {
            let link = LinkConfig {
                rate: "8 Mbit/s".parse().unwrap(),
                delay: Duration::ZERO,
                queue: QueueLimit::Packets(1_000),
                header: 0,
            };
            let mut queue = config.build::<u32>(&link, RandomStream::new(1, "queue"));
            let mut verdicts = Verdicts::default();
            for (flow, size) in &flows {
                queue.enqueue(Instant::ZERO, packet(*flow, *size, Codepoint::NotEct), &mut verdicts);
            }
            let before = queue.backlog();
            let withdrawn = queue.withdraw(&mut |packet| packet.to.0 == 3);
            prop_assert!(withdrawn.iter().all(|packet| packet.to.0 == 3));
            let left = queue.backlog();
            prop_assert_eq!(left.packets + withdrawn.len() as u64, before.packets);
            prop_assert_eq!(left.bytes + bytes(&withdrawn), before.bytes);
            let mut verdicts = Verdicts::default();
            let mut leaving = 0;
            while let Some(next) = queue.dequeue(Instant::ZERO, &mut verdicts) {
                prop_assert!(next.packet.to.0 != 3);
                leaving += 1;
            }
            prop_assert_eq!(leaving + verdicts.dropped.len() as u64, left.packets);
        }
    }
}
