//! Records the completion of flows in a partitioned run, in the order of the events.

use crate::border::event_key::EventKey;
use crate::border::{Happened, What};
use crate::hosts::{Ending, FlowOutcome, Hosts, Outcomes};
use crate::ids::FlowIndex;
use crate::partition::Partition;
use lightlag_net::EndpointId;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Outcomes of flows for all partitions. In a world that is not partitioned, [`Hosts`] stores them.
#[derive(Clone)]
pub(crate) struct CompletionLog {
    pub(crate) outcomes: Outcomes,
    pub(crate) endings: BTreeMap<EndpointId, Ending>,
    pub(crate) open_transfers: usize,
    /// For each flow, whether the run waits for it.
    pub(crate) awaited: Vec<bool>,
}

/// Error: the account of a sender is needed, but no partition has recorded it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Unknown;

impl CompletionLog {
    pub(crate) fn new(hosts: &Hosts) -> Self {
        Self {
            outcomes: hosts.outcomes.clone(),
            endings: hosts.endings.clone(),
            open_transfers: hosts.open_transfers,
            awaited: (0..hosts.outcomes.flows() as u32).map(|flow| hosts.awaits(FlowIndex(flow))).collect(),
        }
    }

    /// Applies the flow events that the partitions recorded in a round.
    pub(crate) fn enter(&mut self, partitions: &mut [Partition]) -> Result<(), Unknown> {
        let mut happened: Vec<Happened> =
            partitions.iter_mut().flat_map(|world| std::mem::take(&mut world.border.happened)).collect();
        // Stable: what happens in one event stays in its order.
        happened.sort_by_key(|happened| happened.at);
        for Happened { at, what, accounts } in happened {
            let account = |sender: EndpointId| {
                let known = accounts.iter().find(|(of, _)| *of == sender).map(|(_, ending)| ending.clone());
                // A failure may come before everything was sent.
                let is_late = !matches!(what, What::Fails { .. });
                known.or_else(|| is_late.then(|| account_at(partitions, sender, at)).flatten())
            };
            self.apply(&partitions[0].hosts, at, what, account)?;
        }
        partitions.iter_mut().for_each(|world| world.border.standings.clear());
        Ok(())
    }

    fn apply(
        &mut self,
        hosts: &Hosts,
        key: EventKey,
        what: What,
        account: impl Fn(EndpointId) -> Option<Ending>,
    ) -> Result<(), Unknown> {
        match what {
            What::TransferArrives { flow } => {
                if self.close(flow) {
                    self.outcomes.set(flow, FlowOutcome::Finished(key.time));
                    self.end(hosts.last_sender(flow), account)?;
                }
            }
            What::FlowArrives { flow } => {
                self.outcomes.set(flow, FlowOutcome::Finished(key.time));
                self.end(hosts.last_sender(flow), account)?;
            }
            What::Closes { flow } => _ = self.close(flow),
            What::SenderEnds { sender } => self.end(sender, account)?,
            What::Fails { flow, failure } => {
                if self.outcomes.of(flow) == FlowOutcome::Unfinished {
                    self.outcomes.set(flow, FlowOutcome::Failed(failure));
                    for sender in hosts.senders_of(flow) {
                        self.end(sender, &account)?;
                    }
                    self.close(flow);
                }
            }
        }
        Ok(())
    }

    /// Records that the run no longer waits for this flow. Returns true if it waited before.
    fn close(&mut self, flow: FlowIndex) -> bool {
        let was_awaited = std::mem::take(&mut self.awaited[flow.index()]);
        self.open_transfers -= usize::from(was_awaited);
        was_awaited
    }

    fn end(&mut self, sender: EndpointId, account: impl Fn(EndpointId) -> Option<Ending>) -> Result<(), Unknown> {
        if let Entry::Vacant(place) = self.endings.entry(sender) {
            place.insert(account(sender).ok_or(Unknown)?);
        }
        Ok(())
    }
}

/// Returns the account of a sender at the time of an event in another partition, in the last round. `None` if the
/// sender has not sent all its data.
fn account_at(partitions: &[Partition], sender: EndpointId, key: EventKey) -> Option<Ending> {
    let world = &partitions[usize::from(partitions[0].border.cut.endpoint(sender))];
    let socket = world.hosts.socket(sender);
    if !socket.stream().has_sent_everything() {
        return None;
    }
    let next = world.border.standings.iter().find(|(moment, of, _)| *of == sender && *moment > key);
    let standing = next.map_or_else(|| socket.inspect().standing(), |(_, _, standing)| *standing);
    Some(Ending::new(key.time, &standing))
}
