// What only an operating system for real time has.
#pragma once

#include <cstddef>
#include <cstdint>

namespace softdock {

// Sleeps until a moment of now_ns(), or until a signal comes.
void sleep_until(std::int64_t moment_ns);

// Keeps all memory that this process has from being paged out, and lets it be again. Error number
// of the system, or 0.
int lock_memory();
int unlock_memory();

// Large memory in large pages, where the system has them: each page that is taken stops a run.
void ask_for_large_pages(void* begin, std::size_t bytes);

}  // namespace softdock
