//! The causes that limited a sender.

use serde::Deserialize;

/// Seconds during which each cause limited a sender.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Limited {
    cwnd: f64,
    /// Limited by the receiver's window.
    pub rwnd: f64,
    /// Limited by the application.
    pub application: f64,
    pacing: f64,
    recovery: f64,
    timeout: f64,
}

impl Limited {
    /// Returns the total of all causes in seconds.
    pub fn total(&self) -> f64 {
        self.cwnd + self.rwnd + self.application + self.pacing + self.recovery + self.timeout
    }
}

/// Parts of [`Limited`] that QUIC distinguishes, in seconds: the credits are parts of `rwnd`, the others of
/// `application`.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct QuicLimited {
    handshake: f64,
    amplification: f64,
    stream_limit: f64,
    connection_credit: f64,
    stream_credit: f64,
    send_buffer: f64,
    idle: f64,
}

/// The causes that limited a sender, each with its seconds.
#[derive(Clone, Debug)]
pub struct Limits(Vec<(&'static str, f64)>);

impl Limits {
    pub(crate) fn new(limited: &Limited, quic: Option<&QuicLimited>) -> Self {
        let mut parts = vec![
            ("cwnd", limited.cwnd),
            ("rwnd", limited.rwnd),
            ("application", limited.application),
            ("pacing", limited.pacing),
            ("recovery", limited.recovery),
            ("timeout", limited.timeout),
        ];
        if let Some(quic) = quic {
            let credits = [("connection credit", quic.connection_credit), ("stream credit", quic.stream_credit)];
            let others = [
                ("handshake", quic.handshake),
                ("amplification", quic.amplification),
                ("stream limit", quic.stream_limit),
                ("send buffer", quic.send_buffer),
                ("idle", quic.idle),
            ];
            let sum = |parts: &[(&str, f64)]| parts.iter().map(|(_, seconds)| seconds).sum::<f64>();
            // Differences of sums may be slightly below zero.
            parts[1].1 = (limited.rwnd - sum(&credits)).max(0.0);
            parts[2].1 = (limited.application - sum(&others)).max(0.0);
            parts.extend(credits);
            parts.extend(others);
        }
        Self(parts)
    }

    /// Returns each cause with its seconds, longest first; equal ones stay in order.
    pub fn longest_first(&self) -> Vec<(&'static str, f64)> {
        let mut parts = self.0.clone();
        parts.sort_by(|a, b| b.1.total_cmp(&a.1));
        parts
    }

    /// Returns the fraction of the total time during which a cause limited the sender.
    pub fn share_of(&self, cause: &str) -> f64 {
        let seconds = self.0.iter().find(|(name, _)| *name == cause).map_or(0.0, |(_, seconds)| *seconds);
        seconds / self.total()
    }

    /// Returns the total of all causes in seconds.
    pub fn total(&self) -> f64 {
        self.0.iter().fold(0.0, |sum, (_, seconds)| sum + seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_quic_replace_the_times_that_contain_them() {
        let limited = serde_json::from_str(r#"{"cwnd": 1.0, "rwnd": 5.0, "application": 4.0}"#).unwrap();
        let quic = serde_json::from_str(
            r#"{"handshake": 1.5, "idle": 0.5, "connection_credit": 3.0, "stream_credit": 2.0, "send_buffer": 1.0}"#,
        )
        .unwrap();
        let limits = Limits::new(&limited, Some(&quic));
        let longest: Vec<_> = limits.longest_first().into_iter().filter(|(_, seconds)| *seconds > 0.0).collect();
        let expected = [
            ("connection credit", 3.0),
            ("stream credit", 2.0),
            ("handshake", 1.5),
            ("cwnd", 1.0),
            ("application", 1.0),
            ("send buffer", 1.0),
            ("idle", 0.5),
        ];
        assert_eq!((longest.as_slice(), limits.total()), (&expected[..], 10.0));
        assert_eq!((limits.share_of("handshake"), limits.share_of("rwnd")), (0.15, 0.0));
        assert_eq!(Limits::new(&limited, None).share_of("rwnd"), 0.5);
    }
}
