//! The JSON Schema of a queue.

use super::{LARGEST_COUPLING, Limit, MOST_QUEUES, MOST_THINNED, PRIORITY_MODES, Queue};
use lightlag_core::{Bytes, Duration, Probability};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};
use std::borrow::Cow;

const RED: &str = "Drops at random by the average length of the queue. Nothing below min_threshold, a part of \
                   max_probability up to max_threshold, everything beyond it, or beyond twice of it where gentle; with \
                   ecn it marks instead (Floyd, Jacobson 1993).";
const CODEL: &str = "Drops when packets wait too long. Once the wait exceeds target for a whole interval, at times that \
                     come closer and closer; with ecn it marks instead (RFC 8289).";
const FQ_CODEL: &str = "A queue for each flow, with CoDel on each. They are served in turns of a quantum, new flows first \
                        (RFC 8290).";
const PIE: &str = "Drops at random, steered by the time that packets wait. Every update the probability changes by how far \
                   that is from target and where it goes; the first burst passes; with ecn it marks instead (RFC 8033).";
const DUALPI2: &str = "A short queue for senders that answer marks in proportion, coupled to a classic one. A PI controller \
                       drops or marks from the classic one; its probability, times coupling, marks the short one, which \
                       takes ECT(1) (RFC 9332).";
const STEP: &str = "Marks every packet beyond a threshold. This is what DCTCP wants (Alizadeh et al. 2010, RFC 8257); \
                    packets that cannot be marked are dropped there or let through. With a weight below 1 the average \
                    queue decides, as in the routers of TCP-Jersey.";

const PRIORITY: &str = "Packets of low priority make room for the others. With push_out a packet that finds the buffer full \
                        takes the place of the youngest of low priority; with strict those also leave only when no other \
                        waits. TCP Peach probes with such packets (Akyildiz, Morabito, Palazzo 2001).";

const ACK_FILTER: &str = "Drop-tail with fewer ACKs, for the slow direction of an asymmetric path. A cumulative ACK takes the place \
                          of the one of its flow that waits, unless filter is false; of every so many such ACKs only one joins \
                          the queue. Duplicate and selective ACKs stay (RFC 3449 §5.2).";

impl JsonSchema for Limit {
    fn schema_name() -> Cow<'static, str> {
        "QueueLimit".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "how much may wait: packets, bytes, or multiples of the bandwidth-delay product",
            "examples": ["1000 packets", "64 kB", "1 bdp"]
        })
    }
}

impl JsonSchema for Queue {
    fn schema_name() -> Cow<'static, str> {
        "Queue".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let limit = json!(generator.subschema_for::<Limit>());
        let time = json!(generator.subschema_for::<Duration>());
        let size = json!(generator.subschema_for::<Bytes>());
        let chance = json!(generator.subschema_for::<Probability>());
        let flag = json!({ "type": "boolean" });
        let table = |name: &str, description: &str, keys: &[(&str, &Value)], required: &[&str]| {
            let mut properties = json!({ "discipline": { "const": name }, "limit": limit });
            for (key, schema) in keys {
                properties[*key] = (*schema).clone();
            }
            let required: Vec<&str> = ["discipline"].iter().chain(required).copied().collect();
            json!({
                "type": "object", "description": description, "properties": properties, "required": required,
                "additionalProperties": false,
            })
        };
        let codel = [("target", &time), ("interval", &time), ("ecn", &flag)];
        let flows = json!({ "type": "integer", "minimum": 1, "maximum": MOST_QUEUES });
        let coupling = json!({ "type": "number", "minimum": 1, "maximum": LARGEST_COUPLING });
        let fq_codel = [codel.as_slice(), &[("flows", &flows), ("quantum", &size)]].concat();
        let red = [
            ("min_threshold", &limit),
            ("max_threshold", &limit),
            ("max_probability", &chance),
            ("weight", &chance),
            ("gentle", &flag),
            ("ecn", &flag),
            ("mean_packet", &size),
        ];
        let pie = [("target", &time), ("update", &time), ("burst", &time), ("ecn", &flag)];
        let dualpi2 = [
            ("target", &time),
            ("max_rtt", &time),
            ("coupling", &coupling),
            ("min_threshold", &time),
            ("range", &time),
            ("classic_share", &chance),
        ];
        let step = [("threshold", &limit), ("drop_not_ect", &flag), ("weight", &chance)];
        let modes = json!({ "enum": PRIORITY_MODES.map(|(name, _)| name), "default": "push_out" });
        let every = json!({ "type": "integer", "minimum": 1, "maximum": MOST_THINNED });
        let ack_filter = [("filter", &flag), ("every", &every)];
        json_schema!({
            "description": "how much may wait for transmission, and the discipline that decides what is dropped or marked",
            "anyOf": [
                limit,
                table("drop_tail", "Drops what does not fit.", &[("count_in_service", &flag)], &[]),
                table("red", RED, &red, &[]),
                table("codel", CODEL, &codel, &[]),
                table("fq_codel", FQ_CODEL, &fq_codel, &[]),
                table("pie", PIE, &pie, &[]),
                table("dualpi2", DUALPI2, &dualpi2, &[]),
                table("step", STEP, &step, &["threshold"]),
                table("priority", PRIORITY, &[("mode", &modes)], &[]),
                table("ack_filter", ACK_FILTER, &ack_filter, &[]),
            ]
        })
    }
}
