//! Settings of a beam and of its terminals.

use super::adaptation::{Climate, ROBUST_PAYLOAD};
use crate::contention::Scheme;
use crate::rle;
use lightlag_core::{Bytes, Duration, Probability, Rate, Unit, settings};

const PERIOD_REFUSAL: &str = "0 s is not a valid period; omit it for requests that are a round trip apart";
const SPREAD_REFUSAL: &str = "0 s is not a valid time; omit it for a round trip";

settings! {
    /// A beam: its superframe, its random access and its network control centre.
    #[derive(Clone, PartialEq, Debug)]
    pub struct Rcs2Config {
        about "The return link of a satellite beam, which its terminals share as in DVB-RCS2, and the forward carrier.";

        /// Duration of a superframe, for which slots are assigned together.
        frame: Duration = Duration::from_micros(26_500) => time();
        /// Number of carriers of the return link.
        carriers: u32 = 4 => count(10_000, "a number of carriers", "");
        /// Number of slots per carrier and superframe.
        slots: u32 = 40 => count(10_000, "a number of slots", "");
        /// Time at the end of each slot in which no terminal sends.
        slot_guard: Duration = Duration::ZERO => time_or_zero();
        /// Slots per superframe for random access, on the first carriers.
        contention_slots: u32 = 20 => count_or_zero(1_000_000, "a number of slots");
        /// Random access: slotted ALOHA, or CRDSA with two or three replicas and cancellation of interference.
        contention: Scheme = Scheme::default() => choice("a scheme of random access");
        /// Maximum number of iterations that cancel interference.
        sic_iterations: u32 = 16 => count(1000, "a number of iterations", "");
        /// Minimum ratio of a burst's power to the sum of the others in its slot for decoding it; without it, a slot
        /// with several bursts decodes none.
        capture_threshold: Option<f64> = None => number(0, 60.0).unit("dB");
        /// Standard deviation of the received power of random access bursts.
        power_spread: f64 = 0.0 => quantity(Unit::Decibel, 0.0, 20.0);
        /// Whether packets that fit into one burst are sent by random access instead of a request.
        contention_data: bool = false => flag();
        /// Number of random access transmissions before the packet at the head of the queue is dropped.
        access_attempts: u32 = 8 => count(100, "a number of transmissions", "");
        /// Maximum backoff after a first loss in superframes; it doubles with each further loss.
        access_backoff: u32 = 8 => count(10_000, "a number of superframes", "");
        /// Number of superframes from one slot for requests of a terminal to the next; 0 for none.
        control_period: u32 = 0 => count_or_zero(100_000, "a number of superframes");
        /// Size of a capacity request in a burst with data.
        request_size: Bytes = Bytes(4) => size();
        /// Whether terminals are logged off at the start, and log on when they have a packet.
        logon: bool = false => flag();
        /// Number of exchanges with the NCC of a logon; the first one uses random access.
        logon_exchanges: u32 = 2 => count(10, "a number of exchanges", "");
        /// Time that the NCC takes from the last request that an assignment considers until it is sent.
        scheduling_delay: Duration = Duration::ZERO => time_or_zero();
        /// Period of the requests of a rate, which are sent with the first burst of a period; by default they are a round
        /// trip apart.
        rate_period: Option<Duration> = None => time_above_zero(PERIOD_REFUSAL).by_default("a round trip");
        /// Time in which a requested rate sends the data that waits; by default a round trip.
        rate_spread: Option<Duration> = None => time_above_zero(SPREAD_REFUSAL).by_default("a round trip");
        /// Lifetime of a requested rate, and time for which a terminal receives free capacity after a burst.
        rate_timeout: Duration = Duration::from_secs(1) => time();
        /// Number of bursts of a terminal that the gateway keeps after a lost one, in case that one is only late; 0 for
        /// none.
        resequencing: u32 = 0 => count_or_zero(1000, "a number of bursts");
        /// Maximum number of packets that wait for the forward carrier.
        forward_queue: u32 = 1000 => count(10_000_000, "a number of packets", "");
    }
}

settings! {
    /// A terminal.
    #[derive(Clone, PartialEq, Debug)]
    pub struct Terminal {
        about "A terminal of a beam; omitted keys have the values of the medium.";

        /// Propagation delay between the terminal and the gateway.
        delay: Duration = Duration::from_millis(130) => time_or_zero();
        /// Payload of a burst, which depends on modulation and coding: 188 B is QPSK 1/2 of the long burst.
        slot_payload: Bytes = Bytes(188) => size();
        /// Probability that a burst in an assigned slot is lost, independently of the weather.
        burst_loss: Probability = Probability::ZERO => probability();
        /// Maximum number of packets that wait at the terminal.
        terminal_queue: u32 = 200 => count(10_000_000, "a number of packets", "");
        /// Rate assigned without a request (CRA), rounded up to full slots per superframe.
        constant: Option<Rate> = None => rate();
        /// Maximum rate that the terminal requests by rate (RBDC); by default it does not request rates.
        rate_based: Option<Rate> = None => rate();
        /// Whether the terminal requests slots for its waiting data (VBDC).
        volume_based: bool = true => flag();
        /// Whether the terminal receives a part of the slots that no terminal requested (FCA).
        free: bool = false => flag();
        /// Rate of the forward carrier for packets to the terminal.
        forward_rate: Rate = Rate::from_mbps(20) => rate();
        + /// Weather of the terminal, and its adaptation.
        climate: Climate = Climate::default() => Climate::settings();
    }
}

