//! The network packet in a captured 802.11 data frame.

use super::{Address, FrameError, Sequence, Tid};

/// The LLC and SNAP headers before the EtherType (RFC 1042).
pub(super) const SNAP: [u8; 6] = [0xaa, 0xaa, 3, 0, 0, 0];

/// Bits of the second byte of a frame (§9.2.4.1).
const TO_DS: u8 = 0x01;
const FROM_DS: u8 = 0x02;
const MORE_FRAGMENTS: u8 = 0x04;
pub(super) const RETRY: u8 = 0x08;
const PROTECTED: u8 = 0x40;
const HT_CONTROL: u8 = 0x80;

/// Subtype bits of data frames (table 9-1): no data, and QoS.
const NO_DATA: u8 = 0x4;
const WITH_QOS: u8 = 0x8;

/// Bit of the QoS control field for a frame with several packets (§9.2.4.5.9).
const A_MSDU: u8 = 0x80;

/// An EtherType, which the LLC and SNAP headers carry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EtherType(pub u16);

impl EtherType {
    /// IPv4.
    pub const IPV4: Self = Self(0x0800);
    /// ARP.
    pub const ARP: Self = Self(0x0806);
    /// IPv6.
    pub const IPV6: Self = Self(0x86dd);

    /// Returns true for IPv4 and IPv6.
    #[must_use]
    pub const fn is_ip(self) -> bool {
        matches!(self, Self::IPV4 | Self::IPV6)
    }
}

/// The network packet of a data frame, with the fields that distinguish it from other packets at a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Msdu<'a> {
    /// Address of the sending station.
    pub transmitter: Address,
    /// Address of the receiving station.
    pub receiver: Address,
    /// Traffic identifier, for a QoS frame.
    pub tid: Option<Tid>,
    /// Sequence number of the packet.
    pub sequence: Sequence,
    /// Whether the frame is a retransmission.
    pub is_retry: bool,
    /// EtherType of the payload.
    pub ethertype: EtherType,
    /// The packet, and any bytes that follow it in the frame.
    pub payload: &'a [u8],
}

impl<'a> Msdu<'a> {
    /// Finds the packet in `frame`, whose frame check sequence has been removed, and which may be truncated after the
    /// headers. `is_padded` means that the 802.11 header was padded to a multiple of four bytes, as some drivers do.
    ///
    /// # Errors
    /// If the frame holds no packet, or an unsupported packet; see [`FrameError`].
    pub fn find(frame: &'a [u8], is_padded: bool) -> Result<Self, FrameError> {
        let truncated = |needed| FrameError::Truncated { needed, present: frame.len() };
        let (&[first, flags, ..], Some(sequence)) = (frame, frame.get(22..24)) else { return Err(truncated(24)) };
        let (version, kind, subtype) = (first & 3, first >> 2 & 3, first >> 4);
        if version != 0 {
            return Err(FrameError::Version(version));
        }
        if kind != 2 || subtype & NO_DATA != 0 {
            return Err(FrameError::Unknown { kind, subtype });
        }
        let has_qos = subtype & WITH_QOS != 0;
        // Table 9-60: the fourth address is present in frames between access points.
        let qos_at = if flags & (TO_DS | FROM_DS) == TO_DS | FROM_DS { 30 } else { 24 };
        let with_qos = if has_qos && flags & HT_CONTROL != 0 { 6 } else { 2 * usize::from(has_qos) };
        let header = match qos_at + with_qos {
            header if is_padded => header.next_multiple_of(4),
            header => header,
        };
        let qos = if has_qos { Some(*frame.get(qos_at).ok_or(truncated(header))?) } else { None };
        let sequence = u16::from_le_bytes([sequence[0], sequence[1]]);
        if flags & PROTECTED != 0 {
            return Err(FrameError::Unread("encrypted"));
        }
        if flags & MORE_FRAGMENTS != 0 || sequence & 0xf != 0 {
            return Err(FrameError::Unread("a fragment"));
        }
        if qos.is_some_and(|qos| qos & A_MSDU != 0) {
            return Err(FrameError::Unread("an A-MSDU"));
        }
        let (ethertype, payload) = unpack(frame.get(header..).unwrap_or_default(), || truncated(header + 8))?;
        Ok(Self {
            transmitter: address(frame, 10),
            receiver: address(frame, 4),
            tid: qos.map(|qos| Tid(qos & 0xf)),
            sequence: Sequence(sequence >> 4),
            is_retry: flags & RETRY != 0,
            ethertype,
            payload,
        })
    }
}

/// Returns the EtherType in the LLC and SNAP headers, and the packet after them.
pub(super) fn unpack(bytes: &[u8], truncated: impl Fn() -> FrameError) -> Result<(EtherType, &[u8]), FrameError> {
    let (header, payload) = bytes.split_first_chunk::<8>().ok_or_else(truncated)?;
    if header[..6] != SNAP {
        return Err(FrameError::Unread("without LLC and SNAP (aa aa 03 00 00 00)"));
    }
    Ok((EtherType(u16::from_be_bytes([header[6], header[7]])), payload))
}

/// Returns the address at `index`. The frame must be long enough.
pub(super) fn address(frame: &[u8], index: usize) -> Address {
    Address(frame[index..index + 6].try_into().expect("six bytes"))
}
