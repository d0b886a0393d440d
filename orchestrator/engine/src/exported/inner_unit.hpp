// An FMU inside of an exported system: made from a row of its file, and led through its life.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exported/tables.hpp"
#include "fmi/fmu2.hpp"
#include "fmi/fmu3.hpp"
#include "fmi/saved_state.hpp"
#include "integration/me_unit.hpp"

namespace softdock {

class InnerUnit {
  public:
    // `resources` is the folder of the system's file; `outer` is the name of the exported instance.
    // Throws std::runtime_error that names the component.
    InnerUnit(const InnerFmu& row, const std::string& resources, const std::string& outer,
              bool logging);

    Unit& unit() { return me_ ? static_cast<Unit&>(*me_) : *fmu_; }
    Fmu& fmu() { return *fmu_; }
    const std::string& name() const { return row_.name; }

    Status setup(std::int64_t start_ns, bool has_stop, double stop);
    // Finishes the initialisation, but for events at the start, which the engine handles.
    Status begin();
    Status terminate();

    // One variable, from outside; while stepping as an event of its own where the FMU has them.
    Status set(const InnerPort& port, const double* values, const std::string* texts,
               bool stepping);

    // What the next step depends on beside the FMU's own state.
    std::vector<double> memory() { return me_ ? me_->memory() : std::vector<double>{}; }
    Status put_back(const std::vector<double>& memory);

  private:
    void make(const std::string& resources, const std::string& outer, bool logging);
    void bind();
    void integrate(const std::string& resources);
    void set_starts();
    void require(Status status, const std::string& doing);
    Status send(const InnerPort& port, const double* values, const std::string* texts);
    Status send2(const InnerPort& port, const double* values);
    Status send3(const InnerPort& port, const double* values);

    const InnerFmu& row_;
    std::unique_ptr<Fmu> fmu_;
    Fmu2* fmu2_ = nullptr;  // the same, by its version
    Fmu3* fmu3_ = nullptr;
    std::unique_ptr<Model> model_;
    std::unique_ptr<MeUnit> me_;
    std::int64_t start_ns_ = 0;
};

}  // namespace softdock
