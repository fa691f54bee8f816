//! Requests and responses, alternating on one connection. The data flows from the server to the client: the server is
//! at the start of the flow, the client at its end.

use crate::kind::{TrafficKind, count, stop};
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Bytes, Duration, Varied};

/// Requests and responses.
#[derive(Clone, PartialEq, Debug)]
pub struct Requests {
    /// Size of a response.
    pub response: Varied<Bytes>,
    /// Size of a request.
    pub request: Varied<Bytes>,
    /// Time from the arrival of a request to its response; zero if omitted.
    pub server_time: Option<Varied<Duration>>,
    /// Time from the last byte of a response to the next request; zero if omitted.
    pub think: Option<Varied<Duration>>,
    /// Number of requests; unlimited if omitted.
    pub count: Option<u64>,
    /// Simulated time when requests stop; not limited if omitted.
    pub stop: Option<Duration>,
}

/// Default size of a request.
pub(crate) const REQUEST: Bytes = Bytes(300);

impl Default for Requests {
    fn default() -> Self {
        let (response, request) = (Varied::constant(Bytes(10_000)), Varied::constant(REQUEST));
        Self { response, request, server_time: None, think: None, count: None, stop: None }
    }
}

/// Returns the setting `request`.
pub(crate) fn request<C: Clone + 'static>(field: fn(&mut C) -> &mut Varied<Bytes>) -> Setting<C> {
    Setting::drawn_size("request", field).about("Size of a request.")
}

/// Returns the setting `server_time`.
pub(crate) fn server_time<C: Clone + 'static>(field: fn(&mut C) -> &mut Option<Varied<Duration>>) -> Setting<C> {
    Setting::drawn_time("server_time", field).about("Time from the arrival of a request to its response.")
}

impl Described for Requests {
    const ABOUT: &'static str = "Repeated requests and responses over one connection.";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::drawn_size("response", |of: &mut Self| &mut of.response)
                .about("Size of a response.")
                .required("specify the size of a response, such as \"10 kB\""),
            request(|of: &mut Self| &mut of.request),
            server_time(|of: &mut Self| &mut of.server_time),
            Setting::drawn_time("think", |of: &mut Self| &mut of.think)
                .about("Time from the last byte of a response to the next request."),
            count(|of: &mut Self| &mut of.count).about("Number of requests; unlimited if omitted."),
            stop(|of: &mut Self| &mut of.stop).about("Time of the run when requests stop."),
        ]
    }
}

impl TrafficKind for Requests {
    fn is_random(&self) -> bool {
        let varies = |time: &Option<Varied<Duration>>| time.as_ref().is_some_and(Varied::is_random);
        self.response.is_random() || self.request.is_random() || varies(&self.server_time) || varies(&self.think)
    }

    fn ends(&self) -> bool {
        self.count.is_some() || self.stop.is_some()
    }
}
