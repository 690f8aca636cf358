// SPDX-License-Identifier: MIT OR Apache-2.0
//! The check whose findings a campaign acts on, and the fresh one after it.

use std::path::PathBuf;
use std::time::Duration;

use linerate_model::failure::Failure;
use linerate_model::output::Output;
use linerate_report::live::duration;

use crate::cli::ab::inner::Inner;
use crate::cli::session::Session;

/// Runs a measuring command, stored in the directory `name` of the campaign's run. Its document. `alarm` is asked meanwhile
/// why it must end.
///
/// # Errors
/// It gave no result, there was an alarm, or the user interrupted.
pub(in crate::cli) fn measured(
    session: &mut Session,
    words: &[String],
    name: &str,
    alarm: &mut dyn FnMut() -> Option<String>,
) -> Result<Output, Failure> {
    let inner = Inner::of(words)?;
    let line = words.join(" ");
    let about = inner.estimate_s.map(duration);
    let about = about.map_or_else(String::new, |time| format!(", about {time}"));
    session.console.say(&format!("{name}: `{line}`{about}"));
    let store: Option<PathBuf> = session.run_directory().map(|run| run.join(name));
    let interrupt = session.interrupt.clone();
    let console = &mut session.console;
    let (mut drawn, mut raised) = (Duration::ZERO, None);
    let mut tick = |since: Duration| {
        if since > drawn + REDRAWN {
            drawn = since;
            let since = duration(since.as_secs_f64());
            console.block(&[format!("{name}: {since}{about}")]);
        }
        raised = alarm();
        raised.is_none()
    };
    let token = session.lab_token.as_ref();
    let ran = inner.run(store.as_deref(), token, &interrupt, &mut tick);
    if let Some(why) = raised {
        return Err(Failure::measuring(format!("measure with `{line}`"), why));
    }
    let ran = ran?;
    match ran.output.error {
        Some(error) => {
            let failure = Failure::measuring(format!("measure with `{line}`"), error.why);
            Err(failure.hint(error.try_))
        }
        None => Ok(ran.output),
    }
}

const REDRAWN: Duration = Duration::from_millis(500);
