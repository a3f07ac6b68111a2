#include "windtunnel/train/job.hpp"

#include "windtunnel/base/contracts.hpp"

namespace windtunnel::train {

Job job_of(const model::Plan& plan) {
    base::expects(plan.training.has_value(), "the plan has a [train] section");
    const model::Training& training = *plan.training;
    Job job;
    job.transformer = plan.transformer;
    job.cluster = plan.cluster;
    job.efficiency = plan.efficiency;
    job.sequence_length = training.sequence_length;
    job.precision = training.precision;
    job.gradient_precision = training.gradient_precision;
    job.activation_precision = training.activation_precision;
    job.flash_attention = training.flash_attention;
    job.fused_operators = training.fused_operators;
    job.reserve_fraction = training.reserve_fraction.value_or(0.0);
    job.methods = training.methods;
    job.documents = training.documents;
    job.documents.seed = plan.seed;
    return job;
}

}  // namespace windtunnel::train
