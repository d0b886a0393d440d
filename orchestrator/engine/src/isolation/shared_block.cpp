#include "isolation/shared_block.hpp"

namespace softdock {

namespace {

// The arrays begin at a cache line of their own.
constexpr std::size_t front = (sizeof(UnitHeader) + 63) / 64 * 64;

}  // namespace

std::size_t SharedBlock::size(std::size_t inputs, std::size_t outputs) {
    return front + ((2 + most_order) * inputs + 2 * outputs) * sizeof(double);
}

SharedBlock::SharedBlock(int file, std::size_t inputs, std::size_t outputs)
    : most_inputs_(inputs), most_outputs_(outputs), memory_(file, size(inputs, outputs)) {
    doubles_ = reinterpret_cast<double*>(static_cast<char*>(memory_.begin()) + front);
}

}  // namespace softdock
