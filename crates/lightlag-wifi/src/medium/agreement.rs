//! Block acknowledgement agreements that stations negotiate, as in ns-3 (IEEE 802.11-2020 §10.25.2).
//!
//! A station with two packets for a receiver sends an ADDBA request. The receiver acknowledges it and sends a response
//! in a separate exchange. Until the response arrives, or 1 ms after the acknowledgement, packets for the receiver
//! wait. Without a response they are sent with ordinary acknowledgements, and the request is repeated after 200 ms.
//! When a packet is dropped under an agreement, the sender notifies the receiver with a block acknowledgement request.
//! Until then, the receiver delivers no later packet.

use super::frame::Peer;
use lightlag_core::{Duration, Instant};
use lightlag_net::StationId;
use std::collections::VecDeque;

/// Maximum time between the acknowledgement of a request and its response (ns-3, `AddBaResponseTimeout`).
const RESPONSE_TIMEOUT: Duration = Duration::from_millis(1);
/// Time after a missing response during which no further request is sent (ns-3, `FailedAddBaTimeout`).
const PAUSE: Duration = Duration::from_millis(200);

/// Bytes of an ADDBA request or response (§9.6.4.2, §9.6.4.3), with its header and frame check sequence.
pub(super) const ACTION_SIZE: u32 = 37;

/// The state of an agreement at the sender of packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AgreementState {
    /// The request is in transit if the time is `None`. Otherwise it was acknowledged, and the response must arrive by
    /// this time.
    Pending(Option<Instant>),
    /// No response arrived. The next request may be sent at this time.
    Refused(Instant),
    Accepted,
}

/// The state of an agreement at the receiver of packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Grant {
    /// The response has not been acknowledged. Contains the first sequence number under the agreement.
    Pending(u64),
    Confirmed,
}

/// A management frame that is waiting or being sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PendingAction {
    pub(super) to: Peer,
    /// Index of the frame at its station.
    pub(super) number: u64,
    pub(super) content: Content,
    came: Instant,
    /// Number of failed attempts.
    pub(super) tries: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Content {
    /// A request, with the first sequence number under the agreement.
    Request(u64),
    Response,
}

/// The block acknowledgement state of a station, and its management frames.
#[derive(Clone, Debug)]
pub(super) struct Agreements {
    lifetime: Duration,
    tries: u32,
    offers: Vec<(Peer, AgreementState)>,
    grants: Vec<(Peer, Grant)>,
    actions: VecDeque<PendingAction>,
    sent: u64,
    /// The index of the last management frame from each sender, to recognise retransmissions.
    heard: Vec<(StationId, u64)>,
    /// Receivers for which the last block acknowledgement request failed. It is repeated only while packets for them
    /// are waiting.
    failed_requests: Vec<Peer>,
}

impl Agreements {
    pub(super) fn new(lifetime: Duration, tries: u32) -> Self {
        Self {
            lifetime,
            tries,
            offers: Vec::new(),
            grants: Vec::new(),
            actions: VecDeque::new(),
            sent: 0,
            heard: Vec::new(),
            failed_requests: Vec::new(),
        }
    }

    fn offer(&self, to: Peer) -> Option<AgreementState> {
        self.offers.iter().find(|(of, _)| *of == to).map(|(_, offer)| *offer)
    }

    fn set_offer(&mut self, to: Peer, offer: AgreementState) {
        match self.offers.iter_mut().find(|(of, _)| *of == to) {
            Some((_, known)) => *known = offer,
            None => self.offers.push((to, offer)),
        }
    }

    fn set_grant(&mut self, from: Peer, grant: Grant) {
        match self.grants.iter_mut().find(|(of, _)| *of == from) {
            Some((_, known)) => *known = grant,
            None => self.grants.push((from, grant)),
        }
    }

    /// Returns true if packets for a receiver have to wait for its response.
    pub(super) fn is_blocked(&self, to: Peer) -> bool {
        matches!(self.offer(to), Some(AgreementState::Pending(_)))
    }

    /// Returns true if the receiver has accepted an agreement.
    pub(super) fn is_accepted(&self, to: Peer) -> bool {
        self.offer(to) == Some(AgreementState::Accepted)
    }

