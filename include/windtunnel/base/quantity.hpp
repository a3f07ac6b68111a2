#pragma once
/// Dimensioned numbers. The dimension is part of the type, so `Seconds{1} + Bytes{1}` does not compile.
/// Units held: second, byte, floating-point operation, joule, US dollar.
#include <compare>

namespace windtunnel::base {

/// A double with integer exponents of time, data, work, energy and money.
template <int Time, int Data, int Work, int Energy, int Money>
class Quantity {
public:
    constexpr Quantity() noexcept = default;
    constexpr explicit Quantity(double value) noexcept : value_{value} {}

    /// The number in the units named at the top of this file.
    [[nodiscard]] constexpr double value() const noexcept { return value_; }

    constexpr Quantity& operator+=(Quantity other) noexcept {
        value_ += other.value_;
        return *this;
    }
    constexpr Quantity& operator-=(Quantity other) noexcept {
        value_ -= other.value_;
        return *this;
    }
    constexpr Quantity& operator*=(double factor) noexcept {
        value_ *= factor;
        return *this;
    }
    constexpr Quantity& operator/=(double divisor) noexcept {
        value_ /= divisor;
        return *this;
    }

    friend constexpr Quantity operator+(Quantity a, Quantity b) noexcept { return Quantity{a.value_ + b.value_}; }
    friend constexpr Quantity operator-(Quantity a, Quantity b) noexcept { return Quantity{a.value_ - b.value_}; }
    friend constexpr Quantity operator-(Quantity a) noexcept { return Quantity{-a.value_}; }
    friend constexpr Quantity operator*(Quantity a, double factor) noexcept { return Quantity{a.value_ * factor}; }
    friend constexpr Quantity operator*(double factor, Quantity a) noexcept { return Quantity{factor * a.value_}; }
    friend constexpr Quantity operator/(Quantity a, double divisor) noexcept { return Quantity{a.value_ / divisor}; }
    friend constexpr auto operator<=>(Quantity a, Quantity b) noexcept = default;

private:
    double value_ = 0.0;
};

/// Product and quotient of quantities; a dimensionless result is a plain double.
template <int T1, int D1, int W1, int E1, int M1, int T2, int D2, int W2, int E2, int M2>
[[nodiscard]] constexpr auto operator*(Quantity<T1, D1, W1, E1, M1> a, Quantity<T2, D2, W2, E2, M2> b) noexcept {
    const double product = a.value() * b.value();
    if constexpr (T1 + T2 == 0 && D1 + D2 == 0 && W1 + W2 == 0 && E1 + E2 == 0 && M1 + M2 == 0)
        return product;
    else
        return Quantity<T1 + T2, D1 + D2, W1 + W2, E1 + E2, M1 + M2>{product};
}
template <int T1, int D1, int W1, int E1, int M1, int T2, int D2, int W2, int E2, int M2>
[[nodiscard]] constexpr auto operator/(Quantity<T1, D1, W1, E1, M1> a, Quantity<T2, D2, W2, E2, M2> b) noexcept {
    const double quotient = a.value() / b.value();
    if constexpr (T1 == T2 && D1 == D2 && W1 == W2 && E1 == E2 && M1 == M2)
        return quotient;
    else
        return Quantity<T1 - T2, D1 - D2, W1 - W2, E1 - E2, M1 - M2>{quotient};
}
template <int T, int D, int W, int E, int M>
[[nodiscard]] constexpr auto operator/(double a, Quantity<T, D, W, E, M> b) noexcept {
    return Quantity<-T, -D, -W, -E, -M>{a / b.value()};
}

using Seconds = Quantity<1, 0, 0, 0, 0>;
using PerSecond = Quantity<-1, 0, 0, 0, 0>;
using Bytes = Quantity<0, 1, 0, 0, 0>;
using BytesPerSecond = Quantity<-1, 1, 0, 0, 0>;
using Flops = Quantity<0, 0, 1, 0, 0>;  ///< a number of floating-point operations, not a rate
using FlopsPerSecond = Quantity<-1, 0, 1, 0, 0>;
using Joules = Quantity<0, 0, 0, 1, 0>;
using Watts = Quantity<-1, 0, 0, 1, 0>;
using Usd = Quantity<0, 0, 0, 0, 1>;
using UsdPerSecond = Quantity<-1, 0, 0, 0, 1>;
using UsdPerJoule = Quantity<0, 0, 0, -1, 1>;

inline constexpr double kib = 1024.0, mib = 1024.0 * kib, gib = 1024.0 * mib, tib = 1024.0 * gib;
inline constexpr double kilo = 1e3, mega = 1e6, giga = 1e9, tera = 1e12, peta = 1e15;
inline constexpr Seconds minute{60.0}, hour{3600.0}, day{86400.0}, year{365.0 * 86400.0};

}  // namespace windtunnel::base

namespace windtunnel {
using base::Bytes;
using base::BytesPerSecond;
using base::Flops;
using base::FlopsPerSecond;
using base::Joules;
using base::PerSecond;
using base::Seconds;
using base::Usd;
using base::UsdPerJoule;
using base::UsdPerSecond;
using base::Watts;
}  // namespace windtunnel
