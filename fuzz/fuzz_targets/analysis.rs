//! Any sequence of packets gives a report, never a panic, and its sums agree; a trace keeps the observed segments.

#![no_main]

use libfuzzer_sys::fuzz_target;
use lightlag_core::Instant;
use lightlag_fuzz::{RECORD, TcpBytes, elapsed};
use lightlag_wire::analysis::trace::Trace;
use lightlag_wire::analysis::{Analysis, Direction, Limits, Side};

fuzz_target!(|bytes: &[u8]| {
    let Some((&mode, rest)) = bytes.split_first() else { return };
    let limits = if mode & 1 == 0 { Limits::default() } else { Limits { live: 3, kept: 2 } };
    let mut analysis = Analysis::new(limits);
    let mut trace = Trace::new(0, 32);
    let (mut at, mut packets, mut payload, mut segments) = (0_u64, 0_u64, 0_u64, 0_u64);
    let mut take = |at: u64, packet: Option<&[u8]>| {
        packets += 1;
        if let Some(seen) = analysis.packet(Instant::from_nanos(at), packet) {
            segments += 1;
            payload += u64::from(seen.len);
            assert!(seen.unique <= seen.len);
            trace.observe(&seen);
        }
    };
    if mode & 2 == 0 {
        for record in rest.chunks_exact(RECORD) {
            at = at.wrapping_add_signed(elapsed(record));
            take(at, Some(TcpBytes::described(record).bytes()));
        }
    } else {
        for chunk in rest.chunks(48) {
            at += u64::from(chunk[0]) << 20;
            take(at, (chunk[0] != 0).then_some(chunk));
        }
    }
    for side in [Side::Client, Side::Server] {
        assert!(trace.losses(side).iter().all(|loss| loss.position as usize <= trace.data(side).count()));
    }
    let report = analysis.finish();
    assert_eq!((report.packets, report.tcp_packets), (packets, segments));
    assert_eq!(report.packets, report.tcp_packets + report.others.values().sum::<u64>());
    let mut sum = report.omitted.payload_bytes;
    for direction in report.connections.iter().flat_map(|each| [&each.forward, &each.backward]) {
        agrees(direction);
        sum += direction.counts.payload_bytes;
    }
    assert_eq!(sum, payload);
});

fn agrees(direction: &Direction) {
    let counts = &direction.counts;
    assert_eq!(counts.unique_bytes + counts.repeated_bytes, counts.payload_bytes);
    let told = counts.fast_retransmissions + counts.timeout_retransmissions + counts.tail_probes;
    assert!(told <= counts.retransmitted_segments);
    assert!(counts.spurious_retransmissions + counts.lost_before <= counts.retransmitted_segments);
    assert!(counts.dsack_blocks <= counts.sack_blocks && counts.data_segments <= counts.packets);
    if let Some(rtt) = direction.rtt {
        assert!(rtt.min_s <= rtt.median_s && rtt.median_s <= rtt.p95_s && rtt.p95_s <= rtt.max_s);
    }
}
