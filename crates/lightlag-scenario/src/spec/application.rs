//! Reading by the application at the receiving end of a flow.

use crate::read::{Errors, FromValue, Path, Table};
use lightlag_core::{Bytes, Duration, Rate};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// An application that does not read at once: what it has not read occupies the receive buffer.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(deny_unknown_fields)]
pub enum Reader {
    /// It reads steadily.
    Steady {
        /// At most so fast.
        rate: Rate,
    },
    /// It reads now and then.
    Bursts {
        /// At most so much at a time,
        burst: Bytes,
        /// once in so much time, counted from the start of the flow.
        every: Duration,
    },
}

impl FromValue for Reader {
    const IS_TABLE: bool = true;

    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let forms = "{ rate = \"100 kB/s\" } or { burst = \"64 kB\", every = \"1 s\" }";
        let before = errors.len();
        let mut table = Table::open(value, at, forms, errors)?;
        let rate: Option<Rate> = table.optional("rate", errors);
        let burst: Option<Bytes> = table.optional("burst", errors);
        let every: Option<Duration> = table.optional("every", errors);
        table.finish(errors);
        if errors.len() > before {
            return None;
        }
        match (rate, burst, every) {
            (Some(rate), None, None) => Some(Self::Steady { rate }),
            (None, Some(Bytes(0)), _) | (None, _, Some(Duration::ZERO)) => {
                errors.push(at, "reads nothing, or without a pause: burst and every are above 0");
                None
            }
            (None, Some(burst), Some(every)) => Some(Self::Bursts { burst, every }),
            _ => {
                errors.push(at, format!("is not {forms}"));
                None
            }
        }
    }
}
