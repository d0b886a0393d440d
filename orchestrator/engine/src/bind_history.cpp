#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "bindings.hpp"
#include "history.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace softdock {

std::shared_ptr<const Channel> make_channel(const ChannelRow& row) {
    Channel channel;
    std::tie(channel.key, channel.nominal_ns, channel.loss, channel.quantiles,
             channel.correlation_ns, channel.times_ns, channel.delays_ns, channel.interpolated,
             channel.in_order, channel.by_arrival) = row;
    if (channel.quantiles.size() == 1 || channel.times_ns.size() != channel.delays_ns.size()) {
        throw std::invalid_argument("a channel's tables do not fit together");
    }
    return std::make_shared<const Channel>(std::move(channel));
}

// One history on its own, for tests: samples at any distance.
void bind_history(nb::module_& module) {
    nb::class_<History>(module, "History")
        .def(
            "__init__",
            [](History* self, std::size_t depth, int reading, int beyond,
               const std::vector<ChannelRow>& channel, std::int64_t start_ns, double value) {
                auto made = channel.empty() ? nullptr : make_channel(channel.front());
                new (self) History(0, depth, static_cast<Reading>(reading),
                                   static_cast<Beyond>(beyond), std::move(made));
                self->start(start_ns, value);
            },
            "depth"_a, "reading"_a, "beyond"_a, "channel"_a, "start_ns"_a, "value"_a)
        .def("push", &History::push)
        .def("read",
             [](History& history, std::int64_t time_ns, std::int64_t now_ns) {
                 double value = 0.0;
                 if (!history.read(time_ns, now_ns, value)) {
                     throw std::out_of_range("older than the samples that are kept");
                 }
                 return value;
             })
        .def_prop_ro("facts", [](const History& history) {
            const auto& facts = history.facts();
            return nb::make_tuple(facts.sent, facts.dropped, facts.late, facts.held,
                                  facts.oldest_ns);
        });
}

}  // namespace softdock
