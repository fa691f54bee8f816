//! Counters of a host's packets.

/// Counters of a host's packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Packets that arrived.
    pub packets_in: u64,
    /// Packets that were sent.
    pub packets_out: u64,
    /// Dropped: the packet was cut, malformed, a fragment, or had a wrong checksum.
    pub bad_packets: u64,
    /// Dropped: neither TCP nor an ICMP message about it.
    pub other_protocols: u64,
    /// Dropped: the destination is not an address of this host.
    pub not_for_us: u64,
    /// Dropped: a SYN for a listener whose queue is full, or while the host is at its limit of connections.
    pub refused_syns: u64,
    /// Connections that were reset because of the limits of the host.
    pub evicted: u64,
    /// SYNs answered with a cookie, because too many connections were half open.
    pub cookies_sent: u64,
    /// Connections opened by an ACK that brought a cookie back.
    pub cookies_taken: u64,
    /// Resets sent for segments without a connection.
    pub resets: u64,
    /// ICMP errors that ended an opening connection.
    pub unreachable: u64,
    /// ICMP errors that made the segments of a connection smaller.
    pub smaller_paths: u64,
    /// Dropped: ICMP errors that are not about a segment in flight.
    pub stray_icmp: u64,
}
