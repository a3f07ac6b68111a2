# Sourced by the job scripts of this folder: a step that stops in good order and comes back.
#   WINDTUNNEL   the program (default: build/release/bin/windtunnel below the folder of submission)
# Slurm sends USR1 to the batch script before the time limit (#SBATCH --signal=B:USR1@...). The program finishes the
# blocks in hand, writes its journal and ends with 75; the job is requeued and --resume goes on where it stopped.
program=${WINDTUNNEL:-${SLURM_SUBMIT_DIR:-.}/build/release/bin/windtunnel}
export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1}
export SRUN_CPUS_PER_TASK=${SLURM_CPUS_PER_TASK:-1}    # srun of Slurm 22.05 and later no longer takes it from the job
export OMPI_MCA_mpi_yield_when_idle=${OMPI_MCA_mpi_yield_when_idle:-1}

# interruptible WORD...: windtunnel WORD... on all ranks of the job; requeues the job when it was interrupted.
interruptible() {
    local step code signalled=no
    # -K1: without it srun waits for ever when a rank dies.
    srun -K1 --mpi=pmix "$program" "$@" --resume --no-progress &
    step=$!
    trap 'signalled=yes; kill -USR1 "$step"' USR1
    while :; do
        wait "$step"; code=$?
        [ "$code" -gt 128 ] && kill -0 "$step" 2>/dev/null && continue      # wait was broken by the signal
        break
    done
    trap - USR1
    # The first rank that ends with 75 makes -K1 end the others: the code of the step may be theirs. The journal is whole.
    if [ "$code" -eq 75 ] || { [ "$signalled" = yes ] && [ "$code" -ne 0 ]; }; then
        echo "interrupted after its journal was written: requeue" >&2
        scontrol requeue "$SLURM_JOB_ID"
    fi
    return "$code"
}
