// SPDX-License-Identifier: MIT OR Apache-2.0
//! Agents on a device: the real program behind pipes and behind `serve`, agents that
//! are none. Nothing here is timed: deadlines are far beyond what is waited for.

mod hostile;

use crate::support::{Server, have_iperf3};
use linerate_diagnose::dut;
use linerate_forward::Device;
use linerate_linux::signal::Interrupt;
use linerate_model::failure::Failure;
use linerate_model::output::{Role, TrialDevice};

const OURS: &str = env!("CARGO_BIN_EXE_linerate");

#[cfg(test)]
fn behind(command: &str) -> Result<Device, String> {
    let device = Device::behind_command(command, dut::moved, &Interrupt::default());
    device.map_err(|failure| failure.to_string())
}

/// One trial without traffic, of as many ticks as a processor's shares need.
#[cfg(test)]
fn trial(device: &Device) -> Option<TrialDevice> {
    device.before();
    std::thread::sleep(std::time::Duration::from_millis(50));
    device.traffic_ended();
    device.after()
}

#[cfg(test)]
fn assert_tells(device: &Device) {
    assert_eq!(device.host().role, Role::Device);
    assert!(device.host().cpus.is_some_and(|cpus| cpus > 0));
    let reported = trial(device).unwrap();
    assert!(
        reported.elapsed_s > 0.0 && !reported.processors.is_empty(),
        "{reported:?}"
    );
    let samples = device.take_samples(7);
    assert!(samples.iter().all(|one| one.host == Role::Device));
    assert!(
        samples
            .iter()
            .all(|one| one.group.as_deref() == Some("trial-7"))
    );
    let times = |source: &str| samples.iter().filter(|one| one.source == source).count();
    assert_eq!(times("/proc/net/softnet_stat"), 2, "before and after");
    assert_eq!(device.take_samples(8), []);
    assert_eq!(device.take_warning(), None);
}

/// The host of a server as a device, for a client without a token.
fn served(server: &Server) -> Result<Device, Failure> {
    let uninterrupted = Interrupt::default();
    Device::served("127.0.0.1", server.port, None, dut::moved, &uninterrupted)
}

#[test]
fn an_agent_behind_pipes_tells_all() {
    let device = behind(&format!("{OURS} agent --stdio")).unwrap();
    assert_tells(&device);
    let settings = device.settings();
    assert!(settings.iter().all(|one| one.host == Role::Device));
    assert!(settings.iter().any(|one| one.source == "/proc/version"));
    assert_eq!(device.source().by, "command");
}

/// Its interfaces are of no benchmark network, so an unauthenticated client sees none.
#[test]
fn a_server_tells_an_unauthenticated_client_of_processors_and_protocols_only() {
    let server = Server::ours("");
    let device = served(&server).unwrap();
    assert_tells(&device);
    assert_eq!(device.host().hostname, None);
    assert_eq!(device.host().interfaces, []);
    assert_eq!(device.host().kernel, None);
    assert_eq!(device.settings(), []);
    drop(device);
    server.await_line("read as a device under test: 5 answers");
}

#[test]
fn a_device_that_disappears_costs_its_numbers_only_and_is_reported_once() {
    let server = Server::ours("");
    let device = served(&server).unwrap();
    assert!(trial(&device).is_some());
    drop(server);
    assert_eq!(trial(&device), None);
    let warning = device.take_warning().unwrap();
    assert!(
        warning.contains("the device stopped reporting"),
        "{warning}"
    );
    assert!(device.source().stopped.is_some());
    assert_eq!(trial(&device), None);
    assert_eq!(device.take_warning(), None);
}

#[test]
fn a_stock_server_is_no_agent() {
    if !have_iperf3() {
        return;
    }
    let server = Server::stock();
    let refused = served(&server).unwrap_err();
    assert!(refused.why.contains("unexpected answer"), "{refused}");
    assert!(refused.to_string().contains("--device ssh:HOST"));
}
