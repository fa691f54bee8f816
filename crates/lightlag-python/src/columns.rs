//! A run's tables as Arrow columns. Vectors of plain numbers move without a copy; names are dictionaries.

use arrow_array::types::{ArrowDictionaryKeyType, UInt8Type, UInt32Type};
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, PrimitiveArray, RecordBatch, StringArray, UInt8Array,
    UInt32Array, UInt64Array,
};
use lightlag_sim::results::{
    Acks, DatagramSummary, DropCause, Drops, FlowSummary, HoleSummary, LegSummary, LimitedSeconds, LinkSummary,
    MessageSummary, PageSummary, ProxySummary, QueueSamples, Queueing, Responses, RunResult, SignalSummary, Trace,
};
use std::sync::Arc;

/// The tables of a run, in the order of a results folder. ACKs are missing if they were not recorded, and so are
/// responses, proxies or legs if there are none.
pub(crate) const TABLES: [&str; 9] =
    ["flows", "links", "trace", "queue", "drops", "acks", "responses", "proxies", "legs"];

/// Names of [`lightlag_control::congestion::Phase`], by its number.
const PHASES: [&str; 3] = ["open", "recovery", "loss"];

/// Names of the states of a sender, by their numbers.
const STATES: [&str; 4] = ["open", "disorder", "recovery", "loss"];

