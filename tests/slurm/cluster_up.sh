#!/bin/bash
# A private Slurm on loopback, for tests: one controller and N nodes on this machine; prints the environment to use.
#   eval "$(tests/slurm/cluster_up.sh FOLDER [NODES] [CPUS_PER_NODE])"        end it with cluster_down.sh FOLDER
# Source of the settings: slurm.conf(5), Slurm 22.05; several slurmd on one host are allowed by Debian's build.
set -eu
folder=$(mkdir -p "$1" && cd "$1" && pwd) nodes=${2:-2} cpus=${3:-2} port=${SLURM_BASE_PORT:-17000}
host=$(uname -n | cut -d. -f1)
export SLURM_CONF=$folder/slurm.conf
mkdir -p "$folder"/{state,log,run,munge}
chmod 700 "$folder/munge"; chmod 755 "$folder" "$folder/run"
[ -f "$folder/munge/key" ] || (umask 077; dd if=/dev/urandom of="$folder/munge/key" bs=128 count=1 status=none)
# TmpFS of each node is a folder of its own: with one for all, two nodes trip over each other's PMIx folder.
cat > "$SLURM_CONF" <<EOF
ClusterName=windtunnel
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/run/munge.socket
CredType=cred/munge
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SrunPortRange=$((port + 100))-$((port + 299))
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool.%n
TmpFS=$folder/tmp.%n
SlurmctldPidFile=$folder/run/slurmctld.pid
SlurmdPidFile=$folder/run/slurmd.%n.pid
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=2,bf_interval=2,batch_sched_delay=0,sched_min_interval=100000
MaxArraySize=${MAX_ARRAY_SIZE_OF_TEST:-1001}
JobRequeue=1
ReturnToService=2
SlurmctldTimeout=30
SlurmdTimeout=15
KillWait=5
MinJobAge=600
InactiveLimit=0
SlurmdParameters=config_overrides
NodeName=n[1-$nodes] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((port + 11))-$((port + 10 + nodes))] CPUs=$cpus Boards=1 SocketsPerBoard=1 CoresPerSocket=$cpus ThreadsPerCore=1 RealMemory=2000 State=UNKNOWN
PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE State=UP
EOF
munged --socket="$folder/run/munge.socket" --key-file="$folder/munge/key" --pid-file="$folder/run/munged.pid" \
    --log-file="$folder/munge/munged.log" --seed-file="$folder/munge/seed" --num-threads=2 >&2
slurmctld -i >&2
for ((i = 1; i <= nodes; i++)); do
    mkdir -p "$folder/spool.n$i" "$folder/tmp.n$i"
    slurmd -N "n$i" >&2
done
for ((i = 0; i < 300; i++)); do
    up=$(sinfo -h -N -t idle -o %N 2>/dev/null | sort -u | wc -l) || up=0
    [ "$up" -eq "$nodes" ] && break
    sleep 0.1
done
[ "$up" -eq "$nodes" ] || { sinfo -N -l >&2 || true; tail -n 20 "$folder"/log/* >&2; exit 1; }
echo "export SLURM_CONF=$SLURM_CONF"
