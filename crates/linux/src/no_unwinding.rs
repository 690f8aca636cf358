// SPDX-License-Identifier: MIT OR Apache-2.0
//! The unwinder of a program without tables to unwind by (`cfg(no_unwinding)`, which `cargo xtask dist` sets where it discards
//! them). The standard library prints a backtrace of no frames there in any case; with an unwinder that the optimiser sees to
//! be empty, the readers of DWARF and ELF and the real unwinder are not linked: 0.27 MiB.
#![expect(
    unsafe_code,
    reason = "the names of the C++ ABI for exception handling, which the linker looks for"
)]

use std::ffi::{c_int, c_void};

/// Calls `trace` for no frame.
// SAFETY: The only other definition is that of libunwind, in an archive of which nothing is linked: all names that it is
// needed for are defined here.
#[unsafe(no_mangle)]
extern "C" fn _Unwind_Backtrace(_trace: *const c_void, _argument: *mut c_void) -> c_int {
    END_OF_STACK
}

/// `_URC_END_OF_STACK`.
const END_OF_STACK: c_int = 5;

/// What is called only while a stack is unwound.
macro_rules! never {
    ($($name:ident)*) => {$(
        // SAFETY: As above.
        #[unsafe(no_mangle)]
        extern "C" fn $name() -> ! {
            std::process::abort()
        }
    )*};
}

never! {
    _Unwind_GetDataRelBase _Unwind_GetIP _Unwind_GetIPInfo _Unwind_GetLanguageSpecificData _Unwind_GetRegionStart
    _Unwind_GetTextRelBase _Unwind_Resume _Unwind_SetGR _Unwind_SetIP
}
