// SPDX-License-Identifier: MIT OR Apache-2.0
//! Weighs causes by what a text shows: the evidence for and against each is data ([`linerate_knowledge::causes`]), in
//! decibans, and their sum decides.
//!
//! ```text
//! text, records ──► observed ──► score of each cause ──► the fewest causes that explain what is abnormal
//! ```
//!
//! Weights add up as logarithms of likelihood ratios do (I. J. Good, Weight of evidence). Signs of one cause are not
//! independent, so each further one counts less. What is only said never makes a cause more than possible. A line that a chosen cause explains speaks less for the others
//! (explaining away, Peng and Reggia 1990).

mod anomalies;
mod answer;
mod derived;
mod finding;
mod observed;
mod odd;
mod places;
mod score;
mod situation;
mod speech;
mod unknown;
mod written;

pub use answer::{Degree, Named, name};
pub use finding::{Conclusion, conclude};
pub use observed::{Line, Observed, Text};
pub use score::Part;

#[cfg(test)]
mod tests;
