//! The JSON Schema agrees with the parser, and the scenarios that are shipped with lightlag are valid in both.

use lightlag_scenario::{parse_toml, schema};
use serde_json::{Value, json};

/// Returns the paths where `value` violates `schema`. Implements the parts of JSON Schema 2020-12 that our schema uses.
fn violations(root: &Value, schema: &Value, value: &Value, path: &str) -> Vec<String> {
    let Value::Object(keywords) = schema else { return Vec::new() };
    let below = |schema: &Value, value: &Value, at: &str| violations(root, schema, value, at);
    let mut list = Vec::new();
    let mut require = |holds: bool, what: String| {
        if !holds {
            list.push(format!("{path}: {what}"));
        }
    };
    for (keyword, rule) in keywords {
        match keyword.as_str() {
            "$ref" => {
                let target = root.pointer(rule.as_str().unwrap().trim_start_matches('#'));
                let target = target.unwrap_or_else(|| panic!("{rule} leads nowhere"));
                below(target, value, path).into_iter().for_each(|violation| require(false, violation));
            }
            "type" => {
                let names = rule.as_array().cloned().unwrap_or_else(|| vec![rule.clone()]);
                let fits = names.iter().any(|name| match name.as_str().unwrap() {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "boolean" => value.is_boolean(),
                    "null" => value.is_null(),
                    "integer" => value.is_u64() || value.is_i64(),
                    "number" => value.is_number(),
                    other => panic!("unknown type {other}"),
                });
                require(fits, format!("{value} is not of type {rule}"));
            }
            "properties" => {
                for (key, schema) in rule.as_object().unwrap() {
                    if let Some(value) = value.get(key) {
                        below(schema, value, &format!("{path}.{key}")).into_iter().for_each(|v| require(false, v));
                    }
                }
            }
            "required" => {
                for key in rule.as_array().unwrap() {
                    require(
                        !value.is_object() || value.get(key.as_str().unwrap()).is_some(),
                        format!("{key} is missing"),
                    );
                }
            }
            "additionalProperties" if *rule == json!(false) => {
                let known = schema.get("properties").and_then(Value::as_object);
                for key in value.as_object().into_iter().flat_map(|entries| entries.keys()) {
                    require(known.is_some_and(|known| known.contains_key(key)), format!("{key} is unknown"));
                }
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    below(rule, item, &format!("{path}[{index}]")).into_iter().for_each(|v| require(false, v));
                }
            }
            "anyOf" | "oneOf" => {
                let fitting =
                    rule.as_array().unwrap().iter().filter(|schema| below(schema, value, path).is_empty()).count();
                require(fitting >= 1 && (keyword == "anyOf" || fitting == 1), format!("{value} fits {fitting} forms"));
            }
            "enum" => require(rule.as_array().unwrap().contains(value), format!("{value} is not one of {rule}")),
            "const" => require(rule == value, format!("{value} is not {rule}")),
            "minimum" => require(value.as_f64() >= rule.as_f64(), format!("{value} is below {rule}")),
            "maximum" => require(value.as_f64() <= rule.as_f64(), format!("{value} is above {rule}")),
            "minProperties" => {
                let keys = value.as_object().map_or(0, |entries| entries.len() as u64);
                require(keys >= rule.as_u64().unwrap(), "too few keys".into());
            }
            "minLength" => {
                let length = value.as_str().map(|text| text.chars().count() as u64);
                require(length.is_none_or(|length| length >= rule.as_u64().unwrap()), "too short".into());
            }
            "minItems" => require(value.as_array().unwrap().len() as u64 >= rule.as_u64().unwrap(), "too short".into()),
            "maxItems" => require(value.as_array().unwrap().len() as u64 <= rule.as_u64().unwrap(), "too long".into()),
            "$defs" | "$schema" | "$id" | "title" | "description" | "examples" | "default" | "format" => {}
            "additionalProperties" => {}
            other => panic!("the schema uses {other}, which this test does not know"),
        }
    }
    list
}

fn check(value: &Value) -> Vec<String> {
    let schema = schema();
    violations(&schema, &schema, value, "")
}

