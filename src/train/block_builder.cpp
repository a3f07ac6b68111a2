#include "windtunnel/train/block_builder.hpp"

#include <algorithm>

namespace windtunnel::train {

using compute::gemm_time;
using compute::streaming_time;

Scope scope_of(const Job& job, const UnitKey& key) noexcept {
    Scope scope{job, key, compute::card_of(job.cluster.accelerator, job.efficiency, job.precision), {}, {}, {}, {},
                {},  {}};
    scope.wide = compute::in_16_bit(scope.card);
    scope.links = comm::links_of(job.cluster.accelerator, job.efficiency);
    const int domain = scope.links.domain_size;
    scope.tensor = topology::place_group(key.tensor_parallel, 1, domain);
    scope.context = topology::place_group(key.context_parallel, key.tensor_parallel, domain);
    scope.expert = topology::place_group(key.expert_parallel, key.expert_tensor_parallel, domain);
    scope.expert_tensor = topology::place_group(key.expert_tensor_parallel, 1, domain);
    scope.tokens = double(key.micro_batch_size) * job.sequence_length / key.context_parallel;
    scope.own_tokens = key.sequence_parallel ? scope.tokens / scope.tp() : scope.tokens;
    scope.gradient_bytes = model::bytes_per_element(job.gradient_precision);
    return scope;
}

void BlockBuilder::add_rerun(Rerun rerun, Seconds time, Flops flops) noexcept {
    if (rerun != Rerun::cheap || !scope_.job.flash_attention) return;
    selective_time_ += time;
    selective_flops_ += flops;
}

void BlockBuilder::product(const compute::Gemm& gemm, const compute::Card& card, Rerun rerun) noexcept {
    const Seconds forward = gemm_time(gemm, card);
    const Seconds launch = scope_.card.launch;
    cost_.forward[Part::gemm] += forward;
    cost_.backward_input[Part::gemm] += gemm_time({gemm.m, gemm.k, gemm.n}, card);
    cost_.backward_weight[Part::gemm] += gemm_time({gemm.k, gemm.n, gemm.m}, card);
    cost_.forward[Part::launch] += launch;
    cost_.backward_input[Part::launch] += launch;
    cost_.backward_weight[Part::launch] += launch;
    const double weights = gemm.k * gemm.n;
    // The gradient joins the buffer: read and write it, read the product's 16-bit result.
    cost_.backward_weight[Part::memory_bound] +=
        streaming_time(Bytes{weights * (2.0 * scope_.gradient_bytes + 2.0)}, scope_.card);
    if (card.element_bytes < 2.0) {
        // Reads 16 bit, writes the narrow copy and its transpose: 4 bytes an element, inputs forward, gradients
        // backward.
        const double factor = 4.0 * card.cast;
        cost_.forward[Part::memory_bound] += streaming_time(Bytes{factor * gemm.m * gemm.k}, scope_.card);
        cost_.backward_input[Part::memory_bound] += streaming_time(Bytes{factor * gemm.m * gemm.n}, scope_.card);
    }
    forward_flops_ += gemm.flops();
    cost_.model_flops += 3.0 * gemm.flops();
    cost_.largest_weight = std::max(cost_.largest_weight, weights);
    add_rerun(rerun, forward + launch, gemm.flops());
}

void BlockBuilder::grouped_product(double groups, const compute::Gemm& each, const compute::Card& card) noexcept {
    const Seconds launch = scope_.card.launch;
    cost_.forward[Part::gemm] += compute::grouped_gemm_time(groups, each, card);
    cost_.backward_input[Part::gemm] += compute::grouped_gemm_time(groups, {each.m, each.k, each.n}, card);
    cost_.backward_weight[Part::gemm] += compute::grouped_gemm_time(groups, {each.k, each.n, each.m}, card);
    cost_.forward[Part::launch] += launch;
    cost_.backward_input[Part::launch] += launch;
    cost_.backward_weight[Part::launch] += launch;
    const double weights = groups * each.k * each.n;
    cost_.backward_weight[Part::memory_bound] +=
        streaming_time(Bytes{weights * (2.0 * scope_.gradient_bytes + 2.0)}, scope_.card);
    if (card.element_bytes < 2.0) {
        const double factor = 4.0 * card.cast * groups * each.m;
        cost_.forward[Part::memory_bound] += streaming_time(Bytes{factor * each.k}, scope_.card);
        cost_.backward_input[Part::memory_bound] += streaming_time(Bytes{factor * each.n}, scope_.card);
    }
    forward_flops_ += groups * each.flops();
    cost_.model_flops += 3.0 * groups * each.flops();
    cost_.largest_weight = std::max(cost_.largest_weight, weights);
}

void BlockBuilder::stream(double forward_bytes, double backward_bytes, int kernels, Rerun rerun) noexcept {
    const Seconds forward = streaming_time(Bytes{forward_bytes}, scope_.card);
    const Seconds launch = static_cast<double>(kernels) * scope_.card.launch;
    cost_.forward[Part::memory_bound] += forward;
    cost_.backward_input[Part::memory_bound] += streaming_time(Bytes{backward_bytes}, scope_.card);
    cost_.forward[Part::launch] += launch;
    cost_.backward_input[Part::launch] += launch;
    add_rerun(rerun, forward + launch, Flops{0.0});
}

void BlockBuilder::attention(const compute::AttentionShape& shape, double share) noexcept {
    if (!(share > 0.0)) return;
    const bool flash = scope_.job.flash_attention;
    const Seconds forward = share * (flash ? compute::flash_attention_time(shape, scope_.card)
                                           : compute::unfused_attention_time(shape, scope_.card));
    const Seconds launches = share * (flash ? 1.0 : 4.0) * scope_.card.launch;
    cost_.forward[Part::attention] += forward;
    cost_.backward_input[Part::attention] +=
        forward * (flash ? compute::flash_backward_ratio : compute::unfused_backward_ratio);
    cost_.forward[Part::launch] += launches;
    cost_.backward_input[Part::launch] += 2.0 * launches;
    const Flops work = share * compute::attention_flops(shape);
    forward_flops_ += work;
    cost_.model_flops += 3.0 * work;
    if (flash) return;
    selective_time_ += forward + launches;
    selective_flops_ += work;
}

void BlockBuilder::communicate(Part part, Seconds forward, Seconds backward) noexcept {
    const double exposed = 1.0 - scope_.job.efficiency.scale_up_hidden;
    cost_.forward[part] += forward * exposed;
    cost_.backward_input[part] += backward * exposed;
}

void BlockBuilder::regather(Seconds gather, Seconds hidden_under) noexcept {
    cost_.backward_input[Part::tp_comm] += std::max(Seconds{0.0}, gather - hidden_under);
}

void BlockBuilder::host(Seconds each_pass) noexcept {
    cost_.forward[Part::launch] += each_pass;
    cost_.backward_input[Part::launch] += each_pass;
}

void BlockBuilder::keep_cheap(double bytes) noexcept {
    kept_ += bytes;
    if (scope_.job.flash_attention) dropped_ += bytes;
}

void BlockBuilder::keep_core(double bytes) noexcept {
    kept_ += bytes;
    dropped_ += bytes;
}

void BlockBuilder::transient(double bytes) noexcept {
    transient_ = std::max(transient_, bytes);
}

Seconds BlockBuilder::input_gradient_time(const compute::Gemm& gemm) const noexcept {
    return gemm_time({gemm.m, gemm.k, gemm.n}, scope_.card);
}

void BlockBuilder::floor_by_host(PartTimes& pass, Seconds others) const noexcept {
    const Seconds missing = scope_.job.efficiency.host_per_layer_pass - pass.total() - others;
    if (missing > Seconds{0.0}) pass[Part::launch] += missing;
}

BlockCost BlockBuilder::finish(double full_input) noexcept {
    floor_by_host(cost_.forward, Seconds{0.0});
    floor_by_host(cost_.backward_input, cost_.backward_weight.total());
    cost_.activations = Bytes{kept_};
    cost_.recompute_peak = Bytes{transient_};
    switch (scope_.key.recompute) {
        case model::Recompute::none:
            break;
        case model::Recompute::selective:
            cost_.backward_input[Part::recompute] += selective_time_;
            cost_.recompute_flops = selective_flops_;
            cost_.activations = Bytes{kept_ - dropped_};
            cost_.recompute_peak = Bytes{transient_ + dropped_};
            break;
        case model::Recompute::full:
            cost_.backward_input[Part::recompute] += cost_.forward.total();
            cost_.recompute_flops = forward_flops_;
            cost_.activations = Bytes{full_input};
            cost_.recompute_peak = Bytes{transient_ + kept_ - full_input};
            break;
    }
    return in_release();
}

BlockCost BlockBuilder::finish_kept() noexcept {
    cost_.activations = Bytes{kept_};
    cost_.recompute_peak = Bytes{transient_};
    return in_release();
}

BlockCost BlockBuilder::in_release() noexcept {
    const double factor = scope_.job.efficiency.release_factor;
    cost_.forward = cost_.forward * factor;
    cost_.backward_input = cost_.backward_input * factor;
    cost_.backward_weight = cost_.backward_weight * factor;
    return cost_;
}

}  // namespace windtunnel::train
