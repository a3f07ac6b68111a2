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

unsigned rerun_modules(const Job& job) noexcept {
    using namespace model;
    if (job.methods.recomputation.modules != 0) return job.methods.recomputation.modules;
    return job.flash_attention
               ? recompute_module::norms | recompute_module::activation | recompute_module::up_projections
               : recompute_module::attention_core;
}

bool BlockBuilder::reruns(unsigned modules) const noexcept {
    return (modules & rerun_) != 0;
}

void BlockBuilder::add_rerun(unsigned modules, Seconds time, Flops flops) noexcept {
    if (!reruns(modules)) return;
    selective_time_ += time;
    selective_flops_ += flops;
}

void BlockBuilder::product(const char* name, const compute::Gemm& gemm, const compute::Card& card, unsigned modules) {
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
    forward_kernels_ += 1.0;
    backward_kernels_ += 2.0;
    forward_flops_ += gemm.flops();
    cost_.model_flops += 3.0 * gemm.flops();
    cost_.largest_weight = std::max(cost_.largest_weight, weights);
    add_rerun(modules, forward + launch, gemm.flops());
    if (graph_ != nullptr) record_product(name, 1.0, gemm, card, 1.0, modules);
}

void BlockBuilder::grouped_product(const char* name, double groups, const compute::Gemm& each,
                                   const compute::Card& card, double load, unsigned modules) {
    const Seconds launch = scope_.card.launch;
    const Seconds forward = compute::grouped_gemm_time(groups, each, card) * load;
    cost_.forward[Part::gemm] += forward;
    cost_.backward_input[Part::gemm] += compute::grouped_gemm_time(groups, {each.m, each.k, each.n}, card) * load;
    cost_.backward_weight[Part::gemm] += compute::grouped_gemm_time(groups, {each.k, each.n, each.m}, card) * load;
    cost_.forward[Part::launch] += launch;
    cost_.backward_input[Part::launch] += launch;
    cost_.backward_weight[Part::launch] += launch;
    const double weights = groups * each.k * each.n;
    cost_.backward_weight[Part::memory_bound] +=
        streaming_time(Bytes{weights * (2.0 * scope_.gradient_bytes + 2.0)}, scope_.card);
    if (card.element_bytes < 2.0) {
        const double factor = 4.0 * card.cast * groups * each.m;
        cost_.forward[Part::memory_bound] += streaming_time(Bytes{factor * each.k}, scope_.card) * load;
        cost_.backward_input[Part::memory_bound] += streaming_time(Bytes{factor * each.n}, scope_.card) * load;
    }
    forward_kernels_ += 1.0;
    backward_kernels_ += 2.0;
    forward_flops_ += groups * each.flops();
    cost_.model_flops += 3.0 * groups * each.flops();
    cost_.largest_weight = std::max(cost_.largest_weight, weights);
    add_rerun(modules, forward + launch, groups * each.flops());
    if (graph_ != nullptr) record_product(name, groups, each, card, load, modules);
}

void BlockBuilder::stream(const char* name, double forward_bytes, double backward_bytes, int kernels,
                          unsigned modules) {
    const Seconds forward = streaming_time(Bytes{forward_bytes}, scope_.card);
    const Seconds launch = static_cast<double>(kernels) * scope_.card.launch;
    cost_.forward[Part::memory_bound] += forward;
    cost_.backward_input[Part::memory_bound] += streaming_time(Bytes{backward_bytes}, scope_.card);
    cost_.forward[Part::launch] += launch;
    cost_.backward_input[Part::launch] += launch;
    forward_kernels_ += kernels;
    backward_kernels_ += kernels;
    add_rerun(modules, forward + launch, Flops{0.0});
    if (graph_ == nullptr) return;
    graph_->next_call();
    Operator one;
    one.name = name;
    one.bytes = Bytes{forward_bytes};
    one.shape = {1.0, forward_bytes / 2.0, 0.0, 0.0};
    one.time = forward;
    one.launch = launch;
    one.kernels = kernels;
    record(one, modules);
    one.pass = Pass::backward_input;
    one.bytes = Bytes{backward_bytes};
    one.shape[1] = backward_bytes / 2.0;
    one.time = streaming_time(Bytes{backward_bytes}, scope_.card);
    record(one);
}

