use super::*;
use lightlag_core::{Codepoint, Duration};
use lightlag_net::{EndpointId, PacketFlags};
use std::sync::Arc;

fn network(links: &str) -> Network {
    let flow = "[[flows]]\nfrom = \"a\"\nto = \"b\"";
    lightlag_scenario::parse_toml(&format!("duration = \"1 s\"\n{links}\n{flow}"), &[]).unwrap().expand().unwrap()
}

fn packet<B>(destination: NodeId, size: u16, body: B) -> Packet<B> {
    Packet::new(destination, EndpointId(0), size, PacketFlags::new(true).with_ecn(Codepoint::Ect0), body)
}

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

#[test]
fn packets_cross_two_links_and_come_out_at_their_time() {
    let network = network(
        r#"
        [[links]]
        between = ["a", "b"]
        rate = "12 Mbit/s"
        delay = "10 ms"
        [[links]]
        between = ["b", "c"]
        rate = "6 Mbit/s"
        delay = "20 ms"
        "#,
    );
    let mut path = Emulator::new(&network, 1);
    path.send(at(0), NodeId(0), packet(NodeId(2), 1500, "first"));
    path.send(at(0), NodeId(0), packet(NodeId(2), 1500, "second"));
    path.send(at(0), NodeId(2), packet(NodeId(0), 750, "back"));
    // Back: 1 + 20 + 0.5 + 10 ms. There: 1 + 10 + 2 + 20 = 33 ms, and the second 2 ms later, at the slower link.
    assert!(path.next_delivery(at(31)).is_none());
    let mut out = Vec::new();
    while let Some((due, packet)) = path.next_delivery(at(1000)) {
        out.push((due.as_nanos(), packet.body));
    }
    assert_eq!(out, [(31_500_000, "back"), (33_000_000, "first"), (35_000_000, "second")]);
    assert_eq!(path.next_event(), None);
}

#[test]
fn bodies_are_released_whatever_becomes_of_their_packets() {
    // A queue of two that loses and doubles half of what it sends.
    let network = network(
        r#"
        [[links]]
        between = ["a", "b"]
        rate = "12 Mbit/s"
        delay = "10 ms"
        queue = { discipline = "codel", limit = "2 packets" }
        loss = 0.5
        duplicate = 0.5
        "#,
    );
    let mut path = Emulator::new(&network, 1);
    let body = Arc::new(());
    let mut delivered = 0;
    for ms in 0..400 {
        for _ in 0..3 {
            path.send(at(ms), NodeId(0), packet(NodeId(1), 1500, Arc::clone(&body)));
        }
        while path.next_delivery(at(ms)).is_some() {
            delivered += 1;
        }
    }
    while path.next_delivery(at(2000)).is_some() {
        delivered += 1;
    }
    let counters = path.links(at(2000)).next().unwrap().0;
    assert!(counters.dropped_queue > 0 && counters.dropped_error > 0 && counters.duplicated > 0, "{counters:?}");
    assert_eq!(counters.offered + counters.duplicated, counters.dropped_queue + counters.dropped_error + delivered);
    assert_eq!(Arc::strong_count(&body), 1);
}

#[test]
fn a_queue_marks_its_packets() {
    let network = network(
        r#"
        [[links]]
        between = ["a", "b"]
        rate = "12 Mbit/s"
        delay = "10 ms"
        queue = { discipline = "step", limit = "100 packets", threshold = "5 packets" }
        "#,
    );
    let mut path = Emulator::new(&network, 1);
    for _ in 0..20 {
        path.send(at(0), NodeId(0), packet(NodeId(1), 1500, ()));
    }
    let marks: Vec<bool> =
        std::iter::from_fn(|| path.next_delivery(at(1000))).map(|(_, p)| p.ecn() == Codepoint::Ce).collect();
    assert_eq!(marks.len(), 20);
    assert!(marks.iter().any(|marked| *marked) && !marks.iter().all(|marked| *marked), "{marks:?}");
}

#[test]
fn packets_meet_the_changes_of_their_link() {
    let network = network(
        r#"
        [[links]]
        between = ["a", "b"]
        rate = "12 Mbit/s"
        delay = "10 ms"
        changes = [
            { at = "2500 us", rate = "6 Mbit/s", delay = "50 ms" }, { at = "7 ms", down = true },
            { at = "100 ms", down = false },
        ]
        "#,
    );
    let mut path = Emulator::new(&network, 1);
    for body in 0..7 {
        path.send(at(0), NodeId(0), packet(NodeId(1), 1500, body));
    }
    let mut out = Vec::new();
    while let Some((due, packet)) = path.next_delivery(at(1000)) {
        out.push((due.as_nanos() / 1_000, packet.body));
    }
    // 1 ms each; half of the third takes twice as long and ends at 3.5 ms; the fourth ends at 5.5 ms; the fifth is cut.
    assert_eq!(out, [(11_000, 0), (12_000, 1), (13_500, 2), (55_500, 3), (152_000, 5), (154_000, 6)]);
    let (counters, backlog) = path.links(at(1000)).next().unwrap();
    assert_eq!((counters.dropped_outage, counters.delivered, backlog.packets), (1, 6, 0));
}

#[test]
fn packets_that_a_code_repairs_come_out_in_order() {
    let network = network(
        r#"
        [[links]]
        between = ["a", "b"]
        rate = "12 Mbit/s"
        delay = "10 ms"
        queue = "1000 packets"
        loss = 0.1
        fec = { data = 5, repair = 3, flush = "20 ms" }
        "#,
    );
    let mut path = Emulator::new(&network, 1);
    let mut out = Vec::new();
    for number in 0..1_000_u64 {
        path.send(at(number), NodeId(0), packet(NodeId(1), 1000, number));
        out.extend(std::iter::from_fn(|| path.next_delivery(at(number))).map(|(_, packet)| packet.body));
    }
    out.extend(std::iter::from_fn(|| path.next_delivery(at(3000))).map(|(_, packet)| packet.body));
    let counters = path.links(at(3000)).next().unwrap().0;
    assert_eq!(out.len() as u64, 1_000 - counters.dropped_error);
    assert!(out.is_sorted() && counters.repaired > 50 && counters.dropped_error < 20, "{counters:?}");
    assert_eq!(path.next_event(), None);
}
