/// What a BlockBuilder records of its operators for the graph.
#include <algorithm>

#include "windtunnel/train/block_builder.hpp"

namespace windtunnel::train {

using compute::grouped_gemm_time;
using compute::streaming_time;

namespace {

/// What the time of an operator on the card is made of for the largest part.
Bound bound_of(const Operator& one, Seconds from_memory) noexcept {
    if (one.launch > one.time) return Bound::launch;
    return from_memory * (1.0 + 1e-9) >= one.time ? Bound::memory : Bound::compute;
}

}  // namespace

void BlockBuilder::record(Operator one, unsigned modules) {
    if (one.unit == Unit::host)
        one.bound = Bound::host;
    else
        one.bound = bound_of(one, streaming_time(one.bytes, scope_.card));
    const double factor = scope_.job.efficiency.release_factor;
    one.time *= factor;
    one.launch *= factor;
    one.piece *= factor;
    // What was kept and stored since the operator before belongs to the first one recorded after it.
    one.kept = Bytes{new_kept_};
    one.parameters = new_parameters_;
    one.expert_parameters = new_expert_parameters_;
    new_kept_ = new_parameters_ = new_expert_parameters_ = 0.0;
    const bool again = scope_.key.recompute == model::Recompute::selective && reruns(modules);
    graph_->add(one, again);
}

void BlockBuilder::record_product(const char* name, double groups, const compute::Gemm& each, const compute::Card& card,
                                  double load, unsigned modules) {
    graph_->next_call();
    const int chunks = scope_.job.methods.overlap.chunks;
    const double narrow = card.element_bytes;
    Operator cast;
    cast.name = name;
    cast.kind = OperatorKind::cast;
    cast.kernels = 0.0;  // part of the operator before it
    const auto add_cast = [&](Pass pass, double columns) {
        if (narrow >= 2.0) return;
        cast.pass = pass;
        cast.bytes = Bytes{4.0 * card.cast * groups * each.m * columns * load};
        cast.shape = {groups, each.m * load, columns, 0.0};
        cast.time = streaming_time(cast.bytes, scope_.card);
        record(cast);
    };
    const auto add_product = [&](Pass pass, const compute::Gemm& gemm) {
        Operator one;
        one.name = name;
        one.kind = groups > 1.0 ? OperatorKind::grouped_product : OperatorKind::product;
        one.pass = pass;
        one.part = Part::gemm;
        one.unit = Unit::matrix;
        one.shape = {groups, gemm.m, gemm.n, gemm.k};
        one.precision = narrow < 2.0 ? scope_.job.precision : model::Precision::bf16;
        one.flops = groups * gemm.flops() * load;
        one.bytes = Bytes{groups * ((gemm.m * gemm.k + gemm.k * gemm.n) * narrow + gemm.m * gemm.n * 2.0)};
        one.time = grouped_gemm_time(groups, gemm, card) * load;
        one.launch = scope_.card.launch;
        if (groups == 1.0 && chunks > 1) one.piece = grouped_gemm_time(1.0, {gemm.m / chunks, gemm.n, gemm.k}, card);
        record(one, pass == Pass::forward ? modules : 0);
    };
    add_cast(Pass::forward, each.k);
    add_product(Pass::forward, each);
    add_cast(Pass::backward_input, each.n);
    add_product(Pass::backward_input, {each.m, each.k, each.n});
    add_product(Pass::backward_weight, {each.k, each.n, each.m});
    Operator sum;
    sum.name = name;
    sum.kind = OperatorKind::accumulate;
    sum.pass = Pass::backward_weight;
    sum.precision = scope_.job.gradient_precision;
    sum.bytes = Bytes{groups * each.k * each.n * (2.0 * scope_.gradient_bytes + 2.0)};
    sum.shape = {groups, each.k, each.n, 0.0};
    sum.time = streaming_time(sum.bytes, scope_.card);
    sum.kernels = 0.0;
    record(sum);
}

void BlockBuilder::record_rest() {
    graph_->add_rest(new_kept_, new_parameters_, new_expert_parameters_);
    new_kept_ = new_parameters_ = new_expert_parameters_ = 0.0;
}

Operator BlockBuilder::collective(const Collective& call, Pass pass, Part part, Seconds hidden) const noexcept {
    const double factor = scope_.job.efficiency.release_factor;
    Operator one;
    one.name = call.name;
    one.kind = OperatorKind::collective;
    one.pass = pass;
    one.part = part;
    one.unit = Unit::network;
    one.shape = {1.0, call.message.value() / 2.0, 0.0, 0.0};
    one.collective = call.kind;
    one.group = call.group;
    one.group_size = call.group_size;
    one.message = call.message;
    one.count = call.count;
    one.time = call.time * call.count * factor;
    one.hidden = hidden * factor;
    one.piece = call.piece * factor;
    one.bound = Bound::link;
    return one;
}

void BlockBuilder::record_exchange(const Collective& call, Pass pass, Part part, Seconds hidden, unsigned modules) {
    if (!(call.time > Seconds{0.0})) return;
    const bool again = pass == Pass::forward && scope_.key.recompute == model::Recompute::selective && reruns(modules);
    graph_->add_at(call.place < 0 ? graph_->here() : call.place, collective(call, pass, part, hidden), again);
}

}  // namespace windtunnel::train
