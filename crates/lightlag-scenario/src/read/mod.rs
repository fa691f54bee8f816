//! Reads scenario texts. A text is parsed to a tree of plain values, and typed values are read from the tree key by
//! key, so that every error is reported with its path and its fix. Nothing here depends on the keys of a scenario.
//!
//! - `text`: TOML and JSON become a tree.
//! - `tree`: changes to a tree before it is read.
//! - `steps`: the paths of such changes.
//! - `reader`: typed values from a tree.
//! - `quantity`, `name`, `direction`: types of values that many keys share.
//! - `limit`, `varied`, `setting`: queue sizes, quantities that may be random, and keys declared by a model.
//! - `custom`: custom algorithms.
//! - `error`: errors with their path, value and fix.
//! - [`files`]: access to files, on disk or in memory.
//! - [`page_file`]: files that list the objects of a web page.
//! - [`path_file`]: files with the paths of nodes.
//! - [`trace_file`]: files that describe the changes of a link.

mod custom;
mod direction;
mod error;
pub mod files;
mod limit;
mod name;
pub mod page_file;
pub mod path_file;
mod quantity;
mod reader;
mod setting;
mod steps;
pub(crate) mod text;
pub mod trace_file;
pub(crate) mod tree;
mod varied;

pub(crate) use custom::FromOutside;
pub(crate) use direction::Omitted;
pub use direction::PerDirection;
pub use error::ScenarioError;
pub(crate) use error::{Errors, Path, nearest, not_one_of, shortened};
pub(crate) use lightlag_core::schema::described;
pub(crate) use limit::{LimitForm, written};
pub(crate) use name::{NodeName, refusal_of_name};
pub(crate) use quantity::{FASTEST, LARGEST, LONGEST, probability};
pub(crate) use reader::{FromValue, TableReader, in_our_words, leaf, share_part, shown};
pub(crate) use setting::{Key, quantity};
