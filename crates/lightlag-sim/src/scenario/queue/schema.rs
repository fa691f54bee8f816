//! The JSON Schema of a queue.

use super::{LARGEST_COUPLING, Limit, MOST_QUEUES, Queue};
use lightlag_core::{Bytes, Duration, Probability};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};
use std::borrow::Cow;

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
        let step = [("threshold", &limit), ("drop_not_ect", &flag)];
        json_schema!({
            "description": "how much may wait for transmission, and the discipline that decides what is dropped or marked",
            "anyOf": [
                limit,
                table("drop_tail", "drops what does not fit", &[("count_in_service", &flag)], &[]),
                table("red", "drops at random by the average length of the queue", &red, &[]),
                table("codel", "drops when packets wait longer than a target for an interval", &codel, &[]),
                table("fq_codel", "a queue for each flow, with CoDel on each", &fq_codel, &[]),
                table("pie", "drops at random, steered by the time that packets wait", &pie, &[]),
                table("dualpi2", "a short queue for scalable senders, coupled to a classic one", &dualpi2, &[]),
                table("step", "marks every packet beyond a threshold", &step, &["threshold"]),
            ]
        })
    }
}
