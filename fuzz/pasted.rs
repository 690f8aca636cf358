// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the target of pasted text does with one input. Apart from `targets.rs`, because it needs `linerate-diagnose`,
//! whose corpus test includes this file.

use linerate_diagnose::paste;

/// The whole way from a text to records: no panic, linear work, lines that exist, and clean text stays as it is.
pub(crate) fn pasted(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (pasted, looked) = paste::read_counting("-", &text);
    assert!(looked <= 200 * (text.len() as u64 + 1), "{looked}");
    let lines = text.split('\n').count() as u64 + 1;
    for passage in pasted.understood.iter().chain(&pasted.ignored) {
        assert!(
            1 <= passage.first_line
                && passage.first_line <= passage.last_line
                && passage.last_line <= lines
        );
    }
    for test in pasted.records.iter().flat_map(|record| &record.run.tests) {
        assert!(
            test.duration_s.is_finite()
                && test.lost_packets <= test.sent_packets.or(test.lost_packets)
        );
    }
}
