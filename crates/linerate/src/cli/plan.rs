// SPDX-License-Identifier: MIT OR Apache-2.0
//! From flags to plans. What a value's parser cannot see, such as flags that only make sense
//! together, is decided here.

use linerate_model::output::IoMode;
use linerate_model::units::Rate;

use super::args::{LoadFlags, ServeArgs, TargetFlags, TcpArgs, UdpArgs};
use super::iperf2;
use super::values::PacedRate;
use linerate_endpoint::{Direction, Family, IPERF2_PORT, PORT, ServeOptions, TestPlan};
use linerate_model::failure::Failure;

/// The plan of `tcp`, for this host.
pub(super) fn tcp(args: &TcpArgs, host: &str) -> Result<TestPlan, Failure> {
    let mut plan = loaded(&args.load, &args.server.target, TestPlan::tcp(host));
    plan.payload_bytes = args.length;
    paced(&mut plan, args.bitrate)?;
    plan.mss = args.set_mss;
    plan.nodelay = args.no_delay;
    plan.congestion.clone_from(&args.congestion);
    if let Some(mode) = args.mode {
        (plan.tx_mode, plan.rx_mode) = (mode.tx, mode.rx);
    }
    if args.zerocopy {
        plan.tx_mode = IoMode::Sendfile;
    }
    iperf2::check(&plan, &args.server.lab)?;
    Ok(plan)
}

/// The plan of `udp`, for this host.
pub(super) fn udp(args: &UdpArgs, host: &str) -> Result<TestPlan, Failure> {
    let mut plan = loaded(&args.load, &args.server.target, TestPlan::udp(host));
    plan.payload_bytes = args.length;
    if args.bitrate.is_some_and(|paced| paced.burst.is_some()) && args.burst.is_some() {
        return Err(Failure::usage(
            "set the burst twice",
            "--bitrate RATE/BURST and --burst both name it",
        ));
    }
    paced(&mut plan, args.bitrate)?;
    plan.burst = args.burst.or(plan.burst);
    if let Some(mode) = args.mode {
        (plan.tx_mode, plan.rx_mode) = (mode.tx, mode.rx);
    }
    plan.counters_64bit = args.counters_64bit;
    plan.dont_fragment = args.dont_fragment;
    iperf2::check(&plan, &args.server.lab)?;
    Ok(plan)
}

/// How the server is reached.
pub(super) fn reached(target: &TargetFlags, plan: TestPlan) -> TestPlan {
    let device = target.bind.as_ref().and_then(|bind| bind.device.clone());
    TestPlan {
        port: target.port.unwrap_or(PORT),
        family: family(target.version4, target.version6),
        bind_address: target.bind.as_ref().map(|bind| bind.address),
        bind_device: target.bind_dev.clone().or(device),
        connect_timeout_ms: target.connect_timeout.unwrap_or(plan.connect_timeout_ms),
        ..plan
    }
}

/// What `serve` offers.
pub(super) fn serve(args: &ServeArgs) -> ServeOptions {
    let device = args.bind.as_ref().and_then(|bind| bind.device.clone());
    ServeOptions {
        port: args.port(),
        bind: args.bind.as_ref().map(|bind| bind.address),
        bind_device: args.bind_dev.clone().or(device),
        family: family(args.version4, args.version6),
        one_off: args.one_off,
        max_bits_per_second: args.max_rate,
        max_duration_s: args.max_time,
        max_streams: args.max_streams,
        max_tests: args.max_tests,
        idle_timeout_s: args.idle_timeout,
        quiet: args.quiet,
        log_file: args.log_file.clone(),
        iperf2: args.iperf2,
        metrics: args.metrics,
        token: None,
    }
}

fn loaded(load: &LoadFlags, target: &TargetFlags, plan: TestPlan) -> TestPlan {
    let plan = reached(target, plan);
    TestPlan {
        port: target
            .port
            .unwrap_or(if load.iperf2 { IPERF2_PORT } else { PORT }),
        direction: direction(load.reverse, load.bidir),
        streams: load.parallel,
        duration_ms: load.time.unwrap_or(plan.duration_ms),
        bytes: load.bytes,
        blocks: load.blockcount,
        omit_ms: load.omit.unwrap_or(0),
        interval_ms: load.interval.unwrap_or(plan.interval_ms),
        window_bytes: load.window,
        dscp: load.dscp,
        tos: load.tos,
        client_port: load.cport,
        affinity: load.affinity,
        title: load.title.clone(),
        server_output: load.get_server_output,
        fq_bits_per_second: load.fq_rate,
        receive_timeout_ms: load.rcv_timeout,
        send_timeout_ms: load.snd_timeout,
        iperf2: load.iperf2,
        ..plan
    }
}

pub(super) fn direction(reverse: bool, bidir: bool) -> Direction {
    match (reverse, bidir) {
        (_, true) => Direction::Both,
        (true, false) => Direction::Down,
        (false, false) => Direction::Up,
    }
}

fn family(version4: bool, version6: bool) -> Family {
    match (version4, version6) {
        (true, _) => Family::V4,
        (false, true) => Family::V6,
        (false, false) => Family::Any,
    }
}

/// The requested rate; packets per second depend on the payload.
fn paced(plan: &mut TestPlan, paced: Option<PacedRate>) -> Result<(), Failure> {
    let Some(PacedRate { rate, burst }) = paced else {
        return Ok(());
    };
    plan.burst = burst;
    plan.bits_per_second = match (rate, plan.payload_bytes) {
        (None, _) => None,
        (Some(Rate::Packets(_)), None) => {
            let why = "--bitrate in packets per second needs the payload of each";
            return Err(Failure::usage("turn packets into bits", why)
                .hint("add --length BYTES, such as -l 64"));
        }
        (Some(rate), payload) => rate
            .of_payload(payload.unwrap_or(0), None)
            .map(|bits| bits.whole()),
    };
    Ok(())
}
