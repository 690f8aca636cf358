// SPDX-License-Identifier: MIT OR Apache-2.0
//! The DUT's own counters: who reports them, and where they go.

use std::sync::Arc;

use linerate_diagnose::dut;
use linerate_linux::signal::Interrupt;
use linerate_model::output::Trial;

use crate::cli::args::ForwardArgs;
use crate::cli::session::Session;
use crate::cli::values::device::DevicePlace;
use linerate_endpoint::token;
use linerate_forward::Device;
use linerate_lab::dut::DutLab;
use linerate_model::failure::Failure;

/// The agent that the flags name; none where they name none.
pub(super) fn asked_for(
    args: &ForwardArgs,
    interrupt: &Interrupt,
) -> Result<Option<Arc<Device>>, Failure> {
    let device = match (&args.device, &args.device_command) {
        (Some(DevicePlace::Ssh(target)), _) => Device::over_ssh(target, dut::moved, interrupt)?,
        (Some(DevicePlace::Served { host, port }), _) => {
            let token = token::given(args.token_file.as_deref())?;
            Device::served(host, *port, token.as_ref(), dut::moved, interrupt)?
        }
        (None, Some(command)) => Device::behind_command(command, dut::moved, interrupt)?,
        (None, None) => return Ok(None),
    };
    Ok(Some(Arc::new(device)))
}

/// Counters of the lab's DUT; without them it is measured all the same.
pub(super) fn of_lab(lab: &DutLab, session: &mut Session) -> Option<Arc<Device>> {
    match Device::in_netns(lab.device().namespace(), dut::moved, &session.interrupt) {
        Ok(device) => Some(Arc::new(device)),
        Err(failure) => {
            session.console.say(&failure.to_string());
            None
        }
    }
}

/// Takes in who it is.
pub(super) fn meet(session: &mut Session, device: &Device) {
    session.device(device.host(), &device.settings());
    warn(session, device);
}

/// Takes in what it read around a trial.
pub(super) fn note(session: &mut Session, device: &Device, trial: &Trial) {
    session.samples(&device.take_samples(trial.id));
    warn(session, device);
}

fn warn(session: &mut Session, device: &Device) {
    if let Some(warning) = device.take_warning() {
        session.console.alert(&format!("warning: {warning}"));
    }
}

/// Records whether it reported until the end.
pub(super) fn part(session: &mut Session, device: &Device) {
    if let Some(forward) = &mut session.output.forward {
        forward.device = Some(device.source());
    }
}
