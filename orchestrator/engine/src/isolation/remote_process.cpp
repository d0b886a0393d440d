#include "isolation/remote_process.hpp"

#include "core/wall_clock.hpp"
#include "host/processes.hpp"
#include "isolation/remote_unit.hpp"

namespace softdock {

namespace {

// So often, while waiting, the process is asked whether it is alive.
constexpr std::int64_t slice_ns = 5000000;

}  // namespace

void RemoteProcess::attach(int handle) {
    handle_ = handle;
    lost_ = false;
    culprit_ = no_member;
    asked_ = 0;
    expected_.clear();
    auto& header = block_.header();
    header.request.store(0);
    header.answer.store(0);
    header.worker_sleeps.store(0);
    header.master_sleeps.store(0);
    header.at.store(no_member);
}

std::uint32_t RemoteProcess::enter(RemoteUnit& unit) {
    members_.push_back(&unit);
    expected_.reserve(members_.size());
    return static_cast<std::uint32_t>(members_.size() - 1);
}

void RemoteProcess::expect(RemoteUnit& unit) {
    unit.header().next = no_member;
    if (!expected_.empty()) expected_.back()->header().next = unit.number();
    expected_.push_back(&unit);
}

bool RemoteProcess::ask(RemoteUnit& unit) {
    if (foreign()) return false;
    const std::lock_guard<std::mutex> lock(mutex_);
    unit.header().next = no_member;
    return round_trip(unit);
}

bool RemoteProcess::ask_expected(const RemoteUnit& unit) {
    if (foreign()) return false;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!expected_.empty()) {
        for (auto* each : expected_) each->asked_in(asked_ + 1);
        round_trip(*expected_.front());
        expected_.clear();
    }
    return unit.was_served();
}

void RemoteProcess::ring() {
    auto& header = block_.header();
    header.first = no_member;
    announce(header.request, ++asked_, header.worker_sleeps);
}

bool RemoteProcess::round_trip(RemoteUnit& first) {
    if (lost_) return false;
    ++round_trips_;
    auto& header = block_.header();
    header.first = first.number();
    header.at.store(no_member);
    announce(header.request, ++asked_, header.worker_sleeps);
    const auto done = [&] { return header.answer.load(std::memory_order_acquire) == asked_; };
    const auto* busy = &first;  // the time that a call may take is that of the unit at work
    auto began = now_ns();
    while (!done()) {
        const auto seen = header.answer.load(std::memory_order_acquire);
        if (seen != asked_) await_change(header.answer, seen, header.master_sleeps, slice_ns);
        if (done()) break;
        const auto at = header.at.load();
        const auto* now = at < members_.size() ? members_[at] : nullptr;
        if (!runs(handle_)) {
            if (done()) break;
            lose(end(), now ? at : first.number());
            return false;
        }
        if (now && now != busy) {
            busy = now;
            began = now_ns();
        }
        if (now_ns() - began > busy->limit_ns()) {
            lose(busy->late(), busy->number());
            return false;
        }
    }
    return true;
}

void RemoteProcess::lose(std::string why, std::uint32_t member) {
    if (!lost_ && !foreign())
        end_process(handle_);  // after that the handle may be another process's
    lost_ = true;
    why_ = std::move(why);
    culprit_ = member;
}

std::string RemoteProcess::loss(std::uint32_t number) const {
    if (foreign()) {
        return "this process is a fork of the one that runs it; make an Execution of its own here";
    }
    const bool guilty = culprit_ == number || culprit_ >= members_.size() || !members_[culprit_];
    if (!guilty) {
        return "component '" + members_[culprit_]->name() +
               "', with which it shares the process '" + name_ + "', failed: " + why_;
    }
    return why_ + others(number);
}

// Those that went down with a unit.
std::string RemoteProcess::others(std::uint32_t but) const {
    std::string names;
    std::size_t count = 0;
    for (std::uint32_t i = 0; i < members_.size(); ++i) {
        if (i == but || !members_[i]) continue;
        names += (count++ ? ", '" : "'") + members_[i]->name() + "'";
    }
    if (count == 0) return "";
    return ", and with it " + names + (count > 1 ? ", which share" : ", which shares") +
           " the process '" + name_ + "'";
}

}  // namespace softdock
