//! Counters of a host's packets.

/// Counters of a host's packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Packets that arrived.
    pub packets_in: u64,
    /// Packets that were sent.
    pub packets_out: u64,
    /// Dropped packets that were truncated, malformed, a fragment, or had a wrong checksum.
    pub bad_packets: u64,
    /// Dropped packets that were neither TCP nor an ICMP message about TCP.
    pub other_protocols: u64,
    /// Dropped packets whose destination is not an address of this host.
    pub not_for_us: u64,
    /// Dropped SYNs for a listener whose queue was full, or while the host was at its limit of connections.
    pub refused_syns: u64,
    /// Connections that were reset because of the limits of the host.
    pub evicted: u64,
    /// SYN-ACKs sent with a cookie, because too many connections were half open.
    pub cookies_sent: u64,
    /// Connections opened by an ACK that returned a cookie.
    pub cookies_taken: u64,
    /// Resets sent for segments without a connection.
    pub resets: u64,
    /// ICMP errors that ended an opening connection.
    pub unreachable: u64,
    /// ICMP errors that reduced the segment size of a connection.
    pub smaller_paths: u64,
    /// Dropped ICMP errors that are not about a segment in flight.
    pub stray_icmp: u64,
}
