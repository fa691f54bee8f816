//! The parameters of AODV (RFC 3561 §10), and the options that reproduce ns-3.

use lightlag_core::params::{Described, Setting};
use lightlag_core::{Duration, Unit};

/// The reports of the link layer that mean that a link broke.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LinkBreakOn {
    /// A frame that was not acknowledged within the retry limit (RFC 3561 §6.10).
    #[default]
    Retry,
    /// A frame that was dropped after it had entered the queue, because it was not acknowledged or because it waited
    /// too long. As in ns-3, where the queue does not overflow, because flow control stops the layer above before.
    Any,
}

/// The events that release the packets waiting for a route.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ReleaseOn {
    /// Any message that provides the route, including a neighbour's HELLO.
    #[default]
    Route,
    /// As in ns-3: a reply to this node, or, if another message provided the route, the end of the current ring search.
    Reply,
}

/// The nodes that send HELLOs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum HelloPolicy {
    /// No node.
    Off,
    /// Nodes on a route that carried data within `active_route_timeout` (RFC 3561 §6.9).
    Active,
    /// All nodes, as in ns-3.
    #[default]
    Always,
}

/// The rules for route errors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Errors {
    /// The rules of RFC 3561 §6.11: each error counts towards `rerr_rate_limit`, and an error without new information
    /// is not passed on.
    #[default]
    Rfc3561,
    /// The rules of ns-3. Each packet without a route causes an error, which is broadcast if there is no valid route to
    /// the packet's origin. Such errors stop when the errors passed on to a single neighbour have reached
    /// `rerr_rate_limit` in the current second. An error about a route that is already invalid is passed on again.
    Ns3,
}

/// The packets, except HELLOs and requests, that show that a neighbour is still in range.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Proof {
    /// Packets that the neighbour sends or acknowledges (RFC 3561 §6.10).
    #[default]
    Acknowledged,
    /// As in ns-3: packets that a node forwards to or from the neighbour, whether or not they arrive, and unicast
    /// messages of the neighbour while the route to it is valid. A dropped frame means a broken link only while the
    /// neighbour counts as in range.
    Forwarded,
}

/// The parameters of AODV.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// Lifetime of a route after its last use.
    pub active_route_timeout: Duration,
    /// Lifetime of the route in the replies that a destination sends.
    pub my_route_timeout: Duration,
    /// The nodes that send HELLOs.
    pub hello: HelloPolicy,
    /// Interval between HELLOs.
    pub hello_interval: Duration,
    /// Number of consecutive HELLOs that may be lost before a neighbour counts as lost.
    pub allowed_hello_loss: u32,
    /// Maximum distance between two nodes, in hops.
    pub net_diameter: u32,
    /// Estimated maximum time for a packet to travel one hop.
    pub node_traversal_time: Duration,
    /// Time to live of the first request of a search.
    pub ttl_start: u32,
    /// Increase of the time to live from one request to the next.
    pub ttl_increment: u32,
    /// Maximum time to live of a limited request; the next one covers the entire network.
    pub ttl_threshold: u32,
    /// Number of additional hops for which the timeout of a ring allows.
    pub timeout_buffer: u32,
    /// Number of network-wide requests before the discovery is abandoned.
    pub rreq_retries: u32,
    /// Maximum number of requests that a node sends per second.
    pub rreq_rate_limit: u32,
    /// Maximum number of route errors that a node sends per second.
    pub rerr_rate_limit: u32,
    /// Maximum random delay of a request, a HELLO or an error, a whole number of milliseconds.
    pub jitter: Duration,
    /// Whether the destination also gets a reply if another node replies.
    pub gratuitous_reply: bool,
    /// Whether only the destination may reply.
    pub destination_only: bool,
    /// Whether a neighbour of the destination that replies for it requests an acknowledgement.
    pub reply_ack: bool,
    /// Maximum time to wait for such an acknowledgement.
    pub next_hop_wait: Duration,
    /// Time for which the requests of a neighbour that did not acknowledge a reply are ignored.
    pub blacklist_timeout: Duration,
    /// Time for which an invalid route is remembered.
    pub delete_period: Duration,
    /// The reports of the link layer that mean that a link broke.
    pub link_break_on: LinkBreakOn,
    /// The events that release the packets waiting for a route.
    pub release_on: ReleaseOn,
    /// Whether a node repairs a broken route itself if the destination is near.
    pub local_repair: bool,
    /// Whether a node ignores a request that arrives from its own next hop to the destination, as in ns-3.
    pub drop_returning: bool,
    /// Whether a route that expires gets a newer sequence number, like a route that breaks.
    pub increment_on_expiry: bool,
    /// Whether a route that breaks gets a newer sequence number (RFC 3561 §6.11). In ns-3 it does not.
    pub increment_on_break: bool,
    /// The rules for route errors.
    pub errors: Errors,
    /// Whether a request makes an invalid route back to its origin valid again (RFC 3561 §6.5). In ns-3 it does not.
    pub revive_reverse_route: bool,
    /// The packets that show that a neighbour is still in range.
    pub proof: Proof,
    /// Whether the rules of ns-3 for the routes of messages apply. A message to a neighbour then needs a valid route to
    /// the neighbour and waits for one as data does. Only a neighbour's HELLOs and requests make an invalid route to it
    /// valid. A reply travels at most as many hops as its route had at its sender; otherwise at most `net_diameter`.
    pub route_messages: bool,
    /// Minimum signal-to-noise ratio of a broadcast that counts as a sign of a link, in dB.
    pub min_snr: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            active_route_timeout: Duration::from_secs(3),
            my_route_timeout: Duration::from_millis(11_200),
            hello: HelloPolicy::default(),
            hello_interval: Duration::from_secs(1),
            allowed_hello_loss: 2,
            net_diameter: 35,
            node_traversal_time: Duration::from_millis(40),
            ttl_start: 1,
            ttl_increment: 2,
            ttl_threshold: 7,
            timeout_buffer: 2,
            rreq_retries: 2,
            rreq_rate_limit: 10,
            rerr_rate_limit: 10,
            jitter: Duration::from_millis(10),
            gratuitous_reply: true,
            destination_only: false,
            reply_ack: true,
            next_hop_wait: Duration::from_millis(50),
            blacklist_timeout: Duration::from_millis(5_600),
            delete_period: Duration::from_secs(15),
            link_break_on: LinkBreakOn::default(),
            release_on: ReleaseOn::default(),
            local_repair: false,
            drop_returning: false,
            increment_on_expiry: true,
            increment_on_break: true,
            errors: Errors::default(),
            revive_reverse_route: true,
            proof: Proof::default(),
            route_messages: false,
            min_snr: -100.0,
        }
    }
}

