"""The running kernel's TCP against ours, over a TUN device: byte for byte the same, no reset, no stall."""
