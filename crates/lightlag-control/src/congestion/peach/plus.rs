//! TCP Peach+: the dummy segments of [TCP Peach](super) carry unacknowledged data, so that they also repair losses.
//!
//! Akyildiz, Zhang, Fang, "TCP-Peach+: enhancement of TCP-Peach for satellite IP networks", IEEE Communications Letters
//! 6(7), 2002. **Established** by its abstract: Jump Start and Quick Recovery, with *NIL segments* of low priority that
//! probe the path and recover errors. **Reconstructed**: Jump Start and Quick Recovery have the numbers of Sudden Start
//! and Rapid Recovery; NIL segments copy the outstanding data that is not SACKed, one segment after the other, and then
//! again from the first; with SACK its ACK also reports which data arrived. That order is our own, and so is the rule
//! that NIL segments continue after recovery.

use super::{CHECKS, DETAILS, DEVIATIONS, PeachKind};
use crate::congestion::Probes;
use crate::congestion::about::{About, Signal};

/// Marker type of the algorithm `peach+`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plus;

/// Parameters of TCP Peach+.
pub type Config = super::Config<Plus>;

impl PeachKind for Plus {
    const ABOUT: About = About {
        about: "TCP Peach whose segments of low priority (NIL segments) carry data that is not acknowledged yet. They probe \
                the path like dummy segments, in Jump Start and Quick Recovery, and fill holes, so that fewer losses wait for \
                a retransmission. It needs queue = { discipline = \"priority\" } on the path, and SACK to detect what NIL \
                segments repaired.",
        equations: &[
            "Jump Start:       rwnd - W NIL segments, one each RTT/rwnd;  W += 1 per NIL ACK",
            "avoidance, per counted segment:  W += 1/W",
            "loss:     W0 = W, W = W0/2, adsn = W0, wdsn = W0/2",
            "Quick Recovery:   2 NIL segments per segment acknowledged, while adsn > 0",
            "NIL ACK:          wdsn -= 1 while wdsn > 0, then W += 1",
            "mark:     W = W/2;  timeout: W = 1 and Jump Start",
        ],
        source: "Akyildiz, Zhang, Fang, \"TCP-Peach+: enhancement of TCP-Peach for satellite IP networks\", IEEE \
                 Communications Letters 6(7), 2002; constants and gaps reconstructed",
        year: 2002,
        signal: Signal::LossAndProbes,
        details: DETAILS,
        variants: &[],
        deviations: DEVIATIONS,
        checks: CHECKS,
        not_modelled: "",
    };
    const PROBES: Probes = Probes::Outstanding;
}
