use super::*;
use crate::link::{Disturbance, LinkConfig, LinkModel, Outage, Phase, QueuedLink, Timetable};
use crate::queue::DisciplineConfig;
use crate::{EndpointId, Loss, LossProcess, ModcodTable, NodeId, PacketFlags, QueueLimit};
use lightlag_core::{RandomStream, Rate};
use proptest::prelude::*;

const PROPAGATION: Duration = Duration::from_millis(250);
const BAUD: u64 = 10_000_000;

fn format(name: &str) -> FrameFormat {
    let modcods = ModcodTable::DvbS2.modcods(false);
    modcods.iter().find(|modcod| modcod.name == name).unwrap().frame.unwrap()
}

fn phase(from: Instant, loses: bool) -> Phase {
    Phase { from, rate: Rate::from_mbps(10), delay: PROPAGATION, is_up: true, loses }
}

/// Returns a link of 10 MBd with these phases.
fn link(phases: &[(Phase, FrameFormat)], frames: BasebandFrames, loss: &Loss) -> QueuedLink<()> {
    let config =
        LinkConfig { rate: Rate::from_mbps(10), delay: PROPAGATION, queue: QueueLimit::Packets(1_000_000), header: 0 };
    let discipline = DisciplineConfig::DropTail.build(&config, RandomStream::new(1, "queue"));
    let loss = LossProcess::new(loss, RandomStream::new(1, "loss"));
    let (phases, formats): (Vec<_>, Vec<_>) = phases.iter().copied().unzip();
    let timetable = Timetable::new(phases, Outage::Hold, false).framed(formats);
    QueuedLink::new(config, discipline, loss, Disturbance::none())
        .changing(timetable)
        .framing(frames, SymbolRate::from_baud(BAUD).unwrap())
}

/// Returns a link with one MODCOD and without losses.
fn steady(name: &str, frames: BasebandFrames) -> QueuedLink<()> {
    link(&[(phase(Instant::ZERO, false), format(name))], frames, &Loss::None)
}

fn at(micros: u64) -> Instant {
    Instant::from_nanos(micros * 1_000)
}

fn packet(size: u16) -> Packet<()> {
    Packet::new(NodeId(1), EndpointId(0), size, PacketFlags::new(true), ())
}

/// Sends packets at these times in microseconds, with these sizes. Returns their arrivals and whether each is intact.
fn arrivals(link: &mut QueuedLink<()>, packets: &[(u64, u16)]) -> Vec<(Instant, bool)> {
    let mut arrived = Vec::new();
    let mut receive = |link: &mut QueuedLink<()>, until: Instant| {
        while let Some(wake) = link.next_wake().filter(|wake| *wake <= until) {
            arrived.extend(link.receive(wake).map(|packet| (wake, !packet.flags.is_corrupted())));
        }
    };
    for (micros, size) in packets {
        receive(link, at(*micros));
        link.send(at(*micros), packet(*size));
    }
    receive(link, Instant::MAX);
    assert_eq!(link.in_flight(), 0);
    arrived
}

/// Returns the time of this number of symbols.
fn symbols(count: u64) -> Duration {
    Duration::from_nanos(count * 1_000_000_000 / BAUD)
}

#[test]
fn a_saturated_link_has_the_rate_of_its_modcod_times_the_efficiency_of_gse() {
    for (name, label) in [("QPSK 3/4", 6), ("8PSK 2/3", 3), ("32APSK 9/10", 0)] {
        let frames = BasebandFrames { label, ..BasebandFrames::default() };
        let mut link = steady(name, frames);
        let size = 1_400;
        let count = 40_000;
        let arrived = arrivals(&mut link, &vec![(0, size); count]);
        let last = arrived.last().unwrap().0;
        let time = last.since(Instant::ZERO + PROPAGATION).as_secs_f64();
        let rate = (count as f64 * f64::from(size) * 8.0) / time;
        // A complete packet has 4 B and the label more. In each frame one packet is split, which adds 10 B: 7 B and the
        // label, and 7 B, instead of 4 B and the label.
        let field = f64::from(format(name).data_bytes());
        let packets = (field - 10.0) / f64::from(u32::from(size) + frames.complete());
        let efficiency = packets * f64::from(size) / field;
        let expected = format(name).efficiency() * BAUD as f64 * efficiency;
        assert!((rate / expected - 1.0).abs() < 1e-3, "{name}: {rate} bit/s instead of {expected} bit/s");
    }
}

