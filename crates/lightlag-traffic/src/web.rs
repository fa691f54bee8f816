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
    /// Maximum number of simultaneous connections; always one with HTTP/2.
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

/// HTTP version, as far as it determines how the objects of a page share connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Http {
    /// HTTP/1.1: several connections, which stay open, with one object at a time on each (RFC 9112 §9.3).
    #[default]
    One,
    /// HTTP/2: all objects simultaneously on one connection (RFC 9113).
    Two,
}

impl Http {
    /// Returns the number of connections to a host, where `configured` is the key of a scenario.
    pub fn connections(self, configured: Option<u32>) -> u32 {
        match self {
            Self::One => configured.unwrap_or(CONNECTIONS),
            Self::Two => 1,
        }
    }
}

impl Default for Web {
    fn default() -> Self {
        Self {
            html: Varied::constant(Bytes(30_000)),
            objects: Varied::constant(20),
            object: Varied::constant(Bytes(20_000)),
            http: Http::One,
            connections: None,
            request: Varied::constant(REQUEST),
            server_time: None,
            think: None,
            count: None,
            stop: None,
        }
    }
}

/// Versions of HTTP, in the order of their names.
pub(crate) const VERSIONS: [Http; 2] = [Http::One, Http::Two];

/// Returns the setting `http`.
fn http() -> Setting<Web> {
    Setting::word(
        "http",
        "a version of HTTP",
        &["1.1", "2"],
        |web: &Web| usize::from(web.http == Http::Two),
        |web, version| web.http = VERSIONS[version],
    )
    .about(
        "Rule by which objects share connections: with 1.1 one object at a time on each of several, which stay open \
         (RFC 9112 §9.3); with 2 all simultaneously on one, whose responses are sent in the order of their requests \
         (RFC 9113).",
    )
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
            http(),
            Setting::count("connections", |of: &mut Self| &mut of.connections, MOST_CONNECTIONS, "a whole number", "")
                .by_default("6; 1 with HTTP/2")
                .about("Maximum number of simultaneous connections; always one with HTTP/2.")
                .checked(|of| {
                    let is_several = of.http == Http::Two && of.connections > Some(1);
                    is_several.then_some("cannot be combined with HTTP/2, which uses one connection; remove it")
                }),
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
