//! The form of TLS 1.3 handshake messages (RFC 8446 §4): vectors, extensions, and messages of a given size.

/// TLS_AES_128_GCM_SHA256.
pub(super) const CIPHER_SUITE: u16 = 0x1301;

/// Message types (RFC 8446 §4).
pub(super) const CLIENT_HELLO: u8 = 1;
pub(super) const SERVER_HELLO: u8 = 2;
pub(super) const NEW_SESSION_TICKET: u8 = 4;
pub(super) const ENCRYPTED_EXTENSIONS: u8 = 8;
pub(super) const CERTIFICATE: u8 = 11;
pub(super) const CERTIFICATE_VERIFY: u8 = 15;
pub(super) const FINISHED: u8 = 20;

/// Extension types (RFC 8446 §4.2, RFC 9001 §8.2).
pub(super) const SERVER_NAME: u16 = 0;
pub(super) const SUPPORTED_GROUPS: u16 = 10;
pub(super) const SIGNATURE_ALGORITHMS: u16 = 13;
pub(super) const ALPN: u16 = 16;
pub(super) const PADDING: u16 = 21;
pub(super) const PRE_SHARED_KEY: u16 = 41;
pub(super) const EARLY_DATA: u16 = 42;
pub(super) const SUPPORTED_VERSIONS: u16 = 43;
pub(super) const PSK_MODES: u16 = 45;
pub(super) const KEY_SHARE: u16 = 51;
pub(super) const TRANSPORT_PARAMETERS: u16 = 57;

/// Bytes of the header of a message, and of an extension.
pub(super) const HEADER: usize = 4;

/// Returns `content` after its length in `bytes` bytes.
pub(super) fn vector(bytes: usize, content: &[u8]) -> Vec<u8> {
    let len = (content.len() as u32).to_be_bytes();
    [&len[4 - bytes..], content].concat()
}

/// Returns an extension.
pub(super) fn extension(kind: u16, content: &[u8]) -> Vec<u8> {
    [&kind.to_be_bytes()[..], &vector(2, content)].concat()
}

/// Returns extensions that take `size` bytes in total: `required`, as many of `optional` as fit, padding (RFC 7685),
/// and `last`.
///
/// If not even the others fit, the result is cut.
pub(super) fn extensions(size: usize, required: &[Vec<u8>], optional: &[Vec<u8>], last: &[Vec<u8>]) -> Vec<u8> {
    let fixed: usize = required.iter().chain(last).map(Vec::len).sum();
    let mut rest = size.saturating_sub(fixed);
    let mut chosen = Vec::new();
    for extension in optional {
        if extension.len() <= rest {
            rest -= extension.len();
            chosen.push(extension.as_slice());
        }
    }
    // Padding takes at least its header.
    while (1..HEADER).contains(&rest) {
        let Some(dropped) = chosen.pop() else { break };
        rest += dropped.len();
    }
    let mut bytes = required.concat();
    bytes.extend(chosen.concat());
    if rest >= HEADER {
        bytes.extend(extension(PADDING, &vec![0; rest - HEADER]));
    }
    bytes.extend(last.concat());
    bytes.resize(size, 0);
    bytes
}

/// Returns a message of `size` bytes: `body`, cut or with zeros at its end if it has another length.
pub(super) fn message(kind: u8, size: usize, body: &[u8]) -> Vec<u8> {
    let mut content = body.to_vec();
    content.resize(size.saturating_sub(HEADER), 0);
    let mut bytes = vec![kind];
    bytes.extend(vector(3, &content));
    bytes.truncate(size);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_have_every_size_from_the_required_ones_on() {
        let required = [extension(SUPPORTED_VERSIONS, &[3, 4])];
        let optional = [extension(ALPN, &[0; 5]), extension(SUPPORTED_GROUPS, &[0; 4])];
        for size in [6, 10, 11, 13, 14, 15, 16, 17, 22, 23, 24, 25, 26, 27, 28, 200] {
            let bytes = extensions(size, &required, &optional, &[]);
            assert_eq!(bytes.len(), size);
            let mut rest = &bytes[..];
            while let [_, _, high, low, ..] = rest {
                rest = &rest[HEADER + usize::from(u16::from_be_bytes([*high, *low]))..];
            }
            assert!(rest.is_empty(), "{size}: {rest:?} remain");
        }
    }

    #[test]
    fn a_message_has_its_size_in_its_header() {
        assert_eq!(message(FINISHED, 8, &[1, 2, 3, 4]), [20, 0, 0, 4, 1, 2, 3, 4]);
        assert_eq!(message(FINISHED, 7, &[1, 2, 3, 4]), [20, 0, 0, 3, 1, 2, 3]);
        assert_eq!(message(FINISHED, 3, &[]), [20, 0, 0]);
    }
}
