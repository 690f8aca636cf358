// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sources that a host refused to be read, as its settings say.

use linerate_model::output::Unread;

use super::path::Path;
use super::reasons;
use linerate_model::record::{Record, Side};

/// Of both ends of a test, the sender first.
pub(super) fn of(record: &Record, path: &Path<'_>) -> Vec<Unread> {
    let ends = [Side::Sender, Side::Receiver].map(|side| path.end(side).role);
    let refused = ends.into_iter().filter_map(|host| {
        let mut settings = record.run.settings.iter();
        let refusal = settings
            .find(|setting| setting.host == host && setting.source == reasons::REFUSED.0)?;
        let value = |name: &str| refusal.values.get(name).cloned();
        Some(Unread {
            source: refusal.source.clone(),
            host,
            why: value(reasons::REFUSED.1)?,
            try_: value("try").unwrap_or_default(),
        })
    });
    refused.collect()
}
