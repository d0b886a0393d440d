// A clock that a Python object is: for tests, and for devices whose ticks Python hears.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <utility>

#include "pacing/step_clock.hpp"

namespace softdock {

// The object has the methods of StepClock but drift(); wait_until() returns whether the clock is
// still heard. What it raises ends the run.
class PythonClock : public StepClock {
  public:
    explicit PythonClock(nanobind::object clock) : clock_(std::move(clock)) {}

    std::int64_t now_ns() override { return integer("now_ns"); }
    void start() override {
        const nanobind::gil_scoped_acquire interpreter;
        clock_.attr("start")();
    }
    Wake wait_until(std::int64_t offset_ns, const SignalWatch& signals) override {
        const nanobind::gil_scoped_acquire interpreter;
        const bool heard = nanobind::cast<bool>(clock_.attr("wait_until")(offset_ns));
        if (signals.caught()) return Wake::interrupted;
        return heard ? Wake::ready : Wake::silent;
    }
    std::int64_t due_ns(std::int64_t offset_ns) override { return integer("due_ns", offset_ns); }
    std::int64_t slip(std::int64_t ns) override { return integer("slip", ns); }

  private:
    template <class... Arguments>
    std::int64_t integer(const char* method, Arguments... arguments) {
        const nanobind::gil_scoped_acquire interpreter;
        return nanobind::cast<std::int64_t>(clock_.attr(method)(arguments...));
    }

    nanobind::object clock_;
};

}  // namespace softdock
