//! Radio access: the changes of a link direction that are drawn or that depend on its traffic.

use crate::read::{Errors, Path};
use crate::spec::{LinkSide, TraceFormat};
use lightlag_core::{Duration, Probability, RandomStream};
use lightlag_net::{Aggregate, Loss, Ramp, Slots, StateChannel, Timetable, modulate, modulate_loss};
use std::borrow::Cow;

/// Maximum number of changes of a link direction during a run. They take 80 MB.
const MOST_CHANGES: u64 = 1_000_000;

/// Slots, states, demand-driven capacity and frames of a link direction.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkDynamics {
    /// Grid of times when the state of the link changes.
    pub slots: Option<Slots>,
    /// Channel with a good and a bad state.
    pub channel: Option<StateChannel>,
    /// Rate that follows demand.
    pub ramp: Option<Ramp>,
    /// Frames in which packets are sent.
    pub aggregate: Option<Aggregate>,
    /// End of the run.
    until: Duration,
}

impl LinkDynamics {
    /// Returns the dynamics of a direction in a run that lasts until `until`; `None` if it has none.
    pub(crate) fn of(side: &LinkSide, until: Duration) -> Option<Box<Self>> {
        let LinkSide { slots, channel, ramp, aggregate, .. } = side;
        let dynamics =
            Self { slots: slots.0.clone(), channel: channel.0.clone(), ramp: ramp.0, aggregate: aggregate.0, until };
        let is_given = slots.0.is_some() || channel.0.is_some() || ramp.0.is_some() || aggregate.0.is_some();
        is_given.then(|| Box::new(dynamics))
    }

    /// Returns the timetable of a direction, with the states drawn from `random`, by purpose.
    pub(crate) fn timetable(&self, base: &Timetable, random: impl Fn(&str) -> RandomStream) -> Timetable {
        let mut timetable = base.clone();
        if let Some(slots) = &self.slots {
            timetable = modulate(&timetable, &slots.spans(self.until, random("slots")));
        }
        if let Some(channel) = &self.channel {
            timetable = modulate(&timetable, &channel.spans(self.until, random("channel")));
        }
        timetable
    }

    /// Returns the losses of a direction, with the same states as the timetable.
    pub(crate) fn losses<'a>(&self, base: &'a Loss, random: impl Fn(&str) -> RandomStream) -> Cow<'a, Loss> {
        let mut losses = Cow::Borrowed(base);
        if let Some(slots) = self.slots.as_ref().filter(|slots| slots.loss != Probability::ZERO) {
            losses = Cow::Owned(modulate_loss(&losses, &slots.spans(self.until, random("slots"))));
        }
        if let Some(channel) = self.channel.as_ref().filter(|channel| channel.bad.loss != Probability::ZERO) {
            losses = Cow::Owned(modulate_loss(&losses, &channel.spans(self.until, random("channel"))));
        }
        losses
    }

    /// Returns true if packets can be lost because of a state.
    pub(crate) fn loses(&self) -> bool {
        self.slots.as_ref().is_some_and(|slots| slots.loss != Probability::ZERO)
            || self.channel.as_ref().is_some_and(|channel| channel.bad.loss != Probability::ZERO)
    }

    /// Returns true if the link has outages.
    pub(crate) fn has_outages(&self) -> bool {
        self.slots.as_ref().is_some_and(|slots| !slots.outage.is_zero())
    }

    /// Returns true if the fate of a packet is random.
    pub(crate) fn draws(&self) -> bool {
        self.channel.is_some() || self.slots.as_ref().is_some_and(Slots::draws)
    }
}

impl LinkSide {
    /// Returns true if slots or a channel change the rate or the delay.
    pub(crate) fn is_modulated(&self) -> bool {
        self.slots.0.is_some() || self.channel.0.is_some()
    }

    /// Reports the keys of radio access that cannot be combined with others. `push` reports an error of a key.
    pub(crate) fn check_dynamics(&self, mut push: impl FnMut(&'static str, &str)) {
        let Self { slots, channel, ramp, aggregate, .. } = self;
        let given = [
            ("slots", slots.0.is_some()),
            ("channel", channel.0.is_some()),
            ("ramp", ramp.0.is_some()),
            ("aggregate", aggregate.0.is_some()),
        ];
        let is_delivered = self.trace.0.as_ref().is_some_and(|trace| trace.format == TraceFormat::Mahimahi);
        let names_packets = self.loss.law.names_packets()
            && (slots.0.as_ref().is_some_and(|slots| slots.loss != Probability::ZERO)
                || channel.0.as_ref().is_some_and(|channel| channel.bad.loss != Probability::ZERO));
        for (key, _) in given.into_iter().filter(|(_, is_given)| *is_given) {
            let is_rate = key != "aggregate";
            if is_delivered {
                push(
                    key,
                    "cannot be combined with a trace of deliveries, which already determines each transmission; remove one",
                );
            }
            if self.fade.0.is_some() && is_rate {
                push(key, "cannot be combined with fade in the same direction; remove one");
            }
            if self.on_demand.0.is_some() && matches!(key, "ramp" | "aggregate") {
                push(
                    key,
                    "cannot be combined with on_demand, which already determines when packets are sent; remove one",
                );
            }
            if self.fec.code().is_some() && key == "aggregate" {
                push(key, "cannot be combined with fec in the same direction; add frames on the next link");
            }
            if names_packets && matches!(key, "slots" | "channel") {
                push(key, "has losses of its own and cannot be combined with losses of single packets; remove one");
            }
        }
        if ramp.0.is_some_and(|ramp| ramp.reset) && slots.0.is_none() {
            push("ramp", "has reset = true, which needs slots in the same direction; add slots, or remove reset");
        }
    }

    /// Reports the keys that cannot be combined with baseband frames.
    pub(crate) fn check_frames(&self, mut push: impl FnMut(&'static str, &str)) {
        if self.fade.0.as_ref().is_none_or(|rain| rain.frames.0.is_none()) {
            return;
        }
        let given = [
            (self.on_demand.0.is_some(), "has frames, which cannot be combined with on_demand; remove one"),
            (
                self.fec.code().is_some(),
                "has frames, which have their own code, and cannot be combined with fec; remove one",
            ),
            (self.aggregate.0.is_some(), "has frames, which cannot be combined with aggregate; remove one"),
        ];
        given.into_iter().filter(|(is_given, _)| *is_given).for_each(|(_, message)| push("fade", message));
    }

    /// Rejects a ramp outside the rate of the link.
    pub(crate) fn check_ramp(&self, path: &Path, errors: &mut Errors) {
        let idle_path = Path::Key(path, "idle");
        if let Some(message) = self.ramp.0.and_then(|ramp| ramp.refuses(self.rate))
            && !errors.any_at(&idle_path)
        {
            errors.push(idle_path, message);
        }
    }

    /// Rejects a run with too many changes of the link. `table` returns the path of the link.
    pub(crate) fn check_changes(&self, until: Duration, table: impl Fn() -> String, errors: &mut Errors) {
        let counts = [
            ("slots", self.slots.0.as_ref().map(|slots| slots.count(until))),
            ("channel", self.channel.0.as_ref().map(|channel| channel.count(until))),
        ];
        for (key, count) in counts {
            if let Some(count) = count.filter(|count| *count > MOST_CHANGES) {
                let message = format!("has {count} states in {until}, more than {MOST_CHANGES}; use longer ones");
                errors.push(format_args!("{}.{key}", table()), message);
            }
        }
    }
}