impl Config {
    /// Returns NET_TRAVERSAL_TIME: the time in which a request crosses the network and its reply returns.
    pub fn net_traversal_time(&self) -> Duration {
        self.node_traversal_time * 2 * u64::from(self.net_diameter)
    }

    /// Returns PATH_DISCOVERY_TIME: the time for which a request is remembered.
    pub fn path_discovery_time(&self) -> Duration {
        self.net_traversal_time() * 2
    }

    /// Returns RING_TRAVERSAL_TIME: the time to wait for a reply to a request with this time to live.
    pub fn ring_traversal_time(&self, ttl: u32) -> Duration {
        self.node_traversal_time * 2 * u64::from(ttl + self.timeout_buffer)
    }

    /// Returns the maximum silence of a neighbour before it counts as lost.
    pub fn hello_timeout(&self) -> Duration {
        self.hello_interval * u64::from(self.allowed_hello_loss)
    }

    /// Returns MAX_REPAIR_TTL: the maximum number of hops to a destination for a local repair.
    pub fn max_repair_ttl(&self) -> u32 {
        self.net_diameter * 3 / 10
    }
}

/// Maximum hop count: it is a single byte (RFC 3561 §5.1).
const MOST_HOPS: u32 = 255;

impl Described for Config {
    const ABOUT: &'static str = "Ad hoc On-Demand Distance Vector (RFC 3561). A node without a route floods a request \
        in growing rings, and the destination, or a node with a fresh route, replies. Sequence numbers keep routes \
        free of loops. Broken routes are reported to the nodes that use them.";

