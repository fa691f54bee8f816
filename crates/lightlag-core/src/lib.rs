//! The engine of lightlag. It knows only one word of networks, the ECN field, which queues and transports share.
//!
//! - [`time`]: [`Instant`] and [`Duration`], whole nanoseconds.
//! - [`units`]: [`Bytes`], [`Rate`], [`Probability`], distances and more, parsed from and printed as text.
//! - [`events`]: [`EventQueue`], one pending entry per entity, in the order (time, entity).
//! - [`random`]: [`RandomStream`], one independent stream per named part of a run.
//! - [`law`]: [`Law`], the distribution of sizes, times and counts.
//! - [`pool`]: [`Pool`], threads that share work.
//! - [`mod@prefetch`]: [`prefetch()`], which fetches memory before it is needed.
//! - [`ring`]: [`Ring`], a queue whose places are used again.
//! - [`ecn`]: [`Codepoint`], the ECN field of the IP header.
//! - [`dscp`]: [`Dscp`], the code point of differentiated services beside it.
//! - [`params`]: parameters of models, declared once, and registries of models.
//! - [`own`]: algorithms of users, as a scenario names them.

pub mod dscp;
pub mod ecn;
pub mod events;
pub mod law;
pub mod own;
pub mod params;
pub mod pool;
pub mod prefetch;
pub mod random;
pub mod ring;
pub mod time;
pub mod units;

pub use dscp::Dscp;
pub use ecn::Codepoint;
pub use events::{Entity, EventQueue};
pub use law::Law;
pub use pool::{Patience, Pool, Wait, evenly};
pub use prefetch::{prefetch, prefetch_bytes, prefetch_value};
pub use random::RandomStream;
pub use ring::{Ring, Spares};
pub use time::{Duration, Instant};
pub use units::{Angle, Bytes, Decibels, Distance, Probability, Rate, SymbolRate, Unit, UnitError};
