// SPDX-License-Identifier: MIT OR Apache-2.0
//! A path with programmed losses: a UDP relay for one client at a time.

use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Which way a datagram goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// To the server.
    There,
    /// To the client.
    Back,
}

/// The sequence in the first word.
pub(crate) fn sequence(datagram: &[u8]) -> i32 {
    i32::from_be_bytes(datagram[..4].try_into().unwrap())
}

/// Relays until dropped.
pub(crate) struct Relay {
    pub(crate) port: u16,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Relay {
    /// In front of `server`; what `passes` refuses is lost.
    pub(crate) fn to(
        server: u16,
        mut passes: impl FnMut(Way, &[u8]) -> bool + Send + 'static,
    ) -> Self {
        let [near, far] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
        let port = near.local_addr().unwrap().port();
        far.connect(("127.0.0.1", server)).unwrap();
        let short = Some(Duration::from_millis(1));
        near.set_read_timeout(short).unwrap();
        far.set_read_timeout(short).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut bytes = [0; 2048];
            let mut client = None;
            while !seen.load(Ordering::Relaxed) {
                while let Ok((length, source)) = near.recv_from(&mut bytes) {
                    client = Some(source);
                    if passes(Way::There, &bytes[..length]) {
                        far.send(&bytes[..length]).unwrap();
                    }
                }
                while let Ok(length) = far.recv(&mut bytes) {
                    if passes(Way::Back, &bytes[..length]) {
                        near.send_to(&bytes[..length], client.unwrap()).unwrap();
                    }
                }
            }
        });
        Self {
            port,
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().unwrap().join();
    }
}
