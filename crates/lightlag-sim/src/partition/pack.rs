//! Packs the connected components of a network into partitions that have equal work and exchange few packets.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// 2³² divided by the golden ratio. Its multiples modulo 2³² are spread evenly.
const GOLDEN: u32 = 0x9E37_79B9;

/// Components of a network. None of them is cut.
pub(super) struct Pieces {
    /// Component of each node.
    of: Vec<usize>,
    /// Work of each component, in packet-hops per second.
    work: Vec<f64>,
    /// Neighbours of each component, with the packets per second between them.
    near: Vec<Vec<(usize, f64)>>,
}

impl Pieces {
    /// Returns the components. `names` identifies the component of each node, and `links` has the start, the end and
    /// the packets per second of each link direction.
    pub(super) fn new(names: &[u32], work: &[f64], links: impl Iterator<Item = (usize, usize, f64)>) -> Self {
        let numbers: BTreeMap<u32, usize> =
            names.iter().copied().collect::<BTreeSet<u32>>().into_iter().zip(0..).collect();
        let piece_of: Vec<usize> = names.iter().map(|name| numbers[name]).collect();
        let mut sums = vec![0.0; numbers.len()];
        piece_of.iter().zip(work).for_each(|(piece, work)| sums[*piece] += work);
        let mut between: BTreeMap<(usize, usize), f64> = BTreeMap::new();
        for (from, to, packets) in links.map(|(from, to, packets)| (piece_of[from], piece_of[to], packets)) {
            if from != to {
                *between.entry((from.min(to), from.max(to))).or_default() += packets;
            }
        }
        let mut near = vec![Vec::new(); numbers.len()];
        for ((one, other), packets) in between {
            near[one].push((other, packets));
            near[other].push((one, packets));
        }
        Self { of: piece_of, work: sums, near }
    }

    /// Returns two assignments of nodes to partitions: one that balances the work, and one with few packets between the
    /// partitions.
    pub(super) fn packed(&self, partitions: usize) -> [Vec<u16>; 2] {
        [self.by_size(partitions), self.grown(partitions)]
            .map(|of_piece| self.of.iter().map(|at| of_piece[*at]).collect())
    }

    /// Returns the lane of each node, after lanes with little work have taken components from others. `homes` is the
    /// partition of each node. Initially each partition belongs to the lane with the same index. `event` is the time in
    /// seconds per packet-hop; `crossing` is the time for a packet between two partitions, on each side.
    pub(super) fn shared_out(&self, homes: &[u16], lanes: usize, event: f64, crossing: f64) -> Vec<u16> {
        let mut home = vec![0; self.work.len()];
        self.of.iter().zip(homes).for_each(|(piece, of_node)| home[*piece] = *of_node);
        let mut lane: Vec<u16> = home.clone();
        let mut loads = vec![0.0; lanes];
        for piece in 0..self.work.len() {
            let out = self.near[piece].iter().filter(|(other, _)| home[*other] != home[piece]);
            let out: f64 = out.map(|(_, packets)| packets).sum();
            loads[usize::from(home[piece])] += self.work[piece] * event + out * crossing;
        }
        // The most loosely connected components of each partition move first: they are last in the order. Equally loose
        // ones move from all over the network, because neighbours in a list may differ from the others: flows that
        // start first send the most.
        let scattered = |piece: usize| (piece as u32).wrapping_mul(GOLDEN);
        let tie = |piece: usize| {
            let inside = self.near[piece].iter().filter(|(other, _)| home[*other] == home[piece]);
            inside.map(|(_, packets)| packets).sum::<f64>() / self.work[piece].max(f64::MIN_POSITIVE)
        };
        let mut order: Vec<(f64, usize)> = (0..self.work.len()).map(|piece| (tie(piece), piece)).collect();
        order.sort_by(|one, other| other.0.total_cmp(&one.0).then(scattered(one.1).cmp(&scattered(other.1))));
        let mut movable: Vec<Vec<usize>> = vec![Vec::new(); lanes];
        order.into_iter().for_each(|(_, piece)| movable[usize::from(home[piece])].push(piece));
        loop {
            let by_load = |one: &usize, other: &usize| loads[*one].total_cmp(&loads[*other]);
            let (Some(from), Some(to)) = ((0..lanes).max_by(by_load), (0..lanes).min_by(by_load)) else { break };
            let Some(piece) = movable[from].pop() else { break };
            let mut after = loads.clone();
            let work = self.work[piece] * event;
            after[from] -= work;
            after[to] += work;
            for (other, packets) in &self.near[piece] {
                let there = usize::from(lane[*other]);
                let (cost, is_sibling) = (packets * crossing, home[*other] == home[piece]);
                let (was_whole, is_whole) = (is_sibling && there == from, is_sibling && there == to);
                if !was_whole {
                    after[from] -= cost;
                    after[there] -= cost;
                }
                if !is_whole {
                    after[to] += cost;
                    after[there] += cost;
                }
            }
            if after[from].max(after[to]) >= loads[from] {
                break;
            }
            (lane[piece], loads) = (to as u16, after);
        }
        self.of.iter().map(|piece| lane[*piece]).collect()
    }

