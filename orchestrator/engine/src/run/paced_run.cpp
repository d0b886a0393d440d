#include "run/paced_run.hpp"

namespace softdock {

namespace {

// Lets the units' steps be timed, and signals be seen, as long as it lives.
class Watched {
  public:
    Watched(Context& context, Pacer& pacer) : context_(context), pacer_(pacer) {
        context_.costs = &pacer.costs();
        pacer_.watch(&signals_);
    }
    ~Watched() {
        context_.costs = nullptr;
        pacer_.watch(nullptr);
    }
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;

  private:
    SignalWatch signals_;
    Context& context_;
    Pacer& pacer_;
};

}  // namespace

Outcome run_paced(Engine& engine, Pacer& pacer, std::int64_t steps, std::int64_t goal_ns) {
    engine.recorder().require_room(engine.context().done, steps);
    const Watched watched(engine.context(), pacer);
    Outcome outcome;
    while (engine.has_steps(outcome, steps, goal_ns)) {
        const auto begin_ns = engine.time_ns();
        if (!pacer.begin_step(begin_ns)) break;
        engine.step(goal_ns, outcome);
        if (failed(outcome.status)) return outcome;
        if (!pacer.end_step(engine.context().done, begin_ns, engine.time_ns())) break;
    }
    outcome.status = Status::ok;
    return outcome;
}

}  // namespace softdock
