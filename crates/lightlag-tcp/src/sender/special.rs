//! State that few senders need: pacing, measurement of delivery rates, window validation, reductions after marks, and
//! timing of one segment per round trip. A further pointer leads to state that hardly any sender needs. All other
//! senders have a null pointer instead.

use super::RareState;
use super::validation::Validation;
use lightlag_control::delivery_rate::RateSampler;
use lightlag_control::pacing::Pacer;

/// The state; `None` until it is needed.
#[derive(Default)]
pub(super) struct Special(Option<Box<State>>);

#[derive(Default)]
struct State {
    pacer: Pacer,
    /// Sampler of delivery rates; `None` unless the algorithm needs rates.
    rates: Option<Box<RateSampler>>,
    /// State of window validation (RFC 7661); `None` if it is not used.
    validation: Option<Box<Validation>>,
    marks: MarkReductions,
    /// If one segment at a time is timed, the offset whose acknowledgement gives the next round-trip sample.
    sample_from: u64,
    extra: Option<Box<RareState>>,
}

/// State of window reductions after congestion marks (RFC 3168 §6.1.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct MarkReductions {
    /// Offset that must be acknowledged before a mark reduces the window again.
    pub(super) answered_until: u64,
    /// A loss below this offset does not reduce the window, because a mark in the same window of data already did.
    pub(super) paid_until: u64,
}

impl Special {
    fn state(&mut self) -> &mut State {
        self.0.get_or_insert_default()
    }

    /// Returns a copy of the pacer.
    #[inline(always)]
    pub(super) fn pacer(&self) -> Pacer {
        self.0.as_ref().map_or(Pacer::new(), |state| state.pacer)
    }

    /// Returns the pacer, and creates it if there is none.
    #[inline]
    pub(super) fn pacer_mut(&mut self) -> &mut Pacer {
        &mut self.state().pacer
    }

    /// Returns the pacer, if it was ever used.
    #[inline]
    pub(super) fn used_pacer(&mut self) -> Option<&mut Pacer> {
        Some(&mut self.0.as_mut()?.pacer)
    }

    /// Returns true if every ACK must be inspected, to measure rates or to validate the window.
    #[inline(always)]
    pub(super) fn watches(&self) -> bool {
        self.0.as_ref().is_some_and(|state| state.rates.is_some() || state.validation.is_some())
    }

    /// Returns true if delivery rates are measured.
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

    /// Returns the state of window validation, if it is used.
    #[inline]
    pub(super) fn validation_mut(&mut self) -> Option<&mut Validation> {
        self.0.as_mut()?.validation.as_deref_mut()
    }

    /// Starts window validation (RFC 7661).
    pub(super) fn validate(&mut self) {
        self.state().validation = Some(Box::new(Validation::new()));
    }

    /// Stops window validation: the window no longer depends on how far it is used.
    pub(super) fn stop_validation(&mut self) {
        if let Some(state) = &mut self.0 {
            state.validation = None;
        }
    }

    /// Returns a copy of the state of reductions after marks.
    #[inline]
    pub(super) fn marks(&self) -> MarkReductions {
        self.0.as_ref().map_or(MarkReductions::default(), |state| state.marks)
    }

    /// Returns the state of reductions after marks, and creates it if there is none.
    pub(super) fn marks_mut(&mut self) -> &mut MarkReductions {
        &mut self.state().marks
    }

    /// Returns the offset whose acknowledgement gives the next round-trip sample, if one segment at a time is timed; 0
    /// if no segment is being timed.
    #[inline]
    pub(super) fn sample_from(&self) -> u64 {
        self.0.as_ref().map_or(0, |state| state.sample_from)
    }

    /// Returns the state that hardly any sender needs, if there is any.
    #[inline(always)]
    pub(super) fn extra(&self) -> Option<&RareState> {
        self.0.as_ref()?.extra.as_deref()
    }

    /// Returns mutable access to the state that hardly any sender needs, if there is any.
    #[inline]
    pub(super) fn used_extra(&mut self) -> Option<&mut RareState> {
        self.0.as_mut()?.extra.as_deref_mut()
    }

    /// Returns mutable access to the state that hardly any sender needs, and creates it if there is none.
    pub(super) fn extra_mut(&mut self) -> &mut RareState {
        self.state().extra.get_or_insert_default()
    }

    pub(super) fn set_sample_from(&mut self, offset: u64) {
        self.state().sample_from = offset;
    }
}
