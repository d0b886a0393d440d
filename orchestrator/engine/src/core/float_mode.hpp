// How the processor rounds, and what it does with tiny numbers: of the thread, and so of all units
// that are stepped in it.
#pragma once

#include <cstdint>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <cfenv>
#endif

namespace softdock {

// One word, so that it is passed and compared in a register.
struct FloatMode {
#if defined(__x86_64__)
    // MXCSR without the flags that any inexact result sets; above it the control word of the x87.
    static FloatMode now() {
        std::uint16_t x87;
        asm volatile("fnstcw %0" : "=m"(x87));
        return {(__builtin_ia32_stmxcsr() & ~0x3fu) | std::uint64_t{x87} << 32};
    }
    void set() const {
        const auto x87 = static_cast<std::uint16_t>(bits >> 32);
        asm volatile("fldcw %0" : : "m"(x87));
        __builtin_ia32_ldmxcsr(static_cast<std::uint32_t>(bits));
    }
#elif defined(__aarch64__)
    static FloatMode now() {
        std::uint64_t fpcr;
        asm volatile("mrs %0, fpcr" : "=r"(fpcr));
        return {fpcr};
    }
    void set() const { asm volatile("msr fpcr, %0" : : "r"(bits)); }
#else
    static FloatMode now() { return {static_cast<std::uint64_t>(std::fegetround())}; }
    void set() const { std::fesetround(static_cast<int>(bits)); }
#endif
    bool operator!=(const FloatMode& other) const { return bits != other.bits; }

    std::uint64_t bits;
};

}  // namespace softdock
