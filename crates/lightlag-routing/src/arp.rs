//! Which neighbours have told their address on the link.
