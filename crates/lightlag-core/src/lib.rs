//! The engine of lightlag. Its only networking types are the ECN field and the code point, which queues and transports
//! share.
//!
//! - [`time`]: [`Instant`] and [`Duration`], in integer nanoseconds.
//! - [`units`]: [`Bytes`], [`Rate`], [`Probability`], distances and more, parsed from and printed as text.
//! - [`events`]: [`EventQueue`], one pending entry per entity, in the order (time, entity).
//! - [`random`]: [`RandomStream`], one independent stream per named part of a run.
//! - [`law`]: [`Law`], the distribution of sizes, times and counts.
//! - [`schema`]: schemas with descriptions.
//! - [`varied`]: [`Varied`], a size, time or count in a scenario, fixed or random.
//! - [`pool`]: [`Pool`], threads that share work.
//! - [`mod@prefetch`]: [`prefetch()`], which fetches memory before it is needed.
//! - [`ring`]: [`Ring`], a queue whose slots are reused.
//! - [`histogram`]: [`Histogram`], counts of numbers in bins whose width grows with the number.
//! - [`ecn`]: [`Codepoint`], the ECN field of the IP header.
//! - [`dscp`]: [`Dscp`], the differentiated services code point, in the same byte.
//! - [`wide`]: products of 128 bits.
//! - [`windows`]: [`Windows`], windows of time that repeat or are listed.
//! - [`params`]: parameters of models, declared once, and registries of models.
//! - [`custom`]: custom algorithms, as referred to by a scenario.

pub mod custom;
pub mod dscp;
pub mod ecn;
pub mod events;
pub mod histogram;
pub mod law;
pub mod params;
pub mod pool;
pub mod prefetch;
pub mod random;
pub mod ring;
pub mod schema;
pub mod time;
pub mod units;
pub mod varied;
pub mod wide;
pub mod windows;

pub use dscp::Dscp;
pub use ecn::Codepoint;
pub use events::{Entity, EventQueue};
pub use histogram::{Bin, Histogram};
pub use law::Law;
pub use pool::{Backoff, Pool, Wait, evenly};
pub use prefetch::{prefetch, prefetch_bytes, prefetch_value};
pub use random::RandomStream;
pub use ring::{FreeList, Ring};
pub use time::{Duration, Instant};
pub use units::{Angle, Bytes, Decibels, Distance, Probability, Rate, SymbolRate, Unit, UnitError};
pub use varied::{Quantity, Varied};
pub use windows::{Window, Windows};
