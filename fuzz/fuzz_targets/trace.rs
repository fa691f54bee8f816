//! Any file is a trace or an error that names a line, never a panic; rows are in order; and a link delivers at the
//! rates of the trace.

#![no_main]

use libfuzzer_sys::fuzz_target;
use lightlag_core::{Duration, Instant, RandomStream, Rate};
use lightlag_net::queue::DropTail;
use lightlag_net::{Deliveries, Disturbance, EndpointId, LinkConfig, Loss, LossProcess, NodeId, Outage, Packet, PacketFlags, Phase, QueueLimit, QueuedLink, Timetable};
use lightlag_scenario::trace_file::{Row, TraceError, TracedRate, read_csv, read_mahimahi};

const PACKETS: u64 = 100;
const FIRST: Phase =
    Phase { from: Instant::ZERO, rate: Rate::from_mbps(8), delay: Duration::from_millis(5), is_up: true, loses: false };

fuzz_target!(|text: &[u8]| {
    let lines = text.split(|byte| *byte == b'\n').count();
    let mut rows: Vec<Row> = Vec::new();
    match read_csv(text, |row| rows.push(row)) {
        Ok(()) => {
            assert!(rows.is_sorted_by_key(|row| row.at) && rows.len() < lines);
            drive(Timetable::new(phases(&rows), Outage::Hold, lines % 2 == 0));
        }
        Err(error) => check(&error, lines),
    }
    match read_mahimahi(text) {
        Ok(times) => {
            assert!(times.is_sorted() && times.len() < lines);
            let timetable = Timetable::new([FIRST], Outage::Hold, false).delivering(Some(Deliveries::new(times)));
            assert_eq!(drive(timetable), PACKETS, "opportunities never end");
        }
        Err(error) => check(&error, lines),
    }
});

fn check(error: &TraceError, lines: usize) {
    assert!((1..=lines).contains(&error.line) && !error.message.is_empty(), "{error} of {lines}");
}

fn phases(rows: &[Row]) -> Vec<Phase> {
    let mut phases = vec![FIRST];
    for row in rows {
        let last = phases[phases.len() - 1];
        let (rate, is_up) = match row.rate {
            Some(TracedRate::Up(rate)) => (rate, true),
            Some(TracedRate::Down) => (last.rate, false),
            None => (last.rate, last.is_up),
        };
        let next = Phase { from: Instant::ZERO + row.at, rate, delay: row.delay.unwrap_or(last.delay), is_up, loses: false };
        if next.from == last.from {
            phases.pop();
        }
        phases.push(next);
    }
    phases
}

/// Sends packets over a link, and returns how many arrive.
fn drive(timetable: Timetable) -> u64 {
    let config = LinkConfig { rate: FIRST.rate, delay: FIRST.delay, queue: QueueLimit::Packets(PACKETS), header: 0 };
    let loss = LossProcess::new(&Loss::None, RandomStream::new(1, "loss"));
    let queue = Box::new(DropTail::new(config.queue));
    let mut link = QueuedLink::new(config, queue, loss, Disturbance::none()).changing(timetable);
    for n in 0..PACKETS {
        let flags = PacketFlags::new(true);
        let packet = Packet::new(NodeId(1), EndpointId(0), 1000, flags, ());
        link.send(Instant::ZERO + Duration::from_micros(300) * n, packet);
    }
    let (mut arrived, mut last) = (0, Instant::ZERO);
    while let Some(now) = link.next_wake() {
        assert!(now >= last, "time never decreases");
        last = now;
        arrived += u64::from(link.receive(now).is_some());
    }
    assert_eq!(arrived + link.in_flight() as u64, PACKETS);
    arrived
}
