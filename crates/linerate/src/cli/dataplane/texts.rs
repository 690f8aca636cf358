// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is printed when a way of forwarding begins, and why it did not.

use std::io::{self, ErrorKind};

use linerate_change::dataplane::{Plan, Plane, Step};
use linerate_change::{Hand, command};
use linerate_linux::xdp_forward::{Attached, ForwardError};
use linerate_model::failure::Failure;
use linerate_model::printable::Printable;

use super::held::Held;
use crate::cli::args::DataplanePorts;
use crate::cli::document::print;
use crate::cli::session;

/// The commands that a person would have typed, and what forwards now. Standard output belongs to the document with `--json`.
///
/// # Errors
/// Those of writing.
pub(super) fn begun<H: Hand>(
    held: &Held<H>,
    plan: &Plan,
    plane: Plane,
    ports: &DataplanePorts,
) -> Result<(), Failure> {
    let forwards = forwards(plan, plane, ports, held.attached());
    if ports.document.json {
        session::say(&forwards);
        return Ok(());
    }
    let made = held.made().iter();
    let made = made.map(|open| format!("{}\n", command(&open.key, &open.new)));
    let why = held.attached().and_then(generic_because);
    let why = why.map(|why| format!("generic because: {why}\n"));
    let notes = plan.notes.iter().map(|note| format!("note: {note}\n"));
    let text: String = made.chain(why).chain(notes).collect();
    print(&Printable::of(&format!("{text}{forwards}\n")))
}

fn forwards(
    plan: &Plan,
    plane: Plane,
    ports: &DataplanePorts,
    attached: Option<&Attached>,
) -> String {
    let words = [
        Some(self::plane(plane)),
        mode(plane),
        plan.bridge.as_deref(),
        attached.map(self::attached),
    ];
    let words: Vec<&str> = words.into_iter().flatten().collect();
    let until = match ports.time {
        Some(ms) => format!("for {} s", ms as f64 / 1e3),
        None => "until Ctrl-C".to_owned(),
    };
    let (words, one, other) = (words.join(" "), &ports.one, &ports.other);
    format!("{words}: forwarding between {one} and {other} {until}")
}

/// The word of the command line.
pub(super) const fn plane(plane: Plane) -> &'static str {
    match plane {
        Plane::Bridge => "bridge",
        Plane::Route => "route",
        Plane::XdpBridge | Plane::XdpRoute => "xdp",
    }
}

/// The word of `--mode`.
pub(super) const fn mode(plane: Plane) -> Option<&'static str> {
    match plane {
        Plane::Bridge | Plane::Route => None,
        Plane::XdpBridge => Some("bridge"),
        Plane::XdpRoute => Some("route"),
    }
}

pub(super) const fn attached(attached: &Attached) -> &'static str {
    match attached {
        Attached::Native => "native",
        Attached::Generic { .. } => "generic",
    }
}

/// Why the program does not run in the driver.
pub(super) fn generic_because(attached: &Attached) -> Option<&str> {
    match attached {
        Attached::Native => None,
        Attached::Generic { why } => Some(why),
    }
}

/// A change that the kernel refused.
pub(super) fn refused(what: &str, step: &Step, why: &io::Error) -> Failure {
    let of = step.interface.as_ref().map(|name| format!(" of {name}"));
    let of = of.unwrap_or_default();
    let failure = Failure::measuring(what, format!("{}{of} = {}: {why}", step.knob, step.value));
    match why.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            failure.hint("as root (CAP_NET_ADMIN); what was changed before is restored")
        }
        _ => failure.hint("`dmesg` may say more; what was changed before is restored"),
    }
}

/// A program that the kernel refused.
pub(super) fn not_attached(what: &str, error: &ForwardError) -> Failure {
    Failure::measuring(what, error.why()).hint(error.attempt())
}
