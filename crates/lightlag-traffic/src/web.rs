//! Web pages, each of several objects, over several connections. The data flows from the server to the browser: the
//! server is at the start of the flow, the browser at its end.

use crate::kind::{TrafficKind, count, stop};
use crate::requests::{REQUEST, request, server_time};
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Bytes, Duration, Varied};

/// Maximum number of connections of a browser.
pub(crate) const MOST_CONNECTIONS: u32 = 64;

/// Default number of connections of a browser with HTTP/1.1.
const CONNECTIONS: u32 = 6;

/// Web pages.
#[derive(Clone, PartialEq, Debug)]
pub struct Web {
    /// Size of the first object of a page, which refers to the others.
    pub html: Varied<Bytes>,
    /// Number of the other objects.
    pub objects: Varied<u64>,
    /// Size of each other object.
    pub object: Varied<Bytes>,
    /// HTTP version; it determines how objects share connections.
    pub http: Http,
    /// Maximum number of simultaneous connections; always one with HTTP/2 and HTTP/3.
    pub connections: Option<u32>,
    /// Size of a request.
    pub request: Varied<Bytes>,
    /// Time from the arrival of a request to its response; zero if omitted.
    pub server_time: Option<Varied<Duration>>,
    /// Time from the last byte of a page to the request for the next page; zero if omitted.
    pub think: Option<Varied<Duration>>,
    /// Number of pages; unlimited if omitted.
    pub count: Option<u64>,
    /// Simulated time when the browser stops starting pages; not limited if omitted.
    pub stop: Option<Duration>,
}

lightlag_core::words! {
    /// HTTP version, as far as it determines how the objects of a page share connections.
    pub enum Http {
        /// The version that the transport implies: HTTP/3 over QUIC, HTTP/1.1 over TCP.
        Auto = "auto",
        /// HTTP/1.1: several connections, which stay open, with one object at a time on each (RFC 9112 §9.3).
        One = "1.1",
        /// HTTP/2: all objects simultaneously on one connection (RFC 9113).
        Two = "2",
        /// HTTP/3: all objects simultaneously on one QUIC connection, each on a stream of its own (RFC 9114).
        Three = "3",
    }
}

impl Http {
    /// Returns the number of connections to a host, where `configured` is the key of a scenario.
    pub fn connections(self, configured: Option<u32>) -> u32 {
        match self {
            Self::Auto | Self::One => configured.unwrap_or(CONNECTIONS),
            Self::Two | Self::Three => 1,
        }
    }

    /// Returns the reason why more than one connection is an error, if it is one.
    pub(crate) fn refuses(self, connections: Option<u32>) -> Option<&'static str> {
        match self {
            Self::Two if connections > Some(1) => {
                Some("cannot be combined with HTTP/2, which uses one connection; remove it")
            }
            Self::Three if connections > Some(1) => {
                Some("cannot be combined with HTTP/3, which uses one connection; remove it")
            }
            _ => None,
        }
    }
}

impl Default for Web {
    fn default() -> Self {
        Self {
            html: Varied::constant(Bytes(30_000)),
            objects: Varied::constant(20),
            object: Varied::constant(Bytes(20_000)),
            http: Http::Auto,
            connections: None,
            request: Varied::constant(REQUEST),
            server_time: None,
            think: None,
            count: None,
            stop: None,
        }
    }
}

impl Described for Web {
    const ABOUT: &'static str = "Pages of several objects over several connections.";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::drawn_size("html", |of: &mut Self| &mut of.html)
                .about("Size of the first object, which names the others.")
                .required("specify the size of the first object, such as \"30 kB\""),
            Setting::drawn_amount("objects", |of: &mut Self| &mut of.objects)
                .about("Number of the other objects.")
                .required("specify the number of objects after the first, such as 20"),
            Setting::drawn_size("object", |of: &mut Self| &mut of.object)
                .about("Size of each of them.")
                .required("specify the size of these objects, such as \"20 kB\""),
            Setting::choice("http", |of: &mut Self| &mut of.http, "a version of HTTP").about(
                "Rule by which objects share connections: with 1.1 one object at a time on each of several, which stay \
                 open (RFC 9112 §9.3); with 2 all simultaneously on one, whose responses are sent in the order of their \
                 requests (RFC 9113); with 3 the same on one QUIC connection, with a stream for each object (RFC 9114). \
                 auto is 3 over QUIC and 1.1 over TCP.",
            ),
            Setting::count("connections", |of: &mut Self| &mut of.connections, MOST_CONNECTIONS, "a whole number", "")
                .by_default("6; 1 with HTTP/2 and HTTP/3")
                .about("Maximum number of simultaneous connections; always one with HTTP/2 and HTTP/3.")
                .checked(|of| of.http.refuses(of.connections)),
            request(|of: &mut Self| &mut of.request),
            server_time(|of: &mut Self| &mut of.server_time),
            Setting::drawn_time("think", |of: &mut Self| &mut of.think)
                .about("Time from the last byte of a page to the next page."),
            count(|of: &mut Self| &mut of.count).about("Number of pages; unlimited if omitted."),
            stop(|of: &mut Self| &mut of.stop).about("Time of the run when new pages stop."),
        ]
    }
}

impl TrafficKind for Web {
    fn is_random(&self) -> bool {
        let varies = |time: &Option<Varied<Duration>>| time.as_ref().is_some_and(Varied::is_random);
        [&self.html, &self.object, &self.request].into_iter().any(Varied::is_random)
            || self.objects.is_random()
            || varies(&self.server_time)
            || varies(&self.think)
    }

    fn ends(&self) -> bool {
        self.count.is_some() || self.stop.is_some()
    }
}
