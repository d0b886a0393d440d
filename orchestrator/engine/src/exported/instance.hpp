// One instance of an exported system: the engine with its inner FMUs behind the calls of FMI.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "exported/boundary.hpp"
#include "exported/inner_unit.hpp"
#include "exported/tables.hpp"
#include "run/engine.hpp"

namespace softdock {

// Everything that the next step depends on.
struct SystemState {
    EngineState engine;
    std::vector<double> values;
    std::vector<std::string> texts;
    std::vector<std::unique_ptr<SavedState>> fmus;  // none after the instance was reset
    std::vector<std::vector<double>> memories;
    int mode = 0;
    std::int64_t start_ns = 0;
};

class SystemInstance {
  public:
    using Log = std::function<void(Status, const char* category, const std::string& text)>;
    enum Mode { instantiated = 1, initialising = 2, stepping = 4, terminated = 8, broken = 16 };

    // Throws std::runtime_error if the file, a component or the token is not what is expected.
    SystemInstance(std::string name, const std::string& resources, const std::string& token,
                   bool logging, Log log);
    ~SystemInstance();

    // Times in seconds.
    Status set_experiment(double start, bool has_stop, double stop);
    Status enter_initialization();
    Status exit_initialization();
    Status step(double time, double length);
    Status terminate();
    Status reset();
    // Turns messages on or off: all of them, or those of some categories.
    Status set_logging(bool on, std::size_t count, const char* const* categories);

    // Of the last step that was done, in seconds.
    double time() const;
    bool wants_end() const { return wants_end_; }

    // Variables by value reference; null where there is none of that kind (after a message).
    const Variable* find(std::uint32_t reference, const char* doing);
    // Makes what is read consistent; false (after a message) where nothing can be read.
    bool readable(const Variable& variable);
    const double* numbers(std::uint32_t reference) const;
    const std::string* texts(std::uint32_t reference) const;
    Status set_numbers(std::uint32_t reference, const double* values);
    double* room() { return given_.data(); }  // for the numbers of one variable
    Status set_texts(std::uint32_t reference, const std::string* values);

    // Saves into the state that is given, or into a new one if it is null.
    Status save(SystemState** state);
    Status restore(SystemState* state);
    Status release(SystemState** state);  // and sets it to null
    Status serialize(SystemState* state, std::string& bytes);
    Status serialize_into(SystemState* state, char* to, std::size_t size);
    Status deserialize(const char* bytes, std::size_t count, SystemState** state);

    Status fail(const std::string& text);
    bool expect(int modes, const char* doing);

  private:
    void build();
    void make_boundary(const MemberRow& row);
    void make_engine();
    void settle_values();
    Status settable(const Variable& variable);
    Status pass_on(const Variable& variable, std::size_t place);
    template <class Part>
    Status exchange(const Part& part);
    Status initialise();
    Status begin();
    Status hold_inputs(std::int64_t now_ns);
    void find_outward();
    void show_events();
    Status ended(const Outcome& outcome, std::int64_t begin_ns);
    std::string reason(const Outcome& outcome) const;
    void forward();
    Status blame(InnerUnit& unit, const std::string& doing);
    bool known(SystemState* state);

    const std::string name_, resources_;
    SystemTables tables_;
    Log log_;
    bool logging_;
    Mode mode_ = instantiated;
    bool stale_ = true;  // what is read in initialisation mode is to be made consistent
    bool wants_end_ = false;
    bool ended_at_start_ = false;  // the first step is none: FMI tells an end with a step only
    std::int64_t start_ns_ = 0;
    bool has_stop_ = false;
    double stop_ = 0.0;

    std::vector<std::unique_ptr<InnerUnit>> fmus_;
    std::vector<std::unique_ptr<Boundary>> boundaries_;
    std::vector<Unit*> units_;  // of the members
    Boundary* source_ = nullptr;
    std::size_t first_signal_ = 0, first_text_ = 0;  // of what goes in
    std::unique_ptr<Engine> engine_;
    std::vector<Operation> outward_;  // what brings undelayed values out

    // What was set from outside: values of inputs and parameters, one after the other.
    std::vector<double> values_;
    std::vector<std::string> texts_;
    std::vector<std::size_t> places_;   // of each variable in one of them
    std::vector<double> given_, sent_;  // numbers of one variable on their way
    std::set<SystemState*> saved_;
};

}  // namespace softdock
