// SPDX-License-Identifier: MIT OR Apache-2.0
//! All streams of one test at one end: their threads, their intervals, their accounts.

use super::account::{RxAccount, RxInterval, StreamAccount, TxAccount, TxInterval};
use super::stream::progress::Reading;
use super::stream::tcp_rx::TcpRx;
use super::stream::tcp_tx::TcpTx;
use super::stream::thread_clock::ThreadClock;
use super::stream::udp_rx::{UdpReceived, UdpRx};
use super::stream::udp_tx::UdpTx;
use super::stream::{Drain, Progress, StartLine};
use linerate_linux::clock::monotonic_ns;
use linerate_linux::cpu;
use linerate_linux::tcp::{self, TcpInfo};
use linerate_method::clock_offset::Drift;
use linerate_method::histogram::Histogram;
use linerate_model::order::{self, Gather as _};
use std::collections::BTreeMap;
use std::io;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;

/// How the thread of a stream runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Worker {
    /// On this processor only.
    pub(crate) cpu: Option<usize>,
    /// It counts hardware events, and never spins.
    pub(crate) for_cost: bool,
}

/// The work of one stream.
#[derive(Debug)]
pub(crate) enum Work {
    /// Sends datagrams.
    UdpTx(UdpTx),
    /// Receives datagrams.
    UdpRx(UdpRx),
    /// Sends a byte stream; the clone is for `TCP_INFO` and for ending it.
    TcpTx(TcpTx, TcpStream),
    /// Receives a byte stream; the clone is for ending it.
    TcpRx(TcpRx, TcpStream),
}

/// The streams of one test.
#[derive(Debug)]
pub(crate) struct Streams {
    line: Arc<StartLine>,
    streams: Vec<Stream>,
    start_ns: u64,
    cut_ns: u64,
}

#[derive(Debug)]
struct Stream {
    id: u32,
    port: Option<u16>,
    progress: Arc<Progress>,
    tcp: Option<TcpStream>,
    before: Reading,
    rtt: Histogram,
    last_info: Option<TcpInfo>,
    /// One sample an interval.
    pacing_bytes_per_second: Vec<u64>,
    sent: Vec<TxInterval>,
    received: Vec<RxInterval>,
    job: Job,
}

#[derive(Debug)]
enum Job {
    Sending(JoinHandle<Option<TxAccount>>),
    Sent(Option<Box<TxAccount>>),
    Receiving(JoinHandle<Option<Received>>),
    Received(Option<Received>),
    Over,
}

/// What a receiver leaves: for UDP an account that the sender's count closes.
#[derive(Debug)]
enum Received {
    Tcp(Box<RxAccount>),
    Udp(Box<UdpReceived>),
}

impl Default for Streams {
    fn default() -> Self {
        Self {
            line: Arc::new(StartLine::default()),
            streams: Vec::new(),
            start_ns: 0,
            cut_ns: 0,
        }
    }
}

impl Drop for Streams {
    fn drop(&mut self) {
        self.line.off();
        self.close_tcp();
    }
}

impl Streams {
    /// Adds a stream and starts its thread: receivers receive at once, senders wait for
    /// [`Streams::go`].
    pub(crate) fn add(
        &mut self,
        id: u32,
        port: Option<u16>,
        work: Work,
        how: Worker,
    ) -> io::Result<()> {
        let progress = Arc::new(Progress::default());
        let (tcp, job) = self.spawn_worker(id, work, Arc::clone(&progress), how)?;
        self.streams.push(Stream {
            id,
            port,
            progress,
            tcp,
            before: Reading::default(),
            rtt: Histogram::new(),
            last_info: None,
            pacing_bytes_per_second: Vec::new(),
            sent: Vec::new(),
            received: Vec::new(),
            job,
        });
        Ok(())
    }

