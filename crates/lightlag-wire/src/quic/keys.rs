//! Keys of packet protection with AES-128-GCM and SHA-256 (RFC 9001 §5.1, §5.2, §6.1; RFC 9369 §3.3).

use aes_gcm::aead::{AeadInOut, KeyInit};
use aes_gcm::aes::Aes128;
use aes_gcm::aes::cipher::BlockCipherEncrypt;
use aes_gcm::{Aes128Gcm, Nonce, Tag};
use hkdf::Hkdf;
use lightlag_quic::codec::Version;
use lightlag_quic::streams::Side;
use sha2::Sha256;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Bytes of a traffic secret.
pub(super) const SECRET: usize = 32;

/// The constants of a version of QUIC.
struct Constants {
    /// Salt of Initial secrets.
    salt: [u8; 20],
    key: &'static str,
    iv: &'static str,
    header: &'static str,
    update: &'static str,
    /// Key and nonce of the integrity tag of Retry packets.
    retry_key: [u8; 16],
    retry_nonce: [u8; 12],
}

/// RFC 9001 §5.1, §5.2, §5.8, §6.1.
const ONE: Constants = Constants {
    salt: salt(0x3876_2cf7_f559_34b3_4d17_9ae6_a4c8_0cad, 0xccbb_7f0a),
    key: "quic key",
    iv: "quic iv",
    header: "quic hp",
    update: "quic ku",
    retry_key: 0xbe0c_690b_9f66_575a_1d76_6b54_e368_c84e_u128.to_be_bytes(),
    retry_nonce: nonce(0x4615_99d3_5d63_2bf2_2398_25bb),
};

/// RFC 9369 §3.3.
const TWO: Constants = Constants {
    salt: salt(0x0ded_e3de_f700_a6db_8193_81be_6e26_9dcb, 0xf9bd_2ed9),
    key: "quicv2 key",
    iv: "quicv2 iv",
    header: "quicv2 hp",
    update: "quicv2 ku",
    retry_key: 0x8fb4_b01b_56ac_48e2_60fb_cbce_ad7c_cc92_u128.to_be_bytes(),
    retry_nonce: nonce(0xd869_69bc_2d7c_6d99_90ef_b04a),
};

/// Returns 20 bytes from the first 16 and the last 4.
const fn salt(head: u128, tail: u32) -> [u8; 20] {
    let (head, tail) = (head.to_be_bytes(), tail.to_be_bytes());
    let mut bytes = [0; 20];
    let mut at = 0;
    while at < 20 {
        bytes[at] = if at < 16 { head[at] } else { tail[at - 16] };
        at += 1;
    }
    bytes
}

/// Returns the low 12 bytes of a number.
const fn nonce(value: u128) -> [u8; 12] {
    let all = value.to_be_bytes();
    let mut bytes = [0; 12];
    let mut at = 0;
    while at < 12 {
        bytes[at] = all[at + 4];
        at += 1;
    }
    bytes
}

fn constants(version: Version) -> &'static Constants {
    match version {
        Version::One => &ONE,
        Version::Two => &TWO,
    }
}

/// HKDF-Expand-Label with an empty context (RFC 8446 §7.1).
fn expand(secret: &Hkdf<Sha256>, label: &str, out: &mut [u8]) {
    let len = out.len() as u16;
    let mut info = len.to_be_bytes().to_vec();
    info.push(6 + label.len() as u8);
    info.extend(b"tls13 ");
    info.extend(label.as_bytes());
    info.push(0);
    secret.expand(&info, out).expect("a short output");
}

/// Returns the secret of the Initial packets that `side` sends, from the destination ID of the client's first Initial
/// (RFC 9001 §5.2).
pub(super) fn initial_secret(version: Version, side: Side, destination: &[u8]) -> [u8; SECRET] {
    let common = Hkdf::<Sha256>::new(Some(&constants(version).salt), destination);
    let mut secret = [0; SECRET];
    let label = match side {
        Side::Client => "client in",
        Side::Server => "server in",
    };
    expand(&common, label, &mut secret);
    secret
}

/// The keys of packets in one direction.
pub(super) struct PacketKeys {
    aead: Aes128Gcm,
    iv: [u8; 12],
    header: Aes128,
}

impl PacketKeys {
    /// Derives the keys from a traffic secret.
    pub(super) fn new(version: Version, secret: &[u8; SECRET]) -> Self {
        let constants = constants(version);
        let secret = Hkdf::<Sha256>::from_prk(secret).expect("a secret of 32 bytes");
        let (mut key, mut iv, mut header) = ([0; 16], [0; 12], [0; 16]);
        expand(&secret, constants.key, &mut key);
        expand(&secret, constants.iv, &mut iv);
        expand(&secret, constants.header, &mut header);
        Self { aead: Aes128Gcm::new(&key.into()), iv, header: Aes128::new(&header.into()) }
    }

