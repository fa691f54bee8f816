use super::super::tests::packet;
use super::*;
use crate::PacketFlags;
use lightlag_core::Codepoint;

const NOW: Instant = Instant::ZERO;

/// Returns the indices of the packets sent, and of those dropped, when packets arrive simultaneously. `kinds` has the
/// priority of each: `h` for high, `l` for low.
fn play(mode: PriorityMode, limit: QueueLimit, kinds: &str, size: impl Fn(usize) -> u16) -> (Vec<u32>, Vec<u32>) {
    let (mut queue, mut verdicts) = (Priority::new(mode, limit), Verdicts::default());
    for (body, kind) in kinds.chars().enumerate() {
        let flags = PacketFlags::new(true).with_low_priority(kind == 'l');
        let packet = Packet { flags, body: body as u32, ..packet(0, size(body), Codepoint::NotEct) };
        queue.enqueue(NOW, packet, &mut verdicts);
        let high: u64 = queue.high.packets.iter().map(|(_, waiting)| u64::from(waiting.packet.size)).sum();
        assert_eq!(high, queue.high.bytes);
    }
    let dropped = verdicts.dropped.iter().map(|dropped| dropped.packet.body).collect();
    let mut left = Vec::new();
    while let Some(QueuedPacket { packet, .. }) = queue.dequeue(NOW, &mut verdicts) {
        left.push(packet.body);
    }
    assert_eq!(queue.backlog(), Backlog::default());
    assert_eq!(left.len() + verdicts.dropped.len(), kinds.len(), "every packet is sent or dropped");
    (left, dropped)
}

fn four(mode: PriorityMode, kinds: &str) -> (Vec<u32>, Vec<u32>) {
    play(mode, QueueLimit::Packets(4), kinds, |_| 1000)
}

#[test]
fn a_full_buffer_replaces_the_youngest_probe_with_data() {
    // Four slots: 0 to 3 take them; 4 and 5 replace 3 and 2, and the first probe stays.
    assert_eq!(four(PriorityMode::PushOut, "hlllhh"), (vec![0, 1, 4, 5], vec![3, 2]));
}

#[test]
fn a_probe_that_finds_the_buffer_full_is_dropped() {
    assert_eq!(four(PriorityMode::PushOut, "hhlhl"), (vec![0, 1, 2, 3], vec![4]));
}

#[test]
fn without_probes_both_modes_are_drop_tail() {
    for mode in [PriorityMode::PushOut, PriorityMode::Strict] {
        assert_eq!(four(mode, "hhhhhh"), (vec![0, 1, 2, 3], vec![4, 5]));
        assert_eq!(four(mode, "llllll"), (vec![0, 1, 2, 3], vec![4, 5]));
    }
}

#[test]
fn strict_service_lets_data_pass_the_probes_before_it() {
    assert_eq!(four(PriorityMode::Strict, "llhlh"), (vec![2, 4, 0, 1], vec![3]));
    assert_eq!(four(PriorityMode::PushOut, "llhlh"), (vec![0, 1, 2, 4], vec![3]));
}

#[test]
fn a_limit_in_bytes_costs_as_many_probes_as_the_data_needs() {
    // 4000 B: four of 1000 B wait, three of them probes; data of 1500 B takes two places.
    let size = |body| if body == 4 { 1500 } else { 1000 };
    let (left, dropped) = play(PriorityMode::PushOut, QueueLimit::Bytes(4_000), "lhllh", size);
    assert_eq!((left, dropped), (vec![0, 1, 4], vec![3, 2]));
    // If data alone fills the buffer, no probe is dropped needlessly.
    let size = |body| if body == 0 { 3_000 } else { 1_000 };
    let (left, dropped) = play(PriorityMode::PushOut, QueueLimit::Bytes(3_500), "hlh", size);
    assert_eq!((left, dropped), (vec![0], vec![1, 2]));
    let size = |body| [2_000, 500, 1_600][body];
    let (left, dropped) = play(PriorityMode::PushOut, QueueLimit::Bytes(3_500), "hlh", size);
    assert_eq!((left, dropped), (vec![0, 1], vec![2]));
}
