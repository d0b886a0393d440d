// The inputs of a model that may change while time goes on, among all its inputs.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

namespace softdock {

class MovingInputs {
  public:
    // Of a real input: value reference, number of elements, whether it may change continuously.
    using Row = std::tuple<std::uint32_t, std::size_t, bool>;

    // All real inputs in the order of the unit, where they come first.
    void bind(const std::vector<Row>& rows);

    bool contains(std::size_t element) const {
        return element < moving_.size() && moving_[element] != 0;
    }
    // Their values among those of all inputs.
    const std::vector<double>& pick(const double* inputs);
    const std::vector<std::uint32_t>& references() const { return references_; }

  private:
    std::vector<char> moving_;  // by element
    std::vector<std::uint32_t> references_;
    std::vector<std::size_t> places_;
    std::vector<double> values_;
};

}  // namespace softdock
