#pragma once
/// Documents of varying length, packed into the micro-batches of a step.
#include <vector>

#include "windtunnel/model/training_methods.hpp"

namespace windtunnel::train {

/// Work of a document of L tokens: linear x L + square x L^2.
struct DocumentWork {
    double linear = 1.0, square = 0.0;
    [[nodiscard]] double of(double tokens) const noexcept { return (linear + square * tokens) * tokens; }
};

struct Bins {
    int replicas = 1;
    int micro_batches = 1;   ///< of a replica
    double sequences = 1.0;  ///< of a micro-batch
    double sequence_length = 0.0;
};

/// One step's micro-batches after packing.
struct Packed {
    std::vector<double> load;    ///< by micro-batch, of the replica that ends last; relative to full-length documents
    double imbalance = 1.0;      ///< largest over mean load of all micro-batches
    double tokens = 0.0;         ///< of documents, all replicas
    double square_tokens = 0.0;  ///< sum of squared lengths
    double fill = 1.0;           ///< tokens over the room for them
    int delayed = 0;             ///< documents that found no room and wait for the next step
};

/// Model:   documents come in turn from the list, or from a lognormal law cut at the sequence length. `padded`: one a
///          sequence. `in_order`: into the open micro-batch while it has room, then the next one. `longest_first`: the
///          same documents, the one of the most work first, each into the micro-batch of the least work where it has
///          room, else into the emptiest one (LPT; with room for all at most 4/3 - 1/(3 m) times the best). Micro-batch
///          i goes to replica i modulo replicas; the replica with the largest sum + (stages - 1) x largest is the one
///          that ends last.
/// Inputs:  documents.vary(); bins with at least one micro-batch; stages >= 1. Limits: at most 10^6 documents a step.
/// Source:  Graham, SIAM J. Appl. Math. 17(2), 1969 (LPT); WLB-LLM, 2025 (packing by work).
[[nodiscard]] Packed pack(const model::Documents& documents, const Bins& bins, const DocumentWork& work, int stages);

/// Longest work first onto the least loaded of `bins`, without limits of room: load of each bin.
[[nodiscard]] std::vector<double> longest_first(std::vector<double> work, int bins);

}  // namespace windtunnel::train
