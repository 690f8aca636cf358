// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why the kernel freed packets of a test: a BPF program on the tracepoint `skb:kfree_skb` counts the drop reasons.
//!
//! With the kernel's type information (`/sys/kernel/btf/vmlinux`) it counts only the given flows in this network namespace,
//! exactly; without it, every packet of the machine. Needs Linux 5.17 and the right to load
//! programs. Everything is released when the process ends.

mod filter;
mod flows;
mod kernel;
mod names;
mod offsets;
mod program;

use std::io;
use std::os::fd::OwnedFd;

use crate::bpf::{LoadError, Map, MapKind, Program, ProgramKind};
use kernel::Kernel;
use linerate_model::order::Gather as _;

pub use crate::bpf::program_ids;
pub use filter::{Filter, Flow, Protocol};
pub use flows::{Flows, MOST_FLOWS};

/// Drop reasons, counted from [`Watch::start`] on.
#[derive(Debug)]
pub struct Watch {
    counts: Counts,
    flows: Flows,
    program: Program,
    /// Detaches when it is closed.
    _attached: OwnedFd,
    filtered: Result<(), String>,
}

/// Why the kernel's drops cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// The process may not load programs.
    #[error(
        "{op}: {source}: needs CAP_BPF and CAP_PERFMON, or root, in the initial user namespace"
    )]
    Permission { op: &'static str, source: io::Error },
    /// The kernel has no BPF, or gives no reasons.
    #[error("{what}: this kernel is older than Linux 5.17, or built without BPF")]
    TooOld { what: &'static str },
    /// Anything else.
    #[error("{op}: {why}")]
    Kernel { op: &'static str, why: String },
}

impl Refused {
    /// What to try; empty where nothing helps.
    #[must_use]
    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::Permission { .. } => {
                "linerate as root, or with CAP_BPF and CAP_PERFMON, outside of containers and user namespaces"
            }
            Self::TooOld { .. } => "Linux 5.17 or later",
            Self::Kernel { .. } => "",
        }
    }
}

impl Watch {
    /// Starts to count.
    ///
    /// # Errors
    /// [`Refused`]: nothing remains loaded.
    pub fn start(filter: &Filter) -> Result<Self, Refused> {
        let flows = Flows::create()?;
        for flow in &filter.flows {
            flows.add(flow).map_err(refused("flow"))?;
        }
        Self::over(flows, filter.netns)
    }

    /// Starts to count `flows`, in a network namespace as [`Filter::netns`] says.
    ///
    /// # Errors
    /// [`Refused`]: nothing remains loaded.
    pub fn over(flows: Flows, netns: Option<u32>) -> Result<Self, Refused> {
        let counts = counts()?;
        let (program, filtered) = load(netns, &counts, &flows)?;
        Self::attach(counts, flows, program, filtered)
    }

    /// Starts to count every packet that the machine frees, as where the kernel has no type information.
    ///
    /// # Errors
    /// [`Refused`]: nothing remains loaded.
    pub fn start_unfiltered() -> Result<Self, Refused> {
        let counts = counts()?;
        let program = load_unfiltered(&counts)?;
        Self::attach(
            counts,
            Flows::create()?,
            program,
            Err("not requested".to_owned()),
        )
    }

    fn attach(
        counts: Counts,
        flows: Flows,
        program: Program,
        filtered: Result<(), String>,
    ) -> Result<Self, Refused> {
        let attached = program.attach(c"kfree_skb").map_err(refused(ATTACH))?;
        Ok(Self {
            counts,
            flows,
            program,
            _attached: attached,
            filtered,
        })
    }

    /// Counts packets of `flow` too, see [`Flows::add`].
    ///
    /// # Errors
    /// Those of [`Flows::add`].
    pub fn add(&self, flow: &Flow) -> io::Result<()> {
        self.flows.add(flow)
    }