/// Returns the name and the text of each scenario that is shipped with lightlag.
fn shipped() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let files = files.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files
        .map(|path| (path.file_stem().unwrap().to_string_lossy().into_owned(), std::fs::read_to_string(path).unwrap()))
        .collect()
}

#[test]
fn shipped_scenarios_are_right_and_called_after_their_files() {
    let shipped = shipped();
    assert!(shipped.len() >= 8, "{} scenarios", shipped.len());
    for (name, text) in shipped {
        let scenario = parse_toml(&text, &[]).unwrap_or_else(|errors| panic!("{name}: {errors:#?}"));
        assert_eq!(scenario.name, name);
        assert!(text.starts_with("# Shows: "), "the first comment of {name} describes it");
        let network = scenario.expand().unwrap();
        let warnings = scenario.warnings(&network);
        // Examples of warnings have some: ACKs that a link delays, unconnected nodes and flows.
        let about = match name.as_str() {
            "asymmetric" => 1,
            "swarm-default-radio" => 2,
            _ => 0,
        };
        assert_eq!(warnings.len(), about, "{name}: {warnings:#?}");
    }
}

#[test]
fn shipped_scenarios_obey_the_schema_as_written_and_in_full() {
    for (name, text) in shipped() {
        let written: Value = serde_json::to_value(text.parse::<toml::Table>().unwrap()).unwrap();
        assert_eq!(check(&written), Vec::<String>::new(), "{name} as written");
        let full = parse_toml(&text, &[]).unwrap().to_json();
        assert_eq!(check(&full), Vec::<String>::new(), "{name} in full");
    }
}

/// Returns one traffic of each kind and with each distribution.
fn kinds_of_traffic() -> Vec<(&'static str, Value)> {
    let every = json!({ "distribution": "exponential", "mean": "1 s" });
    vec![
        ("tcp", json!({ "kind": "bulk" })),
        ("tcp", json!({ "kind": "constant", "rate": "1 Mbit/s" })),
        ("udp", json!({ "kind": "constant", "rate": "1 Mbit/s", "size": "500 B", "stop": "1 h" })),
        ("udp", json!({ "kind": "on_off", "rate": "1 Mbit/s", "on": "1 s", "off": every })),
        ("udp", json!({ "kind": "periodic", "size": "100 B", "every": "1 s", "first": "0 s", "count": 3 })),
        (
            "tcp",
            json!({
                "kind": "periodic", "every": "1 s",
                "size": { "distribution": "pareto", "mean": "1 kB", "shape": 1.2, "max": "1 MB" },
                "first": { "distribution": "uniform", "min": "0 s", "max": "1 s" }
            }),
        ),
        ("tcp", json!({ "kind": "transfers", "load": 0.5, "size": "10 kB", "count": 3 })),
        (
            "tcp",
            json!({ "kind": "transfers", "every": "1 s", "size": { "distribution": "exponential", "mean": "1 kB" } }),
        ),
        ("tcp", json!({ "kind": "requests", "response": "10 kB", "think": every, "server_time": "5 ms", "count": 3 })),
        ("tcp", json!({ "kind": "web", "html": "10 kB", "objects": 20, "object": "5 kB", "connections": 3 })),
        ("tcp", json!({ "kind": "page", "file": "page.json", "http": "2", "priorities": false, "think": every })),
        (
            "tcp",
            json!({
                "kind": "web", "html": "10 kB", "object": "5 kB", "http": "2", "request": "500 B",
                "objects": { "distribution": "uniform", "min": 1, "max": 20 }
            }),
        ),
        (
            "udp",
            json!({
                "kind": "poisson", "every": "20 ms",
                "size": { "distribution": "lognormal", "median": "1 kB", "sigma": 0.7 }
            }),
        ),
        (
            "udp",
            json!({
                "kind": "burst", "messages": 5, "every": every, "count": 2,
                "size": { "distribution": "empirical", "values": ["1 kB", "2 kB"], "weights": [1, 0.5] }
            }),
        ),
    ]
}

