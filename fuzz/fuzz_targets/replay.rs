//! From any packets after a handshake the behaviour of a sender is inferred, or an error states the reason. There is no
//! panic and no unbounded memory, and the numbers of sent and lost packets agree.

#![no_main]

use libfuzzer_sys::fuzz_target;
use lightlag_core::{Duration, Instant};
use lightlag_fuzz::{RECORD, TcpBytes, elapsed};
use lightlag_tcp::Segment;
use lightlag_tcp::segment::{Flags, SeqNumber, SynOptions, Timestamps};
use lightlag_wire::analysis::trace::Trace;
use lightlag_wire::analysis::{Analysis, Limits};
use lightlag_wire::replay::{ReplayError, Sending};
use lightlag_wire::{Addresses, IpFields, encode};

/// The first sequence number of the described packets.
const INITIAL: SeqNumber = SeqNumber(0_u32.wrapping_sub(3000));

fuzz_target!(|bytes: &[u8]| {
    let Some((head, rest)) = bytes.split_first_chunk::<3>() else { return };
    let (mut analysis, mut trace) = (Analysis::new(Limits::default()), Trace::new(0, usize::MAX));
    let mut at = Instant::from_nanos(1_000_000_000);
    let mut take = |at: Instant, packet: &[u8]| {
        if let Some(seen) = analysis.packet(at, Some(packet)) {
            trace.observe(&seen);
        }
    };
    handshake(*head, &mut at, &mut take);
    for record in rest.chunks_exact(RECORD) {
        at = Instant::from_nanos(at.as_nanos().wrapping_add_signed(elapsed(record)));
        let mut record: [u8; RECORD] = record.try_into().expect("a complete record");
        // One connection. Distant data would be a hole of many segments, which takes long and shows nothing new.
        record[16] &= 0x7c;
        take(at, TcpBytes::described(&record).bytes());
    }
    let report = analysis.finish();
    let Some(connection) = report.connections.first() else { return };
    match Sending::infer(trace.rows(), connection) {
        Ok(sending) => agrees(&sending),
        Err(error) => assert!(!error.to_string().is_empty() && error != ReplayError::TooLong, "{error}"),
    }
});

/// SYN, SYN-ACK and ACK, each of which may be missing.
fn handshake(head: [u8; 3], at: &mut Instant, take: &mut impl FnMut(Instant, &[u8])) {
    let there = Addresses { source: ([0, 0, 0, 1], 1000).into(), destination: ([0, 0, 0, 2], 80).into() };
    let step = Duration::from_micros(u64::from(head[1]) << (head[2] & 0xf));
    let mss = [None, Some(500), Some(900), Some(1460)][usize::from(head[2] >> 4 & 3)];
    let options = SynOptions { mss, window_scale: (head[2] & 0x40 != 0).then_some(7), sack_permitted: true };
    let stamped = |segment: Segment| {
        let stamps = Timestamps { value: 1, echo: 0 };
        if head[2] & 0x80 != 0 { segment.with_timestamps(stamps) } else { segment }
    };
    let syn = stamped(Segment::new(INITIAL, SeqNumber(0), 60_000, Flags::SYN).with_syn_options(options));
    let both = Flags(Flags::SYN.0 | Flags::ACK.0);
    let answer = stamped(Segment::new(INITIAL, INITIAL.plus(1), 60_000, both).with_syn_options(options));
    let ack = Segment::new(INITIAL.plus(1), INITIAL.plus(1), 60_000, Flags::ACK);
    let mut packet = Vec::new();
    for (bit, addresses, segment) in [(1, there, syn), (2, there.reversed(), answer), (4, there, ack)] {
        if head[0] & bit == 0 {
            encode(&mut packet, &addresses, &IpFields::default(), &segment, &[]);
            take(*at, &packet);
        }
        *at = *at + step;
    }
}

fn agrees(sending: &Sending) {
    let sent = &sending.transmissions;
    assert!(!sent.is_empty() && sending.full_segment > 0);
    let lost = sent.iter().zip(1..).filter(|(sent, _)| sent.lost).map(|(_, number)| number);
    assert!(lost.eq(sending.lost.iter().copied()), "{:?}", sending.lost);
    assert!(sending.overflowed.iter().all(|number| sending.lost.contains(number)), "{:?}", sending.overflowed);
    assert_eq!(sent.iter().filter(|sent| sent.again).count() as u64, sending.retransmissions);
    for each in sent {
        assert!((1..=sending.full_segment).contains(&each.len), "{each:?}");
        assert!(each.start + i64::from(each.len) <= sending.transfer_bytes as i64 + 1, "{each:?}");
    }
    assert!(sending.acks.is_sorted_by(|before, after| before.1 < after.1), "{:?}", sending.acks);
    assert!(sending.episodes.iter().map(|episode| episode.retransmissions).sum::<u64>() <= sending.retransmissions);
    let path = &sending.path;
    assert!(path.base_rtt_s.is_finite() && path.base_rtt_s <= path.max_rtt_s && path.max_rtt_s.is_finite(), "{path:?}");
    assert!((0.0..=path.base_rtt_s).contains(&path.propagation_s), "{path:?}");
    assert!(path.rate_bps.is_none_or(|rate| rate.is_finite() && rate >= 0.0), "{path:?}");
    assert!(sending.duration_s.is_finite() && sending.first_data_s.is_finite(), "{sending:?}");
}
