// SPDX-License-Identifier: MIT OR Apache-2.0
//! A model as text that compresses well: a line for each kind of thing, a character for a number.

use crate::train::Row;

/// What is kept of a trained model.
#[derive(Debug)]
pub(crate) struct Packed {
    /// How many texts it was learnt from.
    pub(crate) texts: usize,
    pub(crate) labels: Vec<String>,
    /// What each label has in any text.
    pub(crate) base: Row,
    pub(crate) tokens: Vec<PackedToken>,
}

#[derive(Debug)]
pub(crate) struct PackedToken {
    pub(crate) token: String,
    /// How many texts have it.
    pub(crate) having: usize,
    /// Labels in their order, and what it says for each.
    pub(crate) weights: Vec<(usize, f32)>,
}

/// Whether a weight is too small to be written.
pub(crate) fn is_none(weight: f32) -> bool {
    (weight / STEP).round() == 0.0
}

pub(crate) fn write(packed: &Packed) -> String {
    let tokens = &packed.tokens;
    let words: Vec<&str> = tokens.iter().map(|one| one.token.as_str()).collect();
    let having: Vec<String> = tokens.iter().map(|one| one.having.to_string()).collect();
    let places: Vec<String> = tokens.iter().map(|one| gaps(&one.weights)).collect();
    let base: Vec<String> = packed
        .base
        .iter()
        .map(|weight| format!("{weight:.2}"))
        .collect();
    let lines = [
        &packed.labels.join(" "),
        &base.join(" "),
        &words.join(" "),
        &having.join(" "),
        &places.join(" "),
    ];
    let mut text = packed.texts.to_string();
    for line in lines {
        text.push('\n');
        text += line;
    }
    text.push('\n');
    let weights = tokens.iter().flat_map(|one| &one.weights);
    text.extend(weights.map(|(_, weight)| letter(*weight)));
    text
}

/// `None` for what [`write`] did not write.
pub(crate) fn read(text: &str) -> Option<Packed> {
    let mut lines = text.lines();
    let texts = lines.next()?.parse().ok()?;
    let labels: Vec<String> = lines.next()?.split(' ').map(str::to_owned).collect();
    let base = lines
        .next()?
        .split(' ')
        .map(str::parse)
        .collect::<Result<Row, _>>()
        .ok()?;
    let (words, having, places) = (lines.next()?, lines.next()?, lines.next()?);
    let mut weights = lines.next()?.bytes().map(weight);
    let columns = words
        .split(' ')
        .zip(having.split(' '))
        .zip(places.split(' '));
    let token = |((token, having), gaps): ((&str, &str), &str)| {
        let own = labels_of(gaps).into_iter();
        Some(PackedToken {
            token: token.to_owned(),
            having: having.parse().ok()?,
            weights: own
                .map(|label| Some((label, weights.next()?)))
                .collect::<Option<_>>()?,
        })
    };
    let tokens = columns.map(token).collect::<Option<_>>()?;
    Some(Packed {
        texts,
        labels,
        base,
        tokens,
    })
}

/// How many labels lie between, a character each, after a [`FAR`] for each further [`FAR_BY`].
fn gaps(weights: &[(usize, f32)]) -> String {
    let mut next = 0;
    let mut text = String::new();
    for (label, _) in weights {
        let gap = label - next;
        text.extend((0..gap / FAR_BY).map(|_| char::from(FAR)));
        text.push(char::from(FIRST + (gap % FAR_BY) as u8));
        next = label + 1;
    }
    text
}

fn labels_of(gaps: &str) -> Vec<usize> {
    let mut labels = Vec::new();
    let mut next = 0;
    for letter in gaps.bytes() {
        if letter == FAR {
            next += FAR_BY;
        } else {
            next += usize::from(letter.saturating_sub(FIRST));
            labels.push(next);
            next += 1;
        }
    }
    labels
}

fn letter(weight: f32) -> char {
    let steps = (weight / STEP).round().clamp(-STEPS_MOST, STEPS_MOST);
    char::from((f32::from(MIDDLE) + steps) as u8)
}

fn weight(letter: u8) -> f32 {
    (f32::from(letter) - f32::from(MIDDLE)) * STEP
}

/// Of a weight.
const STEP: f32 = 1.2;
const STEPS_MOST: f32 = 46.0;
const FIRST: u8 = b'!';
const MIDDLE: u8 = FIRST + 46;
const FAR: u8 = b'~';
const FAR_BY: usize = (FAR - FIRST) as usize;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(
            labels in proptest::collection::btree_set(0_usize..400, 1..50),
            value in -9.0_f32..9.0,
        ) {
            let weights: Vec<(usize, f32)> = labels.into_iter().map(|label| (label, value)).collect();
            let one = PackedToken { token: "mtu".to_owned(), having: 7, weights };
            let packed = Packed { texts: 9, labels: vec!["a".into(), "b".into()], base: vec![0.0, -value], tokens: vec![one] };
            let back = read(&write(&packed)).expect("readable");
            let (before, after) = (&packed.tokens[0].weights, &back.tokens[0].weights);
            prop_assert_eq!(before.len(), after.len());
            for (one, other) in before.iter().zip(after) {
                prop_assert_eq!(one.0, other.0);
                prop_assert!((one.1 - other.1).abs() <= STEP / 2.0 + 1e-3);
            }
            prop_assert!((back.base[1] + value).abs() <= STEP / 2.0 + 1e-3);
        }

        #[test]
        fn garbage_is_no_model(text in "\\PC*") {
            let _ = read(&text);
        }
    }
}
