//! The QUIC connections of a run, for its captures.

use super::session::Session;
use super::spec::SessionSpec;
use crate::capture::Writer;
use crate::{Addresses, IpFields, encode_udp};
use lightlag_quic::contents::Contents;
use lightlag_quic::streams::Side;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

/// Port of servers (RFC 9114 §3.1).
pub const SERVER_PORT: u16 = 443;

/// Connections by their index.
#[derive(Clone, Debug, Default)]
pub struct Sessions {
    sessions: BTreeMap<u64, Session>,
    payload: Vec<u8>,
}

impl Sessions {
    /// Adds a connection, or replaces the one with the same index.
    pub fn insert(&mut self, spec: SessionSpec) {
        self.sessions.insert(spec.connection, Session::new(spec));
    }

    /// Returns true if the connection was added.
    pub fn contains(&self, connection: u64) -> bool {
        self.sessions.contains_key(&connection)
    }

    /// Notes a datagram that `sender` of a connection sends, as [`Session::sent`].
    pub fn sent(&mut self, connection: u64, sender: Side, contents: &Contents) {
        if let Some(session) = self.sessions.get_mut(&connection) {
            session.sent(sender, contents);
        }
    }

    /// Writes a complete IP packet to `out`, which is cleared first: a datagram that `sender` of a connection sends.
    ///
    /// # Panics
    /// As [`Session::encode`], and if the connection is unknown.
    pub fn encode(&mut self, out: &mut Vec<u8>, datagram: &Datagram<'_>, contents: &Contents) {
        let session = self.sessions.get(&datagram.connection).expect("a connection that was added");
        self.payload.clear();
        session.encode(&mut self.payload, datagram.sender, datagram.sequence, contents);
        encode_udp(out, &datagram.addresses, datagram.ip, &self.payload);
    }
}

/// The connection, direction and IP header of a datagram.
#[derive(Clone, Copy, Debug)]
pub struct Datagram<'a> {
    /// Index of the connection.
    pub connection: u64,
    /// The endpoint that sent it.
    pub sender: Side,
    /// Sequence number of the destination ID, as in [`Session::encode`].
    pub sequence: u64,
    /// Its addresses and ports.
    pub addresses: Addresses,
    /// The other fields of its IP header.
    pub ip: &'a IpFields,
}

/// The connections whose secrets a file contains.
#[derive(Clone, Debug, Default)]
pub struct WrittenSecrets(BTreeSet<u64>);

impl WrittenSecrets {
    /// Writes the secrets of a connection, unless the file contains them. Has to be called before each of its packets
    /// is written.
    ///
    /// # Errors
    /// If the file returns an error.
    ///
    /// # Panics
    /// If the connection is unknown.
    pub fn write<W: Write>(&mut self, writer: &mut Writer<W>, sessions: &Sessions, connection: u64) -> io::Result<()> {
        if !self.0.insert(connection) {
            return Ok(());
        }
        let session = sessions.sessions.get(&connection).expect("a connection that was added");
        writer.secrets(&session.key_log())
    }
}
