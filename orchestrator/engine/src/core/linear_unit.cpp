#include "core/linear_unit.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace softdock {

LinearUnit::LinearUnit(std::string name, Size size, int order, std::vector<Transition> transitions,
                       std::vector<double> direct, Phases phases)
    : Unit(std::move(name)),
      size_(size),
      order_(order),
      phases_(phases),
      transitions_(std::move(transitions)),
      direct_(std::move(direct)),
      values_(size.states + size.outputs),
      before_(size.states + static_cast<std::size_t>(1 + order) * size.inputs) {
    input_count_ = size.inputs;
    output_count_ = size.outputs;
    if (phases_.count < 1 || !(phases_.step_ns > 0.0)) {
        throw std::invalid_argument("'" + this->name() + "' needs a phase and a step at least");
    }
    const auto count = static_cast<std::size_t>(phases_.count);
    for (const auto& [step_ns, matrix] : transitions_) {
        if (matrix.size() != count * values_.size() * before_.size()) {
            throw std::invalid_argument("a matrix of '" + this->name() + "' is not of its size");
        }
    }
    if (!direct_.empty() && direct_.size() != size.outputs * size.inputs) {
        throw std::invalid_argument("the direct part of '" + this->name() + "' is not of its size");
    }
}

Status LinearUnit::set_inputs(const double* values) {
    const auto inputs = before_.begin() + static_cast<std::ptrdiff_t>(size_.states);
    std::fill(std::copy_n(values, size_.inputs, inputs), before_.end(), 0.0);
    return Status::ok;
}

Status LinearUnit::set_input_derivatives(const InputDerivatives& derivatives) {
    if (derivatives.order > order_) return cannot("take such derivatives of its inputs");
    auto place = before_.begin() + static_cast<std::ptrdiff_t>(size_.states + size_.inputs);
    for (int k = 1; k <= derivatives.order; ++k) {
        place = std::copy_n(derivatives.of(k), size_.inputs, place);
    }
    return Status::ok;
}

Status LinearUnit::step(std::int64_t time_ns, std::int64_t step_ns) {
    const auto found = std::find_if(transitions_.begin(), transitions_.end(),
                                    [&](const auto& one) { return one.first == step_ns; });
    if (found == transitions_.end()) return cannot("take a step of this length");
    std::copy_n(values_.begin(), size_.states, before_.begin());
    const auto number = std::llround(static_cast<double>(time_ns) / phases_.step_ns);
    const auto phase = static_cast<std::size_t>(number % phases_.count);
    const double* row = found->second.data() + phase * values_.size() * before_.size();
    for (auto& value : values_) {
        double sum = 0.0;
        for (const double one : before_) sum += *row++ * one;
        value = sum;
    }
    reached_.time_ns = time_ns + step_ns;
    return Status::ok;
}

Status LinearUnit::get_outputs(double* values) {
    std::copy(values_.begin() + static_cast<std::ptrdiff_t>(size_.states), values_.end(), values);
    return Status::ok;
}

Status LinearUnit::derivative(const double* inputs, double* outputs) {
    if (direct_.empty()) return cannot("give derivatives of its outputs");
    const double* row = direct_.data();
    for (std::size_t i = 0; i < size_.outputs; ++i) {
        outputs[i] = 0.0;
        for (std::size_t j = 0; j < size_.inputs; ++j) outputs[i] += *row++ * inputs[j];
    }
    return Status::ok;
}

Status LinearUnit::save(std::size_t number) {
    if (kept_.size() <= number) kept_.resize(number + 1);
    kept_[number] = values_;
    return Status::ok;
}

Status LinearUnit::restore(std::size_t number) {
    values_ = kept_[number];
    return Status::ok;
}

}  // namespace softdock
