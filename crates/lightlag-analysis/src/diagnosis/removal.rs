//! Changes of a scenario that remove a cause. Each returns false if the scenario cannot have the cause.

use super::case::{Case, Direction, PathLink, removed};
use serde_json::{Map, Value, json};

/// Buffer that limits nothing.
const UNLIMITED: &str = "1 GB";
/// Maximum initial window in segments.
const LARGEST_WINDOW: u64 = 1000;
/// Initial window of today's TCP in segments.
const USUAL_WINDOW: i64 = 10;
/// Prefixes of bit/s that scenarios are printed with, and their factors.
const PREFIXES: [(&str, f64); 4] = [("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9)];

/// Part of a path's losses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lost {
    Data,
    Acks,
}

pub(super) fn receive_window(case: &mut Case<'_>) -> bool {
    if case.flow().is_some_and(|flow| flow.contains_key("reader")) {
        // A slow reader leaves little of any window.
        return false;
    }
    if case.transport() == "quic" {
        for key in ["stream_credit", "connection_credit"] {
            case.set_option(key, UNLIMITED);
        }
        case.set_option("auto_credit", false);
        return true;
    }
    case.set_option("receive_buffer", UNLIMITED);
    case.set_option("window_scaling", true);
    true
}

pub(super) fn send_buffer(case: &mut Case<'_>) -> bool {
    let is_set = case.option("send_buffer").is_some();
    if is_set {
        case.set_option("send_buffer", UNLIMITED);
    }
    is_set
}

pub(super) fn application(case: &mut Case<'_>) -> bool {
    let traffic = case.flow().and_then(|flow| flow.get("traffic")).filter(|traffic| !traffic.is_null());
    if traffic.is_none_or(|traffic| traffic.get("kind").and_then(Value::as_str) == Some("bulk")) || case.replies() {
        return false;
    }
    case.flow_mut().is_some_and(|flow| removed(flow, "traffic"))
}

pub(super) fn reader(case: &mut Case<'_>) -> bool {
    case.flow_mut().is_some_and(|flow| removed(flow, "reader"))
}

pub(super) fn small_window(case: &mut Case<'_>) -> bool {
    let is_small =
        |window: &Value| window == "rfc3390" || window.as_i64().is_some_and(|segments| segments < USUAL_WINDOW);
    case.option("initial_window").is_some_and(is_small) && case.drop_option("initial_window")
}

pub(super) fn slow_start(case: &mut Case<'_>) -> bool {
    if case.row.finish_s.is_none() {
        return false;
    }
    case.set_option("initial_window", LARGEST_WINDOW);
    case.set_option("pacing", true);
    true
}

pub(super) fn no_sack(case: &mut Case<'_>) -> bool {
    if case.transport() != "tcp" {
        return false;
    }
    if case.option("recovery").is_some_and(|recovery| recovery == "reno" || recovery == "newreno") {
        case.drop_option("recovery");
    }
    case.set_option("sack", true);
    true
}

pub(super) fn no_timestamps(case: &mut Case<'_>) -> bool {
    if case.transport() != "tcp" || case.option("timestamps") != Some(&Value::Bool(false)) {
        return false;
    }
    case.set_option("timestamps", true);
    true
}

pub(super) fn delayed_acks(case: &mut Case<'_>) -> bool {
    if case.transport() != "tcp" {
        return case.drop_option("ack") || case.drop_option("ack_frequency");
    }
    case.drop_option("ack_interval");
    case.set_option("delayed_ack", false);
    true
}

pub(super) fn idle_restart(case: &mut Case<'_>) -> bool {
    let has_traffic = case.flow().and_then(|flow| flow.get("traffic")).is_some_and(|traffic| !traffic.is_null());
    if case.transport() != "tcp" || !has_traffic {
        return false;
    }
    case.set_option("idle_restart", "off");
    true
}

pub(super) fn hystart(case: &mut Case<'_>) -> bool {
    if case.row.congestion != "cubic" {
        return false;
    }
    case.set_option("congestion", json!({ "algorithm": "cubic", "slow_start": "standard" }));
    true
}

pub(super) fn nagle(case: &mut Case<'_>) -> bool {
    case.option("nagle") == Some(&Value::Bool(true)) && case.drop_option("nagle")
}

pub(super) fn window_limit(case: &mut Case<'_>) -> bool {
    case.drop_options(&["max_cwnd", "initial_ssthresh", "burst_limit", "rate_control"])
}

pub(super) fn small_segments(case: &mut Case<'_>) -> bool {
    let is_option = case.drop_options(&["mss", "datagram"]);
    case.drop_from_path(&["mtu"]) || is_option
}

pub(super) fn data_losses(case: &mut Case<'_>) -> bool {
    without_losses(case, Lost::Data)
}

pub(super) fn ack_losses(case: &mut Case<'_>) -> bool {
    without_losses(case, Lost::Acks)
}

fn without_losses(case: &mut Case<'_>, lost: Lost) -> bool {
    let mut is_changed = false;
    for link in case.path() {
        let direction = if lost == Lost::Acks { link.acks() } else { link.data };
        if case.side(&link, "loss", direction).is_some_and(|loss| loss.as_f64() != Some(0.0)) {
            case.set_side(&link, "loss", direction, 0.0);
            is_changed = true;
        }
    }
    is_changed
}

pub(super) fn thin_return(case: &mut Case<'_>) -> bool {
    let mut is_changed = false;
    for link in case.path() {
        let rate = |direction| case.side(&link, "rate", direction).and_then(|rate| bps(rate.as_str()?));
        if let (Some(data), Some(acks)) = (rate(link.data), rate(link.acks()))
            && acks < data
            && let Some(rate) = case.side(&link, "rate", link.data).cloned()
        {
            case.set(&link, "rate", rate);
            is_changed = true;
        }
    }
    is_changed
}

pub(super) fn outages(case: &mut Case<'_>) -> bool {
    without_changes_of(case, "down")
}

pub(super) fn delay_changes(case: &mut Case<'_>) -> bool {
    without_changes_of(case, "delay")
}

fn without_changes_of(case: &mut Case<'_>, key: &str) -> bool {
    let mut is_changed = false;
    for link in case.path() {
        is_changed |= link_without_changes_of(case, &link, key);
    }
    is_changed
}

fn link_without_changes_of(case: &mut Case<'_>, link: &PathLink, key: &str) -> bool {
    let mut is_changed = false;
    for direction in Direction::BOTH {
        let Some(found) = case.side(link, "changes", direction).and_then(Value::as_array) else { continue };
        if !found.iter().any(|change| change.get(key).is_some()) {
            continue;
        }
        let without = |change: &Value| {
            let mut change: Map<String, Value> = change.as_object().cloned().unwrap_or_default();
            change.remove(key);
            // An entry with only a time changes nothing.
            (change.len() > 1).then_some(Value::Object(change))
        };
        let kept: Vec<Value> = found.iter().filter_map(without).collect();
        case.set_side(link, "changes", direction, kept);
        is_changed = true;
    }
    let is_empty = |direction| case.side(link, "changes", direction).is_none_or(|left| left == &json!([]));
    if is_changed && Direction::BOTH.into_iter().all(is_empty) {
        case.drop(link, "changes");
    }
    is_changed
}

pub(super) fn handovers(case: &mut Case<'_>) -> bool {
    case.drop_from_path(&["slots"])
}

pub(super) fn radio_channel(case: &mut Case<'_>) -> bool {
    case.drop_from_path(&["channel", "fade"])
}

pub(super) fn policer(case: &mut Case<'_>) -> bool {
    case.drop_from_path(&["police"])
}

pub(super) fn reordering(case: &mut Case<'_>) -> bool {
    case.drop_from_path(&["reorder", "jitter"])
}

pub(super) fn bandwidth_on_demand(case: &mut Case<'_>) -> bool {
    case.drop_from_path(&["on_demand", "ramp", "aggregate"])
}

pub(super) fn short_queue(case: &mut Case<'_>) -> bool {
    let Some(link) = case.bottleneck() else { return false };
    let is_drop_tail =
        |queue: &Value| queue.is_string() || queue.get("discipline").is_some_and(|name| name == "drop_tail");
    let is_short = case.side(&link, "queue", link.data).is_some_and(is_drop_tail);
    if is_short {
        case.set_side(&link, "queue", link.data, "4 bdp");
    }
    is_short
}

/// Replaces the queue of the bottleneck by FQ-CoDel.
pub(super) fn long_queue(case: &mut Case<'_>) -> bool {
    let Some(link) = case.bottleneck() else { return false };
    case.set_side(&link, "queue", link.data, "fq_codel");
    true
}

pub(super) fn other_flows(case: &mut Case<'_>) -> bool {
    !has_media(case) && without_other_flows(case)
}

pub(super) fn contention(case: &mut Case<'_>) -> bool {
    has_media(case) && without_other_flows(case)
}

fn has_media(case: &Case<'_>) -> bool {
    case.scenario.get("media").and_then(Value::as_array).is_some_and(|media| !media.is_empty())
}

fn without_other_flows(case: &mut Case<'_>) -> bool {
    let Some(mut flow) = case.flow().cloned() else { return false };
    flow.insert("name".to_owned(), case.row.name.clone().into());
    let Some(flows) = case.scenario.get_mut("flows").and_then(Value::as_array_mut) else { return false };
    if flows.len() < 2 {
        return false;
    }
    *flows = vec![flow.into()];
    true
}

pub(super) fn proxies(case: &mut Case<'_>) -> bool {
    case.scenario.as_object_mut().is_some_and(|scenario| removed(scenario, "proxies"))
}

pub(super) fn capacity(case: &mut Case<'_>) -> bool {
    let Some(link) = case.bottleneck() else { return false };
    let rate = case.side(&link, "rate", link.data).and_then(|rate| bps(rate.as_str()?));
    if let Some(rate) = rate {
        case.set_side(&link, "rate", link.data, format!("{:.0} bit/s", 2.0 * rate));
    }
    rate.is_some()
}

/// Returns a rate as scenarios print it, such as "20 Mbit/s", in bit/s.
fn bps(rate: &str) -> Option<f64> {
    let (value, unit) = rate.split_once(' ')?;
    let prefix = unit.strip_suffix("bit/s")?;
    let (_, factor) = PREFIXES.iter().find(|(name, _)| *name == prefix)?;
    Some(value.parse::<f64>().ok()? * factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::Flow;

    /// Returns a scenario with one link after a removal; `None` if the link cannot have the cause.
    fn link_after(link: Value, remove: fn(&mut Case<'_>) -> bool) -> Option<Value> {
        let Value::Object(mut whole) = json!({ "between": ["a", "c"], "rate": "10 Mbit/s" }) else { unreachable!() };
        whole.extend(link.as_object().unwrap().clone());
        let scenario = json!({ "links": [whole], "flows": [{ "from": "a", "to": "c" }] });
        let row: Flow = serde_json::from_value(json!({
            "name": "a->c", "from": "a", "to": "c", "congestion": "cubic", "goodput_bps": 1.0, "bottleneck": "a->c",
        }))
        .unwrap();
        let mut case = Case::of(&scenario, &row);
        remove(&mut case).then(|| case.scenario["links"][0].clone())
    }

    #[test]
    fn outages_leave_other_changes() {
        let changes = json!([{ "at": "1 s", "down": true }, { "at": "2 s", "down": false, "rate": "1 Mbit/s" }]);
        let left = link_after(json!({ "changes": changes }), outages).unwrap();
        let kept = json!([{ "at": "2 s", "rate": "1 Mbit/s" }]);
        assert_eq!(left["changes"], json!({ "forward": kept, "backward": kept }));
        let only = json!({ "changes": { "forward": [{ "at": "1 s", "down": true }] } });
        assert_eq!(link_after(only, outages).unwrap().get("changes"), None);
        assert_eq!(link_after(json!({ "changes": [{ "at": "1 s", "rate": "1 Mbit/s" }] }), outages), None);
        let delay = json!({ "changes": [{ "at": "1 s", "delay": "9 ms" }, { "at": "2 s", "down": true }] });
        let down = json!([{ "at": "2 s", "down": true }]);
        assert_eq!(link_after(delay, delay_changes).unwrap()["changes"]["forward"], down);
    }

    #[test]
    fn only_a_return_link_that_is_slower_is_thin() {
        let rate = |backward: &str| json!({ "rate": { "forward": "2 Mbit/s", "backward": backward } });
        assert_eq!(link_after(rate("20 kbit/s"), thin_return).unwrap()["rate"], "2 Mbit/s");
        assert_eq!(link_after(rate("1 Gbit/s"), thin_return), None);
        assert_eq!(link_after(rate("1 Gbit/s"), capacity).unwrap()["rate"]["forward"], "4000000 bit/s");
    }

    #[test]
    fn losses_are_removed_in_one_direction() {
        assert_eq!(link_after(json!({ "loss": 0 }), data_losses), None);
        let loss = json!({ "loss": { "forward": 0.1, "backward": 0.2 } });
        assert_eq!(link_after(loss.clone(), data_losses).unwrap()["loss"], json!({ "forward": 0.0, "backward": 0.2 }));
        assert_eq!(link_after(loss, ack_losses).unwrap()["loss"], json!({ "forward": 0.1, "backward": 0.0 }));
    }

    #[test]
    fn a_queue_that_is_no_length_is_not_short() {
        assert_eq!(link_after(json!({ "queue": { "discipline": "codel" } }), short_queue), None);
        let table = json!({ "queue": { "discipline": "drop_tail", "limit": "5 packets", "count_in_service": true } });
        assert_eq!(link_after(table, short_queue).unwrap()["queue"]["forward"], "4 bdp");
        assert_eq!(link_after(json!({ "queue": "5 packets" }), short_queue).unwrap()["queue"]["forward"], "4 bdp");
        let both = json!({ "forward": "fq_codel", "backward": "5 packets" });
        assert_eq!(link_after(json!({ "queue": "5 packets" }), long_queue).unwrap()["queue"], both);
    }
}
