// SPDX-License-Identifier: MIT OR Apache-2.0
//! The gamma and beta functions.

/// The `x` (0…1) at which the regularised incomplete beta function reaches `probability`: by Newton's method, by bisection
/// where that leaves the bracket.
pub(crate) fn quantile(probability: f64, a: f64, b: f64) -> f64 {
    let ln_beta = ln_beta(a, b);
    let (mut low, mut high, mut at) = (0.0, 1.0, 0.5);
    for _ in 0..BISECTIONS {
        let above = regularised_by(at, a, b, ln_beta) - probability;
        match above < 0.0 {
            true => low = at,
            false => high = at,
        }
        let ln_density = (a - 1.0) * at.ln() + (b - 1.0) * (-at).ln_1p() - ln_beta;
        let newton = at - above / ln_density.exp();
        let is_inside = newton > low && newton < high;
        let next = match is_inside {
            true => newton,
            false => f64::midpoint(low, high),
        };
        let is_near = (next - at).abs() <= at * 1e-15;
        if (is_inside && is_near) || high - low <= high * 1e-13 {
            return next;
        }
        at = next;
    }
    at
}

/// I_x(a, b), DLMF 8.17: by the continued fraction on the side of the mean where it converges fast.
pub(crate) fn regularised(x: f64, a: f64, b: f64) -> f64 {
    regularised_by(x, a, b, ln_beta(a, b))
}

fn regularised_by(x: f64, a: f64, b: f64, ln_beta: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    let ln_front = a * x.ln() + b * (-x).ln_1p() - ln_beta;
    if x < (a + 1.0) / (a + b + 2.0) {
        ln_front.exp() / a / beta_fraction(x, a, b)
    } else {
        1.0 - ln_front.exp() / b / beta_fraction(1.0 - x, b, a)
    }
}

/// The continued fraction of DLMF 8.17.22 by the modified Lentz method (its reciprocal).
fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    let (mut value, mut c, mut d) = (1.0, 1.0, 0.0);
    for n in 1..=MAX_TERMS {
        let term = fraction_term(n, x, a, b);
        d = 1.0 / away_from_zero(1.0 + term * d);
        c = away_from_zero(1.0 + term / c);
        value *= c * d;
        if (c * d - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

fn fraction_term(n: u32, x: f64, a: f64, b: f64) -> f64 {
    let m = f64::from(n / 2);
    if n.is_multiple_of(2) {
        m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
    } else {
        -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
    }
}

fn away_from_zero(value: f64) -> f64 {
    if value.abs() < 1e-300 { 1e-300 } else { value }
}

/// ln B(a, b) for a, b > 0.
pub(crate) fn ln_beta(a: f64, b: f64) -> f64 {
    ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b)
}

/// ln Γ(x) for x > 0 by Stirling's series (DLMF 5.11.1), after shifting small x upwards.
pub(crate) fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut product) = (x, 1.0_f64);
    while x < 15.0 {
        product *= x;
        x += 1.0;
    }
    let inverse = 1.0 / x;
    let square = inverse * inverse;
    let series = 1.0 / 1680.0;
    let series = 1.0 / 1260.0 - square * series;
    let series = 1.0 / 360.0 - square * series;
    let series = 1.0 / 12.0 - square * series;
    let half_ln_two_pi = 0.918_938_533_204_672_8;
    (x - 0.5) * x.ln() - x + half_ln_two_pi + inverse * series - product.ln()
}

const BISECTIONS: u32 = 200;
/// Terms needed grow with the square root of the counts; this suffices for 10¹⁰ packets.
const MAX_TERMS: u32 = 200_000;
