//! The set-up of a connection before the application sends: name resolution, and the handshake of TLS.

use lightlag_core::params::{Described, Setting};
use lightlag_core::{Bytes, Duration};

lightlag_core::words! {
    /// Resolution of the server's name.
    pub enum Dns {
        /// The client has the address.
        Cached = "cached",
        /// The client queries a resolver before the first connection to a host.
        Lookup = "lookup",
    }
}

lightlag_core::words! {
    /// Version and form of TLS.
    pub enum Tls {
        /// No TLS.
        None = "none",
        /// TLS 1.2 (RFC 5246): two round trips.
        Two = "1.2",
        /// TLS 1.3 (RFC 8446): one round trip.
        Three = "1.3",
        /// TLS 1.3 with the first request next to the ClientHello (RFC 8446 §2.3). The client has a ticket of an
        /// earlier session.
        Early = "1.3 0-RTT",
    }
}

/// Set-up of the connections of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setup {
    /// Resolution of the server's name.
    pub dns: Dns,
    /// Time of a lookup.
    pub dns_time: Option<Duration>,
    /// TLS version.
    pub tls: Tls,
    /// Size of the server's certificate chain.
    pub certificate: Bytes,
    /// Whether connections after the first one to a host resume its session.
    pub resumption: bool,
}

impl Default for Setup {
    fn default() -> Self {
        let (dns, dns_time, tls) = (Dns::Cached, None, Tls::None);
        Self { dns, dns_time, tls, certificate: Bytes(4_000), resumption: false }
    }
}

impl Described for Setup {
    const ABOUT: &'static str = "Set-up of a connection before the application sends: name resolution and TLS.";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::choice("dns", |of: &mut Self| &mut of.dns, "a resolution of names").about(
                "Resolution of the server's name: \"cached\", or \"lookup\" before the first connection to each host.",
            ),
            Setting::time_above_zero(
                "dns_time",
                |of: &mut Self| &mut of.dns_time,
                "0 s is too short for a lookup; write dns = \"cached\", or a time such as \"50 ms\"",
            )
            .about("Time from the query to the reply of the resolver, required with dns = \"lookup\".")
            .checked(|of| match (of.dns, of.dns_time) {
                (Dns::Cached, Some(_)) => Some("has no effect with dns = \"cached\"; write dns = \"lookup\""),
                (Dns::Lookup, None) => Some("is missing; specify the time of a lookup, such as \"50 ms\""),
                _ => None,
            }),
            Setting::choice("tls", |of: &mut Self| &mut of.tls, "a version of TLS").about(
                "TLS handshake before the first request: \"none\", \"1.2\" (two round trips, RFC 5246), \"1.3\" (one, \
                 RFC 8446), or \"1.3 0-RTT\" (none: the request follows the ClientHello). QUIC contains TLS 1.3: over \
                 QUIC, \"1.3 0-RTT\" sets quic.zero_rtt, and the other values and keys of TLS have no effect.",
            ),
            Setting::size("certificate", |of: &mut Self| &mut of.certificate)
                .about("Size of the server's certificate chain.")
                .checked(|of| {
                    let is_given = of.certificate != Self::default().certificate;
                    let is_sent = matches!(of.tls, Tls::Two | Tls::Three);
                    (is_given && !is_sent).then_some("is not sent with this tls; write tls = \"1.2\" or \"1.3\"")
                }),
            Setting::flag("resumption", |of: &mut Self| &mut of.resumption)
                .about(
                    "Whether connections after the first one to a host resume its session, without a certificate and, \
                     with 1.2, in one round trip.",
                )
                .checked(|of| {
                    let is_possible = matches!(of.tls, Tls::Two | Tls::Three);
                    (of.resumption && !is_possible)
                        .then_some("has no effect with this tls; write tls = \"1.2\" or \"1.3\"")
                }),
        ]
    }
}

/// ClientHello of a browser, padded to 512 bytes (RFC 7685), with its record header.
const CLIENT_HELLO: u64 = 517;
/// ServerHello, EncryptedExtensions, CertificateVerify and Finished of TLS 1.3 without the certificate, as aioquic
/// sends them (123 + 118 + 79 + 52 B), with a record header, a ChangeCipherSpec record and the overhead of an
/// encrypted record (RFC 8446 §5: 5 + 1 + 16 B).
const SERVER_FLIGHT: u64 = 123 + 118 + 79 + 52 + 5 + 6 + 22;
/// The same without CertificateVerify, in a resumed session (RFC 8446 §2.2).
const RESUMED_FLIGHT: u64 = SERVER_FLIGHT - 79;
/// ChangeCipherSpec and Finished of the client: 6 + 52 + 22 B.
const FINISHED: u64 = 6 + 52 + 22;
/// EndOfEarlyData (RFC 8446 §4.5) in a record of its own: 4 + 22 B.
const END_OF_EARLY_DATA: u64 = 26;
/// ServerHello, ServerKeyExchange (ECDHE, RSA 2048) and ServerHelloDone of TLS 1.2 with their record headers.
const SERVER_HELLOS_1_2: u64 = 450;
/// ClientKeyExchange (P-256), ChangeCipherSpec and Finished of TLS 1.2: 75 + 6 + 45 B.
const KEY_EXCHANGE_1_2: u64 = 126;
/// ChangeCipherSpec and Finished of TLS 1.2: 6 + 45 B.
const FINISHED_1_2: u64 = 51;
/// ServerHello of TLS 1.2 in a resumed session (RFC 5246 §7.3).
const RESUMED_HELLO_1_2: u64 = 96;

impl Setup {
    /// Returns the time of a lookup, if there is one.
    pub fn lookup(&self) -> Option<Duration> {
        self.dns_time.filter(|_| self.dns == Dns::Lookup)
    }

    /// Returns the sizes of the flights of the handshake in bytes, alternating, the client's first; empty without TLS.
    /// `resumes`: the client has a session of an earlier connection.
    pub fn flights(&self, resumes: bool) -> Vec<u64> {
        let certificate = self.certificate.0;
        match (self.tls, resumes && self.resumption) {
            (Tls::None, _) => Vec::new(),
            (Tls::Two, false) => vec![CLIENT_HELLO, SERVER_HELLOS_1_2 + certificate, KEY_EXCHANGE_1_2, FINISHED_1_2],
            (Tls::Two, true) => vec![CLIENT_HELLO, RESUMED_HELLO_1_2 + FINISHED_1_2, FINISHED_1_2],
            (Tls::Three, false) => vec![CLIENT_HELLO, SERVER_FLIGHT + certificate, FINISHED],
            (Tls::Three, true) => vec![CLIENT_HELLO, RESUMED_FLIGHT, FINISHED],
            (Tls::Early, _) => vec![CLIENT_HELLO, RESUMED_FLIGHT, END_OF_EARLY_DATA + FINISHED],
        }
    }

    /// Returns true if the client sends requests before the server has replied.
    pub fn is_early(&self) -> bool {
        self.tls == Tls::Early
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flights_alternate_and_end_with_the_last_finished() {
        let flights = |tls, resumption| Setup { tls, resumption, ..Setup::default() }.flights(true);
        assert!(flights(Tls::None, false).is_empty());
        // 123 + 118 + 79 + 52 = 372 B, 33 B of records and a certificate of 4000 B.
        assert_eq!(flights(Tls::Three, false), [517, 4_405, 80]);
        assert_eq!(flights(Tls::Three, true), [517, 326, 80]);
        assert_eq!(flights(Tls::Early, false), [517, 326, 106]);
        assert_eq!((flights(Tls::Two, false).len(), flights(Tls::Two, true).len()), (4, 3));
    }
}
