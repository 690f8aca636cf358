// SPDX-License-Identifier: MIT OR Apache-2.0
//! Summaries of distributions.

use serde::Serialize;

use crate::fields::Fields;

/// A distribution in five numbers, nanoseconds (a one-way delay may be negative within its error).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Fields)]
pub struct Quantiles {
    /// Smallest.
    pub min: i64,
    /// Median.
    pub p50: i64,
    /// 99th percentile.
    pub p99: i64,
    /// 99.9th percentile.
    pub p999: i64,
    /// Largest.
    pub max: i64,
}

/// Gaps between arrivals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Fields)]
pub struct Spacing {
    /// Median.
    pub p50: u64,
    /// 99th percentile.
    pub p99: u64,
    /// Largest.
    pub max: u64,
}
