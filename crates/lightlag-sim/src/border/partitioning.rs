//! Assignment of a network to partitions.

use crate::ids::UdpIndex;
use lightlag_core::Duration;
use lightlag_net::{EndpointId, LinkId};

/// Length of a window if there are no links between partitions.
pub(crate) const FOREVER: Duration = Duration::from_secs(3_600);

/// Maximum number of windows per round: enough to make the synchronisation after a round cheap, and few enough to check
/// often whether the run continues.
const WINDOWS: u64 = 64;

/// A network that is divided into partitions.
#[derive(Clone, Debug)]
pub struct Partitioning {
    /// Partition of each node.
    pub(crate) nodes: Vec<u16>,
    /// Partitions of the start and the end of each link direction.
    pub(crate) links: Vec<[u16; 2]>,
    /// Partition that simulates the queue of each link direction.
    pub(crate) stands: Vec<u16>,
    /// Partition of each endpoint of a connection. Then the partitions of both endpoints of each UDP flow.
    pub(crate) endpoints: Vec<u16>,
    pub(crate) datagrams: Vec<[u16; 2]>,
    /// For each sender, whether its data may be received in another partition.
    pub(crate) ends_elsewhere: Vec<bool>,
    /// For each receiver, whether its flow has a sender in another partition.
    pub(crate) is_followed: Vec<bool>,
    /// Lane of each partition. The partitions of a lane have adjacent indices, starting with the one that other
    /// partitions wait for soonest.
    pub(crate) lanes: Vec<u16>,
    /// For each partition, the partitions that have links to it, with the minimum time that a packet spends on such a
    /// link.
    pub(crate) sources: Vec<Vec<(u16, Duration)>>,
    /// Length of a window: the minimum time that a packet spends on a link between two partitions.
    pub(crate) window: Duration,
    /// Expected work of each partition, in packet-hops per second.
    pub(crate) work: Vec<f64>,
    /// Expected packets per second into and out of each partition.
    pub(crate) crossing: Vec<f64>,
}

impl Partitioning {
    /// Returns the number of partitions.
    pub fn partitions(&self) -> usize {
        self.lanes.len()
    }

    /// Returns the number of lanes, which is the maximum number of threads with work.
    pub fn lanes(&self) -> usize {
        self.lanes.last().map_or(0, |lane| usize::from(*lane) + 1)
    }

    /// Returns the number of partitions of each lane.
    pub(crate) fn lane_sizes(&self) -> Vec<usize> {
        (0..self.lanes()).map(|lane| (0..self.partitions()).filter(|of| self.lane(*of) == lane).count()).collect()
    }

    /// Returns the lane of a partition.
    pub fn lane(&self, partition: usize) -> usize {
        usize::from(self.lanes[partition])
    }

    /// Returns the length of a window, which is the minimum time that a packet takes between two partitions.
    pub fn window(&self) -> Duration {
        self.window
    }

    /// Returns the length of a round. It is the maximum delay between two partitions, limited to 64 windows; all
    /// threads synchronise when it ends.
    pub fn round(&self) -> Duration {
        let longest = self.sources.iter().flatten().map(|(_, least)| (*least).min(FOREVER)).max();
        longest.unwrap_or(FOREVER).min(self.window * WINDOWS)
    }

    /// Returns the partitions that have links to this one, with the minimum time that a packet spends on such a link.
    pub(crate) fn sources(&self, partition: u16) -> impl Iterator<Item = (u16, Duration)> + '_ {
        self.sources[usize::from(partition)].iter().copied()
    }

    /// Returns the partition of each node.
    pub fn nodes(&self) -> &[u16] {
        &self.nodes
    }

    /// Returns the expected work of each partition as a fraction of the total.
    pub fn shares(&self) -> Vec<f64> {
        let all: f64 = self.work.iter().sum();
        self.work.iter().map(|work| work / all.max(f64::MIN_POSITIVE)).collect()
    }

    /// Returns the link directions that lead from one partition to another.
    pub fn links(&self) -> impl Iterator<Item = LinkId> + '_ {
        (0..).zip(&self.links).filter(|(_, [from, to])| from != to).map(|(link, _)| LinkId(link))
    }

    #[inline]
    pub(crate) fn link(&self, on: LinkId) -> [u16; 2] {
        self.links[on.0 as usize]
    }

    /// Returns the partitions of the start and the end of a link; `None` if the entity is not a link.
    pub(crate) fn link_at(&self, entity: u32) -> Option<[u16; 2]> {
        self.links.get(entity as usize).copied()
    }

    /// Returns the partition that simulates the queue of a link: the one at its start, or the one at its end if the
    /// link computes its departures. In that case the queue may receive offered packets later.
    pub(crate) fn stands(&self, on: LinkId) -> u16 {
        self.stands[on.0 as usize]
    }

    /// Returns, for each link that starts in partition `number` and is simulated by another one, the partition that
    /// simulates it; `None` for all other links.
    pub(crate) fn exits(&self, number: u16) -> Vec<Option<u16>> {
        let exit = |([from, _], stands): (&[u16; 2], &u16)| (*from == number && *stands != number).then_some(*stands);
        self.links.iter().zip(&self.stands).map(exit).collect()
    }

    #[inline]
    pub(crate) fn endpoint(&self, endpoint_id: EndpointId) -> u16 {
        self.endpoints[endpoint_id.index()]
    }

    pub(crate) fn datagrams(&self, flow: UdpIndex) -> [u16; 2] {
        self.datagrams[flow.index()]
    }

    #[inline]
    pub(crate) fn ends_elsewhere(&self, endpoint: EndpointId) -> bool {
        self.ends_elsewhere[endpoint.index()]
    }

    #[inline]
    pub(crate) fn is_followed(&self, endpoint: EndpointId) -> bool {
        self.is_followed[endpoint.index()]
    }
}
