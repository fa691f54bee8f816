//! Sources on media: senders are told that the route of their packets broke, and that there is one again (ELFN, Holland and
//! Vaidya, MobiCom 1999).
//!
//! The routing agent of the node at which packets come to a medium sees the break itself, or hears of it from a route error.
//! A sender at this node is told at once, one behind a gateway by a message.

use super::stations::{Tell, User};
use crate::body::SeqNumber;
use crate::media::Way;
use lightlag_core::{Duration, Instant};
use lightlag_net::{EndpointId, NodeId};
use lightlag_scenario::Network;
use lightlag_wire::signal::News;
use std::collections::BTreeMap;

/// Senders whose last data is older than this are not told of a break.
const RECENT: Duration = Duration::from_secs(60);

/// The senders of data over media that tell them of routes.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// By the way over a medium: senders of data, by endpoint.
    users: BTreeMap<Way, BTreeMap<EndpointId, User>>,
}

impl Sources {
    /// Of a network, if a medium of it tells of routes.
    pub(crate) fn new(network: &Network) -> Option<Box<Self>> {
        network.media.iter().any(|medium| medium.elfn).then(Box::default)
    }

    /// A segment with data comes to a medium.
    pub(crate) fn offered(&mut self, now: Instant, way: Way, sender: EndpointId, seq: SeqNumber) {
        let user = self.users.entry(way).or_default().entry(sender).or_insert_with(|| User::new(now, seq));
        user.note(now, seq);
    }

    /// The route broke: the messages of the node at its start.
    pub(crate) fn broken(&mut self, now: Instant, way: Way, at: NodeId) -> Vec<Tell> {
        let Some(users) = self.users.get_mut(&way) else { return Vec::new() };
        users.retain(|_, user| user.is_recent(now, RECENT));
        let told = |(endpoint, user): (&EndpointId, &mut User)| user.tell_outage(now, *endpoint, News::RouteLost, at);
        users.iter_mut().map(told).collect()
    }

    /// There is a route again: those who were told that it broke are told.
    pub(crate) fn restored(&mut self, way: Way, at: NodeId) -> Vec<Tell> {
        let users = self.users.get_mut(&way).into_iter().flatten();
        users.filter_map(|(endpoint, user)| user.tell_end(*endpoint, News::RouteFound, at)).collect()
    }
}
