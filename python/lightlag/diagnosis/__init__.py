"""Causes of a slow transfer, each measured by a run without it."""

from lightlag.diagnosis.diagnosis import Cause, Diagnosis, Effect, Latency, causes, why

__all__ = ["Cause", "Diagnosis", "Effect", "Latency", "causes", "why"]
