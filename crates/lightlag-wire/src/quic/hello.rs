//! TLS 1.3 handshake messages of exactly the sizes that a simulation counts (RFC 8446 §4, RFC 9001 §8).
//!
//! They contain the fields that a dissector needs to choose keys, and the real transport parameters. Signatures, verify
//! data, tickets and key shares are filler. If a size is too small for a message, the message is cut.

use super::certificate::certificate;
use super::ids::{ConnectionId, Role, derived, fill, reset_token};
use super::spec::SessionSpec;
use super::tls::{self, CIPHER_SUITE, extension, extensions, message, vector};
use lightlag_core::Duration;
use lightlag_quic::streams::Side;
use lightlag_quic::{Parameters, SpaceId, varint};

/// Bytes of CertificateVerify with a signature of P-256.
const CERTIFICATE_VERIFY: usize = 79;

/// Bytes of a Certificate message around its only certificate: header, context, list, entry, extensions.
const AROUND_CERTIFICATE: usize = tls::HEADER + 1 + 3 + 3 + 2;

/// Bytes of a ServerHello around its key share, with the extensions supported_versions and key_share.
const AROUND_SHARE: usize = 58;

/// Transport parameters (RFC 9000 §18.2, RFC 9221 §3).
mod parameter {
    pub(super) const ORIGINAL_DESTINATION: u64 = 0x00;
    pub(super) const IDLE_TIMEOUT: u64 = 0x01;
    pub(super) const RESET_TOKEN: u64 = 0x02;
    pub(super) const MAX_DATA: u64 = 0x04;
    pub(super) const MAX_STREAM_DATA: [u64; 3] = [0x05, 0x06, 0x07];
    pub(super) const MAX_STREAMS_BIDI: u64 = 0x08;
    pub(super) const MAX_STREAMS_UNI: u64 = 0x09;
    pub(super) const ACK_DELAY_EXPONENT: u64 = 0x0a;
    pub(super) const MAX_ACK_DELAY: u64 = 0x0b;
    pub(super) const INITIAL_SOURCE: u64 = 0x0f;
    pub(super) const RETRY_SOURCE: u64 = 0x10;
    pub(super) const MAX_DATAGRAM_FRAME: u64 = 0x20;
}

/// Maximum number of streams (RFC 9000 §4.6).
const MAX_STREAMS: u64 = 1 << 60;

/// Returns the handshake data that `side` sends in a packet number space.
pub(super) fn messages(spec: &SessionSpec, side: Side, space: SpaceId) -> Vec<u8> {
    match (side, space) {
        (Side::Client, SpaceId::Initial) => client_hello(spec),
        (Side::Server, SpaceId::Initial) => server_hello(spec),
        (Side::Client, SpaceId::Handshake) => finished(spec),
        (Side::Server, SpaceId::Handshake) => server_flight(spec),
        (Side::Server, SpaceId::Application) => ticket(spec),
        (Side::Client, SpaceId::Application) => Vec::new(),
    }
}

/// Returns the random value of the ClientHello.
pub(super) fn client_random(spec: &SessionSpec) -> [u8; 32] {
    derived("client random", [spec.connection, 0])
}

/// A group for key exchange, with the lengths of both key shares.
struct Group {
    code: u16,
    client: usize,
    server: usize,
}

impl Group {
    /// Returns the group whose key share fills a ServerHello of `size` bytes: x25519, P-256, X25519MLKEM768, or the
    /// first group for private use.
    fn that_fills(size: usize) -> Self {
        let server = size.saturating_sub(AROUND_SHARE);
        match server {
            32 => Self { code: 0x001d, client: 32, server },
            65 => Self { code: 0x0017, client: 65, server },
            1_120 => Self { code: 0x11ec, client: 1_216, server },
            _ => Self { code: 0xfe00, client: 32, server },
        }
    }

    fn share(&self, spec: &SessionSpec, side: Side) -> Vec<u8> {
        let len = if side == Side::Client { self.client } else { self.server };
        let mut bytes = vec![0; len];
        fill(&mut bytes, "key share", [spec.connection, side as u64]);
        if self.code == 0x0017 {
            // An uncompressed point.
            bytes[0] = 4;
        }
        [&self.code.to_be_bytes()[..], &vector(2, &bytes)].concat()
    }
}

