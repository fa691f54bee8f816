//! A network in partitions: which part of it is where.

use crate::ids::UdpIndex;
use lightlag_core::Duration;
use lightlag_net::{EndpointId, LinkId};

/// Partitions that no link joins never hear of each other.
pub(crate) const FOREVER: Duration = Duration::from_secs(3_600);

/// Windows of a round at most: so the end of a round costs them little, and a run is asked often enough whether it goes on.
const WINDOWS: u64 = 64;

/// A network in partitions.
#[derive(Clone, Debug)]
pub struct Cut {
    /// The partition of each node.
    pub(crate) nodes: Vec<u16>,
    /// Start and end of each link direction.
    pub(crate) links: Vec<[u16; 2]>,
    /// Where its queue is.
    pub(crate) stands: Vec<u16>,
    /// The partition of each end of a connection, and of the two ends of each flow of UDP.
    pub(crate) endpoints: Vec<u16>,
    pub(crate) datagrams: Vec<[u16; 2]>,
    /// Senders whose data may end in another partition.
    pub(crate) ends_elsewhere: Vec<bool>,
    /// Receivers of flows with a sender in another partition.
    pub(crate) is_followed: Vec<bool>,
    /// The lane of each partition. Those of a lane are neighbours, and the one that others wait for soonest comes first.
    pub(crate) lanes: Vec<u16>,
    /// Of each partition, those from which links lead there, and the least time that a packet spends on such a link.
    pub(crate) sources: Vec<Vec<(u16, Duration)>>,
    /// The least of these times.
    pub(crate) window: Duration,
    /// Work of each partition, in packet-hops a second.
    pub(crate) work: Vec<f64>,
    /// Packets a second that come to each partition and leave it.
    pub(crate) crossing: Vec<f64>,
}

impl Cut {
    /// Number of partitions.
    pub fn partitions(&self) -> usize {
        self.lanes.len()
    }

    /// Number of lanes: that many threads have work.
    pub fn lanes(&self) -> usize {
        self.lanes.last().map_or(0, |lane| usize::from(*lane) + 1)
    }

    /// Partitions of each lane.
    pub(crate) fn lane_sizes(&self) -> Vec<usize> {
        (0..self.lanes()).map(|lane| (0..self.partitions()).filter(|of| self.lane(*of) == lane).count()).collect()
    }

    /// The lane of a partition.
    pub fn lane(&self, partition: usize) -> usize {
        usize::from(self.lanes[partition])
    }

    /// The least time between two partitions: none hears of another before.
    pub fn window(&self) -> Duration {
        self.window
    }

    /// The time after which all threads meet: the longest between two partitions, and 64 windows at most.
    pub fn round(&self) -> Duration {
        let longest = self.sources.iter().flatten().map(|(_, least)| (*least).min(FOREVER)).max();
        longest.unwrap_or(FOREVER).min(self.window * WINDOWS)
    }

    /// The partitions from which links lead to this one, and the least time that a packet spends on such a link.
    pub(crate) fn sources(&self, partition: u16) -> impl Iterator<Item = (u16, Duration)> + '_ {
        self.sources[usize::from(partition)].iter().copied()
    }

    /// The partition of each node.
    pub fn nodes(&self) -> &[u16] {
        &self.nodes
    }

    /// The expected work of each partition, as a share of all.
    pub fn shares(&self) -> Vec<f64> {
        let all: f64 = self.work.iter().sum();
        self.work.iter().map(|work| work / all.max(f64::MIN_POSITIVE)).collect()
    }

    /// The link directions that are cut.
    pub fn links(&self) -> impl Iterator<Item = LinkId> + '_ {
        (0..).zip(&self.links).filter(|(_, [from, to])| from != to).map(|(link, _)| LinkId(link))
    }

    #[inline]
    pub(crate) fn link(&self, on: LinkId) -> [u16; 2] {
        self.links[on.0 as usize]
    }

    /// Start and end of the part of the world with this number, if it is a link.
    pub(crate) fn link_at(&self, entity: u32) -> Option<[u16; 2]> {
        self.links.get(entity as usize).copied()
    }

    /// The partition in which a link has its queue: at its start, or at its end if it computes its departures. That one need not
    /// know at once what is offered to it.
    pub(crate) fn stands(&self, on: LinkId) -> u16 {
        self.stands[on.0 as usize]
    }

    /// Of each link, the partition in which it stands, if it begins in this one and stands elsewhere.
    pub(crate) fn exits(&self, number: u16) -> Vec<Option<u16>> {
        let exit = |([from, _], stands): (&[u16; 2], &u16)| (*from == number && *stands != number).then_some(*stands);
        self.links.iter().zip(&self.stands).map(exit).collect()
    }

    #[inline]
    pub(crate) fn endpoint(&self, at: EndpointId) -> u16 {
        self.endpoints[at.index()]
    }

    pub(crate) fn datagrams(&self, flow: UdpIndex) -> [u16; 2] {
        self.datagrams[flow.index()]
    }

    #[inline]
    pub(crate) fn ends_elsewhere(&self, at: EndpointId) -> bool {
        self.ends_elsewhere[at.index()]
    }

    #[inline]
    pub(crate) fn is_followed(&self, at: EndpointId) -> bool {
        self.is_followed[at.index()]
    }
}
