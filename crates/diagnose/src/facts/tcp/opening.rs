// SPDX-License-Identifier: MIT OR Apache-2.0
//! How the connections of a test were opened: whether the server's accept queue had room for them.

use linerate_model::output::{Protocol, Role};

use crate::evidence::{Evidence, Source};
use crate::facts::Facts;
use crate::facts::vantage::{Vantage, vantages};

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    let of_server = |vantage: &Vantage<'_>| {
        let tcp = |test: &linerate_model::output::Test| test.protocol == Protocol::Tcp;
        vantage.host == Role::Remote && vantage.test.is_some_and(tcp)
    };
    for server in vantages(evidence).into_iter().filter(of_server) {
        overflows(&server.as_host(), facts);
    }
}

/// Streams are opened before the load begins, in what counts as the idle interval.
fn overflows(server: &Vantage<'_>, facts: &mut Facts) {
    let before = server.host_counters().idle(Source::Netstat, OVERFLOWS);
    let during = server.of_host(Source::Netstat, OVERFLOWS);
    let known = before.is_some() || during.is_some();
    let all = before.unwrap_or(0) + during.map_or(0, |counted| counted.value);
    let all = known.then_some(all as f64);
    server.add(facts, "listen_overflows", all, SOURCE);
}

const OVERFLOWS: &str = "TcpExtListenOverflows";
const SOURCE: &str = "/proc/net/netstat TcpExtListenOverflows, from before the streams were opened";

#[cfg(test)]
mod tests {
    use linerate_model::output::Role;
    use linerate_model::sample::Phase;

    use crate::fixtures::{Fixture, run, tcp};

    const NETSTAT: &str = "/proc/net/netstat";

    fn fires(role: Role, phase: Phase, overflows: u64) -> bool {
        let counts = [("TcpExtListenOverflows", overflows)];
        let mut record = run(vec![tcp("t1", 30e6)]).counted("t1", role, NETSTAT, &counts);
        record
            .samples
            .iter_mut()
            .for_each(|sample| sample.phase = Some(phase));
        record.findings().contains(&"S40".to_owned())
    }

    #[test]
    fn connections_that_found_the_servers_queue_full() {
        for phase in [Phase::Idle, Phase::Load] {
            assert!(fires(Role::Remote, phase, 9));
            assert!(!fires(Role::Remote, phase, 0));
        }
        assert!(
            !fires(Role::Local, Phase::Load, 9),
            "another program of the client's host"
        );
    }
}
