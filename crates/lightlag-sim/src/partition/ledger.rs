//! Ends of the flows of a run in partitions, in the order of the events.

use crate::border::moment::Moment;
use crate::border::{Happened, What};
use crate::hosts::{Ending, Hosts, Outcome, Outcomes};
use crate::ids::FlowIndex;
use crate::partition::Partition;
use lightlag_net::EndpointId;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The outcomes of flows, which [`Hosts`] keeps in a world by itself, for all partitions together.
#[derive(Clone)]
pub(crate) struct Ledger {
    pub(crate) outcomes: Outcomes,
    pub(crate) endings: BTreeMap<EndpointId, Ending>,
    pub(crate) open_transfers: usize,
    /// Whether the run waits for each flow.
    pub(crate) awaited: Vec<bool>,
}

/// An account that no partition has kept is needed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Unknown;

impl Ledger {
    pub(crate) fn new(hosts: &Hosts) -> Self {
        Self {
            outcomes: hosts.outcomes.clone(),
            endings: hosts.endings.clone(),
            open_transfers: hosts.open_transfers,
            awaited: (0..hosts.outcomes.flows() as u32).map(|flow| hosts.awaits(FlowIndex(flow))).collect(),
        }
    }

    /// Enters what has happened in a round.
    pub(crate) fn enter(&mut self, partitions: &mut [Partition]) -> Result<(), Unknown> {
        let mut happened: Vec<Happened> =
            partitions.iter_mut().flat_map(|world| std::mem::take(&mut world.border.happened)).collect();
        // Stable: what happens in one event stays in its order.
        happened.sort_by_key(|happened| happened.at);
        for Happened { at, what, accounts } in happened {
            let account = |sender: EndpointId| {
                let known = accounts.iter().find(|(of, _)| *of == sender).map(|(_, ending)| *ending);
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
        at: Moment,
        what: What,
        account: impl Fn(EndpointId) -> Option<Ending>,
    ) -> Result<(), Unknown> {
        match what {
            What::TransferArrives { flow } => {
                if self.close(flow) {
                    self.outcomes.set(flow, Outcome::Finished(at.time));
                    self.end(hosts.last_sender(flow), account)?;
                }
            }
            What::FlowArrives { flow } => {
                self.outcomes.set(flow, Outcome::Finished(at.time));
                self.end(hosts.last_sender(flow), account)?;
            }
            What::Closes { flow } => _ = self.close(flow),
            What::SenderEnds { sender } => self.end(sender, account)?,
            What::Fails { flow, failure } => {
                if self.outcomes.of(flow) == Outcome::Unfinished {
                    self.outcomes.set(flow, Outcome::Failed(failure));
                    for sender in hosts.senders_of(flow) {
                        self.end(sender, &account)?;
                    }
                    self.close(flow);
                }
            }
        }
        Ok(())
    }

    /// The run waits for this flow no more. Returns whether it did.
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

/// The account of a sender at an event of another partition in the last round. It is known only of senders that had sent
/// everything before.
fn account_at(partitions: &[Partition], sender: EndpointId, at: Moment) -> Option<Ending> {
    let world = &partitions[usize::from(partitions[0].border.cut.endpoint(sender))];
    let socket = world.hosts.socket(sender);
    if !socket.stream().has_sent_everything() {
        return None;
    }
    let next = world.border.standings.iter().find(|(moment, of, _)| *of == sender && *moment > at);
    let standing = next.map_or_else(|| socket.inspect().standing(), |(_, _, standing)| *standing);
    let (limited, mean_cwnd_segments) = (standing.limited(at.time), standing.mean_cwnd_segments(at.time));
    Some(Ending { at: at.time, limited, mean_cwnd_segments })
}
