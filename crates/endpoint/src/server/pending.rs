// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections that are no test yet: their cookie, their parameters or a proof are awaited. They are few;
//! one too many costs the oldest its place, because an honest client speaks at once: the oldest of the host that has
//! the most, so that who floods drives out himself.

use linerate_linux::tcp;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::{IpAddr, TcpStream};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The strangers, in the order of accepting.
#[derive(Debug, Default)]
pub(super) struct Pending(Mutex<VecDeque<Connection>>);

#[derive(Debug)]
struct Connection {
    serial: u64,
    home: IpAddr,
    stream: TcpStream,
}

impl Pending {
    /// Lets one in from `peer`; where there are too many, the connection of one is shut down.
    pub(super) fn enter(&self, serial: u64, peer: IpAddr, stream: &TcpStream) -> io::Result<()> {
        let stranger = Connection {
            serial,
            home: home(peer),
            stream: stream.try_clone()?,
        };
        let mut all = self.lock();
        if all.len() >= MOST_PENDING
            && let Some(gone) = crowding(&all).and_then(|place| all.remove(place))
        {
            tcp::shutdown(&gone.stream);
        }
        all.push_back(stranger);
        Ok(())
    }

    /// One is known now, or gone. False if it had lost its place.
    pub(super) fn leave(&self, serial: u64) -> bool {
        let mut all = self.lock();
        let place = all.iter().position(|other| other.serial == serial);
        place.and_then(|place| all.remove(place)).is_some()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Connection>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The oldest of the host that has the most.
fn crowding(all: &VecDeque<Connection>) -> Option<usize> {
    let mut crowds: HashMap<IpAddr, usize> = HashMap::new();
    for stranger in all {
        *crowds.entry(stranger.home).or_default() += 1;
    }
    let crowd = |stranger: &Connection| crowds.get(&stranger.home).copied().unwrap_or(0);
    let most = all.iter().map(crowd).max()?;
    all.iter().position(|stranger| crowd(stranger) == most)
}

/// One host of IPv6 has a network of addresses.
fn home(peer: IpAddr) -> IpAddr {
    match peer {
        IpAddr::V4(_) => peer,
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            [a, b, c, d, 0, 0, 0, 0].into()
        }
    }
}

/// Each has a thread and two descriptors.
const MOST_PENDING: usize = 128;

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
        let pending = Pending::default();
        let enter = |serial| {
            let (server, client) = pair(&listener);
            pending.enter(serial, FLOOD.into(), &server).unwrap();
            (server, client)
        };
        let most = MOST_PENDING as u64;
        let crowd: Vec<_> = (0..most).map(enter).collect();
        assert!(crowd.iter().all(|(_, client)| is_open(client)));
        // The second speaks: nobody is too many then.
        assert!(pending.leave(1) && !pending.leave(1));
        let _in_its_place = enter(most);
        assert!(is_open(&crowd[0].1));
        let _too_many = enter(most + 1);
        assert!(!is_open(&crowd[0].1), "the oldest had to leave");
        assert!(crowd[1..].iter().all(|(_, client)| is_open(client)));
        assert!(!pending.leave(0) && pending.leave(2) && pending.leave(most + 1));
    }

    #[test]
    fn who_floods_drives_out_himself() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let pending = Pending::default();
        let (server, honest) = pair(&listener);
        pending.enter(0, [192, 0, 2, 2].into(), &server).unwrap();
        for serial in 1..=2 * MOST_PENDING as u64 {
            let (server, _client) = pair(&listener);
            pending.enter(serial, FLOOD.into(), &server).unwrap();
        }
        assert!(is_open(&honest), "it came first, and stays");
        assert!(pending.leave(0));
        let of_one_host = ["2001:db8::1", "2001:db8::2:3"].map(|text| home(text.parse().unwrap()));
        assert_eq!(of_one_host[0], of_one_host[1]);
        assert_ne!(of_one_host[0], home("2001:db8:0:1::1".parse().unwrap()));
    }

    const FLOOD: [u8; 4] = [192, 0, 2, 1];
}
