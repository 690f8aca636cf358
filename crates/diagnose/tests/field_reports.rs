// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the reader of a field report wants to know, from texts of our own with such figures: every claim of a report has
//! its cause here, and what its own numbers contradict. And the findings follow the numbers.

#[path = "field_reports/causes.rs"]
mod causes;
#[path = "field_reports/changes.rs"]
mod changes;
#[path = "field_reports/claims.rs"]
mod claims;
#[path = "field_reports/hostile.rs"]
mod hostile;
#[path = "field_reports/posts.rs"]
mod posts;
