// SPDX-License-Identifier: MIT OR Apache-2.0
//! Mixes of frame sizes with their genome (RFC 6985): the exact order of the sizes, repeated.

use linerate_model::order;
use std::fmt;

use super::Layer;

/// A repeated sequence of frame sizes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mix {
    sizes_bytes: Vec<u16>,
    genome: Genome,
}

/// An invalid mix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MixError {
    #[error("a mix needs at least one size")]
    Empty,
    #[error("'{0}' is not a size of RFC 6985: a to j, or z for the MTU")]
    Letter(char),
    #[error("a mix has at most 26 different sizes")]
    TooManySizes,
    #[error("a mix of {0} frames is too long: at most 1024 before it repeats")]
    TooManyFrames(u64),
}

impl Mix {
    /// Creates an RFC 6985 mix: letters a = 64 … g = 1518, h = 2112, i = 9000, j = 16000; z is the frame that
    /// fills `mtu_bytes`. The order of the letters is the order of the frames.
    pub fn standard(genome: &str, mtu_bytes: u16) -> Result<Self, MixError> {
        let size = |letter| match letter {
            'z' => Ok(mtu_bytes.saturating_add(18)),
            _ => STANDARD
                .iter()
                .find(|(known, _)| *known == letter)
                .map(|(_, bytes)| *bytes)
                .ok_or(MixError::Letter(letter)),
        };
        let sizes_bytes = genome.chars().map(size).collect::<Result<Vec<_>, _>>()?;
        let genome = Genome::Standard(genome.to_owned());
        Self::of(sizes_bytes, genome)
    }

    /// Creates an RFC 6985 custom mix: any sizes in the given order, with letters assigned by size.
    pub fn custom(sizes_bytes: &[u16]) -> Result<Self, MixError> {
        let different = different(sizes_bytes);
        if different.len() > 26 {
            return Err(MixError::TooManySizes);
        }
        Self::of(sizes_bytes.to_vec(), Genome::Custom(different))
    }

    /// Creates a mix of (count, size) with even spacing, such as (7, 64), (4, 570), (1, 1518).
    ///
    /// ```
    /// use linerate_method::frame_size::Mix;
    /// let mix = Mix::weighted(&[(3, 64), (1, 1518)])?;
    /// assert_eq!(mix.to_string(), "CUSTOM IMIX - AABA (A=64 B=1518)");
    /// # Ok::<(), linerate_method::frame_size::MixError>(())
    /// ```
    pub fn weighted(parts: &[(u32, u16)]) -> Result<Self, MixError> {
        let total: u64 = parts.iter().map(|(weight, _)| u64::from(*weight)).sum();
        if total > FRAMES_MAX {
            return Err(MixError::TooManyFrames(total));
        }
        let mut due: Vec<i64> = vec![0; parts.len()];
        let mut order = Vec::new();
        for _ in 0..total {
            due.iter_mut()
                .zip(parts)
                .for_each(|(due, (weight, _))| *due += i64::from(*weight));
            // The first of those with the largest deficit.
            let most = due
                .iter()
                .copied()
                .enumerate()
                .rev()
                .max_by_key(|(_, due)| *due);
            let Some((at, _)) = most else { break };
            due[at] -= total as i64;
            order.push(parts[at].1);
        }
        Self::custom(&order)
    }

    /// Raises smaller frames to this size.
    #[must_use]
    pub fn at_least(self, smallest_bytes: u16) -> Self {
        let larger = |size: &u16| (*size).max(smallest_bytes);
        let sizes_bytes: Vec<u16> = self.sizes_bytes.iter().map(larger).collect();
        if sizes_bytes == self.sizes_bytes {
            return self;
        }
        Self {
            genome: Genome::Custom(different(&sizes_bytes)),
            sizes_bytes,
        }
    }

    /// Frames of one size.
    pub fn one(size_bytes: u16) -> Self {
        Self {
            sizes_bytes: vec![size_bytes],
            genome: Genome::Custom(vec![size_bytes]),
        }
    }

    /// The usual IMIX: 7 frames of 64, 4 of 594 and 1 of 1518 bytes.
    pub fn classic() -> Self {
        const S: u16 = 64;
        const M: u16 = 594;
        const L: u16 = 1518;
        Self {
            sizes_bytes: vec![S, S, M, S, S, M, S, S, M, S, M, L],
            genome: Genome::Custom(vec![S, M, L]),
        }
    }

    /// The unique sizes, smallest first.
    pub fn different_bytes(&self) -> Vec<u16> {
        different(&self.sizes_bytes)
    }

    /// The sizes in order, in bytes with FCS.
    pub fn sizes_bytes(&self) -> &[u16] {
        &self.sizes_bytes
    }

    /// Whether there are several sizes, and so a genome to print.
    pub fn is_mixed(&self) -> bool {
        self.sizes_bytes
            .iter()
            .any(|size| *size != self.sizes_bytes[0])
    }

    /// The (mean) frame size in bytes with FCS, rounded.
    pub fn frame_bytes(&self) -> u16 {
        self.mean_bytes().round() as u16
    }

