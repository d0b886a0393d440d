#include "exported/byte_reader.hpp"

#include <cstring>
#include <stdexcept>

namespace softdock {

std::uint32_t crc32(const char* bytes, std::size_t count) {
    std::uint32_t sum = 0xffffffffu;
    for (std::size_t i = 0; i < count; ++i) {
        sum ^= static_cast<unsigned char>(bytes[i]);
        for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ (sum & 1u ? 0xedb88320u : 0u);
    }
    return ~sum;
}

void ByteReader::refuse(const std::string& why) const {
    throw std::runtime_error(name_ + " is damaged at byte " + std::to_string(at_) + ": " + why);
}

const char* ByteReader::take(std::size_t count) {
    if (count > count_ - at_) {
        refuse("expected " + std::to_string(count) + " more bytes, found " +
               std::to_string(count_ - at_));
    }
    const char* here = bytes_ + at_;
    at_ += count;
    return here;
}

template <class Value>
Value ByteReader::value() {
    Value found;
    std::memcpy(&found, take(sizeof found), sizeof found);
    return found;
}

std::uint8_t ByteReader::u8() { return value<std::uint8_t>(); }
std::uint32_t ByteReader::u32() { return value<std::uint32_t>(); }
std::int32_t ByteReader::i32() { return value<std::int32_t>(); }
std::int64_t ByteReader::i64() { return value<std::int64_t>(); }
std::uint64_t ByteReader::u64() { return value<std::uint64_t>(); }
double ByteReader::f64() { return value<double>(); }
bool ByteReader::flag() { return choice(1, "a flag") == 1; }

std::uint8_t ByteReader::choice(std::uint8_t most, const char* what) {
    const auto found = u8();
    if (found > most) {
        refuse(std::string(what) + ": expected 0 to " + std::to_string(most) + ", found " +
               std::to_string(found));
    }
    return found;
}

std::size_t ByteReader::count(std::size_t least) {
    const std::size_t found = u32();
    if (found > (count_ - at_) / least) {
        refuse(std::to_string(found) + " rows do not fit into the " + std::to_string(count_ - at_) +
               " bytes that are left");
    }
    return found;
}

std::string ByteReader::text() {
    const auto length = count(1);
    const char* first = take(length);
    return {first, length};
}

void ByteReader::expect_tag(const char* four) {
    const std::string found(take(4), 4);
    if (found != four) refuse(std::string("expected the table '") + four + "'");
}

void ByteReader::expect_end() const {
    if (at_ != count_) {
        refuse("expected the end, found " + std::to_string(count_ - at_) + " more bytes");
    }
}

std::vector<std::uint32_t> ByteReader::references() {
    std::vector<std::uint32_t> found(count(sizeof(std::uint32_t)));
    for (auto& each : found) each = u32();
    return found;
}

std::vector<std::int32_t> ByteReader::slots() {
    std::vector<std::int32_t> found(count(sizeof(std::int32_t)));
    for (auto& each : found) each = i32();
    return found;
}

std::vector<double> ByteReader::numbers() {
    std::vector<double> found(count(sizeof(double)));
    for (auto& each : found) each = f64();
    return found;
}

std::vector<std::int64_t> ByteReader::times() {
    std::vector<std::int64_t> found(count(sizeof(std::int64_t)));
    for (auto& each : found) each = i64();
    return found;
}

std::vector<std::string> ByteReader::texts() {
    std::vector<std::string> found(count(sizeof(std::uint32_t)));
    for (auto& each : found) each = text();
    return found;
}

void ByteWriter::text(const std::string& value) {
    u32(static_cast<std::uint32_t>(value.size()));
    bytes_ += value;
}

void ByteWriter::numbers(const std::vector<double>& values) {
    u32(static_cast<std::uint32_t>(values.size()));
    for (const double each : values) f64(each);
}

void ByteWriter::times(const std::vector<std::int64_t>& values) {
    u32(static_cast<std::uint32_t>(values.size()));
    for (const auto each : values) i64(each);
}

void ByteWriter::texts(const std::vector<std::string>& values) {
    u32(static_cast<std::uint32_t>(values.size()));
    for (const auto& each : values) text(each);
}

}  // namespace softdock
