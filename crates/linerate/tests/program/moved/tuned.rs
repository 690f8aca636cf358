// SPDX-License-Identifier: MIT OR Apache-2.0
//! tuned itself, where it is installed: it switches its profile during a test.

use super::{in_lab, moved, place, read};
use std::process::Command;

/// tuned has its folders to itself, and a profile with settings of a network namespace only. `$1`, `$2`: the net parts of
/// its profiles network-latency and network-throughput, without what belongs to the machine.
const SWITCHED: &str = r#"
mount --make-rprivate / && mount -t tmpfs none /run && mount -t tmpfs none /var/log
cp -a /etc/tuned etc && mkdir -p etc/one etc/two /run/tuned /var/log/tuned
printf '[sysctl]\nnet.ipv4.tcp_slow_start_after_idle=0\n' >etc/one/tuned.conf
printf '[sysctl]\nnet.ipv4.tcp_rmem="4096 87380 16777216"\nnet.ipv4.tcp_wmem="4096 16384 16777216"\n' >etc/two/tuned.conf
echo one >etc/active_profile; echo manual >etc/profile_mode
mount --bind etc /etc/tuned
tuned --no-dbus --no-socket --pid /run/tuned/pid --log log & tuned=$!
trap 'kill $tuned; wait $tuned' EXIT
applied() { for _ in $(seq 300); do grep -q "profile '$1' applied" log 2>/dev/null && return; sleep 0.1; done; false; }
applied one
"$L" tcp "$LINERATE_PEER" -t 4 --json-stream -o run | while read -r line; do
    case "$line" in
    '{"event":"start"'*) echo two >/etc/tuned/active_profile; kill -HUP $tuned; applied two ;;
    '{"event":"end"'*) printf '%s\n' "$line" >end ;;
    esac
done"#;

#[test]
fn a_profile_that_tuned_switches_during_a_test_is_named_as_its_work() {
    if let Err(why) = Command::new("tuned").arg("--version").output() {
        return println!("skipped: tuned cannot run here: {why}");
    }
    let place = place("tuned");
    let private = format!(
        "exec unshare -m sh -euc '{}'",
        SWITCHED.replace('\'', r"'\''")
    );
    let Some(output) = in_lab(&place, &private) else {
        return;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("mount:") || said.contains("unshare:") || said.contains("permitted") {
        return println!("skipped: no private mounts for tuned: {said}");
    }
    assert_eq!(output.status.code(), Some(0), "{said}");
    let document = &read(&place.join("end"))["data"];
    let names = moved(document);
    for name in [
        "net.ipv4.tcp_rmem",
        "net.ipv4.tcp_wmem",
        "net.ipv4.tcp_slow_start_after_idle",
    ] {
        assert!(
            names.contains(&format!("local {name}")),
            "{name}: {names:?}"
        );
    }
    let all = document["moved"].as_array().unwrap();
    let rmem = all.iter().find(|one| one["name"] == "net.ipv4.tcp_rmem");
    let rmem = rmem.unwrap();
    assert_eq!(rmem["after"], "4096 87380 16777216");
    assert_eq!(rmem["owner"], "tuned");
}
