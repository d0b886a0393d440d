// The library that stands for an FMU's Windows library in a Linux process. Its functions hand each
// call to the host, which runs under Wine, and wait for the answer; one FMU for each process.
#include <dlfcn.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "windows_host/calls.hpp"
#include "windows_host/frame.hpp"

namespace softdock::windows_host {
namespace {

constexpr int fatal = 4;  // of the status of all versions

// The host, and the callbacks of the one instance that it has.
struct Host {
    int input = -1, output = -1, process = -1, words = -1;
    bool lost = false;
    bool runs = false;  // from the first step on values wait for the next call
    bool exports[call_count] = {};
    std::string error;
    fmi1::Logger log1 = nullptr;
    fmi2CallbackLogger log2 = nullptr;
    fmi3LogMessageCallback log3 = nullptr;
    fmi3IntermediateUpdateCallback update3 = nullptr;
    void* environment = nullptr;
};

Host host;
Frame request, reply;

// A call that reads values, and its answer where that came with the step.
struct Reading {
    Frame request, reply;
    bool is_answered = false;
};
using Readings = std::vector<std::unique_ptr<Reading>>;

// What is sent with the next call that is answered; the readings since the last step, and those
// that were sent with it. Steps that are alike make one round trip each.
std::vector<char> waiting_values;
Readings readings, sent_ahead;
constexpr std::size_t most_readings = 16;
// What a function handed back by pointer, until the next call.
std::vector<std::string> texts;

void tell(void* instance, int status, const char* category, const char* text) {
    if (host.log1) {
        host.log1(instance, "", status, category, "%s", text);
    } else if (host.log2) {
        host.log2(host.environment, "", static_cast<fmi2Status>(status), category, "%s", text);
    } else if (host.log3) {
        host.log3(host.environment, static_cast<fmi3Status>(status), category, text);
    }
}

// The end of what the host and Wine wrote to standard error.
std::string last_words() {
    char text[2048];
    const auto size = lseek(host.words, 0, SEEK_END);
    const auto from = size > off_t{sizeof text} ? size - off_t{sizeof text} : 0;
    const auto got = pread(host.words, text, sizeof text, from);
    std::string words(text, got > 0 ? static_cast<std::size_t>(got) : 0);
    while (!words.empty() && (words.back() == '\n' || words.back() == '\r')) words.pop_back();
    return words;
}

std::string how_it_ended() {
    siginfo_t info{};
    struct pollfd ended = {host.process, POLLIN, 0};
    poll(&ended, 1, 1000);
    const auto found =
        waitid(P_PIDFD, static_cast<id_t>(host.process), &info, WEXITED | WNOHANG | WNOWAIT);
    if (found != 0 || info.si_pid == 0) return "closed its connection";
    const std::string number = std::to_string(info.si_status);
    return info.si_code == CLD_EXITED ? "ended with exit code " + number
                                      : "was ended by signal " + number;
}

// From here on every function returns fatal: no call reaches the library any more.
void lose(const char* why) {
    if (host.lost) return;
    host.lost = true;
    host.error = std::string("the Wine process of the Windows library ") +
                 (*why ? std::string(why) : how_it_ended());
    if (const auto words = last_words(); !words.empty()) host.error += ": " + words;
    tell(nullptr, fatal, "wine", host.error.c_str());
}

bool write_all(const char* bytes, std::size_t size) {
    while (size > 0) {
        const auto put = write(host.output, bytes, size);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        bytes += put;
        size -= static_cast<std::size_t>(put);
    }
    return true;
}

// The server of Wine may hold the other end of the pipe, so the end of the process is watched too.
bool read_all(char* bytes, std::size_t size) {
    while (size > 0) {
        struct pollfd files[] = {{host.input, POLLIN, 0}, {host.process, POLLIN, 0}};
        if (poll(files, 2, -1) < 0) {
            if (errno == EINTR) continue;
            return false;
        }
        if (!(files[0].revents & (POLLIN | POLLHUP))) return false;
        const auto got = read(host.input, bytes, size);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        bytes += got;
        size -= static_cast<std::size_t>(got);
    }
    return true;
}

// Sends the request, after the values that wait for it.
bool send() {
    if (waiting_values.empty()) return write_all(request.data(), request.size());
    waiting_values.insert(waiting_values.end(), request.data(), request.data() + request.size());
    const bool sent = write_all(waiting_values.data(), waiting_values.size());
    waiting_values.clear();
    return sent;
}

void pass_log(Frame& reply) {
    void* instance = reply.take<void*>();
    const auto status = static_cast<int>(reply.take<std::int64_t>());
    const char* category = reply.take_text();
    const char* text = reply.take_text();
    tell(instance, status, category ? category : "", text ? text : "");
}

void pass_update(Frame& reply) {
    const auto time = reply.take<double>();
    bool flags[4];
    for (auto& flag : flags) flag = reply.take<std::int64_t>() != 0;
    bool early = false;
    double until = time;
    if (host.update3) {
        host.update3(host.environment, time, flags[0], flags[1], flags[2], flags[3], &early,
                     &until);
    }
    request.begin(update);
    request.put<std::int64_t>(early);
    request.put(until);
    send();
}

void keep_waiting() {
    request.mark(waits);
    waiting_values.insert(waiting_values.end(), request.data(), request.data() + request.size());
}

// Receives an answer; what the library calls back meanwhile is served.
bool receive(Frame& reply) {
    for (;;) {
        if (!reply.receive(read_all)) return lose(""), false;
        switch (reply.kind()) {
            case log_text:
                pass_log(reply);
                break;
            case update:
                pass_update(reply);
                break;
            default:
                return true;
        }
    }
}

bool ask() {
    if (host.lost) return false;
    if (!send()) return lose(""), false;
    return receive(reply);
}

// A step goes with the readings of the last one, so that those of this one need no round trip.
bool ask_step() {
    sent_ahead.swap(readings);
    readings.clear();
    // A callback within the step would take them for its answer.
    if (host.update3 || sent_ahead.size() > most_readings) sent_ahead.clear();
    if (host.lost) return false;
    waiting_values.insert(waiting_values.end(), request.data(), request.data() + request.size());
    for (const auto& each : sent_ahead) {
        request.copy(each->request);
        request.mark(follows);
        waiting_values.insert(waiting_values.end(), request.data(),
                              request.data() + request.size());
    }
    const bool sent = write_all(waiting_values.data(), waiting_values.size());
    waiting_values.clear();
    if (!sent) return lose(""), false;
    if (!receive(reply)) return false;
    for (auto& each : sent_ahead) {
        if (!receive(each->reply)) return false;
        each->is_answered = true;
    }
    return true;
}

// Answers a reading from those that came with the step, or asks for it.
bool ask_reading() {
    auto one = std::make_unique<Reading>();
    one->request.copy(request);
    readings.push_back(std::move(one));
    for (auto& each : sent_ahead) {
        if (!each->is_answered || !each->request.same_as(request)) continue;
        reply.copy(each->reply);
        return true;
    }
    return ask();
}

template <class T>
using Element = std::remove_cv_t<std::remove_pointer_t<T>>;

template <class T>
std::uint64_t as_length(T value) {
    if constexpr (std::is_integral_v<T>) {
        return static_cast<std::uint64_t>(value);
    } else {
        return 0;
    }
}

template <char kind, class T>
void put(T value, std::uint64_t count, const std::size_t* sizes) {
    (void)count;
    (void)sizes;
    if constexpr (kind == 'v') {
        request.put(value);
    } else if constexpr (kind == 's') {
        request.put_text(value);
    } else if constexpr (kind == '=') {
        request.put_bytes(value, sizeof(Element<T>));
    } else {
        request.put(count);
        if constexpr (kind == '<') {
            if constexpr (std::is_same_v<Element<T>, const char*>) {
                for (std::uint64_t i = 0; i < count; ++i) request.put_text(value[i]);
            } else {
                request.put_bytes(value, count * sizeof(Element<T>));
            }
        } else if constexpr (kind == '{') {
            for (std::uint64_t i = 0; i < count; ++i) {
                request.put<std::uint64_t>(sizes[i]);
                request.put_bytes(value[i], sizes[i]);
            }
        }
    }
}

template <char kind, class T>
void take(T value, std::uint64_t count, const std::size_t* sizes, bool valid) {
    (void)value;
    (void)count;
    (void)sizes;
    if constexpr (kind == '=') {
        if (const char* from = reply.take_bytes(sizeof(Element<T>))) {
            std::memcpy(value, from, sizeof(Element<T>));
        }
    } else if constexpr (kind == '>') {
        if (!valid || count == 0) return;
        if constexpr (std::is_same_v<Element<T>, const char*>) {
            texts.clear();
            texts.reserve(count);
            for (std::uint64_t i = 0; i < count; ++i) {
                const char* text = reply.take_text();
                texts.emplace_back(text ? text : "");
                value[i] = texts.back().c_str();
            }
        } else if (const char* from = reply.take_bytes(count * sizeof(Element<T>))) {
            std::memcpy(value, from, count * sizeof(Element<T>));
        }
    } else if constexpr (kind == '}') {
        if (!valid) return;
        texts.clear();
        texts.reserve(count);
        for (std::uint64_t i = 0; i < count; ++i) {
            const char* from = reply.take_bytes(sizes[i]);
            texts.emplace_back(from ? from : "", from ? sizes[i] : 0);
            value[i] = reinterpret_cast<const std::uint8_t*>(texts.back().data());
        }
    }
}

const std::size_t* sizes_in(const void*) { return nullptr; }
const std::size_t* sizes_in(const std::size_t* sizes) { return sizes; }
template <class T, std::enable_if_t<!std::is_pointer_v<T>, int> = 0>
const std::size_t* sizes_in(T) {
    return nullptr;
}

// A function of the table, as the run's importer calls it.
template <Call call, class Type = typename Signature<call>::Type>
struct Stub;
template <Call call, class Result, class... T>
struct Stub<call, Result (*)(T...)> {
    template <std::size_t... I>
    static Result pass(std::index_sequence<I...>, T... arguments) {
        constexpr const char* roles = Signature<call>::roles;
        const std::uint64_t lengths[] = {as_length(arguments)...};
        const std::size_t* sizes[] = {nullptr, sizes_in(arguments)...};  // of the one before
        request.begin(static_cast<std::uint32_t>(call));
        (put<role_of(roles, I).kind>(arguments, lengths[role_of(roles, I).length], sizes[I]), ...);
        if constexpr (std::is_void_v<Result>) {
            sent_ahead.clear();
            ask();
        } else {
            constexpr bool is_get = is_marked(roles, "get"), is_step = is_marked(roles, "step");
            if constexpr (!is_get) sent_ahead.clear();
            if (is_marked(roles, "set") && host.runs && !host.lost) {
                keep_waiting();
                return static_cast<Result>(0);
            }
            if constexpr (is_step || is_marked(roles, "run")) host.runs = true;
            const bool answered = is_get ? ask_reading() : is_step ? ask_step() : ask();
            if (!answered) return static_cast<Result>(fatal);
            const auto status = reply.take<std::int64_t>();
            const bool valid = status <= 1;
            (take<role_of(roles, I).kind>(arguments, lengths[role_of(roles, I).length], sizes[I],
                                          valid),
             ...);
            if (reply.is_damaged()) {
                lose("sent a damaged answer");
                return static_cast<Result>(fatal);
            }
            return static_cast<Result>(status);
        }
    }
    static Result function(T... arguments) {
        return pass(std::index_sequence_for<T...>(), arguments...);
    }
};

void* ask_instance() { return ask() ? reply.take<void*>() : nullptr; }

fmi1::Component instantiate1(fmi1::String name, fmi1::String guid, fmi1::String location,
                             fmi1::String type, fmi1::Real, fmi1::Boolean, fmi1::Boolean,
                             fmi1::Callbacks callbacks, fmi1::Boolean logging) {
    host.log1 = callbacks.logger;
    request.begin(static_cast<std::uint32_t>(Call::fmiInstantiateSlave));
    for (const char* text : {name, guid, location, type}) request.put_text(text);
    request.put<std::int64_t>(logging);
    return ask_instance();
}

// A URI of a file as Windows has it: Wine's drive Z is the root.
std::string windows_uri(const char* uri) {
    const std::string_view text = uri ? uri : "", scheme = "file:///";
    if (text.substr(0, scheme.size()) != scheme) return std::string(text);
    return std::string(scheme) + "Z:/" + std::string(text.substr(scheme.size()));
}

fmi2Component instantiate2(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                           const fmi2CallbackFunctions* callbacks, fmi2Boolean,
                           fmi2Boolean logging) {
    host.log2 = callbacks->logger;
    host.environment = callbacks->componentEnvironment;
    request.begin(static_cast<std::uint32_t>(Call::fmi2Instantiate));
    request.put_text(name);
    request.put<std::int64_t>(type);
    request.put_text(guid);
    request.put_text(windows_uri(resources).c_str());
    request.put<std::int64_t>(logging);
    return ask_instance();
}

void begin3(Call call, fmi3String name, fmi3String token, fmi3String resources, bool logging,
            fmi3InstanceEnvironment environment, fmi3LogMessageCallback log) {
    host.log3 = log;
    host.environment = environment;
    request.begin(static_cast<std::uint32_t>(call));
    for (const char* text : {name, token, resources}) request.put_text(text);
    request.put<std::int64_t>(logging);
}

fmi3Instance instantiate_exchange3(fmi3String name, fmi3String token, fmi3String resources,
                                   fmi3Boolean, fmi3Boolean logging,
                                   fmi3InstanceEnvironment environment,
                                   fmi3LogMessageCallback log) {
    begin3(Call::fmi3InstantiateModelExchange, name, token, resources, logging, environment, log);
    return ask_instance();
}

fmi3Instance instantiate_steps3(fmi3String name, fmi3String token, fmi3String resources,
                                fmi3Boolean, fmi3Boolean logging, fmi3Boolean event_mode,
                                fmi3Boolean early_return, const fmi3ValueReference followed[],
                                std::size_t count, fmi3InstanceEnvironment environment,
                                fmi3LogMessageCallback log,
                                fmi3IntermediateUpdateCallback update_inputs) {
    begin3(Call::fmi3InstantiateCoSimulation, name, token, resources, logging, environment, log);
    host.update3 = update_inputs;
    request.put<std::int64_t>(event_mode);
    request.put<std::int64_t>(early_return);
    request.put<std::int64_t>(update_inputs != nullptr);
    request.put<std::uint64_t>(count);
    request.put_bytes(followed, count * sizeof *followed);
    return ask_instance();
}

template <Call call>
void* address() {
    if constexpr (Signature<call>::roles[0] != '*') {
        return reinterpret_cast<void*>(&Stub<call>::function);
    } else if constexpr (call == Call::fmiInstantiateSlave) {
        return reinterpret_cast<void*>(&instantiate1);
    } else if constexpr (call == Call::fmi2Instantiate) {
        return reinterpret_cast<void*>(&instantiate2);
    } else if constexpr (call == Call::fmi3InstantiateModelExchange) {
        return reinterpret_cast<void*>(&instantiate_exchange3);
    } else {
        return reinterpret_cast<void*>(&instantiate_steps3);
    }
}

struct Function {
    std::string_view name;
    void* (*address)();
};
constexpr Function functions[] = {
#define SOFTDOCK_FUNCTION1(VERSION, MEMBER, NAME, ROLES) {#NAME, address<Call::NAME>},
#define SOFTDOCK_FUNCTION(NAME, ROLES) {#NAME, address<Call::NAME>},
    SOFTDOCK_FMI1_CALLS(SOFTDOCK_FUNCTION1) SOFTDOCK_FMI2_CALLS(SOFTDOCK_FUNCTION)
        SOFTDOCK_FMI3_CALLS(SOFTDOCK_FUNCTION)};

}  // namespace
}  // namespace softdock::windows_host