    fn settings() -> Vec<Setting<Self>> {
        let hops = |key, at| Setting::count(key, at, MOST_HOPS, "a number of hops", "");
        vec![
            Setting::time("active_route_timeout", |c: &mut Self| &mut c.active_route_timeout)
                .about("Lifetime of a route after its last use."),
            Setting::time("my_route_timeout", |c: &mut Self| &mut c.my_route_timeout)
                .about("Lifetime that a destination gives to routes to itself."),
            Setting::word(
                "hello",
                "a choice of nodes that send HELLOs",
                &["off", "active", "always"],
                |c: &Self| c.hello as usize,
                |c, index| c.hello = [HelloPolicy::Off, HelloPolicy::Active, HelloPolicy::Always][index],
            )
            .about("Nodes that send HELLOs."),
            Setting::time("hello_interval", |c: &mut Self| &mut c.hello_interval).about("Time between two HELLOs."),
            Setting::count(
                "allowed_hello_loss",
                |c: &mut Self| &mut c.allowed_hello_loss,
                1000,
                "a number of HELLOs",
                "",
            )
            .about("Maximum number of consecutive HELLOs that may be missed."),
            hops("net_diameter", |c: &mut Self| &mut c.net_diameter)
                .about("Maximum distance between two nodes, in hops."),
            Setting::time("node_traversal_time", |c: &mut Self| &mut c.node_traversal_time)
                .about("Maximum traversal time of a hop."),
            hops("ttl_start", |c: &mut Self| &mut c.ttl_start).about("Time to live of the first request."),
            hops("ttl_increment", |c: &mut Self| &mut c.ttl_increment)
                .about("Increase of the time to live from one request to the next."),
            hops("ttl_threshold", |c: &mut Self| &mut c.ttl_threshold)
                .about("Maximum time to live of a ring; beyond it a request is flooded through the network.")
                .checked(|c| (c.ttl_threshold > c.net_diameter).then_some("is above net_diameter; reduce it")),
            hops("timeout_buffer", |c: &mut Self| &mut c.timeout_buffer)
                .about("Additional hops in the waiting time for a ring."),
            Setting::count("rreq_retries", |c: &mut Self| &mut c.rreq_retries, 16, "a number of requests", "")
                .about("Number of requests flooded through the network before the destination counts as unreachable."),
            Setting::count(
                "rreq_rate_limit",
                |c: &mut Self| &mut c.rreq_rate_limit,
                1_000_000,
                "a number of requests",
                "",
            )
            .about("Maximum number of requests per node and second."),
            Setting::count(
                "rerr_rate_limit",
                |c: &mut Self| &mut c.rerr_rate_limit,
                1_000_000,
                "a number of errors",
                "",
            )
            .about("Maximum number of errors per node and second."),
            Setting::time_or_zero("jitter", |c: &mut Self| &mut c.jitter)
                .about("Maximum random delay of a request, a HELLO or an error, in integer milliseconds.")
                .checked(|c| {
                    let whole = c.jitter.as_nanos().is_multiple_of(1_000_000);
                    (!whole).then_some("is not a whole number of milliseconds, the unit of random delays; round it")
                }),
            Setting::flag("gratuitous_reply", |c: &mut Self| &mut c.gratuitous_reply)
                .about("Whether the destination also receives a reply if another node replies."),
            Setting::flag("destination_only", |c: &mut Self| &mut c.destination_only)
                .about("Whether only the destination may reply."),
            Setting::flag("reply_ack", |c: &mut Self| &mut c.reply_ack).about(
                "Whether the neighbour of a destination requests an acknowledgement when it replies on its behalf.",
            ),
            Setting::time("next_hop_wait", |c: &mut Self| &mut c.next_hop_wait)
                .about("Maximum waiting time for such an acknowledgement."),
            Setting::time_or_zero("blacklist_timeout", |c: &mut Self| &mut c.blacklist_timeout)
                .about("Time for which requests of a neighbour that did not acknowledge are ignored."),
            Setting::time("delete_period", |c: &mut Self| &mut c.delete_period)
                .about("Time for which an invalid route is stored."),
            Setting::word(
                "link_break_on",
                "a choice of reports",
                &["retry", "any"],
                |c: &Self| c.link_break_on as usize,
                |c, index| c.link_break_on = [LinkBreakOn::Retry, LinkBreakOn::Any][index],
            )
            .about(
                "Reports of the link layer that indicate a broken link: unacknowledged frames, or any frame that was \
                 dropped after it entered the queue (as in ns-3).",
            ),
            Setting::word(
                "release_on",
                "a choice of events",
                &["route", "reply"],
                |c: &Self| c.release_on as usize,
                |c, index| c.release_on = [ReleaseOn::Route, ReleaseOn::Reply][index],
            )
            .about(
                "Events that release packets waiting for a route: any message that creates the route, or a reply and \
                 the end of a ring (as in ns-3).",
            ),
            Setting::flag("local_repair", |c: &mut Self| &mut c.local_repair)
                .about("Whether a node repairs a broken route locally if the destination is near."),
            Setting::flag("drop_returning", |c: &mut Self| &mut c.drop_returning)
                .about("Whether a node ignores a request from its own next hop to the destination, as in ns-3."),
            Setting::flag("increment_on_expiry", |c: &mut Self| &mut c.increment_on_expiry)
                .about("Whether an expiring route gets a newer sequence number, as a broken route does."),
            Setting::flag("increment_on_break", |c: &mut Self| &mut c.increment_on_break)
                .about("Whether a broken route gets a newer sequence number (RFC 3561 §6.11). In ns-3 it does not."),
            Setting::word(
                "errors",
                "a set of rules",
                &["rfc3561", "ns3"],
                |c: &Self| c.errors as usize,
                |c, index| c.errors = [Errors::Rfc3561, Errors::Ns3][index],
            )
            .about("Rules for errors."),
            Setting::flag("revive_reverse_route", |c: &mut Self| &mut c.revive_reverse_route).about(
                "Whether a request revalidates the invalid reverse route to its origin (RFC 3561 §6.5). In ns-3 it \
                 does not.",
            ),
            Setting::word(
                "proof",
                "a choice of packets",
                &["acknowledged", "forwarded"],
                |c: &Self| c.proof as usize,
                |c, index| c.proof = [Proof::Acknowledged, Proof::Forwarded][index],
            )
            .about("Packets that prove that a neighbour is still reachable."),
            Setting::flag("route_messages", |c: &mut Self| &mut c.route_messages).about(
                "Whether messages to one neighbour need a valid route to it and wait for one as data does, and only \
                 HELLOs and requests of a neighbour revalidate an invalid route to it; the time to live of a reply is \
                 the hop count of its route at the sender, otherwise net_diameter. As in ns-3.",
            ),
            Setting::quantity("min_snr", |c: &mut Self| &mut c.min_snr, Unit::Decibel, -100.0, 100.0)
                .about("Minimum signal-to-noise ratio of a broadcast that indicates a link, in dB."),
        ]
    }
}
