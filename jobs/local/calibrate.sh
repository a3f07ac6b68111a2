#!/bin/bash
# Fits every shipped set again from the shipped rows, in place, with the errors of each source left out.
#   jobs/local/calibrate.sh [INPUTS_FOLDER] [RESULT.h5]
. "$(dirname "${BASH_SOURCE[0]}")/../environment.sh"
inputs=${1:-$root_folder/inputs}
result=${2:-calibrate.h5}
program=$root_folder/build/release/bin/windtunnel
[ -x "$program" ] || { install_missing "${build_packages[@]}"; build_program; }
use_one_node
WINDTUNNEL_INPUTS=$inputs on_all_cores "$program" calibrate --starts 2 --resamples 40 --write "$inputs/calibrations" \
    --leave-one-source-out "$inputs/measurements/train/leave_one_source_out.toml" -o "$result" --overwrite
