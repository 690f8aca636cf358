// SPDX-License-Identifier: MIT OR Apache-2.0
//! A TCP receiver: one thread, one stream, counts what comes.

use super::{Progress, StartLine};
use crate::account::RxAccount;
use linerate_linux::clock;
use linerate_linux::tcp::Mover;

/// All that one receiver needs.
#[derive(Debug)]
pub(crate) struct TcpRx {
    /// The stream and its block; its socket has a receive time-out, so that the stop sign is seen.
    pub(crate) mover: Mover,
    /// Warm-up, not counted.
    pub(crate) omit_ns: u64,
}

impl TcpRx {
    /// Receives until all expected is in, the stop sign, the end of the stream or an error; `None` when the test never
    /// started.
    pub(crate) fn run(mut self, line: &StartLine, progress: &Progress) -> Option<RxAccount> {
        let start_ns = line.wait()?;
        let mut counters = RxCounters {
            start_ns,
            last_ns: start_ns,
            ..RxCounters::default()
        };
        let omit_until_ns = start_ns + self.omit_ns;
        while counters.go_on(line, progress) {
            match self.mover.receive_block() {
                Ok(None) => break,
                Ok(Some(0)) => counters.quiet(),
                Ok(Some(bytes)) => {
                    counters.note(bytes as u64, omit_until_ns);
                    progress.show(counters.bytes, 0, 0);
                }
                Err(error) => {
                    counters.fail(line, &error);
                    break;
                }
            }
        }
        Some(self.close(counters))
    }

    fn close(self, counters: RxCounters) -> RxAccount {
        RxAccount {
            bytes: counters.bytes - counters.omitted_bytes,
            duration_ns: counters
                .last_ns
                .saturating_sub(counters.start_ns + self.omit_ns),
            mode: Some(self.mover.rx_mode().into()),
            failure: counters.failure,
            ..RxAccount::default()
        }
    }
}

#[derive(Debug, Default)]
struct RxCounters {
    start_ns: u64,
    last_ns: u64,
    now_ns: u64,
    bytes: u64,
    omitted_bytes: u64,
    failure: Option<String>,
}

impl RxCounters {
    fn go_on(&self, line: &StartLine, progress: &Progress) -> bool {
        let expected = progress.expected.read();
        if expected > 0 && self.bytes >= expected {
            return false;
        }
        line.draining().is_none_or(|drain| {
            self.now_ns < drain.deadline_ns
                && self.now_ns.saturating_sub(self.last_ns) < drain.quiet_ns
        })
    }

    fn note(&mut self, bytes: u64, omit_until_ns: u64) {
        self.now_ns = clock::monotonic_ns();
        self.last_ns = self.now_ns;
        self.bytes += bytes;
        if self.now_ns < omit_until_ns {
            self.omitted_bytes = self.bytes;
        }
    }

    fn quiet(&mut self) {
        self.now_ns = clock::monotonic_ns();
    }

    /// Errors after the end are the peer closing with data in flight: not a failure.
    fn fail(&mut self, line: &StartLine, error: &std::io::Error) {
        if line.draining().is_none() && !line.sending_is_over() {
            self.failure = Some(error.to_string());
        }
    }
}
