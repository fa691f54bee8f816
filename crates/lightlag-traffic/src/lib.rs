//! Kinds of traffic: the settings of an application, and the times of its messages; the set-up of connections.
//!
//! Each kind is a file with its settings and its behaviour; the settings define how a scenario is read, written and
//! described. Simple kinds write messages over time; hosts access them only through [`Messages`]. The other kinds also
//! have code in the hosts, because they need connections: sinks, arriving transfers, requests, and web pages.

mod bulk;
mod burst;
mod collect;
mod constant;
pub mod custom;
mod kind;
mod on_off;
pub mod page;
mod periodic;
mod poisson;
mod registry;
mod requests;
mod setup;
mod stream;
mod transfers;
mod web;

pub use bulk::Bulk;
pub use burst::Burst;
pub use collect::{Collect, Overflow};
pub use constant::Constant;
pub use custom::CustomTraffic;
pub use kind::{Messages, Progress, TrafficKind};
pub use on_off::OnOff;
pub use page::{Page, WebObject, WebPage};
pub use periodic::Periodic;
pub use poisson::Poisson;
pub use requests::Requests;
pub use setup::{Dns, Setup, Tls};
pub use stream::Stream;
pub use transfers::Transfers;
pub use web::{Http, Web};

registry::kinds! {
    Bulk, "bulk", bulk::Bulk;
    Constant, "constant", constant::Constant: Messages;
    OnOff, "on_off", on_off::OnOff: Messages;
    Periodic, "periodic", periodic::Periodic: Messages;
    Poisson, "poisson", poisson::Poisson: Messages;
    Burst, "burst", burst::Burst: Messages;
    Collect, "collect", collect::Collect;
    Transfers, "transfers", transfers::Transfers;
    Requests, "requests", requests::Requests;
    Web, "web", web::Web;
    Page, "page", page::Page;
}

impl Default for Traffic {
    fn default() -> Self {
        Self::Bulk(Bulk)
    }
}

impl Traffic {
    /// Returns true if all data is sent immediately.
    pub fn is_bulk(&self) -> bool {
        matches!(self, Self::Bulk(_))
    }

    /// Returns the settings of a sink; `None` for other kinds.
    pub fn collects(&self) -> Option<&Collect> {
        if let Self::Collect(sink) = self { Some(sink) } else { None }
    }

    /// Returns true if a client sends requests and a server replies. Then the client opens the connection.
    pub fn is_dialogue(&self) -> bool {
        matches!(self, Self::Requests(_) | Self::Web(_) | Self::Page(_))
    }

    /// Returns true if a client loads pages of several objects.
    pub fn has_pages(&self) -> bool {
        matches!(self, Self::Web(_) | Self::Page(_))
    }

    /// Returns the HTTP version of pages; `None` for other kinds.
    pub fn http_mut(&mut self) -> Option<&mut Http> {
        match self {
            Self::Web(web) => Some(&mut web.http),
            Self::Page(page) => Some(&mut page.http),
            _ => None,
        }
    }

    /// Returns the HTTP version of pages; `None` for other kinds.
    pub fn http(&self) -> Option<Http> {
        match self {
            Self::Web(web) => Some(web.http),
            Self::Page(page) => Some(page.http),
            _ => None,
        }
    }

    /// Returns the number of connections of a flow with this traffic. The number for a listed page follows from its
    /// file ([`WebPage::connections`]).
    pub fn connections(&self) -> u64 {
        if let Self::Web(web) = self { u64::from(web.http.connections(web.connections)) } else { 1 }
    }
}

impl Memory {
    /// Returns the error of a custom application, if it has failed.
    pub fn fault(&self) -> Option<&lightlag_core::custom::Fault> {
        if let Self::Custom(running) = self { running.fault() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightlag_core::params::Registered;

    #[test]
    fn every_key_of_every_kind_has_a_text() {
        for traffic in Traffic::all() {
            assert!(traffic.about().ends_with('.'), "{}", traffic.name());
            for parameter in traffic.parameters() {
                assert!(parameter.about.ends_with('.'), "{}.{}", traffic.name(), parameter.key);
            }
        }
    }

    #[test]
    fn only_kinds_with_messages_go_without_connections() {
        let with_messages = |traffic: &Traffic| traffic.has_messages();
        let names: Vec<&str> = Traffic::all().iter().filter(|of| with_messages(of)).map(Registered::name).collect();
        assert_eq!(names, ["constant", "on_off", "periodic", "poisson", "burst"]);
    }
}
