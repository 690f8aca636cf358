// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reproducible random numbers: splitmix64 (Steele, Lea, Flood 2014). The seed is part of a run's record. Not for
//! secrets.

/// A generator; the same seed gives the same numbers on every machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rng {
    state: u64,
}

impl Rng {
    /// Creates a generator from any seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Normal, with mean 0 and standard deviation 1 (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        let (radius, angle) = (1.0 - self.unit(), self.unit());
        (-2.0 * radius.ln()).sqrt() * (core::f64::consts::TAU * angle).cos()
    }

    /// Student's t with three degrees of freedom: benches have runs far out.
    pub fn heavy_tailed(&mut self) -> f64 {
        let z = self.normal();
        let squares: f64 = (0..3).map(|_| self.normal().powi(2)).sum();
        z / (squares / 3.0).sqrt()
    }

    /// Returns true with probability `ratio`. It draws even for 0 and 1, so that changing one ratio does not
    /// change later draws.
    pub fn chance(&mut self, ratio: f64) -> bool {
        self.unit() < ratio
    }

    /// Uniform in `0..bound`; 0 if the bound is 0. (The bias is below bound / 2⁶⁴.)
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_sequence_of_seed_0() {
        let mut rng = Rng::new(0);
        let first = [rng.next_u64(), rng.next_u64(), rng.next_u64()];
        assert_eq!(
            first,
            [
                0xe220_a839_7b1d_cdaf,
                0x6e78_9e6a_a1b9_65f4,
                0x06c4_5d18_8009_454f
            ]
        );
    }

    #[test]
    fn chance_meets_its_ratio() {
        let mut rng = Rng::new(7);
        let hits = (0..100_000).filter(|_| rng.chance(0.1)).count();
        // Five standard deviations of the binomial.
        assert!(hits.abs_diff(10_000) < 475, "{hits}");
        assert!((0..1000).all(|_| !rng.chance(0.0)));
        assert!((0..1000).all(|_| rng.chance(1.0)));
    }

    #[test]
    fn below_stays_below_and_reaches_all() {
        let mut rng = Rng::new(3);
        let mut seen = [0; 7];
        (0..7000).for_each(|_| seen[rng.below(7) as usize] += 1);
        assert!(
            seen.iter().all(|&n: &i32| n.abs_diff(1000) < 150),
            "{seen:?}"
        );
        assert_eq!(rng.below(0), 0);
    }
}
