// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel's drop reasons for packets of the test's streams, readable by root of the initial user
//! namespace. Elsewhere the source is absent, and a setting says why.

use super::Audience;
use super::reading::Reading;
use linerate_linux::drops::{Filter, Flow, Watch};
use linerate_linux::netns::NetNs;
use linerate_linux::setup::RawSetting;
use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A watch over the streams, shared by the conversation, which names them, and the thread that reads.
#[derive(Debug, Clone)]
pub(super) struct Drops {
    watch: Arc<Watch>,
    /// A stream could not be named, so what is counted is not the test.
    incomplete: Arc<AtomicBool>,
    /// Both ends send: drops are counted by direction.
    bidirectional: Arc<AtomicBool>,
}

impl Drops {
    /// Watches the network namespace of the calling thread. A peer gets the drops of its own test only.
    ///
    /// # Errors
    /// Why the kernel's reasons are not read here.
    pub(super) fn open(audience: Audience) -> Result<Self, RawSetting> {
        let netns = NetNs::current().and_then(|netns| netns.inode());
        let filter = Filter {
            flows: Vec::new(),
            netns: Some(netns.map_err(|error| unread(&error.to_string(), ""))?),
        };
        let watch = Watch::start(&filter).map_err(|why| unread(&why.to_string(), why.remedy()))?;
        if let (Audience::Peer, Err(why)) = (audience, watch.is_filtered()) {
            return Err(unread(why, "a kernel with CONFIG_DEBUG_INFO_BTF=y"));
        }
        Ok(Self {
            watch: Arc::new(watch),
            incomplete: Arc::default(),
            bidirectional: Arc::default(),
        })
    }

    /// Before the first reading of a test whose data goes both ways.
    pub(super) fn set_bidirectional(&self) {
        self.bidirectional.store(true, Ordering::Relaxed);
    }

    /// From now on this connected socket's packets count, in both directions. `sends`: its data goes out here.
    pub(super) fn follow(&self, socket: &impl AsFd, sends: bool) {
        if Flow::of(socket, if sends { SENT.1 } else { RECEIVED.1 })
            .and_then(|flow| self.watch.add(&flow))
            .is_err()
        {
            self.incomplete.store(true, Ordering::Relaxed);
        }
    }

    /// One list, or one for each way of the data.
    pub(super) fn read(&self) -> Vec<Reading> {
        if self.watch.is_filtered().is_err() {
            return self.list(MACHINE, &[0]).into_iter().collect();
        }
        if self.incomplete.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let lists = if self.bidirectional.load(Ordering::Relaxed) {
            vec![
                self.list(SENT.0, &[SENT.1]),
                self.list(RECEIVED.0, &[RECEIVED.1]),
            ]
        } else {
            vec![self.list(FLOW, &[SENT.1, RECEIVED.1])]
        };
        lists.into_iter().flatten().collect()
    }

    fn list(&self, source: &'static str, groups: &[u32]) -> Option<Reading> {
        let mut sum = BTreeMap::new();
        for group in groups {
            for (reason, count) in self.watch.read(*group).ok()? {
                *sum.entry(reason).or_default() += count;
            }
        }
        Some(Reading::of_host(source, sum.into_iter().collect()))
    }
}

/// Returns the setting that says why the drops cannot be read.
fn unread(why: &str, remedy: &str) -> RawSetting {
    let values = [("refused", why), ("try", remedy)];
    let present = values.into_iter().filter(|(_, value)| !value.is_empty());
    RawSetting {
        source: MACHINE.to_owned(),
        values: present
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
    }
}

const FLOW: &str = "skb:kfree_skb flow";
/// What the whole machine drops, and (as a setting) why that is not read.
pub(crate) const MACHINE: &str = "skb:kfree_skb";
/// Streams whose data this host sends, and their group.
const SENT: (&str, u32) = ("skb:kfree_skb flow sent", 1);
/// Streams whose data this host receives.
const RECEIVED: (&str, u32) = ("skb:kfree_skb flow received", 2);

#[cfg(test)]
mod tests {
    use super::{Audience, Drops, FLOW, RECEIVED, Reading, SENT};
    use std::net::UdpSocket;

    #[test]
    fn only_a_followed_sockets_drops_count() {
        let Some(drops) = watched() else { return };
        let [followed, other] = [(); 2].map(|()| to_closed_port());
        drops.follow(&followed, true);
        lose(&other, 20);
        lose(&followed, 3);
        let [read] = <[Reading; 1]>::try_from(drops.read()).unwrap();
        assert_eq!(read.source, FLOW);
        // Each second datagram is refused at once, with the ICMP error of the first.
        assert!((3..=6).contains(&count(&read, "NO_SOCKET")), "{read:?}");
        assert_eq!(count(&read, "SOCKET_RCVBUFF"), 0);
    }

    #[test]
    fn drops_of_one_direction_are_not_the_others() {
        let Some(drops) = watched() else { return };
        drops.set_bidirectional();
        let [out, back] = [(); 2].map(|()| to_closed_port());
        drops.follow(&out, true);
        drops.follow(&back, false);
        lose(&back, 3);
        let [sent, received] = <[Reading; 2]>::try_from(drops.read()).unwrap();
        assert_eq!((sent.source, received.source), (SENT.0, RECEIVED.0));
        assert_eq!(count(&sent, "NO_SOCKET"), 0);
        assert!(count(&received, "NO_SOCKET") >= 3);
    }

    #[test]
    fn a_stream_that_cannot_be_named_silences_the_source() {
        let Some(drops) = watched() else { return };
        assert_eq!(drops.read().len(), 1);
        drops.follow(&UdpSocket::bind("127.0.0.1:0").unwrap(), true);
        assert_eq!(drops.read().len(), 0, "it is not connected");
    }

    fn watched() -> Option<Drops> {
        match Drops::open(Audience::Peer) {
            Ok(drops) => Some(drops),
            Err(refused) => {
                assert_eq!(refused.source, super::MACHINE);
                assert!(!refused.values.is_empty());
                println!("skipped: the kernel's drops cannot be watched: {refused:?}");
                None
            }
        }
    }

    /// Connected to a closed port.
    fn to_closed_port() -> UdpSocket {
        let [gone, socket] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
        socket.connect(gone.local_addr().unwrap()).unwrap();
        socket
    }

    fn lose(socket: &UdpSocket, pairs: u32) {
        for _ in 0..2 * pairs {
            let _refused = socket.send(b"lost");
        }
    }

    fn count(read: &Reading, name: &str) -> u64 {
        let found = read.counters.iter().find(|(known, _)| known == name);
        found.unwrap().1
    }
}
