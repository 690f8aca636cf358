// SPDX-License-Identifier: MIT OR Apache-2.0
//! Both ends as the near one asks them.

use std::io;
use std::time::Duration;

use linerate_change::remote::Talk;
use linerate_model::failure::printable;

use crate::message::{Answer, Ask};
use crate::station::Station;

/// The flag of `linerate agent --stdio` at the far end.
pub const FRAMES: &str = "--frames";

/// A station behind a connection.
#[derive(Debug)]
pub struct Far {
    talk: Talk,
}

impl Far {
    /// At the other end of this.
    #[must_use]
    pub const fn over(talk: Talk) -> Self {
        Self { talk }
    }
}

/// An end that can be asked.
pub(crate) trait End {
    /// # Errors
    /// It refuses, or is no longer reached.
    fn ask(&mut self, ask: &Ask) -> io::Result<Answer>;
}

impl End for Station {
    fn ask(&mut self, ask: &Ask) -> io::Result<Answer> {
        self.answer(ask)
    }
}

impl End for Far {
    fn ask(&mut self, ask: &Ask) -> io::Result<Answer> {
        let question = serde_json::to_string(ask)?;
        let line = self.talk.ask(&question, ANSWER_WITHIN)?;
        let answer: Answer = serde_json::from_str(&line)?;
        match answer.error {
            Some(why) => Err(io::Error::other(printable(&why))),
            None => Ok(answer),
        }
    }
}

/// It waits five seconds itself.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);
