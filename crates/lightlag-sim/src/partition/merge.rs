//! Merges the tables of all partitions, in the order of the events.

use crate::border::Mark;
use crate::border::event_key::{EventKey, PartitionTurn};
use crate::ids::FlowIndex;
use crate::partition::Partition;
use crate::tap::record::{Acks, DeliveryProgress, Drops, QueueSamples, Trace};
use std::ops::Range;

/// The merged tables of a run.
#[derive(Default)]
pub(crate) struct Tables {
    pub(crate) trace: Trace,
    pub(crate) queue: QueueSamples,
    pub(crate) drops: Drops,
    pub(crate) acks: Acks,
    /// Progress of each flow whose receiver is in another partition than one of its senders; `None` for other flows.
    progress: Vec<Option<DeliveryProgress>>,
}

/// Index of a partition, and the rows of an event in each of its tables.
type PartitionRows = (usize, [Range<usize>; 4]);

/// An entry that a partition recorded in a round.
enum RoundNote {
    /// Progress of a flow.
    Progress(FlowIndex, DeliveryProgress),
    /// Rows of an event in the tables of a partition.
    Rows(PartitionRows),
}

type Worlds = [Partition];

impl Tables {
    /// Returns empty tables.
    pub(crate) fn new(worlds: &Worlds) -> Self {
        let world = &worlds[0];
        let followed = |flow: FlowIndex| {
            let is_tcp = world.hosts.numbers.datagrams(flow).is_none();
            (is_tcp && world.border.cut.is_followed(world.hosts.numbers.receiver(flow))).then(DeliveryProgress::default)
        };
        Self {
            progress: (0..world.hosts.outcomes.flows() as u32).map(FlowIndex).map(followed).collect(),
            ..Self::default()
        }
    }

    /// Appends the rows that the partitions recorded in a round.
    pub(crate) fn take(&mut self, worlds: &mut Worlds) {
        if worlds.iter().all(|world| world.border.marks.is_empty() && world.border.progress.is_empty()) {
            return;
        }
        // At a moment rows come after the progress that they show.
        let mut entries: Vec<(EventKey, Option<PartitionTurn>, RoundNote)> = Vec::new();
        for (number, world) in worlds.iter_mut().enumerate() {
            let part = &mut world.border;
            let progress =
                part.progress.drain(..).map(|(at, flow, progress)| (at, None, RoundNote::Progress(flow, progress)));
            entries.extend(progress);
            let mut before = [0; 4];
            for Mark { at, turn, rows } in part.marks.drain(..) {
                let ranges = std::array::from_fn(|table| before[table]..rows[table]);
                entries.push((at, Some(turn), RoundNote::Rows((number, ranges))));
                before = rows;
            }
        }
        entries.sort_by_key(|(at, turn, _)| (*at, *turn));
        let mut entries = entries.into_iter().peekable();
        let mut samples = Vec::new();
        while let Some((time, turn, entry)) = entries.next() {
            match entry {
                RoundNote::Progress(flow, progress) => self.progress[flow.index()] = Some(progress),
                RoundNote::Rows(rows) if turn == Some(PartitionTurn::Sample) => samples.push(rows),
                RoundNote::Rows(rows) => self.append(worlds, &rows),
            }
            if !samples.is_empty() && entries.peek().is_none_or(|(next, ..)| *next != time) {
                self.append_sample(worlds, &samples);
                samples.clear();
            }
        }
        for world in worlds {
            let recorder = &mut world.recorder;
            recorder.trace.clear();
            recorder.queue.clear();
            recorder.drops.clear();
            recorder.acks.clear();
        }
    }

    /// Appends the rows of an event in one partition.
    fn append(&mut self, worlds: &Worlds, (number, [trace, queue, drops, acks]): &PartitionRows) {
        let recorder = &worlds[*number].recorder;
        self.append_trace(&recorder.trace, trace.clone());
        self.queue.append(&recorder.queue, queue.clone());
        self.drops.append(&recorder.drops, drops.clone());
        self.acks.append(&recorder.acks, acks.clone());
    }

    /// Appends the rows of a sample, which all partitions take at the same time. The rows are sorted by sender and by
    /// link.
    fn append_sample(&mut self, worlds: &Worlds, together: &[PartitionRows]) {
        let mut senders = Vec::new();
        let mut links = Vec::new();
        let numbers = &worlds[0].hosts.numbers;
        for (number, [trace, queue, ..]) in together {
            let recorder = &worlds[*number].recorder;
            // Senders of flows come before senders of proxies, in the order of their endpoints: TCP, then QUIC.
            let sender = |row: usize| {
                let (flow, leg) = (recorder.trace.flow[row], recorder.trace.leg.get(row).copied().unwrap_or(1));
                let place = if leg > 1 { flow } else { numbers.sender(FlowIndex(flow)).0 };
                (leg > 1, place, leg)
            };
            senders.extend(trace.clone().map(|row| (sender(row), *number, row)));
            links.extend(queue.clone().map(|row| (recorder.queue.link.get(row), *number, row)));
        }
        senders.sort_unstable();
        links.sort_unstable();
        for (_, number, row) in senders {
            self.append_trace(&worlds[number].recorder.trace, row..row + 1);
        }
        for (_, number, row) in links {
            self.queue.append(&worlds[number].recorder.queue, row..row + 1);
        }
    }

    fn append_trace(&mut self, from: &Trace, rows: Range<usize>) {
        let first = self.trace.rows();
        self.trace.append(from, rows);
        for row in first..self.trace.rows() {
            if let Some(progress) = self.progress[self.trace.flow[row] as usize] {
                self.trace.delivered_bytes[row] = progress.delivered;
                self.trace.arrived_bytes[row] = progress.arrived;
            }
        }
    }
}
