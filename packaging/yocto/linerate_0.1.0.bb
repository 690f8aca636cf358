# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Yocto: put linerate-0.1.0.tar.gz, which `cargo xtask dist --packages` writes, into a directory
# `files` next to this recipe. `bitbake -c update_crates linerate` writes linerate-crates.inc, the
# list of crates. The recipe needs Rust 1.90 or later.

SUMMARY = "Measure a network link and explain what limits it"
DESCRIPTION = "Measures TCP and UDP in both directions, shows where each lost packet died and why, \
and is compatible with iperf3."
SECTION = "console/network"
LICENSE = "MIT | Apache-2.0"
LIC_FILES_CHKSUM = " \
    file://LICENSE-MIT;md5=78a140c910e6e633bc00b0b668e8dcb5 \
    file://LICENSE-APACHE;md5=22a53954e4e0ec258dfce4391e905dac \
"

SRC_URI = "file://linerate-${PV}.tar.gz"
include ${BPN}-crates.inc

inherit cargo cargo-update-recipe-crates systemd

# The project's profile `dist` is built for size; `release` is for its developers. Yocto 6.1 and later read the first name,
# earlier ones the second.
CARGO_PROFILE = "dist"
BUILD_MODE = "--profile dist"
CARGO_TARGET_SUBDIR = "${RUST_HOST_SYS}/dist"
CARGO_BUILD_FLAGS:append = " --package linerate"

# The service is installed, and neither enabled nor started.
SYSTEMD_SERVICE:${PN} = "linerate.service"
SYSTEMD_AUTO_ENABLE = "disable"

do_install:append() {
    if ${@bb.utils.contains('DISTRO_FEATURES', 'systemd', 'true', 'false', d)}; then
        install -D -m 0644 ${S}/packaging/systemd/linerate.service \
            ${D}${systemd_system_unitdir}/linerate.service
    fi
}
