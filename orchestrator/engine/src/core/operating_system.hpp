// What each operating system does its own way. Paths are in UTF-8.
#pragma once

#include <cstdio>
#include <string>

namespace softdock {

// How names of shared libraries end.
extern const char* const library_suffix;

// A shared library, its own dependencies looked for beside it. Throws, with what the system says.
void* load_library(const std::string& path);
void unload_library(void* library);
// The address of a function; null if there is none of that name.
void* function_of(void* library, const char* name);

// A file to read; null if it cannot be opened.
std::FILE* open_file(const std::string& path);

// Processors that this process may use, at least 1.
std::size_t processors();

}  // namespace softdock
