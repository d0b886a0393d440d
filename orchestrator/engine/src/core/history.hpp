// The past of one signal, as its receiver knows it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/channel.hpp"
#include "core/interpolation.hpp"
#include "core/place_set.hpp"
#include "core/waveform.hpp"

namespace softdock {

// How a value between two samples is made, and one after the newest.
enum class Interpolation { hold = 0, linear = 1, cubic = 2, slerp = 3 };
enum class Extrapolation { hold = 0, linear = 1, quadratic = 2, smoothed = 3 };

// What a line did to its samples so far.
struct LineFacts {
    std::int64_t sent = 0;       // after the first, which is known from the start
    std::int64_t dropped = 0;    // never arrived
    std::int64_t late = 0;       // had more than the nominal delay
    std::int64_t held = 0;       // readings without the sample that they wanted
    std::int64_t oldest_ns = 0;  // largest age of the newest sample of a reading
};

// A sample is known to the receiver from its due time on. With a held reading that is when it
// arrives, as seen by a receiver that is the nominal delay behind (sent + delay - nominal). With
// an interpolated one the receiver plays the past back at the nominal delay and needs a sample as
// soon as it has passed the one before: one that is late by L is missing for as long.
class History {
  public:
    // depth: samples kept; at least the longest read-back in samples, plus two (cubic: three,
    // followed: four).
    // The channel may be null: every sample has the nominal delay.
    History(std::size_t slot, std::size_t depth, Interpolation interpolation,
            Extrapolation extrapolation, std::shared_ptr<const Channel> channel);

    // The signal is constant at `value` up to the first sample, taken at start_ns.
    void start(std::int64_t start_ns, double value);
    // Samples come in order of time; the distances between them may differ.
    void push(std::int64_t time_ns, double value);
    // The same for a time that the newest sample may have already: then its value is replaced.
    void put(std::int64_t time_ns, double value);
    // Takes the newest sample back if it has this time.
    void take_back(std::int64_t time_ns);
    // Gives the newest sample, unless it is the first, the value that it has after an event.
    void amend(double value);
    // The value at a time; false if that is older than the oldest sample that is kept. `now_ns` is
    // what the age of a sample counts from.
    bool read(std::int64_t time_ns, std::int64_t now_ns, double& value);
    // The signal over a span, as a polynomial of order three whose time begins with the span: that
    // of six samples if they enclose the span, else of six readings. False as read().
    bool follow(const Span& span, std::int64_t now_ns, Waveform& found);
    // The samples around a time, for readings of several signals as one.
    bool around(std::int64_t time_ns, std::int64_t now_ns, Around& found);

    // Steps that are done again take their samples back: the number of the newest is set to what it
    // was. At most `samples` are taken back, and so many fewer are kept. Without a channel only.
    void let_rewind(std::size_t samples) { spare_ = samples; }
    std::int64_t newest() const { return newest_; }
    Point newest_point() const { return point(newest_); }
    void rewind(std::int64_t newest) { move_to(newest); }

    // Keeps so many samples from now on, if that is more, and all that there are.
    void deepen(std::size_t depth);

    std::size_t slot() const { return slot_; }
    Interpolation interpolation() const { return interpolation_; }
    Extrapolation extrapolation() const { return extrapolation_; }
    const LineFacts& facts() const { return facts_; }
    // Readings for which all samples were looked through.
    std::int64_t searches() const { return searches_; }
    // From where a smoothed reading heads for `end`: where the one of the step before ended. A
    // loop that is iterated may read several times in a step.
    double smooth(std::int64_t now_ns, double end);

    // All that changes in a run, as numbers of two kinds. restore() moves both on, and refuses
    // (false) marks that no history can have; those before it are untouched by that.
    std::size_t number_count() const;
    std::size_t mark_count() const;
    void save(std::vector<double>& numbers, std::vector<std::int64_t>& marks) const;
    bool is_sound(const std::int64_t* marks) const;
    void restore(const double*& numbers, const std::int64_t*& marks);

