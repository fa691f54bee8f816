//! The implementation of the traits of `lightlag-transport`.

use super::{Connection, State};
use crate::segment::Segment;
use lightlag_control::congestion::Phase;
use lightlag_control::congestion::custom::Fault;
use lightlag_core::{Codepoint, Duration, Instant};
use lightlag_transport::{Endpoint, Failure, Inspect, Snapshot, Standing, Statistics, Status, Stream};

impl Endpoint for Connection {
    type Packet = Segment;
    type Arena = ();

    #[inline]
    fn open(&mut self, now: Instant) {
        self.open(now);
    }

    #[inline]
    fn handle_packet(&mut self, now: Instant, packet: &Segment, ecn: Codepoint, (): &mut ()) {
        self.handle_packet(now, packet, ecn);
    }

    #[inline]
    fn handle_timeout(&mut self, now: Instant) {
        self.handle_timeout(now);
    }

    #[inline]
    fn poll_packet(&mut self, now: Instant, (): &mut ()) -> Option<Segment> {
        self.poll_segment(now)
    }

    #[inline]
    fn poll_timeout(&self) -> Option<Instant> {
        self.poll_timeout()
    }

    fn abort(&mut self) {
        self.abort();
    }

    fn crash(&mut self) {
        self.crash();
    }

    #[inline]
    fn prefetch(&self) {
        self.prefetch();
    }

    #[inline]
    fn prefetch_sender(&self) {
        self.prefetch_sender();
    }
}

impl Inspect for Connection {
    #[inline]
    fn status(&self) -> Status {
        match self.state() {
            State::Closed => Status::Closed,
            State::Listen => Status::Listening,
            State::SynSent | State::SynReceived => Status::Opening,
            State::Established => Status::Open,
            State::CloseWait => Status::PeerClosed,
            State::FinWait1 | State::FinWait2 | State::Closing | State::LastAck => Status::Closing,
            State::TimeWait => Status::Lingering,
        }
    }

    #[inline]
    fn failure(&self) -> Option<Failure> {
        self.failure()
    }

    fn fault(&self) -> Option<&Fault> {
        self.fault()
    }

    fn congestion(&self) -> &'static str {
        self.config().congestion.name()
    }

    fn snapshot(&self) -> Snapshot {
        self.snapshot()
    }

    #[inline]
    fn course(&self) -> (u64, u64, Phase) {
        self.course()
    }

    fn is_disordered(&self) -> bool {
        self.is_disordered()
    }

    fn statistics(&self) -> Statistics {
        self.statistics()
    }

    fn standing(&self) -> Standing {
        self.standing()
    }

    fn min_rtt(&self) -> Option<Duration> {
        self.min_rtt()
    }
}

impl Stream for Connection {
    #[inline]
    fn write(&mut self, bytes: u64) {
        self.write(bytes);
    }

    #[inline]
    fn close(&mut self) {
        self.close();
    }

    fn read_later(&mut self) {
        self.read_later();
    }

    #[inline]
    fn read(&mut self, bytes: u64) -> u64 {
        self.read(bytes)
    }

    #[inline]
    fn unread(&self) -> u64 {
        self.unread()
    }

    #[inline]
    fn until_update(&self) -> Option<u64> {
        self.until_update()
    }

    #[inline]
    fn received(&self) -> u64 {
        self.received()
    }

    #[inline]
    fn delivered(&self) -> u64 {
        self.delivered()
    }

    #[inline]
    fn held(&self) -> u64 {
        self.held()
    }

    #[inline]
    fn acknowledged(&self) -> u64 {
        self.acknowledged()
    }

    #[inline]
    fn confirmed(&self) -> u64 {
        self.confirmed()
    }

    #[inline]
    fn peer_closed(&self) -> bool {
        self.peer_closed()
    }

    #[inline]
    fn is_over(&self) -> bool {
        self.state() == State::Closed
    }

    #[inline]
    fn has_sent_everything(&self) -> bool {
        self.has_sent_everything()
    }

    #[inline]
    fn all_acknowledged(&self) -> bool {
        self.all_acknowledged()
    }
}
