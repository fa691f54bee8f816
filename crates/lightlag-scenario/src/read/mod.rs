//! Reads texts. A text becomes a tree of plain values, and typed values are read from the tree key by key, so every
//! error is reported with its place and its remedy. Nothing here depends on the contents of a scenario.
//!
//! - `text`: TOML and JSON become a tree.
//! - `tree`: changes to a tree before it is read.
//! - `steps`: the paths of such changes.
//! - `reader`: typed values from a tree.
//! - `quantity`, `name`, `direction`: types of values that many keys share.
//! - `limit`, `setting`: parts of queues, and keys declared by a model.
//! - `outside`: algorithms that are not part of lightlag.
//! - `error`: errors with their place, value and remedy.
//! - [`files`]: where files are.
//! - [`path_file`]: files of paths of nodes.
//! - [`trace_file`]: files that describe the changes of a link.

mod direction;
mod error;
pub mod files;
mod limit;
mod name;
mod outside;
pub mod path_file;
mod quantity;
mod reader;
mod setting;
mod steps;
pub(crate) mod text;
pub mod trace_file;
pub(crate) mod tree;

pub(crate) use direction::Omitted;
pub use direction::PerDirection;
pub use error::ScenarioError;
pub(crate) use error::{Errors, Path, nearest, not_one_of, shortened};
pub(crate) use limit::{LimitForm, written};
pub(crate) use name::{NodeName, refusal_of_name};
pub(crate) use outside::FromOutside;
pub(crate) use quantity::{FASTEST, LARGEST, LONGEST, probability};
pub(crate) use reader::{FromValue, Table, in_our_words, leaf, share_part, shown};
pub(crate) use setting::{Key, described, quantity};
