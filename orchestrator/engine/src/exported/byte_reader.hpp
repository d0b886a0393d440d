// Plain values in a row of bytes, little-endian, and their reading with every bound checked.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace softdock {

// CRC-32 of IEEE 802.3, as in zip archives.
std::uint32_t crc32(const char* bytes, std::size_t count);

// Every function throws std::runtime_error, with the place, where the bytes end too early.
class ByteReader {
  public:
    // `name` is what messages call the bytes, which must outlive the reader.
    ByteReader(std::string name, const char* bytes, std::size_t count)
        : name_(std::move(name)), bytes_(bytes), count_(count) {}

    std::uint8_t u8();
    std::uint32_t u32();
    std::int32_t i32();
    std::int64_t i64();
    std::uint64_t u64();
    double f64();
    bool flag();  // 0 or 1
    std::string text();
    // A number of rows that each take `least` bytes or more.
    std::size_t count(std::size_t least);
    // A number from 0 to most.
    std::uint8_t choice(std::uint8_t most, const char* what);
    void expect_tag(const char* four);
    void expect_end() const;

    std::vector<std::uint32_t> references();
    std::vector<std::int32_t> slots();
    std::vector<double> numbers();
    std::vector<std::int64_t> times();
    std::vector<std::string> texts();

    // The same by type.
    void read(std::uint32_t& to) { to = u32(); }
    void read(std::int32_t& to) { to = i32(); }
    void read(std::int64_t& to) { to = i64(); }
    void read(std::uint64_t& to) { to = u64(); }
    void read(double& to) { to = f64(); }
    void read(bool& to) { to = flag(); }
    void read(std::vector<std::int32_t>& to) { to = slots(); }
    void read(std::vector<double>& to) { to = numbers(); }
    void read(std::vector<std::int64_t>& to) { to = times(); }
    void read(std::vector<std::string>& to) { to = texts(); }
    void read(std::vector<std::pair<std::int32_t, std::int32_t>>& to) {
        to.resize(count(8));
        for (auto& [one, other] : to) {
            one = i32();
            other = i32();
        }
    }

    [[noreturn]] void refuse(const std::string& why) const;

  private:
    const char* take(std::size_t count);
    template <class Value>
    Value value();

    std::string name_;
    const char* bytes_;
    std::size_t count_, at_ = 0;
};

class ByteWriter {
  public:
    void u32(std::uint32_t value) { add(&value, sizeof value); }
    void i64(std::int64_t value) { add(&value, sizeof value); }
    void f64(double value) { add(&value, sizeof value); }
    void text(const std::string& value);
    void numbers(const std::vector<double>& values);
    void times(const std::vector<std::int64_t>& values);
    void texts(const std::vector<std::string>& values);
    const std::string& bytes() const { return bytes_; }

  private:
    void add(const void* from, std::size_t count) {
        bytes_.append(static_cast<const char*>(from), count);
    }
    std::string bytes_;
};

}  // namespace softdock
