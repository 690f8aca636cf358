// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why a port could not be opened, and the remedy for the kernel's error number.

use std::io::ErrorKind;

use linerate_linux::errno;
use linerate_linux::port::{OpenError, Refused};

use linerate_model::failure::Failure;

/// What was run last is the plainest way: its answer decides what to try.
pub(super) fn failure(interface: &str, why: &OpenError) -> Failure {
    let hint = why.refused.last().map(|last| hint(interface, last));
    let failure = Failure::measuring(format!("use {interface} as a port"), why);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

fn hint(interface: &str, refused: &Refused) -> String {
    let (xdp, error) = (refused.backend.is_xdp(), &refused.source);
    match (error.kind(), error.raw_os_error()) {
        (ErrorKind::PermissionDenied, _) if xdp => {
            "root, or CAP_NET_RAW, CAP_NET_ADMIN and CAP_BPF; or --backend af_packet_mmsg"
                .to_owned()
        }
        (ErrorKind::PermissionDenied, _) => "root, or CAP_NET_RAW and CAP_NET_ADMIN".to_owned(),
        (ErrorKind::NetworkDown, _) => {
            format!("ip link set {interface} up; then check cable and device")
        }
        (_, Some(errno::ENODEV)) => "`linerate inspect` lists the interfaces".to_owned(),
        (ErrorKind::OutOfMemory, _) | (_, Some(errno::ENOBUFS)) if xdp => {
            "ulimit -l unlimited: its frames are in locked memory; or --backend af_packet_mmsg"
                .to_owned()
        }
        (ErrorKind::OutOfMemory, _) | (_, Some(errno::ENOBUFS)) => {
            "free memory: a port's frames wait in up to 64 MiB of the kernel's (free -m)".to_owned()
        }
        (ErrorKind::ResourceBusy, _) => format!(
            "end the program that has the interface's queues, or ip link set {interface} xdp off; \
             or --backend af_packet_mmsg"
        ),
        (ErrorKind::InvalidInput, _) if xdp => format!(
            "smaller --sizes or another MTU of {interface}: a frame must fit a page; or --backend af_packet_mmsg"
        ),
        (ErrorKind::InvalidInput, _) => {
            "smaller --sizes, or another --backend: the kernel does not take such a ring".to_owned()
        }
        (ErrorKind::Unsupported, _)
        | (_, Some(errno::EAFNOSUPPORT | errno::ENOPROTOOPT | errno::EOPNOTSUPP)) => {
            "another --backend, or none: this kernel or driver lacks that one".to_owned()
        }
        _ => format!("dmesg; linerate inspect {interface}; or another --backend"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_linux::errno::*;
    use linerate_linux::port::Backend;
    use std::io;

    fn refused(backend: Backend, source: io::Error) -> Refused {
        Refused {
            backend,
            receiving: false,
            op: "open",
            source,
        }
    }

    fn run(errno: i32, backend: Backend) -> String {
        let source = io::Error::from_raw_os_error(errno);
        hint("eth7", &refused(backend, source))
    }

    #[test]
    fn what_to_try_fits_the_kernels_answer() {
        let (ring, xdp) = (Backend::AfPacketRing, Backend::AfXdpCopy);
        for (errno, backend, word) in [
            (EPERM, ring, "CAP_NET_RAW"),
            (EACCES, ring, "CAP_NET_RAW"),
            (EPERM, xdp, "CAP_BPF"),
            (ENOMEM, ring, "free memory"),
            (ENOBUFS, ring, "free memory"),
            (ENOBUFS, xdp, "ulimit -l"),
            (EBUSY, xdp, "eth7 xdp off"),
            (ENODEV, ring, "inspect` lists"),
            (EINVAL, ring, "smaller --sizes"),
            (EINVAL, xdp, "MTU of eth7"),
            (EOPNOTSUPP, xdp, "lacks that one"),
            (EAFNOSUPPORT, xdp, "lacks that one"),
            (ENOPROTOOPT, ring, "lacks that one"),
            (ENETDOWN, ring, "ip link set eth7 up"),
            (EIO, ring, "dmesg; linerate inspect eth7"),
        ] {
            let hint = run(errno, backend);
            assert!(hint.contains(word), "{errno} {backend}: {hint}");
            let of_rights = hint.contains("CAP_");
            assert_eq!(
                of_rights,
                [EPERM, EACCES].contains(&errno),
                "{errno}: {hint}"
            );
        }
    }

    #[test]
    fn the_last_answer_decides() {
        let of = |backend, errno| refused(backend, io::Error::from_raw_os_error(errno));
        let why = OpenError {
            interface: "eth7".to_owned(),
            refused: vec![
                of(Backend::AfXdpCopy, EPERM),
                of(Backend::AfPacketRing, ENOMEM),
            ],
        };
        let failure = failure("eth7", &why);
        assert_eq!(failure.what, "use eth7 as a port");
        assert!(
            failure.why.contains("af_xdp_copy sending"),
            "{}",
            failure.why
        );
        assert!(
            failure
                .try_
                .is_some_and(|hint| hint.starts_with("free memory"))
        );
    }
}
