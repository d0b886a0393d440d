// Where the binaries of an FMU lie in its archive, on the platform that this is compiled for.
#pragma once

#include <string>

#include "core/operating_system.hpp"

namespace softdock {

#if defined(__aarch64__)
#define SOFTDOCK_PROCESSOR "aarch64"
#else
#define SOFTDOCK_PROCESSOR "x86_64"
#endif
#if defined(_WIN32)
#define SOFTDOCK_SYSTEM "windows"
constexpr const char* short_system = "win";
#elif defined(__APPLE__)
#define SOFTDOCK_SYSTEM "darwin"
constexpr const char* short_system = "darwin";
#else
#define SOFTDOCK_SYSTEM "linux"
constexpr const char* short_system = "linux";
#endif

// FMI 2.0 has names of its own for x86, and for all others those of FMI 3.0 (FMI 2.0.5, 2.3).
inline std::string library_path(const std::string& identifier, int version) {
    const std::string tuple = SOFTDOCK_PROCESSOR "-" SOFTDOCK_SYSTEM;
    const bool is_short = version == 2 && tuple.compare(0, 3, "x86") == 0;
    const auto folder = is_short ? std::string(short_system) + "64" : tuple;
    return "binaries/" + folder + "/" + identifier + library_suffix;
}

}  // namespace softdock
