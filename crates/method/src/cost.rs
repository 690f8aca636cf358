// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a packet and a byte cost: a line through CPU times per packet over the payload.
//!
//! `ns = a + b × bytes` by least squares. The error of a CPU time is a share of it (ticks of a saturated processor, caches,
//! frequency), so the weight of a point is 1/ns², with ns from the line itself after a first pass. Intervals are those of
//! Student's t with n − 2 degrees of freedom.

use linerate_model::output::{Bound, Estimate};

use crate::stats::student;

/// CPU time per packet of one test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Payload of a packet.
    pub bytes: f64,
    /// CPU time per packet.
    pub ns: f64,
}

/// The line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// Time of each packet, whatever its size: `a`, nanoseconds.
    pub ns_per_packet: Estimate,
    /// Time of each byte: `b`, nanoseconds.
    pub ns_per_byte: Estimate,
    /// Standard deviation of the points from the line, as a share of the line.
    pub residual_ratio: f64,
    /// The share of `a` in the time of the largest packet.
    pub packet_share: Estimate,
    /// What the time of the largest packet depends on.
    pub bound: Bound,
}

/// Fits the line. `None` for fewer than three points, for one size only, or for a time that is not positive.
#[must_use]
pub fn fit(points: &[Point]) -> Option<Line> {
    let is_usable = |point: &Point| point.ns.is_finite() && point.ns > 0.0 && point.bytes >= 0.0;
    let sizes = points.windows(2).any(|pair| pair[0].bytes != pair[1].bytes);
    if points.len() < 3 || !sizes || !points.iter().all(is_usable) {
        return None;
    }
    let first = Sums::of(points, |point| point.ns)?;
    let by_line = |point: &Point| match first.at(point.bytes) {
        line if line > 0.0 => line,
        _ => point.ns,
    };
    let largest = points.iter().map(|point| point.bytes).fold(0.0, f64::max);
    Some(Sums::of(points, by_line)?.line(largest))
}

/// Weighted sums, around the mean payload.
struct Sums {
    df: f64,
    weight: f64,
    mean_bytes: f64,
    /// Σ w (bytes − mean)².
    squares: f64,
    a: f64,
    b: f64,
    /// Weighted variance of the residuals.
    variance: f64,
}

impl Sums {
    /// With weights 1/`scale`².
    fn of(points: &[Point], scale: impl Fn(&Point) -> f64) -> Option<Self> {
        let weighted = |of: &dyn Fn(&Point) -> f64| -> f64 {
            let term = |point: &Point| of(point) / scale(point).powi(2);
            points.iter().map(term).sum()
        };
        let weight = weighted(&|_| 1.0);
        let mean_bytes = weighted(&|point| point.bytes) / weight;
        let mean_ns = weighted(&|point| point.ns) / weight;
        let squares = weighted(&|point| (point.bytes - mean_bytes).powi(2));
        let products = weighted(&|point| (point.bytes - mean_bytes) * (point.ns - mean_ns));
        let b = products / squares;
        let a = mean_ns - b * mean_bytes;
        let df = points.len() as f64 - 2.0;
        let variance = weighted(&|point| (point.ns - a - b * point.bytes).powi(2)) / df;
        let all = Self {
            df,
            weight,
            mean_bytes,
            squares,
            a,
            b,
            variance,
        };
        (a.is_finite() && b.is_finite() && variance.is_finite()).then_some(all)
    }

    fn at(&self, bytes: f64) -> f64 {
        self.a + self.b * bytes
    }

    fn line(&self, largest_bytes: f64) -> Line {
        let of_b = self.variance / self.squares;
        let of_a = self.variance / self.weight + of_b * self.mean_bytes.powi(2);
        let both = -of_b * self.mean_bytes;
        let whole = self.at(largest_bytes);
        // The gradient of a / (a + b × bytes).
        let by_a = self.b * largest_bytes / whole.powi(2);
        let by_b = -self.a * largest_bytes / whole.powi(2);
        let of_share = by_a * by_a * of_a + 2.0 * by_a * by_b * both + by_b * by_b * of_b;
        let share = self.estimate(self.a / whole, of_share);
        let residual_ratio = self.variance.sqrt();
        Line {
            ns_per_packet: self.estimate(self.a, of_a),
            ns_per_byte: self.estimate(self.b, of_b),
            residual_ratio,
            packet_share: share,
            bound: bound(share, residual_ratio),
        }
    }

    fn estimate(&self, value: f64, variance: f64) -> Estimate {
        let half = student::quantile(0.975, self.df) * variance.max(0.0).sqrt();
        Estimate {
            value,
            ci95: [value - half, value + half],
        }
    }
}

/// More than half of the time, by the whole interval; nothing where no line describes the times.
fn bound(share: Estimate, residual_ratio: f64) -> Bound {
    let [least, most] = share.ci95;
    match residual_ratio <= RESIDUAL_RATIO_MAX {
        true if least > 0.5 => Bound::Packets,
        true if most < 0.5 => Bound::Bytes,
        _ => Bound::Neither,
    }
}

