#!/bin/bash
# Submits a sweep, the rehearsal of the same plan after it, and the report of the rehearsal after that. Prints the job ids.
#   jobs/slurm/submit_chain.sh PLAN FOLDER [SBATCH_OPTION...]
# Run it in the top folder of the project. A link that fails cancels those behind it.
set -eu
[ $# -ge 2 ] || { sed -n '2,4p' "$0" >&2; exit 2; }
plan=$1 folder=$2
shift 2
[ -r "$plan" ] || { echo "PLAN: cannot read \"$plan\"" >&2; exit 2; }
mkdir -p "$folder"
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
submit() { sbatch --parsable --export=ALL --kill-on-invalid-dep=yes "$@"; }

sweep=$(PLAN=$plan RESULT=$folder/sweep.h5 submit "$@" "$scripts/sweep.sbatch")
echo "sweep: job $sweep"
rehearsal=$(PLAN=$plan RESULT=$folder/rehearsal.h5 submit --dependency="afterok:$sweep" "$@" "$scripts/rehearsal.sbatch")
echo "rehearsal: job $rehearsal"
report=$(RESULT=$folder/rehearsal.h5 submit --dependency="afterok:$rehearsal" "$@" --ntasks=1 "$scripts/report.sbatch")
echo "report: job $report"
