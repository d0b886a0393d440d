// Backward differentiation formulas of variable order and step (CVODE), for stiff models.
#pragma once

#include <string>

#include "integration/cvode_library.hpp"
#include "integration/integrator.hpp"

namespace softdock {

class CvodeIntegrator final : public Integrator {
  public:
    // Throws std::runtime_error where the library cannot be used.
    CvodeIntegrator(Ode& ode, const std::string& folder);
    ~CvodeIntegrator() override;

    Progress advance(double end) override;
    void dense(double time, double* x) override;
    void restart() override { continues_ = false; }
    void begin(double, bool inputs_changed) override {
        if (inputs_changed) continues_ = false;
    }
    // The history cannot be copied. Saving ends it, for the copy and for the original, so that both
    // go on with equal results.
    StepMemory save() override;
    void restore(const StepMemory&) override { continues_ = false; }
    double step() const override;

  private:
    static int right_hand_side(double time, void* x, void* slopes, void* self);
    static int jacobian(double time, void* x, void* slopes, void* target, void* self, void*, void*,
                        void*);
    static int weights(void* x, void* weights, void* self);
    void create();
    void destroy();

    sundials::Library call_;
    sundials::Context context_ = nullptr;
    sundials::Vector states_ = nullptr, inside_ = nullptr;
    sundials::Matrix matrix_ = nullptr;
    sundials::LinearSolver solver_ = nullptr;
    sundials::Memory memory_ = nullptr;
    std::vector<double> columns_;
    bool continues_ = false, broken_ = false;
};

}  // namespace softdock
