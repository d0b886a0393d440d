/* Messages to the importer, and the check that a call is allowed now. */
#include "instance.h"

static const struct {
    const char* name;
    unsigned category;
} log_categories[] = {
    {"logStatusError", LOG_ERROR},
    {"logStatusWarning", LOG_WARNING},
    {"logStatusDiscard", LOG_DISCARD},
    {"logEvents", LOG_EVENTS},
};

enum { N_LOG_CATEGORIES = sizeof log_categories / sizeof *log_categories };

/* Whether messages of a category are wanted: errors always are (FMI 3.0.2, section 2.3.1). */
static inline bool wants(const Importer* importer, unsigned category) {
    return importer->logger != NULL && (category == LOG_ERROR || (importer->categories & category));
}

static void send(const Importer* importer, Status status, unsigned category, const char* format,
                 va_list arguments) {
    char text[1024];
    if (!wants(importer, category)) return;
    const char* name = "";
    for (int i = 0; i < N_LOG_CATEGORIES; ++i)
        if (log_categories[i].category == category) name = log_categories[i].name;
    vsnprintf(text, sizeof text, format, arguments);
    importer->deliver(importer, status, name, text);
}

/* Writes every character of `marks` twice: importers give a single one a meaning. */
static void escape(const char* text, const char* marks, char* escaped, size_t size) {
    size_t length = 0;
    for (; *text && length + 2 < size; ++text) {
        if (strchr(marks, *text)) escaped[length++] = *text;
        escaped[length++] = *text;
    }
    escaped[length] = '\0';
}

__attribute__((format(printf, 2, 3))) static Status fail(const Instance* instance,
                                                         const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    send(&instance->importer, STATUS_ERROR, LOG_ERROR, format, arguments);
    va_end(arguments);
    return STATUS_ERROR;
}

/* As `fail`; the importer may try again with other values. */
__attribute__((format(printf, 2, 3))) static Status discard(const Instance* instance,
                                                            const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    send(&instance->importer, STATUS_DISCARD, LOG_DISCARD, format, arguments);
    va_end(arguments);
    return STATUS_DISCARD;
}

__attribute__((format(printf, 2, 3), unused)) static void warn(const Instance* instance,
                                                               const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    send(&instance->importer, STATUS_WARNING, LOG_WARNING, format, arguments);
    va_end(arguments);
}

/* Why the model ends the simulation: told to everybody, since no status says it. */
__attribute__((format(printf, 2, 3), unused)) static void announce(const Instance* instance,
                                                                   const char* format, ...) {
    char text[1024];
    va_list arguments;
    if (instance->importer.logger == NULL) return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    instance->importer.deliver(&instance->importer, STATUS_WARNING, "logStatusWarning", text);
}

/* What happens at events, for those who ask for it. */
__attribute__((format(printf, 2, 3), unused)) static void note(const Instance* instance,
                                                               const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    send(&instance->importer, STATUS_OK, LOG_EVENTS, format, arguments);
    va_end(arguments);
}

__attribute__((format(printf, 2, 3))) static void refuse_instance(const Importer* importer,
                                                                  const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    send(importer, STATUS_ERROR, LOG_ERROR, format, arguments);
    va_end(arguments);
}

/* Turns the named categories on or off, all for none named. */
static Status set_logging(Instance* instance, bool on, size_t count, const char* const names[],
                          const char* function) {
    if (instance == NULL) return STATUS_ERROR;
    unsigned chosen = count == 0 ? LOG_ALL : 0;
    for (size_t i = 0; i < count; ++i) {
        int found = 0;
        while (found < N_LOG_CATEGORIES && strcmp(names[i], log_categories[found].name) != 0)
            ++found;
        if (found == N_LOG_CATEGORIES)
            return fail(instance,
                        "%s: no log category '%s'; there are logStatusError, logStatusWarning, "
                        "logStatusDiscard and logEvents",
                        function, names[i]);
        chosen |= log_categories[found].category;
    }
    unsigned* categories = &instance->importer.categories;
    *categories = on ? *categories | chosen : *categories & ~chosen;
    return STATUS_OK;
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
        case MODE_INTERMEDIATE:
            return "intermediate update mode";
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