#[test]
fn a_lone_packet_waits_for_a_frame_and_takes_its_duration() {
    for (name, micros) in [("QPSK 1/4", 100), ("QPSK 1/4", 333), ("8PSK 3/4", 12_345), ("QPSK 3/4", 999_000)] {
        let arrived = arrivals(&mut steady(name, BasebandFrames::default()), &[(micros, 60)]);
        // Dummy frames of 3,330 symbols, 333 µs.
        let start = at(micros.div_ceil(333) * 333);
        let expected = start + symbols(u64::from(format(name).symbols)) + PROPAGATION;
        assert_eq!(arrived, [(expected, true)], "{name} at {micros} µs");
    }
}

#[test]
fn packets_of_a_frame_arrive_together_and_the_clock_continues_after_it() {
    let mut link = steady("QPSK 3/4", BasebandFrames::default());
    let arrived = arrivals(&mut link, &[(10, 60), (20, 1_400), (340, 60), (10_000, 60)]);
    // QPSK 3/4: 32,490 symbols, 3,249 µs. The third packet arrives during the first frame.
    let frame = symbols(32_490);
    let first = at(333) + frame;
    let third = first + frame;
    // Afterwards dummy frames follow the second frame: 333 + 2 · 3,249 = 6,831 µs and 10 · 333 µs.
    let fourth = third + symbols(3_330) * 10 + frame;
    let times: Vec<Instant> = [first, first, third, fourth].map(|end| end + PROPAGATION).to_vec();
    assert_eq!(arrived.iter().map(|(time, _)| *time).collect::<Vec<_>>(), times);
}

#[test]
fn data_fields_are_packets_overhead_and_padding_and_symbols_are_frames_and_dummies() {
    let mut link = steady("8PSK 3/4", BasebandFrames::default());
    let mut random = RandomStream::new(3, "packets");
    let mut micros = 0;
    let packets: Vec<(u64, u16)> = (0..5_000)
        .map(|_| {
            micros += (random.uniform() * 2_000.0) as u64;
            (micros, 40 + (random.uniform() * 8_000.0) as u16)
        })
        .collect();
    let arrived = arrivals(&mut link, &packets);
    let totals = link.totals(arrived.last().unwrap().0).frames.unwrap();
    let sent: u64 = packets.iter().map(|(_, size)| u64::from(*size)).sum();
    assert_eq!(totals.packet_bytes, sent);
    let format = format("8PSK 3/4");
    let fields = totals.frames * u64::from(format.data_bytes());
    assert_eq!(fields, totals.packet_bytes + totals.overhead_bytes + totals.padding_bytes);
    // Every packet is complete, or has a start and an end.
    assert!(totals.overhead_bytes >= 10 * 5_000 && totals.padding_bytes > 0 && totals.dummies > 0, "{totals:?}");
    let carried = totals.frames * u64::from(format.symbols) + totals.dummies * DUMMY;
    let elapsed = arrived.last().unwrap().0.as_nanos() * BAUD / 1_000_000_000;
    // The last dummy frame has started and has not ended.
    assert!((elapsed..elapsed + DUMMY).contains(&carried), "{carried} symbols in {elapsed}");
}

#[test]
fn a_lost_frame_loses_every_packet_with_a_fragment_in_it() {
    let mut link =
        link(&[(phase(Instant::ZERO, false), format("QPSK 3/4"))], BasebandFrames::default(), &Loss::Numbered(vec![2]));
    let arrived = arrivals(&mut link, &[(1, 1_400); 20]);
    // Frames of 6,041 B. The first has four packets of 1,410 B and 401 − 13 = 388 B of the fifth. The second has the
    // other 1,012 B of it with 7 B, packets 6 to 8, and 5,022 − 4,230 − 13 = 779 B of the ninth.
    let lost: Vec<usize> = (1..=20).filter(|number| !arrived[number - 1].1).collect();
    assert_eq!(lost, [5, 6, 7, 8, 9]);
    assert_eq!(link.counters().dropped_error, 5);
}

