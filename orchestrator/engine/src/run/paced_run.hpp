// A run of steps in real time.
#pragma once

#include <cstdint>

#include "pacing/pacer.hpp"
#include "run/engine.hpp"

namespace softdock {

// As Engine::run(), each step at its moment; ends early where the pacer says so.
Outcome run_paced(Engine& engine, Pacer& pacer, std::int64_t steps, std::int64_t goal_ns);

}  // namespace softdock
