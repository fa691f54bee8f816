//! Behaviour of complete scenarios at the public interface, with one module for each subject.
//!
//! All modules are in one test program, because building a program for each would take minutes.

/// Two links whose second one drops packets at its queue, for captures and logs.
macro_rules! two_links {
    () => {
        r#"
duration = "60 s"
[[links]]
between = ["a", "r"]
rate = "100 Mbit/s"
delay = "5 ms"
[[links]]
between = ["r", "b"]
rate = "5 Mbit/s"
delay = "20 ms"
queue = "12 packets"
"#
    };
}

#[path = "../memory/mod.rs"]
mod memory;
#[path = "../text/mod.rs"]
mod text;

mod accounts;
mod ack_filter;
mod assignment;
mod baseband;
mod bbr;
mod behaviour;
mod captures;
mod careful_resume;
mod chains;
mod chance;
mod compressed_headers;
mod constellation;
mod copa;
mod dialogues;
mod fec;
mod following;
mod gateways;
mod http3;
mod iot;
mod limits;
mod logs;
mod mixed_traffic;
mod offload;
mod pages;
mod partitions;
mod peach;
mod prefetch;
mod proxies;
mod queueing;
mod queues;
mod quic;
mod quic_features;
mod radio_access;
mod repeat;
mod routes;
mod satellite;
mod satellite_transports;
mod scps;
mod signals;
mod split_dialogues;
mod steps;
mod stuck;
mod swarms;
mod traces;
mod tunnels;
