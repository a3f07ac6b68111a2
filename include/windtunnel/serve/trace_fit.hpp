#pragma once
/// Laws fitted to a request trace, row by row, in memory that does not grow with it.
///
/// Model:   time between arrivals: Poisson, gamma and Weibull with the mean and the coefficient of variation of the
///          trace. Lengths: lognormal and gamma by maximum likelihood, Weibull by mean and variance of the logarithm,
///          from sums. Goodness: the largest distance between both distribution functions (Kolmogorov and Smirnov),
///          read from a histogram of 0.1 % wide buckets; lengths are whole, so half a token lies between two of them.
/// Inputs:  rows in the order of time, inputs and outputs from 1 on.
/// Returns: every law that was tried with its distance, the best one first; the distance that one in twenty samples of
///          a true law exceeds, 1.358 / sqrt(n).
/// Limits:  rows are taken as independent; a trace with tides or sessions is not.
/// Source:  Johnson, Kotz, Balakrishnan, Continuous Univariate Distributions 1; Massey, JASA 46, 1951.
#include <string>
#include <vector>

#include "windtunnel/base/moments.hpp"
#include "windtunnel/model/serving.hpp"
#include "windtunnel/serve/histogram.hpp"

namespace windtunnel::serve {

struct FittedLaw {
    std::string law;         ///< word of the key table
    double mean = 0.0;       ///< seconds or tokens
    double variation = 0.0;  ///< standard deviation / mean of the law
    double shape = 1.0;      ///< of gamma and Weibull
    double distance = 0.0;   ///< Kolmogorov and Smirnov
};

struct TraceFit {
    std::int64_t rows = 0;
    double span_s = 0.0;
    base::Moments gaps_s, input, output;
    double mean_of_products = 0.0;                     ///< input x output
    std::vector<FittedLaw> arrivals, inputs, outputs;  ///< best first
    double critical = 0.0;
    /// Between input and output; 0 where one of them does not vary.
    [[nodiscard]] double correlation() const noexcept;
};

class TraceStatistics {
public:
    void add(const model::TraceRow& row);
    [[nodiscard]] TraceFit fit() const;

private:
    struct Lengths {
        base::Moments plain, logarithm;
        Histogram histogram;
        void add(double tokens);
    };
    base::Moments gaps_;
    Histogram gap_histogram_;
    Lengths input_, output_;
    base::Moments products_;
    double last_s_ = 0.0;
};

}  // namespace windtunnel::serve
