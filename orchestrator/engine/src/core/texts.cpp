#include "core/texts.hpp"

#include <stdexcept>
#include <utility>

namespace softdock {

Texts::Texts(std::size_t size, std::vector<TextCopy> copies, std::vector<TextPlace> places)
    : buffer_(size), copies_(std::move(copies)), places_(std::move(places)) {
    const auto inside = [size](std::int32_t row) {
        return row >= 0 && static_cast<std::size_t>(row) < size;
    };
    for (const auto& line : copies_) {
        if (!inside(line.source) || !inside(line.target)) {
            throw std::out_of_range("a row points out of the table: copies of texts");
        }
    }
}

bool Texts::has(std::int32_t first, std::int32_t count) const {
    return first >= 0 && count >= 0 &&
           static_cast<std::size_t>(first) + static_cast<std::size_t>(count) <= copies_.size();
}

void Texts::copy(std::int32_t first, std::int32_t count) {
    for (auto i = first; i < first + count; ++i) {
        buffer_[copies_[i].target] = buffer_[copies_[i].source];
    }
}

Status Texts::send(Unit& unit, std::size_t number) {
    if (unit.text_input_count() == 0) return Status::ok;
    return unit.set_texts(buffer_.data() + places_[number].inputs);
}

Status Texts::receive(Unit& unit, std::size_t number) {
    if (unit.text_output_count() == 0) return Status::ok;
    return unit.get_texts(buffer_.data() + places_[number].outputs);
}

}  // namespace softdock
