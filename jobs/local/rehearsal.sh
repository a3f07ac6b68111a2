#!/bin/bash
# The whole plan: best layout, then its campaign of weeks under failures. Safe to start again after an interruption.
#   jobs/local/rehearsal.sh [PLAN] [RESULT.h5]
. "$(dirname "${BASH_SOURCE[0]}")/../environment.sh"
plan=${1:-$root_folder/inputs/plans/pangu-ultra-moe-718b-6144-a2.toml}
result=${2:-rehearsal.h5}
program=$root_folder/build/release/bin/windtunnel
[ -x "$program" ] || { install_missing "${build_packages[@]}"; build_program; }
use_one_node
on_all_cores "$program" rehearse "$plan" -o "$result" --resume