    /// Returns true if this station has an agreement with the sender `from` that has taken effect.
    pub(super) fn is_confirmed(&self, from: Peer) -> bool {
        self.grants.contains(&(from, Grant::Confirmed))
    }

    /// Returns true if a request to this receiver may be sent.
    pub(super) fn may_request(&self, to: Peer, now: Instant) -> bool {
        match self.offer(to) {
            None => true,
            Some(AgreementState::Refused(until)) => until <= now,
            Some(AgreementState::Pending(_) | AgreementState::Accepted) => false,
        }
    }

    /// Queues a request for an agreement whose first sequence number is `first`.
    pub(super) fn request(&mut self, now: Instant, to: Peer, first: u64) {
        self.set_offer(to, AgreementState::Pending(None));
        self.push(now, to, Content::Request(first));
    }

    fn push(&mut self, now: Instant, to: Peer, content: Content) {
        self.sent += 1;
        self.actions.push_back(PendingAction { to, number: self.sent, content, came: now, tries: 0 });
    }

    /// Returns the management frame of a class that is being sent, or is next.
    pub(super) fn action(&self, class: usize) -> Option<PendingAction> {
        self.actions.iter().find(|action| action.to.class == class).copied()
    }

    fn take(&mut self, class: usize) -> Option<PendingAction> {
        let place = self.actions.iter().position(|action| action.to.class == class)?;
        self.actions.remove(place)
    }

    /// Records that the management frame of a class was acknowledged. If it was a response, returns the station that
    /// had sent the request.
    pub(super) fn acknowledged(&mut self, now: Instant, class: usize) -> Option<Peer> {
        let PendingAction { to, content, .. } = self.take(class)?;
        if content == Content::Response {
            return Some(to);
        }
        if self.is_blocked(to) {
            self.set_offer(to, AgreementState::Pending(Some(now + RESPONSE_TIMEOUT)));
        }
        None
    }

    /// Records that a sender of packets has received the response. If this makes the agreement take effect, returns the
    /// first sequence number under it.
    pub(super) fn confirm(&mut self, from: Peer) -> Option<u64> {
        let first = self.grants.iter().find_map(|(of, grant)| match grant {
            Grant::Pending(first) if *of == from => Some(*first),
            _ => None,
        })?;
        self.set_grant(from, Grant::Confirmed);
        Some(first)
    }

    /// Records that the acknowledgement of a management frame did not arrive. Returns the receiver if that was the last
    /// attempt.
    pub(super) fn unacknowledged(&mut self, now: Instant, class: usize) -> Option<Peer> {
        let tries = self.tries;
        let action = self.actions.iter_mut().find(|action| action.to.class == class)?;
        action.tries += 1;
        if action.tries < tries {
            return None;
        }
        let to = action.to;
        self.take(class);
        if self.is_blocked(to) {
            self.set_offer(to, AgreementState::Refused(now + PAUSE));
        }
        Some(to)
    }

    /// Removes a management frame that has waited too long, and returns its receiver. As in ns-3, an expired request
    /// leaves the agreement pending for ever.
    pub(super) fn pop_expired(&mut self, now: Instant) -> Option<Peer> {
        let place = self.actions.iter().position(|action| action.came + self.lifetime < now)?;
        self.actions.remove(place).map(|action| action.to)
    }

