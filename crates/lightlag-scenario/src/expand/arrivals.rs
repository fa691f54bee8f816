//! Flows that expand to several flows: transfers that arrive at random times, and the connections of a browser.
//!
//! Arrivals are drawn here, before the run starts, from a random stream named after the flow. No flow is created during
//! a run.

use super::layout::{Draft, MOST_FLOWS};
use crate::network::{CapturePlan, FlowRole};
use crate::read::files::Files;
use crate::read::page_file::read_page;
use crate::read::{Errors, shortened};
use lightlag_core::{Duration, RandomStream, Rate};
use lightlag_traffic::{Page, Traffic, Transfers, WebPage};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The pages of files, or the errors of files, by their names.
type Pages = BTreeMap<String, Result<Arc<WebPage>, String>>;

/// Expands flows for a run with this duration and seed.
pub(crate) struct Arrivals<'a> {
    pub(crate) seed: u64,
    pub(crate) duration: Duration,
    /// Returns the rate of the slowest link on a flow's route.
    pub(crate) slowest: &'a dyn Fn(&Draft) -> Option<Rate>,
    pub(crate) files: &'a Files,
}

impl Arrivals<'_> {
    /// Replaces each flow that stands for several flows by those flows. They are captured if the original is.
    pub(crate) fn expand(
        &self,
        drafts: Vec<Draft>,
        captures: &mut Option<CapturePlan>,
        path_of: impl Fn(&Draft) -> String,
        errors: &mut Errors,
    ) -> Vec<Draft> {
        if drafts.iter().all(|draft| !draft.is_several()) {
            return drafts;
        }
        let mut names: BTreeSet<String> = drafts.iter().map(|draft| draft.name.clone()).collect();
        let mut whole = Vec::with_capacity(drafts.len());
        let mut captured = Vec::new();
        let mut pages = Pages::new();
        for (index, draft) in drafts.into_iter().enumerate() {
            let (path, name, before) = (path_of(&draft), draft.name.clone(), whole.len());
            if let Traffic::Transfers(transfers) = &*draft.traffic.clone() {
                names.remove(&name);
                self.transfers(&draft, transfers, &mut whole);
                if whole.len() == before {
                    let message = "generates no transfer before the end of the run; make transfers more frequent, or \
                                   start earlier";
                    errors.push(format_args!("{path}.traffic"), message);
                }
            } else {
                self.connections(draft, &mut pages, &path, errors, &mut whole);
            }
            if whole.len() as u64 > MOST_FLOWS {
                let message = format!("generates more than {MOST_FLOWS} flows; generate fewer, or reduce duration");
                errors.push(format_args!("{path}.traffic"), message);
                return Vec::new();
            }
            for new in &whole[before..] {
                if new.part != FlowRole::Whole && new.part != FlowRole::Connection(0) && !names.insert(new.name.clone())
                {
                    let new = shortened(&new.name);
                    let message = format!(
                        "{new:?} is already the name of another flow, and also of a flow generated from {name:?}"
                    );
                    errors.push(format_args!("{path}.name"), message);
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

    /// Adds the transfers of a flow, in the order of their arrival.
    fn transfers(&self, draft: &Draft, transfers: &Transfers, whole: &mut Vec<Draft>) {
        let Some(mean) = self.mean_gap(draft, transfers) else { return };
        let mut random = RandomStream::new(self.seed, &format!("flow {} arrivals", draft.name));
        let end = transfers.stop.map_or(self.duration, |stop| stop.min(self.duration));
        let traffic = Arc::new(Traffic::default());
        let mut start = draft.start;
        for number in 1..=transfers.count.unwrap_or(u64::MAX) {
            start += random.exponential(mean);
            if start >= end || whole.len() as u64 > MOST_FLOWS {
                return;
            }
            let size = transfers.size.draw(&mut random);
            whole.push(Draft {
                name: format!("{}.{number}", draft.name),
                part: FlowRole::Arrival(number as u32),
                transfer: Some(size),
                traffic: traffic.clone(),
                start,
                ..draft.clone()
            });
        }
    }

    /// Returns the mean time between two transfers. The load counts only payload: mean size = load · rate · gap.
    fn mean_gap(&self, draft: &Draft, transfers: &Transfers) -> Option<Duration> {
        if transfers.every.is_some() {
            return transfers.every;
        }
        let rate = (self.slowest)(draft)?.as_bps() as f64;
        Some(Duration::from_secs_f64(transfers.size.law().mean() * 8.0 / (transfers.load? * rate)))
    }

    /// Adds the connections of a flow: a single one, unless the flow is a browser with several connections.
    fn connections(
        &self,
        mut draft: Draft,
        pages: &mut Pages,
        path: &str,
        errors: &mut Errors,
        whole: &mut Vec<Draft>,
    ) {
        let mut count = draft.traffic.connections();
        if let Traffic::Page(Page { file, http, connections, .. }) = &*draft.traffic {
            let read = || read_page(self.files, file).map(Arc::new);
            // Each file is read, and its error reported, once.
            let (page, is_new) = match pages.get(file) {
                Some(page) => (page, false),
                None => (&*pages.entry(file.clone()).or_insert_with(read), true),
            };
            match page {
                Ok(page) => {
                    count = page.connections(http.connections(*connections)).len() as u64;
                    Arc::make_mut(draft.dialogue.get_or_insert_default()).page = Some(page.clone());
                }
                Err(message) if is_new => {
                    errors.push(format_args!("{path}.traffic.file"), format!("{file}: {message}"))
                }
                Err(_) => {}
            }
        }
        if count == 1 {
            return whole.push(draft);
        }
        for number in 0..count {
            let name = if number == 0 { draft.name.clone() } else { format!("{}.{}", draft.name, number + 1) };
            whole.push(Draft { name, part: FlowRole::Connection(number as u32), ..draft.clone() });
        }
    }
}