    /// Starts the clock of the test. All streams are there: from now on they stand in stream order,
    /// whatever order they came in.
    pub(crate) fn go(&mut self, start_ns: u64) {
        order::by_key(&mut self.streams, |stream| stream.id);
        self.start_ns = start_ns;
        self.cut_ns = start_ns;
        self.streams.iter_mut().for_each(Stream::forget_opening);
        self.line.go(start_ns);
    }

    /// Cuts an interval of every stream that ends at `now_ns`.
    pub(crate) fn cut(&mut self, now_ns: u64) {
        let (start_ns, end_ns) = (
            self.cut_ns - self.start_ns,
            now_ns.saturating_sub(self.start_ns),
        );
        if end_ns > start_ns {
            self.streams
                .iter_mut()
                .for_each(|stream| stream.cut(start_ns, end_ns));
            self.cut_ns = now_ns;
        }
    }

    /// Whether every sender of this end has ended.
    pub(crate) fn sending_is_over(&self) -> bool {
        self.streams.iter().all(|stream| match &stream.job {
            Job::Sending(handle) => handle.is_finished(),
            _ => true,
        })
    }

    /// Whether every receiver of this end has ended (end of stream, error).
    pub(crate) fn receiving_is_over(&self) -> bool {
        self.streams.iter().all(|stream| match &stream.job {
            Job::Receiving(handle) => handle.is_finished(),
            _ => true,
        })
    }

    /// Payload bytes that this end's receivers have, and datagrams.
    pub(crate) fn received(&self) -> (u64, u64) {
        let receivers = self.streams.iter().filter(|stream| stream.receives());
        receivers.fold((0, 0), |(bytes, packets), stream| {
            (
                bytes + stream.progress.bytes.read(),
                packets + stream.progress.packets.read(),
            )
        })
    }

    /// Payload bytes that this end's senders have sent so far.
    pub(crate) fn sent(&self) -> u64 {
        let senders = self.streams.iter().filter(|stream| !stream.receives());
        senders.map(|stream| stream.progress.bytes.read()).sum()
    }

    /// Payload bytes that this end's TCP senders have written: a sign of life of their peers.
    pub(crate) fn taken(&self) -> u64 {
        let senders = self.streams.iter().filter(|stream| stream.tcp.is_some());
        senders.fold(0, |bytes, stream| {
            bytes.wrapping_add(stream.progress.bytes.read())
        })
    }

    /// Ends all senders and waits for them; their final counts are then in [`Streams::sent_counts`].
    pub(crate) fn stop_sending(&mut self) {
        self.line.stop_sending();
        self.streams.iter_mut().for_each(Stream::join_sender);
    }

    /// Datagrams (or writes) and bytes that each sender of this end got rid of, by stream id.
    pub(crate) fn sent_counts(&self) -> Vec<(u32, u64, u64)> {
        let count = |stream: &Stream| match &stream.job {
            Job::Sent(Some(account)) => {
                Some((stream.id, account.packets, stream.progress.bytes.read()))
            }
            _ => None,
        };
        self.streams.iter().filter_map(count).collect()
    }

    /// Bytes written but not acknowledged, all streams of this end.
    pub(crate) fn unacknowledged_bytes(&self) -> u64 {
        let left = |stream: &Stream| {
            let info = tcp::info(stream.tcp.as_ref()?).ok()?;
            Some(
                u64::from(info.unacked) * u64::from(info.snd_mss)
                    + u64::from(info.notsent_bytes.unwrap_or(0)),
            )
        };
        self.streams.iter().filter_map(left).sum()
    }

    /// The windows that the peers of this end's TCP senders advertised last: they open while the data are read.
    pub(crate) fn send_windows(&self) -> Vec<Option<u32>> {
        let senders = self.streams.iter().filter(|stream| !stream.receives());
        let window = |stream: &Stream| tcp::info(stream.tcp.as_ref()?).ok()?.snd_wnd_bytes;
        senders.map(window).collect()
    }

    /// Announces the final count of its sender to a receiver.
    pub(crate) fn announce_sent(&self, id: u32, packets: u64) {
        if let Some(stream) = self
            .streams
            .iter()
            .find(|stream| stream.id == id && stream.receives())
        {
            stream.progress.expected.set(packets);
        }
    }

