use super::*;
use crate::quic::tests::config;
use crate::quic::{SessionSpec, Side, Version};
use lightlag_core::{Duration, Instant};
use lightlag_quic::contents::{Contents, Part};
use lightlag_quic::frame::{AckHeader, Direction, EcnCounts, Frame};
use lightlag_quic::ranges::Range;
use lightlag_quic::{Kind, SpaceId};
use serde_json::{Value, json};

const TIME: Instant = Instant::from_nanos(1_250_500_000);

fn log(schema: Schema) -> Log {
    Log::new(schema, Side::Client, SessionSpec::new(1, Version::One, &config(), &config()))
}

/// Returns the records of a text sequence.
fn parsed(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| {
            let record = line.strip_prefix('\x1e').expect("a separator before each record");
            serde_json::from_str(record).expect("JSON")
        })
        .collect()
}

fn records(schema: Schema, event: &Event<'_>) -> Vec<Value> {
    let mut text = String::new();
    log(schema).record(&mut text, TIME, event);
    parsed(&text)
}

/// A datagram with a Handshake packet and a 1-RTT packet, which acknowledges 1-5 and 7 and carries data.
fn datagram() -> Contents {
    let handshake = Part { kind: Kind::Handshake, number: 2, size: 100, frames: 1, ..Part::default() };
    // 50 · 2³ µs = 0.4 ms.
    let ack = AckHeader { delay: 50, ecn: Some(EcnCounts { ect0: 6, ect1: 0, ce: 1 }) };
    let data = Part { number: 9, size: 1_100, spin: true, ack: Some(ack), frames: 2, ranges: 2, ..Part::default() };
    Contents {
        parts: vec![handshake, data],
        frames: vec![
            Frame::Crypto { offset: 0, len: 52 },
            Frame::MaxData(90_000),
            Frame::Stream { stream: 4, offset: 8_000, len: 700, fin: true, to_end: true },
        ],
        ranges: vec![Range { start: 7, end: 8 }, Range { start: 1, end: 6 }],
    }
}

#[test]
fn the_first_record_declares_the_schema() {
    let titles = Titles { title: "a \"run\"", description: "made by us", name: "sender" };
    let header = |schema| {
        let mut text = String::new();
        log(schema).header(&mut text, &titles);
        parsed(&text).remove(0)
    };
    let old = header(Schema::V03);
    assert_eq!((&old["qlog_version"], &old["qlog_format"]), (&json!("0.3"), &json!("JSON-SEQ")));
    assert_eq!(old["title"], "a \"run\"");
    assert_eq!(old["trace"]["vantage_point"], json!({"name": "sender", "type": "client"}));
    let common = json!({"time_format": "relative", "reference_time": 0, "protocol_type": ["QUIC"]});
    assert_eq!(old["trace"]["common_fields"], common);
    let current = header(Schema::Current);
    assert_eq!(current["file_schema"], "urn:ietf:params:qlog:file:sequential");
    assert_eq!(current["serialization_format"], "application/qlog+json-seq");
    assert_eq!(current["trace"]["event_schemas"], json!(["urn:ietf:params:qlog:events:quic-13"]));
    assert!(current.get("qlog_version").is_none());
}

#[test]
fn each_packet_of_a_datagram_is_a_record_of_qlog_0_3() {
    let contents = datagram();
    let sent = records(Schema::V03, &Event::Sent { contents: &contents, trigger: Some(SendTrigger::PtoProbe) });
    assert_eq!(
        sent[0],
        json!({"time": 1_250.5, "name": "transport:packet_sent", "data": {
            "header": {"packet_type": "handshake", "packet_number": 2},
            "frames": [{"frame_type": "crypto", "offset": 0, "length": 52}],
            "raw": {"length": 100, "payload_length": 55},
            "trigger": "pto_probe",
        }})
    );
    assert_eq!(
        sent[1]["data"],
        json!({
            "header": {"packet_type": "1RTT", "packet_number": 9},
            "frames": [
                {"frame_type": "ack", "ack_delay": 0.4, "acked_ranges": [[1, 5], [7]], "ect0": 6, "ect1": 0, "ce": 1},
                {"frame_type": "max_data", "maximum": 90_000},
                {"frame_type": "stream", "stream_id": 4, "offset": 8_000, "length": 700, "fin": true},
            ],
            // ACK: 1 + 1 + 1 + 1 + 1 + 2 + 3 counts; MAX_DATA: 1 + 4; STREAM: 1 + 1 + 2 + 700.
            "raw": {"length": 1_100, "payload_length": 10 + 5 + 704},
            "trigger": "pto_probe",
        })
    );
    let received = records(Schema::V03, &Event::Received { contents: &contents });
    assert_eq!((received.len(), &received[1]["name"]), (2, &json!("transport:packet_received")));
    assert!(received[0]["data"].get("trigger").is_none());
}

