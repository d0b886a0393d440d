// The inputs or outputs of an FMI 3.0 unit, transferred as runs of one type.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/unit.hpp"
#include "fmi/fmi3.hpp"

namespace softdock {

class Fmu3;

enum class Type3 {
    float64,
    float32,
    int8,
    uint8,
    int16,
    uint16,
    int32,
    uint32,
    int64,
    uint64,
    boolean,
    clock,
};

// The type by the standard's name, such as "Float64". Throws if there is none.
Type3 type3(const std::string& name);

struct Port3 {
    std::string name;
    Type3 type;
    fmi3ValueReference reference;
    std::size_t size;                        // elements, row-major
    bool discrete;                           // changes at events only
    std::vector<fmi3ValueReference> clocks;  // those at whose ticks it changes, if any
};

// What may be set, by the mode of the FMU (FMI 3.0.2, 4.2.1).
enum class Setting {
    all,         // before the first step, and always in an FMU without event mode
    continuous,  // in step mode
    events,      // in event mode: clocks, then what has no clock or one that ticks
};

// Values are doubles in the order of the ports; Float64 and Float32 ports come first.
class Ports3 {
  public:
    Ports3(Fmu3& fmu, std::vector<Port3> ports);

    Status set(const double* values, Setting setting);
    // Clocks read 0 but in event mode.
    Status get(double* values, bool event_mode);
    // Whether a discrete value that has no clock differs from the one that the FMU has.
    Status find_discrete_change(const double* values, bool& changed);

    std::size_t size() const { return found_.size(); }
    const std::vector<fmi3ValueReference>& floats() const { return floats_; }
    std::size_t float_values() const { return float_values_; }

  private:
    // Ports of one type that may be set at the same moments.
    struct Run {
        Type3 type;
        bool discrete;
        std::vector<fmi3ValueReference> clocks;
        std::size_t first, values;  // place in the buffer
        std::vector<fmi3ValueReference> references;
    };

    bool allows(const Run& run, Setting setting) const;
    Status set(const Run& run, const double* values);
    Status get(const Run& run, double* values);
    Status set_clocks(const Run& run, const double* values);
    Status get_clocks(const Run& run, double* values);
    template <class Value>
    Status send(const Run& run, const fmi3::Access<Value>& access, const double* values);
    template <class Value>
    Status receive(const Run& run, const fmi3::Access<Value>& access, double* values);
    template <class Value>
    Value* room() {
        return static_cast<Value*>(static_cast<void*>(room_.get()));
    }
    Status misfit(const char* direction, std::size_t element, double value);

    Fmu3* fmu_;
    std::vector<Port3> ports_;
    std::vector<Run> runs_;
    std::vector<fmi3ValueReference> floats_;
    std::size_t float_values_ = 0;
    std::vector<double> found_;              // for values of one run that are compared
    std::unique_ptr<unsigned char[]> room_;  // for the values of one run in its own type
};

}  // namespace softdock
