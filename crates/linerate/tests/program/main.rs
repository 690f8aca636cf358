// SPDX-License-Identifier: MIT OR Apache-2.0
//! The program as its users run it: real processes over the loopback and between the hosts of a
//! lab. One binary, because cargo runs binaries one after another and most of these tests wait:
//! they wait side by side (`.cargo/config.toml` has the number of threads). What other tests can
//! spoil is in `tests/measured`.
#![forbid(unsafe_code)]

#[cfg(test)]
mod ab;
#[cfg(test)]
mod answers;
#[cfg(test)]
mod cli;
#[cfg(test)]
mod compare;
#[cfg(test)]
mod compat;
#[cfg(test)]
mod cost;
#[cfg(test)]
mod device;
#[cfg(test)]
mod doc_examples;
#[cfg(test)]
mod docs;
#[cfg(test)]
mod engine_loopback;
#[cfg(test)]
mod explain;
#[cfg(test)]
mod failures;
#[cfg(test)]
mod first_hour;
#[cfg(test)]
mod habits;
#[cfg(test)]
mod history;
#[cfg(test)]
mod interop_iperf2;
#[cfg(test)]
mod interop_iperf3;
#[cfg(test)]
mod matrices;
#[cfg(test)]
mod matrix;
#[cfg(test)]
mod metrics;
#[cfg(test)]
mod moved;
#[cfg(test)]
mod nic_check;
#[cfg(test)]
mod regs;
#[cfg(test)]
mod report;
#[cfg(test)]
mod support;
#[cfg(test)]
mod token;
#[cfg(test)]
mod tune;
#[cfg(test)]
mod tune_harm;
#[cfg(test)]
mod tune_lab;
#[cfg(test)]
mod tune_ssh;
#[cfg(test)]
mod wire_log;
