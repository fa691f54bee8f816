//! Route replies (RFC 3561 §6.6, §6.7 and §6.8), and HELLOs (§6.9).

use super::table::{RouteEntry, RouteOffer};
use super::{Aodv, AodvMessage, Errors, Reply, Request};
use lightlag_core::Instant;
use lightlag_net::NodeId;

impl Aodv {
    /// Replies to a request for this node (RFC 3561 §6.6.1).
    pub(super) fn reply_as_destination(&mut self, now: Instant, request: &Request) {
        if !request.unknown_sequence {
            self.sequence = self.sequence.newer(request.destination_sequence);
        }
        let Some(back) = self.way_back(now, request.origin) else { return };
        let (next_hop, hops) = (back.next_hop, back.hops);
        let reply = Reply {
            ack_required: false,
            hop_count: 0,
            destination: self.node,
            destination_sequence: self.sequence,
            origin: request.origin,
            lifetime: self.config.my_route_timeout,
            ttl: self.reply_ttl(hops),
        };
        self.send_reply(now, next_hop, reply);
    }

    /// Replies for another node, for which this node has a fresh route: notifies the origin and, if requested, the
    /// destination (RFC 3561 §6.6.2 and §6.6.3).
    pub(super) fn reply_for_another(&mut self, now: Instant, request: &Request) {
        let (origin, destination) = (request.origin, request.destination);
        let Some(back) = self.way_back(now, origin) else { return };
        let (back_hop, back_hops, back_expires, back_sequence) =
            (back.next_hop, back.hops, back.expires, back.sequence.unwrap_or_default());
        let Some(route) = self.table.valid(now, destination) else { return };
        let (next_hop, hops, expires, sequence) =
            (route.next_hop, route.hops, route.expires, route.sequence.unwrap_or_default());
        route.precursors.insert(back_hop);
        self.add_precursor(now, origin, next_hop);
        // RFC 3561 §6.8, as ns-3 decides it: the reply of a destination's neighbour is the likeliest to meet a link
        // that works in one direction only.
        let ack_required = self.config.reply_ack && hops == 1;
        let lifetime = expires.since(now);
        let ttl = self.reply_ttl(back_hops);
        let reply =
            Reply { ack_required, hop_count: hops, destination, destination_sequence: sequence, origin, lifetime, ttl };
        if ack_required && !self.config.blacklist_timeout.is_zero() {
            self.debtors.extend(back_hop, now + self.config.next_hop_wait);
        }
        self.send_reply(now, back_hop, reply);
        if request.gratuitous {
            let reply = Reply {
                ack_required: false,
                hop_count: back_hops,
                destination: origin,
                destination_sequence: back_sequence,
                origin: destination,
                lifetime: back_expires.since(now),
                ttl: self.reply_ttl(hops),
            };
            self.send_reply(now, next_hop, reply);
        }
    }

    /// Returns the route along which the reply to a request is sent to the request's origin.
    fn way_back(&mut self, now: Instant, origin: NodeId) -> Option<&mut RouteEntry> {
        let is_enough = !self.config.revive_reverse_route;
        self.table.entry(now, origin).filter(|entry| entry.is_valid() || is_enough)
    }

    /// Returns the time to live of a new reply over a route with this number of hops. RFC 3561 specifies no value, and
    /// no route is longer than NET_DIAMETER; ns-3 uses the number of hops.
    fn reply_ttl(&self, hops: u8) -> u8 {
        if self.config.route_messages { hops } else { self.config.net_diameter as u8 }
    }

    fn send_reply(&mut self, now: Instant, to: NodeId, reply: Reply) {
        self.send_to(now, to, AodvMessage::Reply(reply), reply.ttl);
    }

    fn add_precursor(&mut self, now: Instant, destination: NodeId, precursor: NodeId) {
        if let Some(entry) = self.table.valid(now, destination) {
            entry.precursors.insert(precursor);
        }
    }

    /// Handles a route reply (RFC 3561 §6.7).
    pub(super) fn hear_reply(&mut self, now: Instant, from: NodeId, reply: &Reply) {
        let Reply { destination, origin, .. } = *reply;
        if destination == self.node {
            return;
        }
        let hops = reply.hop_count.saturating_add(1);
        let expires = now + reply.lifetime;
        let offer = RouteOffer { sequence: reply.destination_sequence, next_hop: from, hops, expires };
        if self.table.offer(now, destination, offer)
            && self.config.errors == Errors::Ns3
            && let Some(entry) = self.table.valid(now, destination)
        {
            entry.precursors.clear();
        }
        if reply.ack_required {
            self.send_to(now, from, AodvMessage::ReplyAck, 1);
        }
        if origin != self.node {
            self.pass_on(now, Reply { ack_required: false, hop_count: hops, ..*reply });
        }
    }

    fn pass_on(&mut self, now: Instant, reply: Reply) {
        let Some(next_hop) = self.table.valid(now, reply.destination).map(|entry| entry.next_hop) else { return };
        let lifetime = self.lifetime(now);
        let Some(back) = self.way_back(now, reply.origin) else { return };
        let back_hop = back.next_hop;
        back.expires = back.expires.max(lifetime);
        back.precursors.insert(next_hop);
        for (destination, precursor) in [(reply.destination, back_hop), (next_hop, back_hop), (back_hop, next_hop)] {
            self.add_precursor(now, destination, precursor);
        }
        if reply.ttl > 1 {
            self.send_reply(now, back_hop, Reply { ttl: reply.ttl - 1, ..reply });
        }
    }

    /// Handles a HELLO (RFC 3561 §6.9).
    pub(super) fn hear_hello(&mut self, now: Instant, from: NodeId, hello: &Reply) {
        self.table.meet(now, from, Some(hello.destination_sequence), now + hello.lifetime);
        self.watch(now, from);
    }
}
