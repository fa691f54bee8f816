"""Link budgets of geostationary satellites, and the rain of a scenario from a place, a band and a terminal.

Attenuation follows recommendations of ITU-R, computed by ``itur``: install ``lightlag[rain]``.
"""

from lightlag.satellite.budget import Budget, Hop, Margin, carrier_to_noise_density, combined, free_space_loss
from lightlag.satellite.geometry import Look, look
from lightlag.satellite.propagation import Attenuation, attenuation
from lightlag.satellite.rain import RainFit, fade, rain_fit, write_fade
from lightlag.satellite.reading import EXAMPLE, parse, read

__all__ = [
    "EXAMPLE",
    "Attenuation",
    "Budget",
    "Hop",
    "Look",
    "Margin",
    "RainFit",
    "attenuation",
    "carrier_to_noise_density",
    "combined",
    "fade",
    "free_space_loss",
    "look",
    "parse",
    "rain_fit",
    "read",
    "write_fade",
]
