//! Notifications to senders on media that the route of their packets broke or was restored (ELFN, Holland and Vaidya,
//! MobiCom 1999).
//!
//! The routing agent of the node where packets enter a medium detects the break itself, or receives a route error. It
//! notifies a sender at this node immediately, and a sender upstream of a gateway by a message.

use super::stations::{Tell, User};
use crate::body::SeqNumber;
use crate::media::MediumPath;
use lightlag_core::{Duration, Instant};
use lightlag_net::{EndpointId, NodeId};
use lightlag_scenario::Network;
use lightlag_wire::signal::NotificationKind;
use std::collections::BTreeMap;

/// Maximum time since a sender last sent data: others are not notified of a break.
const RECENT: Duration = Duration::from_secs(60);

/// Senders of data over media whose nodes notify them of route changes.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// Senders of data, by their path over a medium and by endpoint.
    users: BTreeMap<MediumPath, BTreeMap<EndpointId, User>>,
}

impl Sources {
    /// Returns the state for a network, if one of its media sends notifications.
    pub(crate) fn new(network: &Network) -> Option<Box<Self>> {
        network.media.iter().any(|medium| medium.elfn).then(Box::default)
    }

    /// Records that a segment with data is offered to a medium.
    pub(crate) fn offered(&mut self, now: Instant, way: MediumPath, sender: EndpointId, seq: SeqNumber) {
        let user = self.users.entry(way).or_default().entry(sender).or_insert_with(|| User::new(now, seq));
        user.note(now, seq);
    }

    /// Returns the messages that a route broke, sent by `node`, where packets enter the medium, to each recent sender.
    pub(crate) fn broken(&mut self, now: Instant, way: MediumPath, node: NodeId) -> Vec<Tell> {
        let Some(users) = self.users.get_mut(&way) else { return Vec::new() };
        users.retain(|_, user| user.is_recent(now, RECENT));
        let notify = |(endpoint, user): (&EndpointId, &mut User)| {
            user.tell_outage(now, *endpoint, NotificationKind::RouteLost, node)
        };
        users.iter_mut().map(notify).collect()
    }

    /// Returns the messages that a route is restored, sent by `node` to each sender that was notified of the break.
    pub(crate) fn restored(&mut self, way: MediumPath, node: NodeId) -> Vec<Tell> {
        let users = self.users.get_mut(&way).into_iter().flatten();
        users.filter_map(|(endpoint, user)| user.tell_end(*endpoint, NotificationKind::RouteFound, node)).collect()
    }
}
