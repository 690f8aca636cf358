// SPDX-License-Identifier: MIT OR Apache-2.0
//! Histograms as the document writes them.

use linerate_method::histogram::Histogram;
use linerate_model::output::Quantiles;

/// Five numbers of a histogram; `None` when it is empty.
pub(crate) fn quantiles(histogram: &Histogram) -> Option<Quantiles> {
    histogram.percentiles().map(Quantiles::from)
}

/// The occupied buckets: upper bound in ns, count.
pub(crate) fn buckets(histogram: &Histogram) -> Vec<(u64, u64)> {
    histogram
        .buckets()
        .map(|bucket| (bucket.to_ns, bucket.count))
        .collect()
}

/// The same distribution moved by `by_ns`.
pub(crate) fn shifted(known: Quantiles, by_ns: i64) -> Quantiles {
    let of = |value: i64| value.saturating_add(by_ns);
    Quantiles {
        min: of(known.min),
        p50: of(known.p50),
        p99: of(known.p99),
        p999: of(known.p999),
        max: of(known.max),
    }
}
