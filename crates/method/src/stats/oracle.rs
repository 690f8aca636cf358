// SPDX-License-Identifier: MIT OR Apache-2.0
//! Comparison with another library, over the range that measurements need.

use statrs::distribution::{Beta, ContinuousCDF, Normal, StudentsT};
use statrs::function::gamma;

use super::{beta, normal, student};

fn close(ours: f64, theirs: f64, relative: f64, what: &str) {
    let error = (ours - theirs).abs();
    assert!(
        error <= relative * theirs.abs().max(1e-300),
        "{what}: {ours} instead of {theirs}"
    );
}

#[test]
fn student() {
    for df in [1.0, 2.0, 3.0, 5.0, 7.0, 11.0, 30.0, 200.0] {
        let theirs = StudentsT::new(0.0, 1.0, df).unwrap();
        for t in [0.0, 0.1, 0.7, 1.0, 2.0, 4.5, 11.0, 40.0] {
            let what = format!("t {t}, df {df}");
            close(student::upper_tail(t, df), theirs.sf(t), 1e-9, &what);
            close(student::upper_tail(-t, df), theirs.sf(-t), 1e-9, &what);
        }
        for p in [0.6, 0.8, 0.95, 0.975, 0.995, 0.9995, 0.3] {
            // By the definition: their inverse is itself found by iteration.
            close(
                theirs.cdf(student::quantile(p, df)),
                p,
                1e-9,
                &format!("{p} df {df}"),
            );
        }
    }
}

#[test]
fn gamma_beta_and_normal() {
    for x in [0.25, 0.5, 1.0, 2.5, 8.0, 15.0, 31.5, 400.0] {
        let error = (beta::ln_gamma(x) - gamma::ln_gamma(x)).abs();
        assert!(error < 1e-10 * (1.0 + x), "{x}: {error:e}");
    }
    for (a, b) in [
        (0.5, 0.5),
        (3.5, 0.5),
        (2.0, 7.0),
        (72.0, 34_287.0),
        (40.0, 40.0),
    ] {
        let theirs = Beta::new(a, b).unwrap();
        for p in [0.01, 0.025, 0.3, 0.5, 0.9, 0.975] {
            close(
                theirs.cdf(beta::quantile(p, a, b)),
                p,
                1e-8,
                &format!("{p} of Beta({a}, {b})"),
            );
        }
    }
    let theirs = Normal::standard();
    for z in [-6.0, -2.9, -1.0, 0.0, 0.3, 1.96, 2.99, 3.01, 5.0, 8.0] {
        close(normal::upper_tail(z), theirs.sf(z), 1e-9, &format!("z {z}"));
    }
    for p in [1e-9, 0.001, 0.2, 0.5, 0.8, 0.975, 0.999_999] {
        close(
            normal::upper_tail(-normal::quantile(p)),
            p,
            1e-9,
            &format!("p {p}"),
        );
    }
}

/// Non-central t by its definition, (Z + δ) / √(χ²/ν), drawn.
#[test]
fn noncentral_t() {
    let mut rng = crate::rng::Rng::new(11);
    let mut z = || {
        let (radius, angle) = (1.0 - rng.unit(), rng.unit());
        (-2.0 * radius.ln()).sqrt() * (core::f64::consts::TAU * angle).cos()
    };
    for (df, noncentrality) in [(5, 2.2), (11, 2.1), (7, 3.0)] {
        let draw = |_| {
            let first = z();
            let squares: f64 = (0..df).map(|_| z().powi(2)).sum();
            (first + noncentrality) / (squares / f64::from(df)).sqrt()
        };
        let mut drawn: Vec<f64> = (0..20_000).map(draw).collect();
        drawn.sort_by(f64::total_cmp);
        let ours = student::noncentral_quantile(0.8, f64::from(df), noncentrality).unwrap();
        close(
            ours,
            drawn[16_000],
            0.03,
            &format!("df {df}, δ {noncentrality}"),
        );
    }
}
