// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel's drop reasons for packets of the test's streams, readable by root of the initial user
//! namespace. Elsewhere the source is absent, and a setting says why.

use super::Audience;
use super::reading::Reading;
use linerate_linux::drops::{Flow, Flows, Refused, Watch};
use linerate_linux::netns::NetNs;
use linerate_linux::setup::RawSetting;
use linerate_model::order::Gather as _;
use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The streams of a test, which the conversation names while the thread that reads may still be attaching the program: that
/// takes seconds where several tests begin at once.
#[derive(Debug)]
pub(super) struct Followed {
    flows: Result<Flows, Refused>,
    /// A stream could not be named, so what is counted is not the test.
    incomplete: AtomicBool,
    /// Both ends send: drops are counted by direction.
    bidirectional: AtomicBool,
}

impl Followed {
    /// No stream so far.
    pub(super) fn create() -> Arc<Self> {
        Arc::new(Self {
            flows: Flows::create(),
            incomplete: AtomicBool::default(),
            bidirectional: AtomicBool::default(),
        })
    }

    /// Before the first reading of a test whose data goes both ways.
    pub(super) fn set_bidirectional(&self) {
        self.bidirectional.store(true, Ordering::Relaxed);
    }

    /// From now on this connected socket's packets count, in both directions. `sends`: its data goes out here.
    pub(super) fn follow(&self, socket: &impl AsFd, sends: bool) {
        let Ok(flows) = &self.flows else { return };
        if Flow::of(socket, if sends { SENT.1 } else { RECEIVED.1 })
            .and_then(|flow| flows.add(&flow))
            .is_err()
        {
            self.incomplete.store(true, Ordering::Relaxed);
        }
    }
}

/// The drops of the streams that are followed.
#[derive(Debug)]
pub(super) struct Drops {
    watch: Watch,
    followed: Arc<Followed>,
}

impl Drops {
    /// Watches the network namespace of the calling thread. A peer gets the drops of its own test only.
    ///
    /// # Errors
    /// Why the kernel's reasons are not read here.
    pub(super) fn open(audience: Audience, followed: Arc<Followed>) -> Result<Self, RawSetting> {
        let refused = |why: &Refused| unread(&why.to_string(), why.remedy());
        let netns = NetNs::current().and_then(|netns| netns.inode());
        let netns = netns.map_err(|error| unread(&error.to_string(), ""))?;
        let flows = followed.flows.as_ref().map_err(refused)?.clone();
        let watch = Watch::over(flows, Some(netns)).map_err(|why| refused(&why))?;
        if let (Audience::Peer, Err(why)) = (audience, watch.is_filtered()) {
            return Err(unread(why, "a kernel with CONFIG_DEBUG_INFO_BTF=y"));
        }
        Ok(Self { watch, followed })
    }

    /// One list, or one for each way of the data.
    pub(super) fn read(&self) -> Vec<Reading> {
        if self.watch.is_filtered().is_err() {
            return self.list(MACHINE, &[0]).into_iter().collect();
        }
        if self.followed.incomplete.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let lists = if self.followed.bidirectional.load(Ordering::Relaxed) {
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
        Some(Reading::of_host(source, sum.into_iter().gather()))
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
    use super::{Audience, Drops, FLOW, Followed, RECEIVED, Reading, SENT};
    use std::net::UdpSocket;
    use std::sync::Arc;

    #[test]
    fn only_a_followed_sockets_drops_count() {
        let Some((drops, streams)) = watched() else {
            return;
        };
        let [followed, other] = [(); 2].map(|()| to_closed_port());
        streams.follow(&followed, true);
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
        let Some((drops, streams)) = watched() else {
            return;
        };
        streams.set_bidirectional();
        let [out, back] = [(); 2].map(|()| to_closed_port());
        streams.follow(&out, true);
        streams.follow(&back, false);
        lose(&back, 3);
        let [sent, received] = <[Reading; 2]>::try_from(drops.read()).unwrap();
        assert_eq!((sent.source, received.source), (SENT.0, RECEIVED.0));
        assert_eq!(count(&sent, "NO_SOCKET"), 0);
        assert!(count(&received, "NO_SOCKET") >= 3);
    }

    #[test]
    fn a_stream_that_cannot_be_named_silences_the_source() {
        let Some((drops, streams)) = watched() else {
            return;
        };
        assert_eq!(drops.read().len(), 1);
        streams.follow(&UdpSocket::bind("127.0.0.1:0").unwrap(), true);
        assert_eq!(drops.read().len(), 0, "it is not connected");
    }

    fn watched() -> Option<(Drops, Arc<Followed>)> {
        let streams = Followed::create();
        match Drops::open(Audience::Peer, Arc::clone(&streams)) {
            Ok(drops) => Some((drops, streams)),
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
