// A unit that runs in a process of its own: one round trip through shared memory for each command.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "remote_process.hpp"
#include "shared_block.hpp"
#include "step_log.hpp"
#include "unit.hpp"

namespace softdock {

// What is asked of whoever started the process, since only he can do it; a unit that cannot go on
// without it says so by his answer `false`.
enum class Help {
    keep = 0,     // take a state out of the process and keep it
    restart = 1,  // start another process and put the kept state into it
};

class RemoteUnit final : public Unit {
  public:
    // Memory for up to so many inputs and outputs; it is set to zero.
    RemoteUnit(std::string name, int memory, std::size_t most_inputs, std::size_t most_outputs);

    // A process has begun: `process` is its pidfd, which stays the caller's.
    void attach(int process);
    void bind(std::size_t inputs, std::size_t outputs);
    void declare(bool rolls_back, bool takes_slopes, bool has_derivatives, bool has_event_mode);
    // How long a call may take.
    void limit(std::int64_t limit_ns) { limit_ns_ = limit_ns; }

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
    // Tells the worker that a message lies on the socket.
    void ring();
    // Gives the process up and ends it; `why` is the reason.
    void lose(std::string why);
    // How the process ended, in words; waits for its end.
    std::string end() const { return process_.end(); }
    // Says that an answer did not come in time.
    std::string late() const;

    bool lost() const { return lost_; }
    bool held() const { return held_; }
    std::int64_t held_ns() const { return held_ns_; }
    const std::string& held_reason() const { return held_reason_; }

    Status set_inputs(const double* values) override;
    Status step(std::int64_t time_ns, std::int64_t step_ns) override;
    Status get_outputs(double* values) override;
    bool can_roll_back() const override { return rolls_back_; }
    Status save(std::size_t number) override;
    Status restore(std::size_t number) override;
    bool takes_slopes() const override { return takes_slopes_; }
    Status set_slopes(const double* slopes) override;
    bool has_derivatives() const override { return has_derivatives_; }
    Status derivative(const double* inputs, double* outputs) override;
    bool has_event_mode() const override { return has_event_mode_; }
    Status enter_event_mode() override;
    Status update_discrete(Discrete& update) override;
    Status enter_step_mode() override;

  private:
    Status ask(Command command);
    Status ask_or_hold(Command command);
    Status fetch();
    Status play(std::int64_t time_ns, std::int64_t step_ns);
    Status replay();
    bool keep();
    bool wait(std::uint32_t number);
    Status check_outputs();
    void hold(std::int64_t time_ns);

    SharedBlock block_;
    RemoteProcess process_;
    std::uint32_t asked_ = 0;
    std::int64_t limit_ns_ = 10000000000;
    bool rolls_back_ = false, takes_slopes_ = false, has_derivatives_ = false;
    bool has_event_mode_ = false;
    bool new_inputs_ = false, new_slopes_ = false;  // not sent yet
    bool fresh_ = false;                            // last_ is what the unit puts out now
    Status outputs_status_ = Status::ok;
    std::vector<double> last_;
    std::int64_t now_ns_ = 0;
    bool lost_ = false;
    bool holds_ = false, held_ = false;
    std::int64_t held_ns_ = 0;
    std::string lost_reason_, held_reason_;
    std::function<bool(Help)> help_;
    bool stale_ = false;  // the kept state does not lead to the present one
    std::size_t every_ = 0;
    StepLog past_;  // since the kept state
};

}  // namespace softdock
