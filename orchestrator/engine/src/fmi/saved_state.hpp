// A saved state of one FMU instance; freed with this object.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fmi/fmu.hpp"

namespace softdock {

class SavedState {
  public:
    // Saves the state that the FMU has now.
    explicit SavedState(Fmu& fmu);
    // Makes a state of what `serialize` returned, perhaps in another process.
    SavedState(Fmu& fmu, const std::string& bytes);
    ~SavedState();
    SavedState(const SavedState&) = delete;
    SavedState& operator=(const SavedState&) = delete;

    int restore(Fmu& fmu) const;
    std::string serialize() const;

  private:
    void require_functions(bool bytes) const;
    void require(int status, const char* function) const;

    Fmu& fmu_;
    void* state_ = nullptr;
    int mode_;
    std::vector<std::int64_t> times_;  // see Fmu::times; in bytes they follow the FMU's own
};

}  // namespace softdock
