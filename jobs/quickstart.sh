#!/bin/bash
# From a fresh Debian 12 or Ubuntu 24.04 to the answer: installs what is missing, builds, rehearses the shipped
# 10,000-card plan on all cores, prints the answer, and leaves the result file, a report of one HTML page
# and three plots in the output folder.
#   jobs/quickstart.sh [OUTPUT_FOLDER]      (default: quickstart)
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
output=$(mkdir -p "${1:-quickstart}" && cd "${1:-quickstart}" && pwd)

install_missing "${build_packages[@]}" "${analysis_packages[@]}"
build_program
use_one_node
remove_stale_segments

program=$root_folder/build/release/bin/windtunnel
plan=$root_folder/inputs/plans/pangu-ultra-moe-718b-10k-a2.toml
result=$output/pangu-ultra-moe-718b-10k-a2.h5

resume=()
[ -e "$result.journal" ] && resume=(--resume)       # an interrupted run goes on
[ -e "$result" ] && resume=(--overwrite)
on_all_cores "$program" rehearse "$plan" -o "$result" "${resume[@]}" | tee "$output/answer.txt"
test -s "$output/answer.txt"
PYTHONPATH=$root_folder/analysis "$PYTHON" -m windtunnel_results plot "$result" --output "$output" >&2
PYTHONPATH=$root_folder/analysis "$PYTHON" -m windtunnel_results report "$result" --output "${result%.h5}.html" >&2
echo "Result file: $result" >&2
echo "Report:      ${result%.h5}.html" >&2
echo "Plots: $output/pareto_front.png $output/memory_by_stage.png $output/useful_time.png" >&2
