#!/bin/bash
# Stops what cluster_up.sh started in FOLDER, and nothing else.
#   tests/slurm/cluster_down.sh FOLDER
folder=$(cd "$1" && pwd) || exit 1
export SLURM_CONF=$folder/slurm.conf
gone() { [ ! -d "/proc/$1" ] || grep -q '^State:.*Z' "/proc/$1/status" 2>/dev/null; }
jobs=$(timeout 5 squeue -h -o %A 2>/dev/null | sort -u)
[ -n "$jobs" ] && timeout 10 scancel -f $jobs 2>/dev/null
for ((i = 0; i < 100; i++)); do
    timeout 5 squeue -h -t RUNNING,COMPLETING 2>/dev/null | grep -q . || break
    sleep 0.1
done
for file in "$folder"/run/slurmd.*.pid "$folder"/run/slurmctld.pid "$folder"/run/munged.pid; do
    [ -f "$file" ] || continue
    pid=$(cat "$file")
    kill "$pid" 2>/dev/null
    for ((i = 0; i < 100; i++)); do gone "$pid" && break; sleep 0.05; done
    gone "$pid" || kill -9 "$pid"
done
true
