// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate cost`: tests of several sizes, in both directions and families. What they cost is computed from the record.

mod sampled;
mod schedule;

use std::collections::BTreeMap;
use std::net::{IpAddr, ToSocketAddrs};

use linerate_model::failure::{Failure, Kind};
use linerate_model::units::Rate;
use linerate_report::live::duration;

use super::args::CostArgs;
use super::forecast::Ahead;
use super::plan;
use super::session::Session;
use super::target::Target;
use crate::exit::Exit;
use linerate_endpoint::{Family, PORT, TestPlan};
use linerate_linux::perf::stacks::Sampling;
use schedule::{Cell, Purpose, Schedule};

/// Runs the command.
pub(super) fn run(args: &CostArgs, options: BTreeMap<String, String>) -> Exit {
    let target = Target::server("cost", &args.server, options);
    target.measure(|session, host| {
        session.first_control_ms = Schedule::idle_ms(args);
        let reached = reached(args, session, host)?;
        let families = reached.iter().map(|one| one.af).collect();
        let can_sample = Sampling::try_out();
        let is_lab = !session.lab_addresses.is_empty();
        let schedule = Schedule::new(args, families).sampled(can_sample.is_ok(), is_lab);
        let ahead = schedule.all() + Ahead::wait(session.control_ms());
        let about = duration(session.live.forecast().seconds(ahead));
        session
            .console
            .say(&format!("about {about}: {}", schedule.announcement()));
        session.live.announce(ahead, ahead);
        if let Err(missing) = can_sample {
            sampled::impossible(session, missing);
        }
        Campaign {
            session,
            schedule,
            reached,
            datagrams_per_second: given_rate(args),
        }
        .run()
    })
}

/// One IP version of the server, and how tests reach it.
#[derive(Debug)]
struct Reached {
    af: u8,
    plan: TestPlan,
    /// The user did not ask for it: the measurement goes on without it.
    is_optional: bool,
}

/// Each IP version that the server has and the flags allow.
fn reached(args: &CostArgs, session: &Session, host: &str) -> Result<Vec<Reached>, Failure> {
    let flags = &args.server.target;
    let base = |host: &str| plan::reached(flags, TestPlan::udp(host));
    let addresses = match session.lab_addresses.as_slice() {
        [] => resolved(host, flags.port.unwrap_or(PORT))?,
        lab => lab.to_vec(),
    };
    let bound = flags.bind.as_ref().map(|bind| bind.address.is_ipv4());
    let mut all: Vec<Reached> = Vec::new();
    for (af, family) in [(4, Family::V4), (6, Family::V6)] {
        let is_four = af == 4;
        let wanted = match (flags.version4, flags.version6) {
            (false, false) => bound.is_none_or(|four| four == is_four),
            (four, _) => four == is_four,
        };
        let Some(address) = addresses.iter().find(|one| one.is_ipv4() == is_four) else {
            continue;
        };
        let in_lab = !session.lab_addresses.is_empty();
        let name = if in_lab {
            address.to_string()
        } else {
            host.to_owned()
        };
        if wanted {
            all.push(Reached {
                af,
                plan: TestPlan {
                    family,
                    ..base(&name)
                },
                is_optional: !all.is_empty(),
            });
        }
    }
    if args.quick {
        all.truncate(1);
    }
    match all.is_empty() {
        true => Err(Failure::measuring(
            format!("resolve {host}"),
            "it has no address of the requested family",
        )
        .hint("omit -4 or -6")),
        false => Ok(all),
    }
}

fn resolved(host: &str, port: u16) -> Result<Vec<IpAddr>, Failure> {
    let found = (host, port).to_socket_addrs().map_err(|error| {
        Failure::measuring(format!("resolve {host}"), error)
            .hint(format!("getent hosts {host}   or an address of the server"))
    })?;
    Ok(found.map(|address| address.ip().to_canonical()).collect())
}

/// The user's rate in datagrams per second; `None`: unlimited, or not given.
fn given_rate(args: &CostArgs) -> Option<f64> {
    let largest = args.sizes.iter().max().copied()?;
    match args.bitrate?.rate? {
        Rate::Packets(packets) => Some(packets.0),
        other => Some(other.of_payload(largest, None)?.0 / 8.0 / f64::from(largest)),
    }
}

/// The tests, under way.
struct Campaign<'s> {
    session: &'s mut Session,
    schedule: Schedule,
    reached: Vec<Reached>,
    /// `None`: unlimited.
    datagrams_per_second: Option<f64>,
}

impl Campaign<'_> {
    fn run(&mut self) -> Result<(), Failure> {
        let mut left = self.schedule.all();
        let ceilings = self.schedule.ceilings();
        if !ceilings.is_empty() {
            let pps = self.half_of(ceilings, &mut left)?;
            self.session.console.say(&format!(
                "UDP at {}: half of what the largest datagrams reach",
                linerate_model::units::PacketsPerSecond(pps)
            ));
            self.datagrams_per_second = Some(pps);
        }
        for cell in self.schedule.cells().chain(self.schedule.samples()) {
            self.test(cell, &mut left)?;
        }
        Ok(())
    }

    /// Half of the datagrams of the largest size that arrive in a second, where they are sent unlimited.
    fn half_of(&mut self, ceilings: Vec<Cell>, left: &mut Ahead) -> Result<f64, Failure> {
        let mut least = f64::INFINITY;
        for cell in ceilings {
            for id in self.test(cell, left)? {
                let test = self.session.tests(&[id]).next();
                let pps = test.and_then(|test| {
                    let received = test.received_packets? as f64 / test.duration_s;
                    (received > 0.0).then_some(received)
                });
                least = least.min(pps.unwrap_or(f64::INFINITY));
            }
        }
        match least.is_finite() {
            true => Ok(least / 2.0),
            false => Err(Failure::measuring(
                "find a rate for the datagrams",
                "none of them arrived",
            )
            .hint("-b RATE, such as -b 10kpps; linerate check HOST shows where they are lost")),
        }
    }

    /// Runs a test. Where an IP version that was not asked for cannot be reached, the others are measured without it.
    fn test(&mut self, cell: Cell, left: &mut Ahead) -> Result<Vec<String>, Failure> {
        let duration_ms = self.schedule.duration_ms(cell);
        *left = left.after(duration_ms);
        let Some(reached) = self.reached.iter().find(|one| one.af == cell.af) else {
            return Ok(Vec::new());
        };
        let mtu = self.mtu();
        let pps = self.datagrams_per_second;
        let plan = self.schedule.plan(&reached.plan, cell, pps, mtu);
        let control_ms = self.session.control_ms();
        self.session.ahead(plan.duration_ms + control_ms, *left);
        let ran = match cell.purpose {
            Purpose::Samples => sampled::run(self.session, &plan),
            _ => self.session.run(&plan),
        };
        match ran {
            Err(failure) if reached.is_optional && failure.kind != Kind::Interrupted => {
                let text = format!("IPv{}: not possible: {}", cell.af, failure.why);
                self.session.console.say(&text);
                self.session.output.partial = true;
                self.reached.retain(|one| one.af != cell.af);
                Ok(Vec::new())
            }
            other => other,
        }
    }

    /// The MTU of this end's interface, once it is known.
    fn mtu(&self) -> Option<u32> {
        self.session.output.hosts.first()?.interfaces.first()?.mtu
    }
}
