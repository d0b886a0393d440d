#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "bindings/bindings.hpp"
#include "bindings/rows.hpp"
#include "core/history.hpp"
#include "core/unit.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace softdock {

// One history on its own, for tests: samples at any distance.
void bind_history(nb::module_& module) {
    nb::class_<History>(module, "History")
        .def(
            "__init__",
            [](History* self, std::size_t depth, int interpolation, int extrapolation,
               const std::vector<TupleOf<Channel>>& given, std::int64_t start_ns, double value) {
                std::shared_ptr<const Channel> channel;
                if (!given.empty()) {
                    channel = std::make_shared<const Channel>(as_channel(given.front()));
                }
                new (self) History(0, depth, static_cast<Interpolation>(interpolation),
                                   static_cast<Extrapolation>(extrapolation), std::move(channel));
                self->start(start_ns, value);
            },
            "depth"_a, "interpolation"_a, "extrapolation"_a, "channel"_a, "start_ns"_a, "value"_a)
        .def("push", &History::push)
        .def("read",
             [](History& history, std::int64_t time_ns, std::int64_t now_ns) {
                 double value = 0.0;
                 if (!history.read(time_ns, now_ns, value)) {
                     throw std::out_of_range("older than the samples that are kept");
                 }
                 return value;
             })
        .def("follow",
             [](History& history, std::int64_t begin_ns, std::int64_t span_ns, int order,
                bool keeps_end) {
                 Waveform found;
                 if (!history.follow({begin_ns, span_ns, keeps_end}, begin_ns, found)) {
                     throw std::out_of_range("older than the samples that are kept");
                 }
                 found = found.reduced(to_seconds(span_ns), order, keeps_end);
                 const auto* d = found.derivatives;
                 return std::make_tuple(found.value, d[0], d[1], d[2]);
             })
        .def_prop_ro("facts",
                     [](const History& history) {
                         const auto& facts = history.facts();
                         return nb::make_tuple(facts.sent, facts.dropped, facts.late, facts.held,
                                               facts.oldest_ns);
                     })
        .def_prop_ro("searches", &History::searches);
}

}  // namespace softdock
