// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sets causes up in a guest, one after the other, measures each, and undoes it.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::{Cause, named};
use crate::machines::image::Image;
use crate::machines::nic::Nic;
use crate::machines::session::Session;
use crate::machines::steps::{At, addressed};

/// All causes of `names`, in the namespaces that were made for it; results and `NAME.steps` are in `directory`.
///
/// # Errors
/// The machine cannot be booted, or answers no more.
pub(crate) fn run(
    nic: &Nic,
    image: &Image,
    linerate: &Path,
    directory: &Path,
    names: &str,
) -> Result<(), String> {
    let causes: Vec<&Cause> = names.split(',').map(named).collect::<Result<_, _>>()?;
    // All of a boot need the same.
    let hardware = causes.first().ok_or("no cause")?.hardware();
    let mut session = Session::boot(nic, image, &hardware, linerate, directory)?;
    session.serve_on_the_host("linerate serve --bind HOST")?;
    // Links and modules of the boot settle.
    session.shell(At::Guest, "settle", "sleep 5")?;
    let mut causes = causes.into_iter();
    let ended = causes.try_for_each(|cause| provoked(&mut session, cause, directory));
    ended.and(session.fetch())
}

fn provoked(session: &mut Session, cause: &Cause, directory: &Path) -> Result<(), String> {
    let step = |kind: &str| format!("{}.{kind}", cause.name);
    let before = session.shell(At::Guest, &step("before"), STATE)?;
    let set = both(session, &step("set"), cause.set, cause.set_on_host)?;
    let inspect = "linerate inspect eth0 --facts --json";
    let inspected = session.shell(At::Guest, &step("inspect"), inspect)?;
    let measure = measuring(cause);
    let measured = session.shell(At::Guest, &step("measure"), &measure)?;
    let undone = both(session, &step("undo"), cause.undo, cause.undo_on_host)?;
    let after = session.shell(At::Guest, &step("after"), STATE)?;
    println!(
        "  {:<22} set {set}, measured {measured}, undone {undone}",
        cause.name
    );
    let done = json!({
        "before": before,
        "set": set,
        "inspected": inspected,
        "command": measure,
        "measured": measured,
        "undone": undone,
        "after": after,
    });
    let path = directory.join(format!("{}.steps", cause.name));
    fs::write(&path, done.to_string()).map_err(|why| format!("{}: {why}", path.display()))
}

/// In the guest and on the host; the first status that is not 0.
fn both(session: &mut Session, name: &str, guest: &str, host: &str) -> Result<i32, String> {
    let status = match guest {
        "" => 0,
        command => session.shell(At::Guest, name, &format!("set -e; {}", addressed(command)))?,
    };
    match host {
        "" => Ok(status),
        command => {
            let on_host = session.shell(At::Host, &format!("{name}-on-host"), command)?;
            Ok(if status == 0 { on_host } else { status })
        }
    }
}

/// The command line with its outputs.
fn measuring(cause: &Cause) -> String {
    let name = cause.name;
    addressed(&format!("{} --json -o {name}.run", cause.measure))
}

/// What of the guest must be the same before and after. No counters: those only grow.
const STATE: &str = "/real/ip -d link show | grep -v 'gso_max\\|link/'; /real/ip -4 addr show; /real/ip route; /real/tc qdisc show; \
     /real/tc filter show dev eth0; for of in g k a c l; do ethtool -$of eth0; done; nft list ruleset; \
     cd /proc/sys/net; cat core/rmem_max core/rmem_default ipv4/tcp_rmem ipv4/tcp_wmem ipv4/neigh/default/gc_thresh?; \
     ps | grep -c 'sh -c [w]hile'; true";
