//! The ways of packets. A link moves envelopes that it never opens.
//!
//! - [`packet`]: the envelope, with a body of any type.
//! - [`link`]: queue, serialisation, errors and propagation of one direction; one pending event a link.
//! - [`queue`]: which packet leaves next, and which is dropped or marked.
//! - [`loss`]: which packets are lost, other than for want of room.
//! - [`medium`]: media that many nodes share.
//! - [`routing`]: the next link towards a destination.
//! - [`geometry`]: how far satellites are.
//! - [`fade`]: rain, and the rates that it leaves.

pub mod config;
pub mod fade;
pub mod geometry;
pub mod limit;
pub mod link;
pub mod loss;
pub mod medium;
pub mod packet;
pub mod queue;
pub mod routing;

pub use config::LinkConfig;
pub use fade::{AdaptiveLink, DVB_S2, Modcod, RainFade};
pub use geometry::{Elevation, Orbit, light_time};
pub use limit::QueueLimit;
pub use link::{
    Beam, BlockCode, ComputedLink, Deliveries, Demand, Distribution, Disturbance, FarEnd, Flight, Jitter, Link,
    LinkConstants, NO_EXIT, Normal, Outage, PacketSpares, Phase, QueueFull, QueuedLink, RatesByElevation, Reordering,
    Timetable, Uniform, Unrest, Waits,
};
pub use loss::{Dwell, GilbertElliott, Loss, LossLaw, LossPlace, LossProcess};
pub use medium::{Medium, StationId};
pub use packet::{EndpointId, NodeId, Packet, PacketFlags, TTL};
pub use routing::{Edge, Epoch, Exit, InterfaceId, LinkChange, LinkId, PackedExit, RouteTable, Routes};
