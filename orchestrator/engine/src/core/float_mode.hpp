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
// of a small unit. This is one addition, and few instructions: between two small units there is
// room for some 50, then the processor does not see far enough to work on both at once.
struct FloatProbe {
#if defined(__x86_64__)
    static FloatProbe now() {
        // 1 + 0.75 eps and -1 - 0.75 eps together differ in all four ways of rounding, and a tiny
        // number plus another is 0 where either is flushed.
        __m128 sums = _mm_set_ps(7e-45f, 7e-45f, -1.0f, 1.0f);
        asm volatile("addps %1, %0"
                     : "+x"(sums)
                     : "x"(_mm_set_ps(7e-45f, 7e-45f, -0.75f * eps, 0.75f * eps)));
        return {_mm_castps_si128(sums)};
    }
    bool operator!=(const FloatProbe& other) const {
        return _mm_movemask_epi8(_mm_cmpeq_epi32(sums, other.sums)) != 0xffff;
    }

    static constexpr float eps = 1.1920928955078125e-07f;
    __m128i sums;
#else
    static FloatProbe now() { return {FloatMode::now()}; }
    bool operator!=(const FloatProbe& other) const { return mode != other.mode; }

    FloatMode mode;
#endif
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
