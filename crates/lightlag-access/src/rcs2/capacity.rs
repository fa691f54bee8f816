//! Comparison of the slots of a superframe with the terminals of a beam.

use super::config::{Rcs2Config, Terminal};
use super::frame::Layout;

/// Maximum number of terminals in a beam.
pub const MAX_TERMINALS: usize = 1_000_000;

impl Rcs2Config {
    /// Checks that the superframe has slots for all terminals.
    ///
    /// # Errors
    /// The key that cannot be combined with others, and a message with its value and the fix.
    pub fn check_all(&self, terminals: &[Terminal]) -> Result<(), (&'static str, String)> {
        if terminals.len() > MAX_TERMINALS {
            let message = format!("{} terminals are more than {MAX_TERMINALS}; use several beams", terminals.len());
            return Err(("kind", message));
        }
        let Layout { contention, control, constant, .. } = Layout::new(self, terminals);
        let total = u64::from(self.total_slots());
        let fixed = contention + control;
        if fixed + constant > total {
            let key = if constant > 0 { "constant" } else { "control_period" };
            let message = format!(
                "the constant capacity of {} terminals takes {constant} slots per superframe, random access and control \
                 slots {fixed}, and there are {total}; reduce constant, or add carriers",
                terminals.len()
            );
            return Err((key, message));
        }
        let requests = terminals.iter().any(|of| of.volume_based || of.rate_based.is_some());
        if requests && fixed + constant == total {
            let message = format!(
                "all {total} slots are taken by random access, control and constant capacity, so none is \
                 left to assign; add carriers"
            );
            return Err(("carriers", message));
        }
        Ok(())
    }
}
