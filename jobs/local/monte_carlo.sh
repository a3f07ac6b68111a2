#!/bin/bash
# Useful time of a plan's published layout under failures, until the 95 % interval is 0.5 % of the value.
#   jobs/local/monte_carlo.sh [PLAN] [RESULT.h5]
. "$(dirname "${BASH_SOURCE[0]}")/../environment.sh"
plan=${1:-$root_folder/inputs/plans/llama3-405b-16384-h100.toml}
result=${2:-monte_carlo.h5}
program=$root_folder/build/release/bin/windtunnel
[ -x "$program" ] || { install_missing "${build_packages[@]}"; build_program; }
use_one_node
on_all_cores "$program" avail "$plan" --half-width 0.5% -o "$result" --resume
