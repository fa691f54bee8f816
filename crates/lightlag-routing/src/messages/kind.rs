//! The kinds of control messages.

/// The kind of a control message, for counters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// A route request of AODV.
    RouteRequest,
    /// A route reply of AODV.
    RouteReply,
    /// A route error of AODV.
    RouteError,
    /// The acknowledgement of a route reply of AODV.
    ReplyAck,
    /// A HELLO of AODV or OLSR.
    Hello,
    /// A TC of OLSR.
    TopologyControl,
    /// A full dump of DSDV.
    FullDump,
    /// An incremental update of DSDV.
    Update,
    /// A beacon of GPSR.
    Beacon,
    /// A message of a router from outside.
    Own,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 10] = [
        Self::RouteRequest,
        Self::RouteReply,
        Self::RouteError,
        Self::ReplyAck,
        Self::Hello,
        Self::TopologyControl,
        Self::FullDump,
        Self::Update,
        Self::Beacon,
        Self::Own,
    ];

    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::RouteRequest => "rreq",
            Self::RouteReply => "rrep",
            Self::RouteError => "rerr",
            Self::ReplyAck => "rrep_ack",
            Self::Hello => "hello",
            Self::TopologyControl => "tc",
            Self::FullDump => "dump",
            Self::Update => "update",
            Self::Beacon => "beacon",
            Self::Own => "own",
        }
    }
}
