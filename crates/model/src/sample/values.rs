// SPDX-License-Identifier: MIT OR Apache-2.0
//! The values of a sample by their names. Samples of one source have the same names again and again: they share them, so
//! that each costs eight bytes for a value. A run of a minute has fifty thousand values, and a small board 64 MB.

use std::collections::BTreeMap;
use std::ops::Index;
use std::sync::Arc;
use std::{iter, slice};

use serde::{Deserialize, Serialize, Serializer};

/// Counters of one reading, in the order of their names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "BTreeMap<String, u64>")]
pub struct Values {
    names: Arc<Vec<String>>,
    /// One for each name.
    values: Vec<u64>,
}

impl Values {
    /// The value of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&u64> {
        let at = self
            .names
            .binary_search_by(|known| known.as_str().cmp(name));
        self.values.get(at.ok()?)
    }

    /// The names.
    pub fn keys(&self) -> slice::Iter<'_, String> {
        self.names.iter()
    }

    /// Names and values.
    pub fn iter(&self) -> iter::Zip<slice::Iter<'_, String>, slice::Iter<'_, u64>> {
        self.names.iter().zip(&self.values)
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Keeps those for which `wanted` is true.
    pub fn retain(&mut self, mut wanted: impl FnMut(&String, &mut u64) -> bool) {
        let kept: Vec<bool> = self
            .names
            .iter()
            .zip(&mut self.values)
            .map(|(name, value)| wanted(name, value))
            .collect();
        if kept.contains(&false) {
            let mut each = kept.iter();
            Arc::make_mut(&mut self.names).retain(|_| each.next() == Some(&true));
            let mut each = kept.iter();
            self.values.retain(|_| each.next() == Some(&true));
        }
    }

    /// Takes over the names of `other` if they are the same. Whether they are.
    pub fn share_names(&mut self, other: &Self) -> bool {
        let same = self.names == other.names;
        if same {
            self.names = Arc::clone(&other.names);
        }
        same
    }

    /// Whether both have one list of names.
    #[must_use]
    pub fn shares_names(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.names, &other.names)
    }
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl From<BTreeMap<String, u64>> for Values {
    fn from(map: BTreeMap<String, u64>) -> Self {
        let mut names = Vec::with_capacity(map.len());
        let mut values = Vec::with_capacity(map.len());
        for (name, value) in map {
            names.push(name);
            values.push(value);
        }
        let names = Arc::new(names);
        Self { names, values }
    }
}

impl<const COUNT: usize> From<[(String, u64); COUNT]> for Values {
    fn from(pairs: [(String, u64); COUNT]) -> Self {
        pairs.into_iter().collect()
    }
}

impl FromIterator<(String, u64)> for Values {
    fn from_iter<I: IntoIterator<Item = (String, u64)>>(pairs: I) -> Self {
        let mut values = Self::default();
        values.extend(pairs);
        values
    }
}

impl Extend<(String, u64)> for Values {
    fn extend<I: IntoIterator<Item = (String, u64)>>(&mut self, pairs: I) {
        let mut map: BTreeMap<String, u64> = BTreeMap::new();
        map.extend(self.iter().map(|(name, value)| (name.clone(), *value)));
        map.extend(pairs);
        *self = map.into();
    }
}

impl<'v> IntoIterator for &'v Values {
    type Item = (&'v String, &'v u64);
    type IntoIter = iter::Zip<slice::Iter<'v, String>, slice::Iter<'v, u64>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Index<&str> for Values {
    type Output = u64;

    fn index(&self, name: &str) -> &u64 {
        match self.get(name) {
            Some(value) => value,
            None => panic!("no counter {name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values(pairs: &[(&str, u64)]) -> Values {
        let pairs = pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), *value));
        pairs.collect()
    }

    #[test]
    fn samples_of_the_same_names_share_them() {
        let first = values(&[("b", 2), ("a", 1)]);
        let mut second = values(&[("a", 3), ("b", 4)]);
        assert!(!second.shares_names(&first));
        assert!(second.share_names(&first) && second.shares_names(&first));
        assert_eq!(second, values(&[("a", 3), ("b", 4)]));
        // What one loses later the other keeps.
        second.retain(|name, _| name == "b");
        assert_eq!((first.get("a"), second.get("a")), (Some(&1), None));
        assert!(!second.share_names(&first));
    }

    #[test]
    fn the_json_is_a_map() {
        let json = serde_json::to_string(&values(&[("b", 2), ("a", u64::MAX)])).unwrap();
        assert_eq!(json, r#"{"a":18446744073709551615,"b":2}"#);
        let back: Values = serde_json::from_str(&json).unwrap();
        assert_eq!(back, values(&[("a", u64::MAX), ("b", 2)]));
    }

    proptest! {
        #[test]
        fn it_is_what_a_map_is(pairs in prop::collection::vec(("[a-d]{1,2}", 0_u64..9), 0..20), asked in "[a-d]{1,2}") {
            let mut map: BTreeMap<String, u64> = pairs.iter().cloned().collect();
            let mut values: Values = pairs.into_iter().collect();
            prop_assert_eq!(values.get(&asked), map.get(&asked));
            map.retain(|_, value| *value % 2 == 0);
            values.retain(|_, value| *value % 2 == 0);
            prop_assert!(values.iter().eq(map.iter()));
            prop_assert_eq!(values.len(), map.len());
        }
    }
}
