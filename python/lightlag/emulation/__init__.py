"""Real packets through the network of a scenario, in real time, between TUN devices and simulated hosts."""

from __future__ import annotations

from lightlag.emulation.emulator import Device, Emulation, device, emulate, start_emulation

__all__ = ["Device", "Emulation", "device", "emulate", "start_emulation"]
