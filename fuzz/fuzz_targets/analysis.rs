//! Any sequence of packets gives a report, never a panic, and its sums agree; a trace keeps what was observed.

#![no_main]

use libfuzzer_sys::fuzz_target;
use lightlag_core::Instant;
use lightlag_wire::analysis::trace::Trace;
use lightlag_wire::analysis::{Analysis, Direction, Limits, Side};

/// Bytes of the description of a packet.
const RECORD: usize = 18;

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
            // Times go back now and then, as between the queues of a network card.
            at = at.wrapping_add_signed(i64::from(i16::from_be_bytes([record[0], record[1]])) * 50_000 + 500_000);
            take(at, Some(&packet(record)));
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

/// An IPv4 packet of TCP whose numbers lie close together, so that data overlaps, repeats and leaves holes.
fn packet(record: &[u8]) -> Vec<u8> {
    let number = |at: usize| u16::from_be_bytes([record[at], record[at + 1]]);
    let (kind, blocks) = (record[2], usize::from(record[3] >> 6));
    let stamps = record[3] & 0x20 != 0;
    let option_len = if stamps { 12 } else { 0 } + if blocks > 0 { 4 + 8 * blocks } else { 0 };
    let option_len = if kind & 0x40 != 0 { 4 } else { option_len };
    let len = if record[3] & 0x10 != 0 { 0 } else { number(8) % 3000 };
    let mut packet = vec![0; 40 + option_len];
    packet[0] = 0x45;
    packet[1] = record[3] & 3;
    packet[2..4].copy_from_slice(&(40 + option_len as u16 + len).to_be_bytes());
    packet[9] = 6;
    let (own, other) = if kind & 0x80 == 0 { (1, 2) } else { (2, 1) };
    (packet[15], packet[19]) = (own, other);
    let port = u16::from(record[16] & 3);
    let ports = if own == 1 { [1000 + port, 80] } else { [80, 1000 + port] };
    packet[20..22].copy_from_slice(&ports[0].to_be_bytes());
    packet[22..24].copy_from_slice(&ports[1].to_be_bytes());
    // Now and then a number from anywhere in the space.
    let wide = |at: usize| if record[16] & 0x80 != 0 { u32::from(number(at)) << 16 } else { u32::from(number(at)) };
    packet[24..28].copy_from_slice(&wide(4).wrapping_sub(3000).to_be_bytes());
    packet[28..32].copy_from_slice(&wide(6).wrapping_sub(3000).to_be_bytes());
    packet[32] = ((5 + option_len / 4) << 4) as u8;
    packet[33] = if record[3] & 8 != 0 { kind & 0x17 | record[17] & 0xc0 } else { 0x10 };
    packet[34..36].copy_from_slice(&number(10).to_be_bytes());
    let mut at = 40;
    if kind & 0x40 != 0 {
        packet[at..at + 4].copy_from_slice(&[3, 3, record[17], 1]);
        return packet;
    }
    if stamps {
        packet[at..at + 12].copy_from_slice(&[1, 1, 8, 10, 0, 0, 0, record[16] >> 2, 0, 0, 0, record[17]]);
        at += 12;
    }
    if blocks > 0 {
        packet[at..at + 4].copy_from_slice(&[1, 1, 5, 2 + 8 * blocks as u8]);
        at += 4;
    }
    for block in 0..blocks {
        let start = wide(12).wrapping_sub(3000).wrapping_add(700 * block as u32);
        packet[at..at + 4].copy_from_slice(&start.to_be_bytes());
        packet[at + 4..at + 8].copy_from_slice(&start.wrapping_add(u32::from(number(14) % 4000)).to_be_bytes());
        at += 8;
    }
    packet
}