  private:
    // The number modulo that of the samples, told from the newest: a division costs more than a
    // reading.
    std::size_t place(std::int64_t number) const {
        const auto at = head_ - (newest_ - number);
        return static_cast<std::size_t>(at < 0 ? at + size() : at);
    }
    std::int64_t size() const { return static_cast<std::int64_t>(values_.size()); }
    void move_to(std::int64_t newest) {
        newest_ = newest;
        head_ = newest % size();
        followed_to_ns_ = unfollowed;
    }
    std::int64_t stamp(std::int64_t number) const { return stamps_[place(number)]; }
    Point point(std::int64_t number) const;
    std::int64_t oldest() const;
    bool holds() const { return interpolation_ == Interpolation::hold; }
    bool usable(std::int64_t number, std::int64_t time_ns) const;
    std::int64_t find(std::int64_t time_ns) const;
    std::int64_t last_arrived(std::int64_t time_ns) const;
    std::int64_t newest_sent(std::int64_t number, std::int64_t time_ns) const;
    std::int64_t held_by_search(std::int64_t time_ns);
    std::int64_t held_sample(std::int64_t time_ns);
    void await_due(std::int64_t number);
    void follow_dues(std::int64_t time_ns, std::int64_t number);
    void follow_usable(std::int64_t time_ns);
    std::int64_t usable_from(std::int64_t number) const;
    std::int64_t usable_until(std::int64_t number) const;
    std::int64_t newest_known(std::int64_t time_ns);
    std::int64_t next(std::int64_t number) const;
    std::int64_t previous(std::int64_t number) const;
    std::int64_t due(std::int64_t time_ns, std::int64_t before_ns);
    bool hold(std::int64_t time_ns, std::int64_t now_ns, double& value);
    // For points that do not stand side by side.
    struct Room {
        std::int64_t times_ns[most_points];
        double values[most_points];
    };
    Points samples_around(std::int64_t time_ns, Room& room, std::int64_t& first) const;
    const double* values_as_before(const Span& span) const;
    bool read_curve(std::int64_t time_ns, std::int64_t now_ns, double& value);
    void keep(std::int64_t number);
    void count(std::int64_t now_ns, std::int64_t sample_ns, bool held);

    std::size_t slot_;
    Interpolation interpolation_;
    Extrapolation extrapolation_;
    std::shared_ptr<const Channel> channel_;
    std::vector<double> values_;
    std::vector<std::int64_t> stamps_;
    std::vector<std::int64_t> dues_;  // empty without a channel
    std::size_t spare_ = 0;
    std::int64_t start_ns_ = 0;
    std::int64_t newest_ = 0;
    std::int64_t head_ = 0;            // place of the newest
    mutable std::int64_t back_ = 0;    // how far from the newest a sample was found last
    CurveWeights weights_;             // of the points that a waveform went through last
    std::int64_t followed_back_ = -1;  // the first of these is so many before the newest, if six
    // What a reading of a channel has, so that the next one looks only at what has become due
    // since: the samples that are not due yet, by their dues. Of the others a held reading has the
    // best, and one that interpolates all.
    struct Due {
        std::int64_t time_ns, number;
        bool operator>(const Due& other) const {
            return time_ns != other.time_ns ? time_ns > other.time_ns : number > other.number;
        }
    };
    static constexpr std::int64_t unfollowed = INT64_MIN;
    std::vector<Due> coming_;  // a heap, the first due at its front
    std::int64_t followed_to_ns_ = unfollowed;
    Due best_{0, 0};
    PlaceSet usable_;
    std::int64_t kept_number_ = 0;  // -1: not known, and older than what the ring has
    Point kept_;                    // what the receiver holds, although the ring may have lost it
    std::int64_t kept_due_ = 0;     // of that sample
    std::int64_t latest_due_ = 0;   // of all samples so far
    double normal_ = 0.0;
    double began_ = 0.0, ended_ = 0.0;  // of the last smoothed reading
    std::int64_t last_read_ns_ = 0;     // start of the step in which it was read last
    LineFacts facts_;
    std::int64_t searches_ = 0;
};

}  // namespace softdock