#[test]
fn the_current_schema_has_its_own_names_and_lengths() {
    let contents = datagram();
    let sent = records(Schema::Current, &Event::Sent { contents: &contents, trigger: None });
    assert_eq!(sent[1]["name"], "quic:packet_sent");
    let data = &sent[1]["data"];
    assert_eq!(
        data["header"],
        json!({"packet_type": "1RTT", "packet_number": 9, "spin_bit": true, "key_phase_bit": false})
    );
    let stream = json!({"frame_type": "stream", "stream_id": 4, "offset": 8_000, "fin": true,
        "raw": {"length": 704, "payload_length": 700}});
    assert_eq!(data["frames"][2], stream);
}

/// The names of both schemas for every event but packets.
#[test]
fn events_have_the_names_of_their_schema() {
    let parameters = lightlag_quic::Parameters::of(&config());
    let timer = UpdatedTimer {
        kind: TimerKind::Loss,
        space: Some(SpaceId::Application),
        change: TimerChange::Set(Duration::from_millis(40)),
    };
    let lost = Event::Lost { kind: Kind::OneRtt, number: 7, trigger: LossTrigger::TimeThreshold };
    let state = Event::State { old: Some(ConnectionState::Attempted), new: ConnectionState::HandshakeStarted };
    let cases: [(Event<'_>, Option<&str>, &str); 8] = [
        (state, Some("connectivity:connection_state_updated"), "quic:connection_state_updated"),
        (
            Event::Parameters { owner: Owner::Remote, parameters: &parameters },
            Some("transport:parameters_set"),
            "quic:parameters_set",
        ),
        (lost, Some("recovery:packet_lost"), "quic:packet_lost"),
        (Event::Metrics(Metrics::default()), Some("recovery:metrics_updated"), "quic:recovery_metrics_updated"),
        (
            Event::Congestion { old: None, new: "recovery" },
            Some("recovery:congestion_state_updated"),
            "quic:congestion_state_updated",
        ),
        (Event::Timer(timer), Some("recovery:loss_timer_updated"), "quic:timer_updated"),
        (Event::Mtu { old: 1_200, new: 1_452, done: true }, Some("connectivity:mtu_updated"), "quic:mtu_updated"),
        (Event::Ecn { new: EcnState::Capable }, None, "quic:ecn_state_updated"),
    ];
    for (event, old, current) in cases {
        let name = |schema| records(schema, &event).first().map(|record| record["name"].clone());
        assert_eq!(name(Schema::V03), old.map(|name| json!(name)), "{event:?}");
        assert_eq!(name(Schema::Current), Some(json!(current)), "{event:?}");
    }
    let data = |schema, event: &Event<'_>| records(schema, event)[0]["data"].clone();
    assert_eq!(data(Schema::V03, &state), json!({"old": "attempted", "new": "handshake_started"}));
    let expected = json!({"header": {"packet_type": "1RTT", "packet_number": 7}, "trigger": "time_threshold"});
    assert_eq!(data(Schema::Current, &lost), expected);
    let set =
        |kind| json!({"timer_type": kind, "packet_number_space": "application_data", "event_type": "set", "delta": 40});
    assert_eq!(data(Schema::Current, &Event::Timer(timer)), set("loss_timeout"));
    assert_eq!(data(Schema::V03, &Event::Timer(timer)), set("pto"));
    let announced = Event::Parameters { owner: Owner::Remote, parameters: &parameters };
    assert_eq!(data(Schema::V03, &announced)["owner"], "remote");
    assert_eq!(data(Schema::Current, &announced)["initiator"], "remote");
    assert_eq!(data(Schema::V03, &announced)["initial_max_data"], parameters.limits.connection);
}

#[test]
fn metrics_are_milliseconds_bytes_and_bits_per_second() {
    let metrics = Metrics {
        min_rtt: Some(Duration::from_millis(600)),
        smoothed_rtt: Some(Duration::from_nanos(612_345_678)),
        congestion_window: Some(12_000),
        bytes_in_flight: Some(8_400),
        pacing_rate: Some(2_000_000),
        pto_count: Some(1),
        ..Metrics::default()
    };
    assert_eq!(
        records(Schema::V03, &Event::Metrics(metrics))[0]["data"],
        json!({"min_rtt": 600, "smoothed_rtt": 612.345678, "pto_count": 1, "congestion_window": 12_000,
            "bytes_in_flight": 8_400, "pacing_rate": 2_000_000})
    );
}

/// The fields of quic-events §7.13 for each frame.
#[test]
fn every_frame_has_the_fields_of_the_drafts() {
    let streams = Direction::Unidirectional;
    let id = Frame::NewConnectionId { sequence: 1, retire_prior: 0, len: 8 };
    let frames = [
        (Frame::Padding(9), json!({"frame_type": "padding", "payload_length": 9, "length": 9})),
        (Frame::Ping, json!({"frame_type": "ping"})),
        (
            Frame::ResetStream { stream: 4, code: 7, final_size: 90 },
            json!({"frame_type": "reset_stream", "stream_id": 4, "error_code": 7, "final_size": 90}),
        ),
        (
            Frame::StopSending { stream: 4, code: 7 },
            json!({"frame_type": "stop_sending", "stream_id": 4, "error_code": 7}),
        ),
        (Frame::NewToken(64), json!({"frame_type": "new_token", "token": {"length": 64}})),
        (
            Frame::MaxStreamData { stream: 4, limit: 90 },
            json!({"frame_type": "max_stream_data", "stream_id": 4, "maximum": 90}),
        ),
        (
            Frame::MaxStreams(streams, 9),
            json!({"frame_type": "max_streams", "stream_type": "unidirectional", "maximum": 9}),
        ),
        (Frame::DataBlocked(90), json!({"frame_type": "data_blocked", "limit": 90})),
        (
            Frame::StreamDataBlocked { stream: 4, limit: 90 },
            json!({"frame_type": "stream_data_blocked", "stream_id": 4, "limit": 90}),
        ),
        (
            Frame::StreamsBlocked(streams, 9),
            json!({"frame_type": "streams_blocked", "stream_type": "unidirectional", "limit": 9}),
        ),
        (Frame::RetireConnectionId(3), json!({"frame_type": "retire_connection_id", "sequence_number": 3})),
        (Frame::PathChallenge(0xab), json!({"frame_type": "path_challenge", "data": "00000000000000ab"})),
        (Frame::PathResponse(0xab), json!({"frame_type": "path_response", "data": "00000000000000ab"})),
        (
            Frame::Close { code: 10, frame_type: 8, reason: 0 },
            json!({"frame_type": "connection_close", "error_space": "transport", "error_code": 10,
                "trigger_frame_type": 8}),
        ),
        (
            Frame::ApplicationClose { code: 7, reason: 0 },
            json!({"frame_type": "connection_close", "error_space": "application", "error_code": 7}),
        ),
        (Frame::HandshakeDone, json!({"frame_type": "handshake_done"})),
        (Frame::Datagram { tag: 0, len: 90, to_end: true }, json!({"frame_type": "datagram", "length": 90})),
        (Frame::ImmediateAck, json!({"frame_type": "immediate_ack"})),
    ];
    let described = |schema, frame| {
        let part = Part { frames: 1, size: 90, ..Part::default() };
        let contents = Contents { parts: vec![part], frames: vec![frame], ..Contents::default() };
        records(schema, &Event::Sent { contents: &contents, trigger: None })[0]["data"]["frames"][0].clone()
    };
    for (frame, expected) in frames {
        assert_eq!(described(Schema::V03, frame), expected);
        assert_eq!(described(Schema::Current, frame)["frame_type"], expected["frame_type"]);
    }
    let close = described(Schema::Current, Frame::Close { code: 10, frame_type: 0, reason: 0 });
    assert_eq!((&close["error"], &close["error_code"]), (&json!("unknown"), &json!(10)));
    let new = described(Schema::Current, id);
    // The ID of a client: role 1 in the two high bits, sequence number 1; then connection 1.
    assert_eq!((&new["connection_id"], &new["connection_id_length"]), (&json!("4101000000000000"), &json!(8)));
    assert_eq!(new["stateless_reset_token"].as_str().map(str::len), Some(32));
    assert_eq!(described(Schema::V03, id)["stateless_reset_token"]["data"], new["stateless_reset_token"]);
}

#[test]
fn a_retry_has_a_token_and_no_number() {
    let part = Part { kind: Kind::Retry, token: 64, size: 120, ..Part::default() };
    let contents = Contents { parts: vec![part], ..Contents::default() };
    let received = records(Schema::V03, &Event::Received { contents: &contents });
    assert_eq!(received[0]["data"]["header"], json!({"packet_type": "retry", "token": {"length": 64}}));
}
