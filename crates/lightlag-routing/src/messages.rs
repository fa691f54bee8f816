//! The control messages of all protocols: their content, their sizes and their encoding in UDP datagrams.

pub mod aodv;
pub mod dsdv;
mod form;
pub mod gpsr;
pub mod olsr;
mod sequence;

pub use form::{Fields, FormError, address, node, put_node, put_nodes};
pub use sequence::Sequence;

use std::sync::Arc;

/// The UDP port for messages of custom routers: the first port for experiments (RFC 4727 §6).
pub const OWN_PORT: u16 = 1021;

/// The payload of the datagrams of a protocol.
pub trait Payload: Sized {
    /// The name of the protocol in error messages.
    const PROTOCOL: &'static str;
    /// The source and destination UDP port of its datagrams.
    const PORT: u16;

    /// Returns the size of the payload in bytes.
    fn size(&self) -> u32;

    /// Reports the kind and the bytes of each message in the payload.
    fn kinds(&self, each: impl FnMut(Kind, u32));

    /// Appends the bytes of the payload to `out`.
    ///
    /// # Panics
    /// If a value is too large for its field.
    fn encode(&self, out: &mut Vec<u8>);

    /// Reads a payload from a packet that arrived with this time to live.
    ///
    /// # Errors
    /// If the bytes are not a payload of the protocol.
    fn decode(fields: Fields<'_>, ttl: u8) -> Result<Self, FormError>;
}

/// Generates the enum of messages from one line per protocol.
macro_rules! messages {
    ($($(#[$about:meta])* $variant:ident($payload:ty);)*) => {
        /// A control message.
        #[derive(Clone, PartialEq, Debug)]
        pub enum Message {
            $($(#[$about])* $variant($payload),)*
            /// A message of a custom router in its own format, UDP port 1021.
            Custom(Arc<[u8]>),
        }

        impl Message {
            /// The built-in protocols that send messages, and their UDP ports.
            pub const PROTOCOLS: &[(&str, u16)] = &[$((<$payload>::PROTOCOL, <$payload>::PORT)),*];

            /// Returns the size of the message's UDP payload in bytes.
            pub fn size(&self) -> u32 {
                match self {
                    $(Self::$variant(payload) => payload.size(),)*
                    Self::Custom(payload) => payload.len() as u32,
                }
            }

            /// Returns the source and destination port of the message's datagram.
            pub fn port(&self) -> u16 {
                match self {
                    $(Self::$variant(_) => <$payload>::PORT,)*
                    Self::Custom(_) => OWN_PORT,
                }
            }

            /// Reports the kind and the size in bytes of each message in the datagram.
            pub(crate) fn kinds(&self, mut each: impl FnMut(Kind, u32)) {
                match self {
                    $(Self::$variant(payload) => payload.kinds(each),)*
                    Self::Custom(payload) => each(Kind::Custom, payload.len() as u32),
                }
            }

            /// Appends the message's UDP payload to `out`.
            ///
            /// # Panics
            /// If a value is too large for its field.
            pub fn encode(&self, out: &mut Vec<u8>) {
                match self {
                    $(Self::$variant(payload) => payload.encode(out),)*
                    Self::Custom(payload) => out.extend_from_slice(payload),
                }
            }

            /// Reads the payload of a datagram to this port, from a packet that arrived with this time to live. Returns
            /// `None` if the port belongs to no protocol. No field of a DSDV update states whether it contains the
            /// entire table, so this is read as false.
            ///
            /// # Errors
            /// If the payload is not a message of the protocol.
            pub fn decode(port: u16, payload: &[u8], ttl: u8) -> Option<Result<Self, FormError>> {
                $(
                    if port == <$payload>::PORT {
                        let fields = Fields::new(<$payload>::PROTOCOL, payload);
                        return Some(<$payload>::decode(fields, ttl).map(Self::$variant));
                    }
                )*
                (port == OWN_PORT).then(|| Ok(Self::Custom(payload.into())))
            }
        }
    };
}

// One line per protocol: its variant, and the payload of its datagrams.
messages! {
    /// An AODV message, UDP port 654.
    Aodv(aodv::AodvMessage);
    /// An OLSR packet, UDP port 698.
    Olsr(olsr::OlsrPacket);
    /// A DSDV update, UDP port 269.
    Dsdv(dsdv::Update);
    /// A GPSR beacon, UDP port 666.
    Gpsr(gpsr::Beacon);
}

/// Generates the enum of kinds from one line per kind.
macro_rules! kinds {
    ($($(#[$about:meta])* $kind:ident = $name:literal;)*) => {
        /// The kind of a control message, for counters.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum Kind {
            $($(#[$about])* $kind,)*
        }

        impl Kind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            /// Returns the name of the kind in results.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }
        }
    };
}

kinds! {
    /// A route request of AODV.
    RouteRequest = "rreq";
    /// A route reply of AODV.
    RouteReply = "rrep";
    /// A route error of AODV.
    RouteError = "rerr";
    /// An acknowledgement of a route reply of AODV.
    ReplyAck = "rrep_ack";
    /// A HELLO of AODV or OLSR.
    Hello = "hello";
    /// A TC of OLSR.
    TopologyControl = "tc";
    /// A full dump of DSDV.
    FullDump = "dump";
    /// An incremental update of DSDV.
    Update = "update";
    /// A beacon of GPSR.
    Beacon = "beacon";
    /// A message of a custom router.
    Custom = "own";
}
