#pragma once
/// A card's port between domains, when groups of several kinds leave their domain at once.
#include "windtunnel/train/stage_costs.hpp"

namespace windtunnel::train {

/// Takes off each rank's windows the time in which its tensor, context and expert groups hold the port.
///
/// Model:   a port serves one byte after another, so the exchange of gradients moves under a pass only while no other
///          group of the card that leaves its domain moves; however the two share, the bytes of both pass in the sum of
///          their times (max-min rates of two flows on one port, comm/fair_share.hpp). Exposed communication of a group
///          counts as a whole where the group leaves its domain.
/// Inputs:  windows of one micro-batch, as stage_costs() has summed them. Returns: windows, >= 0.
/// Limits:  transfers between pipeline stages do not count.
/// Source:  derived here.
void leave_port_to_others(const Job& job, const model::Layout& layout, const UnitCosts& costs, const Pipeline& pipeline,
                          std::span<HidingWindow> windows);

}  // namespace windtunnel::train
