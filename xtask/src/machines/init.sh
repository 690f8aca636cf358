#!/bin/busybox sh
# Process 1 of a guest. The kernel hands on PORT, MODULES, NICS (how many they drive; 1), ALSO (more modules), ADDRESS and ON
# (the interface that has it; eth0 if there is one) from its command line. Each line of the serial port PORT is
# `NAME SECONDS COMMAND`: the command runs at most this long in /tmp/out; its output goes to NAME.stdout and NAME.stderr,
# and `ended NAME STATUS` goes back. With BARE the clock was never set, there is no /etc, no HOME, and no file can be made:
# outputs go to a place that no command knows.
/bin/busybox mkdir -p /bin /sbin /usr/bin /usr/sbin /proc /sys /dev /tmp /run /real
/bin/busybox --install -s
export PATH=/opt:/real:/bin:/sbin:/usr/bin:/usr/sbin HOME=/tmp XDG_STATE_HOME=/tmp/state
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
mount -t tmpfs run /run
export OUT=/tmp/out
mkdir -p /dev/pts $OUT
mount -t devpts pts /dev/pts
mount -t debugfs debug /sys/kernel/debug
mount -t tracefs trace /sys/kernel/tracing
# The real ones come before those of busybox.
for program in ip tc ss; do
    for place in /usr/bin /usr/sbin /bin /sbin; do
        [ -f $place/$program ] && [ ! -L $place/$program ] && ln -s $place/$program /real/$program && break
    done
done
load() { for module in $(echo "$1" | tr , ' '); do modprobe "$module"; done; }
load "$MODULES"
ip link set lo up
wait_for() { tries=0; until eval "$1" || [ $tries = 150 ]; do sleep 0.1; tries=$((tries + 1)); done; }
first_interface() { ls /sys/class/net | grep -v '^lo$' | head -n 1; }
wait_for '[ -n "$(first_interface)" ]'
# Some drivers look for their cards after they are loaded. Interfaces of more modules come after all NICS.
wait_for '[ "$(ls /sys/class/net | grep -vc "^lo$")" -ge ${NICS:-1} ]'
load "$ALSO"
[ -e /sys/class/net/eth0 ] || ip link set "$(first_interface)" name eth0
ON=${ON:-eth0}
wait_for '[ -e /sys/class/net/$ON ]'
ip link set "$ON" up
ip addr add "$ADDRESS" dev "$ON"
wait_for '[ "$(cat /sys/class/net/$ON/carrier)" = 1 ]'

if [ -n "$BARE" ]; then
    unset HOME XDG_STATE_HOME
    OUT=/real/out
    umount /tmp /run
    rm -rf /etc /tmp /run
    mkdir -p $OUT
    mount -t tmpfs out $OUT
    # The kernel refuses a time before its own start.
    date -s @1000 >/dev/null
    mount -o remount,ro /
    cd /
else
    cd $OUT
fi
stty -F "/dev/$PORT" raw -echo -opost
exec 3<>"/dev/$PORT"
echo "ready after $(cut -d' ' -f1 /proc/uptime) s" >&3
commands() {
    while read -r name seconds command <&3; do
        timeout "$seconds" sh -c "$command" >"$OUT/$name.stdout" 2>"$OUT/$name.stderr" </dev/null
        echo "ended $name $?" >&3
    done
}
# What a command leaves running ends as a child of process 1. That interrupts a read of the shell, which then forgets the
# first part of its line: so another shell reads.
commands &
while :; do
    wait
    sleep 1
done
