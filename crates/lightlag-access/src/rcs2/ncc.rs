//! The network control centre: the requests that it has received, and the assignment of the slots of a frame.
//!
//! A frame is assigned in this order. Each step serves its terminals in turn, and starts where the previous frame ended:
//!
//! 1. Requested rates (RBDC): each terminal receives the slots that its rate has earned since its last turn.
//! 2. Requested slots (VBDC): one slot per turn, so that the slots of terminals differ by one until a request is served
//!    (max-min fairness in slots).
//! 3. Free capacity (FCA): one slot per turn, for terminals that recently sent a burst.
//!
//! Work is proportional to the slots assigned and to the terminals with a rate, not to the terminals of the beam.

use super::terminal::CapacityRequest;
use lightlag_core::Instant;
use std::collections::VecDeque;

/// Maximum number of frames for which a rate that was not served accumulates slots.
const MAX_CREDIT_FRAMES: f64 = 8.0;

/// Categories of assigned slots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Category {
    Rate,
    Volume,
    Free,
}

/// A terminal at the NCC.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    volume: u64,
    rate: f64,
    rate_until: Instant,
    credit: f64,
    /// Frame of the latest turn with a rate; `None` before the first one.
    frame: Option<u64>,
    heard_until: Instant,
    is_rated: bool,
    is_free: bool,
    /// Maximum number of slots per frame.
    limit: u32,
    /// Slots of the frame that is being assigned.
    granted: [u32; 3],
}

impl Account {
    fn has_room(&self) -> bool {
        self.granted.iter().sum::<u32>() < self.limit
    }
}

/// The network control centre.
#[derive(Clone, Debug)]
pub(super) struct Ncc {
    accounts: Vec<Account>,
    /// Terminals with a rate, with requested slots, and with free capacity, in the order of their turns.
    rated: VecDeque<u32>,
    voluminous: VecDeque<u32>,
    free: VecDeque<u32>,
    /// Terminals with slots in the frame that is being assigned.
    touched: Vec<u32>,
    /// Whether an event for the next frame exists.
    pub(super) is_assigning: bool,
    /// First frame that is not assigned yet.
    pub(super) next_frame: u64,
}

impl Ncc {
    /// Returns an NCC. `limits` is the maximum number of slots on demand of each terminal in a frame.
    pub(super) fn new(limits: impl Iterator<Item = u32>) -> Self {
        Self {
            accounts: limits.map(|limit| Account { limit, ..Account::default() }).collect(),
            rated: VecDeque::new(),
            voluminous: VecDeque::new(),
            free: VecDeque::new(),
            touched: Vec::new(),
            is_assigning: false,
            next_frame: 0,
        }
    }

    /// Returns true if there is capacity to assign.
    pub(super) fn has_work(&self) -> bool {
        !(self.rated.is_empty() && self.voluminous.is_empty() && self.free.is_empty())
    }

    /// Stores a request of a terminal. `expiry` is the time when a rate expires.
    pub(super) fn request(&mut self, terminal: u32, request: CapacityRequest, expiry: Instant) {
        let account = &mut self.accounts[terminal as usize];
        if request.volume > 0 {
            if account.volume == 0 {
                self.voluminous.push_back(terminal);
            }
            account.volume += request.volume;
        }
        if let Some(rate) = request.rate {
            account.rate = rate;
            account.rate_until = expiry;
            if !account.is_rated {
                (account.is_rated, account.credit, account.frame) = (true, 0.0, None);
                self.rated.push_back(terminal);
            }
        }
    }

    /// Records a burst of a terminal with free capacity.
    pub(super) fn hear(&mut self, terminal: u32, until: Instant) {
        let account = &mut self.accounts[terminal as usize];
        account.heard_until = until;
        if !account.is_free {
            account.is_free = true;
            self.free.push_back(terminal);
        }
    }

    /// Divides `left` slots of a frame. Each terminal with slots is reported with its slots by category.
    pub(super) fn divide(&mut self, now: Instant, frame: u64, mut left: u32, mut report: impl FnMut(u32, [u32; 3])) {
        self.divide_by_rate(now, frame, &mut left);
        self.divide_by_volume(&mut left);
        self.divide_the_rest(now, &mut left);
        for terminal in self.touched.drain(..) {
            let granted = std::mem::take(&mut self.accounts[terminal as usize].granted);
            report(terminal, granted);
        }
        self.next_frame = frame + 1;
    }

    fn grant(&mut self, terminal: u32, category: Category, slots: u32) {
        let account = &mut self.accounts[terminal as usize];
        if account.granted == [0; 3] {
            self.touched.push(terminal);
        }
        account.granted[category as usize] += slots;
    }

    fn divide_by_rate(&mut self, now: Instant, frame: u64, left: &mut u32) {
        for _ in 0..self.rated.len() {
            if *left == 0 {
                return;
            }
            let Some(terminal) = self.rated.pop_front() else { return };
            let account = &mut self.accounts[terminal as usize];
            if account.rate_until <= now {
                account.is_rated = false;
                continue;
            }
            let frames = account.frame.map_or(1, |latest| frame - latest);
            let earned = account.rate * frames as f64;
            account.frame = Some(frame);
            account.credit = (account.credit + earned).min((account.rate * MAX_CREDIT_FRAMES).max(1.0));
            let slots = (account.credit as u32).min(*left).min(account.limit);
            account.credit -= f64::from(slots);
            *left -= slots;
            self.rated.push_back(terminal);
            if slots > 0 {
                self.grant(terminal, Category::Rate, slots);
            }
        }
    }

