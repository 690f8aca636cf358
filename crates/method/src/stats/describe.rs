// SPDX-License-Identifier: MIT OR Apache-2.0
//! Descriptive statistics.

/// The mean; `None` of nothing.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The standard deviation of a sample (n − 1); `None` below two values.
pub(crate) fn sd(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}

/// A quantile by linear interpolation between order statistics (Hyndman and Fan's type 7); `None` of
/// nothing. `q` is 0…1.
pub(crate) fn quantile(values: &[f64], q: f64) -> Option<f64> {
    quantile_of_sorted(&sorted(values), q)
}

/// The same of values in ascending order.
pub(crate) fn quantile_of_sorted(sorted: &[f64], q: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = q.clamp(0.0, 1.0) * last as f64;
    let (below, part) = (place.floor() as usize, place.fract());
    let low = sorted[below];
    Some(low + part * (sorted[(below + 1).min(last)] - low))
}

/// The median; `None` of nothing.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The median absolute deviation from the median, unscaled; `None` of nothing.
pub(crate) fn mad(values: &[f64]) -> Option<f64> {
    let median = median(values)?;
    let distances: Vec<f64> = values.iter().map(|value| (value - median).abs()).collect();
    self::median(&distances)
}

/// Returns the positions of values far from the median: by more than five standard deviations, robustly
/// estimated, and by more than `least`.
pub(crate) fn far_out(values: &[f64], least: f64) -> Vec<usize> {
    let Some((median, mad)) = median(values).zip(mad(values)) else {
        return Vec::new();
    };
    let limit = least.max(FAR_OUT * MAD_TO_SD * mad);
    let is_far = |at: &usize| (values[*at] - median).abs() > limit;
    (0..values.len()).filter(is_far).collect()
}

/// In ascending order.
pub(crate) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// Standard deviations from the median.
const FAR_OUT: f64 = 5.0;
/// The ratio of standard deviation to MAD for normal noise.
pub(crate) const MAD_TO_SD: f64 = 1.4826;
