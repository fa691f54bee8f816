//! The forms of a log.

/// The form of a log.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Schema {
    /// qlog 0.3, which qvis reads.
    #[default]
    V03,
    /// The current drafts: main-schema-14 and quic-events-13.
    Current,
}
