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
    missed: u64,
}

impl Far {
    /// At the other end of this.
    #[must_use]
    pub const fn over(talk: Talk) -> Self {
        Self { talk, missed: 0 }
    }
}

/// An end that can be asked.
pub(crate) trait End {
    /// # Errors
    /// It refuses, or is no longer reached.
    fn ask(&mut self, ask: &Ask) -> io::Result<Answer>;

    /// Frames that its packet socket lost since the last call, as far as answers say.
    fn take_missed(&mut self) -> u64;
}

impl End for Station {
    fn ask(&mut self, ask: &Ask) -> io::Result<Answer> {
        self.answer(ask)
    }

    fn take_missed(&mut self) -> u64 {
        self.take_reported()
    }
}

impl End for Far {
    fn ask(&mut self, ask: &Ask) -> io::Result<Answer> {
        let question = serde_json::to_string(ask)?;
        let line = self.talk.ask(&question, ANSWER_WITHIN)?;
        let answer: Answer = serde_json::from_str(&line)?;
        match answer.error {
            Some(why) => Err(io::Error::other(printable(&why))),
            None => {
                self.missed += answer.missed;
                Ok(answer)
            }
        }
    }

    fn take_missed(&mut self) -> u64 {
        std::mem::take(&mut self.missed)
    }
}

/// It waits five seconds itself.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);
