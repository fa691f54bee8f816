//! Two hosts talk over a pipe.

mod peer;
mod sockets;
mod transfer;
mod world;
