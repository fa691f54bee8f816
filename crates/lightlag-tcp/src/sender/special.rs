//! The state of what few senders do: pacing, measuring rates, validating the window, answering marks, and timing one
//! segment a round; behind it, that of what hardly any does. All others have an empty pointer in its place.

use super::Extra;
use super::validation::Validation;
use lightlag_control::delivery_rate::RateSampler;
use lightlag_control::pacing::Pacer;

/// The state, once there is any.
#[derive(Default)]
pub(super) struct Special(Option<Box<State>>);

#[derive(Default)]
struct State {
    pacer: Pacer,
    /// Delivery rates, for an algorithm that needs them.
    rates: Option<Box<RateSampler>>,
    /// The use of the window, if it matters (RFC 7661).
    validation: Option<Box<Validation>>,
    marks: Marks,
    /// The offset whose ACK gives the next round-trip sample, if one segment at a time is timed.
    sample_from: u64,
    extra: Option<Box<Extra>>,
}

/// The reactions to congestion marks (RFC 3168 §6.1.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Marks {
    /// No second reaction before this is acknowledged.
    pub(super) answered_until: u64,
    /// A loss below this costs nothing: a mark in the same window of data did.
    pub(super) paid_until: u64,
}

impl Special {
    fn state(&mut self) -> &mut State {
        self.0.get_or_insert_default()
    }

    /// The schedule of departures.
    #[inline(always)]
    pub(super) fn pacer(&self) -> Pacer {
        self.0.as_ref().map_or(Pacer::new(), |state| state.pacer)
    }

    /// The same, to be changed.
    #[inline]
    pub(super) fn pacer_mut(&mut self) -> &mut Pacer {
        &mut self.state().pacer
    }

    /// The same, if anything was ever scheduled.
    #[inline]
    pub(super) fn used_pacer(&mut self) -> Option<&mut Pacer> {
        Some(&mut self.0.as_mut()?.pacer)
    }

    /// Whether every ACK is looked at, for rates or to validate the window.
    #[inline(always)]
    pub(super) fn watches(&self) -> bool {
        self.0.as_ref().is_some_and(|state| state.rates.is_some() || state.validation.is_some())
    }

    /// Whether delivery rates are measured.
    #[inline(always)]
    pub(super) fn measures_rates(&self) -> bool {
        self.0.as_ref().is_some_and(|state| state.rates.is_some())
    }

    #[inline]
    pub(super) fn rates(&mut self) -> Option<&mut RateSampler> {
        self.0.as_mut()?.rates.as_deref_mut()
    }

    pub(super) fn measure_rates(&mut self, sampler: RateSampler) {
        self.state().rates = Some(Box::new(sampler));
    }

    #[inline(always)]
    pub(super) fn validation(&self) -> Option<&Validation> {
        self.0.as_ref()?.validation.as_deref()
    }

    /// The same, to be changed.
    #[inline]
    pub(super) fn validation_mut(&mut self) -> Option<&mut Validation> {
        self.0.as_mut()?.validation.as_deref_mut()
    }

    /// Validates the window by its use.
    pub(super) fn validate(&mut self) {
        self.state().validation = Some(Box::new(Validation::new()));
    }

    /// Leaves the window as it is, however it is used.
    pub(super) fn stop_validation(&mut self) {
        if let Some(state) = &mut self.0 {
            state.validation = None;
        }
    }

    /// The last reactions to marks.
    #[inline]
    pub(super) fn marks(&self) -> Marks {
        self.0.as_ref().map_or(Marks::default(), |state| state.marks)
    }

    /// The same, to be changed.
    pub(super) fn marks_mut(&mut self) -> &mut Marks {
        &mut self.state().marks
    }

    /// The offset whose ACK gives the next round-trip sample, if one segment at a time is timed; 0 before the first.
    #[inline]
    pub(super) fn sample_from(&self) -> u64 {
        self.0.as_ref().map_or(0, |state| state.sample_from)
    }

    /// The state that hardly any sender needs, if there is any.
    #[inline(always)]
    pub(super) fn extra(&self) -> Option<&Extra> {
        self.0.as_ref()?.extra.as_deref()
    }

    /// The same, to be changed.
    #[inline]
    pub(super) fn used_extra(&mut self) -> Option<&mut Extra> {
        self.0.as_mut()?.extra.as_deref_mut()
    }

    /// The same, made if there was none.
    pub(super) fn extra_mut(&mut self) -> &mut Extra {
        self.state().extra.get_or_insert_default()
    }

    pub(super) fn set_sample_from(&mut self, offset: u64) {
        self.state().sample_from = offset;
    }
}
