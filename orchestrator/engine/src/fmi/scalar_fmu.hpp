// What instances of FMI 1.0 and 2.0 have in common: all variables are scalars, of four types, which
// are set and read as lists of value references.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "fmi/fmu.hpp"

namespace softdock {

// Value references that are set or read together: reals first, then integers, then Booleans.
struct Binding {
    References reals, integers, booleans;
    std::vector<std::string> integer_names;
    std::size_t size() const { return reals.size() + integers.size() + booleans.size(); }
};

// `Functions` are those of a version, `Boolean` is its type of that name.
template <class Functions, class Boolean>
class ScalarFmu : public Fmu {
  public:
    Functions& functions() { return call_; }

    Status set_strings(const References& references, const char** values,
                       std::size_t count) override {
        return note(call_.set_string(instance_, references.data(), count, values));
    }
    Status get_strings(const References& references, const char** values,
                       std::size_t count) override {
        return note(call_.get_string(instance_, references.data(), count, values));
    }

  protected:
    using Fmu::Fmu;

    void connect(Binding inputs, Binding outputs) {
        inputs_ = std::move(inputs);
        outputs_ = std::move(outputs);
        input_count_ = inputs_.size();
        output_count_ = outputs_.size();
        integers_.resize(std::max(inputs_.integers.size(), outputs_.integers.size()));
        booleans_.resize(std::max(inputs_.booleans.size(), outputs_.booleans.size()));
    }

    Status send(const double* values) {
        auto status = Status::ok;
        const auto n = inputs_.reals.size();
        if (n) status = note(call_.set_real(instance_, inputs_.reals.data(), n, values));
        if (n == input_count_ || failed(status)) return status;
        return std::max(status, send_discrete(values + n));
    }

    Status receive(double* values) {
        auto status = Status::ok;
        const auto n = outputs_.reals.size();
        if (n) status = note(call_.get_real(instance_, outputs_.reals.data(), n, values));
        if (n == output_count_ || failed(status)) return status;
        return std::max(status, receive_discrete(values + n));
    }

    Functions call_{};
    Binding inputs_, outputs_;

  private:
    // The inputs and outputs after the reals.
    Status send_discrete(const double* values);
    Status receive_discrete(double* values);

    std::vector<int> integers_;
    std::vector<Boolean> booleans_;
};

template <class Functions, class Boolean>
Status ScalarFmu<Functions, Boolean>::send_discrete(const double* values) {
    auto status = Status::ok;
    if (const auto n = inputs_.integers.size()) {
        for (std::size_t i = 0; i < n; ++i) {
            const double rounded = std::nearbyint(*values++);
            if (!(rounded >= std::numeric_limits<int>::min() &&
                  rounded <= std::numeric_limits<int>::max())) {
                return fail("input '" + inputs_.integer_names[i] + "': " + std::to_string(rounded) +
                            " does not fit " + Functions::integer_type);
            }
            integers_[i] = static_cast<int>(rounded);
        }
        status = note(call_.set_integer(instance_, inputs_.integers.data(), n, integers_.data()));
        if (failed(status)) return status;
    }
    if (const auto n = inputs_.booleans.size()) {
        for (std::size_t i = 0; i < n; ++i) booleans_[i] = *values++ != 0.0;
        status = std::max(status, note(call_.set_boolean(instance_, inputs_.booleans.data(), n,
                                                         booleans_.data())));
    }
    return status;
}

template <class Functions, class Boolean>
Status ScalarFmu<Functions, Boolean>::receive_discrete(double* values) {
    auto status = Status::ok;
    if (const auto n = outputs_.integers.size()) {
        status = note(call_.get_integer(instance_, outputs_.integers.data(), n, integers_.data()));
        if (failed(status)) return status;
        values = std::copy_n(integers_.data(), n, values);
    }
    if (const auto n = outputs_.booleans.size()) {
        status = std::max(status, note(call_.get_boolean(instance_, outputs_.booleans.data(), n,
                                                         booleans_.data())));
        if (failed(status)) return status;
        for (std::size_t i = 0; i < n; ++i) *values++ = booleans_[i] != 0;
    }
    return status;
}

}  // namespace softdock
