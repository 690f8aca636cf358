// SPDX-License-Identifier: MIT OR Apache-2.0
use super::Server;
use crate::engine::plan::ServeOptions;
use crate::error::Failure;
pub(super) struct Listener;
impl Listener {
    pub(super) fn bind(_options: &ServeOptions) -> Result<Self, Failure> {
        Err(Failure::measuring("serve iperf2", "not built yet"))
    }
    pub(super) fn serve(self, _server: &Server<'_>) {}
}
