#include "windtunnel/base/variates.hpp"

#include <array>
#include <cmath>

#include "windtunnel/base/contracts.hpp"

namespace windtunnel::base {

namespace {

/// Polynomial with ascending coefficients.
double polynomial(const std::array<double, 8>& coefficients, double x) noexcept {
    double sum = 0.0;
    for (auto at = coefficients.rbegin(); at != coefficients.rend(); ++at) sum = sum * x + *at;
    return sum;
}

// Coefficients of AS 241: numerator and denominator near the middle, in the shoulder and in the tail.
constexpr std::array<double, 8> middle_above{3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
                                             1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
                                             3.3430575583588128105e4, 2.5090809287301226727e3};
constexpr std::array<double, 8> middle_below{1.0,
                                             4.2313330701600911252e1,
                                             6.8718700749205790830e2,
                                             5.3941960214247511077e3,
                                             2.1213794301586595867e4,
                                             3.9307895800092710610e4,
                                             2.8729085735721942674e4,
                                             5.2264952788528545610e3};
constexpr std::array<double, 8> shoulder_above{
    1.42343711074968357734e0, 4.63033784615654529590e0,  5.76949722146069140550e0,  3.64784832476320460504e0,
    1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4};
constexpr std::array<double, 8> shoulder_below{1.0,
                                               2.05319162663775882187e0,
                                               1.67638483018380384940e0,
                                               6.89767334985100004550e-1,
                                               1.48103976427480074590e-1,
                                               1.51986665636164571966e-2,
                                               5.47593808499534494600e-4,
                                               1.05075007164441684324e-9};
constexpr std::array<double, 8> tail_above{
    6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,  2.96560571828504891230e-1,
    2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7};
constexpr std::array<double, 8> tail_below{1.0,
                                           5.99832206555887937690e-1,
                                           1.36929880922735805310e-1,
                                           1.48753612908506148525e-2,
                                           7.86869131145613259100e-4,
                                           1.84631831751005468180e-5,
                                           1.42151175831644588870e-7,
                                           2.04426310338993978564e-15};

}  // namespace

double normal_quantile(double probability) noexcept {
    expects(probability > 0.0 && probability < 1.0, "probability in (0, 1)");
    const double centred = probability - 0.5;
    if (std::abs(centred) <= 0.425) {
        const double r = 0.180625 - centred * centred;
        return centred * polynomial(middle_above, r) / polynomial(middle_below, r);
    }
    const double root = std::sqrt(-std::log(centred < 0.0 ? probability : 1.0 - probability));
    const double size = root <= 5.0 ? polynomial(shoulder_above, root - 1.6) / polynomial(shoulder_below, root - 1.6)
                                    : polynomial(tail_above, root - 5.0) / polynomial(tail_below, root - 5.0);
    return centred < 0.0 ? -size : size;
}

double exponential(Draws& draws, double mean) noexcept {
    return -mean * std::log(draws.uniform());
}

double weibull(Draws& draws, double shape, double scale) noexcept {
    expects(shape > 0.0 && scale >= 0.0, "weibull: positive shape");
    return scale * std::pow(-std::log(draws.uniform()), 1.0 / shape);
}

double normal(Draws& draws) noexcept {
    return normal_quantile(draws.uniform());
}

double lognormal(Draws& draws, double sigma, double median) noexcept {
    return median * std::exp(sigma * normal(draws));
}

double gamma(Draws& draws, double shape, double scale) noexcept {
    expects(shape > 0.0 && scale >= 0.0, "gamma: positive shape");
    if (shape < 1.0) {
        // Gamma(shape) = Gamma(shape + 1) x U^(1/shape)
        const double boost = std::pow(draws.uniform(), 1.0 / shape);
        return gamma(draws, shape + 1.0, scale) * boost;
    }
    const double d = shape - 1.0 / 3.0;
    const double c = 1.0 / std::sqrt(9.0 * d);
    while (true) {  // accepts at least 95 % of its proposals at every shape
        const double x = normal(draws);
        const double root = 1.0 + c * x;
        if (root <= 0.0) continue;
        const double v = root * root * root;
        if (std::log(draws.uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v * scale;
    }
}

}  // namespace windtunnel::base
