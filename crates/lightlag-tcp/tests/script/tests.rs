//! Error messages for lines that cannot be read, and for scripts that fail.

use super::{player, text};
use proptest::prelude::*;

/// Returns the line and the message for text that is not a valid script.
fn refused(body: &str) -> (usize, String) {
    let problem = text::parse(&format!("# RFC 9293 §3.5: a test\n{body}")).expect_err(body);
    (problem.line, problem.message)
}

/// Returns the line and the message for a script that fails.
fn fails(body: &str) -> (usize, String) {
    let script = text::parse(&format!("# RFC 9293 §3.5: a test\n{HEAD}{body}")).unwrap();
    let problem = player::play(&script).expect_err(body);
    (problem.line, problem.message)
}

const HEAD: &str = "tcp { profile = \"rfc\", mss = \"1000 B\", timestamps = false }\nestablished rtt 100 ms\n";

#[test]
fn a_wrong_line_is_reported_with_the_valid_form() {
    for (line, words) in [
        ("write 10", "\"write\" is not a valid time"),
        ("0 ms", "the line ends too early: a step is a time and one of"),
        ("0 parsecs write 10", "\"parsecs\" is not a valid unit of time"),
        ("0 ms dance", "\"dance\" is not a valid step: a step is a time and one of: open"),
        ("0 ms write", "the line ends too early: a number of segments or bytes"),
        ("0 ms write ten", "\"ten\" is not a number of segments or bytes, such as 3"),
        ("0 ms write 10 now", "\"now\" is not expected here"),
        ("0 ms in 3...4", "is not a number"),
        ("0 ms in 3..", "is not a number"),
        ("0 ms in urg", "\"urg\" is not a valid part of a segment; a segment has: a range"),
        ("0 ms in ack 3 sack 5", "\"5\" is not a range, such as 3..4"),
        ("0 ms in ack 3 win 100", "\"100\" is not a window in bytes, such as 65535B"),
        ("0 ms in ack 3 ts soon", "\"soon\" is not a timestamp in milliseconds"),
        ("0 ms in syn wscale much", "\"much\" is not a shift, 0 to 14"),
        ("0 ms in syn no window", "\"no window\": only ts, mss, wscale, sackok, accecn and cookie can be absent"),
        ("0 ms expect", "expect needs facts after a bar"),
        ("0 ms expect | cwnd", "the line ends too early: a number of segments"),
        ("0 ms expect | window_size 3", "\"window_size\" is not a valid fact; there are cwnd"),
        ("0 ms expect | phase repair", "\"repair\" is not one of open, recovery, loss"),
        ("0 ms expect | rto fast", "\"fast\" does not start a time"),
        ("established", "a handshake has a round-trip time"),
        ("segment 1000", "the size of a segment is a number of bytes such as 1000B"),
        ("tcp { sacks = true }", "unknown field `sacks`"),
        ("tcp { mss = \"10 B\" }", "mss: 10 B is not between 36 and 65000 B"),
        ("tcp { mss = ", "inline table"),
    ] {
        let (number, message) = refused(&format!("{line}\n"));
        assert!(number == 2 && message.contains(words), "{line}: line {number}: {message}");
    }
}

#[test]
fn steps_do_not_go_back_and_settings_come_first() {
    assert_eq!(refused("5 ms write 1\n4 ms write 1").0, 3);
    assert!(refused("5 ms write 1\n4 ms write 1").1.contains("4 ms is before the step above, which is at 5 ms"));
    assert!(refused("5 ms write 1\ntcp { sack = false }").1.contains("tcp must come before the first step"));
}

#[test]
fn a_script_without_source_or_steps_is_rejected() {
    assert!(text::parse("0 ms open\n").unwrap_err().message.contains("starts with a comment that names its source"));
    assert!(text::parse("# no section\n0 ms open\n").unwrap_err().message.contains("RFC 9293 §3.5"));
    assert!(text::parse("# RFC 9293 §3.5: nothing\n").unwrap_err().message.contains("nothing happens"));
    assert_eq!(text::parse("").unwrap_err().line, 0);
}

#[test]
fn a_failing_step_is_reported_with_the_actual_event() {
    for (body, line, words) in [
        ("0 ms write 1\n0 ms out 0..2", 5, "but none is sent"),
        ("0 ms write 1\n0 ms out 1..2", 5, "expected seq 1; found at 0 s: out 0..1 ack 0"),
        ("0 ms write 1\n0 ms out 0..500B", 5, "expected this much data: 500B"),
        ("0 ms write 1\n5 ms out 0..1", 5, "expected a segment at 5 ms, found at 0 s: out 0..1"),
        ("0 ms write 2\n0 ms out 0..1\n9 ms in ack 1", 6, "nothing expected, found at 0 s: out 1..2"),
        ("0 ms write 1\n0 ms out 0..1 | cwnd 9", 5, "expected cwnd 9, found 10"),
        ("0 ms write 1\n0 ms out 0..1 | phase loss, rto 1 s", 5, "expected phase loss, found open"),
        ("0 ms write 1\n0 ms out fin 0..1", 5, "expected the flags fin ack"),
        ("0 ms write 1", 4, "nothing expected, found at 0 s: out 0..1"),
        ("0 ms in 1..2\n0 ms out ack 0", 5, "expected sack nothing; found at 0 s: out seq 0 ack 0"),
    ] {
        let (number, message) = fails(body);
        assert!(number == line && message.contains(words), "{body}: line {number}: {message}");
    }
    assert!(fails("0 ms write 1").1.contains("state established, phase open, cwnd 10"));
}

proptest! {
    /// For any text, the reader returns a script or an error, and running the script terminates.
    #[test]
    fn no_text_makes_the_reader_panic(
        lines in prop::collection::vec("(0 ms |\\+1 s |)(open|listen|close|write|read|in|out|expect|tcp|established)?[ -~]{0,30}", 0..8)
    ) {
        if let Err(problem) = text::parse(&format!("# RFC 9293 §3.5: a test\n{}", lines.join("\n"))) {
            prop_assert!(!problem.message.is_empty());
        }
    }
}
