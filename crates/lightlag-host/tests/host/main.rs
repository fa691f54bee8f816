//! Two hosts talk over a pipe.

mod sockets;
mod transfer;
mod world;
