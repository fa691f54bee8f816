//! Route requests: the expanding ring search (RFC 3561 §6.3, §6.4), and the reply to or relaying of other nodes'
//! requests (§6.5).

use super::Aodv;
use crate::protocols::aodv::table::RouteOffer;
use crate::protocols::aodv::{AodvMessage, ReleaseOn, Request, Sequence};
use crate::{PacketInfo, Receiver, Verdict};
use lightlag_core::{Duration, Instant};
use lightlag_net::NodeId;

/// Additional delay, as in ns-3, after the second in which the limit on requests was reached.
const AFTER_LIMIT: Duration = Duration::from_micros(100);

/// The search for a route.
#[derive(Clone, Debug)]
pub(in crate::protocols::aodv) struct Search {
    /// The time to live of the last request, or of the next one if none was sent.
    ttl: u32,
    /// Number of network-wide requests so far.
    wide: u32,
    /// End of the wait for a reply or, if the limit on requests was reached, the time of the next request.
    pub(super) deadline: Instant,
    /// Whether the next request is delayed by the limit on requests.
    is_held: bool,
    /// Number of hops of the route that is being repaired; `None` if the search is not a repair.
    repaired_hops: Option<u8>,
}

impl Aodv {
    /// Starts the search for a route to a destination, unless one is in progress. The node holds the packets meanwhile.
    pub(super) fn search(&mut self, now: Instant, destination: NodeId) -> Verdict {
        if !self.searches.contains_key(&destination) {
            let diameter = self.config.net_diameter;
            // RFC 3561 §6.4: a route that was known is looked for a little beyond its length.
            let known =
                self.table.entry(now, destination).map(|entry| u32::from(entry.hops) + self.config.ttl_increment);
            let ttl = known.unwrap_or(self.config.ttl_start).min(diameter);
            self.open(now, destination, ttl, None);
        }
        Verdict::Wait
    }

    /// Requests another route to a destination whose route broke at this node (RFC 3561 §6.12).
    pub(super) fn repair(&mut self, now: Instant, heading: PacketInfo) {
        let Some(hops) = self.table.entry(now, heading.destination).map(|entry| entry.hops) else { return };
        let to_origin = self.table.valid(now, heading.origin).map_or(0, |entry| u32::from(entry.hops));
        /// LOCAL_ADD_TTL, RFC 3561 §10.
        const LOCAL_ADD_TTL: u32 = 2;
        let ttl = u32::from(hops).max(to_origin / 2) + LOCAL_ADD_TTL;
        self.open(now, heading.destination, ttl.min(self.config.net_diameter), Some(hops));
    }

    /// Returns true if the node is repairing a route that broke at this node.
    pub(super) fn is_repairing(&self, destination: NodeId) -> bool {
        self.searches.get(&destination).is_some_and(|search| search.repaired_hops.is_some())
    }

    fn open(&mut self, now: Instant, destination: NodeId, ttl: u32, repaired_hops: Option<u8>) {
        let search = Search { ttl, wide: 0, deadline: now, is_held: false, repaired_hops };
        self.searches.insert(destination, search);
        self.request(now, destination);
    }

    /// Sends the next request of a search, or delays it if the limit on requests has been reached.
    fn request(&mut self, now: Instant, destination: NodeId) {
        let known = self.table.entry(now, destination).and_then(|entry| entry.sequence);
        let net_traversal = self.config.net_traversal_time();
        let Some(search) = self.searches.get_mut(&destination) else { return };
        if let Err(next) = self.requests.count(now) {
            search.is_held = true;
            search.deadline = next + AFTER_LIMIT;
            return;
        }
        search.is_held = false;
        let wait = if search.ttl < self.config.net_diameter {
            self.config.ring_traversal_time(search.ttl)
        } else {
            search.wide += 1;
            // RFC 3561 §6.3: binary exponential backoff.
            net_traversal * (1 << (search.wide - 1))
        };
        search.deadline = now + wait;
        let ttl = search.ttl as u8;
        // RFC 3561 §6.1: a new number with each request.
        self.sequence = self.sequence.next();
        self.request = self.request.wrapping_add(1);
        self.seen.note(now, self.node, self.request, now + self.config.path_discovery_time());
        let request = Request {
            gratuitous: self.config.gratuitous_reply,
            destination_only: self.config.destination_only,
            unknown_sequence: known.is_none(),
            hop_count: 0,
            id: self.request,
            destination,
            destination_sequence: known.unwrap_or_default(),
            origin: self.node,
            origin_sequence: self.sequence,
            ttl,
        };
        self.flood(now, request);
    }

    fn flood(&mut self, now: Instant, request: Request) {
        self.last_broadcast = Some(now);
        let at = self.jittered(now);
        self.outbox.send_at(at, Receiver::All, crate::Message::Aodv(AodvMessage::Request(request)), request.ttl);
    }

