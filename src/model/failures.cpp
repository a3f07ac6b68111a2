#include "windtunnel/model/failures.hpp"

#include <cmath>

namespace windtunnel::model {

Seconds mean(const Law& law) {
    switch (law.kind) {
        case LawKind::exponential:
        case LawKind::deterministic:
            return law.scale;
        case LawKind::weibull:
            return law.scale * std::tgamma(1.0 + 1.0 / law.shape);
        case LawKind::lognormal:
            return law.scale * std::exp(0.5 * law.shape * law.shape);
        case LawKind::gamma:
            return law.scale * law.shape;
    }
    return law.scale;
}

}  // namespace windtunnel::model
