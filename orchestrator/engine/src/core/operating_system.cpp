#include "core/operating_system.hpp"

#include <stdexcept>
#include <thread>
#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>
#else
#include <dlfcn.h>
#endif
#ifdef __linux__
#include <sched.h>
#endif

namespace softdock {

#if defined(_WIN32)
const char* const library_suffix = ".dll";
#elif defined(__APPLE__)
const char* const library_suffix = ".dylib";
#else
const char* const library_suffix = ".so";
#endif

#ifdef _WIN32

namespace {

// As Windows wants a path whose dependencies it looks for: wide, with backslashes.
std::wstring native(const std::string& path) {
    const auto size = static_cast<int>(path.size());
    std::wstring made(path.size(), L'\0');  // never longer than the bytes of UTF-8
    made.resize(static_cast<std::size_t>(
        MultiByteToWideChar(CP_UTF8, 0, path.data(), size, made.data(), size)));
    for (auto& each : made) {
        if (each == L'/') each = L'\\';
    }
    return made;
}

}  // namespace

void* load_library(const std::string& path) {
    void* library = LoadLibraryExW(native(path).c_str(), nullptr, LOAD_WITH_ALTERED_SEARCH_PATH);
    if (!library) {
        throw std::runtime_error(path + ": cannot be loaded, error " +
                                 std::to_string(GetLastError()) + " of Windows");
    }
    return library;
}

void unload_library(void* library) { FreeLibrary(static_cast<HMODULE>(library)); }

void* function_of(void* library, const char* name) {
    return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
}

std::FILE* open_file(const std::string& path) { return _wfopen(native(path).c_str(), L"rb"); }

#else

void* load_library(const std::string& path) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) throw std::runtime_error(dlerror());
    return library;
}

void unload_library(void* library) { dlclose(library); }

// A library that stands for one in another process names its functions itself.
void* function_of(void* library, const char* name) {
    using Lookup = void* (*)(const char*);
    const auto lookup = reinterpret_cast<Lookup>(dlsym(library, "softdock_function"));
    return lookup ? lookup(name) : dlsym(library, name);
}

std::FILE* open_file(const std::string& path) { return std::fopen(path.c_str(), "rb"); }

#endif

std::size_t processors() {
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    const int count = CPU_COUNT(&set);
#else
    const int count = static_cast<int>(std::thread::hardware_concurrency());
#endif
    return count > 1 ? static_cast<std::size_t>(count) : 1;
}

}  // namespace softdock
