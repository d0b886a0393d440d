#include "algorithms/elimination.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

namespace softdock {

bool eliminate(std::vector<double>& a, std::vector<double>& b) {
    const auto n = b.size();
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t pivot = k;
        for (std::size_t i = k + 1; i < n; ++i) {
            if (std::fabs(a[i * n + k]) > std::fabs(a[pivot * n + k])) pivot = i;
        }
        if (!(std::fabs(a[pivot * n + k]) > least_pivot)) return false;
        for (std::size_t j = 0; j < n && pivot != k; ++j) std::swap(a[k * n + j], a[pivot * n + j]);
        std::swap(b[k], b[pivot]);
        for (std::size_t i = k + 1; i < n; ++i) {
            const double factor = a[i * n + k] / a[k * n + k];
            for (std::size_t j = k + 1; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
            b[i] -= factor * b[k];
        }
    }
    for (std::size_t k = n; k-- > 0;) {
        for (std::size_t j = k + 1; j < n; ++j) b[k] -= a[k * n + j] * b[j];
        b[k] /= a[k * n + k];
        if (!std::isfinite(b[k])) return false;
    }
    return true;
}

}  // namespace softdock
