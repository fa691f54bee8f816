//! The order in which a server writes its responses to a connection.

use lightlag_core::{Duration, Instant};
use std::collections::VecDeque;

/// A request for an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) object: u32,
    /// Sizes of the request and the response in bytes.
    pub(super) request: u64,
    pub(super) response: u64,
    /// Time from the arrival of the request to the first byte of the response.
    pub(super) server_time: Duration,
    pub(super) urgency: u8,
}

/// Payload of a DATA frame in bytes: the default maximum frame size of HTTP/2 (RFC 9113 §6.5.2).
const FRAME: u64 = 16_384;

/// A part of a response that the server writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Part {
    pub(super) object: u32,
    pub(super) bytes: u64,
    /// Whether it is the end of the response.
    pub(super) is_last: bool,
}

/// Responses that a server has not written completely.
#[derive(Debug)]
pub(super) enum Responses {
    /// In the order of the requests, each in one write. A response that is ready early waits for earlier ones.
    Ordered(VecDeque<(Instant, Request)>),
    /// Interleaved in frames: the most urgent first, equally urgent ones in turn (RFC 9218 §10).
    Interleaved {
        /// Responses that are not ready yet, in the order of their times.
        due: VecDeque<(Instant, Request)>,
        /// Responses that are ready; `response` is what is left. The first of the most urgent ones is next.
        ready: VecDeque<Request>,
        /// Whether all are equally urgent.
        is_equal: bool,
    },
}

impl Responses {
    pub(super) fn new(interleaves: bool, is_equal: bool) -> Self {
        if interleaves {
            Self::Interleaved { due: VecDeque::new(), ready: VecDeque::new(), is_equal }
        } else {
            Self::Ordered(VecDeque::new())
        }
    }

    /// Adds the response to a request that has arrived.
    pub(super) fn add(&mut self, now: Instant, request: Request) {
        let time = now + request.server_time;
        match self {
            Self::Ordered(responses) => {
                let time = responses.back().map_or(time, |(due, _)| time.max(*due));
                responses.push_back((time, request));
            }
            Self::Interleaved { due, .. } => {
                let position = due.partition_point(|(other, _)| *other <= time);
                due.insert(position, (time, request));
            }
        }
    }

    /// Writes responses that are due: all of them, or about `room` bytes if they are interleaved. Returns the time when
    /// the next one is due, if that is later.
    pub(super) fn write(&mut self, now: Instant, mut room: i64, mut write: impl FnMut(Part)) -> Option<Instant> {
        let (due, ready, is_equal) = match self {
            Self::Ordered(responses) => {
                while let Some((due, Request { object, response, .. })) = responses.front().copied() {
                    if due > now {
                        return Some(due);
                    }
                    responses.pop_front();
                    write(Part { object, bytes: response, is_last: true });
                }
                return None;
            }
            Self::Interleaved { due, ready, is_equal } => (due, ready, *is_equal),
        };
        while due.front().is_some_and(|(time, _)| *time <= now) {
            ready.extend(due.pop_front().map(|(_, request)| request));
        }
        while room > 0
            && let Some(next) = (0..ready.len()).min_by_key(|next| if is_equal { 0 } else { ready[*next].urgency })
            && let Some(mut request) = ready.remove(next)
        {
            let bytes = request.response.min(FRAME);
            request.response -= bytes;
            room -= bytes as i64;
            let is_last = request.response == 0;
            write(Part { object: request.object, bytes, is_last });
            if !is_last {
                ready.push_back(request);
            }
        }
        due.front().map(|(time, _)| *time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightlag_core::Duration;

    fn request(object: u32, response: u64, urgency: u8) -> Request {
        Request { object, request: 1, response, server_time: Duration::ZERO, urgency }
    }

    /// Returns the objects of the frames that a server writes in calls with this room.
    fn frames(is_equal: bool, requests: &[Request], room: i64) -> Vec<u32> {
        let mut responses = Responses::new(true, is_equal);
        requests.iter().for_each(|request| responses.add(Instant::ZERO, *request));
        let mut frames = Vec::new();
        loop {
            let before = frames.len();
            responses.write(Instant::ZERO, room, |part| frames.push(part.object));
            if frames.len() == before {
                return frames;
            }
        }
    }

    #[test]
    fn equally_urgent_responses_take_turns_frame_by_frame() {
        let requests = [request(0, 3 * FRAME, 3), request(1, FRAME + 1, 3), request(2, 100, 3)];
        for room in [1, 40_000, i64::MAX] {
            assert_eq!(frames(false, &requests, room), [0, 1, 2, 0, 1, 0]);
        }
    }

    #[test]
    fn urgent_responses_go_first_unless_all_are_equal() {
        let requests = [request(0, 2 * FRAME, 4), request(1, 2 * FRAME, 1), request(2, 10, 0)];
        assert_eq!(frames(false, &requests, 1), [2, 1, 1, 0, 0]);
        assert_eq!(frames(true, &requests, 1), [0, 1, 2, 0, 1]);
    }

    #[test]
    fn an_urgent_response_overtakes_what_is_not_written_yet() {
        let mut responses = Responses::new(true, false);
        responses.add(Instant::ZERO, request(0, 4 * FRAME, 4));
        let mut parts = Vec::new();
        responses.write(Instant::ZERO, 20_000, |part| parts.push(part));
        responses.add(Instant::ZERO, request(1, 10, 0));
        responses.write(Instant::ZERO, i64::MAX, |part| parts.push(part));
        let part = |object, bytes, is_last| Part { object, bytes, is_last };
        let image = part(0, FRAME, false);
        assert_eq!(parts, [image, image, part(1, 10, true), image, part(0, FRAME, true)]);
    }

    #[test]
    fn a_response_that_takes_time_blocks_no_other_one() {
        let mut responses = Responses::new(true, false);
        let slow = Request { server_time: Duration::from_millis(5), ..request(0, 10, 0) };
        responses.add(Instant::ZERO, slow);
        responses.add(Instant::ZERO, request(1, 10, 4));
        let mut objects = Vec::new();
        let later = Instant::ZERO + Duration::from_millis(5);
        assert_eq!(responses.write(Instant::ZERO, 100, |part| objects.push(part.object)), Some(later));
        assert_eq!(responses.write(later, 100, |part| objects.push(part.object)), None);
        assert_eq!(objects, [1, 0]);
    }
}
