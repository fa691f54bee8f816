//! The state of one connection: its endpoints, its two directions, and how it ended.

use super::classify::{self, Observation, Side};
use super::half::Half;
use super::report::{self, EcnOffer, Handshake, State};
use super::vantage;
use crate::{Addresses, TcpPacket};
use lightlag_core::{Duration, Instant};
use lightlag_tcp::segment::Flags;

/// The state of one connection. Its size is bounded.
#[derive(Clone, Debug)]
pub(super) struct ConnectionState {
    pub number: u64,
    /// Addresses in the direction from the client to the server.
    pub addresses: Addresses,
    start: u64,
    end: u64,
    /// The two directions, forward first.
    halves: [Half; 2],
    opening: HandshakeTimes,
    reset: bool,
    /// Whether the capture lacks the time of at least one of its packets.
    timeless: bool,
}

/// Times of the steps of a handshake, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct HandshakeTimes {
    syn: Option<u64>,
    answer: Option<u64>,
    rtt: Option<Duration>,
    over: bool,
}

impl ConnectionState {
    pub fn new(number: u64, time: Instant, packet: &TcpPacket) -> Self {
        // The answer to a SYN shows which side sent that SYN.
        let answers = packet.segment.flags.has(Flags::SYN.with(Flags::ACK));
        let time_ns = time.as_nanos();
        Self {
            number,
            addresses: if answers { packet.addresses.reversed() } else { packet.addresses },
            start: time_ns,
            end: time_ns,
            halves: [Half::default(), Half::default()],
            opening: HandshakeTimes::default(),
            reset: false,
            timeless: false,
        }
    }

    /// Returns true if a segment opens a new connection between the same ports: a SYN with a different sequence number.
    pub fn is_reused_by(&self, packet: &TcpPacket) -> bool {
        let half = &self.halves[self.side(packet) as usize];
        let flags = packet.segment.flags;
        flags.has(Flags::SYN) && !flags.has(Flags::ACK) && half.initial.is_some_and(|seq| seq != packet.segment.seq.0)
    }

    fn side(&self, packet: &TcpPacket) -> Side {
        if packet.addresses == self.addresses { Side::Client } else { Side::Server }
    }

    /// Processes one segment.
    pub fn segment(&mut self, time: Instant, packet: &TcpPacket, has_time: bool) -> Observation {
        let side = self.side(packet);
        let at_ns = time.as_nanos();
        self.end = self.end.max(at_ns);
        self.timeless |= !has_time;
        self.open(side, at_ns, packet);
        let initial_rtt = self.opening.rtt;
        let [first, second] = &mut self.halves;
        let (own, other) = if side == Side::Client { (first, second) } else { (second, first) };
        let seen = classify::segment(own, other, at_ns, packet, initial_rtt);
        let flags = packet.segment.flags;
        own.finished |= flags.has(Flags::FIN);
        self.reset |= flags.has(Flags::RST);
        self.count(side, packet);
        Observation { connection: self.number, side, at: time, ..seen }
    }

    /// Follows the three steps of the handshake.
    fn open(&mut self, side: Side, time_ns: u64, packet: &TcpPacket) {
        let segment = &packet.segment;
        let client_ecn = self.halves[Side::Client as usize].handshake.map(|handshake| handshake.ecn);
        let (flags, half) = (segment.flags, &mut self.halves[side as usize]);
        let opening = &mut self.opening;
        match (side, flags.has(Flags::SYN), flags.has(Flags::ACK)) {
            (_, true, answers) => {
                half.repeated_syn |= half.opened;
                half.opened = true;
                // Options after a cut are unknown, and so are the options in use.
                if !packet.options_cut {
                    half.handshake.get_or_insert_with(|| offer(packet, answers, client_ecn));
                }
                if answers { opening.answer = Some(time_ns) } else { opening.syn = Some(time_ns) }
            }
            (Side::Client, false, true) if !opening.over => {
                opening.over = true;
                if let (Some(syn), Some(_)) = (opening.syn, opening.answer) {
                    let rtt = Duration::from_nanos(time_ns.saturating_sub(syn));
                    let once = self.halves.iter().all(|half| !half.repeated_syn);
                    self.opening.rtt = once.then_some(rtt);
                    self.halves.iter_mut().filter(|_| once).for_each(|half| half.smoothed.add(rtt));
                }
            }
            _ => {}
        }
    }

