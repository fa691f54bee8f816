//! The properties of a connection in a capture.

use super::ids::{ConnectionId, Role};
use lightlag_quic::codec::Version;
use lightlag_quic::streams::Side;
use lightlag_quic::{Config, Parameters};

/// Bytes of the destination ID that a client makes up (RFC 9000 §7.2).
const ORIGINAL_ID: u8 = 8;

/// The properties of a connection that determine the bytes of its packets.
#[derive(Clone, Debug)]
pub struct SessionSpec {
    /// Index of the connection. Connections with different indices have different IDs and random values.
    pub connection: u64,
    /// Version of QUIC.
    pub version: Version,
    /// Parameters of the client, with the sizes of its handshake messages.
    pub client: Parameters,
    /// Parameters of the server, with the sizes of its handshake messages.
    pub server: Parameters,
    /// Whether the server answers the first Initial with a Retry packet.
    pub retry: bool,
    /// Name of the application protocol (RFC 7301), at most 255 bytes. With `h3`, other programs read the payload,
    /// which is all zero, as HTTP/3.
    pub application: &'static str,
}

impl SessionSpec {
    /// Returns the properties of a connection between endpoints with these configurations.
    pub fn new(connection: u64, version: Version, client: &Config, server: &Config) -> Self {
        // A token of an earlier connection makes a Retry packet unnecessary.
        let has_token = client.ticket.is_some_and(|ticket| ticket.token > 0);
        Self {
            connection,
            version,
            client: Parameters::of(client),
            server: Parameters::of(server),
            retry: server.server.retry && !has_token,
            application: "lightlag",
        }
    }

    /// Returns the parameters of an endpoint.
    pub(super) fn parameters(&self, side: Side) -> &Parameters {
        match side {
            Side::Client => &self.client,
            Side::Server => &self.server,
        }
    }

    /// Returns the ID with this sequence number that an endpoint chose for itself.
    pub(super) fn own_id(&self, side: Side, sequence: u64) -> ConnectionId {
        ConnectionId::new(self.connection, Role::of(side), sequence, self.parameters(side).id_len)
    }

    /// Returns the destination ID of the client's first Initial.
    pub(super) fn original(&self) -> ConnectionId {
        ConnectionId::new(self.connection, Role::Original, 0, ORIGINAL_ID)
    }

    /// Returns the source ID of the Retry packet.
    pub(super) fn retried(&self) -> ConnectionId {
        ConnectionId::new(self.connection, Role::Retry, 0, self.server.id_len)
    }
}
