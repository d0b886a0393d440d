/* Messages to the importer, and the check that a call is allowed now. */
#include "instance.h"

static void send(fmi2CallbackLogger logger, fmi2ComponentEnvironment environment, const char* name,
                 fmi2Status status, const char* category, const char* format, va_list arguments) {
    char text[1024], escaped[2 * sizeof text];
    size_t length = 0;
    if (logger == NULL) return;
    vsnprintf(text, sizeof text, format, arguments);
    /* The logger takes a printf format: a percent sign in a name must not be read as one. */
    for (const char* c = text; *c; ++c) {
        escaped[length++] = *c;
        if (*c == '%') escaped[length++] = '%';
    }
    escaped[length] = '\0';
    logger(environment, name, status, category, escaped);
}

__attribute__((format(printf, 2, 3))) static fmi2Status fail(const Instance* instance,
                                                             const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    send(instance->logger, instance->environment, instance->name, fmi2Error, "logStatusError",
         format, arguments);
    va_end(arguments);
    return fmi2Error;
}

__attribute__((format(printf, 3, 4))) static void refuse_instance(
    const fmi2CallbackFunctions* callbacks, const char* name, const char* format, ...) {
    va_list arguments;
    if (callbacks == NULL) return;
    va_start(arguments, format);
    send(callbacks->logger, callbacks->componentEnvironment, name ? name : "", fmi2Error,
         "logStatusError", format, arguments);
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
        case MODE_TERMINATED:
            return "terminated";
        default:
            return "error (call fmi2Reset or fmi2SetFMUstate)";
    }
}

static inline bool allowed(const Instance* instance, int modes, const char* function) {
    if (instance == NULL) return false;
    if (instance->state.mode & modes) return true;
    fail(instance, "%s: not allowed in state '%s'", function, mode_name(instance->state.mode));
    return false;
}
