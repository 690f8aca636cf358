// SPDX-License-Identifier: MIT OR Apache-2.0
//! The capacity of the wire on this machine: the rate at which it begins to lose frames.

use std::fmt;
use std::io;

use linerate_linux::clock;
use linerate_linux::packet::PacketSender;

use crate::{Host, Isolation, Lab, LabError, LabPlan, WireSpec, cannot};

/// The highest rate tried without loss, in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ceiling {
    /// Length of the frames, without FCS.
    pub frame_bytes: usize,
    /// 0: the lowest rate tried was too much.
    pub frames_per_second: u64,
    /// The sender ended the search, not the wire.
    pub limited_by_sender: bool,
}

impl Ceiling {
    /// Raises the rate by a half until the wire or the sender reaches its limit; takes a few seconds.
    ///
    /// # Errors
    /// Those of building a lab.
    pub fn measure(isolation: &Isolation, frame_bytes: usize) -> Result<Self, LabError> {
        let mut ceiling = Self {
            frame_bytes,
            frames_per_second: 0,
            limited_by_sender: false,
        };
        let mut rate = FIRST_RATE;
        loop {
            let trial = Trial::run(isolation, frame_bytes, rate)?;
            ceiling.limited_by_sender = trial.lost == 0;
            if trial.lost > 0 || trial.sent < trial.intended * 98 / 100 {
                return Ok(ceiling);
            }
            ceiling.frames_per_second = rate;
            rate = rate * 3 / 2;
        }
    }
}

impl fmt::Display for Ceiling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            frame_bytes,
            frames_per_second,
            limited_by_sender,
        } = *self;
        let megabits = frames_per_second * frame_bytes as u64 * 8 / 1_000_000;
        write!(
            f,
            "{frame_bytes}-byte frames: {frames_per_second} per second ({megabits} Mbit/s)"
        )?;
        if limited_by_sender {
            f.write_str(", limited by the sender")
        } else {
            Ok(())
        }
    }
}

struct Trial {
    intended: u64,
    sent: u64,
    lost: u64,
}

impl Trial {
    fn run(isolation: &Isolation, frame_bytes: usize, rate: u64) -> Result<Self, LabError> {
        let wire = Some(WireSpec::default());
        let plan = LabPlan {
            wire,
            ..LabPlan::default()
        };
        let lab = Lab::open(isolation, &plan)?;
        let intended = rate * TRIAL_NS / 1_000_000_000;
        let [a, _b] = lab.hosts();
        let sent = flood(a, frame_bytes, rate, intended).map_err(cannot("send into the wire"))?;
        let report = lab.close().unwrap_or_default();
        let lost = report
            .directions
            .iter()
            .map(super::DirectionReport::own_drops)
            .sum();
        Ok(Self {
            intended,
            sent,
            lost,
        })
    }
}

/// Sends frames that no host understands, on schedule as far as possible.
fn flood(a: &Host, frame_bytes: usize, rate: u64, count: u64) -> io::Result<u64> {
    let socket = a.enter(|| PacketSender::open(a.interface))??;
    let mut frame = vec![0; frame_bytes.max(14)];
    frame[..6].fill(0xff);
    frame[12..14].copy_from_slice(&LOCAL_EXPERIMENT);
    let began = clock::monotonic_ns();
    let mut sent = 0;
    for number in 0..count {
        let due = began + number * 1_000_000_000 / rate;
        while clock::monotonic_ns() < due {
            std::hint::spin_loop();
        }
        sent += u64::from(socket.send(&frame).is_ok());
        if clock::monotonic_ns() - began > 2 * TRIAL_NS {
            break;
        }
    }
    Ok(sent)
}

/// IEEE 802's EtherType for experiments within one station's network.
const LOCAL_EXPERIMENT: [u8; 2] = [0x88, 0xb5];
const FIRST_RATE: u64 = 10_000;
const TRIAL_NS: u64 = 150_000_000;