    /// Continues the searches whose deadlines have been reached.
    pub(super) fn advance_searches(&mut self, now: Instant) {
        let due: Vec<NodeId> =
            self.searches.iter().filter(|(_, search)| search.deadline <= now).map(|(node, _)| *node).collect();
        for destination in due {
            self.continue_search(now, destination);
        }
    }

    fn continue_search(&mut self, now: Instant, destination: NodeId) {
        if self.searches.get(&destination).is_some_and(|search| search.is_held) {
            return self.request(now, destination);
        }
        if self.config.release_on == ReleaseOn::Reply && self.finish_search(now, destination) {
            return;
        }
        let config = &self.config;
        let Some(search) = self.searches.get_mut(&destination) else { return };
        if search.repaired_hops.is_some() {
            self.searches.remove(&destination);
            self.outbox.discard(destination);
            return self.give_up_repair(now, destination);
        }
        if search.wide >= config.rreq_retries {
            self.searches.remove(&destination);
            self.discard_waiting(destination);
            return self.outbox.discard(destination);
        }
        if search.ttl < config.net_diameter {
            let larger = search.ttl + config.ttl_increment;
            search.ttl = if larger > config.ttl_threshold { config.net_diameter } else { larger };
        }
        self.request(now, destination);
    }

    /// Ends the searches whose destinations now have a route.
    pub(super) fn finish_searches(&mut self, now: Instant) {
        if self.searches.is_empty() {
            return;
        }
        let searched: Vec<NodeId> = self.searches.keys().copied().collect();
        for destination in searched {
            self.finish_search(now, destination);
        }
    }

    /// Ends the search for a destination if it now has a route. Returns true if the search ended.
    pub(super) fn finish_search(&mut self, now: Instant, destination: NodeId) -> bool {
        let Some(hops) = self.table.valid(now, destination).map(|entry| entry.hops) else { return false };
        let Some(search) = self.searches.remove(&destination) else { return false };
        self.outbox.release(destination);
        self.send_waiting(destination);
        if search.repaired_hops.is_some_and(|before| hops > before) {
            self.tell_of_detour(now, destination);
        }
        true
    }

    /// Handles a request: RFC 3561 §6.5.
    pub(super) fn hear_request(&mut self, now: Instant, from: NodeId, request: &Request) {
        if request.origin == self.node
            || self.blacklist.contains(now, from)
            || !self.seen.note(now, request.origin, request.id, now + self.config.path_discovery_time())
        {
            return;
        }
        let request = Request { hop_count: request.hop_count.saturating_add(1), ..*request };
        self.learn_way_back(now, from, &request);
        self.watch(now, from);
        if self.config.route_messages {
            self.table.forget_sequence(now, from);
            self.table.meet(now, from, None, self.lifetime(now));
        }
        if request.destination == self.node {
            self.reply_as_destination(now, &request);
        } else if !self.answers(now, from, &request) {
            self.relay(now, from, request);
        }
    }

    fn learn_way_back(&mut self, now: Instant, from: NodeId, request: &Request) {
        let hops = request.hop_count;
        // RFC 3561 §6.5: MinimalLifetime.
        let minimal = (self.config.net_traversal_time() * 2)
            .saturating_sub(self.config.node_traversal_time * 2 * u64::from(hops));
        let expires = now + minimal;
        let offer = RouteOffer { sequence: request.origin_sequence, next_hop: from, hops, expires };
        if !self.config.revive_reverse_route && self.table.lead_back(now, request.origin, offer) {
            return;
        }
        if !self.table.offer(now, request.origin, offer) {
            self.table.extend(now, request.origin, expires);
        }
    }

    /// Returns true if the node replies to the request with its own route (RFC 3561 §6.6).
    fn answers(&mut self, now: Instant, from: NodeId, request: &Request) -> bool {
        if request.destination_only {
            return false;
        }
        let requested = (!request.unknown_sequence).then_some(request.destination_sequence);
        let Some(route) = self.table.valid(now, request.destination) else { return false };
        let is_fresh = |known: Sequence| requested.is_none_or(|asked| !asked.is_newer_than(known));
        if route.next_hop == from || !route.sequence.is_some_and(is_fresh) {
            return false;
        }
        self.reply_for_another(now, request);
        true
    }

    fn relay(&mut self, now: Instant, from: NodeId, request: Request) {
        if request.ttl < 2 {
            return;
        }
        let mut relayed = Request { ttl: request.ttl - 1, ..request };
        if let Some(entry) = self.table.entry(now, request.destination) {
            if self.config.drop_returning && entry.next_hop == from {
                return;
            }
            // RFC 3561 §6.5: the maximum sequence number known along the path travels with the request.
            if let Some(known) = entry.sequence {
                let asked = if request.unknown_sequence { known } else { request.destination_sequence };
                relayed.destination_sequence = asked.newer(known);
                relayed.unknown_sequence = false;
            }
        }
        self.flood(now, relayed);
    }
}
