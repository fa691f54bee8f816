//! Route errors (RFC 3561 §6.11) and local repair (§6.12).

use super::table::State;
use super::{Aodv, AodvMessage, Error, Errors, Sequence};
use crate::{PacketInfo, Receiver, Verdict};
use lightlag_core::Instant;
use lightlag_net::NodeId;
use std::collections::BTreeSet;

/// Destinations that became unreachable, and the neighbours that must be notified.
#[derive(Default)]
struct UnreachableReport {
    unreachable: Vec<(NodeId, Sequence)>,
    precursors: BTreeSet<NodeId>,
}

impl Aodv {
    /// Handles a broken link to a neighbour. The route to `kept` is about to be repaired, so it is not reported yet.
    pub(super) fn lose_link(&mut self, now: Instant, neighbour: NodeId, kept: Option<NodeId>) {
        self.neighbours.remove(neighbour);
        self.debtors.remove(neighbour);
        let mut report = UnreachableReport::default();
        for destination in self.table.over(now, neighbour) {
            self.table.invalidate(now, destination, None);
            if kept == Some(destination) {
                if let Some(entry) = self.table.entry(now, destination) {
                    entry.state = State::Repairing;
                }
            } else {
                self.outbox.broken(destination);
                self.add_to(&mut report, now, destination);
            }
        }
        report.precursors.remove(&neighbour);
        self.send_report(now, report, false);
    }

    /// Adds a broken route to a report if neighbours use the route. These neighbours then count as notified, except
    /// with the rules of ns-3.
    fn add_to(&mut self, report: &mut UnreachableReport, now: Instant, destination: NodeId) {
        let stay = self.config.errors == Errors::Ns3;
        if let Some(entry) = self.table.entry(now, destination)
            && !entry.precursors.is_empty()
        {
            report.unreachable.push((destination, entry.sequence.unwrap_or_default()));
            if stay {
                report.precursors.extend(&entry.precursors);
            } else {
                report.precursors.append(&mut entry.precursors);
            }
        }
    }

    fn send_report(&mut self, now: Instant, report: UnreachableReport, no_delete: bool) {
        let to = match report.precursors.len() {
            0 => return,
            1 => Receiver::One(*report.precursors.first().expect("there is one")),
            _ => Receiver::All,
        };
        if self.config.errors == Errors::Ns3
            && !report.precursors.iter().any(|&node| self.table.valid(now, node).is_some())
        {
            return;
        }
        for unreachable in report.unreachable.chunks(Error::MOST) {
            let is_counted = to != Receiver::All || self.config.errors == Errors::Rfc3561;
            let may_send = if is_counted { self.errors.count(now) } else { self.errors.check(now) };
            if may_send.is_err() {
                return;
            }
            let error = Error { no_delete, unreachable: unreachable.to_vec() };
            let at = self.jittered(now);
            self.outbox.send_at(at, to, crate::Message::Aodv(AodvMessage::Error(error)), 1);
        }
    }

    /// Handles a packet from the neighbour `from` for which there is no route (RFC 3561 §6.11, case ii). The neighbour
    /// is notified immediately, as in ns-3.
    pub(super) fn refuse(&mut self, now: Instant, heading: &PacketInfo, from: NodeId) -> Verdict {
        let destination = heading.destination;
        let sequence = self.table.entry(now, destination).and_then(|entry| entry.sequence).unwrap_or_default();
        let (may_send, to) = match self.config.errors {
            Errors::Rfc3561 => (self.errors.count(now), Receiver::One(from)),
            Errors::Ns3 => {
                let back = self.table.valid(now, heading.origin).map(|entry| entry.next_hop);
                (self.errors.check(now), back.map_or(Receiver::All, Receiver::One))
            }
        };
        if may_send.is_ok() {
            let error = Error { no_delete: false, unreachable: vec![(destination, sequence)] };
            match to {
                Receiver::One(neighbour) => self.send_to(now, neighbour, AodvMessage::Error(error), 1),
                Receiver::All => self.outbox.send(to, crate::Message::Aodv(AodvMessage::Error(error)), 1),
            }
        }
        Verdict::Unreachable
    }

    /// Handles a route error (RFC 3561 §6.11, case iii).
    pub(super) fn hear_error(&mut self, now: Instant, from: NodeId, error: &Error) {
        let mut report = UnreachableReport::default();
        for &(destination, sequence) in &error.unreachable {
            let again = self.config.errors == Errors::Ns3;
            let route = self.table.entry(now, destination).filter(|entry| entry.is_valid() || again);
            if route.is_none_or(|entry| entry.next_hop != from) {
                continue;
            }
            if error.no_delete {
                if let Some(entry) = self.table.entry(now, destination) {
                    report.unreachable.push((destination, sequence));
                    report.precursors.extend(&entry.precursors);
                }
            } else {
                self.table.invalidate(now, destination, Some(sequence));
                self.outbox.broken(destination);
                self.add_to(&mut report, now, destination);
            }
        }
        report.precursors.remove(&from);
        self.send_report(now, report, error.no_delete);
    }

    /// Returns true if the node may repair the route to a destination itself, after its link to `neighbour` broke:
    /// local repair is on, the route uses this neighbour, and the destination is near.
    pub(super) fn may_repair(&mut self, now: Instant, destination: NodeId, neighbour: NodeId) -> bool {
        let (most, is_wanted) = (self.config.max_repair_ttl(), self.config.local_repair);
        let is_near = |hops: u8| u32::from(hops) <= most;
        let route = self.table.valid(now, destination);
        is_wanted && route.is_some_and(|entry| entry.next_hop == neighbour && is_near(entry.hops))
    }

    /// Handles a failed repair: notifies the users of the route that it broke.
    pub(super) fn give_up_repair(&mut self, now: Instant, destination: NodeId) {
        let forgotten = now + self.config.delete_period;
        if let Some(entry) = self.table.entry(now, destination) {
            entry.state = State::Invalid;
            entry.expires = forgotten;
        }
        self.outbox.broken(destination);
        let mut report = UnreachableReport::default();
        self.add_to(&mut report, now, destination);
        self.send_report(now, report, false);
    }

    /// Notifies the users of a repaired route that is now longer, so that they can look for a better one.
    pub(super) fn tell_of_detour(&mut self, now: Instant, destination: NodeId) {
        let Some(entry) = self.table.valid(now, destination) else { return };
        let unreachable = vec![(destination, entry.sequence.unwrap_or_default())];
        let report = UnreachableReport { unreachable, precursors: entry.precursors.clone() };
        self.send_report(now, report, true);
    }
}
