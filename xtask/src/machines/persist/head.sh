# Run by proof.service of a guest as soon as its boot is complete. The cards are known by their place, whatever they are called.
name() { ls -d /sys/bus/pci/devices/0000:00:$1.0/net/* /sys/bus/pci/devices/0000:00:$1.0/virtio*/net/* 2>/dev/null | sed 's,.*/,,'; }
cards() { A=$(name 05) B=$(name 06) C=$(name 07) V=$(name 08); }
wait_for() { tries=0; until eval "$1" || [ $tries = 300 ]; do sleep 0.2; tries=$((tries + 1)); done; }
value() { tr '\n\t' '  ' | tr -s ' '; echo; }
row() { printf 'row %s %s: ' "$1" "$2"; value; }
irq() { for n in $(ls /sys/class/net/$1/device/msi_irqs /sys/class/net/$1/device/../msi_irqs 2>/dev/null | sort -n); do
    grep -E "^ *$n:.*(-rx-0|-input.0)\$" /proc/interrupts; done | head -n 1 | cut -d: -f1 | tr -d ' '; }
# A target is reached before all devices have appeared.
wait_for 'cards; [ "$A" ] && [ "$B" ] && [ "$C" ] && [ "$V" ]'
udevadm settle
cards
for one in $A $B $C $V; do wait_for "[ \"\$(cat /sys/class/net/$one/carrier)\" = 1 ]"; done
wait_for '[ "$(systemctl list-jobs --no-legend | grep -cv proof)" = 0 ]'
echo "cards A=$A B=$B C=$C V=$V"
