//! Two hosts talk over a pipe.

mod path;
mod peer;
mod sockets;
mod transfer;
mod world;
