//! How a text is read: it becomes a tree of plain values, and typed values are read from the tree key by key, so that
//! every mistake is reported with its place and its remedy. Nothing here knows what a scenario may say.
//!
//! - `text`: TOML and JSON become a tree.
//! - `tree`: changes to a tree before it is read.
//! - `reader`: typed values from a tree.
//! - `quantity`, `name`, `direction`: the values that many keys have.
//! - `limit`, `setting`: parts of queues; the keys that a model declares.
//! - `error`: what is wrong, where, and what to write instead.
//! - [`trace_file`]: files that say how a link changes.

mod direction;
mod error;
mod limit;
mod name;
mod quantity;
mod reader;
mod setting;
pub(crate) mod text;
pub mod trace_file;
pub(crate) mod tree;

pub(crate) use direction::Omitted;
pub use direction::PerDirection;
pub(crate) use error::{Errors, Path, nearest, not_one_of, shortened};
pub use error::{ScenarioError, Warning};
pub(crate) use limit::{LimitForm, written};
pub(crate) use name::{NodeName, refusal_of_name};
pub(crate) use quantity::{FASTEST, LARGEST, LONGEST, probability};
pub(crate) use reader::{FromValue, Table, leaf, shown};
pub(crate) use setting::Key;
