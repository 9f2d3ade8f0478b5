#!/bin/busybox sh
# The first process of a guest: mounts, runs /lab/run, hands the results over, ends.
export PATH=/lab/bin:/bin:/sbin:/usr/bin:/usr/sbin HOME=/root TERM=dumb LANG=C.UTF-8
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm /dev/hugepages
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs tmpfs /tmp
mount -t tmpfs tmpfs /run
mount -t hugetlbfs hugetlbfs /dev/hugepages
mount -t debugfs debugfs /sys/kernel/debug
mount -t cgroup2 cgroup2 /sys/fs/cgroup
for controller in cpuset memory; do echo +$controller >/sys/fs/cgroup/cgroup.subtree_control; done
ip link set lo up
for module in /lab/modules/*; do
    [ -e "$module" ] || continue
    case $module in *.xz) xz -dc "$module" >/tmp/module.ko && module=/tmp/module.ko ;; esac
    insmod "$module"
done
rm -f /tmp/module.ko
hostname guest
chmod 1777 /tmp /out
# The disk that takes the results, whatever other disks the guest has.
for disk in /sys/block/nvme*; do
    case $(cat $disk/device/serial) in nearfar-lab*) results=/dev/${disk##*/} ;; esac
done
cd /tmp
# Deaths until then say nothing of the script, and the guest is booted again.
echo "nearfar-lab: begins" >/dev/console
sh /lab/run </dev/null >/out/stdout 2>/out/stderr
echo $? >/out/status
uname -r >/out/release
tar -C /out -cf $results .
sync
poweroff -f
