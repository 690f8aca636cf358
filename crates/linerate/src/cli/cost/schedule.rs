// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which tests `cost` runs, in which order, and how a size becomes a test.

use linerate_endpoint::{Direction, IoMode, Protocol, TestPlan};
use linerate_model::order;

use crate::cli::args::{CostArgs, CostProtocol};
use crate::cli::forecast::Ahead;

/// The tests of one command.
#[derive(Debug, Clone)]
pub(super) struct Schedule {
    sizes: Vec<u32>,
    protocols: Vec<Protocol>,
    families: Vec<u8>,
    rounds: u32,
    duration_ms: u64,
    has_ceilings: bool,
    modes: (IoMode, IoMode),
    /// The directions of tests during which this host is sampled.
    sampled: Vec<Direction>,
}

/// One test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) protocol: Protocol,
    pub(super) af: u8,
    pub(super) direction: Direction,
    /// Payload of a datagram, or of a segment.
    pub(super) bytes: u32,
    pub(super) purpose: Purpose,
}

/// What a test is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// As much as is reached, to choose a rate by.
    Ceiling,
    /// What packets cost.
    Cost,
    /// Where the processors are.
    Samples,
}

impl Schedule {
    pub(super) fn new(args: &CostArgs, families: Vec<u8>) -> Self {
        let protocols = match args.protocol {
            Some(CostProtocol::Udp) => vec![Protocol::Udp],
            Some(CostProtocol::Tcp) => vec![Protocol::Tcp],
            None => vec![Protocol::Udp, Protocol::Tcp],
        };
        let mut sizes = args.sizes.clone();
        order::by_key(&mut sizes, |bytes| *bytes);
        sizes.dedup();
        let modes = args.mode.map(|mode| (mode.tx, mode.rx));
        Self {
            sizes,
            has_ceilings: args.bitrate.is_none() && protocols.contains(&Protocol::Udp),
            protocols,
            families,
            rounds: args.rounds,
            duration_ms: args.time,
            modes: modes.unwrap_or_default(),
            sampled: Vec::new(),
        }
    }

    /// The idle interval before the first test: as long as a test, because a tick of /proc/stat in a short one would be many
    /// in a long test.
    pub(super) fn idle_ms(args: &CostArgs) -> u64 {
        let least = if args.quick { 1000 } else { 2000 };
        args.time.clamp(least, IDLE_MS_MAX)
    }

    /// With tests during which this host is sampled, if it can be. In a lab it is both ends at once, so one direction has
    /// all.
    pub(super) fn sampled(self, can_sample: bool, is_lab: bool) -> Self {
        let sampled = match (can_sample, is_lab) {
            (false, _) => Vec::new(),
            (true, true) => vec![Direction::Up],
            (true, false) => DIRECTIONS.to_vec(),
        };
        Self { sampled, ..self }
    }

    /// What it is about.
    pub(super) fn announcement(&self) -> String {
        let list = |words: Vec<String>| words.join(" and ");
        let protocols = self.protocols.iter().map(|one| match one {
            Protocol::Udp => "UDP".to_owned(),
            Protocol::Tcp => "TCP".to_owned(),
        });
        let families = self.families.iter().map(|af| format!("IPv{af}"));
        let count = self.costs() + self.samples().count();
        let (protocols, families) = (list(protocols.collect()), list(families.collect()));
        format!(
            "{count} tests, {protocols} over {families}, {} sizes",
            self.sizes.len()
        )
    }

    /// The length of a test. Samples of less than a second are few.
    pub(super) fn duration_ms(&self, cell: Cell) -> u64 {
        match cell.purpose {
            Purpose::Samples => self.samples_ms(),
            _ => self.duration_ms,
        }
    }

    fn samples_ms(&self) -> u64 {
        self.duration_ms.clamp(SAMPLES_MS_MIN, SAMPLES_MS_MAX)
    }