    /// Counts properties of a packet that do not depend on its class.
    fn count(&mut self, side: Side, packet: &TcpPacket) {
        use lightlag_core::Codepoint;
        let offers = self.halves.each_ref().map(|half| half.handshake.map(|handshake| handshake.ecn));
        let accurate = offers == [Some(EcnOffer::Accurate); 2];
        let counts = &mut self.halves[side as usize].counts;
        let flags = packet.segment.flags;
        counts.packets += 1;
        counts.compressed_headers += u64::from(packet.segment.is_compressed());
        counts.ect_packets += u64::from(packet.ip.ecn != Codepoint::NotEct);
        counts.ce_packets += u64::from(packet.ip.ecn == Codepoint::Ce);
        counts.ece_segments += u64::from(flags.has(Flags::ECE) && !flags.has(Flags::SYN) && !accurate);
        counts.cwr_segments += u64::from(flags.has(Flags::CWR) && !flags.has(Flags::SYN) && !accurate);
        counts.checksum_errors += u64::from(packet.checksum == crate::Checksum::Invalid);
        counts.snack_options += packet.segment.snacks().count() as u64;
        counts.corruption_options += u64::from(packet.segment.experienced_corruption());
        counts.record_boundaries += u64::from(packet.segment.ends_record());
        counts.malformed_options += u64::from(packet.malformed_options);
        counts.cut_headers += u64::from(packet.options_cut);
        if let Some(bytes) = packet.segment.ecn_bytes() {
            let half = &mut self.halves[side as usize];
            half.counts.accecn_options += 1;
            half.told.take(&bytes, &mut half.counts);
        }
    }

    /// Returns the report on the connection. Times in it are relative to `origin`.
    pub fn report(&self, origin: u64) -> report::ConnectionReport {
        let seconds = |from: u64, to: u64| Duration::from_nanos(to.saturating_sub(from)).as_secs_f64();
        let finished = self.halves.iter().all(|half| half.finished);
        let [forward, backward] = self.halves.each_ref().map(|half| half.findings(!self.timeless));
        let initial_rtt_s = self.opening.rtt.filter(|_| !self.timeless).map(Duration::as_secs_f64);
        let seen = vantage::from(&forward, &backward, initial_rtt_s);
        report::ConnectionReport {
            number: self.number,
            client: self.addresses.source,
            server: self.addresses.destination,
            start_s: seconds(origin, self.start),
            duration_s: seconds(self.start, self.end),
            state: match (self.reset, finished) {
                (true, _) => State::Reset,
                (false, true) => State::Complete,
                (false, false) => State::Open,
            },
            initial_rtt_s,
            has_times: !self.timeless,
            vantage: seen.vantage,
            rtt_s: seen.rtt_s,
            min_rtt_s: seen.min_rtt_s,
            forward,
            backward,
        }
    }
}

/// Returns what a SYN offers. `answers` is true for the SYN-ACK; `ecn_offer` is then the ECN offer of the first SYN.
fn offer(packet: &TcpPacket, answers: bool, ecn_offer: Option<EcnOffer>) -> Handshake {
    let segment = &packet.segment;
    let options = segment.syn_options();
    // RFC 9768 §3.1.1: AE, CWR and ECE are all set in the first SYN. In the reply 1 means RFC 3168, and so does 5 if
    // the first SYN requested no more; 0 and 7 mean no ECN, and the others report the received codepoint of the first
    // SYN.
    let ecn = match (answers, segment.flags.ace()) {
        (true, 0b101) if ecn_offer == Some(EcnOffer::Accurate) => EcnOffer::Accurate,
        (false, 0b111) | (true, 0b010 | 0b011 | 0b100 | 0b110) => EcnOffer::Accurate,
        (false, 0b011) | (true, 0b001 | 0b101) => EcnOffer::Classic,
        _ => EcnOffer::No,
    };
    Handshake {
        mss: options.mss,
        window_scale: options.window_scale,
        sack_permitted: options.sack_permitted,
        timestamps: segment.timestamps().is_some(),
        ecn,
        scps: segment.capabilities().map(Into::into),
        fast_open: segment.cookie().map(|cookie| cookie.bytes().len() as u8),
        data: segment.len,
        window: segment.window,
    }
}