    fn divide_by_volume(&mut self, left: &mut u32) {
        let mut full = Vec::new();
        while *left > 0
            && let Some(terminal) = self.voluminous.pop_front()
        {
            if !self.accounts[terminal as usize].has_room() {
                full.push(terminal);
                continue;
            }
            self.accounts[terminal as usize].volume -= 1;
            *left -= 1;
            self.grant(terminal, Category::Volume, 1);
            if self.accounts[terminal as usize].volume > 0 {
                self.voluminous.push_back(terminal);
            }
        }
        full.into_iter().rev().for_each(|terminal| self.voluminous.push_front(terminal));
    }

    fn divide_the_rest(&mut self, now: Instant, left: &mut u32) {
        let accounts = &mut self.accounts;
        self.free.retain(|terminal| {
            let account = &mut accounts[*terminal as usize];
            account.is_free = account.heard_until > now;
            account.is_free
        });
        let mut turns_without = 0;
        while *left > 0
            && turns_without < self.free.len()
            && let Some(terminal) = self.free.pop_front()
        {
            self.free.push_back(terminal);
            if self.accounts[terminal as usize].has_room() {
                *left -= 1;
                turns_without = 0;
                self.grant(terminal, Category::Free, 1);
            } else {
                turns_without += 1;
            }
        }
    }

    /// Returns a requested slot that had no position in the frame to the NCC.
    pub(super) fn put_back(&mut self, terminal: u32) {
        let account = &mut self.accounts[terminal as usize];
        if account.volume == 0 {
            self.voluminous.push_front(terminal);
        }
        account.volume += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightlag_core::Duration;

    fn volume(volume: u64) -> CapacityRequest {
        CapacityRequest { volume, rate: None }
    }

    fn divide(ncc: &mut Ncc, frame: u64, left: u32) -> Vec<(u32, [u32; 3])> {
        let mut grants = Vec::new();
        ncc.divide(Instant::ZERO, frame, left, |terminal, slots| grants.push((terminal, slots)));
        grants.sort_unstable();
        grants
    }

    #[test]
    fn requested_slots_are_divided_max_min() {
        let mut ncc = Ncc::new([40; 3].into_iter());
        for (terminal, slots) in [(0, 2), (1, 10), (2, 10)] {
            ncc.request(terminal, volume(slots), Instant::ZERO);
        }
        // 2 + 5 + 5 of 12.
        assert_eq!(divide(&mut ncc, 0, 12), [(0, [0, 2, 0]), (1, [0, 5, 0]), (2, [0, 5, 0])]);
        assert_eq!(divide(&mut ncc, 1, 12), [(1, [0, 5, 0]), (2, [0, 5, 0])]);
        assert!(!ncc.has_work());
    }

    #[test]
    fn a_terminal_sends_on_one_carrier() {
        let mut ncc = Ncc::new([4; 2].into_iter());
        ncc.request(1, volume(10), Instant::ZERO);
        let turns: Vec<_> = (0..3).map(|frame| divide(&mut ncc, frame, 100)[0].1[1]).collect();
        assert_eq!(turns, [4, 4, 2]);
    }

    #[test]
    fn rates_are_served_first_and_expire() {
        let mut ncc = Ncc::new([40; 2].into_iter());
        ncc.request(0, CapacityRequest { volume: 0, rate: Some(1.5) }, Instant::ZERO + Duration::from_secs(1));
        ncc.request(1, volume(100), Instant::ZERO);
        let slots: Vec<_> = (1..5).map(|frame| divide(&mut ncc, frame, 10)).collect();
        // 1.5 slots per frame: 1, 2, 1, 2.
        assert_eq!(slots.iter().map(|of| of[0].1[0]).collect::<Vec<_>>(), [1, 2, 1, 2]);
        assert_eq!(slots.iter().map(|of| of[1].1[1]).collect::<Vec<_>>(), [9, 8, 9, 8]);
        let mut grants = Vec::new();
        ncc.divide(Instant::ZERO + Duration::from_secs(2), 5, 10, |terminal, slots| grants.push((terminal, slots)));
        assert_eq!(grants, [(1, [0, 10, 0])]);
    }

    #[test]
    fn a_rate_earns_nothing_before_its_request() {
        let mut ncc = Ncc::new([40].into_iter());
        let rate = CapacityRequest { volume: 0, rate: Some(3.0) };
        ncc.request(0, rate, Instant::ZERO + Duration::from_secs(1));
        assert_eq!(divide(&mut ncc, 1000, 40), [(0, [3, 0, 0])]);
        assert_eq!(divide(&mut ncc, 1001, 40), [(0, [3, 0, 0])]);
    }

    #[test]
    fn free_capacity_is_what_others_leave() {
        let mut ncc = Ncc::new([40; 3].into_iter());
        ncc.hear(0, Instant::ZERO + Duration::from_secs(1));
        ncc.hear(2, Instant::ZERO + Duration::from_secs(1));
        ncc.request(1, volume(4), Instant::ZERO);
        assert_eq!(divide(&mut ncc, 0, 10), [(0, [0, 0, 3]), (1, [0, 4, 0]), (2, [0, 0, 3])]);
    }
}
