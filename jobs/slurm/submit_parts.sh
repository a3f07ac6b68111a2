#!/bin/bash
# Submits one sweep as arrays of parts, cut to what one array may hold, and a job that gathers them. Prints the job ids.
#   jobs/slurm/submit_parts.sh PLAN RESULT.h5 PARTS [SBATCH_OPTION...]
# Run it in the top folder of the project. Part I computes every PARTS-th block; a part that is cut off is requeued.
set -eu
[ $# -ge 3 ] || { sed -n '2,4p' "$0" >&2; exit 2; }
plan=$1 result=$2 parts=$3
shift 3
[[ $parts =~ ^[1-9][0-9]{0,6}$ ]] || { echo "PARTS: \"$parts\" (expected a count from 1 to 9,999,999)" >&2; exit 2; }
[ -r "$plan" ] || { echo "PLAN: cannot read \"$plan\"" >&2; exit 2; }
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# Indexes of one array go from 0 to MaxArraySize - 1.
largest=${MAX_ARRAY_SIZE:-$(scontrol show config | sed -n 's/^MaxArraySize *= *//p')}
[[ $largest =~ ^[1-9][0-9]*$ ]] || { echo "Slurm does not say its MaxArraySize; set MAX_ARRAY_SIZE" >&2; exit 1; }

dependency=afterany
for ((first = 0; first < parts; first += largest)); do
    last=$((parts - first < largest ? parts - first - 1 : largest - 1))
    job=$(PLAN=$plan RESULT=$result PARTS=$parts FIRST=$first \
        sbatch --parsable --export=ALL --array="0-$last" "$@" "$folder/part.sbatch")
    echo "parts $first to $((first + last)): job $job"
    dependency+=:$job
done
# afterany, not afterok: a part that failed for good would leave the gathering waiting for ever; gather itself tells
# whether blocks are missing.
job=$(RESULT=$result sbatch --parsable --export=ALL --dependency="$dependency" "$@" "$folder/gather.sbatch")
echo "gather: job $job"
