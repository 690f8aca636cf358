// SPDX-License-Identifier: MIT OR Apache-2.0
//! A straight line through points, and what a packet costs by it: t = a + b · bytes.

/// A line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// Its value at 0.
    pub at_zero: f64,
    /// Its slope.
    pub slope: f64,
}

/// Least squares through `(x, y)`; `None` below two different x.
pub fn through(points: &[(f64, f64)]) -> Option<Line> {
    let n = points.len() as f64;
    let x = points.iter().map(|(x, _)| x).sum::<f64>() / n;
    let y = points.iter().map(|(_, y)| y).sum::<f64>() / n;
    let squares: f64 = points.iter().map(|(at, _)| (at - x).powi(2)).sum();
    let products: f64 = points.iter().map(|(at, of)| (at - x) * (of - y)).sum();
    let slope = products / squares;
    (squares > 0.0).then_some(Line {
        at_zero: y - slope * x,
        slope,
    })
}

/// The cost of a packet in seconds, `at_zero`, and of a byte, `slope`, from `(bytes, packets a second)`.
/// Rates that the wire caps have to be left out before.
pub fn packet_cost(rates: &[(f64, f64)]) -> Option<Line> {
    let times: Vec<_> = rates
        .iter()
        .map(|(bytes, pps)| (*bytes, 1.0 / pps))
        .collect();
    through(&times).filter(|line| line.slope.is_finite() && line.at_zero.is_finite())
}
