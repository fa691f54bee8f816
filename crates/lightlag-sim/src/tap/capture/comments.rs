//! Comments at captured packets.

use lightlag_control::congestion::Phase;
use lightlag_net::queue::DropCause;
use lightlag_transport::Snapshot;
use lightlag_wire::signal::NotificationKind;
use std::fmt::Write as _;

pub(super) fn describe(state: &Snapshot) -> String {
    let mut text = format!("cwnd {} B, ssthresh ", state.cwnd);
    let _ = match state.ssthresh {
        u64::MAX => write!(text, "unlimited"),
        bytes => write!(text, "{bytes} B"),
    };
    let _ = write!(text, ", in flight {} B", state.inflight);
    if !state.srtt.is_zero() {
        let _ = write!(text, ", SRTT {:.3} ms", state.srtt.as_secs_f64() * 1e3);
    }
    let _ = write!(text, ", {}", phase(state.phase));
    text
}

pub(super) fn told(news: NotificationKind) -> &'static str {
    match news {
        NotificationKind::Corruption => "corruption experienced",
        NotificationKind::LinkOut => "link out",
        NotificationKind::LinkRestored => "link restored",
        NotificationKind::RouteLost => "route lost",
        NotificationKind::RouteFound => "route found",
    }
}

fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Open => "open",
        Phase::Recovery => "recovery",
        Phase::Loss => "loss",
    }
}

pub(super) fn explain(cause: DropCause) -> &'static str {
    match cause {
        DropCause::Queue => "the queue was full",
        DropCause::Error => "corrupted",
        DropCause::Aqm => "by the queue discipline",
        DropCause::AckFilter => "a later ACK supersedes it",
        DropCause::Ttl => "its TTL expired",
        DropCause::Retry => "the last retry of the MAC failed",
        DropCause::Lifetime => "it waited too long for the medium",
        DropCause::NoRoute => "no route was found",
        DropCause::Outage => "an outage of the link",
        DropCause::Policer => "above the rate of the policer",
        DropCause::TooLarge => "larger than the MTU",
        DropCause::Collision => "bursts of other stations",
    }
}
