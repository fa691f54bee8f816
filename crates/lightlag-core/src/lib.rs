//! The engine of lightlag. It has never heard of a network.
//!
//! - [`time`]: [`Instant`] and [`Duration`], whole nanoseconds.
//! - [`units`]: [`Bytes`], [`Rate`], [`Probability`], distances and more, parsed from and printed as text.
//! - [`events`]: [`EventQueue`], one pending entry per entity, in the order (time, entity).
//! - [`random`]: [`RandomStream`], one independent stream per named part of a run.
//! - [`law`]: [`Law`], how sizes, times and counts are distributed.

pub mod events;
pub mod law;
pub mod random;
pub mod time;
pub mod units;

pub use events::{Entity, EventQueue};
pub use law::Law;
pub use random::RandomStream;
pub use time::{Duration, Instant};
pub use units::{Angle, Bytes, Decibels, Distance, Probability, Rate, SymbolRate, UnitError};
