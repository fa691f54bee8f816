//! Error codes of the transport (RFC 9000 §20.1).

pub(super) const FRAME_ENCODING: u64 = 0x07;
pub(super) const CONNECTION_ID_LIMIT: u64 = 0x09;
pub(super) const PROTOCOL_VIOLATION: u64 = 0x0a;
