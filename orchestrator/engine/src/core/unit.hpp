// What the engine steps: an FMU or a Python block behind one interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "core/failure.hpp"
#include "core/float_mode.hpp"
#include "core/waveform.hpp"

namespace softdock {

// The values of fmi2Status; every kind of unit reports in these.
enum class Status { ok = 0, warning = 1, discard = 2, error = 3, fatal = 4, pending = 5 };

inline bool failed(Status status) { return status > Status::warning; }

// Times of a run, its step and its delays are no farther from 0, 73 years: the sum of any four of
// them fits 64 bits (orchestrator/core/system/time.py).
constexpr std::int64_t reach_ns = (std::int64_t{1} << 61) - 1;
inline bool in_reach(std::int64_t ns) { return ns >= -reach_ns && ns <= reach_ns; }

inline double to_seconds(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }

// One step of a unit. Several units do the same: that it is divided once leaves their processor
// more room.
struct Stride {
    Stride(std::int64_t begin, std::int64_t end)
        : begin_ns(begin),
          length_ns(end - begin),
          begin_s(to_seconds(begin_ns)),
          length_s(to_seconds(length_ns)) {}

    std::int64_t end_ns() const { return begin_ns + length_ns; }

    std::int64_t begin_ns, length_ns;
    double begin_s, length_s;
};

struct Member;

// Units that step one after the other over the same time, with their inputs held.
struct UnitRow {
    const Member *first, *after;
    double* signals;
    Stride stride;
    const FloatWatch& watch;
};

// How a row ended.
struct RowEnd {
    const Member* last;  // the one that failed, or the last of all
    bool unfit = false;  // an output is not finite
};

// How the last step ended.
struct Reached {
    std::int64_t time_ns = 0;
    bool early = false;      // the unit returned before the end of the step
    bool event = false;      // it has an event that its importer must handle (FMI 3.0)
    bool terminate = false;  // it wants the whole run to end

    bool is(std::int64_t end_ns) const { return time_ns == end_ns; }
};

// What a unit said when its discrete states were updated (FMI 3.0.2, 2.3.5).
struct Discrete {
    bool again = false, terminate = false, values_changed = false, has_next = false;
    std::int64_t next_ns = 0;
};

class Unit {
  public:
    explicit Unit(std::string name) : name_(std::move(name)) {}
    virtual ~Unit() = default;
    Unit(const Unit&) = delete;
    Unit& operator=(const Unit&) = delete;

    // Inputs and outputs are contiguous doubles in the order in which they were bound. Integers and
    // Booleans of FMI 2.0 (32 bits) are exact in a double.
    virtual Status set_inputs(const double* values) = 0;
    virtual Status step(std::int64_t time_ns, std::int64_t step_ns) = 0;
    virtual Status get_outputs(double* values) = 0;
    // All three of the members of a row: of the first, which this is, and of those that join it, up
    // to one that fails; no outputs if its step did not go to its end.
    virtual Status advance_row(const UnitRow& row, RowEnd& end);
    // What members that join each other have in common; null: none joins this one.
    virtual const void* row_kind() const { return nullptr; }

    // String and Binary connectors, as bytes, in the order in which they were bound; none by
    // default.
    virtual Status set_texts(const std::string* values);
    virtual Status get_texts(std::string* values);

    // What only some kinds can. A call of what a unit cannot is an error, and changes nothing.

    // Keeps a copy of all that the next step depends on under a number (0, 1, ..), over what was
    // kept there before. The unit owns it; only the first call for a number allocates.
    virtual bool can_roll_back() const { return false; }
    virtual Status save(std::size_t number);
    virtual Status restore(std::size_t number);

    // Inputs that change during a step: the highest derivative that is used (0: inputs are held),
    // and the derivatives, which are used for Reals only. They hold for one step, and are set after
    // the inputs.
    virtual int input_order() const { return 0; }
    virtual Status set_input_derivatives(const InputDerivatives& derivatives);

    // change of the outputs = (d outputs / d inputs) * change of the inputs, at this moment.
    virtual bool has_derivatives() const { return false; }
    virtual Status derivative(const double* inputs, double* outputs);

    // Units that give the same address can be stepped in one go: of each is said what its next step
    // will be, with its inputs, and then they are stepped as usual; or it is withdrawn.
    virtual const void* company() const { return nullptr; }
    virtual void expect_step(const double* inputs, const InputDerivatives& derivatives,
                             std::int64_t time_ns, std::int64_t step_ns);
    virtual void withdraw_step() {}

    // Whether only the thread that runs the engine may step it.
    virtual bool needs_interpreter() const { return false; }

    // Event mode (FMI 3.0): enter, set and get, update until nothing asks for more, leave.
    virtual bool has_event_mode() const { return false; }
    virtual Status enter_event_mode();
    virtual Status update_discrete(Discrete& update);
    virtual Status enter_step_mode();
    // When it must be in event mode next, whatever happens: its own time event or tick of a clock.
    static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max() / 2;
    virtual std::int64_t due_ns() const { return never; }

    // A call has left another floating-point mode in its thread, which was put back.
    void changed_mode() { changed_mode_ = true; }
    bool has_changed_mode() const { return changed_mode_; }

    // Of the last step; meaningful if it was ok.
    const Reached& reached() const { return reached_; }

    std::size_t input_count() const { return input_count_; }
    std::size_t output_count() const { return output_count_; }
    std::size_t text_input_count() const { return text_input_count_; }
    std::size_t text_output_count() const { return text_output_count_; }
    const std::string& name() const { return name_; }
    // Whether the last failure is a wish to end the run (Ctrl-C), not a matter of the step.
    virtual bool interrupted() const { return false; }
    // Why the last call failed; empty if the unit did not say.
    const std::string& failure() const { return failure_; }
    // And as data, where it was a step and the unit knows more than words.
    virtual Failure cause() const { return {}; }

  protected:
    Status cannot(const char* what);
    Reached reached_;
    std::size_t input_count_ = 0;
    std::size_t output_count_ = 0;
    std::size_t text_input_count_ = 0;
    std::size_t text_output_count_ = 0;
    std::string failure_;

  private:
    std::string name_;
    bool changed_mode_ = false;
};

// Stands around every call of a unit: then the floating-point mode of this thread is what it was.
class ModeKept {
  public:
    explicit ModeKept(Unit& unit) : unit_(unit), before_(FloatMode::now()) {}
    ~ModeKept() {
        if (!(FloatMode::now() != before_)) return;
        before_.set();
        unit_.changed_mode();
    }
    ModeKept(const ModeKept&) = delete;
    ModeKept& operator=(const ModeKept&) = delete;

  private:
    Unit& unit_;
    FloatMode before_;
};

// The same around one of many calls, whose thread is watched.
class ModeWatched {
  public:
    ModeWatched(Unit& unit, const FloatWatch& watch) : unit_(unit), watch_(watch) {}
    ~ModeWatched() {
        if (!watch_.changed()) return;
        watch_.put_back();
        unit_.changed_mode();
    }
    ModeWatched(const ModeWatched&) = delete;
    ModeWatched& operator=(const ModeWatched&) = delete;

  private:
    Unit& unit_;
    const FloatWatch& watch_;
};

}  // namespace softdock
