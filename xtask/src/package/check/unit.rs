// SPDX-License-Identifier: MIT OR Apache-2.0
//! The service as systemd reads it: without a mistake, and hardened.

use std::path::Path;

use super::{SHORT, output};
use crate::build;
use crate::tally::Tally;

/// `systemd-analyze verify` and `security`.
pub(super) fn run(tally: &mut Tally) {
    let what = "linerate.service";
    if !build::has_program("systemd-analyze") {
        return tally.skip(what, "systemd-analyze is not installed");
    }
    let unit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging/systemd/linerate.service");
    let unit = unit.display().to_string();
    let offline = ["security", "--offline=true", "--no-pager", THRESHOLD, &unit];
    let exposure = output("systemd-analyze", &offline, SHORT);
    tally.check(
        what,
        exposure.map(|text| text.lines().last().unwrap_or_default().to_owned()),
    );
}

/// In tenths: `systemd-analyze` calls less than 3.0 of 10 "OK".
const THRESHOLD: &str = "--threshold=29";
