#!/bin/bash
# Both commands of the README on a bare Debian 12: a root made by debootstrap from this machine's own package source, a
# clone of this repository in it, everything as root in a chroot. Needs root. Keeps the root with KEEP=1.
#   tests/bare.sh [FOLDER]          (default: a new folder below ${TMPDIR:-/tmp}; about 4 GB)
set -eu
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
[ "$(id -u)" -eq 0 ] || { echo "tests/bare.sh: debootstrap and chroot need root" >&2; exit 2; }
command -v debootstrap >/dev/null || { echo "tests/bare.sh: install debootstrap" >&2; exit 2; }
suite=bookworm
bare=$(mkdir -p "${1:-${TMPDIR:-/tmp}}" && mktemp -d "${1:-${TMPDIR:-/tmp}}/windtunnel-bare.XXXXXX")

# The package source that this machine itself uses for the suite: one-line and deb822 formats.
mirror=$({ cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
        sed -E -n "s/^deb +(\[[^]]*\] +)?([^ ]+) +$suite .*/\2/p"
    awk -v suite="$suite" 'BEGIN { RS = ""; FS = "\n" } {
        uri = ""; found = 0
        for (i = 1; i <= NF; i++) {
            if ($i ~ /^URIs:/) { split($i, word, /[ \t]+/); uri = word[2] }
            if ($i ~ /^Suites:/ && $i ~ "[ \t]" suite "([ \t]|$)") found = 1
        }
        if (found && uri != "") print uri }' /etc/apt/sources.list.d/*.sources 2>/dev/null; } | head -n 1)
[ -n "$mirror" ] || { echo "tests/bare.sh: no apt source for $suite on this machine" >&2; exit 1; }

mounted=()
clean_up() {
    local place
    for place in "${mounted[@]}"; do umount -l "$place" 2>/dev/null || true; done
    if [ "${KEEP:-0}" = 1 ]; then echo "kept: $bare" >&2; else rm -rf --one-file-system "$bare"; fi
}
trap clean_up EXIT

debootstrap --variant=minbase "$suite" "$bare/root" "$mirror" >"$bare/debootstrap.log" 2>&1 ||
    { tail -n 20 "$bare/debootstrap.log" >&2; exit 1; }
# The machine's own way to its packages: sources, keys, certificates, proxies, name resolution.
rm -rf "$bare/root/etc/apt/sources.list.d" "$bare/root/etc/apt/sources.list"
for place in /etc/apt/sources.list /etc/apt/sources.list.d /etc/apt/apt.conf /etc/apt/apt.conf.d /etc/apt/keyrings \
    /etc/apt/trusted.gpg.d /etc/apt/auth.conf.d /etc/ssl/certs /usr/local/share/ca-certificates /usr/share/keyrings; do
    [ -e "$place" ] || continue
    mkdir -p "$bare/root$(dirname "$place")"
    cp -a "$place" "$bare/root$(dirname "$place")/"
done
[ -e /etc/resolv.conf ] && cp -L /etc/resolv.conf "$bare/root/etc/resolv.conf"
cp -L /etc/hosts "$bare/root/etc/hosts" 2>/dev/null || true
for place in proc dev dev/shm; do
    mkdir -p "$bare/root/$place"
    case $place in
        proc) mount -t proc proc "$bare/root/proc" 2>/dev/null || mount --rbind /proc "$bare/root/proc" ;;
        dev) mount --bind /dev "$bare/root/dev" ;;
        dev/shm) mount -t tmpfs tmpfs "$bare/root/dev/shm" ;;
    esac
    mounted=("$bare/root/$place" "${mounted[@]}")
done

git clone -q "$repository" "$bare/root/srv/windtunnel"
inside() {
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
        chroot "$bare/root" /bin/bash -c "cd /srv/windtunnel && $1" </dev/null
}

echo "== jobs/quickstart.sh on a bare machine"
inside jobs/quickstart.sh >"$bare/answer.txt" 2>"$bare/quickstart.log" || { tail -n 40 "$bare/quickstart.log" >&2; exit 1; }
cat "$bare/answer.txt"
grep -qi 'layout' "$bare/answer.txt"
grep -qi 'time to' "$bare/answer.txt"
for file in pangu-ultra-moe-718b-10k-a2.h5 pareto_front.png memory_by_stage.png useful_time.png; do
    test -s "$bare/root/srv/windtunnel/quickstart/$file" || { echo "missing: quickstart/$file" >&2; exit 1; }
done

echo "== tests/run.sh on a bare machine"
inside tests/run.sh >"$bare/tests.log" 2>&1 || { tail -n 60 "$bare/tests.log" >&2; exit 1; }
grep -E '^[0-9]+% tests passed' "$bare/tests.log"
tail -n 1 "$bare/tests.log" | grep -qE '^[1-9][0-9]* passed, 0 failed$'
inside "h5dump -H quickstart/pangu-ultra-moe-718b-10k-a2.h5" >/dev/null
echo "both README commands work on a bare machine"
