//! TCP_INFO, TCP_CC_INFO and SO_MEMINFO as bytes.

use lightlag_control::congestion::Phase;
use lightlag_core::Duration;
use lightlag_host::TcpInfo;
use lightlag_tcp::State;
use lightlag_tcp::fast_open::Refusal;

/// Bytes of `struct tcp_info` in Linux 6.18.
pub(crate) const TCP_INFO_LEN: usize = 280;

/// Writes the members of a C structure one after the other. Each is aligned to a multiple of its size.
struct Members(Vec<u8>);

impl Members {
    fn byte(&mut self, value: u8) {
        self.0.push(value);
    }

    fn short(&mut self, value: u64) {
        self.0.extend((value.min(u64::from(u16::MAX)) as u16).to_ne_bytes());
    }

    fn word(&mut self, value: u64) {
        self.0.extend((value.min(u64::from(u32::MAX)) as u32).to_ne_bytes());
    }

    fn long(&mut self, value: u64) {
        self.0.extend(value.to_ne_bytes());
    }

    fn words(&mut self, values: &[u64]) {
        values.iter().for_each(|value| self.word(*value));
    }
}

fn micros(time: Duration) -> u64 {
    time.as_nanos() / 1_000
}

fn millis(time: Duration) -> u64 {
    time.as_nanos() / 1_000_000
}

/// Returns the number of a state in include/net/tcp_states.h.
fn state(state: State) -> u8 {
    match state {
        State::Established => 1,
        State::SynSent => 2,
        State::SynReceived => 3,
        State::FinWait1 => 4,
        State::FinWait2 => 5,
        State::TimeWait => 6,
        State::Closed => 7,
        State::CloseWait => 8,
        State::LastAck => 9,
        State::Listen => 10,
        State::Closing => 11,
    }
}

/// Returns the number of a state in `enum tcp_ca_state`: Open, Disorder, CWR, Recovery, Loss.
fn repair(info: &TcpInfo) -> u8 {
    match info.phase {
        Phase::Recovery => 3,
        Phase::Loss => 4,
        _ if info.reduced => 2,
        _ if info.disorder => 1,
        _ => 0,
    }
}

/// `struct tcp_info`. Unknown fields are 0.
pub(crate) fn tcp_info(info: &TcpInfo) -> Vec<u8> {
    let mut out = Members(Vec::with_capacity(TCP_INFO_LEN));
    let (send_scale, receive_scale) = info.scales.unwrap_or((0, 0));
    out.byte(state(info.state));
    out.byte(repair(info));
    out.byte(info.retransmits);
    out.byte(0); // probes
    out.byte(info.retransmits);
    // TCPI_OPT_TIMESTAMPS, _SACK, _WSCALE, _ECN, _ECN_SEEN, _SYN_DATA.
    let options = [info.timestamps, info.sack, info.scales.is_some(), info.ecn, false, info.syn_data];
    out.byte(options.iter().enumerate().map(|(bit, on)| u8::from(*on) << bit).sum());
    out.byte(send_scale | receive_scale << 4);
    let refusal = match info.fast_open_refusal {
        Refusal::None => 0,
        Refusal::NoCookie => 1,
        Refusal::NotAcknowledged => 2,
        Refusal::Repeated => 3,
    };
    // Bit fields: whether the delivery rate was limited by the application, and tcpi_fastopen_client_fail.
    out.byte(refusal << 1);
    out.words(&[micros(info.rto), micros(info.ato), info.snd_mss.into(), info.rcv_mss.into()]);
    out.words(&[info.unacked, info.sacked, info.lost, info.retrans].map(u64::from));
    out.word(0); // fackets
    // Like the kernel, it does not know the time of its last ACK.
    out.words(&[info.last_data_sent, Duration::ZERO, info.last_data_recv, info.last_ack_recv].map(millis));
    let mtu = info.advmss + 40 + if info.timestamps { 12 } else { 0 };
    out.words(&[mtu.into(), info.rcv_wnd, micros(info.rtt), micros(info.rttvar)]);
    let threshold = if info.snd_ssthresh == u32::MAX { 0x7fff_ffff } else { info.snd_ssthresh };
    out.words(&[threshold, info.snd_cwnd, info.advmss, info.reordering].map(u64::from));
    out.words(&[0, info.receive_buffer, info.total_retrans]);
    out.long(info.pacing_rate.map_or(u64::MAX, |rate| rate.as_bps() / 8));
    out.long(u64::MAX); // largest pacing rate
    out.long(info.bytes_acked);
    out.long(info.bytes_received);
    out.words(&[info.segs_out, info.segs_in, info.notsent_bytes]);
    let min_rtt = if info.min_rtt == Duration::MAX { u64::MAX } else { micros(info.min_rtt) };
    out.words(&[min_rtt, info.data_segs_in, info.data_segs_out]);
    out.long(0); // delivery rate
    out.long(micros(info.busy_time));
    out.long(micros(info.rwnd_limited));
    out.long(micros(info.sndbuf_limited));
    let marks = info.delivered_marks;
    out.words(&[info.delivered, marks.ce_packets]);
    out.long(info.bytes_sent);
    out.long(info.bytes_retrans);
    out.words(&[info.dsack_dups, info.reord_seen.into(), info.rcv_ooopack, info.snd_wnd, info.rcv_wnd]);
    out.word(0); // rehashes
    out.short(info.timeouts);
    out.short(0);
    out.word(0);
    // Counters of bytes are words that wrap.
    let wrapping = |bytes: u64| bytes & u64::from(u32::MAX);
    let [ect1, ce, ect0] = info.received_ecn_bytes;
    out.word(info.received_ce);
    out.words(&[marks.ect1_bytes, marks.ect0_bytes, marks.ce_bytes, ect1, ect0, ce].map(wrapping));
    out.0.resize(TCP_INFO_LEN, 0);
    out.0
}

/// The nine numbers of SO_MEMINFO: bytes that wait in both directions, and the buffers.
pub(crate) fn memory(unread: u64, receive: u64, unacknowledged: u64, send: u64) -> Vec<u8> {
    let mut out = Members(Vec::with_capacity(36));
    out.words(&[unread, receive, unacknowledged, send, 0, unacknowledged, 0, 0, 0]);
    out.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    /// All members that libc declares are at libc's offsets.
    #[test]
    fn members_have_the_offsets_of_the_kernel() {
        let mut out = Members(Vec::new());
        (0..8).for_each(|_| out.byte(0));
        assert_eq!(out.0.len(), offset_of!(libc::tcp_info, tcpi_rto));
        out.words(&[0; 24]);
        assert_eq!(out.0.len(), offset_of!(libc::tcp_info, tcpi_total_retrans) + 4);
    }
}
