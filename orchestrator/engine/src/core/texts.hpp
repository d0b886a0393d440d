// The signals of a schedule that are no numbers: strings and binaries, as bytes. Their buffer, the
// lines between them, and where each unit's begin. Without any of them nothing is done.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/unit.hpp"

namespace softdock {

struct TextCopy {
    std::int32_t source, target;
};

// Where the texts of one unit begin in the buffer.
struct TextPlace {
    std::size_t inputs, outputs;
};

class Texts {
  public:
    Texts() = default;
    // Throws if a copy points out of the buffer. `places` has one row for each unit.
    Texts(std::size_t size, std::vector<TextCopy> copies, std::vector<TextPlace> places);

    // Whether rows of the table of copies exist.
    bool has(std::int32_t first, std::int32_t count) const;
    // A text that is longer than all before it at its place makes the place grow.
    void copy(std::int32_t first, std::int32_t count);
    Status send(Unit& unit, std::size_t number);
    Status receive(Unit& unit, std::size_t number);

    std::vector<std::string>& buffer() { return buffer_; }
    const std::vector<std::string>& buffer() const { return buffer_; }
    const std::vector<TextPlace>& places() const { return places_; }

  private:
    std::vector<std::string> buffer_;
    std::vector<TextCopy> copies_;
    std::vector<TextPlace> places_;
};

}  // namespace softdock
