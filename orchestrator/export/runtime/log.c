/* Messages to the importer, and the check that a call is allowed now. */
#include "instance.h"

static void send(const Importer* importer, Status status, const char* format, va_list arguments) {
    char text[1024];
    if (importer->logger == NULL) return;
    vsnprintf(text, sizeof text, format, arguments);
    importer->deliver(importer, status,
                      status == STATUS_WARNING ? "logStatusWarning" : "logStatusError", text);
}

__attribute__((format(printf, 2, 3))) static Status fail(const Instance* instance,
                                                         const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    send(&instance->importer, STATUS_ERROR, format, arguments);
    va_end(arguments);
    return STATUS_ERROR;
}

/* As `fail`; the importer may try again with other values. */
__attribute__((format(printf, 2, 3))) static Status discard(const Instance* instance,
                                                            const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    send(&instance->importer, STATUS_DISCARD, format, arguments);
    va_end(arguments);
    return STATUS_DISCARD;
}

__attribute__((format(printf, 2, 3), unused)) static void warn(const Instance* instance,
                                                               const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    send(&instance->importer, STATUS_WARNING, format, arguments);
    va_end(arguments);
}

__attribute__((format(printf, 2, 3))) static void refuse_instance(const Importer* importer,
                                                                  const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    send(importer, STATUS_ERROR, format, arguments);
    va_end(arguments);
}

static const char* mode_name(int mode) {
    switch (mode) {
        case MODE_INSTANTIATED:
            return "instantiated";
        case MODE_INITIALIZATION:
            return "initialization mode";
        case MODE_STEP:
            return "step mode";
        case MODE_EVENT:
            return "event mode";
        case MODE_CONTINUOUS:
            return "continuous-time mode";
        case MODE_TERMINATED:
            return "terminated";
        default:
            return "error (reset the instance or restore a saved state)";
    }
}

static inline bool allowed(const Instance* instance, int modes, const char* function) {
    if (instance == NULL) return false;
    if (instance->state.mode & modes) return true;
    fail(instance, "%s: not allowed in state '%s'", function, mode_name(instance->state.mode));
    return false;
}