    /// The number of tests without samples.
    fn costs(&self) -> usize {
        self.cells().count() + self.ceilings().len()
    }

    /// All tests.
    pub(super) fn all(&self) -> Ahead {
        let samples = self.samples().count() as f64;
        Ahead::of(self.costs() as f64, self.duration_ms) + Ahead::of(samples, self.samples_ms())
    }

    /// The tests during which this host is sampled: the largest size of each protocol, over one IP version.
    pub(super) fn samples(&self) -> impl Iterator<Item = Cell> + use<> {
        let first = self.families.first().copied();
        let place = first.zip(self.sizes.last().copied());
        let mut cells = Vec::new();
        for &protocol in &self.protocols {
            for &direction in &self.sampled {
                cells.extend(place.map(|(af, bytes)| Cell {
                    protocol,
                    af,
                    direction,
                    bytes,
                    purpose: Purpose::Samples,
                }));
            }
        }
        cells.into_iter()
    }

    /// The tests that find the highest rate of the largest datagrams; none where it is not needed.
    pub(super) fn ceilings(&self) -> Vec<Cell> {
        let largest = self.sizes.last().copied().filter(|_| self.has_ceilings);
        let cell = |af: u8, direction, bytes| Cell {
            protocol: Protocol::Udp,
            af,
            direction,
            bytes,
            purpose: Purpose::Ceiling,
        };
        let families = self.families.iter();
        let each = families.flat_map(|af| DIRECTIONS.map(|direction| (*af, direction)));
        let cells = each.filter_map(|(af, direction)| Some(cell(af, direction, largest?)));
        cells.collect()
    }

    /// The tests of all rounds. Every other round is in reverse order, so that what changes slowly meanwhile falls on all
    /// sizes alike.
    pub(super) fn cells(&self) -> impl Iterator<Item = Cell> + use<> {
        let mut round = Vec::new();
        for &protocol in &self.protocols {
            for &af in &self.families {
                for &bytes in &self.sizes {
                    round.extend(DIRECTIONS.map(|direction| Cell {
                        protocol,
                        af,
                        direction,
                        bytes,
                        purpose: Purpose::Cost,
                    }));
                }
            }
        }
        (0..self.rounds).flat_map(move |number| {
            let mut cells = round.clone();
            if number % 2 == 1 {
                cells.reverse();
            }
            cells
        })
    }

    /// The test of a cell, for a path with this MTU.
    pub(super) fn plan(
        &self,
        base: &TestPlan,
        cell: Cell,
        datagrams_per_second: Option<f64>,
        mtu: Option<u32>,
    ) -> TestPlan {
        let headers = match cell.af {
            4 => IPV4_BYTES,
            _ => IPV6_BYTES,
        };
        let room = mtu.unwrap_or(USUAL_MTU).saturating_sub(headers);
        let (kind, af) = match cell.protocol {
            Protocol::Udp => ("udp", cell.af),
            Protocol::Tcp => ("tcp", cell.af),
        };
        let name = match cell.purpose {
            Purpose::Ceiling => format!("{kind}{af}-unlimited"),
            Purpose::Cost => format!("{kind}{af}-{}B", cell.bytes),
            Purpose::Samples => format!("{kind}{af}-{}B-sampled", cell.bytes),
        };
        let plan = TestPlan {
            group: name.clone(),
            name,
            protocol: cell.protocol,
            direction: cell.direction,
            duration_ms: self.duration_ms(cell),
            bits_per_second: None,
            probe: false,
            trial: true,
            for_cost: true,
            ..base.clone()
        };
        match cell.protocol {
            Protocol::Udp => {
                let bytes = cell
                    .bytes
                    .min(room.saturating_sub(UDP_BYTES).max(LEAST_UDP));
                let pps = datagrams_per_second.filter(|_| cell.purpose != Purpose::Ceiling);
                let rate = pps.map(|pps| (pps * 8.0 * f64::from(bytes)).ceil() as u64);
                TestPlan {
                    payload_bytes: Some(bytes),
                    bits_per_second: rate.map(|bits| bits.max(1)),
                    burst: rate.map(|_| BURST_PACKETS),
                    tx_mode: self.modes.0,
                    rx_mode: self.modes.1,
                    ..plan
                }
            }
            Protocol::Tcp => {
                let most = room.saturating_sub(TCP_BYTES).clamp(LEAST_MSS, MOST_MSS);
                let mss = (cell.bytes + TIMESTAMP_BYTES).clamp(LEAST_MSS, most);
                TestPlan {
                    mss: Some(mss),
                    ..plan
                }
            }
        }
    }
}

