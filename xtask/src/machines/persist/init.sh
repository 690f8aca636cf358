#!/bin/busybox sh
# Process 1 of the initramfs: what the disk needs is loaded, and the Debian on it is started.
/bin/busybox mkdir -p /sbin /usr/bin /usr/sbin /proc /sys /dev /disk
/bin/busybox --install -s
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for module in virtio_pci virtio_blk crc32c_generic ext4; do modprobe $module; done
until [ -b /dev/vda ]; do sleep 0.1; done
mount -t ext4 /dev/vda /disk || poweroff -f
for place in proc sys dev; do mount --move /$place /disk/$place; done
exec switch_root /disk /sbin/init