void BlockBuilder::attention(const char* name, const compute::AttentionShape& shape, double share) {
    if (!(share > 0.0)) return;
    const bool flash = scope_.job.flash_attention;
    const Seconds forward = share * (flash ? compute::flash_attention_time(shape, scope_.card)
                                           : compute::unfused_attention_time(shape, scope_.card));
    const Seconds launches = share * (flash ? 1.0 : 4.0) * scope_.card.launch;
    const Seconds backward = forward * (flash ? compute::flash_backward_ratio : compute::unfused_backward_ratio);
    cost_.forward[Part::attention] += forward;
    cost_.backward_input[Part::attention] += backward;
    cost_.forward[Part::launch] += launches;
    cost_.backward_input[Part::launch] += 2.0 * launches;
    const double kernels = share * (flash ? 1.0 : 4.0);
    forward_kernels_ += kernels;
    backward_kernels_ += 2.0 * kernels;
    const Flops work = share * compute::attention_flops(shape);
    forward_flops_ += work;
    cost_.model_flops += 3.0 * work;
    add_rerun(model::recompute_module::attention_core, forward + launches, work);
    if (graph_ == nullptr) return;
    graph_->next_call();
    Operator one;
    one.name = name;
    one.kind = OperatorKind::attention;
    one.part = Part::attention;
    one.unit = Unit::matrix;
    one.shape = {shape.sequences * shape.heads, shape.length * shape.query_share,
                 shape.window > 0.0 ? std::min(shape.window, shape.length) : shape.length, shape.qk_dim};
    one.count = share;
    one.flops = work;
    const double rows = shape.sequences * shape.length * shape.heads;
    // Queries, keys, values and the output once; stored scores 11 bytes each.
    one.bytes = Bytes{share * 2.0 * rows * (shape.query_share + 1.0) * (shape.qk_dim + shape.value_dim)};
    if (!flash) one.bytes += Bytes{share * 11.0 * rows * shape.query_share * shape.length};
    one.time = forward;
    one.launch = launches;
    one.kernels = kernels;
    record(one, model::recompute_module::attention_core);
    one.pass = Pass::backward_input;
    one.flops = work * 2.0;
    one.bytes = one.bytes * 2.0;
    one.time = backward;
    one.launch = 2.0 * launches;
    one.kernels = 2.0 * kernels;
    record(one);
}

void BlockBuilder::communicate(Part part, std::initializer_list<Collective> forward,
                               std::initializer_list<Collective> backward, unsigned modules) {
    const bool by_graph = scope_.job.methods.overlap.operators;
    const double exposed = by_graph ? 1.0 : 1.0 - scope_.job.efficiency.scale_up_hidden;
    const auto total = [](std::initializer_list<Collective> list) {
        Seconds sum;
        for (const Collective& one : list) sum += one.time * one.count;
        return sum;
    };
    const Seconds shown = total(forward) * exposed;
    cost_.forward[part] += shown;
    cost_.backward_input[part] += total(backward) * exposed;
    add_rerun(modules, shown, Flops{0.0});
    if (graph_ == nullptr) return;
    for (const Collective& one : forward)
        record_exchange(one, Pass::forward, part, one.time * one.count * (1.0 - exposed), modules);
    for (const Collective& one : backward)
        record_exchange(one, Pass::backward_input, part, one.time * one.count * (1.0 - exposed), 0);
}

void BlockBuilder::communicate_under(Part part, const Collective& forward, Seconds under_forward,
                                     const Collective& backward, Seconds under_backward) {
    const auto sticks_out = [](const Collective& one, Seconds under) {
        return std::max(Seconds{0.0}, one.time * one.count - under);
    };
    cost_.forward[part] += sticks_out(forward, under_forward);
    cost_.backward_input[part] += sticks_out(backward, under_backward);
    if (graph_ == nullptr) return;
    record_exchange(forward, Pass::forward, part, forward.time * forward.count - sticks_out(forward, under_forward), 0);
    record_exchange(backward, Pass::backward_input, part,
                    backward.time * backward.count - sticks_out(backward, under_backward), 0);
}

void BlockBuilder::regather(const Collective& gather, Seconds hidden_under, GraphRecorder::Place product) {
    const Seconds shown = std::max(Seconds{0.0}, gather.time - hidden_under);
    cost_.backward_input[Part::tp_comm] += shown;
    if (graph_ == nullptr || !(gather.time > Seconds{0.0})) return;
    graph_->add_for_weight(product + 1, collective(gather, Pass::backward_input, Part::tp_comm, gather.time - shown));
}