    /// The mean frame size in bytes with FCS.
    pub fn mean_bytes(&self) -> f64 {
        let total: u64 = self.sizes_bytes.iter().map(|&size| u64::from(size)).sum();
        total as f64 / self.sizes_bytes.len() as f64
    }

    /// The line rate of this mix in frames per second and direction.
    pub fn line_rate_fps(&self, link_bits_per_second: u64) -> f64 {
        link_bits_per_second as f64 / Layer::L1.bits(self.mean_bytes())
    }

    /// Converts `fps` frames of this mix to bits per second at `layer`.
    pub fn bits_per_second(&self, layer: Layer, fps: f64) -> f64 {
        fps * layer.bits(self.mean_bytes())
    }

    fn of(sizes_bytes: Vec<u16>, genome: Genome) -> Result<Self, MixError> {
        if sizes_bytes.is_empty() {
            return Err(MixError::Empty);
        }
        Ok(Self {
            sizes_bytes,
            genome,
        })
    }
}

fn different(sizes_bytes: &[u16]) -> Vec<u16> {
    let mut different = sizes_bytes.to_vec();
    order::by(&mut different, Ord::cmp);
    different.dedup();
    different
}

/// Formats the genome as RFC 6985 requires: `IMIX - aaafg`, or `CUSTOM IMIX - AAB (A=64 B=1400)`.
impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let different = match &self.genome {
            Genome::Standard(genome) => return write!(f, "IMIX - {genome}"),
            Genome::Custom(different) => different,
        };
        write!(f, "CUSTOM IMIX - ")?;
        for size in &self.sizes_bytes {
            let letter = different
                .iter()
                .zip('A'..)
                .find(|(known, _)| *known == size);
            write!(f, "{}", letter.map_or('?', |(_, letter)| letter))?;
        }
        let table: Vec<String> = different
            .iter()
            .zip('A'..)
            .map(|(size, letter)| format!("{letter}={size}"))
            .collect();
        write!(f, " ({})", table.join(" "))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Genome {
    Standard(String),
    /// The unique sizes: A, B, C …
    Custom(Vec<u16>),
}

const FRAMES_MAX: u64 = 1024;

const STANDARD: [(char, u16); 10] = [
    ('a', 64),
    ('b', 128),
    ('c', 256),
    ('d', 512),
    ('e', 1024),
    ('f', 1280),
    ('g', 1518),
    ('h', 2112),
    ('i', 9000),
    ('j', 16000),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_rfc() {
        let mix = Mix::standard("aaafg", 1500).unwrap();
        assert_eq!(mix.sizes_bytes(), [64, 64, 64, 1280, 1518]);
        assert_eq!(mix.to_string(), "IMIX - aaafg");
        assert_eq!(mix.mean_bytes(), 598.0);
        assert!((mix.line_rate_fps(1_000_000_000) - 1e9 / (618.0 * 8.0)).abs() < 1e-6);
    }

    #[test]
    fn z_fills_the_mtu() {
        let mix = Mix::standard("az", 9000).unwrap();
        assert_eq!(mix.sizes_bytes(), [64, 9018]);
    }

    #[test]
    fn custom_genomes_carry_their_table() {
        let mix = Mix::custom(&[64, 1400, 64]).unwrap();
        assert_eq!(mix.to_string(), "CUSTOM IMIX - ABA (A=64 B=1400)");
        let classic = Mix::classic();
        let count = |size| classic.sizes_bytes().iter().filter(|&&s| s == size).count();
        assert_eq!((count(64), count(594), count(1518)), (7, 4, 1));
        assert_eq!(
            classic.to_string(),
            "CUSTOM IMIX - AABAABAABABC (A=64 B=594 C=1518)"
        );
    }

    #[test]
    fn weights_are_kept_and_spread() {
        let mix = Mix::weighted(&[(7, 64), (4, 570), (1, 1518)]).unwrap();
        assert_eq!(
            mix.to_string(),
            "CUSTOM IMIX - ABAABACABABA (A=64 B=570 C=1518)"
        );
        assert_eq!(mix.frame_bytes(), 354);
        assert!(mix.is_mixed() && !Mix::one(64).is_mixed());
        assert_eq!(Mix::weighted(&[(0, 64)]), Err(MixError::Empty));
        assert_eq!(
            Mix::weighted(&[(5000, 64)]),
            Err(MixError::TooManyFrames(5000))
        );
    }

    #[test]
    fn frames_that_are_too_small_are_made_larger_and_the_genome_says_so() {
        let mix = Mix::standard("aag", 1500).unwrap();
        assert_eq!(mix.clone().at_least(64), mix);
        assert_eq!(
            mix.at_least(84).to_string(),
            "CUSTOM IMIX - AAB (A=84 B=1518)"
        );
    }

    #[test]
    fn what_is_no_genome() {
        assert_eq!(Mix::standard("", 1500), Err(MixError::Empty));
        assert_eq!(Mix::standard("aq", 1500), Err(MixError::Letter('q')));
        assert_eq!(Mix::custom(&[]), Err(MixError::Empty));
        let many: Vec<u16> = (64..91).collect();
        assert_eq!(Mix::custom(&many), Err(MixError::TooManySizes));
    }
}
