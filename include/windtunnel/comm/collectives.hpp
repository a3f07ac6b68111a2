#pragma once
/// Times of collectives on one tier (ring) and over two tiers (hierarchical).
#include "windtunnel/comm/link.hpp"
#include "windtunnel/topology/groups.hpp"

namespace windtunnel::comm {

/// Time for `group_size` ranks to gather one buffer of `message` bytes, of which each rank holds an equal share.
///
/// Model:   n-1 steps, each one latency plus message/n over the bandwidth. Reduce-scatter takes the same time.
/// Inputs:  message >= 0: the whole buffer; group_size >= 1 (1 gives 0 s).
/// Returns: time, >= 0.
/// Limits:  no contention with other groups; not for in-network reduction.
/// Source:  Patarasuk and Yuan, JPDC 69(2), 2009.
[[nodiscard]] Seconds ring_all_gather_time(Bytes message, int group_size, const Link& link) noexcept;

/// Reduce-scatter and all-gather one after the other: 2(n-1) steps.
///
/// Model:   as above. Inputs: message >= 0: the buffer of each rank. Returns: time, >= 0.
/// Limits:  as above. Source: as above.
[[nodiscard]] Seconds ring_all_reduce_time(Bytes message, int group_size, const Link& link) noexcept;

/// All-gather (or reduce-scatter) over a placed group.
///
/// Model:   first between domains, where each member exchanges its shares with its counterparts over its own port
///          ((d-1) x message/n), then inside the domain ((g-1)/g of the message); g members in each of d domains.
/// Inputs:  message >= 0: the whole buffer.
/// Returns: time, >= 0. With equal tiers and no latency it is the flat ring formula.
///          Each tier by the algorithm that `links` names (a ring where that algorithm does not gather), and behind
///          leaves as contention.hpp says.
/// Limits:  levels do not overlap; an unevenly filled last domain counts as full.
/// Source:  HCCL and NCCL hierarchical algorithms; the sum of levels is checked against the flat formula.
[[nodiscard]] Seconds all_gather_time(Bytes message, const topology::GroupPlacement& group,
                                      const Links& links) noexcept;

/// Reduce-scatter inside, all-reduce of the share outside, all-gather inside: with rings, twice the all-gather.
///
/// Model:   as above. Inputs: message >= 0: the buffer of each rank. Returns: time, >= 0. Limits, source: as above.
[[nodiscard]] Seconds all_reduce_time(Bytes message, const topology::GroupPlacement& group,
                                      const Links& links) noexcept;

/// Each rank sends an equal share of its buffer to every rank of the group, itself included.
///
/// Model:   (g-1)/n of the buffer goes to peers in the domain, (n-g)/n leaves it over the card's own port; both at
/// once,
///          the slower one counts; one latency per tier that is used.
/// Inputs:  message >= 0: buffer of each rank. Returns: time, >= 0.
/// Limits:  balanced traffic; no merging of copies for one domain.
/// Source:  derived here; shares as in DeepSeek-V3 and CloudMatrix384 dispatch accounting.
[[nodiscard]] Seconds all_to_all_time(Bytes message, const topology::GroupPlacement& group,
                                      const Links& links) noexcept;

}  // namespace windtunnel::comm
