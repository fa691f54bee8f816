//! The causes that are examined: each with the change of a scenario that removes it, and the fix on a real path.

use super::case::Case;
use super::removal;
use serde::Serialize;

/// Part of the scenario that has a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An option of an endpoint, or the application.
    Setting,
    /// A link, or a node.
    Path,
    /// The start of every transfer.
    Start,
    /// Other flows on the path.
    Shared,
    /// The rate of the bottleneck, which some part of the path always limits.
    Rate,
}

/// A possible cause of a slow transfer.
#[derive(Serialize)]
pub struct Cause {
    /// Name in tables.
    pub(super) name: &'static str,
    /// The cause in a sentence, without a full stop.
    pub(super) statement: &'static str,
    /// The fix in a sentence, without a full stop.
    pub(super) fix: &'static str,
    /// Part of the scenario that has the cause.
    #[serde(skip)]
    pub(super) kind: Kind,
    /// Options of TCP or QUIC that make the cause a setting; without one of them, it is a default.
    #[serde(skip)]
    keys: &'static [&'static str],
    /// Changes the scenario so that the cause is absent; returns false if the scenario cannot have it.
    #[serde(skip)]
    pub(super) remove: fn(&mut Case<'_>) -> bool,
}

impl Cause {
    /// Returns the cause with a name.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        CAUSES.iter().find(|cause| cause.name == name)
    }

    /// Returns true if a setting of the scenario causes the effect, not a default or the path.
    pub(super) fn is_set(&self, case: &Case<'_>) -> bool {
        let is_option = self.keys.is_empty() || self.keys.iter().any(|key| case.option(key).is_some());
        self.kind == Kind::Setting && is_option
    }
}

