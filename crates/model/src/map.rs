// SPDX-License-Identifier: MIT OR Apache-2.0
//! A map in the order of its keys. The standard library's tree is compiled once for each type of key and value, two kilobytes
//! each time; of this map that is a push and a comparison.
//!
//! The entries stay where they were added; their indices are kept in order. To find or add an entry takes the logarithm of
//! their number, as in a tree; to remove one takes their number.
//!
//! ```
//! use linerate_model::map::Map;
//! let mut drops: Map<&str, u64> = Map::new();
//! *drops.entry("socket").or_default() += 2;
//! *drops.entry("ring").or_default() += 1;
//! assert_eq!(drops.iter().collect::<Vec<_>>(), [(&"ring", &1), (&"socket", &2)]);
//! ```

mod sorted;

use std::borrow::Borrow;
use std::fmt;
use std::ops::Index;

use sorted::{Gap, Indices, Sorted};

use crate::order;

/// Keys and their values.
#[derive(Clone)]
pub struct Map<K, V> {
    entries: Vec<(K, V)>,
    /// Their indices, in the order of the keys.
    order: Sorted,
}

/// The place of a key, there or not yet.
#[must_use]
pub struct Entry<'m, K, V> {
    map: &'m mut Map<K, V>,
    key: K,
    place: Result<usize, Gap>,
}

/// The entries in their order.
pub struct Iter<'m, K, V> {
    entries: &'m [(K, V)],
    order: Indices<'m>,
}

impl<K, V> Map<K, V> {
    /// An empty one.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            entries: Vec::new(),
            order: Sorted::new(),
        }
    }

    /// How many entries.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no entry.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Keys and values, in the order of the keys.
    #[must_use]
    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter {
            entries: &self.entries,
            order: self.order.iter(),
        }
    }

    /// The keys in their order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> + Clone {
        self.iter().map(|(key, _)| key)
    }

    /// The values, in the order of the keys.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> + Clone {
        self.iter().map(|(_, value)| value)
    }

    /// As [`values`](Self::values), to be changed.
    pub fn values_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut V> {
        self.settled().iter_mut().map(|(_, value)| value)
    }

    /// The values, in the order of the keys.
    pub fn into_values(self) -> impl DoubleEndedIterator<Item = V> + ExactSizeIterator {
        self.into_iter().map(|(_, value)| value)
    }

    /// The keys in their order.
    pub fn into_keys(self) -> impl DoubleEndedIterator<Item = K> + ExactSizeIterator {
        self.into_iter().map(|(key, _)| key)
    }

    /// The entry with the smallest key.
    #[must_use]
    pub fn first_key_value(&self) -> Option<(&K, &V)> {
        self.iter().next()
    }

    /// The entry with the largest key.
    #[must_use]
    pub fn last_key_value(&self) -> Option<(&K, &V)> {
        self.iter().next_back()
    }

    /// Keeps the entries of which `keep` is true; it sees them in the order of the keys.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        self.settled().retain_mut(|(key, value)| keep(key, value));
        self.order = Sorted::ascending(self.entries.len());
    }

    /// Moves the entries to the order of their keys.
    fn settled(&mut self) -> &mut Vec<(K, V)> {
        let mut order: Vec<usize> = self.order.iter().map(|index| *index as usize).collect();
        order::place(&mut order, &mut |one, other| self.entries.swap(one, other));
        self.order = Sorted::ascending(self.entries.len());
        &mut self.entries
    }
}

impl<K: Ord, V> Map<K, V> {
    /// Adds an entry; the former value of the key.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.find(&key) {
            Ok(at) => Some(std::mem::replace(&mut self.entries[at].1, value)),
            Err(at) => {
                self.add(at, key, value);
                None
            }
        }
    }

    /// The place of a key.
    pub fn entry(&mut self, key: K) -> Entry<'_, K, V> {
        let place = self.find(&key);
        Entry {
            map: self,
            key,
            place,
        }
    }

    /// The value of a key.
    #[must_use]
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let at = self.find(key).ok()?;
        self.entries.get(at).map(|(_, value)| value)
    }

    /// As [`get`](Self::get), to be changed.
    #[must_use]
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let at = self.find(key).ok()?;
        self.entries.get_mut(at).map(|(_, value)| value)
    }

    /// Whether the key has a value.
    #[must_use]
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.find(key).is_ok()
    }

    /// Takes an entry away; its value.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let at = self.find(key).ok()?;
        let removed = self.entries.swap_remove(at);
        self.order.swap_remove(at, self.entries.len());
        Some(removed.1)
    }

    /// The index of the entry, or its place in the order.
    fn find<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, Gap>
    where
        K: Borrow<Q>,
    {
        let compare = &mut |at: usize| self.entries[at].0.borrow().cmp(key);
        self.order.find(compare)
    }

    fn add(&mut self, gap: Gap, key: K, value: V) -> usize {
        let at = self.entries.len();
        self.order.add(gap, at);
        self.entries.push((key, value));
        at
    }
}

