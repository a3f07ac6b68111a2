#pragma once
/// One layout of a training job: the step, its parts, memory by stage, the verdict.
#include <string>
#include <vector>

#include "windtunnel/model/plan.hpp"
#include "windtunnel/model/verdict.hpp"
#include "windtunnel/train/memory.hpp"
#include "windtunnel/train/step.hpp"

namespace windtunnel::report {

struct TrainingStep {
    model::Layout layout;
    model::Verdict verdict;
    train::StepResult step;                  ///< has a meaning unless a rule between values is broken
    std::vector<train::StageMemory> stages;  ///< the same
    Bytes usable;                            ///< memory of a card that the job may use
    int smallest_cards = 0;                  ///< 0: none that fits
    int largest_micro_batch = 0;             ///< 0: none that fits
};

/// Is the step time known: every rule between values holds, memory may still be exceeded.
[[nodiscard]] bool has_step(const TrainingStep& answer) noexcept;

[[nodiscard]] std::string training_step_text(const model::Plan& plan, const TrainingStep& answer);
[[nodiscard]] std::string training_step_json(const model::Plan& plan, const TrainingStep& answer);

/// Tag of the weakest input of a number.
[[nodiscard]] std::string evidence_text(model::Evidence evidence);
/// "12.31 s (90 % of unseen rows within 8.1 %)", or a warning that no error is known.
[[nodiscard]] std::string evidence_note(const train::StepResult& step);
/// Lines "default: ..." and "assumed: ...".
[[nodiscard]] std::string plan_notes(const model::Plan& plan);

}  // namespace windtunnel::report
