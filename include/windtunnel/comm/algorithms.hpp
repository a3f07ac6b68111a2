#pragma once
/// Algorithms of collectives on one tier: rounds, volume, time, and the cheapest one.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "windtunnel/comm/link.hpp"
#include "windtunnel/model/collectives.hpp"

namespace windtunnel::comm {

using model::CollectiveAlgorithm;
enum class Operation { all_gather, reduce_scatter, all_reduce, all_to_all, broadcast };
inline constexpr int num_operations = 5;

/// What an algorithm does, as seen by the busiest rank.
struct Steps {
    int rounds = 0;        ///< messages one after the other
    double volume = 0.0;   ///< bytes through the port, in each direction, over the message
    double reduced = 0.0;  ///< bytes added up by a rank, over the message
};

/// Model:   n ranks on a tier where every rank has one port (full_mesh: one link to each other rank, of an equal part
/// of
///          the port's rate). The message is the whole buffer for all_gather, reduce_scatter, all_reduce and broadcast,
///          and the buffer of each rank for all_to_all (an equal part for each rank, itself included). Ring, pairwise,
///          full_mesh, nhr (nonuniform hierarchical ring) and nb (nonuniform Bruck) move (n-1)/n in n-1, n-1, 1,
///          ceil(log2 n) and ceil(log2 n) rounds; all_reduce is reduce-scatter and all-gather, twice of both.
///          halving_doubling needs a power of two: any other n folds the ranks above it onto partners, which costs two
///          rounds and two more messages (all_reduce). tree: two binary trees of half of the message each, pipelined:
///          2 floor(log2 n) rounds, volume 2. one_shot: every rank sends all that it has to all others in one round.
///          in_network: switches add up and copy, so a rank sends and receives the message once. Broadcast by tree: the
///          whole message along a binomial tree; by ring, nb, nhr, halving_doubling and full_mesh: scatter (halves of
///          halves), then all-gather. all_to_all by nb: blocks wait for the rounds that their distance names, so volume
///          is sum over bits of the distances with that bit.
/// Inputs:  n >= 1.
/// Returns: rounds, volume and reduction; empty where the algorithm does not do the operation.
/// Limits:  rounds in step; volume counts the largest message of each round (tree: the load of the port).
/// Source:  Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005 (ring, halving-doubling, Bruck, scatter and gather);
///          Sanders, Speck, Traff, Parallel Computing 35(12), 2009 (two trees); HCCL user guide (NHR, NB, pairwise);
///          Graham et al., SHArP, COMHPC 2016 (in-network).
[[nodiscard]] std::optional<Steps> steps(Operation operation, CollectiveAlgorithm algorithm, int n) noexcept;

/// Time of one collective.
///
/// Model:   rounds x latency + volume x message / bandwidth (+ reduced x message / reduction rate, where one is given).
/// Inputs:  message >= 0; `automatic` takes the cheapest. Returns: time >= 0; empty where the algorithm does not do the
///          operation. Limits, source: as above.
[[nodiscard]] std::optional<Seconds> flat_time(Operation operation, CollectiveAlgorithm algorithm, Bytes message, int n,
                                               const Link& link, BytesPerSecond reduction = {}) noexcept;

/// The algorithm with the least time, the first of equals in the order of the enumeration; only those that need neither
/// a full mesh nor switches that reduce.
[[nodiscard]] CollectiveAlgorithm cheapest(Operation operation, Bytes message, int n, const Link& link,
                                           BytesPerSecond reduction = {}) noexcept;

/// One level of a hierarchical collective.
struct Tier {
    int size = 1;  ///< members of a group on this tier
    Link link;
    CollectiveAlgorithm algorithm = CollectiveAlgorithm::ring;
};

/// Time over nested tiers, the innermost first.
///
/// Model:   all_reduce: reduce-scatter on every tier from inside out, all-reduce on the outermost, all-gather back in;
///          a tier sees the message over the product of the sizes inside it. all_gather from outside in, reduce-scatter
///          from inside out, likewise. all_to_all: blocks are first gathered, tier by tier, on the member that shares
///          the receiver's place in the tier, then exchanged outside: each tier passes the whole buffer. broadcast:
///          from outside in, the whole message.
/// Returns: the sum of the tiers; empty where an algorithm does not do its part. Limits: tiers do not overlap.
/// Source:  HCCL and NCCL hierarchical algorithms; equal tiers add up to the flat volume.
[[nodiscard]] std::optional<Seconds> tiered_time(Operation operation, Bytes message, std::span<const Tier> tiers,
                                                 BytesPerSecond reduction = {}) noexcept;

/// A sub-group of g members of a full mesh of G reaches (g-1)/(G-1) of a card's rate over all its links.
/// Source: a card has G-1 equal links, g-1 of them lead to members.
[[nodiscard]] Link sub_mesh(const Link& whole, int members, int mesh_size) noexcept;

}  // namespace windtunnel::comm
