//! Keys of `quic` beyond the rules of every connection: Careful Resume.

use crate::text::run;
use lightlag_sim::results::FlowSummary;

/// Round-trip time of the path in seconds.
const RTT: f64 = 0.6;

/// Returns an upload over 20 Mbit/s and 300 ms each way. `link` has keys of the link.
fn upload(link: &str, keys: &str) -> String {
    format!(
        "duration = \"600 s\"\nrecord = {{ trace = \"off\", queue = \"off\" }}\n\
         [[links]]\nbetween = [\"client\", \"server\"]\nrate = \"20 Mbit/s\"\ndelay = \"300 ms\"\n\
         queue = \"1 bdp\"\n{link}\n\
         [[flows]]\nfrom = \"client\"\nto = \"server\"\ntransport = \"quic\"\n{keys}\n"
    )
}

fn finish(flow: &FlowSummary) -> f64 {
    flow.finish_s.unwrap_or_else(|| panic!("unfinished: {flow:?}"))
}

/// Returns the errors of a scenario, each with its place.
fn errors(text: &str) -> String {
    let errors = match lightlag_scenario::parse_toml(text, &[]) {
        Ok(scenario) => scenario.expand().expect_err(text),
        Err(errors) => errors,
    };
    errors.iter().map(|error| format!("{}: {}", error.path, error.message)).collect::<Vec<_>>().join("; ")
}

/// Checks that a table `quic` with these keys has one error, which starts with the text.
fn refuses(keys: &str, expected: &str) {
    let message = errors(&upload("", &format!("transfer = \"1 MB\"\nquic = {{ {keys} }}")));
    assert!(message.starts_with(expected) && !message.contains("; flows"), "{message}");
}

#[test]
fn careful_resume_replaces_the_doublings_of_the_window() {
    let time = |resume: &str| {
        let keys = format!("transfer = \"2 MB\"\ncongestion = \"cubic\"\nquic = {{ {resume} }}");
        finish(&run(&upload("", &keys)).summary.flows[0])
    };
    // 1,200 B with 1,168 B of data take 0.491 ms.
    let rest = |datagrams: f64| datagrams * 1_228.0 * 8.0 / 20e6;
    // The handshake; 10 (2⁷ - 1) = 1,270 datagrams in seven rounds; half a round for the others.
    let plain = (1.0 + 7.0 + 0.5) * RTT + rest(2e6 / 1_168.0 - 1_270.0);
    assert!((time("") - plain).abs() < 0.2 * RTT, "{} of {plain}", time(""));
    // The handshake and the round of the initial window; half of the saved window then fills the link.
    let resumed = (1.0 + 1.0 + 0.5) * RTT + rest(2e6 / 1_168.0 - 10.0);
    let saved = time("careful_resume = { saved_cwnd = \"3 MB\", saved_rtt = \"600 ms\" }");
    assert!((saved - resumed).abs() < 0.2 * RTT, "{saved} of {resumed}");
    let other = time("careful_resume = { saved_cwnd = \"3 MB\", saved_rtt = \"1300 ms\" }");
    assert!((other - time("")).abs() < 0.1 * RTT, "{other} of {}", time(""));
}

#[test]
fn careful_resume_needs_values_and_a_window_that_can_jump() {
    for (keys, expected) in [
        ("saved_cwnd = \"0 B\", saved_rtt = \"1 s\"", "flows[0].quic.careful_resume.saved_cwnd: 0 B is not between"),
        ("saved_cwnd = \"1 MB\", saved_rtt = \"0 s\"", "flows[0].quic.careful_resume.saved_rtt: 0 s is not above"),
        ("saved_cwnd = \"1 MB\"", "flows[0].quic.careful_resume"),
    ] {
        refuses(&format!("careful_resume = {{ {keys} }}"), expected);
    }
    let saved = "careful_resume = { saved_cwnd = \"1 MB\", saved_rtt = \"1 s\" }";
    refuses(&format!("congestion = \"bbr\", {saved}"), "flows[0].quic.careful_resume: bbr has no window");
}
