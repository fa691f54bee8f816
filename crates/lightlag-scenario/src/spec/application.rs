//! Reading of data by the application at the receiver of a flow.

use crate::read::{Errors, FromValue, Path, TableReader};
use lightlag_core::{Bytes, Duration, Rate};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// An application that does not read immediately. Unread data occupies the receive buffer.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(deny_unknown_fields)]
pub enum Reader {
    /// Reads at a constant rate.
    Steady {
        /// Maximum rate.
        rate: Rate,
    },
    /// Reads periodically.
    Bursts {
        /// Maximum size of one read.
        burst: Bytes,
        /// Time between two reads. The first interval starts with the flow.
        every: Duration,
    },
}

impl FromValue for Reader {
    const IS_TABLE: bool = true;

    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let forms = "{ rate = \"100 kB/s\" } or { burst = \"64 kB\", every = \"1 s\" }";
        let before = errors.len();
        let mut table = TableReader::open(value, path, forms, errors)?;
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
                errors.push(path, "reads no data, or reads without a pause; burst and every must be above 0");
                None
            }
            (None, Some(burst), Some(every)) => Some(Self::Bursts { burst, every }),
            _ => {
                errors.push(path, format!("is not {forms}"));
                None
            }
        }
    }
}
