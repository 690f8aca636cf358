// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flags of the commands that search for the highest UDP rate.

use clap::Args;

use crate::cli::values;

/// What a search for a rate accepts, and how its result is confirmed.
#[derive(Debug, Args)]
pub(in crate::cli) struct SearchFlags {
    /// Loss ratio that the search accepts, such as 0.5% (PDR) or 1e-5; 0 accepts no lost datagram (NDR)
    #[arg(long, value_name = "RATIO", default_value = "0", value_parser = values::loss_ratio)]
    pub(in crate::cli) goal_loss: f64,
    /// Length of the trial that confirms the rate found, such as 60; 0 = none [default: check: 1 s, with --quick 300 ms; sweep: five times -t]
    #[arg(long, value_name = "TIME", value_parser = values::confirmation)]
    pub(in crate::cli) confirm: Option<u64>,
}
