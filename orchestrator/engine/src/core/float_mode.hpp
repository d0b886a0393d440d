// How the processor rounds, and what it does with tiny numbers: of the thread, and so of all units
// that are stepped in it.
#pragma once

#include <cstdint>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <cfenv>
#endif

namespace softdock {

struct FloatMode {
#if defined(__x86_64__)
    // Without the flags that any inexact result sets.
    static FloatMode now() {
        std::uint16_t x87;
        asm volatile("fnstcw %0" : "=m"(x87));
        return {__builtin_ia32_stmxcsr() & ~0x3fu, x87};
    }
    void set() const {
        const std::uint16_t x87 = static_cast<std::uint16_t>(older);
        asm volatile("fldcw %0" : : "m"(x87));
        __builtin_ia32_ldmxcsr(static_cast<std::uint32_t>(newer));
    }
#elif defined(__aarch64__)
    static FloatMode now() {
        std::uint64_t fpcr;
        asm volatile("mrs %0, fpcr" : "=r"(fpcr));
        return {fpcr, 0};
    }
    void set() const { asm volatile("msr fpcr, %0" : : "r"(newer)); }
#else
    static FloatMode now() { return {static_cast<std::uint64_t>(std::fegetround()), 0}; }
    void set() const { std::fesetround(static_cast<int>(newer)); }
#endif
    bool operator!=(const FloatMode& other) const {
        return newer != other.newer || older != other.older;
    }

    std::uint64_t newer, older;
};

}  // namespace softdock
