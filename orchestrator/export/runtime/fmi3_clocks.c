/* FMI 3.0: clocks and scheduled execution, of which the model has none. */
#include "fmi3.h"
#include "instance.h"

fmi3Status fmi3GetClock(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                        fmi3Clock values[]) {
    (void)references, (void)values;
    return (fmi3Status)no_variables(instance, count, "Clock", __func__);
}

fmi3Status fmi3SetClock(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                        const fmi3Clock values[]) {
    (void)references, (void)values;
    return (fmi3Status)no_variables(instance, count, "Clock", __func__);
}

fmi3Status fmi3GetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference references[],
                                  size_t count, fmi3Float64 intervals[],
                                  fmi3IntervalQualifier qualifiers[]) {
    (void)references, (void)intervals, (void)qualifiers;
    return (fmi3Status)no_variables(instance, count, "Clock", __func__);
}

fmi3Status fmi3GetIntervalFraction(fmi3Instance instance, const fmi3ValueReference references[],
                                   size_t count, fmi3UInt64 counters[], fmi3UInt64 resolutions[],
                                   fmi3IntervalQualifier qualifiers[]) {
    (void)references, (void)counters, (void)resolutions, (void)qualifiers;
    return (fmi3Status)no_variables(instance, count, "Clock", __func__);
}

fmi3Status fmi3GetShiftDecimal(fmi3Instance instance, const fmi3ValueReference references[],
                               size_t count, fmi3Float64 shifts[]) {
    (void)references, (void)shifts;
    return (fmi3Status)no_variables(instance, count, "Clock", __func__);
}

fmi3Status fmi3GetShiftFraction(fmi3Instance instance, const fmi3ValueReference references[],
                                size_t count, fmi3UInt64 counters[], fmi3UInt64 resolutions[]) {
    (void)references, (void)counters, (void)resolutions;
    return (fmi3Status)no_variables(instance, count, "Clock", __func__);
}

fmi3Status fmi3SetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference references[],
                                  size_t count, const fmi3Float64 intervals[]) {
    (void)references, (void)intervals;
    return (fmi3Status)no_variables(instance, count, "Clock", __func__);
}

fmi3Status fmi3SetIntervalFraction(fmi3Instance instance, const fmi3ValueReference references[],
                                   size_t count, const fmi3UInt64 counters[],
                                   const fmi3UInt64 resolutions[]) {
    (void)references, (void)counters, (void)resolutions;
    return (fmi3Status)no_variables(instance, count, "Clock", __func__);
}

fmi3Status fmi3SetShiftDecimal(fmi3Instance instance, const fmi3ValueReference references[],
                               size_t count, const fmi3Float64 shifts[]) {
    (void)references, (void)shifts;
    return (fmi3Status)no_variables(instance, count, "Clock", __func__);
}

fmi3Status fmi3SetShiftFraction(fmi3Instance instance, const fmi3ValueReference references[],
                                size_t count, const fmi3UInt64 counters[],
                                const fmi3UInt64 resolutions[]) {
    (void)references, (void)counters, (void)resolutions;
    return (fmi3Status)no_variables(instance, count, "Clock", __func__);
}

fmi3Status fmi3ActivateModelPartition(fmi3Instance instance, fmi3ValueReference clock,
                                      fmi3Float64 activation_time) {
    (void)clock, (void)activation_time;
    return unsupported(instance, "this FMU has no scheduled execution", __func__);
}