#[test]
fn the_schema_rejects_what_the_parser_rejects() {
    let good = json!({
        "duration": "1 s",
        "topology": { "kind": "dumbbell", "pairs": 1, "rate": "1 Mbit/s", "delay": "1 ms", "flow": { "tcp": {} } },
        "links": [{ "between": ["a", "b"], "rate": "1 Mbit/s", "delay": "1 ms" }],
        "flows": [{ "from": "a", "to": "b", "congestion": "cubic" }]
    });
    assert_eq!(check(&good), Vec::<String>::new());
    for (key, value) in [
        (
            "queue",
            json!({ "forward": { "discipline": "red", "limit": "1 bdp", "ecn": true }, "backward": "9 packets" }),
        ),
        ("queue", json!({ "discipline": "fq_codel", "interval": "600 ms", "flows": 16, "quantum": "300 B" })),
        ("queue", json!({ "discipline": "pie", "burst": "0 s" })),
        ("queue", json!({ "discipline": "dualpi2", "coupling": 2, "max_rtt": "600 ms" })),
        ("queue", json!({ "discipline": "step", "threshold": "20 packets", "drop_not_ect": true })),
        ("queue", json!({ "discipline": "priority", "mode": "strict", "limit": "1 bdp" })),
        ("queue", json!({ "discipline": "ack_filter", "every": 4, "filter": false })),
        ("reorder", json!({ "probability": 0.1, "delay": ["1 ms", "2 ms"] })),
        ("duplicate", json!({ "forward": 0.1 })),
        ("delay", json!({ "distance": "384400 km", "processing": "1 ms" })),
        ("delay", json!({ "forward": { "orbit": "geo", "elevation": ["40 deg", "9 deg"] }, "backward": "1 ms" })),
        ("delay", json!({ "height": "550 km", "satellites": 22 })),
    ] {
        let mut other = good.clone();
        other["links"][0][key] = value;
        assert_eq!(check(&other), Vec::<String>::new());
        let read = lightlag_scenario::parse_json(&other.to_string(), &[]).unwrap();
        assert_eq!(check(&read.to_json()), Vec::<String>::new(), "in full");
    }
    for routing in [
        json!("static"),
        json!("follow links"),
        json!({ "kind": "static" }),
        json!({ "kind": "follow links", "convergence": "200 ms", "ttl": 255 }),
    ] {
        let mut other = good.clone();
        other["routing"] = routing;
        assert_eq!(check(&other), Vec::<String>::new());
        let read = lightlag_scenario::parse_json(&other.to_string(), &[]).unwrap();
        assert_eq!(check(&read.to_json()), Vec::<String>::new(), "in full");
        assert_eq!(lightlag_scenario::parse_json(&read.to_json().to_string(), &[]), Ok(read));
    }
    for (transport, traffic) in kinds_of_traffic() {
        let mut other = good.clone();
        other["flows"] = json!([{ "from": "a", "to": "b", "transport": transport, "traffic": traffic }]);
        assert_eq!(check(&other), Vec::<String>::new(), "{traffic}");
        let read = lightlag_scenario::parse_json(&other.to_string(), &[]);
        let read = read.unwrap_or_else(|errors| panic!("{traffic}: {errors:#?}"));
        assert_eq!(check(&read.to_json()), Vec::<String>::new(), "in full");
        let again = lightlag_scenario::parse_json(&read.to_json().to_string(), &[]);
        assert_eq!(again.as_ref(), Ok(&read), "{traffic}");
    }
    for (pointer, value) in [
        ("/flows/0/transport", json!("sctp")),
        ("/flows/0/traffic", json!({ "kind": "bursty" })),
        ("/flows/0/traffic", json!({ "kind": "constant" })),
        ("/flows/0/traffic", json!({ "kind": "requests", "response": "1 kB", "transfer": "1 MB" })),
        ("/flows/0/traffic", json!({ "kind": "web", "html": "1 kB", "object": "1 kB" })),
        ("/flows/0/traffic", json!({ "kind": "page" })),
        ("/flows/0/setup", json!({ "tls": "1.1" })),
        ("/flows/0/setup", json!({ "dns": "resolver" })),
        ("/flows/0/traffic", json!({ "kind": "web", "html": "1 kB", "object": "1 kB", "objects": 1, "http": "4" })),
        ("/flows/0/traffic", json!({ "kind": "constant", "rate": "1 Mbit/s", "every": "1 s" })),
        ("/flows/0/traffic", json!({ "kind": "poisson", "every": "1 s", "size": { "distribution": "normal" } })),
        ("/flows/0/traffic", json!({ "kind": "poisson", "every": "1 s", "size": { "distribution": "uniform" } })),
        ("/duration", json!(1)),
        ("/durration", json!("1 s")),
        ("/routing", json!("ospf")),
        ("/routing", json!({ "kind": "static", "ttl": 64 })),
        ("/routing", json!({ "kind": "follow links", "ttl": 256 })),
        ("/topology/kind", json!("torus")),
        ("/topology/hops", json!(3)),
        ("/topology/flow/sise", json!("1 MB")),
        ("/topology/flow/tcp/sacks", json!(true)),
        ("/links/0/between", json!(["a"])),
        ("/links/0/loss", json!(1.5)),
        ("/links/0/loss", json!({ "bit_eror_rate": 0.1 })),
        ("/links/0/queue", json!(3)),
        ("/links/0/queue", json!({ "discipline": "codle" })),
        ("/links/0/queue", json!({ "discipline": "codel", "flows": 3 })),
        ("/links/0/queue", json!({ "discipline": "step" })),
        ("/links/0/queue", json!({ "discipline": "priority", "mode": "weak" })),
        ("/links/0/queue", json!({ "discipline": "ack_filter", "every": 0 })),
        ("/links/0/queue", json!({ "limit": "1 bdp" })),
        ("/links/0/reorder", json!(0.1)),
        ("/links/0/reorder", json!({ "probability": 0.1 })),
        ("/links/0/duplicate", json!(1.5)),
        ("/links/0/delay", json!({ "orbit": "geo" })),
        ("/links/0/delay", json!({ "distanz": "1 km" })),
        ("/flows/0/form", json!("a")),
        ("/flows/0/tcp", json!({ "mss": 1460 })),
        ("/flows/0/tcp", json!({ "rto": { "mni": "1 s" } })),
        ("/record", json!({ "trace": "all" })),
    ] {
        let mut bad = good.clone();
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        bad.pointer_mut(parent).unwrap()[key] = value;
        assert!(!check(&bad).is_empty(), "the schema takes {bad}");
        assert!(lightlag_scenario::parse_json(&bad.to_string(), &[]).is_err(), "the parser takes {bad}");
    }
}

