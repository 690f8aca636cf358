// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the device in the middle counted during a trial, read from its own kernel before and after.
//!
//! Differences of raw counters, nothing concluded: the ledger and the facts of a device follow from them.

use serde::Serialize;

use crate::fields::Fields;

use super::counters::MovedCounter;

/// Where the device's samples came from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct DeviceSource {
    /// `lab`, `ssh`, `serve` or `command`.
    pub by: String,
    /// The address; empty in the lab.
    pub at: String,
    /// Why it stopped reporting; `null` if it did not.
    pub stopped: Option<String>,
    /// How it forwards, by its settings: hardware addresses, bridges, addresses, flowtables. Empty in a record.
    pub setup: Vec<String>,
}

/// Counters of the device's kernel during a trial.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct TrialDevice {
    /// From the reading before the traffic to the one after it by the device's clock, seconds: the
    /// processors' shares are of this time.
    pub elapsed_s: f64,
    /// The busiest processor, by its number.
    pub processor: u32,
    /// Its share of time that was not idle.
    pub busy_ratio: f64,
    /// Its share of time in interrupts and soft interrupts.
    pub softirq_ratio: f64,
    /// Drops of `/proc/net/softnet_stat`.
    pub softnet_dropped: u64,
    /// Every processor, by number.
    pub processors: Vec<DeviceProcessor>,
    /// Receive queues with counters of their own.
    pub queues: Vec<DeviceQueue>,
    /// The most frequent interrupts, at most 16.
    pub interrupts: Vec<DeviceInterrupt>,
    /// Other counters that increased: packets, drops and errors of its interfaces and protocols.
    pub counters: Vec<MovedCounter>,
}

/// One processor of the device.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct DeviceProcessor {
    /// Its number.
    pub number: u32,
    /// Share of time that was not idle.
    pub busy_ratio: f64,
    /// Share of time in interrupts and soft interrupts.
    pub softirq_ratio: f64,
    /// `processed` of `/proc/net/softnet_stat`.
    pub packets: u64,
    /// `dropped` there: its backlog was full.
    pub dropped: u64,
    /// `time_squeeze` there: the budget ended with work left.
    pub squeezed: u64,
}

/// A receive queue of an interface of the device.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct DeviceQueue {
    /// The interface.
    pub interface: String,
    /// The queue's number.
    pub number: u32,
    /// Packets received.
    pub packets: u64,
}

/// A line of the device's `/proc/interrupts`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct DeviceInterrupt {
    /// Number and description.
    pub name: String,
    /// The number on all CPUs.
    pub count: u64,
    /// The CPU with most of them.
    pub processor: u32,
    /// The number on that CPU.
    pub most: u64,
}
