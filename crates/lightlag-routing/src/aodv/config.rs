//! The parameters of AODV, RFC 3561 §10, and its habits.

use lightlag_core::params::{Described, Setting};
use lightlag_core::{Duration, Unit};

/// The reports of the link layer that mean that a link broke.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LinkBreakOn {
    /// A frame that nobody acknowledged within the limit of retries (RFC 3561 §6.10).
    #[default]
    Retry,
    /// A frame that was dropped after it had entered the queue: nobody acknowledged it, or it waited too long. As in ns-3, where
    /// no queue overflows, because flow control stops the layer above first.
    Any,
}

/// The events that release the packets that wait for a route.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ReleaseOn {
    /// Any message that brings the route, a neighbour's HELLO included.
    #[default]
    Route,
    /// As in ns-3: a reply to this node, or, if another message brought the route, the end of the ring.
    Reply,
}

/// The nodes that send HELLOs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Hello {
    /// None.
    Off,
    /// Nodes on a route that carried data within `active_route_timeout` (RFC 3561 §6.9).
    Active,
    /// All, as in ns-3.
    #[default]
    Always,
}

/// The rules for errors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Errors {
    /// Those of RFC 3561 §6.11: each counts towards `rerr_rate_limit`, and one that says nothing new ends here.
    #[default]
    Rfc3561,
    /// Those of ns-3: each packet without a route is answered, by broadcast without a valid route to its origin, until errors
    /// passed on to one neighbour have reached the limit of the second, and an error about a route that is invalid already is
    /// passed on again.
    Ns3,
}

/// The packets, apart from HELLOs and requests, that show that a neighbour is still there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Proof {
    /// Packets that it sends, and those that it acknowledges (RFC 3561 §6.10).
    #[default]
    Acknowledged,
    /// As in ns-3: packets that a node forwards to it or from it, whether they arrive or not, and messages of it by unicast while
    /// the route to it is valid. Frames that were given up mean a break only while the neighbour is thought to be there.
    Forwarded,
}

/// The parameters of AODV.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// How long a route lives after its last use.
    pub active_route_timeout: Duration,
    /// The lifetime that a destination gives to routes to itself.
    pub my_route_timeout: Duration,
    /// The nodes that send HELLOs.
    pub hello: Hello,
    /// The time between two HELLOs.
    pub hello_interval: Duration,
    /// The HELLOs that may be missed.
    pub allowed_hello_loss: u32,
    /// The greatest distance between two nodes, in hops.
    pub net_diameter: u32,
    /// The time that a hop takes at most.
    pub node_traversal_time: Duration,
    /// The time to live of the first request.
    pub ttl_start: u32,
    /// The rise from one request to the next.
    pub ttl_increment: u32,
    /// The time to live beyond which a request goes everywhere.
    pub ttl_threshold: u32,
    /// The hops by which a ring is waited for longer.
    pub timeout_buffer: u32,
    /// The requests that go everywhere before the destination is given up.
    pub rreq_retries: u32,
    /// The most requests that a node makes in a second.
    pub rreq_rate_limit: u32,
    /// The most errors that a node sends in a second.
    pub rerr_rate_limit: u32,
    /// The longest random delay of a request, a HELLO or an error, in whole milliseconds.
    pub jitter: Duration,
    /// Whether the destination gets a reply, too, if another node answers.
    pub gratuitous_reply: bool,
    /// Whether only the destination may answer.
    pub destination_only: bool,
    /// Whether the neighbour of a destination, answering for it, asks for an acknowledgement.
    pub reply_ack: bool,
    /// How long such an acknowledgement is waited for.
    pub next_hop_wait: Duration,
    /// How long the requests of a neighbour that did not acknowledge are ignored.
    pub blacklist_timeout: Duration,
    /// How long an invalid route is remembered.
    pub delete_period: Duration,
    /// The reports of the link layer that mean that a link broke.
    pub link_break_on: LinkBreakOn,
    /// The events that release the packets that wait for a route.
    pub release_on: ReleaseOn,
    /// Whether a node repairs a broken route itself if the destination is near.
    pub local_repair: bool,
    /// Whether a node ignores a request that came from its own next hop to the destination, as in ns-3.
    pub drop_returning: bool,
    /// Whether a route that expires gets a newer sequence number, as a broken one does.
    pub increment_on_expiry: bool,
    /// Whether a route that breaks gets a newer sequence number (RFC 3561 §6.11). ns-3 leaves it as it is.
    pub increment_on_break: bool,
    /// The rules for errors.
    pub errors: Errors,
    /// Whether a request makes the invalid route back to its origin valid (RFC 3561 §6.5). In ns-3 it does not.
    pub revive_way_back: bool,
    /// The packets that show that a neighbour is still there.
    pub proof: Proof,
    /// Whether messages to one neighbour need a valid route to it and wait for one as data does, and only HELLOs and requests of a
    /// neighbour make a route to it valid that is not; a reply travels at most as many hops as its route had at its sender,
    /// otherwise `net_diameter`. As in ns-3.
    pub route_messages: bool,
    /// The least signal-to-noise ratio of a broadcast that is taken for a sign of a link, in dB.
    pub min_snr: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            active_route_timeout: Duration::from_secs(3),
            my_route_timeout: Duration::from_millis(11_200),
            hello: Hello::default(),
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
            revive_way_back: true,
            proof: Proof::default(),
            route_messages: false,
            min_snr: -100.0,
        }
    }
}