    /// Lets the receivers go on until all expected is in, or `quiet` without arrivals, or `longest`.
    pub(crate) fn drain(&self, quiet: Duration, longest: Duration) {
        let ordered_ns = monotonic_ns();
        let quiet_ns = u64::try_from(quiet.as_nanos()).unwrap_or(u64::MAX);
        let longest_ns = u64::try_from(longest.as_nanos()).unwrap_or(u64::MAX);
        self.line.drain(Drain {
            quiet_ns,
            deadline_ns: ordered_ns.saturating_add(longest_ns),
            ordered_ns,
        });
    }

    /// Waits for the receivers; call after [`Streams::drain`].
    pub(crate) fn join_receivers(&mut self) {
        self.streams.iter_mut().for_each(Stream::join_receiver);
    }

    /// Closes the TCP data connections of this end. A peer in a blocking full-block read (iperf3
    /// 3.1.7, reverse) would otherwise hang.
    pub(crate) fn close_tcp(&self) {
        self.streams
            .iter()
            .filter_map(|stream| stream.tcp.as_ref())
            .for_each(tcp::shutdown);
    }

    /// Closes the accounts. `sent` returns the final count of a stream's sender at the other end;
    /// `drift` is what that end's clock adds to transit times here.
    pub(crate) fn accounts(
        &mut self,
        drift: Drift,
        sent: impl Fn(u32) -> Option<u64>,
    ) -> Vec<StreamAccount> {
        let closed = self.streams.iter_mut().zip(0..);
        let closed = closed.map(|(stream, index)| StreamAccount {
            tcp_info: stream.tcp_info(index),
            ..stream.account(sent(stream.id), drift)
        });
        closed.collect()
    }

    /// This end's port of each stream.
    pub(crate) fn ports(&self) -> Vec<(u32, u16)> {
        let port = |stream: &Stream| Some((stream.id, stream.port?));
        self.streams.iter().filter_map(port).collect()
    }

    /// The last interval of every stream: of senders, of receivers.
    pub(crate) fn last_intervals(&self) -> (Vec<&TxInterval>, Vec<&RxInterval>) {
        let sent = self
            .streams
            .iter()
            .filter_map(|stream| stream.sent.last())
            .collect();
        let received = self
            .streams
            .iter()
            .filter_map(|stream| stream.received.last())
            .collect();
        (sent, received)
    }

    /// Forgets the intervals so far: they were sent, and a long test has many.
    pub(crate) fn forget_intervals(&mut self) {
        for stream in &mut self.streams {
            stream.sent.clear();
            stream.received.clear();
        }
    }

    /// Interval `index` of every stream, as far as it was cut: of senders, of receivers.
    pub(crate) fn intervals(&self, index: usize) -> (Vec<&TxInterval>, Vec<&RxInterval>) {
        let streams = || self.streams.iter();
        (
            streams()
                .filter_map(|stream| stream.sent.get(index))
                .collect(),
            streams()
                .filter_map(|stream| stream.received.get(index))
                .collect(),
        )
    }

    fn spawn_worker(
        &self,
        id: u32,
        work: Work,
        progress: Arc<Progress>,
        how: Worker,
    ) -> io::Result<(Option<TcpStream>, Job)> {
        let line = Arc::clone(&self.line);
        let sending = |work| spawn(id, "tx", how, Arc::clone(&progress), work).map(Job::Sending);
        let receiving =
            |work| spawn(id, "rx", how, Arc::clone(&progress), work).map(Job::Receiving);
        let (tcp, job) = match work {
            Work::UdpTx(tx) => (
                None,
                sending(Box::new(move |progress| tx.run(&line, progress))),
            ),
            Work::TcpTx(tx, stream) => (
                Some(stream),
                sending(Box::new(move |progress| tx.run(&line, progress))),
            ),
            Work::UdpRx(rx) => {
                let run = move |progress: &Progress| {
                    let received = rx.run(&line, progress)?;
                    Some(Received::Udp(Box::new(received)))
                };
                (None, receiving(Box::new(run)))
            }
            Work::TcpRx(rx, stream) => {
                let run = move |progress: &Progress| {
                    let account = rx.run(&line, progress)?;
                    Some(Received::Tcp(Box::new(account)))
                };
                (Some(stream), receiving(Box::new(run)))
            }
        };
        Ok((tcp, job?))
    }
}

