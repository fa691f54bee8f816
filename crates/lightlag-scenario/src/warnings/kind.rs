//! The kinds of warnings, each with its name and an explanation.

use serde::Serialize;
use std::fmt;

/// A warning: a valid setting with a surprising effect.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Warning {
    /// Kind of the warning.
    pub kind: Kind,
    /// Path of the setting, such as `links[2].queue`.
    pub path: String,
    /// Message with the numbers, and their effect on the result.
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

/// Declares the kinds, with one line each: variant, name, and an explanation.
macro_rules! kinds {
    ($($variant:ident $name:literal $about:literal)*) => {
        /// A kind of warning.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum Kind {
            $(#[doc = $about] $variant),*
        }

        impl Kind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Returns the name, with which a user can request the explanation.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// Returns the explanation: the condition, the effect on the result, and the fix.
            pub fn about(self) -> &'static str {
                match self { $(Self::$variant => $about),* }
            }
        }
    };
}

kinds! {
    LateStart "late-start"
        "A flow starts at the end of the run or after it, so it sends nothing. Start it earlier, or increase duration."
    UnfinishedTransfer "unfinished-transfer"
        "A transfer takes longer than the run at the rate of the slowest link on its path, even without losses, so it \
         stays unfinished and has no completion time. Raise duration or rate, or send less."
    SmallReceiveBuffer "small-receive-buffer"
        "The receive buffer is below the bandwidth-delay product of the path. A sender has at most a receive window in flight, \
         so goodput cannot exceed window / RTT, whatever the congestion control does. Raise tcp.receive_buffer to the product."
    NoWindowScaling "no-window-scaling"
        "Without window scaling (RFC 7323 §2) a receiver cannot advertise more than 65,535 B, which is below the \
         bandwidth-delay product here, so goodput cannot exceed window / RTT. Set tcp.window_scaling = true."
    RtoMaxBelowRtt "rto-max-below-rtt"
        "The maximum retransmission timeout is below the round trip without queueing: every segment times out before \
         its ACK can arrive, and the flow sends everything several times. Raise tcp.rto.max well above the round trip."
    RtoSynBelowRtt "rto-syn-below-rtt"
        "The timeout of the SYN is below the round trip: the SYN is retransmitted before its reply can arrive, and \
         after two such retransmissions the flow starts with a window of one segment (RFC 6928 §2). Raise tcp.rto.syn, \
         or tcp.rto.initial."
    RtoInitialBelowRtt "rto-initial-below-rtt"
        "The timeout before the first sample of the round trip is below that round trip: the first data is \
         retransmitted unnecessarily. Raise tcp.rto.initial above the round trip."
    NoSack "no-sack"
        "Without SACK (RFC 2018) a sender repairs one lost segment in each round trip, and many segments are in flight here, \
         so the repair after slow start overflows the queue takes very long. Set tcp.sack = true and tcp.recovery = \"sack\"."
    SpoiltStart "spoilt-start"
        "Peach and Hybla open the window faster than slow start does, but the receive window or a repair without SACK \
         removes this advantage. Sudden Start of Peach probes for the window that the receiver advertises, and then \
         grows by a segment per round trip: with an automatic buffer that window is small. Hybla's first window waits \
         for such a buffer to grow. Without SACK one segment is repaired per round trip, after a start that loses \
         many. Set tcp.receive_buffer to a size of at least the bandwidth-delay product, tcp.sack = true and \
         tcp.recovery = \"sack\"."
    SlowReturnPath "slow-return-path"
        "The return path carries fewer ACKs than the data requires. ACKs clock data out, so goodput stays below the \
         rate of the slowest link, and a queue of ACKs adds its delay to the RTT. Raise the rate of the return path, \
         acknowledge more segments per ACK (tcp.delayed_ack.segments, tcp.ack_interval), or filter ACKs (queue \
         discipline ack_filter)."
    SmallQueue "small-queue"
        "The queue at the slowest link holds a small fraction of the bandwidth-delay product. A window that is reduced \
         on a loss then falls far below what the link carries, and bursts of slow start overflow it. A queue of \"1 \
         bdp\" lets NewReno fill the link."
    HalfNetem "half-netem"
        "A link has one rule of Linux's netem without the other. netem loses complete bursts of a sender (GSO), and its limit \
         counts packets in propagation. With single losses CUBIC is about 0.7 times as fast as over netem. To compare with \
         measurements over netem, set both loss = { bursts = … } and queue = { discipline = \"netem\" }."
    HiddenObjects "hidden-objects"
        "A proxy with prefetch = true carries web pages over TLS. It cannot read which objects a page names, so it \
         prefetches none, and the load takes as long as without prefetch. PEPs on today's Internet are in this \
         position for nearly all pages."
    NothingToPrefetch "nothing-to-prefetch"
        "A proxy has prefetch = true, but no flow that passes it loads web pages. Transfers and plain requests name no \
         further objects. Use kind = \"page\" or \"web\", or remove prefetch."
    QuicIdleTimeout "quic-idle-timeout"
        "The idle timeout of a QUIC connection is below three probe timeouts of the path, so a few losses end the connection \
         (RFC 9000 §10.1). Set quic.idle_timeout to at least nine round trips, or to \"0 s\" for none."
    QuicInitialRtt "quic-initial-rtt"
        "The first probe timeout of QUIC is below the round trip of the path: the client repeats its first packets before \
         the answer can arrive. Set quic.initial_rtt to the round trip."
    QuicCredit "quic-credit"
        "The flow-control credit of a QUIC connection is below the bandwidth-delay product and does not grow, so goodput \
         cannot exceed credit / RTT, whatever the congestion control does. Raise quic.stream_credit, \
         quic.connection_credit or quic.send_buffer to the product."
    QuicAtProxy "quic-at-proxy"
        "A QUIC flow passes a proxy. The proxy cannot split it, because QUIC encrypts its transport header (RFC 9001 §5); \
         its packets pass as at a router."
    PacketAboveMtu "packet-above-mtu"
        "Full packets of a connection are larger than the MTU of a link on its path. Links drop them without a \
         notification (a black hole for path MTU discovery), so the connection repeats them until it fails. Reduce \
         tcp.mss or quic.datagram, or raise the mtu of the link."
    PacketAboveTunnel "packet-above-tunnel"
        "Full packets of a flow are larger than the datagrams of a tunnel on its path can carry, so the tunnel drops \
         them. Reduce tcp.mss or quic.datagram of the flow, or raise quic.datagram of the tunnel."
    UnmarkedStep "unmarked-step"
        "A queue marks packets above a threshold, but no flow with this slowest link supports marks (ECN), so it never \
         marks. Set congestion = \"dctcp\" or tcp.ecn = \"classic\"."
    CodelIntervalBelowRtt "codel-interval-below-rtt"
        "CoDel's interval is below the round trip, so it drops again before a sender can react to the last drop, and \
         the link runs empty. RFC 8289 §4.3 recommends an interval of about the maximum round trip."
    MaxRttBelowRtt "max-rtt-below-rtt"
        "max_rtt of DualPI2 is below the round trip, so its controller reacts faster than senders can, and the queue \
         oscillates. Raise it to the maximum round trip."
    RedBelowBdp "red-below-bdp"
        "max_threshold of RED is a small fraction of the bandwidth-delay product. RED keeps the average queue below \
         it, so a window that is reduced falls far below what the link carries. Try max_threshold = \"0.5 bdp\" and a \
         third of it as min_threshold."
    EndlessOutage "endless-outage"
        "A link goes down within the run and does not come up again, and a flow with a finite transfer must cross it. \
         Such a flow may never finish. End the outage with down = false, or give the flow another path."
    JerseyWithoutMarks "jersey-without-marks"
        "TCP Jersey distinguishes congestion from errors by marks of routers. Without ECN, or with a queue that marks \
         nothing, it treats every loss as an error. Make the queue mark by a step of its average, and set tcp.ecn = \
         \"classic\"."
    RateAboveLink "rate-above-link"
        "Rate control sends faster than the slowest link carries: the surplus waits in its queue and is lost there. \
         Set tcp.rate_control.rate to about 95 % of the link."
    AckRateAboveLink "ack-rate-above-link"
        "Rate control of ACKs allows more than the slowest link on the return path carries: ACKs wait in its queue and \
         report an outdated state. Set tcp.rate_control.ack_rate to about 90 % of the link."
    BucketsAboveLink "buckets-above-link"
        "The combined token buckets of several senders admit more than the link after them carries. Divide its rate \
         among them."
    LateAcks "late-acks"
        "Periodic ACKs (tcp.ack_interval) have a longer interval than the retransmission timeout that the round trip \
         requires: the timeout grows, or expires spuriously. Two ACKs per round trip are recommended."
    AckLoad "ack-load"
        "Periodic ACKs (tcp.ack_interval) need more than the return path carries: they queue up there and are lost. \
         Increase the interval."
    SilentStations "silent-stations"
        "Stations at a link report its outages or errors (signals), but the link has none. Remove signals, or give the \
         link changes, a trace, rain or losses."
    UnheardStations "unheard-stations"
        "Stations at a link report its outages or errors (signals), but no flow across it offers SCPS-TP, so no \
         endpoint acts on them. Set tcp.scps = true."
    OldElements "old-elements"
        "Orbital elements are from an epoch far from the start of the run. The error of SGP4 grows by one to three \
         kilometres per day. Use newer elements, or a start near their epoch."
    Decayed "decayed"
        "Satellites have no orbit until the end of the run: SGP4 places them below the ground, and they are removed."
    OwnSatellites "own-satellites"
        "Without links between satellites, two stations exchange packets over a satellite that both use, but here each \
         selects its own, so they may have no path. constellation.selection = \"shortest\" uses one that is visible to \
         both."
    Uncovered "uncovered"
        "No satellite ever rises high enough above a station at this latitude, so it has no path to any node. Lower \
         the minimum elevation, or use orbits with a higher inclination."
    UnlinkedSatellites "unlinked-satellites"
        "Satellites of a file have no links to others, because they are in none of the planes that a grid joins: \
         spares, satellites in transfer to another height, single planes. Paths use them only directly between two \
         stations."
    IdleTable "idle-table"
        "A flow has settings of another transport than its own: a table tcp with QUIC, or quic with TCP. They have no \
         effect. A comparison of transports needs both."
    IdleKey "idle-key"
        "A key of tcp has no effect with other keys: D-SACK without SACK, ABE without ECN, a count of segments for \
         delayed ACKs with Linux's adaptive rules. Remove it, or set the key that it needs."
    PhaseLock "phase-lock"
        "Nothing in the scenario is random, and a single flow crosses a queue, or a marking threshold, that is short \
         compared with the bandwidth-delay product. The pattern of dropped or marked packets then repeats in every \
         round (traffic phase effects), and goodput may differ greatly from its value with any noise. Add jitter = \
         \"20 us\" to the link, and run several seeds."
    FewConnectedPairs "few-connected-pairs"
        "Fewer than half of the pairs of nodes on a medium are connected at the start, over any number of hops. Raise \
         the power, use a lower rate, or place more nodes in less space."
    GreyZone "grey-zone"
        "Routing broadcasts reach farther than data, whose rate is higher: nodes detect neighbours that data does not \
         reach, and routes over them break. Set min_snr in the medium's routing, or a higher broadcast_rate."
    NoAggregates "no-aggregates"
        "A medium requests frame aggregation at a rate that does not support it. Use a rate of 802.11n or ac, or set \
         aggregation = 0."
    NeverConnected "never-connected"
        "Two nodes are not connected at any of the checked times of the run, over any number of hops. No data of the \
         flow between them can arrive. Move them, raise the power of radios, or add links between satellites."
    BrokenStaticRoute "broken-static-route"
        "Static routes are computed at the start. This one does not exist then, or a node on it moves out of range, \
         and the route is not updated. Use another routing protocol."
    LossyStaticHop "lossy-static-hop"
        "A static route has a hop whose signal is so weak that many full frames are lost. Use a lower rate, or move \
         the nodes closer."
    AirtimeAboveOne "airtime-above-one"
        "Datagram flows need more than one second of airtime per second, including ACKs, backoffs and all hops, so \
         queues fill and the excess is lost. Send less, or raise the rate."
    RandomAccessOverload "random-access-overload"
        "Sensors with random access send so often that their bursts destroy each other: above a load, more messages \
         deliver less in total. Send less often, or add channels."
    AccessAboveRto "access-above-rto"
        "The logon and the first request of a satellite terminal take longer than the timeout of the SYN, so each \
         connection starts with a retransmission. Raise tcp.rto.initial, or set logon = false on the medium."
    FastNode "fast-node"
        "A file of paths moves a node faster than nodes should fly. Check the units of the file: metres and seconds."
    ShortPath "short-path"
        "A file of paths ends before the run does: the node stays at its last position."
}

impl Serialize for Kind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_kind_has_a_name_of_its_own_and_sentences() {
        let names: BTreeSet<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        assert_eq!(names.len(), Kind::ALL.len());
        for kind in Kind::ALL {
            assert!(kind.name().bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{kind:?}");
            assert!(kind.about().ends_with('.') && !kind.about().contains("  "), "{kind:?}");
        }
    }
}