fn client_hello(spec: &SessionSpec) -> Vec<u8> {
    let size = usize::from(spec.client.handshake.client_hello);
    let group = Group::that_fills(spec.server.handshake.server_hello.into());
    let mut body = 0x0303_u16.to_be_bytes().to_vec();
    body.extend(client_random(spec));
    body.push(0);
    body.extend(vector(2, &CIPHER_SUITE.to_be_bytes()));
    body.extend(vector(1, &[0]));
    let room = size.saturating_sub(tls::HEADER + body.len() + 2);
    let required = [
        extension(tls::SUPPORTED_VERSIONS, &[2, 3, 4]),
        extension(tls::TRANSPORT_PARAMETERS, &client_parameters(spec)),
    ];
    let optional = [
        extension(tls::KEY_SHARE, &vector(2, &group.share(spec, Side::Client))),
        protocol(spec),
        extension(tls::SUPPORTED_GROUPS, &vector(2, &group.code.to_be_bytes())),
        // ecdsa_secp256r1_sha256.
        extension(tls::SIGNATURE_ALGORITHMS, &vector(2, &[4, 3])),
        extension(tls::SERVER_NAME, &vector(2, &[&[0][..], &vector(2, b"server.example")].concat())),
    ];
    let least: usize = required.iter().map(Vec::len).sum();
    let resumed = if spec.client.resumes { resumption(spec) } else { Vec::new() };
    let last = if least + resumed.concat().len() <= room { resumed } else { Vec::new() };
    body.extend(vector(2, &extensions(room, &required, &optional, &last)));
    message(tls::CLIENT_HELLO, size, &body)
}

/// Returns the extensions of a client that resumes a session and sends 0-RTT data. The last one has to end the
/// ClientHello (RFC 8446 §4.2.11).
fn resumption(spec: &SessionSpec) -> Vec<Vec<u8>> {
    let identity = [&vector(2, &derived("ticket", [spec.connection, 0]))[..], &[0; 4]].concat();
    let binders = vector(2, &vector(1, &[0; 32]));
    vec![
        extension(tls::EARLY_DATA, &[]),
        extension(tls::PSK_MODES, &[1, 1]),
        extension(tls::PRE_SHARED_KEY, &[vector(2, &identity), binders].concat()),
    ]
}

fn protocol(spec: &SessionSpec) -> Vec<u8> {
    extension(tls::ALPN, &vector(2, &vector(1, spec.application.as_bytes())))
}

fn server_hello(spec: &SessionSpec) -> Vec<u8> {
    let size = usize::from(spec.server.handshake.server_hello);
    let mut body = 0x0303_u16.to_be_bytes().to_vec();
    body.extend(derived("server random", [spec.connection, 0]));
    body.push(0);
    body.extend(CIPHER_SUITE.to_be_bytes());
    body.push(0);
    let share = Group::that_fills(size).share(spec, Side::Server);
    let extensions = [extension(tls::SUPPORTED_VERSIONS, &[3, 4]), extension(tls::KEY_SHARE, &share)].concat();
    body.extend(vector(2, &extensions));
    message(tls::SERVER_HELLO, size, &body)
}

/// Returns EncryptedExtensions, Certificate, CertificateVerify and Finished; without the middle ones if the session is
/// resumed, or if a certificate does not fit.
fn server_flight(spec: &SessionSpec) -> Vec<u8> {
    let sizes = spec.server.handshake;
    let size = usize::from(if spec.client.resumes { sizes.resumed_flight } else { sizes.server_flight });
    let mut optional = vec![protocol(spec)];
    if spec.client.resumes && spec.server.accepts_early_data {
        optional.push(extension(tls::EARLY_DATA, &[]));
    }
    let required = [extension(tls::TRANSPORT_PARAMETERS, &server_parameters(spec))];
    let natural: usize = required.iter().chain(&optional).map(Vec::len).sum();
    // Both Finished messages have the length of the hash.
    let finished_size = usize::from(sizes.client_finished).min(size);
    let others = tls::HEADER + 2 + natural + CERTIFICATE_VERIFY + finished_size;
    let room = size.checked_sub(others + AROUND_CERTIFICATE).filter(|_| !spec.client.resumes);
    let authentication = match room.and_then(certificate) {
        Some(certificate) => authentication(&certificate),
        None => Vec::new(),
    };
    let first = size.saturating_sub(authentication.len() + finished_size);
    let body = vector(2, &extensions(first.saturating_sub(tls::HEADER + 2), &required, &optional, &[]));
    let mut bytes = message(tls::ENCRYPTED_EXTENSIONS, first, &body);
    bytes.extend(authentication);
    bytes.extend(message(tls::FINISHED, finished_size, &[]));
    bytes
}

