"""The running kernel's TCP against ours, over a TUN device: data arrives unchanged, without resets and stalls."""
