// Linear equations of a few unknowns.
#pragma once

#include <vector>

namespace softdock {

// The Jacobian of g(x) - x where nothing acts back is -1. A gain of 1 leaves what differences of
// rounded numbers leave, about 1e-10, and a step to nowhere.
constexpr double least_pivot = 1e-8;

// Of an unknown, for differences, by its size or 1. Units integrate with errors of their own: far
// above those, far below the signals.
constexpr double perturbation = 1e-6;

// Solves a x = b by elimination with row pivots; `a` (rows of b's size) is used up and `b` becomes
// x. False where `a` is singular, or a number is not finite.
bool eliminate(std::vector<double>& a, std::vector<double>& b);

}  // namespace softdock