    /// Returns the earliest time when an expected response is late.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let deadline =
            |(_, offer): &(Peer, AgreementState)| if let AgreementState::Pending(by) = offer { *by } else { None };
        self.offers.iter().filter_map(deadline).min()
    }

    /// Abandons the wait for a response that is late. Returns the receiver that should have sent it.
    pub(super) fn pop_late(&mut self, now: Instant) -> Option<Peer> {
        let is_late = |offer: &AgreementState| matches!(offer, AgreementState::Pending(Some(by)) if *by <= now);
        let (to, offer) = self.offers.iter_mut().find(|(_, offer)| is_late(offer))?;
        *offer = AgreementState::Refused(now + PAUSE);
        Some(*to)
    }

    /// Records a received management frame. Returns false if it is a retransmission.
    pub(super) fn hear(&mut self, from: StationId, number: u64) -> bool {
        match self.heard.iter_mut().find(|(of, _)| *of == from) {
            Some((_, last)) if *last == number => return false,
            Some((_, last)) => *last = number,
            None => self.heard.push((from, number)),
        }
        true
    }

    /// Handles a request: queues the response, and drops an earlier response to the same station.
    pub(super) fn hear_request(&mut self, now: Instant, from: Peer, first: u64) {
        self.set_grant(from, Grant::Pending(first));
        self.actions.retain(|action| action.to != from || action.content != Content::Response);
        self.push(now, from, Content::Response);
    }

    /// Handles a response, which accepts the agreement.
    pub(super) fn hear_response(&mut self, from: Peer) {
        self.set_offer(from, AgreementState::Accepted);
    }

    /// Records that a block acknowledgement request to this receiver failed.
    pub(super) fn request_failed(&mut self, to: Peer) {
        if !self.has_failed(to) {
            self.failed_requests.push(to);
        }
    }

    /// Records that a block acknowledgement request to this receiver is new, or has received its reply.
    pub(super) fn request_renewed(&mut self, to: Peer) {
        self.failed_requests.retain(|of| *of != to);
    }

    /// Returns true if the last block acknowledgement request to this receiver failed.
    pub(super) fn has_failed(&self, to: Peer) -> bool {
        self.failed_requests.contains(&to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEER: Peer = Peer { station: StationId(1), class: 0 };

    fn at(micros: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(micros)
    }

    #[test]
    fn packets_wait_for_the_response_for_a_millisecond_and_requests_pause_for_200() {
        let mut agreements = Agreements::new(Duration::from_millis(500), 7);
        assert!(agreements.may_request(PEER, at(0)));
        agreements.request(at(0), PEER, 1);
        assert!(agreements.is_blocked(PEER));
        assert_eq!(agreements.deadline(), None);
        assert_eq!(agreements.acknowledged(at(300), 0), None);
        assert_eq!(agreements.deadline(), Some(at(1_300)));
        assert_eq!(agreements.pop_late(at(1_299)), None);
        assert_eq!(agreements.pop_late(at(1_300)), Some(PEER));
        assert!(!agreements.is_blocked(PEER) && !agreements.is_accepted(PEER));
        assert!(!agreements.may_request(PEER, at(201_299)));
        assert!(agreements.may_request(PEER, at(201_300)));
        // A late response counts.
        agreements.hear_response(PEER);
        assert!(agreements.is_accepted(PEER) && !agreements.may_request(PEER, at(300_000)));
    }

    #[test]
    fn an_agreement_holds_at_the_receiver_once_its_response_is_acknowledged() {
        let mut agreements = Agreements::new(Duration::from_millis(500), 7);
        agreements.hear_request(at(0), PEER, 4);
        assert!(agreements.hear(StationId(1), 9) && !agreements.hear(StationId(1), 9));
        assert!(!agreements.is_confirmed(PEER));
        assert_eq!(agreements.acknowledged(at(200), 0), Some(PEER));
        assert_eq!(agreements.confirm(PEER), Some(4));
        assert!(agreements.is_confirmed(PEER));
        assert_eq!(agreements.confirm(PEER), None);
    }

    #[test]
    fn a_request_is_dropped_after_its_attempts_and_one_that_expires_blocks_for_ever() {
        let mut agreements = Agreements::new(Duration::from_millis(500), 2);
        agreements.request(at(0), PEER, 1);
        assert_eq!(agreements.unacknowledged(at(100), 0), None);
        assert_eq!(agreements.unacknowledged(at(200), 0), Some(PEER));
        assert!(!agreements.is_blocked(PEER));
        agreements.request(at(300_000), PEER, 1);
        assert_eq!(agreements.pop_expired(at(800_000)), None);
        assert_eq!(agreements.pop_expired(at(800_001)), Some(PEER));
        assert!(agreements.is_blocked(PEER));
        assert_eq!(agreements.deadline(), None);
    }
}
