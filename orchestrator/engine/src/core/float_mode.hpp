// How the processor rounds, and what it does with tiny numbers: of the thread, and so of all units
// that are stepped in it.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <emmintrin.h>
#elif !defined(__aarch64__)
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

// What arithmetic shows of the mode: how is rounded, and whether tiny numbers are flushed to 0; not
// which exceptions trap. To read MXCSR takes longer (7 ns on a Zen 4) than all else around the step
// of a small unit; this, below 1 ns.
struct FloatProbe {
#if defined(__x86_64__)
    static FloatProbe now() {
        // 1 + 0.75 eps and -1 - 0.75 eps together differ in all four ways of rounding, and a tiny
        // number plus another is 0 where either is flushed.
        __m128d rounded = _mm_set_pd(-1.0, 1.0);
        __m128d tiny = _mm_set_sd(2.5e-323);
        asm volatile("addpd %2, %0\n\taddsd %1, %1"
                     : "+x"(rounded), "+x"(tiny)
                     : "x"(_mm_set_pd(-1.6653345369377348e-16, 1.6653345369377348e-16)));
        const auto high = _mm_unpackhi_pd(rounded, rounded);
        return {word(rounded) + 2 * word(high) + word(tiny)};
    }
    static std::uint64_t word(__m128d value) {
        return static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm_castpd_si128(value)));
    }
#else
    static FloatProbe now() { return {FloatMode::now().bits}; }
#endif
    bool operator!=(const FloatProbe& other) const { return bits != other.bits; }

    std::uint64_t bits;
};

// The mode of a thread over many calls of units. After each call arithmetic shows whether it is
// still the same; the whole mode is read after each where `thorough`, else at the end of all.
class FloatWatch {
  public:
    explicit FloatWatch(bool thorough)
        : before_(FloatMode::now()), shown_(FloatProbe::now()), thorough_(thorough) {}

    bool changed() const {
        return thorough_ ? FloatMode::now() != before_ : FloatProbe::now() != shown_;
    }
    void put_back() const { before_.set(); }
    // Whether the mode is another at the end of all; then it is put back.
    bool ended_otherwise() const {
        if (!(FloatMode::now() != before_)) return false;
        put_back();
        return true;
    }

  private:
    FloatMode before_;
    FloatProbe shown_;
    bool thorough_;
};

}  // namespace softdock
