#include "integration/me_unit.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include "integration/cvode_integrator.hpp"
#include "integration/dopri5_integrator.hpp"

namespace softdock {

namespace {

// How far a time may be off another and still count as that.
double near(double time) { return 4.0 * std::numeric_limits<double>::epsilon() * std::fabs(time); }

std::unique_ptr<Integrator> make_integrator(Ode& ode, const std::string& cvode_folder) {
    if (cvode_folder.empty()) return std::make_unique<Dopri5Integrator>(ode);
    return std::make_unique<CvodeIntegrator>(ode, cvode_folder);
}

}  // namespace

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", value);
    return text;
}

MeUnit::MeUnit(Model& model, double tolerance, const std::string& cvode_folder,
               std::vector<std::string> states)
    : Unit(model.unit().name()),
      model_(model),
      ode_(model, tolerance),
      integrator_(make_integrator(ode_, cvode_folder)),
      search_(ode_, *integrator_),
      names_(std::move(states)) {}

void MeUnit::bind() {
    input_count_ = model_.unit().input_count();
    output_count_ = model_.unit().output_count();
    text_input_count_ = model_.unit().text_input_count();
    text_output_count_ = model_.unit().text_output_count();
    inputs_.assign(input_count_, 0.0);
    derivatives_.assign(most_order * input_count_, 0.0);
    ode_.bind();
}

Status MeUnit::fail(Status status, std::string why) {
    failure_ = std::move(why);
    return status;
}

// What the instance said of a call that failed.
Status MeUnit::pass(Status status) {
    if (failed(status)) failure_ = model_.unit().failure();
    return status;
}

// Inputs that jump are an event, which happens when the step begins: until then they may be set
// again, and the outputs follow. Inputs that arrive where their derivatives have led go on.
Status MeUnit::set_inputs(const double* values) {
    failure_.clear();
    bool changed = !known_, jump = !known_;
    for (std::size_t i = 0; i < input_count_; ++i) {
        const double difference = std::fabs(values[i] - inputs_[i]);
        if (difference == 0.0) {  // from 0.0 to -0.0, or not at all
            changed |= std::signbit(values[i]) != std::signbit(inputs_[i]);
            continue;
        }
        changed = true;
        const double travelled = last_order_ ? travelled_by(i) : 0.0;
        const double rounding = near(values[i]) + near(inputs_[i]) + near(travelled);
        jump |= !(model_.is_continuous(i) && last_order_ && difference <= rounding);
    }
    if (!changed) return Status::ok;
    known_ = true;
    std::copy_n(values, input_count_, inputs_.begin());
    if (!running_) return pass(model_.unit().set_inputs(values));
    jumped_ = true;
    if (!jump && !event_mode_) return pass(model_.set_continuous_inputs(values));
    const auto status = expect_event();
    return failed(status) ? status : pass(model_.unit().set_inputs(values));
}

// How far the derivatives of an input have led in the last step, one by one.
double MeUnit::travelled_by(std::size_t i) const {
    double sum = 0.0, part = 1.0;
    for (int k = 1; k <= last_order_; ++k) {
        part *= length_ / k;
        sum += std::fabs(derivatives_[(k - 1) * input_count_ + i]) * part;
    }
    return sum;
}

Status MeUnit::expect_event() {
    if (event_mode_) return Status::ok;
    const auto status = model_.enter_event_mode();
    event_mode_ = !failed(status);
    return pass(status);
}

Status MeUnit::settle() { return event_mode_ ? happen(Cause::jump, 0) : Status::ok; }

double MeUnit::next_event() const {
    return has_next_ ? next_ : std::numeric_limits<double>::quiet_NaN();
}

Status MeUnit::set_input_derivatives(const InputDerivatives& derivatives) {
    auto place = derivatives_.begin();
    for (int k = 1; k <= derivatives.order; ++k) {
        place = std::copy_n(derivatives.of(k), input_count_, place);
    }
    order_ = derivatives.order;
    return Status::ok;
}

Status MeUnit::get_outputs(double* values) { return pass(model_.unit().get_outputs(values)); }

// Texts are discrete: setting one is an event.
Status MeUnit::set_texts(const std::string* values) {
    const auto status = running_ ? expect_event() : Status::ok;
    return failed(status) ? status : pass(model_.unit().set_texts(values));
}

Status MeUnit::get_texts(std::string* values) { return pass(model_.unit().get_texts(values)); }

Status MeUnit::derivative(const double* inputs, double* outputs) {
    return pass(model_.unit().derivative(inputs, outputs));
}

bool MeUnit::due(double end) const { return has_next_ && next_ <= end + near(end); }

Status MeUnit::step(std::int64_t time_ns, std::int64_t step_ns) {
    failure_.clear();
    const std::int64_t end_ns = time_ns + step_ns;
    const double begin = to_seconds(time_ns), end = to_seconds(end_ns);
    const double now = integrator_->time();
    if (ended_) return finish(end_ns, end);  // at the start
    if (!(std::fabs(now - begin) <= near(begin))) {
        return fail(Status::error, "the step begins at t = " + number(begin) +
                                       " s, but the unit is at t = " + number(now) + " s");
    }
    length_ = to_seconds(step_ns);
    ode_.set_inputs(now, inputs_.data(), {derivatives_.data(), input_count_, order_});
    auto status = event_mode_ ? happen(Cause::jump, 0) : Status::ok;
    if (failed(status)) return status;
    integrator_->begin(length_, jumped_ || order_ || last_order_);
    jumped_ = false;
    while (!ended_ && (integrator_->time() < end || due(end))) {
        status = move(end);
        if (failed(status)) return status;
    }
    return finish(end_ns, end);
}