    /// Assigns the components to partitions by decreasing work, each to the partition that has the least work so far.
    fn by_size(&self, partitions: usize) -> Vec<u16> {
        let mut order: Vec<usize> = (0..self.work.len()).collect();
        order.sort_by(|a, b| self.work[*b].total_cmp(&self.work[*a]));
        let mut sums = vec![(0.0_f64, 0_u32); partitions];
        let mut of_piece = vec![0; order.len()];
        for piece in order {
            let before = |a: &usize, b: &usize| sums[*a].0.total_cmp(&sums[*b].0).then(sums[*a].1.cmp(&sums[*b].1));
            let partition = (0..partitions).min_by(before).expect("there are partitions");
            sums[partition] = (sums[partition].0 + self.work[piece], sums[partition].1 + 1);
            of_piece[piece] = partition as u16;
        }
        of_piece
    }

    /// Grows each partition from one component until it has the same fraction of the work as the others. In each step
    /// it takes the neighbour with the highest packet rate to the partition.
    fn grown(&self, partitions: usize) -> Vec<u16> {
        let last = partitions as u16 - 1;
        let mut of_piece = vec![last; self.work.len()];
        let mut free: BTreeSet<usize> = (0..self.work.len()).collect();
        let mut left: f64 = self.work.iter().sum();
        for partition in 0..last {
            let share = left / f64::from(last - partition + 1);
            let mut sum = 0.0;
            // Packets per second to each free neighbour, in ascending order; for equal numbers, the first component is
            // last.
            let mut packets: BTreeMap<usize, f64> = BTreeMap::new();
            let mut neighbours: BTreeSet<(u64, Reverse<usize>)> = BTreeSet::new();
            while let Some(piece) =
                neighbours.pop_last().map(|(_, Reverse(piece))| piece).or_else(|| free.first().copied())
            {
                let work = self.work[piece];
                if sum > 0.0 && sum + work - share > share - sum {
                    break;
                }
                sum += work;
                of_piece[piece] = partition;
                free.remove(&piece);
                for (other, more) in self.near[piece].iter().filter(|(other, _)| free.contains(other)) {
                    let known = packets.entry(*other).or_default();
                    // The bits of positive numbers have their order.
                    neighbours.remove(&(known.to_bits(), Reverse(*other)));
                    *known += more;
                    neighbours.insert((known.to_bits(), Reverse(*other)));
                }
            }
            left -= sum;
        }
        of_piece
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns `size` components in a ring, each with one node.
    fn ring(size: usize) -> Pieces {
        let names: Vec<u32> = (0..size as u32).collect();
        Pieces::new(&names, &vec![1.0; size], (0..size).map(|at| (at, (at + 1) % size, 1.0)))
    }

    #[test]
    fn parts_of_one_size_are_assigned_one_by_one_or_as_neighbours() {
        let [by_size, grown] = ring(6).packed(2);
        assert_eq!(by_size, [0, 1, 0, 1, 0, 1]);
        // From the first component to the next and, for equal neighbours, the first.
        assert_eq!(grown, [0, 0, 0, 1, 1, 1]);
        assert_eq!(ring(7).packed(3)[1], [0, 0, 1, 1, 1, 2, 2]);
    }

    #[test]
    fn a_partition_grows_along_its_busiest_link() {
        let links = [(0, 1, 1.0), (0, 2, 5.0), (2, 3, 5.0), (1, 3, 1.0)];
        let pieces = Pieces::new(&[0, 1, 2, 3], &[1.0; 4], links.into_iter());
        assert_eq!(pieces.packed(2)[1], [0, 1, 0, 1]);
    }

    #[test]
    fn unconnected_parts_are_also_assigned() {
        let pieces = Pieces::new(&[7, 7, 8, 9, 9, 10], &[1.0; 6], std::iter::empty());
        for packed in pieces.packed(2) {
            assert_eq!(packed.iter().filter(|at| **at == 0).count(), 3, "{packed:?}");
            assert_eq!((packed[0], packed[3]), (packed[1], packed[4]));
        }
    }

    /// Returns a star: a gateway with ten hosts, which have most of the work, and a second gateway.
    fn star() -> Pieces {
        let names: Vec<u32> = (0..12).collect();
        let work = [vec![2.0], vec![1.0; 10], vec![6.0]].concat();
        let links = (1..11).map(|host| (0, host, 1.0)).chain([(0, 11, 10.0)]);
        Pieces::new(&names, &work, links)
    }

    #[test]
    fn a_lane_with_little_work_takes_over_hosts_of_the_other() {
        let homes = [vec![0; 11], vec![1]].concat();
        let lanes = star().shared_out(&homes, 2, 1.0, 0.0);
        // 12 and 6 become 9 and 9, and the gateways stay.
        assert_eq!(lanes.iter().filter(|lane| **lane == 1).count(), 4, "{lanes:?}");
        assert_eq!((lanes[0], lanes[11]), (0, 1));
        assert_ne!(lanes[1..4], [1, 1, 1], "they come from all over the network");
        // A packet over a border costs as much as the work of its host: there is no gain.
        assert_eq!(star().shared_out(&homes, 2, 1.0, 1.0), homes);
    }

    #[test]
    fn workers_without_a_partition_also_get_work() {
        let homes = [vec![0; 11], vec![1]].concat();
        let lanes = star().shared_out(&homes, 4, 1.0, 0.0);
        let size = |lane| lanes.iter().filter(|of| **of == lane).count();
        assert!(size(2) >= 3 && size(3) >= 3, "{lanes:?}");
    }
}