#[test]
fn a_frame_has_the_modcod_of_its_start_and_the_losses_until_its_end() {
    // QPSK 1/4: 32,490 symbols, 3.249 ms and 1,991 B; 8PSK 3/4: 21,690 symbols, 2.169 ms and 6,041 B.
    let [slow, fast] = ["QPSK 1/4", "8PSK 3/4"].map(format);
    let phases = [
        (phase(Instant::ZERO, false), slow),
        (phase(at(4_000), false), fast),
        (phase(at(10_000), true), fast),
        (phase(at(12_000), false), fast),
    ];
    let mut link = link(&phases, BasebandFrames::default(), &Loss::None);
    let arrived = arrivals(&mut link, &[(1, 1_000); 20]);
    let frames: Vec<(u64, bool)> =
        arrived.iter().map(|(time, intact)| ((time.as_nanos() - PROPAGATION.as_nanos()) / 1_000, *intact)).collect();
    // The first frame starts at 333 µs. 1,991 B: one packet of 1,010 B, and 968 B of the second. The second frame starts
    // at 3.582 ms, before the change, and ends at 6.831 ms with packets 2 and 3 and a part of packet 4. Then 8PSK:
    // 6,041 B until 9.000 ms, 11.169 ms, 13.338 ms; the second and the third overlap the phase of losses.
    let end = |frame: u64| 6_831 + 2_169 * frame;
    assert_eq!(frames[..3], [(3_582, true), (6_831, true), (6_831, true)]);
    let in_frame = |frame: u64| frames.iter().filter(|(time, _)| *time == end(frame)).collect::<Vec<_>>();
    let fates: Vec<Vec<bool>> =
        (1..=3).map(|frame| in_frame(frame).iter().map(|(_, intact)| *intact).collect()).collect();
    assert!(fates.iter().all(|fates| fates.len() >= 5), "{fates:?}");
    assert!(fates[0].iter().all(|intact| *intact), "{fates:?}");
    assert!(fates[1..].iter().flatten().all(|intact| !intact), "{fates:?}");
}

#[test]
fn packets_are_held_until_a_frame_is_full_or_the_threshold_has_passed() {
    let frames = BasebandFrames { hold: Duration::from_millis(10), ..BasebandFrames::default() };
    let arrived = arrivals(&mut steady("QPSK 3/4", frames), &[(0, 60), (5_000, 60), (30_000, 60)]);
    // The first boundary at or after 10 ms is 31 · 333 = 10,323 µs; then the frame, 3,249 µs; then dummy frames from
    // 13,572 µs to 13,572 + 80 · 333 = 40,212 µs, the first boundary at or after 40 ms.
    let frame = symbols(32_490) + PROPAGATION;
    let expected = [at(10_323) + frame, at(10_323) + frame, at(40_212) + frame];
    assert_eq!(arrived.iter().map(|(time, _)| *time).collect::<Vec<_>>(), expected);
    // Five packets of 1,400 B exceed a frame of 6,041 B, which is sent immediately.
    let full = arrivals(&mut steady("QPSK 3/4", frames), &[(1, 1_400); 5]);
    assert_eq!(full[0].0, at(333) + frame);
}

proptest! {
    #[test]
    fn every_byte_is_packed(sizes in prop::collection::vec(20..20_000_u32, 1..40), label in 0..3_u32, field in 300..7_300_u32) {
        let frames = BasebandFrames { label: label * 3, ..BasebandFrames::default() };
        let mut room = field;
        for size in sizes {
            let (mut left, mut started, mut overhead, mut fragments) = (size, false, 0, 0);
            while left > 0 {
                let Some(fragment) = frames.pack(room, left, started) else {
                    prop_assert!(room < field, "an empty frame makes progress");
                    // Only a frame that is almost full is closed.
                    prop_assert!(room <= frames.start().max(frames.end()) + 1, "{} B are wasted", room);
                    room = field;
                    continue;
                };
                prop_assert!(fragment.bytes > 0 && fragment.bytes + fragment.overhead <= room.min(MAX_GSE));
                room -= fragment.bytes + fragment.overhead;
                left -= fragment.bytes;
                (started, overhead, fragments) = (true, overhead + fragment.overhead, fragments + 1);
            }
            let expected = match fragments {
                1 => frames.complete(),
                parts => frames.start() + (parts - 2) * frames.continuation() + frames.end(),
            };
            prop_assert_eq!(overhead, expected);
        }
    }
}

#[test]
fn frames_after_a_lost_one_arrive_together() {
    let frames = BasebandFrames { resequencing: 2, ..BasebandFrames::default() };
    // A packet per frame, 10 ms apart; the second frame is lost.
    let sent: Vec<(u64, u16)> = (0..6).map(|number| (10_000 * number, 1000)).collect();
    let intact = |frames: BasebandFrames| {
        let outage = [Instant::ZERO, at(9_000), at(19_000)].map(|from| phase(from, from == at(9_000)));
        let phases = outage.map(|phase| (phase, format("QPSK 1/2")));
        let arrived = arrivals(&mut link(&phases, frames, &Loss::None), &sent);
        assert_eq!(arrived.len(), 6);
        arrived.into_iter().filter(|(_, is_intact)| *is_intact).map(|(time, _)| time).collect::<Vec<_>>()
    };
    let [plain, kept] = [BasebandFrames::default(), frames].map(intact);
    assert_eq!(plain.len(), 5);
    // The third and fourth arrive with the fifth.
    assert_eq!(kept, [plain[0], plain[3], plain[3], plain[3], plain[4]]);
}
