"""Causes of a slow transfer, each measured by a run without it."""

from lightlag.diagnosis.diagnosis import Diagnosis, Effect, Latency, why

__all__ = ["Diagnosis", "Effect", "Latency", "why"]
