// SPDX-License-Identifier: MIT OR Apache-2.0
//! The service as systemd reads it: without a mistake, and hardened.

use std::fs;
use std::path::Path;

use super::{SHORT, ensure, output};
use crate::build;
use crate::tally::Tally;

/// `systemd-analyze verify` and `security`.
pub(super) fn run(scratch: &Path, tally: &mut Tally) {
    if !build::has_program("systemd-analyze") {
        return tally.skip("linerate.service", "systemd-analyze is not installed");
    }
    let unit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging/systemd/linerate.service");
    tally.check("linerate.service is read", read(&unit, scratch));
    let unit = unit.display().to_string();
    let offline = ["security", "--offline=true", "--no-pager", THRESHOLD, &unit];
    let exposure = output("systemd-analyze", &offline, SHORT);
    let last = |text: String| text.lines().last().unwrap_or_default().to_owned();
    tally.check("linerate.service is hardened", exposure.map(last));
}

/// systemd only prints what it does not know. The program itself need not be installed here.
fn read(unit: &Path, scratch: &Path) -> Result<String, String> {
    let text = fs::read_to_string(unit).map_err(|why| format!("{}: {why}", unit.display()))?;
    let copy = scratch.with_file_name("linerate.service");
    let text = text.replace("/usr/bin/linerate", "/bin/true");
    fs::write(&copy, text).map_err(|why| format!("{}: {why}", copy.display()))?;
    let name = copy.display().to_string();
    let said = output("systemd-analyze", &["verify", "--man=no", &name], SHORT);
    // Within `target`.
    let _removed = fs::remove_file(&copy);
    let said = said?;
    ensure(said.trim().is_empty(), || said.trim().to_owned())?;
    Ok("systemd-analyze verify prints nothing".into())
}

/// In tenths: `systemd-analyze` calls less than 3.0 of 10 "OK".
const THRESHOLD: &str = "--threshold=29";