    /// Derives the keys from the secret of a later generation, which keep the key of header protection (RFC 9001 §6.1).
    fn later(version: Version, secret: &[u8; SECRET]) -> Self {
        Self { header: Self::new(version, &[0; SECRET]).header, ..Self::new(version, secret) }
    }

    /// Returns the nonce of a packet: the IV combined with the packet number (RFC 9001 §5.3).
    fn nonce(&self, number: u64) -> [u8; 12] {
        let mut nonce = self.iv;
        nonce[4..].iter_mut().zip(number.to_be_bytes()).for_each(|(byte, part)| *byte ^= part);
        nonce
    }

    /// Encrypts `payload`, and returns its authentication tag.
    pub(super) fn seal(&self, number: u64, header: &[u8], payload: &mut [u8]) -> [u8; 16] {
        let nonce = Nonce::from(self.nonce(number));
        self.aead.encrypt_inout_detached(&nonce, header, payload.into()).expect("a packet is short").into()
    }

    /// Decrypts `payload`. Returns false if `tag` does not match.
    #[cfg(test)]
    pub(super) fn open(&self, number: u64, header: &[u8], payload: &mut [u8], tag: [u8; 16]) -> bool {
        let nonce = Nonce::from(self.nonce(number));
        self.aead.decrypt_inout_detached(&nonce, header, payload.into(), &Tag::from(tag)).is_ok()
    }

    /// Returns the mask of header protection for a sample of the ciphertext (RFC 9001 §5.4.3).
    pub(super) fn mask(&self, sample: [u8; 16]) -> [u8; 5] {
        let mut block = sample.into();
        self.header.encrypt_block(&mut block);
        [block[0], block[1], block[2], block[3], block[4]]
    }
}

/// Returns the secret after a key update (RFC 9001 §6.1).
fn next_secret(version: Version, secret: &[u8; SECRET]) -> [u8; SECRET] {
    let mut next = [0; SECRET];
    let current = Hkdf::<Sha256>::from_prk(secret).expect("a secret of 32 bytes");
    expand(&current, constants(version).update, &mut next);
    next
}

/// The key updates of one direction, whose first secret is zero.
#[derive(Clone, Default)]
pub(super) struct KeyUpdates {
    /// Number of the first packet of each generation after the first, and its keys.
    later: Vec<(u64, Arc<PacketKeys>)>,
    /// Secret of the last generation.
    secret: [u8; SECRET],
}

impl fmt::Debug for KeyUpdates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.later.iter().map(|(number, _)| number)).finish()
    }
}

impl KeyUpdates {
    /// Adds an update with the packet `number`.
    pub(super) fn add(&mut self, version: Version, number: u64) {
        self.secret = next_secret(version, &self.secret);
        self.later.push((number, Arc::new(PacketKeys::later(version, &self.secret))));
    }

    /// Returns the key phase of the last packets.
    pub(super) fn phase(&self) -> bool {
        self.later.len() % 2 == 1
    }

    /// Returns the keys of a packet. Without updates, key phase 1 has the keys after one.
    pub(super) fn keys(&self, version: Version, number: u64, key_phase: bool) -> &PacketKeys {
        match self.later.partition_point(|(first, _)| *first <= number) {
            0 => null_keys(version, key_phase && self.later.is_empty()),
            count => &self.later[count - 1].1,
        }
    }
}

/// Returns the keys of all packets but Initial packets. Both directions and all stages of the handshake have the same,
/// because their secrets are all zero. Key phase 1 has the keys after one update.
pub(super) fn null_keys(version: Version, key_phase: bool) -> &'static PacketKeys {
    static KEYS: [[OnceLock<PacketKeys>; 2]; 2] = [const { [const { OnceLock::new() }; 2] }; 2];
    KEYS[usize::from(version == Version::Two)][usize::from(key_phase)].get_or_init(|| match key_phase {
        false => PacketKeys::new(version, &[0; SECRET]),
        true => PacketKeys::later(version, &next_secret(version, &[0; SECRET])),
    })
}

/// Returns the integrity tag of a Retry packet, whose bytes before the tag are `packet`. `original` is the destination
/// ID of the Initial that it answers (RFC 9001 §5.8).
pub(super) fn retry_tag(version: Version, original: &[u8], packet: &[u8]) -> [u8; 16] {
    let constants = constants(version);
    let mut covered = vec![original.len() as u8];
    covered.extend(original);
    covered.extend(packet);
    let aead = Aes128Gcm::new(&constants.retry_key.into());
    let tag: Tag = aead
        .encrypt_inout_detached(&constants.retry_nonce.into(), &covered, (&mut [][..]).into())
        .expect("a packet is short");
    tag.into()
}
