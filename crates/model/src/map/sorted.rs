// SPDX-License-Identifier: MIT OR Apache-2.0
//! Indices in an order that the caller knows, in pieces, so that one is added without moving all that follow.

use std::cmp::Ordering;
use std::iter::Flatten;
use std::slice::Iter;

/// Indices of entries.
#[derive(Clone, Default)]
pub(super) struct Sorted {
    /// None is empty.
    pieces: Vec<Vec<u32>>,
}

/// Where an index would be added: the piece, and the place in it.
pub(super) type Gap = (usize, usize);

/// The indices in their order.
pub(super) type Indices<'s> = Flatten<Iter<'s, Vec<u32>>>;

impl Sorted {
    pub(super) const fn new() -> Self {
        Self { pieces: Vec::new() }
    }

    /// 0, 1, 2 …
    pub(super) fn ascending(count: usize) -> Self {
        let all: Vec<u32> = (0..count as u32).collect();
        Self {
            pieces: all.chunks(PIECE_MOST).map(<[u32]>::to_vec).collect(),
        }
    }

    pub(super) fn iter(&self) -> Indices<'_> {
        self.pieces.iter().flatten()
    }

    /// The index that compares as equal, or where one that does would be added.
    pub(super) fn find(&self, compare: &mut dyn FnMut(usize) -> Ordering) -> Result<usize, Gap> {
        let mut of = |index: &u32| compare(*index as usize);
        let begins_before = |piece: &Vec<u32>| piece.first().is_some_and(|first| of(first).is_le());
        let at = self.pieces.partition_point(begins_before).saturating_sub(1);
        let Some(piece) = self.pieces.get(at) else {
            return Err((0, 0));
        };
        match piece.binary_search_by(of) {
            Ok(found) => Ok(piece[found] as usize),
            Err(gap) => Err((at, gap)),
        }
    }

    /// Adds an index where [`find`](Self::find) said.
    pub(super) fn add(&mut self, (at, gap): Gap, index: usize) {
        let Some(piece) = self.pieces.get_mut(at) else {
            return self.pieces.push(vec![index as u32]);
        };
        piece.insert(gap, index as u32);
        if piece.len() > PIECE_MOST {
            let upper = piece.split_off(PIECE_MOST / 2);
            self.pieces.insert(at + 1, upper);
        }
    }

    /// Takes an index away, and calls the last one by its number.
    pub(super) fn swap_remove(&mut self, index: usize, last: usize) {
        for piece in &mut self.pieces {
            piece.retain(|one| *one as usize != index);
            for one in piece {
                if *one as usize == last {
                    *one = index as u32;
                }
            }
        }
        self.pieces.retain(|piece| !piece.is_empty());
    }
}

/// Moved at once: a few hundred nanoseconds.
const PIECE_MOST: usize = 1024;