impl Stream {
    fn receives(&self) -> bool {
        matches!(self.job, Job::Receiving(_) | Job::Received(_))
    }

    /// What was sent again before the test is not of its first interval.
    fn forget_opening(&mut self) {
        self.before = self.progress.read(self.sender_info().as_ref());
    }

    /// `None` of a receiver, or without TCP.
    fn sender_info(&self) -> Option<TcpInfo> {
        let stream = self.tcp.as_ref().filter(|_| !self.receives())?;
        tcp::info(stream).ok()
    }

    /// Everything that the kernel knows about the connection, of the first streams: the list is long.
    fn tcp_info(&self, index: usize) -> BTreeMap<String, u64> {
        let stream = self.tcp.as_ref().filter(|_| index < MOST_DETAILED);
        let all = stream.and_then(|stream| tcp::all_info(stream).ok());
        let all = all.into_iter().flatten();
        all.map(|(name, value)| (name.to_owned(), value)).gather()
    }

    fn cut(&mut self, start_ns: u64, end_ns: u64) {
        let receives = self.receives();
        let info = self.sender_info();
        let now = self.progress.read(info.as_ref());
        if receives {
            self.received
                .push(now.received_since(&self.before, start_ns, end_ns));
        } else {
            self.sent
                .push(now.sent_since(&self.before, start_ns, end_ns, info.as_ref()));
        }
        if let Some(info) = info {
            self.rtt.record(info.rtt_ns);
            self.pacing_bytes_per_second
                .extend(info.pacing_bytes_per_second);
            self.last_info = Some(info);
        }
        self.before = now;
    }

    fn join_sender(&mut self) {
        self.job = match std::mem::replace(&mut self.job, Job::Over) {
            Job::Sending(handle) => {
                let account = handle.join().ok().flatten();
                if let Some(info) = self.tcp.as_ref().and_then(|stream| tcp::info(stream).ok()) {
                    self.last_info = Some(info);
                }
                Job::Sent(account.map(Box::new))
            }
            other => other,
        };
    }

    fn join_receiver(&mut self) {
        self.job = match std::mem::replace(&mut self.job, Job::Over) {
            Job::Receiving(handle) => Job::Received(handle.join().ok().flatten()),
            other => other,
        };
    }

    fn account(&mut self, sent: Option<u64>, drift: Drift) -> StreamAccount {
        self.join_sender();
        self.join_receiver();
        let mut account = StreamAccount {
            id: self.id,
            port: self.port,
            unpinned: self.progress.unpinned.load(Ordering::Relaxed),
            cpu: self.progress.used.get().copied(),
            ..StreamAccount::default()
        };
        match std::mem::replace(&mut self.job, Job::Over) {
            Job::Sent(Some(tx)) => account.tx = Some(self.complete_tx(*tx)),
            Job::Received(Some(Received::Tcp(rx))) => account.rx = Some(self.complete_rx(*rx)),
            Job::Received(Some(Received::Udp(rx))) => {
                account.rx = Some(self.complete_rx(rx.account(sent, drift)));
            }
            _ => {}
        }
        account
    }