impl Config {
    /// NET_TRAVERSAL_TIME: the time in which a request gets everywhere and its reply returns.
    pub fn net_traversal_time(&self) -> Duration {
        self.node_traversal_time * 2 * u64::from(self.net_diameter)
    }

    /// PATH_DISCOVERY_TIME: how long a request is remembered.
    pub fn path_discovery_time(&self) -> Duration {
        self.net_traversal_time() * 2
    }

    /// RING_TRAVERSAL_TIME: how long the answer to a request with this time to live is waited for.
    pub fn ring_traversal_time(&self, ttl: u32) -> Duration {
        self.node_traversal_time * 2 * u64::from(ttl + self.timeout_buffer)
    }

    /// The time after which a neighbour that sends nothing is lost.
    pub fn hello_timeout(&self) -> Duration {
        self.hello_interval * u64::from(self.allowed_hello_loss)
    }

    /// MAX_REPAIR_TTL: the hops within which a destination is near enough for a repair.
    pub fn max_repair_ttl(&self) -> u32 {
        self.net_diameter * 3 / 10
    }
}

/// RFC 3561 §5.1: the hop count is a byte.
const MOST_HOPS: u32 = 255;

impl Described for Config {
    const ABOUT: &'static str = "Ad hoc On-Demand Distance Vector (RFC 3561). A node that has no route floods a request in \
        growing rings, and the destination, or a node that knows a fresh route, replies. Sequence numbers keep routes free of \
        loops. Broken routes are reported to the nodes that use them.";

