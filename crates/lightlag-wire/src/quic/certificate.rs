//! A certificate of a given size (RFC 5280 §4.1) with an elliptic-curve key. Its signature is filler.

/// ecdsa-with-SHA256, as an AlgorithmIdentifier.
const ALGORITHM: [u8; 12] = [0x30, 0x0a, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];

/// id-ecPublicKey with the curve P-256, as an AlgorithmIdentifier.
const KEY_ALGORITHM: [u8; 21] = [
    0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03,
    0x01, 0x07,
];

/// Bytes of tag and length of an element whose length has two bytes.
const LONG_HEADER: usize = 4;

/// Returns a DER element with a content of less than 256 bytes.
fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let len = content.len() as u8;
    let header: &[u8] = if len < 0x80 { &[tag, len] } else { &[tag, 0x81, len] };
    [header, content].concat()
}

/// Returns tag and length of an element of `len` bytes, with a length of two bytes.
fn long_header(tag: u8, len: usize) -> [u8; LONG_HEADER] {
    let [high, low] = (len as u16).to_be_bytes();
    [tag, 0x82, high, low]
}

/// Returns the part of the certificate that is signed.
fn signed_part() -> Vec<u8> {
    let name = [&[0x06, 0x03, 0x55, 0x04, 0x03][..], &element(0x0c, b"lightlag")].concat();
    let name = element(0x30, &element(0x31, &element(0x30, &name)));
    let times = [element(0x17, b"700101000000Z"), element(0x17, b"491231235959Z")].concat();
    let mut point = vec![0, 4];
    point.resize(66, 0);
    let key = [&KEY_ALGORITHM[..], &element(0x03, &point)].concat();
    // Version 3 and serial number 1.
    let head = [0xa0, 0x03, 0x02, 0x01, 0x02, 0x02, 0x01, 0x01];
    let parts = [&head[..], &ALGORITHM, &name, &element(0x30, &times), &name, &element(0x30, &key)].concat();
    element(0x30, &parts)
}

/// Returns a certificate of `size` bytes; `None` if it would be shorter than its fields.
pub(super) fn certificate(size: usize) -> Option<Vec<u8>> {
    let signed = signed_part();
    let signature = size.checked_sub(2 * LONG_HEADER + signed.len() + ALGORITHM.len()).filter(|len| *len > 0)?;
    let mut bytes = long_header(0x30, size - LONG_HEADER).to_vec();
    bytes.extend(signed);
    bytes.extend(ALGORITHM);
    bytes.extend(long_header(0x03, signature));
    bytes.resize(size, 0);
    Some(bytes)
}
