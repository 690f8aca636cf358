// SPDX-License-Identifier: MIT OR Apache-2.0
//! How texts of a kind are worded.
//!
//! In: texts with labels. Out: a packed model ([`learn()`]), which says of another text how likely it is of each label
//! ([`Model::likeness`]). The crate `linerate-knowledge` learns from `knowledge/posts/` when it is built, and asks when a text is explained.
//!
//! ```
//! use std::collections::BTreeMap;
//! use linerate_wording::{Model, learn};
//! let texts = |one: &str, other: &str| vec![one.to_owned(), other.to_owned(), one.to_owned(), other.to_owned()];
//! let labelled = BTreeMap::from([
//!     ("cable".to_owned(), texts("bad cable, errors", "errors with the old cable")),
//!     ("dns".to_owned(), texts("names fail", "unknown host names")),
//!     ("mtu".to_owned(), texts("large packets hang", "large ones are lost")),
//! ]);
//! let model = Model::parse(&learn(&labelled)).expect("what was just written");
//! let likely = model.likeness("only large packets are lost");
//! assert_eq!(model.labels()[likely[0].label], "mtu");
//! ```
#![forbid(unsafe_code)]

mod learn;
mod model;
mod pack;
mod token;
mod train;
mod vector;

pub use learn::learn;
pub use model::{Likeness, Model};
