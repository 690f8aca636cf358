// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate tune set LINE`: what one command line sets, recorded in the journal. It stays until `tune restore`, or
//! is kept, as what a campaign has proven.

use linerate_change::{Change, Hand, Local, Outcome, Undo, Wanted, parse};
use linerate_model::failure::Failure;
use linerate_model::output::SettingChange;

/// Makes the changes of a command line; what is open then.
///
/// # Errors
/// The line sets nothing that can be restored, or a change was refused: those before it are open.
pub(super) fn run(line: &str, keep: bool) -> Result<Vec<SettingChange>, Failure> {
    let wanted = parse(line).ok_or_else(|| {
        let why = "it sets nothing that could be restored";
        Failure::usage(line, why)
    })?;
    let here = Local::here(super::journal()?);
    let mut here = here.map_err(|why| Failure::measuring("find this host", why))?;
    for one in wanted {
        let knob = one.knob.clone();
        set(&mut here, one, line, keep)
            .map_err(|why| Failure::measuring(format!("set {knob}"), why))?;
    }
    super::status::status()
}

fn set(here: &mut impl Hand, wanted: Wanted, line: &str, keep: bool) -> Result<(), String> {
    let key = here.key(&wanted.knob, wanted.interface.as_deref());
    let change = Change {
        key: key.map_err(|why| why.to_string())?,
        new: wanted.value,
        undo: Undo::Write,
        because: line.to_owned(),
    };
    match here.apply(change).map_err(|why| why.to_string())? {
        Outcome::Applied { change, .. } if keep => here.keep(change).map_err(|why| why.to_string()),
        Outcome::Applied { .. } | Outcome::InForce => Ok(()),
        Outcome::Ineffective => Err("it is as before".to_owned()),
        Outcome::Unreadable(why) => Err(format!("it cannot be read: {why}")),
        Outcome::Refused(why) => Err(format!("refused: {why}")),
        Outcome::Half { why, .. } => Err(format!("refused, and changed all the same: {why}")),
    }
}
