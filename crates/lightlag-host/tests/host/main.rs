//! Two hosts talk over a pipe.

mod fast_open;
mod flood;
mod limits;
mod path;
mod peer;
mod sockets;
mod transfer;
mod world;
