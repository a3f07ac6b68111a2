#!/bin/bash
# Searches the layouts of a plan on all cores and prints the best ones. Safe to start again after an interruption.
#   jobs/local/sweep.sh [PLAN] [RESULT.h5]
. "$(dirname "${BASH_SOURCE[0]}")/../environment.sh"
plan=${1:-$root_folder/inputs/plans/pangu-ultra-moe-718b-10k-a2.toml}
result=${2:-sweep.h5}
program=$root_folder/build/release/bin/windtunnel
[ -x "$program" ] || { install_missing "${build_packages[@]}"; build_program; }
use_one_node
on_all_cores "$program" search "$plan" --store all --top 20 -o "$result" --resume
