// SPDX-License-Identifier: MIT OR Apache-2.0
//! Multinomial logistic regression by stochastic gradient descent, each weight with a pace of its own (J. Duchi, E. Hazan and
//! Y. Singer, Adaptive subgradient methods, 2011). The order of the samples is the same in each run, and so is the result.

use crate::vector::Vector;

/// A text to learn from.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) vector: Vector,
    /// The places of its labels, and what it counts as a text of each.
    pub(crate) labels: Vec<(usize, f32)>,
}

/// Weights of one row a token with one column a label, and what each label has in any text.
#[derive(Debug)]
pub(crate) struct Trained {
    pub(crate) rows: Vec<Row>,
    pub(crate) base: Row,
}

/// A value for each label.
pub(crate) type Row = Vec<f32>;

/// Learns from samples of vectors below `tokens`.
pub(crate) fn train(samples: &[Sample], tokens: usize, labels: usize) -> Trained {
    let mut descent = Descent::new(samples, tokens, labels);
    let mut order: Vec<usize> = (0..samples.len()).collect();
    let mut dice = Dice(SEED);
    for _ in 0..EPOCHS {
        dice.shuffle(&mut order);
        for at in &order {
            descent.step(&samples[*at]);
        }
    }
    Trained {
        rows: descent
            .rows
            .into_iter()
            .map(|weights| weights.value)
            .collect(),
        base: descent.base.value,
    }
}

/// The weights of a row, and the sums of the squares of their gradients.
#[derive(Debug, Clone)]
struct Weights {
    value: Row,
    squares: Row,
    /// The fraction by which each sample reduces a weight.
    shrink: f32,
}

impl Weights {
    /// Of what is in this many samples: a rare token has fewer chances to shrink, and shrinks by more.
    fn new(labels: usize, samples: usize) -> Self {
        Self {
            value: vec![0.0; labels],
            squares: vec![SQUARES_FIRST; labels],
            shrink: RIDGE / samples.max(1) as f32,
        }
    }

    /// One step against the gradient, which is `errors` times `by`; and a bit towards 0.
    fn step(&mut self, errors: &[f32], by: f32) {
        let weights = self.value.iter_mut().zip(&mut self.squares);
        for ((value, squares), error) in weights.zip(errors) {
            let gradient = error * by + self.shrink * *value;
            *squares += gradient * gradient;
            *value -= PACE * gradient / squares.sqrt();
        }
    }
}

struct Descent {
    rows: Vec<Weights>,
    base: Weights,
    errors: Row,
}

impl Descent {
    fn new(samples: &[Sample], tokens: usize, labels: usize) -> Self {
        let mut having = vec![0; tokens];
        for (token, _) in samples.iter().flat_map(|sample| &sample.vector) {
            having[*token] += 1;
        }
        let rows = having.into_iter().map(|count| Weights::new(labels, count));
        Self {
            rows: rows.collect(),
            base: Weights::new(labels, samples.len()),
            errors: vec![0.0; labels],
        }
    }

    fn step(&mut self, sample: &Sample) {
        self.errors.copy_from_slice(&self.base.value);
        for (token, value) in &sample.vector {
            add(&mut self.errors, &self.rows[*token].value, *value);
        }
        softmax(&mut self.errors);
        let counts: f32 = sample.labels.iter().map(|(_, counts)| counts).sum();
        self.errors.iter_mut().for_each(|error| *error *= counts);
        for (label, counts) in &sample.labels {
            self.errors[*label] -= counts;
        }
        for (token, value) in &sample.vector {
            self.rows[*token].step(&self.errors, *value);
        }
        self.base.step(&self.errors, 1.0);
    }
}

fn add(sum: &mut [f32], row: &[f32], times: f32) {
    for (sum, one) in sum.iter_mut().zip(row) {
        *sum += one * times;
    }
}

/// Scores to probabilities.
pub(crate) fn softmax(scores: &mut [f32]) {
    let most = scores.iter().copied().fold(f32::MIN, f32::max);
    scores
        .iter_mut()
        .for_each(|score| *score = (*score - most).exp());
    let sum: f32 = scores.iter().sum();
    scores.iter_mut().for_each(|score| *score /= sum);
}

/// The same numbers in each run (G. Marsaglia, Xorshift RNGs, 2003).
struct Dice(u64);

impl Dice {
    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % count
    }

    /// Fisher and Yates.
    fn shuffle(&mut self, order: &mut [usize]) {
        for last in (1..order.len()).rev() {
            order.swap(last, self.below(last + 1));
        }
    }
}

const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
const EPOCHS: usize = 20;
const PACE: f32 = 0.3;
/// The penalty added to the loss of all samples: half of this times the squares of all weights.
const RIDGE: f32 = 0.2;
/// Keeps the first steps small.
const SQUARES_FIRST: f32 = 1e-3;
