//! Warnings of stations that send no notifications, or whose notifications no flow uses.

use super::outage::crossed;
use super::{Found, Kind, Warning};
use crate::network::{LinkDirection, Network, SignalPlan};
use crate::spec::Scenario;
use lightlag_net::{Loss, LossPlace};
use std::collections::BTreeSet;

impl Scenario {
    /// Warns of links whose stations never send a notification, or send them only to flows that ignore them.
    pub(super) fn stations(&self, network: &Network, findings: &mut Found) {
        if network.links.iter().all(|link| link.signals.is_none()) {
            return;
        }
        let speakers = network.flows.iter().filter(|flow| flow.tcp.scps.is_some());
        let heard: BTreeSet<usize> = speakers.flat_map(|flow| crossed(network, flow)).collect();
        let mut warned = BTreeSet::new();
        for (link, directions) in network.links.chunks_exact(2).enumerate() {
            let Some(plan) = directions[0].signals else { continue };
            let name = &directions[0].name;
            let (kind, message) = if !directions.iter().any(|direction| has_news(direction, plan)) {
                let message = format!(
                    "stations at {name} have nothing to report: the link has no {}; remove signals, or add some",
                    match (plan.outage, plan.to_receiver || plan.to_sender) {
                        (true, false) => "outages (changes with down = true, a trace with a rate of 0, or rain)",
                        (false, _) => "errors after its queue (loss, or rain)",
                        (true, true) => "outages and no errors after its queue",
                    }
                );
                (Kind::SilentStations, message)
            } else if !heard.contains(&link) {
                let message = format!(
                    "no flow across {name} offers SCPS-TP, so no endpoint acts on the notifications of its stations; \
                     set tcp = {{ scps = true }}"
                );
                (Kind::UnheardStations, message)
            } else {
                continue;
            };
            let path = format!("{}.signals", self.table_of(link));
            if warned.insert(path.clone()) {
                findings.warnings.push((Warning { kind, path, message }, 0));
            }
        }
    }
}

/// Returns true if a direction can have an event that its stations report.
fn has_news(link: &LinkDirection, plan: SignalPlan) -> bool {
    let is_down = |timetable: &lightlag_net::Timetable| timetable.phases().iter().any(|phase| !phase.is_up);
    let fades = link.fade.is_some();
    let dynamics = link.dynamics.as_ref();
    let has_outages = fades
        || link.timetable.as_ref().is_some_and(is_down)
        || dynamics.is_some_and(|dynamics| dynamics.has_outages());
    let is_lossy = link.loss != Loss::None || dynamics.is_some_and(|dynamics| dynamics.loses());
    let has_errors = fades || (is_lossy && link.loss_place == LossPlace::AfterQueue);
    plan.outage && has_outages || (plan.to_receiver || plan.to_sender) && has_errors
}
