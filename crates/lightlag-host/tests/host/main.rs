//! Two hosts that communicate over a simulated pipe.

mod fast_open;
mod flood;
mod limits;
mod path;
mod peer;
mod sockets;
mod transfer;
mod world;