    fn complete_tx(&mut self, tx: TxAccount) -> TxAccount {
        let stream = self.tcp.as_ref();
        TxAccount {
            retransmits: self
                .last_info
                .map(|info| u64::from(info.total_retrans).saturating_sub(tx.omitted_retransmits)),
            rtt_ns: super::quantiles::quantiles(&self.rtt),
            congestion: stream.and_then(|stream| tcp::congestion(stream).ok()),
            mss_bytes: self.last_info.map(|info| info.snd_mss),
            pacing_bytes_per_second: self.pacing_rate(),
            busy_ns: self.last_info.and_then(|info| info.busy_ns),
            rwnd_limited_ns: self.last_info.and_then(|info| info.rwnd_limited_ns),
            sndbuf_limited_ns: self.last_info.and_then(|info| info.sndbuf_limited_ns),
            intervals: std::mem::take(&mut self.sent),
            ..tx
        }
    }

    /// The median of the samples; of a test without intervals the last rate.
    fn pacing_rate(&mut self) -> Option<u64> {
        let mut rates = std::mem::take(&mut self.pacing_bytes_per_second);
        order::by_key(&mut rates, |rate| *rate);
        let median = rates.get(rates.len() / 2).copied();
        median.or_else(|| self.last_info?.pacing_bytes_per_second)
    }

    fn complete_rx(&mut self, rx: RxAccount) -> RxAccount {
        RxAccount {
            intervals: std::mem::take(&mut self.received),
            ..rx
        }
    }
}

type Task<T> = Box<dyn FnOnce(&Progress) -> T + Send>;

fn spawn<T: Send + 'static>(
    id: u32,
    way: &str,
    how: Worker,
    progress: Arc<Progress>,
    work: Task<T>,
) -> io::Result<JoinHandle<T>> {
    std::thread::Builder::new()
        .name(format!("{way}{id}"))
        .stack_size(STACK_BYTES)
        .spawn(move || {
            if how.cpu.is_some_and(|cpu| !runs_on(cpu)) {
                progress.unpinned.store(true, Ordering::Relaxed);
            }
            let clock = ThreadClock::start(how.for_cost);
            let done = work(&progress);
            let _first = progress.used.set(clock.stop());
            done
        })
}

/// Binds the thread to one of the processors that it may use. (The kernel alone would let it out of
/// what `taskset` left it.)
fn runs_on(cpu: usize) -> bool {
    cpu::allowed().contains(&cpu) && cpu::pin(cpu).is_ok()
}

/// The workers keep their buffers on the heap; 128 of them have to fit a 64 MB board.
const STACK_BYTES: usize = 128 * 1024;
/// The number of streams that report all of `TCP_INFO`.
const MOST_DETAILED: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    /// The CPUs that a worker may use, and whether it reported that they are not those requested.
    fn where_it_runs(wanted: Option<usize>) -> (Vec<usize>, bool) {
        let progress = Arc::new(Progress::default());
        let worker = spawn(
            1,
            "tx",
            Worker {
                cpu: wanted,
                for_cost: false,
            },
            Arc::clone(&progress),
            Box::new(|_| cpu::allowed()),
        );
        let runs_on = worker.unwrap().join().unwrap();
        (runs_on, progress.unpinned.load(Ordering::Relaxed))
    }

    #[test]
    fn a_worker_runs_on_the_processor_that_was_asked_for() {
        let all = cpu::allowed();
        for &wanted in &all {
            assert_eq!(where_it_runs(Some(wanted)), (vec![wanted], false));
        }
        assert_eq!(where_it_runs(None), (all.clone(), false));
        let absent = all.iter().max().unwrap() + 1;
        assert_eq!(where_it_runs(Some(absent)), (all.clone(), true));
        assert_eq!(where_it_runs(Some(usize::MAX)), (all, true));
    }

    /// `taskset` leaves a process fewer processors than there are.
    #[test]
    fn a_worker_stays_on_the_processors_that_its_process_may_use() {
        let [mine, other, ..] = cpu::allowed()[..] else {
            println!("skipped: one processor only");
            return;
        };
        let confined = std::thread::spawn(move || {
            cpu::pin(mine).unwrap();
            (where_it_runs(Some(other)), where_it_runs(Some(mine)))
        });
        let (other, own) = confined.join().unwrap();
        assert_eq!(other, (vec![mine], true));
        assert_eq!(own, (vec![mine], false));
    }
}
