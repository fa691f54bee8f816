//! Two hosts talk over a pipe.

mod flood;
mod path;
mod peer;
mod sockets;
mod transfer;
mod world;
