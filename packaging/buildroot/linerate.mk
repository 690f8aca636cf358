################################################################################
#
# linerate
#
################################################################################

# SPDX-License-Identifier: MIT OR Apache-2.0
# Needs Rust 1.90 or later (package/rustc).

LINERATE_VERSION = 0.1.0
LINERATE_SOURCE = linerate-$(LINERATE_VERSION).tar.gz
LINERATE_SITE = $(call qstrip,$(BR2_PACKAGE_LINERATE_SITE))
LINERATE_LICENSE = MIT or Apache-2.0
LINERATE_LICENSE_FILES = LICENSE-MIT LICENSE-APACHE
# No archive is published yet: SHA256SUMS next to it has its checksum.
BR_NO_CHECK_HASH_FOR += $(LINERATE_SOURCE)

# Cargo vendors and builds from the root, a virtual workspace. The profile `dist` optimises for size.
define LINERATE_BUILD_CMDS
	cd $(@D) && \
	$(TARGET_MAKE_ENV) \
		$(TARGET_CONFIGURE_OPTS) \
		$(PKG_CARGO_ENV) \
		cargo build \
			--offline \
			--locked \
			--profile dist \
			--package linerate
endef

define LINERATE_INSTALL_TARGET_CMDS
	$(INSTALL) -D -m 0755 $(@D)/target/$(RUSTC_TARGET_NAME)/dist/linerate \
		$(TARGET_DIR)/usr/bin/linerate
endef

$(eval $(cargo-package))
