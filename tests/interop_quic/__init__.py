"""Downloads with real QUIC stacks over an emulated path, compared with the simulation of the same downloads."""
