// Coupling elements that correct undelayed inputs by what the coupling did before.
#pragma once

#include <cstdint>

namespace softdock {

struct Context;

// What is added to an input after its line has brought a value, as a function of what the input was
// held at and of what its source then did. Only steps do it, and only those that are as long as the
// one before: after an event, or a step that was cut short, it begins anew.
//
// energy_integral (NEPCE; Benedikt, Watzenig and Hofer 2013, 10.1080/13873954.2013.784340): the
// integral of the input over a step is made up for by the next one. `order` is that of the
// polynomial through the source's samples less one: the integral of the source over the step before
// is taken by Adams and Moulton's quadrature of order + 2 samples.
//
// residual_energy (after Rodriguez and others 2022, 10.1007/s11044-022-09812-5): the energy that a
// power bond made is taken back by its effort or flow; see docs/explanation/compensations.md.
struct Compensation {
    enum class Method : std::int32_t {
        energy_integral = 0,
        residual_energy = 1,
        direct_response = 2  // of the outputs of member `answer`: see output_correction.hpp
    };
    // Places of its numbers behind `memory`: what is still to be made up for; what the input was
    // held at in the mean; the source's values at the steps' begins before, the newest first.
    static constexpr std::int32_t numbers = 5;

    Method method;
    std::int32_t source, target, memory, order;
    double factor, offset;  // of the line
    // Of the opposite line of a power bond.
    std::int32_t answer = 0, answered = 0;
    double answer_factor = 1.0;

    void execute(Context& context) const;

  private:
    void make_up_integral(Context& context, bool steady) const;
    void take_back_energy(Context& context, bool steady) const;
};

}  // namespace softdock
