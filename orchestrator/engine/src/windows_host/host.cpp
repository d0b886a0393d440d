// The program that runs under Wine: it loads the Windows library of one FMU and calls its functions
// as the bridge in the Linux process asks, by frames on standard input and output. Standard error
// carries its last words. It needs no C++ library.
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <io.h>
#include <windows.h>

#include <cstdarg>
#include <cstdio>
#include <cwchar>
#include <tuple>
#include <utility>

#include "windows_host/calls.hpp"
#include "windows_host/frame.hpp"

namespace softdock::windows_host {
namespace {

HANDLE input, output;
CRITICAL_SECTION writing;  // a library may log from threads of its own
Frame request, reply;
HMODULE library;
FARPROC functions[call_count];
void* environment;  // of the instance's owner in the Linux process
// The worst status of calls whose answer nobody waits for, and of the last call.
std::int64_t waiting = 0, last = 0;
bool is_answered = true;

[[noreturn]] void end(const char* why, UINT code) {
    std::fprintf(stderr, "%s\n", why);
    std::fflush(stderr);
    TerminateProcess(GetCurrentProcess(), code);
    std::abort();
}

bool read_all(char* bytes, std::size_t size) {
    while (size > 0) {
        DWORD got = 0;
        const auto most = static_cast<DWORD>(size < 1 << 20 ? size : 1 << 20);
        if (!ReadFile(input, bytes, most, &got, nullptr) || got == 0) return false;
        bytes += got;
        size -= got;
    }
    return true;
}

void send(const Frame& frame) {
    const char* bytes = frame.data();
    std::size_t size = frame.size();
    EnterCriticalSection(&writing);
    while (size > 0) {
        DWORD put = 0;
        const auto most = static_cast<DWORD>(size < 1 << 20 ? size : 1 << 20);
        if (!WriteFile(output, bytes, most, &put, nullptr)) end("the run has gone", 3);
        bytes += put;
        size -= put;
    }
    LeaveCriticalSection(&writing);
}

// The run that has gone away needs no orderly end, which the library could refuse.
void receive() {
    if (!request.receive(read_all)) TerminateProcess(GetCurrentProcess(), 0);
}

void log(void* instance, int status, const char* category, const char* text) {
    Frame message;
    message.begin(log_text);
    message.put(instance);
    message.put<std::int64_t>(status);
    message.put_text(category ? category : "");
    message.put_text(text ? text : "");
    send(message);
}

void log_formatted(void* instance, int status, const char* category, const char* format,
                   std::va_list arguments) {
    char text[4096];
    std::vsnprintf(text, sizeof text, format ? format : "", arguments);
    log(instance, status, category, text);
}

void log_fmi1(void* instance, const char*, int status, const char* category, const char* format,
              ...) {
    std::va_list arguments;
    va_start(arguments, format);
    log_formatted(instance, status, category, format, arguments);
    va_end(arguments);
}

void log_fmi2(fmi2ComponentEnvironment, fmi2String, fmi2Status status, fmi2String category,
              fmi2String format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    log_formatted(nullptr, status, category, format, arguments);
    va_end(arguments);
}

void log_fmi3(fmi3InstanceEnvironment, fmi3Status status, fmi3String category, fmi3String text) {
    log(nullptr, status, category, text);
}

void serve_one();

// Within a step the owner may set inputs before it answers.
void update3(fmi3InstanceEnvironment, fmi3Float64 time, fmi3Boolean set_requested,
             fmi3Boolean get_allowed, fmi3Boolean step_finished, fmi3Boolean can_return_early,
             fmi3Boolean* early_return_requested, fmi3Float64* early_return_time) {
    Frame message;
    message.begin(update);
    message.put(time);
    const bool flags[] = {set_requested, get_allowed, step_finished, can_return_early};
    for (const bool flag : flags) message.put<std::int64_t>(flag);
    send(message);
    for (receive(); request.kind() != update; receive()) serve_one();
    *early_return_requested = request.take<std::int64_t>() != 0;
    *early_return_time = request.take<double>();
}

// Memory for the arrays that the library fills, and for lists of texts; one for each argument.
class Slot {
  public:
    ~Slot() { std::free(bytes_); }
    template <class Element>
    Element* room(std::size_t count) {
        const auto size = (count ? count : 1) * sizeof(Element);
        if (size > room_) {
            std::free(bytes_);
            bytes_ = std::malloc(room_ = 2 * size);
            if (!bytes_) end("no memory for the values of a call", 4);
        }
        std::memset(bytes_, 0, size);
        return static_cast<Element*>(bytes_);
    }

