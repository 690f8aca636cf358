// SPDX-License-Identifier: MIT OR Apache-2.0
//! Error numbers of errno(3). They differ between processors: ENOBUFS is 105, and 132 on MIPS
//! (include/uapi/asm-generic/errno.h, arch/mips/include/uapi/asm/errno.h).

pub use libc::{
    EACCES, EAFNOSUPPORT, EBUSY, EINVAL, EIO, ENETDOWN, ENOBUFS, ENODEV, ENOMEM, ENOPROTOOPT,
    EOPNOTSUPP, EPERM,
};