Status MeUnit::finish(std::int64_t end_ns, double end) {
    const double now = integrator_->time();
    if (order_) std::copy_n(ode_.inputs_at(std::max(now, end)), input_count_, inputs_.begin());
    last_order_ = std::exchange(order_, 0);
    reached_ = {};
    reached_.time_ns = end_ns;
    if (!ended_) return Status::ok;
    reached_.time_ns = std::min(end_ns, static_cast<std::int64_t>(std::llround(now * 1e9)));
    reached_.early = reached_.time_ns < end_ns;
    reached_.terminate = true;
    if (!reached_.early) return Status::ok;
    return fail(Status::discard, "the model ended the simulation at t = " + number(now) + " s");
}

// One internal step, and the event at its end if there is one.
Status MeUnit::move(double end) {
    const double begin = integrator_->time();
    const double stop = due(end) ? std::max(next_, begin) : end;
    Crossing crossing;
    bool asks = false, terminate = false;
    if (stop > begin) {
        auto status = integrate(stop, crossing);
        if (failed(status)) return status;
        status = model_.completed_step(asks, terminate);
        if (failed(status)) return pass(status);
    }
    ended_ |= terminate;
    if (ended_) return Status::ok;
    if (crossing.found) return happen(Cause::state, crossing.indicator);
    if (has_next_ && integrator_->time() >= next_) return happen(Cause::time, 0);
    return asks ? happen(Cause::step, 0) : Status::ok;
}

// To `stop`, or to the first point before it at which something happens; the model is left there.
Status MeUnit::integrate(double stop, Crossing& crossing) {
    if (ode_.size() == 0) {
        integrator_->jump(stop);
    } else {
        const auto progress = integrator_->advance(stop);
        if (progress == Progress::broken) return pass(Status::error);
        if (progress == Progress::stuck) return stuck();
    }
    const auto value = search_.search(crossing);
    if (value == Value::broken) return pass(Status::error);
    if (value == Value::none) return unfit_indicator();
    if (crossing.missed) return accumulates(crossing.indicator);
    if (crossing.found) integrator_->cut(crossing.time);
    return Status::ok;
}

void MeUnit::write(std::vector<double>& memory) {
    const auto step = integrator_->save();
    memory.clear();
    for (const double value : {integrator_->time(),
                               step.step,
                               step.last_error,
                               length_,
                               next_,
                               double(has_next_),
                               double(running_),
                               double(event_mode_),
                               double(ended_),
                               double(known_),
                               double(jumped_),
                               double(order_),
                               double(last_order_),
                               double(search_.after_event()),
                               search_.rebound(),
                               watch_.crowd_since,
                               watch_.crowd,
                               watch_.in_block,
                               watch_.block_since,
                               watch_.last_block,
                               watch_.first_block,
                               watch_.shrinking}) {
        memory.push_back(value);
    }
    for (const auto* values : {&inputs_, &derivatives_, &search_.values()}) {
        memory.insert(memory.end(), values->begin(), values->end());
    }
}

std::vector<double> MeUnit::memory() {
    std::vector<double> written;
    write(written);
    return written;
}

Status MeUnit::put_back(const std::vector<double>& memory) {
    std::vector<double> mine;
    write(mine);
    if (memory.size() != mine.size()) {
        return fail(Status::error, "the saved state is of another model: expected " +
                                       std::to_string(mine.size()) + " numbers, found " +
                                       std::to_string(memory.size()));
    }
    auto next = memory.begin();
    StepMemory step;
    integrator_->set_time(*next++);
    for (auto* value : {&step.step, &step.last_error, &length_, &next_}) *value = *next++;
    for (auto* flag : {&has_next_, &running_, &event_mode_, &ended_, &known_, &jumped_}) {
        *flag = *next++ != 0.0;
    }
    for (auto* order : {&order_, &last_order_}) {
        const double found = *next++;  // no number, too: the memory may be of anybody
        *order = found >= 0.0 && found <= double(most_order) ? static_cast<int>(found) : 0;
    }
    search_.after_event() = *next++ != 0.0;
    for (auto* value :
         {&search_.rebound(), &watch_.crowd_since, &watch_.crowd, &watch_.in_block,
          &watch_.block_since, &watch_.last_block, &watch_.first_block, &watch_.shrinking}) {
        *value = *next++;
    }
    for (auto* values : {&inputs_, &derivatives_, &search_.values()}) {
        std::copy_n(next, values->size(), values->begin());
        next += static_cast<std::ptrdiff_t>(values->size());
    }
    integrator_->restore(step);
    ode_.set_inputs(integrator_->time(), inputs_.data(), {});
    if (!running_) return Status::ok;
    const auto status = ode_.read_nominals();
    return pass(failed(status) ? status : model_.get_states(integrator_->states()));
}

Status MeUnit::save(std::size_t number) {
    if (!can_roll_back()) return cannot("save its state");
    const auto status = pass(model_.unit().save(number));
    if (failed(status)) return status;
    if (number >= kept_.size()) kept_.resize(number + 1);
    write(kept_[number]);
    return status;
}

Status MeUnit::restore(std::size_t number) {
    if (number >= kept_.size() || kept_[number].empty()) {
        return cannot("go back to what was not saved");
    }
    const auto status = pass(model_.unit().restore(number));
    return failed(status) ? status : put_back(kept_[number]);
}

}  // namespace softdock
