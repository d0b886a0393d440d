// One message between the bridge and the host: a header, then items of 8-byte alignment. It needs
// no C++ library, which the host would have to bring along.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace softdock::windows_host {

struct Header {
    std::uint32_t size;  // bytes after the header
    std::uint32_t kind;  // a Call or a Message
};

// Bytes that grow; what was taken is kept for the next message.
class Frame {
  public:
    Frame() = default;
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;
    ~Frame() { std::free(bytes_); }

    void begin(std::uint32_t kind) {
        end_ = 0;
        read_ = sizeof(Header);
        const Header header{0, kind};
        put_bytes(&header, sizeof header);
    }
    void put_bytes(const void* from, std::size_t size) {
        const auto room = (size + 7) / 8 * 8;
        reserve(end_ + room);
        if (size) std::memcpy(bytes_ + end_, from, size);
        end_ += room;
        reinterpret_cast<Header*>(bytes_)->size = static_cast<std::uint32_t>(end_ - sizeof(Header));
    }
    template <class Number>
    void put(Number number) {
        put_bytes(&number, sizeof number);
    }
    void put_text(const char* text) {
        put<std::int64_t>(text ? static_cast<std::int64_t>(std::strlen(text)) : -1);
        if (text) put_bytes(text, std::strlen(text) + 1);
    }
    // Room for bytes that are written later; null if there are none.
    char* put_room(std::size_t size) {
        const auto at = end_;
        reserve(end_ + (size + 7) / 8 * 8);
        std::memset(bytes_ + at, 0, (size + 7) / 8 * 8);
        end_ += (size + 7) / 8 * 8;
        reinterpret_cast<Header*>(bytes_)->size = static_cast<std::uint32_t>(end_ - sizeof(Header));
        return bytes_ + at;
    }

    // What is read is checked against the size of the message; beyond its end there is null.
    const char* take_bytes(std::size_t size) {
        const auto at = read_;
        if (size > end_ - read_) return damaged();
        const auto room = (size + 7) / 8 * 8;
        read_ = room > end_ - read_ ? end_ : read_ + room;
        return bytes_ + at;
    }
    template <class Number>
    Number take() {
        Number number{};
        if (const char* from = take_bytes(sizeof number)) std::memcpy(&number, from, sizeof number);
        return number;
    }
    const char* take_text() {
        const auto size = take<std::int64_t>();
        return size < 0 ? nullptr : take_bytes(static_cast<std::size_t>(size) + 1);
    }
    bool is_damaged() const { return damaged_; }
    // Continues with the message of another frame, which is read from its begin.
    void copy(const Frame& other) {
        reserve(other.end_);
        std::memcpy(bytes_, other.bytes_, other.end_);
        end_ = other.end_;
        read_ = sizeof(Header);
        damaged_ = false;
    }
    bool same_as(const Frame& other) const {
        return end_ == other.end_ && std::memcmp(bytes_, other.bytes_, end_) == 0;
    }
    void mark(std::uint32_t flag) { reinterpret_cast<Header*>(bytes_)->kind |= flag; }

    std::uint32_t kind() const { return reinterpret_cast<const Header*>(bytes_)->kind; }
    const char* data() const { return bytes_; }
    std::size_t size() const { return end_; }

    // Receives by `read(bytes, size) -> bool`, which fills all that is asked for.
    template <class Read>
    bool receive(const Read& read) {
        reserve(sizeof(Header));
        if (!read(bytes_, sizeof(Header))) return false;
        const std::size_t size = reinterpret_cast<const Header*>(bytes_)->size;
        reserve(sizeof(Header) + size);
        end_ = sizeof(Header) + size;
        read_ = sizeof(Header);
        damaged_ = false;
        return size == 0 || read(bytes_ + sizeof(Header), size);
    }

  private:
    const char* damaged() {
        damaged_ = true;
        read_ = end_;
        return nullptr;
    }
    void reserve(std::size_t size) {
        if (size <= room_) return;
        room_ = size < 4096 ? 4096 : 2 * size;
        void* larger = std::realloc(bytes_, room_);
        if (!larger) std::abort();
        bytes_ = static_cast<char*>(larger);
    }

    char* bytes_ = nullptr;
    std::size_t room_ = 0, end_ = 0, read_ = sizeof(Header);
    bool damaged_ = false;
};

}  // namespace softdock::windows_host
