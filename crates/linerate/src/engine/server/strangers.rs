// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections that are no test yet: their cookie or their parameters are awaited. They are few;
//! one too many costs the oldest its place, because an honest client speaks at once.

use linerate_linux::tcp;
use std::collections::VecDeque;
use std::io;
use std::net::TcpStream;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The strangers, in the order of accepting.
#[derive(Debug, Default)]
pub(super) struct Strangers(Mutex<VecDeque<(u64, TcpStream)>>);

impl Strangers {
    /// Lets one in; where there are too many, the connection of the oldest is shut down.
    pub(super) fn enter(&self, serial: u64, stream: &TcpStream) -> io::Result<()> {
        let handle = stream.try_clone()?;
        let mut all = self.lock();
        if all.len() >= MOST_STRANGERS
            && let Some((_, oldest)) = all.pop_front()
        {
            tcp::shutdown(&oldest);
        }
        all.push_back((serial, handle));
        Ok(())
    }

    /// One is known now, or gone. False if it had lost its place.
    pub(super) fn leave(&self, serial: u64) -> bool {
        let mut all = self.lock();
        let place = all.iter().position(|(other, _)| *other == serial);
        place.and_then(|place| all.remove(place)).is_some()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(u64, TcpStream)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Each has a thread and two descriptors.
const MOST_STRANGERS: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{ErrorKind, Read};
    use std::net::TcpListener;

    /// A connection: the server's end, the client's.
    fn pair(listener: &TcpListener) -> (TcpStream, TcpStream) {
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client.set_nonblocking(true).unwrap();
        (listener.accept().unwrap().0, client)
    }

    fn is_open(mut client: &TcpStream) -> bool {
        let read = client.read(&mut [0]);
        read.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    }

    #[test]
    fn one_too_many_costs_the_oldest_its_place() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let strangers = Strangers::default();
        let enter = |serial| {
            let (server, client) = pair(&listener);
            strangers.enter(serial, &server).unwrap();
            (server, client)
        };
        let most = MOST_STRANGERS as u64;
        let crowd: Vec<_> = (0..most).map(enter).collect();
        assert!(crowd.iter().all(|(_, client)| is_open(client)));
        // The second speaks: nobody is too many then.
        assert!(strangers.leave(1) && !strangers.leave(1));
        let _in_its_place = enter(most);
        assert!(is_open(&crowd[0].1));
        let _too_many = enter(most + 1);
        assert!(!is_open(&crowd[0].1), "the oldest had to leave");
        assert!(crowd[1..].iter().all(|(_, client)| is_open(client)));
        assert!(!strangers.leave(0) && strangers.leave(2) && strangers.leave(most + 1));
    }
}
