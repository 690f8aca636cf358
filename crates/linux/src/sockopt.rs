// SPDX-License-Identifier: MIT OR Apache-2.0
//! Socket options that neither rustix nor socket2 offers, as integers and as bytes.
#![expect(
    unsafe_code,
    reason = "getsockopt and setsockopt of options without a safe wrapper"
)]

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use libc::{c_int, socklen_t};

/// Sets an option to a value without padding, in the kernel's layout; the kernel's errno on refusal (`ENOPROTOOPT`:
/// it is older than the option).
pub(crate) fn set<T: ?Sized>(
    fd: impl AsFd,
    level: c_int,
    name: c_int,
    value: &T,
) -> io::Result<()> {
    let raw = fd.as_fd().as_raw_fd();
    let length = size_of_val(value) as socklen_t;
    let value = std::ptr::from_ref(value).cast();
    // SAFETY: the pointer and length describe `value`, which the kernel only reads during the call.
    let result = unsafe { libc::setsockopt(raw, level, name, value, length) };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

pub(crate) fn set_int(fd: impl AsFd, level: c_int, name: c_int, value: c_int) -> io::Result<()> {
    set(fd, level, name, &value)
}

/// Reads an option into `value`; returns how many bytes the kernel wrote, fewer if it is older.
pub(crate) fn get_bytes(
    fd: impl AsFd,
    level: c_int,
    name: c_int,
    value: &mut [u8],
) -> io::Result<usize> {
    let raw = fd.as_fd().as_raw_fd();
    let mut length = value.len() as socklen_t;
    // SAFETY: the pointer and length describe `value`, exclusively borrowed; any bytes are valid in it.
    let result =
        unsafe { libc::getsockopt(raw, level, name, value.as_mut_ptr().cast(), &mut length) };
    if result == 0 {
        Ok((length as usize).min(value.len()))
    } else {
        Err(io::Error::last_os_error())
    }
}

pub(crate) fn get_int(fd: impl AsFd, level: c_int, name: c_int) -> io::Result<c_int> {
    let mut value = [0; size_of::<c_int>()];
    get_bytes(fd, level, name, &mut value)?;
    Ok(c_int::from_ne_bytes(value))
}

/// Whether an errno says that this kernel (or a seccomp filter) does not have the facility at all.
pub(crate) fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::ENOPROTOOPT | libc::EOPNOTSUPP | libc::ENOSYS)
    )
}