    /// Packets of a group's flows (without a filter: group 0) freed so far for each reason, by the kernel's name without `SKB_DROP_REASON_`. All known reasons of
    /// the kernel are included, if only with 0. With flows, a packet of several segments counts as that many.
    ///
    /// # Errors
    /// Those of the kernel, none of which is expected.
    pub fn read(&self, group: u32) -> io::Result<Vec<(String, u64)>> {
        let entries = self.counts.entries()?.into_iter();
        let of_group = entries.filter_map(|(key, count)| {
            let (reason, of) = key.split_at(4);
            let reason = u32::from_ne_bytes(reason.try_into().ok()?);
            (of == group.to_ne_bytes()).then(|| (reason, u64::from_ne_bytes(count)))
        });
        let counted = of_group.gather();
        Ok(Kernel::this().names.name(counted))
    }

    /// Whether only the flows are counted; the error says why not.
    ///
    /// # Errors
    /// What the filter lacks.
    pub fn is_filtered(&self) -> Result<(), &str> {
        self.filtered.as_ref().copied().map_err(String::as_str)
    }

    /// Frees that were not looked at, because one interrupted the counting of another.
    ///
    /// # Errors
    /// Those of the kernel, none of which is expected.
    pub fn missed(&self) -> io::Result<u64> {
        Ok(self.program.id_and_missed()?.1)
    }

    /// The kernel's number of the program, as `bpftool prog` shows it.
    ///
    /// # Errors
    /// Those of the kernel, none of which is expected.
    pub fn program_id(&self) -> io::Result<u32> {
        Ok(self.program.id_and_missed()?.0)
    }
}

/// The program that filters, or, with the reason why, the one that counts everything.
fn load(
    netns: Option<u32>,
    counts: &Counts,
    flows: &Flows,
) -> Result<(Program, Result<(), String>), Refused> {
    let why = match &Kernel::this().offsets {
        Ok(offsets) if offsets.arguments < LEAST_ARGUMENTS => {
            return Err(Refused::TooOld {
                what: "skb:kfree_skb has no reason field",
            });
        }
        Ok(offsets) => {
            let code = program::filtered(offsets, netns, counts.number(), flows.number());
            match code.map(|code| Program::load(ProgramKind::RawTracepoint, NAME, &code)) {
                Some(Ok(program)) => return Ok((program, Ok(()))),
                Some(Err(error)) if is_permission(&error.source) => {
                    return Err(load_refused(error));
                }
                Some(Err(error)) => error.to_string(),
                None => "the program does not fit this kernel".to_owned(),
            }
        }
        Err(why) => why.clone(),
    };
    Ok((load_unfiltered(counts)?, Err(why)))
}

fn load_unfiltered(counts: &Counts) -> Result<Program, Refused> {
    let code = program::unfiltered(counts.number()).ok_or(Refused::Kernel {
        op: "assemble",
        why: "a label is missing".to_owned(),
    })?;
    Program::load(ProgramKind::RawTracepoint, NAME, &code).map_err(load_refused)
}

fn counts() -> Result<Counts, Refused> {
    Map::create(MapKind::Hash, "linerate_counts", MOST_REASONS).map_err(refused("create map"))
}

fn load_refused(error: LoadError) -> Refused {
    if is_permission(&error.source) {
        refused("load program")(error.source)
    } else {
        Refused::Kernel {
            op: "load program",
            why: error.to_string(),
        }
    }
}

fn refused(op: &'static str) -> impl Fn(io::Error) -> Refused {
    move |source| match source.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => Refused::Permission { op, source },
        Some(libc::ENOSYS) => Refused::TooOld { what: "bpf(2)" },
        Some(libc::EINVAL) if op == ATTACH => Refused::TooOld {
            what: "skb:kfree_skb has no reason field",
        },
        _ => Refused::Kernel {
            op,
            why: source.to_string(),
        },
    }
}

fn is_permission(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::EPERM)
}

/// Reason and group → packets.
type Counts = Map<8, 8>;
/// The kernel of 2026 has 128 reasons, its subsystems a few dozen.
const MOST_REASONS: u32 = 1024;
/// `skb`, `location`, `reason` (5.17), and since 6.11 `rx_sk`.
const LEAST_ARGUMENTS: usize = 3;
const NAME: &str = "linerate_drops";
const ATTACH: &str = "attach to kfree_skb";
