//! Cryptography that does nothing: handshake messages of given sizes, a tag of 16 zero bytes, and no header protection,
//! so that packets are readable.

use bytes::BytesMut;
use lightlag_quic::config::HandshakeSizes;
use quinn_proto::crypto::{
    self, AeadKey, CryptoError, ExportKeyingMaterialError, HandshakeTokenKey, HeaderKey, HmacKey, KeyPair, Keys,
    PacketKey, UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError};
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const TAG: usize = 16;

/// Keys that neither encrypt nor authenticate.
#[derive(Clone, Copy, Debug)]
pub struct NullKey;

/// 1-RTT keys, which count how many of them were dropped.
struct CountedKey(Arc<AtomicU64>);

impl Drop for CountedKey {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl PacketKey for NullKey {
    fn encrypt(&self, _packet: u64, _buf: &mut [u8], _header_len: usize) {}

    fn decrypt(&self, _packet: u64, _header: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        let len = payload.len().checked_sub(TAG).ok_or(CryptoError)?;
        payload.truncate(len);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        TAG
    }

    fn confidentiality_limit(&self) -> u64 {
        u64::MAX
    }

    fn integrity_limit(&self) -> u64 {
        u64::MAX
    }
}

impl PacketKey for CountedKey {
    fn encrypt(&self, packet: u64, buf: &mut [u8], header_len: usize) {
        PacketKey::encrypt(&NullKey, packet, buf, header_len);
    }

    fn decrypt(&self, packet: u64, header: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        PacketKey::decrypt(&NullKey, packet, header, payload)
    }

    fn tag_len(&self) -> usize {
        TAG
    }

    fn confidentiality_limit(&self) -> u64 {
        u64::MAX
    }

    fn integrity_limit(&self) -> u64 {
        u64::MAX
    }
}

impl HeaderKey for NullKey {
    fn decrypt(&self, _pn_offset: usize, _packet: &mut [u8]) {}

    fn encrypt(&self, _pn_offset: usize, _packet: &mut [u8]) {}

    fn sample_size(&self) -> usize {
        16
    }
}

impl HmacKey for NullKey {
    fn sign(&self, _data: &[u8], out: &mut [u8]) {
        // Stateless reset tokens must differ from the tags, which are zeros.
        out.fill(0xa5);
    }

    fn signature_len(&self) -> usize {
        32
    }

    fn verify(&self, _data: &[u8], _signature: &[u8]) -> Result<(), CryptoError> {
        Ok(())
    }
}

impl HandshakeTokenKey for NullKey {
    fn aead_from_hkdf(&self, _random_bytes: &[u8]) -> Box<dyn AeadKey> {
        Box::new(*self)
    }
}

impl AeadKey for NullKey {
    fn seal(&self, data: &mut Vec<u8>, _additional_data: &[u8]) -> Result<(), CryptoError> {
        data.extend([0; TAG]);
        Ok(())
    }

    fn open<'a>(&self, data: &'a mut [u8], _additional_data: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        let len = data.len().checked_sub(TAG).ok_or(CryptoError)?;
        Ok(&mut data[..len])
    }
}

fn keys() -> Keys {
    Keys {
        header: KeyPair { local: Box::new(NullKey), remote: Box::new(NullKey) },
        packet: KeyPair { local: Box::new(NullKey), remote: Box::new(NullKey) },
    }
}

/// The configuration of both sides.
#[derive(Clone, Debug)]
pub struct NullConfig {
    /// Sizes of the messages.
    pub sizes: HandshakeSizes,
    /// Counts the 1-RTT keys that were dropped.
    pub dropped: Arc<AtomicU64>,
}

impl crypto::ClientConfig for NullConfig {
    fn start_session(
        self: Arc<Self>,
        _version: u32,
        _server_name: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn crypto::Session>, ConnectError> {
        Ok(Box::new(NullSession::new(Side::Client, &self, params)))
    }
}

impl crypto::ServerConfig for NullConfig {
    fn initial_keys(&self, _version: u32, _dst_cid: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys())
    }

    fn retry_tag(&self, _version: u32, _orig_dst_cid: &ConnectionId, _packet: &[u8]) -> [u8; 16] {
        [0; 16]
    }