/// A column's name and values.
type Column = (&'static str, ArrayRef);

/// A table with its name.
pub(crate) type Named = (&'static str, RecordBatch);

/// Turns a result into one record batch a table, in the order of [`TABLES`]. The summary stays in place.
pub(crate) fn tables(result: &mut RunResult, acks: bool) -> Vec<Named> {
    let names = |values: Vec<&str>| Arc::new(StringArray::from(values));
    let flows = names(result.summary.flows.iter().map(|flow| flow.name.as_str()).collect());
    let links = names(result.summary.links.iter().map(|link| link.name.as_str()).collect());
    let mut tables = vec![
        ("flows", flow_table(&result.summary.flows)),
        ("links", link_table(&result.summary.links)),
        ("trace", trace_table(std::mem::take(&mut result.trace), &flows)),
        ("queue", queue_table(std::mem::take(&mut result.queue), &links)),
        ("drops", drop_table(std::mem::take(&mut result.drops), &links, &flows)),
    ];
    if acks {
        tables.push(("acks", ack_table(std::mem::take(&mut result.acks), &flows)));
    }
    if result.summary.flows.iter().any(|flow| flow.responses.is_some() || flow.pages.is_some()) {
        tables.push(("responses", response_table(std::mem::take(&mut result.responses), &flows)));
    }
    if !result.summary.proxies.is_empty() {
        tables.push(("proxies", proxy_table(&result.summary.proxies)));
        tables.push(("legs", leg_table(&result.summary.legs)));
    }
    tables
}

/// The flows. Columns that only datagrams, responses, pages, sinks, stations or partial reliability fill are present if
/// a flow has some.
fn flow_table(flows: &[FlowSummary]) -> RecordBatch {
    let mut columns = flow_columns(flows);
    if flows.iter().any(|flow| flow.datagrams.is_some()) {
        let of = |value: fn(&DatagramSummary) -> u64| {
            let values = flows.iter().map(|flow| flow.datagrams.as_ref().map(value));
            Arc::new(UInt64Array::from_iter(values)) as ArrayRef
        };
        let delays = |value: fn(&DatagramSummary) -> Option<f64>| {
            optionals(flows, move |flow| flow.datagrams.as_ref().and_then(value))
        };
        columns.extend([
            ("datagrams_received", of(|datagrams| datagrams.received)),
            ("datagrams_lost", of(|datagrams| datagrams.lost)),
            ("datagrams_mean_delay_s", delays(|datagrams| datagrams.mean_delay_s)),
            ("datagrams_p95_delay_s", delays(|datagrams| datagrams.p95_delay_s)),
        ]);
    }
    let of_responses = |flow: &FlowSummary| flow.responses;
    let of_pages = |flow: &FlowSummary| flow.pages;
    columns.extend(page_columns(flows, of_responses, RESPONSES));
    columns.extend(page_columns(flows, of_pages, PAGES));
    if flows.iter().any(|flow| flow.messages.is_some()) {
        let of = |value: fn(&MessageSummary) -> u64| {
            let values = flows.iter().map(|flow| flow.messages.as_ref().map(value));
            Arc::new(UInt64Array::from_iter(values)) as ArrayRef
        };
        let delays = |value: fn(&MessageSummary) -> Option<f64>| {
            optionals(flows, move |flow| flow.messages.as_ref().and_then(value))
        };
        columns.extend([
            ("messages_sent", of(|messages| messages.sent)),
            ("messages_lost", of(|messages| messages.lost)),
            ("messages_dropped", of(|messages| messages.dropped)),
            ("messages_delivered", of(|messages| messages.delivered)),
            ("messages_mean_delay_s", delays(|messages| messages.mean_delay_s)),
            ("messages_p95_delay_s", delays(|messages| messages.p95_delay_s)),
        ]);
    }
    if flows.iter().any(|flow| flow.signals.is_some()) {
        let of = |value: fn(&SignalSummary) -> u64| {
            let values = flows.iter().map(|flow| flow.signals.as_ref().map(value));
            Arc::new(UInt64Array::from_iter(values)) as ArrayRef
        };
        columns.extend([
            ("signals_sent", of(|signals| signals.sent)),
            ("signals_received", of(|signals| signals.received)),
            ("signals_ignored", of(|signals| signals.ignored)),
            ("signals_lost", of(|signals| signals.lost)),
            ("signals_local", of(|signals| signals.local)),
        ]);
    }
    if flows.iter().any(|flow| flow.holes.is_some()) {
        let of = |value: fn(&HoleSummary) -> u64| {
            let values = flows.iter().map(|flow| flow.holes.as_ref().map(value));
            Arc::new(UInt64Array::from_iter(values)) as ArrayRef
        };
        columns.extend([
            ("holes_count", of(|holes| holes.count)),
            ("holes_bytes", of(|holes| holes.bytes)),
            ("holes_given_up_bytes", of(|holes| holes.given_up_bytes)),
        ]);
    }
    batch(columns)
}

/// Columns of responses and of pages: number, times, and bytes of requests.
const RESPONSES: [&str; 4] = ["responses_count", "responses_mean_s", "responses_p95_s", "responses_request_bytes"];
const PAGES: [&str; 4] = ["pages_count", "pages_mean_s", "pages_p95_s", "pages_request_bytes"];

fn page_columns(
    flows: &[FlowSummary],
    of: fn(&FlowSummary) -> Option<PageSummary>,
    [count, mean, p95, request]: [&'static str; 4],
) -> Vec<Column> {
    if flows.iter().all(|flow| of(flow).is_none()) {
        return Vec::new();
    }
    let counts = |value: fn(PageSummary) -> u64| -> ArrayRef {
        Arc::new(UInt64Array::from_iter(flows.iter().map(|flow| of(flow).map(value))))
    };
    vec![
        (count, counts(|pages| pages.count)),
        (mean, optionals(flows, |flow| of(flow)?.mean_s)),
        (p95, optionals(flows, |flow| of(flow)?.p95_s)),
        (request, counts(|pages| pages.request_bytes)),
    ]
}

fn response_table(responses: Responses, flows: &Arc<StringArray>) -> RecordBatch {
    table([
        ("time_s", Arc::new(Float64Array::from(responses.time_s))),
        ("flow", named::<UInt32Type>(responses.flow, flows)),
        ("duration_s", Arc::new(Float64Array::from(responses.duration_s))),
        ("bytes", Arc::new(UInt64Array::from(responses.bytes))),
    ])
}

fn flow_columns(flows: &[FlowSummary]) -> Vec<Column> {
    let mut columns = vec![
        ("name", texts(flows, |flow| &flow.name)),
        ("from", texts(flows, |flow| &flow.from)),
        ("to", texts(flows, |flow| &flow.to)),
        ("congestion", texts(flows, |flow| &flow.congestion)),
        ("bottleneck", Arc::new(StringArray::from_iter(flows.iter().map(|flow| flow.bottleneck.as_deref())))),
        ("start_s", numbers(flows, |flow| flow.start_s)),
        ("finish_s", optionals(flows, |flow| flow.finish_s)),
        ("failure", Arc::new(StringArray::from_iter(flows.iter().map(|flow| flow.failure)))),
        ("delivered_bytes", counts(flows, |flow| flow.delivered_bytes)),
        ("goodput_bps", numbers(flows, |flow| flow.goodput_bps)),
        ("sent_segments", counts(flows, |flow| flow.sent_segments)),
        ("retransmitted_segments", counts(flows, |flow| flow.retransmitted_segments)),
        ("timeouts", counts(flows, |flow| flow.timeouts)),
        ("recoveries", counts(flows, |flow| flow.recoveries)),
        ("min_rtt_s", optionals(flows, |flow| flow.min_rtt_s)),
        ("mean_rtt_s", optionals(flows, |flow| flow.mean_rtt_s)),
        ("mean_cwnd_segments", numbers(flows, |flow| flow.mean_cwnd_segments)),
    ];
    columns.extend(limit_columns(flows, |flow| &flow.limited_s));
    columns
}

/// Seconds for which each limit held each sender back.
fn limit_columns<T>(rows: &[T], of: fn(&T) -> &LimitedSeconds) -> [Column; 6] {
    [
        ("limited_cwnd_s", numbers(rows, |row| of(row).cwnd)),
        ("limited_rwnd_s", numbers(rows, |row| of(row).rwnd)),
        ("limited_application_s", numbers(rows, |row| of(row).application)),
        ("limited_pacing_s", numbers(rows, |row| of(row).pacing)),
        ("limited_recovery_s", numbers(rows, |row| of(row).recovery)),
        ("limited_timeout_s", numbers(rows, |row| of(row).timeout)),
    ]
}

fn leg_table(legs: &[LegSummary]) -> RecordBatch {
    let mut columns: Vec<Column> = vec![
        ("flow", texts(legs, |leg| &leg.flow)),
        ("leg", counts(legs, |leg| leg.leg)),
        ("from", texts(legs, |leg| &leg.from)),
        ("to", texts(legs, |leg| &leg.to)),
        ("congestion", texts(legs, |leg| &leg.congestion)),
        ("start_s", optionals(legs, |leg| leg.start_s)),
        ("finish_s", optionals(legs, |leg| leg.finish_s)),
        ("delivered_bytes", counts(legs, |leg| leg.delivered_bytes)),
        ("goodput_bps", numbers(legs, |leg| leg.goodput_bps)),
        ("sent_segments", counts(legs, |leg| leg.sent_segments)),
        ("retransmitted_segments", counts(legs, |leg| leg.retransmitted_segments)),
        ("timeouts", counts(legs, |leg| leg.timeouts)),
        ("recoveries", counts(legs, |leg| leg.recoveries)),
        ("min_rtt_s", optionals(legs, |leg| leg.min_rtt_s)),
        ("mean_rtt_s", optionals(legs, |leg| leg.mean_rtt_s)),
        ("mean_cwnd_segments", numbers(legs, |leg| leg.mean_cwnd_segments)),
    ];
    columns.extend(limit_columns(legs, |leg| &leg.limited_s));
    batch(columns)
}

fn link_table(links: &[LinkSummary]) -> RecordBatch {
    let mut columns: Vec<Column> = vec![
        ("name", texts(links, |link| &link.name)),
        ("from", texts(links, |link| &link.from)),
        ("to", texts(links, |link| &link.to)),
        ("rate_bps", optionals(links, |link| link.rate_bps)),
        ("carried_bytes", counts(links, |link| link.carried_bytes)),
        ("utilisation", numbers(links, |link| link.utilisation)),
        ("dropped_queue", counts(links, |link| link.dropped_queue)),
        ("dropped_aqm", counts(links, |link| link.dropped_aqm)),
        ("dropped_error", counts(links, |link| link.dropped_error)),
        ("dropped_acks", counts(links, |link| link.dropped_acks)),
        ("marked", counts(links, |link| link.marked)),
        ("duplicated", counts(links, |link| link.duplicated)),
        ("reordered", counts(links, |link| link.reordered)),
        ("mean_queue_packets", numbers(links, |link| link.mean_queue_packets)),
        ("max_queue_packets", counts(links, |link| link.max_queue_packets)),
    ];
    // Present only if recorded.
    if links.iter().any(|link| link.queueing.is_some()) {
        columns.extend(waits(links));
    }
    batch(columns)
}

/// Waiting times of data packets at each link direction.
fn waits(links: &[LinkSummary]) -> [Column; 6] {
    let wait = |of: fn(&Queueing) -> Option<f64>| optionals(links, move |link| link.queueing.as_ref().and_then(of));
    [
        ("data_packets", counts(links, |link| link.queueing.map_or(0, |queueing| queueing.data_packets))),
        ("mean_wait_s", wait(|queueing| queueing.mean_wait_s)),
        ("median_wait_s", wait(|queueing| queueing.median_wait_s)),
        ("p95_wait_s", wait(|queueing| queueing.p95_wait_s)),
        ("p99_wait_s", wait(|queueing| queueing.p99_wait_s)),
        ("max_wait_s", wait(|queueing| queueing.max_wait_s)),
    ]
}

fn proxy_table(proxies: &[ProxySummary]) -> RecordBatch {
    let failures = |of: fn(&ProxySummary) -> Option<&'static str>| -> ArrayRef {
        Arc::new(StringArray::from_iter(proxies.iter().map(of)))
    };
    table([
        ("node", texts(proxies, |proxy| &proxy.node)),
        ("flow", texts(proxies, |proxy| &proxy.flow)),
        ("congestion", texts(proxies, |proxy| &proxy.congestion)),
        ("confirmed_bytes", counts(proxies, |proxy| proxy.confirmed_bytes)),
        ("acknowledged_bytes", counts(proxies, |proxy| proxy.acknowledged_bytes)),
        ("lost_bytes", counts(proxies, |proxy| proxy.lost_bytes)),
        ("max_buffer_bytes", counts(proxies, |proxy| proxy.max_buffer_bytes)),
        ("mean_buffer_bytes", numbers(proxies, |proxy| proxy.mean_buffer_bytes)),
        ("sent_segments", counts(proxies, |proxy| proxy.sent_segments)),
        ("retransmitted_segments", counts(proxies, |proxy| proxy.retransmitted_segments)),
        ("timeouts", counts(proxies, |proxy| proxy.timeouts)),
        ("recoveries", counts(proxies, |proxy| proxy.recoveries)),
        ("min_rtt_s", optionals(proxies, |proxy| proxy.min_rtt_s)),
        ("client_failure", failures(|proxy| proxy.client_failure)),
        ("server_failure", failures(|proxy| proxy.server_failure)),
    ])
}

pub(crate) fn trace_table(trace: Trace, flows: &Arc<StringArray>) -> RecordBatch {
    let mut columns: Vec<Column> = vec![
        ("time_s", Arc::new(Float64Array::from(trace.time_s))),
        ("flow", named::<UInt32Type>(trace.flow, flows)),
        ("cwnd_segments", Arc::new(Float64Array::from(trace.cwnd_segments))),
        ("ssthresh_segments", known(trace.ssthresh_segments)),
        ("w_max_segments", known(trace.w_max_segments)),
        ("k_s", known(trace.k_s)),
        ("srtt_s", known(trace.srtt_s)),
        ("rtt_s", known(trace.rtt_s)),
        ("inflight_bytes", Arc::new(UInt64Array::from(trace.inflight_bytes))),
        ("sent_bytes", Arc::new(UInt64Array::from(trace.sent_bytes))),
        ("acked_bytes", Arc::new(UInt64Array::from(trace.acked_bytes))),
        ("delivered_bytes", Arc::new(UInt64Array::from(trace.delivered_bytes))),
        ("arrived_bytes", Arc::new(UInt64Array::from(trace.arrived_bytes))),
        ("phase", named::<UInt8Type>(trace.phase, &Arc::new(StringArray::from_iter_values(PHASES)))),
    ];
    // Present only if flows have several senders.
    if !trace.leg.is_empty() {
        columns.push(("leg", Arc::new(UInt8Array::from(trace.leg))));
    }
    batch(columns)
}

pub(crate) fn ack_table(acks: Acks, flows: &Arc<StringArray>) -> RecordBatch {
    table([
        ("time_s", Arc::new(Float64Array::from(acks.time_s))),
        ("flow", named::<UInt32Type>(acks.flow, flows)),
        ("snd_una", Arc::new(UInt64Array::from(acks.snd_una))),
        ("snd_nxt", Arc::new(UInt64Array::from(acks.snd_nxt))),
        ("cwnd_bytes", Arc::new(UInt64Array::from(acks.cwnd_bytes))),
        ("ssthresh_bytes", known(acks.ssthresh_bytes)),
        ("srtt_s", known(acks.srtt_s)),
        ("inflight_bytes", Arc::new(UInt64Array::from(acks.inflight_bytes))),
        ("state", named::<UInt8Type>(acks.state, &Arc::new(StringArray::from_iter_values(STATES)))),
    ])
}

pub(crate) fn queue_table(queue: QueueSamples, links: &Arc<StringArray>) -> RecordBatch {
    table([
        ("time_s", Arc::new(Float64Array::from(queue.time_s))),
        ("link", named::<UInt32Type>(queue.link, links)),
        ("packets", Arc::new(UInt64Array::from(queue.packets))),
        ("bytes", Arc::new(UInt64Array::from(queue.bytes))),
    ])
}

pub(crate) fn drop_table(drops: Drops, links: &Arc<StringArray>, flows: &Arc<StringArray>) -> RecordBatch {
    let cause = |cause: &DropCause| *cause as u8;
    let names = Arc::new(StringArray::from_iter_values(DropCause::ALL.map(DropCause::name)));
    table([
        ("time_s", Arc::new(Float64Array::from(drops.time_s))),
        ("link", named::<UInt32Type>(drops.link, links)),
        ("flow", named::<UInt32Type>(drops.flow, flows)),
        ("backward", Arc::new(BooleanArray::from(drops.backward))),
        ("bytes", Arc::new(UInt32Array::from(drops.bytes))),
        ("cause", named::<UInt8Type>(drops.cause.iter().map(cause).collect(), &names)),
    ])
}

fn table<const N: usize>(columns: [Column; N]) -> RecordBatch {
    batch(columns)
}

fn batch(columns: impl IntoIterator<Item = Column>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).expect("the columns of a table are equally long")
}

/// An index column as a dictionary: readers see names, and each row still costs an integer.
fn named<K: ArrowDictionaryKeyType>(keys: Vec<K::Native>, names: &Arc<StringArray>) -> ArrayRef {
    let keys = PrimitiveArray::<K>::from_iter_values(keys);
    Arc::new(DictionaryArray::try_new(keys, names.clone()).expect("every index has a name"))
}

/// A column in which NaN means that the value is missing.
fn known(values: Vec<f64>) -> ArrayRef {
    Arc::new(Float64Array::from_iter(values.into_iter().map(|value| (!value.is_nan()).then_some(value))))
}

fn texts<T>(rows: &[T], value: impl Fn(&T) -> &str) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(rows.iter().map(value)))
}

fn numbers<T>(rows: &[T], value: impl Fn(&T) -> f64) -> ArrayRef {
    Arc::new(Float64Array::from_iter_values(rows.iter().map(value)))
}

fn optionals<T>(rows: &[T], value: impl Fn(&T) -> Option<f64>) -> ArrayRef {
    Arc::new(Float64Array::from_iter(rows.iter().map(value)))
}

fn counts<T>(rows: &[T], value: impl Fn(&T) -> u64) -> ArrayRef {
    Arc::new(UInt64Array::from_iter_values(rows.iter().map(value)))
}
