// SPDX-License-Identifier: MIT OR Apache-2.0
//! The names and numbers of an enumeration.

use super::Btf;
use super::kind::{Kind, Record};

impl Btf<'_> {
    /// Names and values of `enum NAME`, in their order; `None` if there is none.
    #[must_use]
    pub fn enumeration(&self, name: &str) -> Option<Vec<(String, i64)>> {
        let narrow = self.find(Kind::Enum, name);
        let record = narrow.or_else(|| self.find(Kind::Enum64, name))?;
        (0..usize::from(record.count))
            .map(|index| self.value(&record, index))
            .collect()
    }

    fn value(&self, record: &Record, index: usize) -> Option<(String, i64)> {
        let wide = record.kind == Kind::Enum64;
        let at = record.after + index * if wide { 12 } else { 8 };
        let name = self.name(self.types().u32_at(at)?)?;
        let low = self.types().u32_at(at + 4)?;
        let value = match (wide, record.flag) {
            (true, _) => (i64::from(self.types().u32_at(at + 8)?) << 32) | i64::from(low),
            (false, true) => i64::from(low as i32),
            (false, false) => i64::from(low),
        };
        Some((name, value))
    }
}