/// Returns Certificate and CertificateVerify.
fn authentication(certificate: &[u8]) -> Vec<u8> {
    let entry = [&vector(3, certificate)[..], &[0; 2]].concat();
    let body = [&[0][..], &vector(3, &entry)].concat();
    let mut bytes = message(tls::CERTIFICATE, AROUND_CERTIFICATE + certificate.len(), &body);
    // ecdsa_secp256r1_sha256, and a signature.
    let body = [&[4, 3][..], &vector(2, &[0; CERTIFICATE_VERIFY - tls::HEADER - 4])].concat();
    bytes.extend(message(tls::CERTIFICATE_VERIFY, CERTIFICATE_VERIFY, &body));
    bytes
}

fn finished(spec: &SessionSpec) -> Vec<u8> {
    message(tls::FINISHED, spec.client.handshake.client_finished.into(), &[])
}

/// Returns a NewSessionTicket that permits 0-RTT data (RFC 9001 §4.6.1).
fn ticket(spec: &SessionSpec) -> Vec<u8> {
    let size = usize::from(spec.server.handshake.ticket);
    // A lifetime of a day, no obfuscation of the age, and a nonce of one byte.
    let mut body = 86_400_u32.to_be_bytes().to_vec();
    body.extend([0, 0, 0, 0, 1, 0]);
    let extensions = vector(2, &extension(tls::EARLY_DATA, &[0xff; 4]));
    let ticket = size.saturating_sub(tls::HEADER + body.len() + 2 + extensions.len());
    body.extend(vector(2, &vec![0; ticket]));
    body.extend(extensions);
    message(tls::NEW_SESSION_TICKET, size, &body)
}

/// Transport parameters under construction.
#[derive(Default)]
struct List(Vec<u8>);

impl List {
    fn bytes(&mut self, parameter: u64, value: &[u8]) {
        varint::write(&mut self.0, parameter);
        varint::write(&mut self.0, value.len() as u64);
        self.0.extend(value);
    }

    fn integer(&mut self, parameter: u64, value: u64) {
        let mut bytes = Vec::new();
        varint::write(&mut bytes, value.min(varint::MAX));
        self.bytes(parameter, &bytes);
    }

    /// Adds the parameters that both endpoints have.
    fn common(&mut self, spec: &SessionSpec, side: Side) {
        let parameters = spec.parameters(side);
        let Parameters { limits, .. } = parameters;
        let millis = |duration: Duration| duration.as_nanos() / 1_000_000;
        if !parameters.idle_timeout.is_zero() {
            self.integer(parameter::IDLE_TIMEOUT, millis(parameters.idle_timeout));
        }
        self.integer(parameter::MAX_DATA, limits.connection);
        for kind in parameter::MAX_STREAM_DATA {
            self.integer(kind, limits.stream);
        }
        self.integer(parameter::MAX_STREAMS_BIDI, limits.bidirectional.min(MAX_STREAMS));
        self.integer(parameter::MAX_STREAMS_UNI, limits.unidirectional.min(MAX_STREAMS));
        self.integer(parameter::ACK_DELAY_EXPONENT, parameters.ack_delay_exponent.into());
        self.integer(parameter::MAX_ACK_DELAY, millis(parameters.max_ack_delay));
        let own = ConnectionId::new(spec.connection, Role::of(side), 0, parameters.id_len);
        self.bytes(parameter::INITIAL_SOURCE, own.as_slice());
        if parameters.max_datagram_frame > 0 {
            self.integer(parameter::MAX_DATAGRAM_FRAME, parameters.max_datagram_frame.into());
        }
    }
}

fn client_parameters(spec: &SessionSpec) -> Vec<u8> {
    let mut list = List::default();
    list.common(spec, Side::Client);
    list.0
}

fn server_parameters(spec: &SessionSpec) -> Vec<u8> {
    let mut list = List::default();
    list.bytes(parameter::ORIGINAL_DESTINATION, spec.original().as_slice());
    list.common(spec, Side::Server);
    if spec.server.id_len > 0 {
        list.bytes(parameter::RESET_TOKEN, &reset_token(spec.connection, Role::Server, 0));
    }
    if spec.retry {
        list.bytes(parameter::RETRY_SOURCE, spec.retried().as_slice());
    }
    list.0
}

#[cfg(test)]
mod tests;