impl<'m, K: Ord, V> Entry<'m, K, V> {
    /// Its value; `value` where it has none.
    pub fn or_insert(self, value: V) -> &'m mut V {
        self.or_insert_with(|| value)
    }

    /// Its value; the default where it has none.
    pub fn or_default(self) -> &'m mut V
    where
        V: Default,
    {
        self.or_insert_with(V::default)
    }

    /// Its value; what `value` returns where it has none.
    pub fn or_insert_with(self, value: impl FnOnce() -> V) -> &'m mut V {
        let at = match self.place {
            Ok(at) => at,
            Err(place) => self.map.add(place, self.key, value()),
        };
        &mut self.map.entries[at].1
    }
}

impl<K, V> Default for Map<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for Map<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

impl<K: PartialEq, V: PartialEq> PartialEq for Map<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<K: Eq, V: Eq> Eq for Map<K, V> {}

impl<K: Ord + Borrow<Q>, Q: Ord + ?Sized, V> Index<&Q> for Map<K, V> {
    type Output = V;

    /// # Panics
    /// The key has no value.
    fn index(&self, key: &Q) -> &V {
        let at = self.find(key).unwrap_or(usize::MAX);
        &self.entries[at].1
    }
}

impl<K: Ord, V> Extend<(K, V)> for Map<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for Map<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::new();
        map.extend(entries);
        map
    }
}

impl<K: Ord, V, const N: usize> From<[(K, V); N]> for Map<K, V> {
    fn from(entries: [(K, V); N]) -> Self {
        entries.into_iter().collect()
    }
}

impl<K, V> IntoIterator for Map<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;

    fn into_iter(mut self) -> Self::IntoIter {
        self.settled();
        self.entries.into_iter()
    }
}

impl<'m, K, V> IntoIterator for &'m Map<K, V> {
    type Item = (&'m K, &'m V);
    type IntoIter = Iter<'m, K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'m, K, V> Iterator for Iter<'m, K, V> {
    type Item = (&'m K, &'m V);

    fn next(&mut self) -> Option<Self::Item> {
        let (key, value) = &self.entries[*self.order.next()? as usize];
        Some((key, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.order.size_hint()
    }
}

impl<K, V> DoubleEndedIterator for Iter<'_, K, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let (key, value) = &self.entries[*self.order.next_back()? as usize];
        Some((key, value))
    }
}

impl<K, V> Clone for Iter<'_, K, V> {
    fn clone(&self) -> Self {
        Self {
            entries: self.entries,
            order: self.order.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::Map;

    proptest! {
        #[test]
        fn it_is_as_the_tree_of_the_standard_library(
            steps in proptest::collection::vec((0_u8..5, 0_u8..12, any::<u16>()), 0..60),
        ) {
            let (mut ours, mut theirs) = (Map::new(), BTreeMap::new());
            for (step, key, value) in steps {
                match step {
                    0 => prop_assert_eq!(ours.remove(&key), theirs.remove(&key)),
                    1 => *ours.entry(key).or_insert(value) = { *theirs.entry(key).or_insert(value) ^= 1; theirs[&key] },
                    2 => {
                        ours.retain(|one, _| *one != key);
                        theirs.retain(|one, _| *one != key);
                    }
                    3 => ours.values_mut().zip(theirs.values_mut()).for_each(|(one, other)| {
                        *one ^= value;
                        *other ^= value;
                    }),
                    _ => prop_assert_eq!(ours.insert(key, value), theirs.insert(key, value)),
                }
                prop_assert!(ours.iter().eq(theirs.iter()) && ours.keys().rev().eq(theirs.keys().rev()));
                prop_assert_eq!(ours.get(&key), theirs.get(&key));
                prop_assert_eq!((ours.len(), ours.last_key_value()), (theirs.len(), theirs.last_key_value()));
            }
            let collected: Map<u8, u16> = theirs.clone().into_iter().rev().collect();
            prop_assert_eq!(&collected, &ours);
            prop_assert!(ours.into_iter().eq(theirs));
        }
    }

    #[test]
    fn thousands_are_in_order() {
        let keys = || (0_u32..9000).map(|key| key.wrapping_mul(7919) % 9001);
        let mut ours: Map<u32, u32> = keys().zip(0..).collect();
        let mut theirs: BTreeMap<u32, u32> = keys().zip(0..).collect();
        for key in keys().step_by(500) {
            assert_eq!(ours.remove(&key), theirs.remove(&key));
        }
        assert!(ours.iter().eq(theirs.iter()) && ours.iter().rev().eq(theirs.iter().rev()));
        assert!(keys().all(|key| ours.get(&key) == theirs.get(&key)));
        assert!(ours.into_values().eq(theirs.into_values()));
    }
}
