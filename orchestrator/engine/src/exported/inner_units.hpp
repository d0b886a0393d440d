// Values on their way between the engine and the units of an exported system, at the start.
#pragma once

#include <string>
#include <vector>

#include "exported/tables.hpp"
#include "run/initial_exchange.hpp"

namespace softdock {

class InnerUnits : public InitialUnits {
  public:
    // `units` are those of the members, in initialisation mode.
    InnerUnits(const SystemTables& tables, Engine& engine, const std::vector<Unit*>& units)
        : tables_(tables), engine_(engine), units_(units) {}

    bool evaluate(std::size_t member) override;
    bool initialise(std::size_t member) override { return read(member); }
    bool read(std::size_t member) override;

    // Why an exchange did not settle, or what is wrong with its signals; empty where all is well.
    std::string problem(const InitialResult& result) const;

  private:
    bool refused(Status status, std::size_t member, const char* doing);
    std::string unsolved(const InitialResult& result) const;
    bool has_texts() const { return !engine_.context().texts.places().empty(); }

    const SystemTables& tables_;
    Engine& engine_;
    const std::vector<Unit*>& units_;
    std::string refusal_;
};

}  // namespace softdock
