// A. C. Hindmarsh et al., SUNDIALS: Suite of Nonlinear and Differential/Algebraic Equation Solvers,
// ACM Transactions on Mathematical Software 31 (2005) 363-396.
#include "integration/cvode_integrator.hpp"

#include <algorithm>
#include <stdexcept>

namespace softdock {

namespace {

// CVODE: 0 is success, a positive number asks for a shorter step, a negative one ends.
int answer(Value value, bool& broken) {
    broken |= value == Value::broken;
    return value == Value::ok ? 0 : value == Value::none ? 1 : -1;
}

}  // namespace

CvodeIntegrator::CvodeIntegrator(Ode& ode, const std::string& folder)
    : Integrator(ode), call_(folder) {
    if (ode.model().has_jacobian()) columns_.resize(ode.size() * ode.size());
    try {
        if (ode.size() > 0) create();
    } catch (...) {
        destroy();
        throw;
    }
}

CvodeIntegrator::~CvodeIntegrator() { destroy(); }

// All memory but a copy of the Jacobian, which CVODE makes in its first step.
void CvodeIntegrator::create() {
    const auto size = static_cast<sundials::Index>(ode_.size());
    const auto require = [](bool made) {
        if (!made) throw std::runtime_error("CVODE could not be set up");
    };
    require(call_.create_context(sundials::no_communicator, &context_) == 0);
    require(call_.clear_handlers(context_) == 0);  // what it says is said again, by the unit
    require(states_ = call_.make_vector(size, x_.data(), context_));
    require(inside_ = call_.make_vector(size, before_.data(), context_));
    require(matrix_ = call_.make_matrix(size, size, context_));
    require(solver_ = call_.make_solver(states_, matrix_, context_));
    require(memory_ = call_.create(sundials::bdf, context_));
    require(call_.init(memory_, right_hand_side, 0.0, states_) == 0);
    require(call_.set_user_data(memory_, this) == 0);
    require(call_.set_weights(memory_, weights) == 0);
    require(call_.set_solver(memory_, solver_, matrix_) == 0);
    if (!columns_.empty()) require(call_.set_jacobian(memory_, jacobian) == 0);
}

void CvodeIntegrator::destroy() {
    if (memory_) call_.destroy(&memory_);
    if (solver_) call_.free_solver(solver_);
    if (matrix_) call_.destroy_matrix(matrix_);
    if (inside_) call_.destroy_vector(inside_);
    if (states_) call_.destroy_vector(states_);
    if (context_) call_.free_context(&context_);
}

int CvodeIntegrator::right_hand_side(double time, void* x, void* slopes, void* user) {
    auto& self = *static_cast<CvodeIntegrator*>(user);
    const auto& call = self.call_;
    return answer(self.ode_.derivatives(time, call.values(x), call.values(slopes)), self.broken_);
}

int CvodeIntegrator::jacobian(double time, void* x, void*, void* target, void* user, void*, void*,
                              void*) {
    auto& self = *static_cast<CvodeIntegrator*>(user);
    const auto n = self.ode_.size();
    const auto value = self.ode_.jacobian(time, self.call_.values(x), self.columns_.data());
    for (std::size_t j = 0; j < n; ++j) {
        double* column = self.call_.column(target, static_cast<sundials::Index>(j));
        std::copy_n(self.columns_.data() + j * n, n, column);
    }
    return answer(value, self.broken_);
}

int CvodeIntegrator::weights(void* x, void* target, void* user) {
    auto& self = *static_cast<CvodeIntegrator*>(user);
    const double* now = self.call_.values(x);
    double* weight = self.call_.values(target);
    for (std::size_t i = 0; i < self.ode_.size(); ++i) {
        weight[i] = 1.0 / self.ode_.scale(i, now[i], now[i]);
    }
    return 0;
}

Progress CvodeIntegrator::advance(double end) {
    const auto unfit = [this] { return broken_ ? Progress::broken : Progress::stuck; };
    broken_ = false;
    if (!continues_ && call_.reinit(memory_, time_, states_) != 0) return unfit();
    continues_ = false;
    double reached = time_;
    if (call_.set_stop_time(memory_, end) != 0 ||
        call_.step(memory_, end, states_, &reached, sundials::one_step) < 0 || !(reached > time_)) {
        return unfit();
    }
    time_before_ = time_;
    time_ = std::min(reached, end);
    continues_ = true;
    return Progress::advanced;
}

// The polynomial of the formula itself.
void CvodeIntegrator::dense(double time, double* x) {
    call_.set_values(x, inside_);
    call_.interpolate(memory_, time, 0, inside_);
}

StepMemory CvodeIntegrator::save() {
    continues_ = false;
    return {};
}

double CvodeIntegrator::step() const {
    double h = 0.0;
    if (memory_) call_.current_step(memory_, &h);
    return h;
}

}  // namespace softdock