/// All causes, in the order in which they are examined.
pub const CAUSES: &[Cause] = &[
    Cause {
        name: "receive window",
        statement: "the receive window is smaller than the path needs",
        fix: "allow a receive buffer of twice the bandwidth-delay product: net.ipv4.tcp_rmem, SO_RCVBUF, or QUIC's credit",
        kind: Kind::Setting,
        keys: &["receive_buffer", "window_scaling", "stream_credit", "connection_credit"],
        remove: removal::receive_window,
    },
    Cause {
        name: "send buffer",
        statement: "the send buffer is smaller than the path needs",
        fix: "allow a send buffer of twice the bandwidth-delay product: net.ipv4.tcp_wmem, SO_SNDBUF",
        kind: Kind::Setting,
        keys: &[],
        remove: removal::send_buffer,
    },
    Cause {
        name: "application",
        statement: "the application does not supply more data",
        fix: "nothing in the network helps: let the application write earlier, or more",
        kind: Kind::Setting,
        keys: &[],
        remove: removal::application,
    },
    Cause {
        name: "slow reader",
        statement: "the receiving application reads slowly",
        fix: "read faster",
        kind: Kind::Setting,
        keys: &[],
        remove: removal::reader,
    },
    Cause {
        name: "small initial window",
        statement: "the initial window is smaller than ten segments",
        fix: "an initial window of ten segments (RFC 6928): ip route change ... initcwnd 10",
        kind: Kind::Setting,
        keys: &[],
        remove: removal::small_window,
    },
    Cause {
        name: "no SACK",
        statement: "without SACK, a sender repairs one loss per round trip",
        fix: "enable SACK at both endpoints: net.ipv4.tcp_sack",
        kind: Kind::Setting,
        keys: &["sack", "recovery"],
        remove: removal::no_sack,
    },
    Cause {
        name: "no timestamps",
        statement: "without timestamps, a spurious retransmission is not detected",
        fix: "enable timestamps at both endpoints: net.ipv4.tcp_timestamps",
        kind: Kind::Setting,
        keys: &[],
        remove: removal::no_timestamps,
    },
    Cause {
        name: "delayed ACKs",
        statement: "ACKs are delayed, so that the window grows slowly",
        fix: "acknowledge more often: quickack in the route, or a smaller delay",
        kind: Kind::Setting,
        keys: &["delayed_ack", "ack_interval", "ack", "ack_frequency"],
        remove: removal::delayed_acks,
    },
    Cause {
        name: "idle restart",
        statement: "the window falls back to its initial size after each pause",
        fix: "keep the window over pauses: net.ipv4.tcp_slow_start_after_idle = 0",
        kind: Kind::Setting,
        keys: &["idle_restart"],
        remove: removal::idle_restart,
    },
    Cause {
        name: "HyStart",
        statement: "HyStart ends slow start too early",
        fix: "slow start without HyStart, or with HyStart++ or SEARCH",
        kind: Kind::Setting,
        keys: &["congestion"],
        remove: removal::hystart,
    },
    Cause {
        name: "Nagle's algorithm",
        statement: "Nagle's algorithm holds small segments back",
        fix: "TCP_NODELAY",
        kind: Kind::Setting,
        keys: &[],
        remove: removal::nagle,
    },
    Cause {
        name: "window limit",
        statement: "a limit of the congestion window, of bursts or of the rate slows the sender down",
        fix: "remove the limit",
        kind: Kind::Setting,
        keys: &[],
        remove: removal::window_limit,
    },
    Cause {
        name: "small segments",
        statement: "the segments are smaller than the path could carry",
        fix: "a larger MTU and MSS",
        kind: Kind::Setting,
        keys: &[],
        remove: removal::small_segments,
    },
    Cause {
        name: "losses of data",
        statement: "random losses reduce the congestion window",
        fix: "a congestion control that tolerates losses (BBR, Hybla), FEC on the link, or a PEP",
        kind: Kind::Path,
        keys: &[],
        remove: removal::data_losses,
    },
    Cause {
        name: "losses of ACKs",
        statement: "losses of ACKs slow the growth of the window, or cause timeouts",
        fix: "a better return link, or more ACKs",
        kind: Kind::Path,
        keys: &[],
        remove: removal::ack_losses,
    },
    Cause {
        name: "thin return link",
        statement: "the return link is too slow for the ACKs",
        fix: "fewer ACKs: an ACK filter, ACK frequency, or a faster return link",
        kind: Kind::Path,
        keys: &[],
        remove: removal::thin_return,
    },
    Cause {
        name: "outages",
        statement: "the link is down for some time",
        fix: "a link without outages; after one, a sender waits for its retransmission timer",
        kind: Kind::Path,
        keys: &[],
        remove: removal::outages,
    },
    Cause {
        name: "handovers",
        statement: "handovers and slots interrupt the path",
        fix: "a sender that ignores them",
        kind: Kind::Path,
        keys: &[],
        remove: removal::handovers,
    },
    Cause {
        name: "radio channel",
        statement: "the bad state of the channel adds losses and delay",
        fix: "link-layer retransmission or FEC",
        kind: Kind::Path,
        keys: &[],
        remove: removal::radio_channel,
    },
    Cause {
        name: "policer",
        statement: "a policer drops the packets above its rate",
        fix: "send below the policed rate (pacing, BBR), or shape instead",
        kind: Kind::Path,
        keys: &[],
        remove: removal::policer,
    },
    Cause {
        name: "reordering",
        statement: "reordering is mistaken for loss",
        fix: "RACK with its reordering window, timestamps and D-SACK",
        kind: Kind::Path,
        keys: &[],
        remove: removal::reordering,
    },
    Cause {
        name: "delay changes",
        statement: "the delay of the path changes, which is mistaken for a queue",
        fix: "a congestion control that does not take delay for congestion, or one that measures the path again (BBR)",
        kind: Kind::Path,
        keys: &[],
        remove: removal::delay_changes,
    },
    Cause {
        name: "bandwidth on demand",
        statement: "the transmitter waits for capacity that it requests",
        fix: "capacity that is assigned in advance",
        kind: Kind::Path,
        keys: &[],
        remove: removal::bandwidth_on_demand,
    },
    Cause {
        name: "short queue",
        statement: "the queue of the bottleneck overflows before the path is full",
        fix: "a queue of one bandwidth-delay product, or pacing",
        kind: Kind::Path,
        keys: &[],
        remove: removal::short_queue,
    },
    Cause {
        name: "proxies",
        statement: "the proxies slow the transfer down",
        fix: "larger buffers and windows in the proxies",
        kind: Kind::Path,
        keys: &[],
        remove: removal::proxies,
    },
    Cause {
        name: "other flows",
        statement: "other flows share the path",
        fix: "a queue per flow (FQ-CoDel), or a higher rate",
        kind: Kind::Shared,
        keys: &[],
        remove: removal::other_flows,
    },
    Cause {
        name: "radio contention",
        statement: "other flows use the radio channel",
        fix: "RTS/CTS against hidden stations, another channel, a higher MCS, or fewer flows at a time",
        kind: Kind::Shared,
        keys: &[],
        remove: removal::contention,
    },
    Cause {
        name: "slow start",
        statement: "the window grows from its initial size, which takes several round trips",
        fix: "a larger initial window, Careful Resume, a persistent connection, or a PEP",
        kind: Kind::Start,
        keys: &[],
        remove: removal::slow_start,
    },
    Cause {
        name: "capacity",
        statement: "the link is used fully",
        fix: "a higher rate",
        kind: Kind::Rate,
        keys: &[],
        remove: removal::capacity,
    },
];