    fn start_session(self: Arc<Self>, _version: u32, params: &TransportParameters) -> Box<dyn crypto::Session> {
        Box::new(NullSession::new(Side::Server, &self, params))
    }
}

/// A handshake without cryptography. The first message of each side carries its transport parameters.
struct NullSession {
    side: Side,
    sizes: HandshakeSizes,
    dropped: Arc<AtomicU64>,
    parameters: Vec<u8>,
    /// Handshake bytes received, and the number of messages written.
    received: Vec<u8>,
    step: u32,
}

impl NullSession {
    fn new(side: Side, config: &NullConfig, params: &TransportParameters) -> Self {
        let mut parameters = Vec::new();
        params.write(&mut parameters);
        let dropped = config.dropped.clone();
        Self { side, sizes: config.sizes, dropped, parameters, received: Vec::new(), step: 0 }
    }

    /// Returns the bytes to receive before the peer's flight is complete, and those before its parameters.
    fn expected(&self) -> (usize, usize) {
        match self.side {
            Side::Client => {
                let hello = usize::from(self.sizes.server_hello);
                (hello + usize::from(self.sizes.server_flight), hello)
            }
            Side::Server => {
                let hello = usize::from(self.sizes.client_hello);
                (hello + usize::from(self.sizes.client_finished), 0)
            }
        }
    }

    fn application_keys(&self) -> Keys {
        let key = || Box::new(CountedKey(self.dropped.clone()));
        Keys { packet: KeyPair { local: key(), remote: key() }, ..keys() }
    }

    /// Appends a message of `len` bytes, with the parameters if there are any.
    fn message(buf: &mut Vec<u8>, len: u16, parameters: Option<&[u8]>) {
        let end = buf.len() + usize::from(len);
        if let Some(parameters) = parameters {
            buf.extend((parameters.len() as u16).to_be_bytes());
            buf.extend(parameters);
            assert!(buf.len() <= end, "the message is too small for {} bytes of parameters", parameters.len());
        }
        buf.resize(end, 0);
    }
}

impl crypto::Session for NullSession {
    fn initial_keys(&self, _dst_cid: &ConnectionId, _side: Side) -> Keys {
        keys()
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        None
    }

    fn is_handshaking(&self) -> bool {
        self.received.len() < self.expected().0
    }

    fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
        self.received.extend(buf);
        Ok(false)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        let Some(rest) = self.received.get(self.expected().1..).filter(|rest| rest.len() > 2) else { return Ok(None) };
        let len = usize::from(u16::from_be_bytes([rest[0], rest[1]]));
        let Some(mut bytes) = rest.get(2..2 + len) else { return Ok(None) };
        Ok(Some(TransportParameters::read(self.side, &mut bytes)?))
    }

    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        let received = self.received.len();
        let sizes = self.sizes;
        let step = self.step;
        self.step += 1;
        match (self.side, step) {
            (Side::Client, 0) => Self::message(buf, sizes.client_hello, Some(&self.parameters)),
            (Side::Client, 1) if received >= usize::from(sizes.server_hello) => return Some(keys()),
            (Side::Client, 2) if received >= self.expected().0 => {
                Self::message(buf, sizes.client_finished, None);
                return Some(self.application_keys());
            }
            (Side::Server, 0) if received >= usize::from(sizes.client_hello) => {
                Self::message(buf, sizes.server_hello, None);
                return Some(keys());
            }
            (Side::Server, 1) => {
                Self::message(buf, sizes.server_flight, Some(&self.parameters));
                return Some(self.application_keys());
            }
            (Side::Server, 2) if received >= self.expected().0 => Self::message(buf, sizes.ticket, None),
            _ => self.step = step,
        }
        None
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        let key = || Box::new(CountedKey(self.dropped.clone()));
        Some(KeyPair { local: key(), remote: key() })
    }

    fn is_valid_retry(&self, _orig_dst_cid: &ConnectionId, _header: &[u8], _payload: &[u8]) -> bool {
        true
    }

    fn export_keying_material(
        &self,
        _output: &mut [u8],
        _label: &[u8],
        _context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        Err(ExportKeyingMaterialError)
    }
}