impl Rcs2Config {
    /// Returns the number of slots of a frame.
    pub fn total_slots(&self) -> u32 {
        self.carriers.saturating_mul(self.slots)
    }

    /// Returns the bytes of a burst that carry packets.
    pub fn room(&self, terminal: &Terminal) -> u32 {
        terminal.slot_payload.0.saturating_sub(self.request_size.0).min(u64::from(u16::MAX)) as u32
    }

    /// Returns a rate in slots per frame.
    pub fn slots_of(&self, rate: Rate, terminal: &Terminal) -> f64 {
        (rate * self.frame).0 as f64 / f64::from(self.room(terminal).max(1))
    }

    /// Returns the slots per frame of a terminal's constant assignment.
    pub fn constant_slots(&self, terminal: &Terminal) -> u32 {
        terminal.constant.map_or(0, |rate| libm::ceil(self.slots_of(rate, terminal)).min(4e9) as u32)
    }

    /// Checks a terminal with the settings of its beam.
    ///
    /// # Errors
    /// The key that cannot be combined with others, and a message with its value and the fix.
    pub fn check_terminal(&self, terminal: &Terminal) -> Result<(), (&'static str, String)> {
        let smallest = u64::from(rle::MIN_PAYLOAD) + self.request_size.0;
        if terminal.slot_payload.0 < smallest {
            let message = format!(
                "{} is less than the {smallest} B of a request and the smallest fragment; increase it",
                terminal.slot_payload
            );
            return Err(("slot_payload", message));
        }
        if terminal.climate.adaptive && u64::from(ROBUST_PAYLOAD) < smallest {
            let message = format!(
                "true uses QPSK 1/3 with {ROBUST_PAYLOAD} B in rain, less than the {smallest} B of a request and the \
                 smallest fragment; reduce request_size"
            );
            return Err(("adaptive", message));
        }
        if terminal.slot_payload.0 > u64::from(u16::MAX) {
            return Err(("slot_payload", format!("{} is more than 65535 B; reduce it", terminal.slot_payload)));
        }
        if let Some(rate) = terminal.constant.filter(|_| self.constant_slots(terminal) > self.slots) {
            let message = format!(
                "{rate} takes {} slots per superframe, and a terminal sends on one carrier at a time, which has {}; \
                 reduce it",
                self.constant_slots(terminal),
                self.slots
            );
            return Err(("constant", message));
        }
        let requests = terminal.volume_based || terminal.rate_based.is_some();
        if !requests && terminal.constant.is_none() {
            let message = "terminals cannot obtain capacity: volume_based is false, and neither constant nor \
                           rate_based is set; set one of them";
            return Err(("volume_based", message.to_owned()));
        }
        if terminal.constant.is_none() && self.contention_slots == 0 && self.control_period == 0 {
            let message = "0 slots leave terminals without a first burst: they have no constant capacity and no \
                           control_period; add slots";
            return Err(("contention_slots", message.to_owned()));
        }
        Ok(())
    }

    /// Checks the settings of the beam.
    ///
    /// # Errors
    /// The key that cannot be combined with others, and a message with its value and the fix.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        let slot = self.frame / u64::from(self.slots);
        if slot <= self.slot_guard || slot.is_zero() {
            let message = format!(
                "{} slots in {} have {slot} each, and a guard of {} leaves no time for a burst; reduce slots or the \
                 guard, or increase frame",
                self.slots, self.frame, self.slot_guard
            );
            return Err(("slots", message));
        }
        let (total, contention) = (self.total_slots(), self.contention_slots);
        if contention > total {
            let message = format!("{contention} are more than the {total} slots of a superframe; reduce them");
            return Err(("contention_slots", message));
        }
        let replicas = self.contention.replicas() as u32;
        if contention > 0 && contention.min(self.slots) < replicas {
            let message = format!(
                "{contention} slots at {} times cannot hold the {replicas} replicas of a burst; add slots, or set \
                 contention = \"slotted-aloha\"",
                contention.min(self.slots)
            );
            return Err(("contention_slots", message));
        }
        if let Some(period) = self.rate_period.filter(|period| *period > self.rate_timeout) {
            let message = format!(
                "{period} is longer than the rate_timeout of {}, so that a rate would expire before it is requested \
                 again; increase rate_timeout",
                self.rate_timeout
            );
            return Err(("rate_period", message));
        }
        if self.logon && contention == 0 {
            return Err(("logon", "needs contention_slots: the first burst of a logon uses random access".to_owned()));
        }
        if self.contention_data && contention == 0 {
            return Err(("contention_data", "needs contention_slots: there are none".to_owned()));
        }
        Ok(())
    }
}
