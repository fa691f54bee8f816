//! Properties that hold for all packets.

use super::*;

/// Generates segments of both sides with sequence numbers that are close together, so that data overlaps, repeats and
/// leaves holes.
fn segments() -> impl Strategy<Value = Vec<(bool, u64, Segment)>> {
    let flags = prop_oneof![8 => Just(Flags::ACK), 1 => any::<u16>().prop_map(|bits| Flags(bits & 0x1df))];
    let blocks = prop::collection::vec((0u32..5000, 0u32..2000), 0..3);
    let one = (any::<bool>(), 0u64..200, (0u32..5000, 0u16..1500, 0u32..6000, 0u16..3), flags, blocks);
    prop::collection::vec(one, 1..200).prop_map(|all| {
        let one = |(out, ms, (seq, len, ack, window), flags, blocks): (_, _, _, _, Vec<(u32, u32)>)| {
            let (own, other) = if out { (CLIENT, SERVER) } else { (SERVER, CLIENT) };
            let mut plain = Segment::new(SeqNumber(own).plus(seq), SeqNumber(other).plus(ack), window, flags);
            let range = |&(start, len): &(u32, u32)| SackBlock {
                start: SeqNumber(other).plus(start),
                end: SeqNumber(other).plus(start + len),
            };
            plain.len = if len < 400 { 0 } else { len };
            (out, ms, plain.with_sack(&blocks.iter().map(range).collect::<Vec<_>>()))
        };
        all.into_iter().map(one).collect()
    })
}

proptest! {
    #[test]
    fn every_byte_is_unique_or_retransmitted(segments in segments()) {
        let mut dialogue = Dialogue::begun();
        let (mut ms, mut observed) = (200, 0);
        for (out, later, segment) in &segments {
            ms += later;
            dialogue.packet(ms, *segment, *out, Codepoint::NotEct);
            observed += u64::from(dialogue.last.unwrap().len);
        }
        // A SYN with another number starts another connection.
        let report = dialogue.analysis.finish();
        let mut sum = 0;
        for direction in report.connections.iter().flat_map(|each| [&each.forward, &each.backward]) {
            let counts = direction.counts;
            sum += counts.payload_bytes;
            prop_assert_eq!(counts.unique_bytes + counts.repeated_bytes, counts.payload_bytes);
            let causes = counts.fast_retransmissions + counts.timeout_retransmissions + counts.tail_probes;
            prop_assert!(causes <= counts.retransmitted_segments);
            prop_assert!(counts.spurious_retransmissions + counts.lost_before <= counts.retransmitted_segments);
            prop_assert!(counts.data_segments <= counts.packets && counts.dsack_blocks <= counts.sack_blocks);
            if let Some(rtt) = direction.rtt {
                prop_assert!(rtt.min_s <= rtt.median_s && rtt.median_s <= rtt.p95_s && rtt.p95_s <= rtt.max_s);
                prop_assert!(rtt.min_s <= rtt.mean_s && rtt.mean_s <= rtt.max_s);
            }
        }
        prop_assert_eq!(sum, observed);
        prop_assert_eq!(report.packets, segments.len() as u64 + 3);
    }
}
