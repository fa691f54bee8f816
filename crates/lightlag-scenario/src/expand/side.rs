//! One direction of a line.

use crate::spec::{
    Changes, Duplication, Fade, Fec, JitterSpec, Line, LinkTrace, LossModel, OnDemand, OutageRule, Queue, Reorder,
};
use lightlag_core::{Duration, Rate};

/// The properties of one direction of a line.
pub(crate) struct Side<'a> {
    pub(crate) rate: Rate,
    pub(crate) delay: Duration,
    pub(crate) jitter: JitterSpec,
    pub(crate) queue: &'a Queue,
    pub(crate) loss: &'a LossModel,
    pub(crate) fec: Fec,
    pub(crate) reorder: Reorder,
    pub(crate) duplicate: Duplication,
    pub(crate) changes: &'a Changes,
    pub(crate) trace: &'a LinkTrace,
    pub(crate) outage: OutageRule,
    pub(crate) fade: Fade,
    pub(crate) on_demand: OnDemand,
}

impl Line {
    /// The direction from the first node to the second.
    pub(crate) fn forward(&self) -> Side<'_> {
        Side {
            rate: self.rate.forward,
            delay: self.delay.forward,
            jitter: self.jitter.forward,
            queue: &self.queue.forward,
            loss: &self.loss.forward,
            fec: self.fec.forward,
            reorder: self.reorder.forward,
            duplicate: self.duplicate.forward,
            changes: &self.changes.forward,
            trace: &self.trace.forward,
            outage: self.outage.forward,
            fade: self.fade.forward,
            on_demand: self.on_demand.forward,
        }
    }

    /// The direction from the second node to the first.
    pub(crate) fn backward(&self) -> Side<'_> {
        Side {
            rate: self.rate.backward,
            delay: self.delay.backward,
            jitter: self.jitter.backward,
            queue: &self.queue.backward,
            loss: &self.loss.backward,
            fec: self.fec.backward,
            reorder: self.reorder.backward,
            duplicate: self.duplicate.backward,
            changes: &self.changes.backward,
            trace: &self.trace.backward,
            outage: self.outage.backward,
            fade: self.fade.backward,
            on_demand: self.on_demand.backward,
        }
    }
}