  private:
    void* bytes_ = nullptr;
    std::size_t room_ = 0;
};
Slot slots[10];

template <class T>
using Element = std::remove_cv_t<std::remove_pointer_t<T>>;

// One argument of a call: taken out of the request, kept while the library runs, and what it
// handed back put into the reply.
template <class T, char kind, int number>
struct Argument {
    T value{};
    std::size_t count = 0;

    void take() {
        if constexpr (kind == 's') {
            value = request.take_text();
        } else {
            value = request.take<T>();
        }
    }
    template <class Before>
    void give(const Before&) {}
};

template <class T, int number>
struct Argument<T, '=', number> {
    Element<T> element{};
    T value = &element;
    void take() { element = request.take<Element<T>>(); }
    template <class Before>
    void give(const Before&) {
        reply.put_bytes(&element, sizeof element);
    }
};

template <class T, int number>
struct Argument<T, '<', number> {
    T value{};
    void take() {
        const auto count = request.take<std::uint64_t>();
        if constexpr (std::is_same_v<Element<T>, const char*>) {
            auto* texts = slots[number].template room<const char*>(count);
            for (std::uint64_t i = 0; i < count; ++i) texts[i] = request.take_text();
            value = texts;
        } else {
            value = reinterpret_cast<T>(request.take_bytes(count * sizeof(Element<T>)));
        }
    }
    template <class Before>
    void give(const Before&) {}
};

template <class T, int number>
struct Argument<T, '>', number> {
    T value{};
    std::uint64_t count = 0;
    void take() {
        count = request.take<std::uint64_t>();
        value = slots[number].template room<Element<T>>(count);
    }
    template <class Before>
    void give(const Before&) {
        if constexpr (std::is_same_v<Element<T>, const char*>) {
            for (std::uint64_t i = 0; i < count; ++i) reply.put_text(value[i]);
        } else {
            reply.put_bytes(value, count * sizeof(Element<T>));
        }
    }
};

template <class T, int number>
struct Argument<T, '{', number> {
    T value{};
    void take() {
        const auto count = request.take<std::uint64_t>();
        auto* binaries = slots[number].template room<const std::uint8_t*>(count);
        for (std::uint64_t i = 0; i < count; ++i) {
            const auto size = request.take<std::uint64_t>();
            binaries[i] = reinterpret_cast<const std::uint8_t*>(request.take_bytes(size));
        }
        value = binaries;
    }
    template <class Before>
    void give(const Before&) {}
};

template <class T, int number>
struct Argument<T, '}', number> {
    T value{};
    std::uint64_t count = 0;
    void take() {
        count = request.take<std::uint64_t>();
        value = slots[number].template room<const std::uint8_t*>(count);
    }
    template <class Before>
    void give(const Before& sizes) {
        for (std::uint64_t i = 0; i < count; ++i) {
            reply.put_bytes(value[i], value[i] ? sizes.value[i] : 0);
        }
    }
};

// Answers nothing where the bridge does not wait; a failure is then that of the next call.
template <class Give>
void finish(std::int64_t status, const Give& give) {
    if (!is_answered) {
        if (status > waiting) waiting = status;
        return;
    }
    last = status <= 1 && waiting > status ? waiting : status;
    waiting = 0;
    reply.begin(answer);
    reply.put<std::int64_t>(last);
    give();
    send(reply);
}

template <Call call, class Result, class... T, std::size_t... I>
void serve(Result (*)(T...), std::index_sequence<I...>) {
    constexpr const char* roles = Signature<call>::roles;
    std::tuple<Argument<T, role_of(roles, I).kind, static_cast<int>(I)>...> arguments;
    (std::get<I>(arguments).take(), ...);
    if (request.is_damaged()) end("a damaged request", 5);
    const auto function = reinterpret_cast<Result (*)(T...)>(functions[std::size_t(call)]);
    std::int64_t status = 0;
    if constexpr (std::is_void_v<Result>) {
        function(std::get<I>(arguments).value...);
    } else {
        status = static_cast<std::int64_t>(function(std::get<I>(arguments).value...));
    }
    finish(status,
           [&] { (std::get<I>(arguments).give(std::get<(I > 0 ? I - 1 : 0)>(arguments)), ...); });
}

template <Call call, class Result, class... T>
void serve(Result (*function)(T...)) {
    serve<call>(function, std::index_sequence_for<T...>());
}

template <Call call>
auto function_as() {
    return reinterpret_cast<typename Signature<call>::Type>(functions[std::size_t(call)]);
}

void give_instance(void* instance) {
    reply.begin(answer);
    reply.put(instance);
    send(reply);
}

// A path of Linux as Windows has it: Wine's drive Z is the root.
void windows_path(const char* path, char* made, std::size_t room) {
    std::snprintf(made, room, "Z:%s", path);
    for (char* each = made; *each; ++each) {
        if (*each == '/') *each = '\\';
    }
}

void instantiate1() {
    const char* texts[4];
    for (auto& text : texts) text = request.take_text();
    const auto logging = static_cast<char>(request.take<std::int64_t>());
    const fmi1::Callbacks callbacks{log_fmi1, std::calloc, std::free, nullptr};
    give_instance(function_as<Call::fmiInstantiateSlave>()(texts[0], texts[1], texts[2], texts[3],
                                                           0.0, 0, 0, callbacks, logging));
}

void instantiate2() {
    const char* name = request.take_text();
    const auto type = static_cast<fmi2Type>(request.take<std::int64_t>());
    const char* guid = request.take_text();
    const char* resources = request.take_text();
    const auto logging = static_cast<fmi2Boolean>(request.take<std::int64_t>());
    static fmi2CallbackFunctions callbacks;
    callbacks = {log_fmi2, std::calloc, std::free, nullptr, &callbacks};
    give_instance(
        function_as<Call::fmi2Instantiate>()(name, type, guid, resources, &callbacks, 0, logging));
}

void instantiate3(bool exchange) {
    const char* name = request.take_text();
    const char* token = request.take_text();
    char resources[4096];
    windows_path(request.take_text(), resources, sizeof resources);
    const bool logging = request.take<std::int64_t>() != 0;
    if (exchange) {
        return give_instance(function_as<Call::fmi3InstantiateModelExchange>()(
            name, token, resources, false, logging, &environment, log_fmi3));
    }
    const bool event_mode = request.take<std::int64_t>() != 0;
    const bool early_return = request.take<std::int64_t>() != 0;
    const bool updates = request.take<std::int64_t>() != 0;
    const auto count = request.take<std::uint64_t>();
    const auto* followed = reinterpret_cast<const fmi3ValueReference*>(
        request.take_bytes(count * sizeof(fmi3ValueReference)));
    give_instance(function_as<Call::fmi3InstantiateCoSimulation>()(
        name, token, resources, false, logging, event_mode, early_return,
        count ? followed : nullptr, count, &environment, log_fmi3, updates ? update3 : nullptr));
}

template <Call call>
void serve_call() {
    if constexpr (Signature<call>::roles[0] != '*') {
        serve<call>(typename Signature<call>::Type{});
    } else if constexpr (call == Call::fmiInstantiateSlave) {
        instantiate1();
    } else if constexpr (call == Call::fmi2Instantiate) {
        instantiate2();
    } else {
        instantiate3(call == Call::fmi3InstantiateModelExchange);
    }
}

using Server = void (*)();
constexpr Server servers[] = {
#define SOFTDOCK_SERVER1(VERSION, MEMBER, NAME, ROLES) serve_call<Call::NAME>,
#define SOFTDOCK_SERVER(NAME, ROLES) serve_call<Call::NAME>,
    SOFTDOCK_FMI1_CALLS(SOFTDOCK_SERVER1) SOFTDOCK_FMI2_CALLS(SOFTDOCK_SERVER)
        SOFTDOCK_FMI3_CALLS(SOFTDOCK_SERVER)};
constexpr const char* names[] = {
#define SOFTDOCK_NAME1(VERSION, MEMBER, NAME, ROLES) #NAME,
#define SOFTDOCK_NAME(NAME, ROLES) #NAME,
    SOFTDOCK_FMI1_CALLS(SOFTDOCK_NAME1) SOFTDOCK_FMI2_CALLS(SOFTDOCK_NAME)
        SOFTDOCK_FMI3_CALLS(SOFTDOCK_NAME)};

void serve_one() {
    const auto kind = request.kind() & ~(waits | follows);
    if (kind >= call_count || !functions[kind]) end("a request that this host does not know", 5);
    const bool is_answered_before = is_answered;
    is_answered = !(request.kind() & waits);
    // After a failure of the values before it a call is not made, nor one that follows a failed
    // step.
    const bool has_failed =
        (is_answered && waiting > 1) || ((request.kind() & follows) && last > 1);
    if (has_failed) {
        last = waiting > 1 ? waiting : last;
        waiting = 0;
        reply.begin(answer);
        reply.put(last);
        send(reply);
    } else {
        servers[kind]();
    }
    is_answered = is_answered_before;
}

// Loads the library and says which functions it exports, or why it cannot be loaded.
void open() {
    const auto version = request.take<std::int64_t>();
    const char* path = request.take_text();
    const char* prefix = request.take_text();  // of the functions of FMI 1.0
    reply.begin(open_library);
    reply.put<std::int64_t>(protocol_version);
    if (version != protocol_version) return send(reply);
    char made[4096];
    windows_path(path, made, sizeof made);
    wchar_t wide[4096];
    MultiByteToWideChar(CP_UTF8, 0, made, -1, wide, 4096);
    library = LoadLibraryExW(wide, nullptr, LOAD_WITH_ALTERED_SEARCH_PATH);
    reply.put<std::int64_t>(library ? 0 : static_cast<std::int64_t>(GetLastError()));
    if (!library) return send(reply);
    for (std::size_t i = 0; i < call_count; ++i) {
        char name[1024];
        const bool is_first =
            std::strncmp(names[i], "fmi2", 4) && std::strncmp(names[i], "fmi3", 4);
        std::snprintf(name, sizeof name, "%s%s", is_first ? prefix : "", names[i]);
        functions[i] = GetProcAddress(library, name);
        reply.put<std::int64_t>(functions[i] != nullptr);
    }
    send(reply);
}

LONG WINAPI crashed(EXCEPTION_POINTERS* found) {
    char text[128];
    std::snprintf(text, sizeof text, "the library crashed: exception 0x%08lx at %p",
                  static_cast<unsigned long>(found->ExceptionRecord->ExceptionCode),
                  found->ExceptionRecord->ExceptionAddress);
    end(text, found->ExceptionRecord->ExceptionCode);
}

HANDLE copy_of(DWORD standard) {
    HANDLE copy = nullptr;
    const HANDLE self = GetCurrentProcess();
    DuplicateHandle(self, GetStdHandle(standard), self, &copy, 0, FALSE, DUPLICATE_SAME_ACCESS);
    return copy;
}

}  // namespace
}  // namespace softdock::windows_host

int main() {
    using namespace softdock::windows_host;
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
    SetUnhandledExceptionFilter(crashed);
    InitializeCriticalSection(&writing);
    // What the library prints goes where the last words go: standard output belongs to the frames.
    input = copy_of(STD_INPUT_HANDLE);
    output = copy_of(STD_OUTPUT_HANDLE);
    _dup2(_fileno(stderr), _fileno(stdout));
    _close(_fileno(stdin));
    SetStdHandle(STD_OUTPUT_HANDLE, GetStdHandle(STD_ERROR_HANDLE));
    receive();
    open();
    for (receive();; receive()) serve_one();
}
