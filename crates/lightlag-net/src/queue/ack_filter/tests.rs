use super::super::tests::packet;
use super::*;
use crate::PacketFlags;
use lightlag_core::Codepoint;
use proptest::prelude::*;

const NOW: Instant = Instant::ZERO;

/// Returns the indices of the packets sent, and of those filtered out, when packets arrive simultaneously. `a` and `b`
/// are ACKs of two flows that supersede earlier ones; `A` and `B` are other packets of these flows.
fn play(config: AckFilterConfig, limit: u64, kinds: &str) -> (Vec<u32>, Vec<u32>) {
    let (mut queue, mut verdicts) = (AckFilter::new(config, QueueLimit::Packets(limit)), Verdicts::default());
    for (body, kind) in kinds.chars().enumerate() {
        let flags = PacketFlags::new(false).with_following(kind.is_lowercase());
        let flow = u32::from(kind.eq_ignore_ascii_case(&'b'));
        queue.enqueue(NOW, Packet { flags, body: body as u32, ..packet(flow, 52, Codepoint::NotEct) }, &mut verdicts);
        assert_eq!(queue.bytes, queue.packets.iter().map(|waiting| u64::from(waiting.packet.size)).sum::<u64>());
    }
    let dropped = verdicts.dropped.iter().map(|dropped| dropped.packet.body).collect();
    let mut left = Vec::new();
    while let Some(waiting) = queue.dequeue(NOW, &mut verdicts) {
        left.push(waiting.packet.body);
    }
    assert_eq!(queue.backlog(), Backlog::default());
    (left, dropped)
}

const FILTER: AckFilterConfig = AckFilterConfig { filter: true, every: 1 };

#[test]
fn a_later_ack_replaces_an_earlier_one() {
    assert_eq!(play(FILTER, 9, "aaa"), (vec![2], vec![0, 1]));
    assert_eq!(play(FILTER, 9, "abab"), (vec![2, 3], vec![0, 1]));
    // It takes the slot, although other packets arrived in between.
    assert_eq!(play(FILTER, 9, "aBBa"), (vec![3, 1, 2], vec![0]));
}

#[test]
fn duplicates_and_data_stay_and_so_do_earlier_packets() {
    assert_eq!(play(FILTER, 9, "aAAa"), (vec![0, 1, 2, 3], vec![]));
    assert_eq!(play(FILTER, 9, "aAaa"), (vec![0, 1, 3], vec![2]));
    assert_eq!(play(FILTER, 9, "AAA"), (vec![0, 1, 2], vec![]));
}

#[test]
fn a_full_queue_still_takes_a_replacement() {
    assert_eq!(play(FILTER, 2, "abab"), (vec![2, 3], vec![0, 1]));
    assert_eq!(play(FILTER, 2, "aBBa"), (vec![3, 1], vec![2, 0]));
}

#[test]
fn a_departed_ack_is_not_replaced() {
    let (mut queue, mut verdicts) = (AckFilter::new(FILTER, QueueLimit::Packets(9)), Verdicts::default());
    let ack =
        |body| Packet { flags: PacketFlags::new(false).with_following(true), body, ..packet(0, 52, Codepoint::NotEct) };
    for body in 0..3 {
        queue.enqueue(NOW, ack(body), &mut verdicts);
        assert_eq!(queue.dequeue(NOW, &mut verdicts).map(|waiting| waiting.packet.body), Some(body));
    }
    assert!(verdicts.dropped.is_empty());
}

#[test]
fn decimation_keeps_every_nth_of_each_flow_and_all_others() {
    let thirds = AckFilterConfig { filter: false, every: 3 };
    assert_eq!(play(thirds, 99, "aaaaaaa"), (vec![2, 5], vec![0, 1, 3, 4, 6]));
    assert_eq!(play(thirds, 99, "abababAB"), (vec![4, 5, 6, 7], vec![0, 1, 2, 3]));
    assert_eq!(play(AckFilterConfig { filter: true, every: 2 }, 99, "aaaa"), (vec![3], vec![0, 2, 1]));
}

proptest! {
    /// The packets of a flow that must be delivered individually are sent in order, and so is the newest ACK that was
    /// queued.
    #[test]
    fn order_and_count_of_other_packets_stay(kinds in "[abAB]{0,40}", limit in 1_u64..50) {
        let (left, dropped) = play(FILTER, limit, &kinds);
        prop_assert_eq!(left.len() + dropped.len(), kinds.len());
        let kind = |at: &u32| kinds.as_bytes()[*at as usize];
        for flow in [b'a', b'b'] {
            let of_flow: Vec<u32> = left.iter().copied().filter(|at| kind(at).to_ascii_lowercase() == flow).collect();
            prop_assert!(of_flow.is_sorted(), "a flow is never reordered");
            // Two superseding ACKs never follow each other.
            prop_assert!(of_flow.windows(2).all(|pair| kind(&pair[0]) != flow || kind(&pair[1]) != flow));
        }
    }
}