using softdock::windows_host::host;

// Opens the library in the host that reads `output` and writes `input`. Returns null, or why the
// library cannot be used; `error` is then the error number of Windows, or 0.
extern "C" __attribute__((visibility("default"))) const char* softdock_open(int input, int output,
                                                                            int process, int words,
                                                                            const char* path,
                                                                            const char* prefix,
                                                                            long* error) {
    using namespace softdock::windows_host;
    host = Host{};
    host.input = input;
    host.output = output;
    host.process = process;
    host.words = words;
    *error = 0;
    request.begin(open_library);
    request.put<std::int64_t>(protocol_version);
    request.put_text(path);
    request.put_text(prefix);
    if (!ask()) return host.error.c_str();
    if (reply.take<std::int64_t>() != protocol_version) {
        return "the host program is of another version of Softdock";
    }
    *error = static_cast<long>(reply.take<std::int64_t>());
    if (*error != 0) return "LoadLibrary failed";
    for (auto& each : host.exports) each = reply.take<std::int64_t>() != 0;
    return nullptr;
}

// The function that stands for one of the library's, or null if the library does not export it.
extern "C" __attribute__((visibility("default"))) void* softdock_function(const char* name) {
    using namespace softdock::windows_host;
    std::string_view asked = name;
    if (const auto at = asked.rfind("_fmi"); at != std::string_view::npos) {
        asked = asked.substr(at + 1);  // FMI 1.0: without the model identifier
    }
    for (std::size_t i = 0; i < call_count; ++i) {
        if (functions[i].name == asked) return host.exports[i] ? functions[i].address() : nullptr;
    }
    return nullptr;
}