const IDLE_MS_MAX: u64 = 10_000;
const SAMPLES_MS_MIN: u64 = 1000;
const SAMPLES_MS_MAX: u64 = 5000;
/// A batch is an eighth of it: as much as an unlimited sender hands to its kernel at once (with segmentation it hands over more), so that
/// it wakes as rarely as it can.
const BURST_PACKETS: u32 = 128;
const DIRECTIONS: [Direction; 2] = [Direction::Up, Direction::Down];
const IPV4_BYTES: u32 = 20;
const IPV6_BYTES: u32 = 40;
const UDP_BYTES: u32 = 8;
const TCP_BYTES: u32 = 20;
/// RFC 7323 §3.2, padded to words: part of what `TCP_MAXSEG` limits.
const TIMESTAMP_BYTES: u32 = 12;
const USUAL_MTU: u32 = 1500;
/// The stamp of a datagram.
const LEAST_UDP: u32 = 16;
/// The range of `TCP_MAXSEG` (`TCP_MIN_MSS`, include/net/tcp.h).
const LEAST_MSS: u32 = 88;
const MOST_MSS: u32 = 32_767;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::{Cli, Command};
    use crate::cli::forecast::Forecast;
    use clap::Parser;

    fn args(line: &str) -> CostArgs {
        let words = format!("linerate cost h {line}");
        match Cli::try_parse_from(words.split_whitespace())
            .unwrap()
            .command
        {
            Command::Cost(args) => args,
            other => panic!("{other:?}"),
        }
    }

    fn schedule(line: &str, families: &[u8]) -> Schedule {
        Schedule::new(&args(line), families.to_vec())
    }

    /// What `--help` promises of a run between two hosts with both IP versions, as root.
    #[test]
    fn the_help_says_how_long_it_takes() {
        let planned_s = |line: &str, families: &[u8]| {
            let ahead = schedule(line, families).sampled(true, false).all();
            Forecast::on(0.0).seconds(ahead + Ahead::wait(Schedule::idle_ms(&args(line))))
        };
        let help = <Cli as clap::CommandFactory>::command();
        let cost = help.find_subcommand("cost").unwrap();
        let mut flags = cost.get_arguments();
        let quick = flags.find(|one| one.get_id() == "quick").unwrap();
        let said = quick.get_help().unwrap().to_string();
        assert!(
            said.contains("about 20 seconds instead of 2 minutes"),
            "{said}"
        );
        let (quick_s, whole_s) = (planned_s("--quick", &[4]), planned_s("", &[4, 6]));
        assert!((17.5..22.5).contains(&quick_s), "{quick_s}");
        assert!((90.0..150.0).contains(&whole_s), "{whole_s}");
    }

    #[test]
    fn the_idle_interval_is_as_long_as_a_test() {
        for (line, idle_ms) in [
            ("", 2000),
            ("--quick", 1000),
            ("-t 8", 8000),
            ("-t 60", 10_000),
        ] {
            assert_eq!(Schedule::idle_ms(&args(line)), idle_ms, "{line}");
        }
    }

    fn plan(schedule: &Schedule, cell: Cell, mtu: Option<u32>) -> TestPlan {
        schedule.plan(&TestPlan::udp("h"), cell, Some(10_000.0), mtu)
    }

    #[test]
    fn every_size_goes_both_ways_in_every_family_and_round() {
        let all = schedule("--sizes 1472,64,64 --rounds 3", &[4, 6]);
        let cells: Vec<Cell> = all.cells().collect();
        assert_eq!(cells.len(), 2 * 2 * 2 * 2 * 3);
        let (first, last) = (cells[0], cells[15]);
        assert_eq!((first.af, first.bytes), (4, 64), "{first:?}");
        assert_eq!(cells[16], last, "the second round is in reverse order");
        assert_eq!(cells[32], first);
        assert_eq!(all.ceilings().len(), 4);
        let announced = all.announcement();
        assert_eq!(
            announced,
            "52 tests, UDP and TCP over IPv4 and IPv6, 2 sizes"
        );
        let one = schedule("--protocol tcp --quick", &[4]);
        assert_eq!((one.cells().count(), one.ceilings().len()), (8, 0));
        assert_eq!(schedule("-b 0", &[4]).ceilings(), []);
    }

    #[test]
    fn samples_are_of_tests_of_their_own() {
        let all = |can_sample, is_lab| {
            let schedule = schedule("--quick --sizes 64,1472", &[4, 6]);
            let schedule = schedule.sampled(can_sample, is_lab);
            (schedule.samples().collect::<Vec<_>>(), schedule)
        };
        let (cells, own) = all(true, false);
        assert_eq!(cells.len(), 2 * 2, "each protocol and direction");
        let plan = plan(&own, cells[0], None);
        assert_eq!((plan.duration_ms, plan.payload_bytes), (1000, Some(1472)));
        assert_eq!(plan.name, "udp4-1472B-sampled");
        assert!(plan.bits_per_second.is_some(), "at the rate of the others");
        assert!(own.cells().all(|cell| cell.purpose == Purpose::Cost));
        assert_eq!(all(true, true).0.len(), 2, "both ends are one machine");
        assert_eq!(all(false, true).0, []);
    }

    #[test]
    fn all_datagrams_have_one_rate_and_fit_the_path() {
        let all = schedule("--protocol udp --mode gso/gro", &[4, 6]);
        for cell in all.cells() {
            let plan = plan(&all, cell, Some(1500));
            let bytes = plan.payload_bytes.unwrap();
            assert_eq!(plan.bits_per_second, Some(u64::from(bytes) * 80_000));
            let most = if cell.af == 4 { 1472 } else { 1452 };
            assert_eq!(bytes, cell.bytes.min(most));
            assert_eq!((plan.tx_mode, plan.rx_mode), (IoMode::Gso, IoMode::Gro));
            assert_eq!((plan.burst, plan.for_cost), (Some(128), true));
        }
        let ceiling = plan(&all, all.ceilings()[0], None);
        assert_eq!(
            (ceiling.bits_per_second, ceiling.payload_bytes),
            (None, Some(1472))
        );
        assert_eq!(ceiling.name, "udp4-unlimited");
    }

    #[test]
    fn a_segment_is_as_near_to_its_size_as_the_mss_allows() {
        let all = schedule("--protocol tcp --sizes 16,512,1472,9000", &[4, 6]);
        let mss = |af: u8, bytes: u32, mtu: u32| {
            let is_it = |cell: &Cell| cell.af == af && cell.bytes == bytes;
            let cell = all.cells().find(is_it).unwrap();
            plan(&all, cell, Some(mtu)).mss.unwrap()
        };
        assert_eq!(mss(4, 16, 1500), 88, "the least");
        assert_eq!(mss(4, 512, 1500), 524);
        assert_eq!((mss(4, 1472, 1500), mss(6, 1472, 1500)), (1460, 1440));
        assert_eq!((mss(4, 9000, 9000), mss(4, 9000, 65_536)), (8960, 9012));
        assert_eq!(mss(4, 512, 100), 88);
    }
}
