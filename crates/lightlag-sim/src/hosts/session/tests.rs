use super::*;
use lightlag_scenario::parse_toml;

/// Returns the dialogue of a flow with this traffic, over `connections` connections. Connection `n` has the client `2n`
/// and the server `2n + 1`.
fn dialogue(traffic: &str, connections: u32) -> Session {
    let text = format!(
        "duration = \"10 s\"\n[[links]]\nbetween = [\"a\", \"b\"]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n\
         [[flows]]\nfrom = \"a\"\nto = \"b\"\ntraffic = {{ {traffic} }}\n"
    );
    let scenario = parse_toml(&text, &[]).unwrap_or_else(|errors| panic!("{errors:#?}\nin\n{text}"));
    let flow = scenario.expand().unwrap().flows.remove(0);
    Session::new(FlowIndex(0), &flow, 1, (0..connections).map(|line| [2 * line, 2 * line + 1].map(EndpointId)), false)
        .unwrap()
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// Returns the start, the duration and the bytes of each page.
fn loads(dialogue: &Session) -> Vec<(Instant, Duration, u64)> {
    dialogue.pages().iter().map(|page| (page.began, page.took, page.bytes)).collect()
}

/// Returns the actions that `step` requests.
fn actions(step: impl FnOnce(&mut Vec<SessionAction>)) -> Vec<SessionAction> {
    let mut actions = Vec::new();
    step(&mut actions);
    actions
}

#[test]
fn a_response_follows_the_last_byte_of_its_request() {
    let mut d = dialogue("kind = \"requests\", response = \"1 kB\", think = \"1 s\", count = 2", 1);
    assert_eq!(
        actions(|out| d.begin_page(at(0), out)),
        [SessionAction::Open(EndpointId(0)), SessionAction::Write(EndpointId(0), 300)]
    );
    assert_eq!(actions(|out| d.server_hears(at(5), 0, 299, 0, out)), []);
    assert_eq!(actions(|out| d.server_hears(at(6), 0, 300, 0, out)), [SessionAction::Write(EndpointId(1), 1000)]);
    assert_eq!(actions(|out| d.server_hears(at(6), 0, 300, 0, out)), [], "once");
    assert_eq!(actions(|out| d.client_hears(at(9), 0, 999, out)), []);
    assert_eq!(actions(|out| d.client_hears(at(10), 0, 1000, out)), [SessionAction::Wake(EndpointId(0), at(1010))]);
    assert_eq!(actions(|out| d.client_hears(at(10), 0, 1000, out)), [], "it thinks");
    assert_eq!(loads(&d), [(at(0), Duration::from_millis(10), 1000)]);
    assert_eq!(
        actions(|out| d.begin_page(at(1010), out)),
        [SessionAction::Write(EndpointId(0), 300)],
        "the connection is open"
    );
    actions(|out| d.server_hears(at(1012), 0, 600, 0, out));
    assert_eq!(
        actions(|out| d.client_hears(at(1020), 0, 2000, out)),
        [SessionAction::Close(EndpointId(0)), SessionAction::Finish]
    );
    assert_eq!((d.pages().len(), d.request_bytes()), (2, 600));
}

#[test]
fn a_server_that_takes_its_time_answers_in_order() {
    let web = "kind = \"web\", http = \"2\", html = \"10 B\", objects = 2, object = \"20 B\", server_time = \"50 ms\"";
    let mut d = dialogue(&format!("{web}, count = 1"), 1);
    actions(|out| d.begin_page(at(0), out));
    assert_eq!(actions(|out| d.server_hears(at(10), 0, 300, 0, out)), [SessionAction::Wake(EndpointId(1), at(60))]);
    assert_eq!(actions(|out| d.answer(at(60), 0, 0, out)), [SessionAction::Write(EndpointId(1), 10)]);
    // Both other objects are requested immediately; the second request arrives 20 ms later.
    assert_eq!(
        actions(|out| d.client_hears(at(70), 0, 10, out)),
        [SessionAction::Write(EndpointId(0), 300), SessionAction::Write(EndpointId(0), 300)]
    );
    assert_eq!(actions(|out| d.server_hears(at(80), 0, 600, 0, out)), [SessionAction::Wake(EndpointId(1), at(130))]);
    assert_eq!(actions(|out| d.server_hears(at(100), 0, 900, 0, out)), [SessionAction::Wake(EndpointId(1), at(130))]);
    assert_eq!(
        actions(|out| d.answer(at(130), 0, 0, out)),
        [SessionAction::Write(EndpointId(1), 20), SessionAction::Wake(EndpointId(1), at(150))]
    );
    assert_eq!(actions(|out| d.client_hears(at(140), 0, 30, out)), [], "one is missing");
    actions(|out| d.answer(at(150), 0, 0, out));
    assert_eq!(
        actions(|out| d.client_hears(at(160), 0, 50, out)),
        [SessionAction::Close(EndpointId(0)), SessionAction::Finish]
    );
}

#[test]
fn a_browser_takes_free_connections_before_new_ones() {
    let web = "kind = \"web\", html = \"10 B\", objects = 3, object = \"20 B\", connections = 2, count = 1";
    let mut d = dialogue(web, 2);
    actions(|out| d.begin_page(at(0), out));
    actions(|out| d.server_hears(at(1), 0, 300, 0, out));
    let expected = [
        SessionAction::Write(EndpointId(0), 300),
        SessionAction::Open(EndpointId(2)),
        SessionAction::Write(EndpointId(2), 300),
    ];
    assert_eq!(actions(|out| d.client_hears(at(2), 0, 10, out)), expected, "two of three objects");
    assert_eq!(d.opened().collect::<Vec<_>>(), [Some(at(0)), Some(at(2))]);
    actions(|out| d.server_hears(at(2), 0, 600, 0, out));
    actions(|out| d.server_hears(at(2), 1, 300, 0, out));
    assert_eq!(
        actions(|out| d.client_hears(at(3), 0, 30, out)),
        [SessionAction::Write(EndpointId(0), 300)],
        "the third"
    );
    actions(|out| d.server_hears(at(3), 0, 900, 0, out));
    assert_eq!(actions(|out| d.client_hears(at(4), 1, 20, out)), []);
    let end = [SessionAction::Close(EndpointId(0)), SessionAction::Close(EndpointId(2)), SessionAction::Finish];
    assert_eq!(actions(|out| d.client_hears(at(5), 0, 50, out)), end);
    assert_eq!(loads(&d), [(at(0), Duration::from_millis(5), 70)]);
}

#[test]
fn a_failed_or_late_dialogue_sends_no_request() {
    let requests = "kind = \"requests\", response = \"1 kB\", stop = \"1 s\"";
    let mut late = dialogue(requests, 1);
    assert_eq!(actions(|out| late.begin_page(at(1000), out)), [SessionAction::Finish]);
    let mut failed = dialogue(requests, 1);
    actions(|out| failed.begin_page(at(0), out));
    failed.fail();
    assert_eq!(actions(|out| failed.client_hears(at(9), 0, 1000, out)), []);
    assert_eq!(actions(|out| failed.begin_page(at(10), out)), []);
}