    fn settings() -> Vec<Setting<Self>> {
        let hops = |key, at| Setting::count(key, at, MOST_HOPS, "a number of hops", "");
        vec![
            Setting::time("active_route_timeout", |c: &mut Self| &mut c.active_route_timeout).about("How long a route lives after its last use."),
            Setting::time("my_route_timeout", |c: &mut Self| &mut c.my_route_timeout).about("The lifetime that a destination gives to routes to itself."),
            Setting::word(
                "hello",
                "a choice of nodes that send HELLOs",
                &["off", "active", "always"],
                |c: &Self| c.hello as usize,
                |c, index| c.hello = [Hello::Off, Hello::Active, Hello::Always][index],
            ).about("The nodes that send HELLOs."),
            Setting::time("hello_interval", |c: &mut Self| &mut c.hello_interval).about("The time between two HELLOs."),
            Setting::count(
                "allowed_hello_loss",
                |c: &mut Self| &mut c.allowed_hello_loss,
                1000,
                "a number of HELLOs",
                "",
            ).about("The HELLOs that may be missed."),
            hops("net_diameter", |c: &mut Self| &mut c.net_diameter).about("The greatest distance between two nodes, in hops."),
            Setting::time("node_traversal_time", |c: &mut Self| &mut c.node_traversal_time).about("The time that a hop takes at most."),
            hops("ttl_start", |c: &mut Self| &mut c.ttl_start).about("The time to live of the first request."),
            hops("ttl_increment", |c: &mut Self| &mut c.ttl_increment).about("The rise from one request to the next."),
            hops("ttl_threshold", |c: &mut Self| &mut c.ttl_threshold).about("The time to live beyond which a request goes everywhere.")
                .checked(|c| (c.ttl_threshold > c.net_diameter).then_some("is above net_diameter; choose less")),
            hops("timeout_buffer", |c: &mut Self| &mut c.timeout_buffer).about("The hops by which a ring is waited for longer."),
            Setting::count("rreq_retries", |c: &mut Self| &mut c.rreq_retries, 16, "a number of requests", "").about("The requests that go everywhere before the destination is given up."),
            Setting::count(
                "rreq_rate_limit",
                |c: &mut Self| &mut c.rreq_rate_limit,
                1_000_000,
                "a number of requests",
                "",
            ).about("The most requests that a node makes in a second."),
            Setting::count(
                "rerr_rate_limit",
                |c: &mut Self| &mut c.rerr_rate_limit,
                1_000_000,
                "a number of errors",
                "",
            ).about("The most errors that a node sends in a second."),
            Setting::time_or_zero("jitter", |c: &mut Self| &mut c.jitter).about("The longest random delay of a request, a HELLO or an error, in whole milliseconds.").checked(|c| {
                let whole = c.jitter.as_nanos().is_multiple_of(1_000_000);
                (!whole).then_some("is not a whole number of milliseconds, in which it is drawn; round it")
            }),
            Setting::flag("gratuitous_reply", |c: &mut Self| &mut c.gratuitous_reply).about("Whether the destination gets a reply, too, if another node answers."),
            Setting::flag("destination_only", |c: &mut Self| &mut c.destination_only).about("Whether only the destination may answer."),
            Setting::flag("reply_ack", |c: &mut Self| &mut c.reply_ack).about("Whether the neighbour of a destination, answering for it, asks for an acknowledgement."),
            Setting::time("next_hop_wait", |c: &mut Self| &mut c.next_hop_wait).about("How long such an acknowledgement is waited for."),
            Setting::time_or_zero("blacklist_timeout", |c: &mut Self| &mut c.blacklist_timeout).about("How long the requests of a neighbour that did not acknowledge are ignored."),
            Setting::time("delete_period", |c: &mut Self| &mut c.delete_period).about("How long an invalid route is remembered."),
            Setting::word(
                "link_break_on",
                "a choice of reports",
                &["retry", "any"],
                |c: &Self| c.link_break_on as usize,
                |c, index| c.link_break_on = [LinkBreakOn::Retry, LinkBreakOn::Any][index],
            ).about("The reports of the link layer that mean that a link broke: frames that nobody acknowledged, or any frame that was dropped after it had entered the queue (as in ns-3)."),
            Setting::word(
                "release_on",
                "a choice of events",
                &["route", "reply"],
                |c: &Self| c.release_on as usize,
                |c, index| c.release_on = [ReleaseOn::Route, ReleaseOn::Reply][index],
            ).about("The events that release packets that wait for a route: any message that brings it, or a reply and the end of a ring (as in ns-3)."),
            Setting::flag("local_repair", |c: &mut Self| &mut c.local_repair).about("Whether a node repairs a broken route itself if the destination is near."),
            Setting::flag("drop_returning", |c: &mut Self| &mut c.drop_returning).about("Whether a node ignores a request that came from its own next hop to the destination, as in ns-3."),
            Setting::flag("increment_on_expiry", |c: &mut Self| &mut c.increment_on_expiry).about("Whether a route that expires gets a newer sequence number, as a broken one does."),
            Setting::flag("increment_on_break", |c: &mut Self| &mut c.increment_on_break).about("Whether a route that breaks gets a newer sequence number (RFC 3561 §6.11). ns-3 leaves it as it is."),
            Setting::word(
                "errors",
                "a set of rules",
                &["rfc3561", "ns3"],
                |c: &Self| c.errors as usize,
                |c, index| c.errors = [Errors::Rfc3561, Errors::Ns3][index],
            ).about("The rules for errors."),
            Setting::flag("revive_way_back", |c: &mut Self| &mut c.revive_way_back).about("Whether a request makes the invalid route back to its origin valid (RFC 3561 §6.5). In ns-3 it does not."),
            Setting::word(
                "proof",
                "a choice of packets",
                &["acknowledged", "forwarded"],
                |c: &Self| c.proof as usize,
                |c, index| c.proof = [Proof::Acknowledged, Proof::Forwarded][index],
            ).about("The packets that show that a neighbour is still there."),
            Setting::flag("route_messages", |c: &mut Self| &mut c.route_messages).about("Whether messages to one neighbour need a valid route to it and wait for one as data does, and only HELLOs and requests of a neighbour make a route to it valid that is not; a reply travels at most as many hops as its route had at its sender, otherwise net_diameter. As in ns-3."),
            Setting::quantity("min_snr", |c: &mut Self| &mut c.min_snr, Unit::Decibel, -100.0, 100.0).about("The least signal-to-noise ratio of a broadcast that is taken for a sign of a link, in dB."),
        ]
    }
}
