// The process in which units run, seen by whoever started it: who is asked, and how it ends.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "host/processes.hpp"
#include "isolation/shared_block.hpp"

namespace softdock {

class RemoteUnit;

class RemoteProcess {
  public:
    // `name` is what its units share it by; empty if it is one unit's own. The memory is set to
    // zero.
    RemoteProcess(std::string name, int memory) : name_(std::move(name)), block_(memory) {}
    RemoteProcess(const RemoteProcess&) = delete;
    RemoteProcess& operator=(const RemoteProcess&) = delete;

    // One has begun, by its pidfd, which stays the caller's; he also reaps the process.
    void attach(int handle);
    // Takes a unit in; returns its number.
    std::uint32_t enter(RemoteUnit& unit);
    void leave(std::uint32_t number) { members_[number] = nullptr; }
    // Whether its units may be stepped together.
    bool shared() const { return !name_.empty(); }

    // Asks one unit for what its header says, and waits; whether there was an answer.
    bool ask(RemoteUnit& unit);
    // The unit is asked together with all others of which this is said before one is stepped.
    void expect(RemoteUnit& unit);
    // Asks those units, if that was not done yet; whether this one had its turn.
    bool ask_expected(const RemoteUnit& unit);
    void withdraw() { expected_.clear(); }
    // How often units were asked something that took no message.
    std::size_t round_trips() const { return round_trips_; }
    // Tells the worker that a message lies on the socket.
    void ring();

    // Gives the process up and ends it: why, and the unit because of which.
    void lose(std::string why, std::uint32_t member = no_member);
    bool lost() const { return lost_; }
    // Why there is no answer, as the unit of that number tells it.
    std::string loss(std::uint32_t number) const;
    // Whether this is a fork of the process that started it.
    bool foreign() const { return block_.foreign(); }
    // How it ended, in words; waits for its end.
    std::string end() const { return ending_of(handle_); }

  private:
    bool round_trip(RemoteUnit& first);
    std::string others(std::uint32_t but) const;

    std::string name_;
    ProcessBlock block_;
    int handle_ = -1;
    std::mutex mutex_;  // units of one process may be stepped by several threads
    std::vector<RemoteUnit*> members_;
    std::vector<RemoteUnit*> expected_;
    std::uint32_t asked_ = 0;
    std::size_t round_trips_ = 0;
    bool lost_ = false;
    std::string why_;
    std::uint32_t culprit_ = no_member;
};

}  // namespace softdock
