// What instances of FMUs have in common, whatever their version: a library that was loaded, the
// worst status that it returned, saved states, and messages.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdarg>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/operating_system.hpp"
#include "core/unit.hpp"

namespace softdock {

struct LogMessage {
    int status;
    std::string category;
    std::string text;
};

// The functions for saved states are the same in FMI 2.0 and 3.0; null where there are none.
struct StateFunctions {
    const char* prefix = "fmi";
    int (*get)(void*, void**) = nullptr;
    int (*set)(void*, void*) = nullptr;
    int (*release)(void*, void**) = nullptr;
    int (*size)(void*, void*, std::size_t*) = nullptr;
    int (*to_bytes)(void*, void*, char*, std::size_t) = nullptr;
    int (*from_bytes)(void*, const char*, std::size_t, void**) = nullptr;
};

// Value references, in all versions.
using References = std::vector<std::uint32_t>;

// String and Binary connectors: strings first, then binaries.
struct TextPorts {
    References strings, binaries;
    std::size_t string_count = 0, binary_count = 0;  // elements
    std::vector<std::string> names;                  // one for each element
    std::size_t size() const { return string_count + binary_count; }
};

class Fmu : public Unit {
  public:
    ~Fmu() override;

    bool can_roll_back() const override { return rolls_back_ && states_.get; }
    Status save(std::size_t number) override;
    Status restore(std::size_t number) override;

    void bind_texts(TextPorts inputs, TextPorts outputs);
    Status set_texts(const std::string* values) override;
    Status get_texts(std::string* values) override;

    void* instance() const { return instance_; }
    const StateFunctions& states() const { return states_; }
    // Says why a call fails that the library itself did not refuse.
    Status fail(std::string why) {
        failure_ = std::move(why);
        return Status::error;
    }
    // Every status that the library returns goes through here: what may be called later depends on
    // the worst of them.
    Status note(int status) { return status == 0 ? Status::ok : note_worse(status); }
    // After a fatal error no function of the library may be called any more (FMI 2.0.4, 2.1.3).
    bool usable() const { return worst_ < Status::fatal; }
    // After an error an instance may go on from a state that was saved before it (2.1.3).
    void recovered() { worst_ = Status::ok; }
    void count_saved(int change) { saved_ += change; }

    // The messages since the last call. Of more than a limit the rest is dropped, which the last
    // message says then.
    std::vector<LogMessage> take_log();
    bool has_log() const { return has_log_.load(std::memory_order_acquire); }
    void log(int status, const char* category, std::string text);
    // Of a logger with a format, as in FMI 1.0 and 2.0.
    void log(int status, const char* category, const char* format, std::va_list arguments);

    // Turns on messages of some categories of its description, which it gives beside those that its
    // instance was made with. An FMU that refuses goes on as it was.
    virtual void log_categories(const std::vector<std::string>& categories) = 0;

    // Get and set of texts by reference. An FMU without binaries has no use for the latter two.
    virtual Status set_strings(const References& references, const char** values,
                               std::size_t count) = 0;
    virtual Status get_strings(const References& references, const char** values,
                               std::size_t count) = 0;
    virtual Status set_binaries(const References& references, const std::size_t* sizes,
                                const std::uint8_t** values, std::size_t count);
    virtual Status get_binaries(const References& references, std::size_t* sizes,
                                const std::uint8_t** values, std::size_t count);

    // A mode of the interface that belongs to a saved state.
    virtual int mode() const { return 0; }
    virtual void set_mode(int) {}
    // Times of events, which the importer keeps, and which belong to a saved state too.
    virtual std::vector<std::int64_t>* times() { return nullptr; }

    // A function of the library. Throws if it is required and missing.
    template <class Function>
    void find(const std::string& name, Function& function, bool required = true) {
        function = reinterpret_cast<Function>(function_of(library_, name.c_str()));
        if (!function && required) {
            throw std::runtime_error("its library does not export '" + name + "'");
        }
    }

  protected:
    // The stop time as the FMU is told it: the sum of a step's begin and its length, both rounded
    // to a double, is at most four units in the last place behind the stop that it meets.
    static double stop_to_tell(double start, double stop) {
        const double size = std::max(std::fabs(start), std::fabs(stop));
        return stop + 4.0 * (std::nextafter(size, HUGE_VAL) - size);
    }

    // Throws if the library cannot be loaded.
    Fmu(std::string name, const std::string& library);

    // Throws, with what the library said, if there is no instance.
    void require_instance(const char* function);
    // The functions for saved states, which none must have; `state` and `deserialize` as the
    // version spells them.
    void find_states(const char* prefix, const std::string& state, const std::string& deserialize);
    // After an error the standard allows to free the instance, not to terminate it (FMI 2.0.4,
    // 2.1.6).
    template <class Function>
    Status terminate(Function function) {
        return worst_ < Status::error ? note(function(instance_)) : Status::ok;
    }
    // Hands categories to a function SetDebugLogging, whose status says nothing of the model.
    template <class Function>
    void turn_on(Function set_debug_logging, const std::vector<std::string>& categories) {
        std::vector<const char*> names;
        for (const auto& each : categories) names.push_back(each.c_str());
        if (set_debug_logging && usable()) {
            set_debug_logging(instance_, true, names.size(), names.data());
        }
    }
    // Frees what was saved, and the instance, if they may be freed.
    template <class Function>
    void release(Function free_instance) {
        if (!usable()) return;
        release_states();
        if (instance_) free_instance(instance_);
    }
    bool may_go_back() const { return saved_ > 0 || !kept_.empty(); }

    void* instance_ = nullptr;
    StateFunctions states_;
    bool rolls_back_ = false;
    Status worst_ = Status::ok;

  private:
    Status note_worse(int status);
    void release_states();

    void* library_ = nullptr;
    struct Kept {
        void* state = nullptr;
        int mode = 0;
        std::vector<std::int64_t> times;
    };

    std::vector<Kept> kept_;  // saved states by number
    int saved_ = 0;           // states that somebody may still go back to
    TextPorts text_inputs_, text_outputs_;
    std::vector<const char*> strings_;
    std::vector<const std::uint8_t*> binaries_;
    std::vector<std::size_t> sizes_;
    std::mutex log_mutex_;
    std::vector<LogMessage> log_;
    std::atomic<bool> has_log_{false};
    std::size_t dropped_ = 0;
};

}  // namespace softdock