void BlockBuilder::host(const char* name, Seconds each_pass) {
    cost_.forward[Part::launch] += each_pass;
    cost_.backward_input[Part::launch] += each_pass;
    if (graph_ == nullptr) return;
    graph_->next_call();
    Operator one;
    one.name = name;
    one.kind = OperatorKind::host;
    one.part = Part::launch;
    one.unit = Unit::host;
    one.time = each_pass;
    one.kernels = 0.0;
    record(one);
    one.pass = Pass::backward_input;
    record(one);
}

void BlockBuilder::keep(double bytes, unsigned modules) noexcept {
    kept_ += bytes;
    new_kept_ += bytes;
    if (reruns(modules)) dropped_ += bytes;
}

void BlockBuilder::parameters(double count) noexcept {
    cost_.parameters += count;
    new_parameters_ += count;
}

void BlockBuilder::expert_parameters(double count) noexcept {
    cost_.expert_parameters += count;
    new_expert_parameters_ += count;
}

void BlockBuilder::transient(double bytes) noexcept {
    transient_ = std::max(transient_, bytes);
}

Seconds BlockBuilder::input_gradient_time(const compute::Gemm& gemm) const noexcept {
    return gemm_time({gemm.m, gemm.k, gemm.n}, scope_.card);
}

void BlockBuilder::floor_by_host(Pass pass, PartTimes& times, Seconds others, double kernels) {
    const model::TrainingMethods& methods = scope_.job.methods;
    if (methods.overlap.operators) return;  // the simulation knows the host
    const Seconds issue = methods.host.graphs ? methods.host.graph_launch : methods.host.launch * kernels;
    const Seconds least = std::max(scope_.job.efficiency.host_per_layer_pass, issue);
    const Seconds missing = least - times.total() - others;
    if (!(missing > Seconds{0.0})) return;
    times[Part::launch] += missing;
    if (graph_ == nullptr) return;
    Operator wait;
    wait.name = "wait_for_host";
    wait.kind = OperatorKind::host;
    wait.pass = pass;
    wait.part = Part::launch;
    wait.unit = Unit::host;
    wait.kernels = 0.0;
    wait.time = missing;
    record(wait);
}

BlockCost BlockBuilder::finish(double full_input) {
    if (graph_ != nullptr) graph_->next_call();
    floor_by_host(Pass::forward, cost_.forward, Seconds{0.0}, forward_kernels_);
    floor_by_host(Pass::backward_input, cost_.backward_input, cost_.backward_weight.total(), backward_kernels_);
    if (graph_ != nullptr) record_rest();
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
        case model::Recompute::full: {
            const model::Recomputation& how = scope_.job.methods.recomputation;
            const bool grouped = how.method == model::RecomputeMethod::uniform && how.layers > 1;
            const double layers = grouped ? how.layers : 1.0;  // that share one kept input
            cost_.backward_input[Part::recompute] += cost_.forward.total();
            cost_.recompute_flops = forward_flops_;
            cost_.activations = Bytes{full_input / layers};
            cost_.recompute_peak = Bytes{transient_ + layers * kept_ - full_input};
            if (graph_ != nullptr) graph_->rerun_all();
            break;
        }
    }
    return in_release();
}

BlockCost BlockBuilder::finish_kept() {
    if (graph_ != nullptr) {
        record_rest();
        graph_->rerun_none();
    }
    cost_.activations = Bytes{kept_};
    cost_.recompute_peak = Bytes{transient_};
    return in_release();
}

BlockCost BlockBuilder::in_release() noexcept {
    const double factor = scope_.job.efficiency.release_factor;
    cost_.forward = cost_.forward * factor;
    cost_.backward_input = cost_.backward_input * factor;
    cost_.backward_weight = cost_.backward_weight * factor;
    const model::Offload& offload = scope_.job.methods.offload;
    if (!(offload.activations > 0.0)) return cost_;
    // To the host under the forward pass of the block, back under its backward pass; while it runs it is on the card.
    const Bytes moved = cost_.activations * offload.activations;
    const Seconds copy = moved / offload.bandwidth;
    const Seconds backward = cost_.backward_input.total() + cost_.backward_weight.total();
    cost_.forward[Part::offload] += std::max(Seconds{0.0}, copy - cost_.forward.total());
    cost_.backward_input[Part::offload] += std::max(Seconds{0.0}, copy - backward);
    cost_.activations -= moved;
    cost_.recompute_peak += moved;
    return cost_;
}

}  // namespace windtunnel::train
