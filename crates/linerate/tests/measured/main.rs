// SPDX-License-Identifier: MIT OR Apache-2.0
//! Labs whose numbers count, so that other work on the machine can spoil them. They run a few at a
//! time; what was spoilt is measured again, alone (`turns`). Each holds on a machine that is busy,
//! or says with what it measured of the machine why it was not made (`load`).
#![forbid(unsafe_code)]

#[cfg(test)]
mod accounting;
#[cfg(test)]
mod cost;
#[cfg(test)]
mod device;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod forward;
#[cfg(test)]
mod ledger_lab;
#[cfg(test)]
mod load;
#[cfg(test)]
mod matrix;
#[cfg(test)]
mod perf_stat;
#[cfg(test)]
#[path = "../program/support/ports.rs"]
mod ports;
#[cfg(test)]
mod readme;
#[cfg(test)]
mod sampling;
#[cfg(test)]
mod turns;
