//! The kinds of warnings, each with its name and what it teaches.

use serde::Serialize;
use std::fmt;

/// A legal setting with a surprising effect.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Warning {
    /// Its kind.
    pub kind: Kind,
    /// Its place: `links[2].queue`.
    pub path: String,
    /// The numbers, and their effect on the result.
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

/// Declares the kinds: variant, name, and a paragraph about it.
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

            /// Its name, by which it can be explained.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// When it comes, its effect on the result, and what to do.
            pub fn about(self) -> &'static str {
                match self { $(Self::$variant => $about),* }
            }
        }
    };
}

kinds! {
    LateStart "late-start"
        "A flow starts at the end of the run or after it, so it sends nothing. Start it earlier, or let the run last longer."
    UnfinishedTransfer "unfinished-transfer"
        "A transfer takes longer than the run at the rate of the slowest link on its way, even without losses, so it stays \
         unfinished and has no completion time. Raise duration or rate, or send less."
    SmallReceiveBuffer "small-receive-buffer"
        "The receive buffer is below the bandwidth-delay product of the path. A sender has at most a receive window in flight, \
         so goodput cannot exceed window / RTT, whatever the congestion control does. Raise tcp.receive_buffer to the product."
    NoWindowScaling "no-window-scaling"
        "Without window scaling (RFC 7323 §2) a receiver can advertise 65,535 B at most, which is below the bandwidth-delay \
         product here, so goodput cannot exceed window / RTT. Set tcp.window_scaling = true."
    RtoMaxBelowRtt "rto-max-below-rtt"
        "The largest retransmission timeout is below the round trip without queueing: every segment times out before its ACK \
         can arrive, and the flow sends everything several times. Raise tcp.rto.max well above the round trip."
    RtoSynBelowRtt "rto-syn-below-rtt"
        "The timeout of the SYN is below the round trip: the SYN is repeated before its answer can arrive, and after two such \
         repeats the flow starts with a window of one segment (RFC 6928 §2). Raise tcp.rto.syn, or tcp.rto.initial."
    RtoInitialBelowRtt "rto-initial-below-rtt"
        "The timeout before the first sample of the round trip is below that round trip: the first data is sent again for \
         nothing. Raise tcp.rto.initial above the round trip."
    NoSack "no-sack"
        "Without SACK (RFC 2018) a sender repairs one lost segment in each round trip, and many segments are in flight here, \
         so the repair after slow start overflows the queue takes very long. Set tcp.sack = true and tcp.recovery = \"sack\"."
    SpoiltStart "spoilt-start"
        "Peach and Hybla open the window faster than slow start does, but the receive window or a repair without SACK takes the \
         advantage away. Sudden Start of Peach probes for the window that the receiver advertises, and then grows by a segment \
         per round trip: with an automatic buffer that window is small. Hybla's first window waits for such a buffer to grow. \
         Without SACK one segment is repaired per round trip, after a start that loses many. Set tcp.receive_buffer to a size \
         of at least the bandwidth-delay product, tcp.sack = true and tcp.recovery = \"sack\"."
    SlowReturnPath "slow-return-path"
        "The link on the way back carries fewer ACKs than the data asks for. ACKs clock data out, so goodput stays below the \
         rate of the slowest link, and a queue of ACKs adds its delay to the RTT. Raise the rate of the way back, acknowledge \
         more segments at once (tcp.delayed_ack.segments, tcp.ack_interval), or filter ACKs (queue discipline ack_filter)."
    SmallQueue "small-queue"
        "The queue at the slowest link holds little of the bandwidth-delay product. A window that is cut on a loss then falls \
         far below what the link carries, and bursts of slow start overflow it. A queue of \"1 bdp\" lets NewReno fill the link."
    UnmarkedStep "unmarked-step"
        "A queue marks packets above a threshold, but no flow whose slowest link it is understands marks (ECN), so it never \
         acts. Set congestion = \"dctcp\" or tcp.ecn = \"classic\"."
    CodelIntervalBelowRtt "codel-interval-below-rtt"
        "CoDel's interval is below the round trip, so it drops again before a sender can have answered the last drop, and the \
         link runs empty. RFC 8289 §4.3 has an interval of about the largest round trip."
    MaxRttBelowRtt "max-rtt-below-rtt"
        "max_rtt of DualPI2 is below the round trip, so its controller answers faster than senders can, and the queue \
         oscillates. Raise it to the largest round trip."
    RedBelowBdp "red-below-bdp"
        "max_threshold of RED is a small part of the bandwidth-delay product. RED keeps the average queue below it, so a window \
         that is cut falls far below what the link carries. Try max_threshold = \"0.5 bdp\" and a third of it as min_threshold."
    EndlessOutage "endless-outage"
        "A link goes down within the run and does not come up again, and a flow with a finite transfer must cross it. Such a \
         flow may never finish. End the outage with down = false, or give the flow another way."
    JerseyWithoutMarks "jersey-without-marks"
        "TCP Jersey tells congestion from errors by marks of routers. Without ECN, or with a queue that marks nothing, it takes \
         every loss for an error. Let the queue mark by a step of its average, and set tcp.ecn = \"classic\"."
    RateAboveLink "rate-above-link"
        "Rate control sends faster than the slowest link carries: the surplus waits in its queue and is lost there. Take about \
         95 % of the link as tcp.rate_control.rate."
    AckRateAboveLink "ack-rate-above-link"
        "Rate control of ACKs allows more than the slowest link on the way back carries: ACKs wait in its queue and tell what \
         was. Take about 90 % of the link as tcp.rate_control.ack_rate."
    BucketsAboveLink "buckets-above-link"
        "Token buckets of several senders together let through more than the link behind them carries. Divide its rate among \
         them."
    LateAcks "late-acks"
        "ACKs by the clock (tcp.ack_interval) come more seldom than the retransmission timeout that the round trip asks for: \
         the timeout grows, or expires for nothing. Two ACKs in a round trip are recommended."
    AckLoad "ack-load"
        "ACKs by the clock (tcp.ack_interval) take more than the way back carries: they queue up there and are lost. Make the \
         interval longer."
    SilentStations "silent-stations"
        "Stations at a link report its outages or errors (signals), but the link has none. Leave signals out, or give the link \
         changes, a trace, rain or losses."
    UnheardStations "unheard-stations"
        "Stations at a link report its outages or errors (signals), but no flow across it offers SCPS-TP, so nobody heeds them. \
         Set tcp.scps = true."
    OldElements "old-elements"
        "Orbital elements are from an epoch far from the start of the run. SGP4 errs by one to three kilometres a day. Take \
         newer elements, or a start near their epoch."
    Decayed "decayed"
        "Satellites have no orbit up to the end of the run: SGP4 finds them below the ground, and they leave the sky."
    OwnSatellites "own-satellites"
        "Without links between satellites two stations exchange packets over one that both use, but each selects its own here, \
         so they may have no way. constellation.selection = \"shortest\" takes one that both see."
    Uncovered "uncovered"
        "No satellite ever stands high enough above a station at this latitude, so it has no way to anybody. Lower the least \
         elevation, or take orbits with a higher inclination."
    UnlinkedSatellites "unlinked-satellites"
        "Satellites of a file have no links to others, because they are in none of the planes that a grid joins: spares, satellites \
         on their way to another height, single planes. Paths do not lead over them but from station to station."
    IdleKey "idle-key"
        "A key of tcp has no effect beside other keys: D-SACK without SACK, ABE without ECN, a count of segments for \
         delayed ACKs beside Linux's adaptive rules. Leave it out, or set the key that it needs."
    PhaseLock "phase-lock"
        "Nothing in the scenario is random, and a single flow meets a queue, or a threshold for marks, that is short against the \
         bandwidth-delay product. Which packet is dropped or marked then repeats round after round (traffic phase effects), and \
         goodput may be far from that with any noise. Add jitter = \"20 us\" to the link, and run several seeds."
    FewConnectedPairs "few-connected-pairs"
        "Fewer than half of the pairs of nodes on a medium are connected at the start, over any number of hops. Raise the power, \
         take a lower rate, or put more nodes into less space."
    GreyZone "grey-zone"
        "Broadcasts of routing reach farther than data, whose rate is higher: nodes know neighbours that data does not reach, \
         and routes over them break. Set min_snr in the medium's routing, or a higher broadcast_rate."
    NoAggregates "no-aggregates"
        "A medium asks for aggregates of frames at a rate that has none. Take a rate of 802.11n or ac, or set aggregation = 0."
    NeverConnected "never-connected"
        "Two nodes are connected at none of the times of the run that were looked at, over any number of hops. Nothing of the \
         flow between them can arrive. Move them, raise the power of radios, or let satellites have links."
    BrokenStaticRoute "broken-static-route"
        "Static routes are made at the start. This one does not exist then, or a node on it moves out of range, and the route \
         stays as it is. Take another routing protocol."
    LossyStaticHop "lossy-static-hop"
        "A static route leads over a hop with so weak a signal that many full frames are lost. Take a lower rate, or move the \
         nodes closer."
    AirtimeAboveOne "airtime-above-one"
        "Flows of datagrams offer more than a second of airtime in each second, with ACKs and backoffs and over their hops, so \
         queues fill and the rest is lost. Send less, or raise the rate."
    FastNode "fast-node"
        "A file of paths moves a node faster than nodes should fly. Check the units of the file: metres and seconds."
    ShortPath "short-path"
        "A file of paths ends before the run does: the node stays where it was last."
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