/// Times that far from a line do not follow it.
const RESIDUAL_RATIO_MAX: f64 = 0.25;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use statrs::distribution::{ContinuousCDF, StudentsT};

    const SIZES: [f64; 6] = [64.0, 128.0, 256.0, 512.0, 1024.0, 1472.0];

    fn points(of: impl FnMut(f64) -> f64) -> Vec<Point> {
        let mut of = of;
        let point = |bytes| Point {
            bytes,
            ns: of(bytes),
        };
        SIZES.into_iter().map(point).collect()
    }

    fn close(ours: f64, theirs: f64, relative: f64) {
        let error = (ours - theirs).abs();
        assert!(error <= relative * theirs.abs(), "{ours}, not {theirs}");
    }

    #[test]
    fn a_line_is_found_exactly() {
        let line = fit(&points(|bytes| 1900.0 + 0.1 * bytes)).unwrap();
        close(line.ns_per_packet.value, 1900.0, 1e-9);
        close(line.ns_per_byte.value, 0.1, 1e-9);
        assert!(line.residual_ratio < 1e-9);
        close(line.packet_share.value, 1900.0 / 2047.2, 1e-9);
        assert_eq!(line.bound, Bound::Packets);
        let copied = fit(&points(|bytes| 100.0 + 2.0 * bytes)).unwrap();
        assert_eq!(copied.bound, Bound::Bytes);
    }

    /// The normal equations in matrix form, (XᵀWX)⁻¹XᵀWy, with the intervals of another library's quantile.
    #[test]
    fn intervals_are_those_of_weighted_least_squares() {
        let noisy = [1.03, 0.95, 1.01, 1.04, 0.97, 1.02];
        let mut noise = noisy.into_iter();
        let points = points(|bytes| (900.0 + 0.8 * bytes) * noise.next().unwrap());
        let solve = |weights: &[f64]| {
            let sum = |of: &dyn Fn(&Point) -> f64| -> f64 {
                let all = points.iter().zip(weights);
                all.map(|(point, weight)| weight * of(point)).sum()
            };
            let (s, sx, sxx) = (
                sum(&|_| 1.0),
                sum(&|p| p.bytes),
                sum(&|p| p.bytes * p.bytes),
            );
            let (sy, sxy) = (sum(&|p| p.ns), sum(&|p| p.bytes * p.ns));
            let determinant = s * sxx - sx * sx;
            let (a, b) = (
                (sxx * sy - sx * sxy) / determinant,
                (s * sxy - sx * sy) / determinant,
            );
            let left = sum(&|p| (p.ns - a - b * p.bytes).powi(2)) / 4.0;
            (a, b, left * sxx / determinant, left * s / determinant)
        };
        let first: Vec<f64> = points.iter().map(|p| p.ns.powi(-2)).collect();
        let (a, b, ..) = solve(&first);
        let second: Vec<f64> = points.iter().map(|p| (a + b * p.bytes).powi(-2)).collect();
        let (a, b, of_a, of_b) = solve(&second);
        let t = StudentsT::new(0.0, 1.0, 4.0).unwrap().inverse_cdf(0.975);
        let line = fit(&points).unwrap();
        close(line.ns_per_packet.value, a, 1e-9);
        close(line.ns_per_byte.value, b, 1e-9);
        close(line.ns_per_packet.ci95[0], a - t * of_a.sqrt(), 1e-6);
        close(line.ns_per_packet.ci95[1], a + t * of_a.sqrt(), 1e-6);
        close(line.ns_per_byte.ci95[1], b + t * of_b.sqrt(), 1e-6);
    }

    /// 95 of 100 intervals have the value: drawn, with an error of 5 % of each time.
    #[test]
    fn the_intervals_cover() {
        let mut rng = Rng::new(16);
        let mut covered = [0; 3];
        for _ in 0..2000 {
            let line = fit(&points(|bytes| {
                (900.0 + 0.8 * bytes) * (1.0 + 0.05 * rng.normal())
            }))
            .unwrap();
            let truth = [900.0, 0.8, 900.0 / (900.0 + 0.8 * 1472.0)];
            let found = [line.ns_per_packet, line.ns_per_byte, line.packet_share];
            for ((count, truth), found) in covered.iter_mut().zip(truth).zip(found) {
                *count += u32::from((found.ci95[0]..=found.ci95[1]).contains(&truth));
            }
        }
        for count in covered {
            assert!((1860..=1940).contains(&count), "{covered:?} of 2000");
        }
    }

    #[test]
    fn what_no_line_describes_is_bound_by_neither() {
        let jump = fit(&points(|bytes| if bytes < 1000.0 { 500.0 } else { 4000.0 })).unwrap();
        assert!(jump.residual_ratio > RESIDUAL_RATIO_MAX);
        assert_eq!(jump.bound, Bound::Neither);
        let even = fit(&points(|bytes| 1472.0 + bytes + (bytes % 3.0) * 90.0)).unwrap();
        assert_eq!(even.bound, Bound::Neither, "half of each: {even:?}");
    }

    #[test]
    fn too_little_gives_no_line() {
        let one = Point {
            bytes: 64.0,
            ns: 900.0,
        };
        let two = Point {
            bytes: 1472.0,
            ns: 1900.0,
        };
        assert_eq!(fit(&[one, two]), None, "no residual");
        assert_eq!(fit(&[one; 5]), None, "one size");
        let stolen = Point { ns: -3.0, ..two };
        assert_eq!(fit(&[one, two, stolen]), None);
        let unknown = Point {
            ns: f64::NAN,
            ..two
        };
        assert_eq!(fit(&[one, two, unknown]), None);
    }
}
