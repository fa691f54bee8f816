//! The link directions of a network, and the round-trip times of the flows that cross them.

use super::layout::{Layout, Wire};
use super::timetable::{Traces, steady};
use crate::network::{LinkDirection, LinkProperties, SignalPlan};
use crate::read::Errors;
use crate::read::files::Files;
use crate::spec::{CorruptionSignals, LinkSide, SignalSpec, Signals};
use lightlag_core::Duration;
use lightlag_net::{Edge, LinkId, NodeId, RouteTable};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// Maximum total number of links on the paths of all flows. With more, the preparation would take longer than the run.
const MOST_STEPS: usize = 200_000_000;

/// Default minimum of `recent`: a sender is notified of an outage if it has sent data within this time.
const RECENT: Duration = Duration::from_secs(60);

/// Delay of a medium in route tables. A path over links is preferred if its delay is shorter.
const ON_AIR: Duration = Duration::from_millis(1);

/// Delay of the constellation in route tables. A path on the ground is preferred if its delay is shorter.
const IN_SPACE: Duration = Duration::from_millis(50);

/// Returns the edges for routing: both directions of every link, followed by the edges from each node to its media, and
/// back.
pub(crate) fn edges(layout: &Layout) -> Vec<Edge> {
    let both = |wire: &Wire| {
        let [a, b] = wire.ends;
        let delay = |side: &LinkSide| side.delay.0;
        [
            Edge { from: a, to: b, delay: delay(&wire.line.forward) },
            Edge { from: b, to: a, delay: delay(&wire.line.backward) },
        ]
    };
    let mut edges: Vec<Edge> = layout.wires.iter().flat_map(both).collect();
    let space = layout.space.as_ref();
    edges.extend(
        space
            .iter()
            .flat_map(|space| space.stations.iter().map(|from| Edge { from: *from, to: space.hub, delay: IN_SPACE })),
    );
    let hub = |medium: usize| NodeId((layout.nodes.names.len() + medium) as u32);
    let members =
        || layout.media.iter().enumerate().flat_map(|(at, medium)| medium.nodes().map(move |node| (node, at)));
    edges.extend(members().map(|(from, medium)| Edge { from, to: hub(medium), delay: ON_AIR }));
    edges.extend(members().map(|(to, medium)| Edge { from: hub(medium), to, delay: Duration::ZERO }));
    edges.extend(
        space
            .iter()
            .flat_map(|space| space.stations.iter().map(|to| Edge { from: space.hub, to: *to, delay: Duration::ZERO })),
    );
    edges
}

/// Returns the minimum time that a bit takes to cross each link direction: the propagation delay, and the wait for a
/// grant.
fn least_delays(layout: &Layout) -> Vec<Duration> {
    layout.wires.iter().flat_map(|wire| [wire.line.forward.least_delay(), wire.line.backward.least_delay()]).collect()
}

/// Returns, for each link direction, the longest round-trip time (propagation and grants) of the flows whose data or
/// ACKs cross it; zero if no flow crosses it.
pub(crate) fn round_trips(layout: &Layout, routes: &RouteTable, errors: &mut Errors) -> Vec<Duration> {
    let min_delays = least_delays(layout);
    let mut longest = vec![Duration::ZERO; min_delays.len()];
    let mut steps = 0;
    let pairs: BTreeSet<(u32, u32)> = layout.drafts.iter().map(|draft| (draft.from.0, draft.to.0)).collect();
    for (from, to) in pairs {
        let mut way = routes.path(NodeId(from), NodeId(to)).unwrap_or_default();
        way.extend(routes.path(NodeId(to), NodeId(from)).unwrap_or_default());
        steps += way.len();
        if steps > MOST_STEPS {
            errors.push(
                "flows",
                format!("their paths have more than {MOST_STEPS} links in total; use fewer flows or hops"),
            );
            break;
        }
        let delay = |total: Duration, link: &LinkId| total + min_delays[link.0 as usize];
        let round_trip = way.iter().fold(Duration::ZERO, delay);
        for link in way {
            let longest = &mut longest[link.0 as usize];
            *longest = round_trip.max(*longest);
        }
    }
    longest
}

/// Cache of the properties of the most recent link directions.
#[derive(Default)]
pub(crate) struct Shared(VecDeque<Arc<LinkProperties>>);

impl Shared {
    /// Number of different properties that can alternate in a generated network.
    const KINDS: usize = 8;

    /// Returns these properties, shared with an earlier direction that has equal ones.
    pub(crate) fn of(&mut self, properties: LinkProperties) -> Arc<LinkProperties> {
        if let Some(known) = self.0.iter().find(|known| ***known == properties) {
            return known.clone();
        }
        self.0.truncate(Self::KINDS - 1);
        let new = Arc::new(properties);
        self.0.push_front(new.clone());
        new
    }
}

/// Returns both directions of all wired links.
pub(crate) fn links(
    layout: &Layout,
    round_trips: &[Duration],
    until: Duration,
    files: &Files,
    table_of: impl Fn(usize) -> String,
    errors: &mut Errors,
) -> Vec<LinkDirection> {
    let mut links = Vec::with_capacity(2 * layout.wires.len());
    let (mut traces, mut shared) = (Traces::of(files), Shared::default());
    for (index, (wire, crossing)) in layout.wires.iter().zip(round_trips.chunks_exact(2)).enumerate() {
        let line = wire.line;
        let [a, b] = wire.ends;
        let directions = [(a, b, &line.forward), (b, a, &line.backward)];
        let signals = line.signals.plan(crossing[0].max(crossing[1]));
        for ((from, to, side), crossing) in directions.into_iter().zip(crossing) {
            let round_trip = if crossing.is_zero() { side.delay.0 * 2 } else { *crossing };
            side.fade.check_steps(until, || format!("{}.fade.step", table_of(index)), errors);
            let (timetable, loss) = traces.direction(side, side.loss.model(), until, || table_of(index), errors);
            side.check_changes(until, || table_of(index), errors);
            let is_changing = side.jitter.0.is_some() || side.is_modulated();
            let timetable = timetable.or_else(|| is_changing.then(|| steady(side)));
            let properties = shared
                .of(LinkProperties { signals, ..LinkProperties::of(line, side, round_trip, until, (timetable, loss)) });
            let name = format!("{}->{}", layout.nodes.name(from), layout.nodes.name(to));
            links.push(LinkDirection { name, from, to, properties });
        }
    }
    links
}

impl Signals {
    /// Returns the plan for notifications from the stations on a link with this longest round-trip time.
    pub(crate) fn plan(self, round_trip: Duration) -> Option<SignalPlan> {
        use CorruptionSignals::{Both, Receiver, Sender};
        let SignalSpec { outage, corruption, recent, interval } = self.0?;
        Some(SignalPlan {
            outage,
            to_receiver: matches!(corruption, Receiver | Both),
            to_sender: matches!(corruption, Sender | Both),
            recent: recent.unwrap_or(round_trip.max(RECENT)),
            interval,
        })
    }
}
