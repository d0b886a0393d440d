#include "integration/moving_inputs.hpp"

namespace softdock {

void MovingInputs::bind(const std::vector<Row>& rows) {
    moving_.clear();
    references_.clear();
    places_.clear();
    for (const auto& [reference, size, moves] : rows) {
        if (moves) references_.push_back(reference);
        for (std::size_t i = 0; i < size; ++i) {
            if (moves) places_.push_back(moving_.size());
            moving_.push_back(moves);
        }
    }
    values_.resize(places_.size());
}

const std::vector<double>& MovingInputs::pick(const double* inputs) {
    for (std::size_t i = 0; i < places_.size(); ++i) values_[i] = inputs[places_[i]];
    return values_;
}

}  // namespace softdock
