// SPDX-License-Identifier: MIT OR Apache-2.0
//! `--import`: a peripheral of an SVD file as a map.

use std::path::Path;

use linerate_registers::svd::{self, SvdError};

use super::known;
use super::session;
use crate::error::Failure;

/// The text of the map; what had to be left out goes to stderr.
pub(super) fn map(file: &Path, peripheral: Option<&str>) -> Result<String, Failure> {
    let text = known::text_of(file, SVD_BYTES)?;
    let imported = svd::import(&text, peripheral).map_err(|why| failure(file, &why))?;
    for what in &imported.left_out {
        session::say(&format!("left out: {what}"));
    }
    Ok(imported.toml)
}

fn failure(file: &Path, why: &SvdError) -> Failure {
    let failure = Failure::usage(format!("import {}", file.display()), why);
    match why {
        SvdError::WhichPeripheral(names) => {
            failure.hint(format!("--peripheral NAME: one of {}", listed(names)))
        }
        SvdError::NoSuchPeripheral { names, .. } => {
            failure.hint(format!("one of {}", listed(names)))
        }
        _ => failure,
    }
}

/// The names of a large chip fill a page; nobody has thousands.
fn listed(names: &[String]) -> String {
    let first: Vec<&str> = names.iter().take(200).map(String::as_str).collect();
    first.join(", ")
}

const SVD_BYTES: u64 = 32 << 20;