fn line_only() -> Value {
    json!({ "rate": "1 bit/s", "delay": "0 s" })
}

#[test]
fn every_key_of_the_parser_is_in_the_schema() {
    // A key that does not exist makes the parser name those that do.
    let keys = |mut tree: Value, pointer: &str| -> Vec<String> {
        tree.pointer_mut(pointer).unwrap()["zzz"] = json!(1);
        let errors = lightlag_scenario::parse_json(&tree.to_string(), &[]).unwrap_err();
        let error = errors.iter().find(|error| error.path.ends_with("zzz")).expect("zzz is rejected");
        let list = error.message.split("one of ").nth(1).unwrap();
        list.trim_end_matches(')').split(", ").map(str::to_owned).collect()
    };
    let schema = schema();
    let in_schema = |definition: &str| -> Vec<String> {
        let definition = if definition.is_empty() { &schema } else { &schema["$defs"][definition] };
        definition["properties"].as_object().unwrap().keys().cloned().collect()
    };
    let tree = |topology: Value| {
        json!({
            "duration": "1 s", "defaults": { "tcp": { "rto": {} } }, "record": {}, "topology": topology,
            "links": [{ "between": ["a", "b"], "rate": "1 Mbit/s", "delay": "1 ms" }],
            "flows": [{ "from": "a", "to": "b", "tcp": {} }]
        })
    };
    let dumbbell =
        json!({ "kind": "dumbbell", "pairs": 1, "rate": "1 bit/s", "delay": "0 s", "access": {}, "flow": {} });
    for (pointer, definition) in [
        ("", ""),
        ("/defaults", "Defaults"),
        ("/defaults/tcp", "Options"),
        ("/defaults/tcp/rto", "RtoOptions"),
        ("/record", "Record"),
        ("/links/0", "LinkSpec"),
        ("/flows/0", "FlowSpec"),
        ("/topology/access", "Access"),
        ("/topology/flow", "FlowTemplate"),
    ] {
        let (mut parser, mut schema) = (keys(tree(dumbbell.clone()), pointer), in_schema(definition));
        parser.sort();
        schema.sort();
        assert_eq!(parser, schema, "{pointer} and {definition}");
    }
    let line = json!({ "rate": "1 bit/s", "delay": "0 s", "flow": {} });
    let satellite = json!({
        "kind": "satellite", "pairs": 1, "flow": {}, "access": {}, "uplink": line_only(), "downlink": line_only(),
        "bottleneck": line_only(), "isl": line_only(),
        "terrestrial": { "pairs": 1, "rate": "1 bit/s", "delay": "0 s" }
    });
    for (pointer, definition) in [
        ("/topology/uplink", "Hop"),
        ("/topology/isl", "PlainLink"),
        ("/topology/bottleneck", "PlainLink"),
        ("/topology/terrestrial", "Terrestrial"),
    ] {
        let (mut parser, mut schema) = (keys(tree(satellite.clone()), pointer), in_schema(definition));
        parser.sort();
        schema.sort();
        assert_eq!(parser, schema, "{pointer} and {definition}");
    }
    let mut parser = keys(tree(satellite), "/topology");
    let forms = schema["$defs"]["Topology"]["oneOf"].as_array().unwrap();
    let form = forms.iter().find(|form| form["properties"]["kind"]["const"] == json!("satellite")).unwrap();
    let mut form: Vec<String> = form["properties"].as_object().unwrap().keys().cloned().collect();
    parser.sort();
    form.sort();
    assert_eq!(parser, form, "satellite");
    for (kind, count) in
        [("point-to-point", None), ("chain", Some("hops")), ("dumbbell", Some("pairs")), ("star", Some("leaves"))]
    {
        let mut topology = line.clone();
        topology["kind"] = json!(kind);
        if let Some(count) = count {
            topology[count] = json!(1);
        }
        let mut parser = keys(tree(topology), "/topology");
        let forms = schema["$defs"]["Topology"]["oneOf"].as_array().unwrap();
        let form = forms.iter().find(|form| form["properties"]["kind"]["const"] == json!(kind)).unwrap();
        let mut schema: Vec<String> = form["properties"].as_object().unwrap().keys().cloned().collect();
        parser.sort();
        schema.sort();
        assert_eq!(parser, schema, "{kind}");
    }
}

/// Collects all properties in a schema, with their paths.
fn properties<'a>(schema: &'a Value, path: &str, list: &mut Vec<(String, &'a Value)>) {
    match schema {
        Value::Object(entries) => {
            for (key, below) in entries.get("properties").and_then(Value::as_object).into_iter().flatten() {
                list.push((format!("{path}.{key}"), below));
            }
            entries.iter().for_each(|(key, below)| properties(below, &format!("{path}/{key}"), list));
        }
        Value::Array(items) => items.iter().for_each(|below| properties(below, path, list)),
        _ => {}
    }
}

#[test]
fn every_key_is_described() {
    let (root, mut keys) = (schema(), Vec::new());
    assert_eq!(root["$id"], "urn:lightlag:scenario");
    properties(&root, "", &mut keys);
    assert!(keys.len() > 800, "{}", keys.len());
    let silent = |(_, key): &&(String, &Value)| key["description"].as_str().is_none_or(|text| text.len() < 4);
    let silent: Vec<&String> = keys.iter().filter(silent).map(|(at, _)| at).collect();
    assert_eq!(silent, Vec::<&String>::new());
}
