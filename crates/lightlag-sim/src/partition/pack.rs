//! Pieces of a network go into partitions, which are to have the same work and few packets between them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Pieces of a network that stay whole.
pub(super) struct Pieces {
    /// The piece of each node.
    of: Vec<usize>,
    /// Work of each, in packet-hops a second.
    work: Vec<f64>,
    /// Its neighbours, and how many packets a second pass between them.
    near: Vec<Vec<(usize, f64)>>,
}

impl Pieces {
    /// The pieces of which `names` has a name for each node. `links`: start, end and packets a second of each link direction.
    pub(super) fn new(names: &[u32], work: &[f64], links: impl Iterator<Item = (usize, usize, f64)>) -> Self {
        let numbers: BTreeMap<u32, usize> =
            names.iter().copied().collect::<BTreeSet<u32>>().into_iter().zip(0..).collect();
        let of: Vec<usize> = names.iter().map(|name| numbers[name]).collect();
        let mut sums = vec![0.0; numbers.len()];
        of.iter().zip(work).for_each(|(piece, work)| sums[*piece] += work);
        let mut between: BTreeMap<(usize, usize), f64> = BTreeMap::new();
        for (from, to, packets) in links.map(|(from, to, packets)| (of[from], of[to], packets)) {
            if from != to {
                *between.entry((from.min(to), from.max(to))).or_default() += packets;
            }
        }
        let mut near = vec![Vec::new(); numbers.len()];
        for ((one, other), packets) in between {
            near[one].push((other, packets));
            near[other].push((one, packets));
        }
        Self { of, work: sums, near }
    }

    /// The partition of each node, in two ways: with the same work, and with few packets between partitions.
    pub(super) fn packed(&self, partitions: usize) -> [Vec<u16>; 2] {
        [self.by_size(partitions), self.grown(partitions)]
            .map(|of_piece| self.of.iter().map(|at| of_piece[*at]).collect())
    }

    /// Each piece goes to the partition with the least work so far, the largest first.
    fn by_size(&self, partitions: usize) -> Vec<u16> {
        let mut order: Vec<usize> = (0..self.work.len()).collect();
        order.sort_by(|a, b| self.work[*b].total_cmp(&self.work[*a]));
        let mut sums = vec![(0.0_f64, 0_u32); partitions];
        let mut of_piece = vec![0; order.len()];
        for piece in order {
            let before = |a: &usize, b: &usize| sums[*a].0.total_cmp(&sums[*b].0).then(sums[*a].1.cmp(&sums[*b].1));
            let at = (0..partitions).min_by(before).expect("there are partitions");
            sums[at] = (sums[at].0 + self.work[piece], sums[at].1 + 1);
            of_piece[piece] = at as u16;
        }
        of_piece
    }

    /// Each partition grows from one piece, by the neighbour to which most of its packets go, until it has its share of the work.
    fn grown(&self, partitions: usize) -> Vec<u16> {
        let last = partitions as u16 - 1;
        let mut of_piece = vec![last; self.work.len()];
        let mut free: BTreeSet<usize> = (0..self.work.len()).collect();
        let mut left: f64 = self.work.iter().sum();
        for partition in 0..last {
            let share = left / f64::from(last - partition + 1);
            let mut sum = 0.0;
            // Packets a second to each neighbour that is free: those of the largest number last, of equal ones the first piece.
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

    /// So many pieces in a ring, each with one node.
    fn ring(size: usize) -> Pieces {
        let names: Vec<u32> = (0..size as u32).collect();
        Pieces::new(&names, &vec![1.0; size], (0..size).map(|at| (at, (at + 1) % size, 1.0)))
    }

    #[test]
    fn pieces_of_one_size_are_shared_out_one_by_one_or_as_neighbours() {
        let [by_size, grown] = ring(6).packed(2);
        assert_eq!(by_size, [0, 1, 0, 1, 0, 1]);
        // From the first piece to the next and, of equal neighbours, the first.
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
    fn pieces_that_no_link_joins_are_shared_out_too() {
        let pieces = Pieces::new(&[7, 7, 8, 9, 9, 10], &[1.0; 6], std::iter::empty());
        for packed in pieces.packed(2) {
            assert_eq!(packed.iter().filter(|at| **at == 0).count(), 3, "{packed:?}");
            assert_eq!((packed[0], packed[3]), (packed[1], packed[4]));
        }
    }
}
