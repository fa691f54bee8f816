//! How packets travel. A link moves envelopes that it never opens.
//!
//! - [`packet`]: the envelope, with a body of any type.
//! - [`link`]: queue, serialisation, errors and propagation of one direction; one pending event a link.
//! - [`loss`]: which packets arrive corrupted.
//! - [`routing`]: the next link towards a destination.

pub mod link;
pub mod loss;
pub mod packet;
pub mod routing;

pub use link::{Link, LinkConfig, QueueFull, QueueLimit};
pub use loss::{Loss, LossProcess};
pub use packet::{NodeId, Packet};
pub use routing::{Edge, LinkId, Routes};
