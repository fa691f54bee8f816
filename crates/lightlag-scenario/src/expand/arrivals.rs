//! Flows that expand to several: transfers that arrive at random times, and the connections of a browser.
//!
//! Arrivals are drawn here, from a stream named after their flow, before a run starts: a run creates nothing.

use super::layout::{Draft, MOST_FLOWS};
use crate::network::{CapturePlan, Part};
use crate::read::{Errors, shortened};
use crate::spec::{Traffic, Transfers};
use lightlag_core::{Duration, RandomStream, Rate};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Draws the flows of a run of this length with this seed.
pub(crate) struct Arrivals<'a> {
    pub(crate) seed: u64,
    pub(crate) duration: Duration,
    /// The rate of the slowest link on a flow's route.
    pub(crate) slowest: &'a dyn Fn(&Draft) -> Option<Rate>,
}

impl Arrivals<'_> {
    /// Replaces flows that stand for several by those. Each is captured like the original.
    pub(crate) fn expand(
        &self,
        drafts: Vec<Draft>,
        captures: &mut Option<CapturePlan>,
        place: impl Fn(&Draft) -> String,
        errors: &mut Errors,
    ) -> Vec<Draft> {
        if drafts.iter().all(|draft| !draft.is_several()) {
            return drafts;
        }
        let mut names: BTreeSet<String> = drafts.iter().map(|draft| draft.name.clone()).collect();
        let mut whole = Vec::with_capacity(drafts.len());
        let mut captured = Vec::new();
        for (index, draft) in drafts.into_iter().enumerate() {
            let (at, name, before) = (place(&draft), draft.name.clone(), whole.len());
            if let Traffic::Transfers(transfers) = &*draft.traffic.clone() {
                names.remove(&name);
                self.transfers(&draft, transfers, &mut whole);
                if whole.len() == before {
                    let message =
                        "draws no transfer before the end of the run; let them come more often, or start earlier";
                    errors.push(format_args!("{at}.traffic"), message);
                }
            } else {
                connections(draft, &mut whole);
            }
            if whole.len() as u64 > MOST_FLOWS {
                let message =
                    format!("makes more than {MOST_FLOWS} flows; let fewer arrive, or take a shorter duration");
                errors.push(format_args!("{at}.traffic"), message);
                return Vec::new();
            }
            for new in &whole[before..] {
                if new.part != Part::Whole && new.part != Part::Connection(0) && !names.insert(new.name.clone()) {
                    let new = shortened(&new.name);
                    let message = format!("{new:?} names another flow already, and one of {name:?} is called so");
                    errors.push(format_args!("{at}.name"), message);
                }
            }
            if let Some(plan) = captures {
                captured.resize(whole.len(), plan.flows[index]);
            }
        }
        if let Some(plan) = captures {
            plan.flows = captured;
        }
        whole
    }

    /// The transfers of a flow, in the order of their arrival.
    fn transfers(&self, draft: &Draft, transfers: &Transfers, whole: &mut Vec<Draft>) {
        let Some(mean) = self.mean_gap(draft, transfers) else { return };
        let mut random = RandomStream::new(self.seed, &format!("flow {} arrivals", draft.name));
        let end = transfers.stop.map_or(self.duration, |stop| stop.min(self.duration));
        let traffic = Arc::new(Traffic::Bulk);
        let mut start = draft.start;
        for number in 1..=transfers.count.unwrap_or(u64::MAX) {
            start += random.exponential(mean);
            if start >= end || whole.len() as u64 > MOST_FLOWS {
                return;
            }
            let size = transfers.size.draw(&mut random);
            whole.push(Draft {
                name: format!("{}.{number}", draft.name),
                part: Part::Arrival(number),
                transfer: Some(size),
                traffic: traffic.clone(),
                start,
                ..draft.clone()
            });
        }
    }

    /// Mean time between two transfers. The load counts payload: mean size = load · rate · gap.
    fn mean_gap(&self, draft: &Draft, transfers: &Transfers) -> Option<Duration> {
        if transfers.every.is_some() {
            return transfers.every;
        }
        let rate = (self.slowest)(draft)?.as_bps() as f64;
        Some(Duration::from_secs_f64(transfers.size.law().mean() * 8.0 / (transfers.load? * rate)))
    }
}

/// The connections of a flow: one, unless a browser opens several.
fn connections(draft: Draft, whole: &mut Vec<Draft>) {
    let count = draft.traffic.connections();
    if count == 1 {
        return whole.push(draft);
    }
    for number in 0..count {
        let name = if number == 0 { draft.name.clone() } else { format!("{}.{}", draft.name, number + 1) };
        whole.push(Draft { name, part: Part::Connection(number), ..draft.clone() });
    }
}
