// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can be said while a test still runs: the stage that loses most, and how busy the
//! processors are. Of a record that is not whole, so only a glance: the ledger and the findings of
//! the whole one have the last word.

use linerate_model::output::{Direction, Role};
use linerate_model::sample::{Phase, Sample};

use crate::evidence::{Evidence, grown};
use crate::facts::Shares;
use crate::ledger;
use linerate_model::record::Record;

/// Where most of one direction's losses are so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Losing {
    /// Of which direction.
    pub direction: Direction,
    /// The stage, as the ledger names it.
    pub stage: String,
    /// On which host.
    pub host: Role,
    /// Lost there at least and at most, packets.
    pub lost_packets: [u64; 2],
}

/// How busy a host's processors were between its last two samples; shares from 0 to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Busy {
    /// Which host.
    pub host: Role,
    /// Of all processors.
    pub all: f64,
    /// The busiest one: `cpu1`.
    pub busiest: String,
    /// Of that one.
    pub busiest_share: f64,
}

/// The stage of each direction that lost most, as far as is certain; a direction without one is left out.
#[must_use]
pub fn losing(record: &Record) -> Vec<Losing> {
    let entries = ledger::of(&Evidence::of(record));
    let tests = &record.run.tests;
    let worst = entries.into_iter().filter_map(|entry| {
        let test = tests.iter().find(|test| test.id == entry.test_id)?;
        let stage = entry
            .stages
            .into_iter()
            .max_by_key(|stage| (stage.lo, stage.hi))?;
        (stage.hi > 0).then_some(Losing {
            direction: test.direction,
            stage: stage.stage,
            host: stage.host,
            lost_packets: [stage.lo, stage.hi],
        })
    });
    worst.collect()
}

/// The processors of each host that reports them (`/proc/stat`).
#[must_use]
pub fn busy(samples: &[Sample]) -> Vec<Busy> {
    let hosts = [Role::Local, Role::Remote, Role::Device].into_iter();
    hosts.filter_map(|host| busy_of(host, samples)).collect()
}

fn busy_of(host: Role, samples: &[Sample]) -> Option<Busy> {
    let of_host = |sample: &&Sample| {
        sample.host == host && sample.source == "/proc/stat" && sample.phase == Some(Phase::Load)
    };
    let mut newest = samples.iter().rev().filter(of_host);
    let (last, first) = (newest.next()?, newest.next()?);
    let shares = Shares::of_ticks(grown(first, last))?;
    let busiest = shares.busiest()?;
    Some(Busy {
        host,
        all: shares.all_busy(),
        busiest: busiest.to_owned(),
        busiest_share: shares.busy(busiest),
    })
}

#[cfg(test)]
mod tests {
    use linerate_model::output::{Protocol, Test};
    use linerate_model::run::Run;

    use super::*;

    fn sample(host: Role, source: &str, t_ns: u64, counters: &[(&str, u64)]) -> Sample {
        let counters = counters
            .iter()
            .map(|(name, value)| ((*name).to_owned(), *value));
        Sample {
            host,
            t_ns,
            source: source.to_owned(),
            group: Some("udp".to_owned()),
            phase: Some(Phase::Load),
            counters: counters.collect(),
            ..Sample::default()
        }
    }

    #[test]
    fn the_stage_that_loses_most_is_named() {
        let full = |t_ns, errors| {
            let counters = [("UdpInErrors", errors), ("UdpRcvbufErrors", errors)];
            sample(Role::Remote, "/proc/net/snmp", t_ns, &counters)
        };
        let test = Test {
            id: "udp-up".to_owned(),
            group: "udp".to_owned(),
            protocol: Protocol::Udp,
            af: 4,
            sent_packets: Some(1000),
            received_packets: Some(600),
            lost_packets: Some(400),
            ..Test::default()
        };
        let mut record = Record {
            run: Run {
                tests: vec![test],
                ..Run::default()
            },
            samples: vec![full(0, 7), full(1, 407)],
            ..Record::default()
        };
        let losing_now = losing(&record);
        assert_eq!(losing_now.len(), 1);
        assert_eq!(
            (
                losing_now[0].stage.as_str(),
                losing_now[0].host,
                losing_now[0].lost_packets[1]
            ),
            ("rx-socket", Role::Remote, 400)
        );
        record.samples.pop();
        assert_eq!(losing(&record), []);
    }

    #[test]
    fn processors_are_judged_by_the_last_two_samples_of_their_host() {
        let stat = |host, t_ns, busy, idle| {
            let counters = [
                ("cpu0.user", busy),
                ("cpu0.idle", idle),
                ("cpu1.user", 0),
                ("cpu1.idle", busy + idle),
            ];
            sample(host, "/proc/stat", t_ns, &counters)
        };
        let samples = [
            stat(Role::Local, 0, 0, 0),
            stat(Role::Local, 1, 100, 0),
            stat(Role::Remote, 1, 5, 5),
            stat(Role::Local, 2, 175, 25),
        ];
        let busy = busy(&samples);
        assert_eq!(busy.len(), 1, "one reading of the far end is no span");
        assert_eq!(
            (busy[0].host, busy[0].busiest.as_str()),
            (Role::Local, "cpu0")
        );
        assert!((busy[0].busiest_share - 0.75).abs() < 1e-9);
        assert!((busy[0].all - 0.375).abs() < 1e-9);
    }
}
