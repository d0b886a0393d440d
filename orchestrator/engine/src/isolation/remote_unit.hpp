// A unit that runs in another process: one round trip through shared memory for each command.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/unit.hpp"
#include "isolation/remote_process.hpp"
#include "isolation/shared_block.hpp"
#include "isolation/step_log.hpp"

namespace softdock {

// What is asked of whoever started the process, since only he can do it; a unit that cannot go on
// without it says so by his answer `false`.
enum class Help {
    keep = 0,     // take a state out of the process and keep it
    restart = 1,  // start another process and put the kept state into it
};

class RemoteUnit final : public Unit {
  public:
    // Memory for up to so many inputs and outputs; it is set to zero. The process outlives the
    // unit.
    RemoteUnit(RemoteProcess& process, std::string name, int memory, std::size_t most_inputs,
               std::size_t most_outputs);
    ~RemoteUnit() override { process_.leave(number_); }

    // In its process.
    std::uint32_t number() const { return number_; }
    void bind(std::size_t inputs, std::size_t outputs);
    void declare(bool rolls_back, int input_order, bool has_derivatives, bool has_event_mode);
    // How long a call may take.
    void limit(std::int64_t limit_ns) { limit_ns_ = limit_ns; }
    std::int64_t limit_ns() const { return limit_ns_; }

    // After a failure the outputs stay what they were and every call succeeds.
    void hold_on_failure() { holds_ = true; }
    // After a failure another process goes on from the state that was kept, which happens every
    // `every` steps, with the inputs since then. A state was kept just before this is called.
    void restart_on_failure(std::function<bool(Help)> help, std::size_t every);
    // A state was kept just now.
    void kept() {
        past_.clear();
        stale_ = false;
    }

    // Sends the inputs that wait for the next command.
    Status flush();
    // Tells the worker that a message lies on the socket, which may change the outputs.
    void ring();
    // Gives the process up and ends it; `why` is the reason.
    void lose(std::string why);
    // Says that an answer did not come in time.
    std::string late() const;
    bool lost() const { return process_.lost(); }
    // Why the process is lost.
    std::string loss() const { return process_.loss(number_); }

    // For its process.
    UnitHeader& header() const { return block_.header(); }
    void asked_in(std::uint32_t request) { request_ = request; }
    bool was_served() const { return header().served.load() == request_; }

    bool held() const { return held_; }
    std::int64_t held_ns() const { return held_ns_; }
    const std::string& held_reason() const { return held_reason_; }

    Status set_inputs(const double* values) override;
    Status step(std::int64_t time_ns, std::int64_t step_ns) override;
    Status get_outputs(double* values) override;
    Failure cause() const override { return cause_; }
    bool can_roll_back() const override { return rolls_back_; }
    Status save(std::size_t number) override;
    Status restore(std::size_t number) override;
    int input_order() const override { return input_order_; }
    Status set_input_derivatives(const InputDerivatives& derivatives) override;
    bool has_derivatives() const override { return has_derivatives_; }
    Status derivative(const double* inputs, double* outputs) override;
    bool has_event_mode() const override { return has_event_mode_; }
    Status enter_event_mode() override;
    Status update_discrete(Discrete& update) override;
    Status enter_step_mode() override;
    const void* company() const override { return process_.shared() ? &process_ : nullptr; }
    void expect_step(const double* inputs, const InputDerivatives& derivatives,
                     std::int64_t time_ns, std::int64_t step_ns) override;
    void withdraw_step() override;

  private:
    Status ask(Command command);
    Status answer();
    Status ask_or_hold(Command command);
    Status fetch();
    Status play(std::int64_t time_ns, std::int64_t step_ns);
    Status replay();
    bool keep();
    Status check_outputs();
    void hold(std::int64_t time_ns);

    RemoteProcess& process_;
    SharedBlock block_;
    std::uint32_t number_ = no_member;
    std::uint32_t request_ = 0;  // in which it is asked together with others
    bool expected_ = false;      // to be stepped with others: the inputs are given
    std::int64_t limit_ns_ = 10000000000;
    bool rolls_back_ = false, has_derivatives_ = false, has_event_mode_ = false;
    int input_order_ = 0;
    bool new_inputs_ = false;  // not sent yet
    int new_order_ = 0;        // of derivatives that are not
    bool fresh_ = false;       // last_ is what the unit puts out now
    Status outputs_status_ = Status::ok;
    std::vector<double> last_;
    std::int64_t now_ns_ = 0;
    Failure cause_;
    bool holds_ = false, held_ = false;
    std::int64_t held_ns_ = 0;
    std::string held_reason_;
    struct Kept {
        std::int64_t time_ns = 0;
        std::vector<double> outputs;
    };
    std::vector<Kept> kept_;  // with each saved state, where a unit that fails is held
    std::function<bool(Help)> help_;
    bool stale_ = false;  // the kept state does not lead to the present one
    std::size_t every_ = 0;
    StepLog past_;  // since the kept state
};

}  // namespace softdock
