// Why a step was not done, as data: whoever tells a user makes the sentence.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace softdock {

// The one list of kinds, with their names in Python: see FailureKind in _engine.pyi.
#define SOFTDOCK_FAILURES(X)                                                                      \
    X(none, "NONE")                           /* nothing failed, or the unit says why in words */ \
    X(output_not_finite, "OUTPUT_NOT_FINITE") /* output */                                        \
    X(other_end, "OTHER_END")                 /* time_ns: where the unit ended the step */        \
    X(early_return, "EARLY_RETURN")           /* that was not allowed; in the unit's words */     \
    X(early_again, "EARLY_AGAIN")             /* text; from one step again and again */           \
    X(run_ended, "RUN_ENDED")                 /* text; the unit wants the run to end */           \
    X(unread, "UNREAD")                       /* text; a line could not be read */                \
    X(unsettled, "UNSETTLED")                 /* units, copies; events do not end */              \
    X(too_long, "TOO_LONG")                   /* time_ns, excess, slot; no step is short enough */

enum class FailureKind {
#define SOFTDOCK_KIND(name, python) name,
    SOFTDOCK_FAILURES(SOFTDOCK_KIND)
#undef SOFTDOCK_KIND
};

struct Failure {
    FailureKind kind = FailureKind::none;
    std::string text;                  // in words, where no name belongs into them
    std::int64_t output = -1;          // number of a scalar among the unit's outputs
    std::int64_t time_ns = 0;          // a moment, or the length of the shortest step
    double excess = 0.0;               // error in tolerances, of the signal at
    std::int32_t slot = -1;            // this place
    std::vector<std::int32_t> units;   // that ask for more events
    std::vector<std::int32_t> copies;  // rows that still change

    void clear() {
        if (kind != FailureKind::none) *this = {};
    }
};

}  // namespace softdock
