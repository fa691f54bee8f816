//! Links, queues, losses and routes of a packet network. A link moves packets whose bodies it never reads.
//!
//! - [`packet`]: packets, with a body of any type.
//! - [`link`]: queue, serialisation, errors and propagation of one direction; one pending event per link.
//! - [`queue`]: queue disciplines, which select, drop or mark packets.
//! - [`loss`]: packet loss other than queue overflow.
//! - [`medium`]: media that many nodes share.
//! - [`routing`]: the next link towards a destination.
//! - [`geometry`]: distances of satellites.
//! - [`fade`]: rain, and the resulting rates.
//! - [`frame`]: sizes of frames.
//! - [`resequencer`]: units that a receiver keeps after a lost one.

pub mod config;
pub mod fade;
pub mod frame;
pub mod geometry;
pub mod limit;
pub mod link;
pub mod loss;
pub mod medium;
pub mod packet;
pub mod queue;
pub mod resequencer;
pub mod routing;

pub use config::LinkConfig;
pub use fade::{
    Adaptation, Adapted, AdaptiveLink, DVB_S2, Modcod, ModcodTable, PowerControl, RainFade, first_out_of_order,
    frontier,
};
pub use frame::FrameFormat;
pub use geometry::{Elevation, Orbit, light_time};
pub use limit::QueueLimit;
pub use link::{
    Aggregate, BasebandFrames, Beam, BlockCode, ComputedLink, Deliveries, Demand, Distribution, Disturbance, FarEnd,
    Flight, FrameTotals, Jitter, Link, LinkConstants, LinkModel, NO_EXIT, Normal, Outage, PacketSpares, Phase, Policer,
    QueueFull, QueuedLink, RadioState, Ramp, RatesByElevation, Reordering, Slots, Span, StateChannel, Timetable,
    Uniform, Unrest, Waits, modulate, modulate_loss,
};
pub use loss::{Dwell, GilbertElliott, Loss, LossLaw, LossPlace, LossProcess};
pub use medium::{Medium, StationId};
pub use packet::{EndpointId, NodeId, Packet, PacketFlags, TTL};
pub use resequencer::Resequencer;
pub use routing::{Edge, Epoch, Exit, InterfaceId, LinkChange, LinkId, PackedExit, RouteTable, Routes, TunnelEndId};
