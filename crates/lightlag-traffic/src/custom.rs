//! Custom traffic: an application that sets the time and the size of each message.

use crate::Traffic;
use crate::kind::{Messages, Progress, TrafficKind};
use lightlag_core::custom::{Factory, Fault, Registry};
use lightlag_core::params::Registered;
use lightlag_core::{Bytes, Duration, Instant, RandomStream};
use std::fmt;
use std::sync::Arc;

/// Factory of custom traffic, which builds an application for each flow.
pub trait TrafficFactory: Factory {
    /// Builds the application of a flow, with a value for each parameter.
    fn build(self: Arc<Self>, start: &ApplicationInfo, values: &[f64]) -> Box<dyn Application>;
}

/// Custom traffic, with the values of its parameters.
pub type CustomApplication = lightlag_core::custom::Custom<dyn TrafficFactory>;

/// The registered custom traffic.
pub static CUSTOM: Registry<dyn TrafficFactory> = Registry::new();

/// Registers custom traffic. It replaces registered traffic of the same name.
///
/// # Errors
/// If the name belongs to a built-in kind of traffic.
pub fn register(maker: Arc<dyn TrafficFactory>) -> Result<(), String> {
    let name = maker.facts().name;
    if Traffic::NAMES.contains(&name) {
        return Err(format!("{name:?} is the name of a built-in kind of traffic; choose another"));
    }
    CUSTOM.add(maker);
    Ok(())
}

/// Input of [`TrafficFactory::build`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ApplicationInfo {
    /// Maximum size of a message in bytes, if there is one.
    pub largest: Option<u64>,
    /// Seed of the application's random decisions, different for each flow.
    pub seed: u64,
}

/// Progress of an application, which each request for its next message contains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MessageRequest {
    /// Time of the last message; before the first one, the start of the flow.
    pub now: Instant,
    /// Number of messages so far.
    pub messages: u64,
    /// Bytes of the messages so far.
    pub bytes: u64,
}

/// Next message of an application.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NextMessage {
    /// Time from the last message, or from the start of the flow, to this one.
    pub wait: Duration,
    /// Size of the message in bytes; not zero.
    pub size: u64,
}

/// The application of a flow with custom traffic.
pub trait Application: fmt::Debug + Send {
    /// Returns the next message; `None` if there are no more.
    fn next(&mut self, question: &MessageRequest) -> Option<NextMessage>;

    /// Returns the error of an application that has failed. Such an application has no more messages.
    fn fault(&self) -> Option<&Fault>;
}

/// Custom traffic as configured in a scenario.
#[derive(Clone, PartialEq, Debug)]
pub struct CustomTraffic {
    /// The custom traffic, with its parameters.
    pub custom: CustomApplication,
    /// Simulated time when sending stops; not limited if omitted.
    pub stop: Option<Duration>,
}

impl CustomTraffic {
    /// Returns the name of the traffic in results.
    pub fn name(&self) -> &'static str {
        self.custom.name()
    }
}

impl TrafficKind for CustomTraffic {
    /// Returns true, because custom traffic may be random.
    fn is_random(&self) -> bool {
        true
    }

    /// Returns true, because custom traffic may end by itself.
    fn ends(&self) -> bool {
        true
    }
}

/// A custom application, with its next message.
#[derive(Debug, Default)]
pub struct Running {
    application: Option<Box<dyn Application>>,
    /// Size of the next message in bytes.
    size: u64,
}

impl Running {
    /// Returns the error of the application, if it has failed.
    pub fn fault(&self) -> Option<&Fault> {
        self.application.as_ref()?.fault()
    }

    /// Requests the next message from the application. Returns the time of the message; `None` if there are no more.
    fn ask(&mut self, question: &MessageRequest) -> Option<Instant> {
        let message = self.application.as_mut()?.next(question)?;
        self.size = message.size;
        Some(question.now + message.wait)
    }
}

impl Messages for CustomTraffic {
    type Memory = Running;

    fn first(
        &self,
        running: &mut Running,
        start: Instant,
        largest: Option<Bytes>,
        random: &mut RandomStream,
    ) -> Option<Instant> {
        let (maker, values) = self.custom.parts();
        let facts = ApplicationInfo { largest: largest.map(|largest| largest.0), seed: random.bits() };
        running.application = Some(Arc::clone(maker).build(&facts, values));
        running.ask(&MessageRequest { now: start, messages: 0, bytes: 0 })
    }

    fn size(&self, running: &Running, _: &mut RandomStream) -> Bytes {
        Bytes(running.size)
    }

    fn next(&self, running: &mut Running, progress: &Progress, _: &mut RandomStream) -> Option<Instant> {
        let Progress { now, messages, bytes, .. } = *progress;
        running.ask(&MessageRequest { now, messages, bytes })
    }

    fn stop(&self) -> Option<Duration> {
        self.stop
    }

    /// Returns zero, because the maximum size of custom messages is unknown.
    fn largest(&self) -> Bytes {
        Bytes::ZERO
    }
}
