// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fills gaps in TCP tests with the sender's `ss -ti` of the same state.

use linerate_model::output::{Protocol, Quantiles, Test};
use linerate_model::setting::Setting;

use linerate_model::record::Side;

/// Adds what the sender's kernel measured.
pub(super) fn fill(tests: &mut [Test], settings: &[Setting]) {
    for test in tests
        .iter_mut()
        .filter(|test| test.protocol == Protocol::Tcp)
    {
        let sender = Side::Sender.role(test);
        let mut setting = settings.iter();
        let setting = setting.find(|setting| setting.host == sender && setting.source == "ss -ti");
        if let Some(setting) = setting {
            take(test, setting);
        }
    }
}

fn take(test: &mut Test, setting: &Setting) {
    let number = |name: &str| setting.values.get(name)?.parse::<f64>().ok();
    let us = |name: &str| {
        number(name)
            .filter(|ms| (0.0..1e12).contains(ms))
            .map(|ms| (ms * 1e3) as u64)
    };
    test.rtt_ns = test.rtt_ns.or_else(|| {
        let ns = |ms: f64| (ms * 1e6) as i64;
        let rtt = number("rtt").filter(|ms| (0.0..1e9).contains(ms))?;
        let least = number("minrtt").unwrap_or(rtt);
        Some(Quantiles {
            min: ns(least),
            p50: ns(rtt),
            p99: ns(rtt),
            p999: ns(rtt),
            max: ns(rtt),
        })
    });
    let mss = number("mss").filter(|mss| (1.0..65_536.0).contains(mss));
    test.mss_bytes = test.mss_bytes.or(mss.map(|mss| mss as u32));
    let paced = number("pacing_rate").filter(|rate| (1.0..1e15).contains(rate));
    // The rate of one connection says nothing of several.
    let paced = paced.filter(|_| test.streams == 1);
    test.pacing_bits_per_second = test.pacing_bits_per_second.or(paced);
    test.busy_time_us = test.busy_time_us.or_else(|| us("busy"));
    // `ss` does not print a timer that never ran.
    let ran = test.busy_time_us.is_some();
    let watch = |known: Option<u64>, name| known.or_else(|| us(name).or_else(|| ran.then_some(0)));
    test.rwnd_limited_us = watch(test.rwnd_limited_us, "rwnd_limited");
    test.sndbuf_limited_us = watch(test.sndbuf_limited_us, "sndbuf_limited");
    if test.congestion.is_none() {
        test.congestion = setting.values.get("congestion").cloned();
    }
}
