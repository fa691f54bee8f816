//! The description that an algorithm gives of itself.

/// An algorithm's description of itself.
///
/// [`AlgorithmInfo`](super::AlgorithmInfo) describes the fields. Readers of the Markdown remove its indentation.
pub(super) struct About {
    pub about: &'static str,
    pub equations: &'static [&'static str],
    pub source: &'static str,
    pub year: u16,
    pub signal: Signal,
    pub details: &'static str,
    pub variants: &'static [(&'static str, &'static str)],
    pub deviations: &'static [Deviation],
    pub checks: &'static str,
    pub not_modelled: &'static str,
}

/// A difference between a model and its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Deviation {
    /// Variant or rule that differs; empty if the deviation concerns the algorithm in general.
    pub scope: &'static str,
    /// Rule in the source.
    pub source: &'static str,
    /// Rule in the model.
    pub here: &'static str,
    /// Reason for the difference.
    pub reason: &'static str,
}

/// Signal that an algorithm reacts to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
pub enum Signal {
    /// Losses, and congestion marks that count as losses.
    #[serde(rename = "loss")]
    Loss,
    /// Queueing delay.
    #[serde(rename = "delay")]
    Delay,
    /// Losses reduce the window, and the queueing delay changes its growth or the reduction.
    #[serde(rename = "loss and delay")]
    LossAndDelay,
    /// Losses, which set the window to an estimate from the rate of ACKs.
    #[serde(rename = "loss and ACK rate")]
    LossAndRate,
    /// Losses, together with low-priority segments that probe for free capacity.
    #[serde(rename = "loss and probes")]
    LossAndProbes,
    /// The fraction of packets with a congestion mark.
    #[serde(rename = "ECN marks")]
    Marks,
    /// Bandwidth and round-trip time of the path.
    #[serde(rename = "path model")]
    PathModel,
    /// Spacing of the ACKs of a burst.
    #[serde(rename = "ACK spacing of bursts")]
    Bursts,
    /// No signal.
    #[serde(rename = "none")]
    Uncontrolled,
}

/// Faithfulness of a model to its publication.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// Rules and constants come from a public text.
    Established,
    /// The public texts leave rules or constants open. Our own choices fill the gaps, and are listed as deviations.
    Reconstructed,
}
