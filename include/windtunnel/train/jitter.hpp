#pragma once
/// What a synchronous step loses to its slowest card.
#include "windtunnel/model/training_methods.hpp"

namespace windtunnel::train {

/// Expected time of the slowest of `cards` cards, relative to the mean time of a card that is not slow.
///
/// Model:   each card takes a time of its own, independent of the others: mean 1, standard deviation `sigma`, normal or
///          lognormal; with probability `slow_share` it is a slow card and takes 1/slow_speed times that. The step
///          takes as long as the slowest: E max = integral of 1 - F(x)^n.
/// Inputs:  cards >= 1; sigma in [0, 1]. Returns: >= 1 for more than one card without slow ones; 1 for no jitter.
/// Limits:  the expected time of one step; cards are independent. Source: order statistics; n = 2: 1 + sigma/sqrt(pi).
[[nodiscard]] double slowest_of(const model::Jitter& jitter, double cards);

/// What a step of `work` waits for its slowest card, beyond the time of a card without jitter.
[[nodiscard]] Seconds waiting_for_slowest(const model::Jitter& jitter, double cards, Seconds work);

}  // namespace windtunnel::train
