#include "integration/cvode_library.hpp"

#include <stdexcept>

#include "core/operating_system.hpp"

namespace softdock::sundials {

namespace {

void* open(const std::string& folder, const char* name) {
    return load_library(folder + "/sundials_" + name + library_suffix);
}

template <class Function>
void find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(function_of(library, name));
    if (!function) throw std::runtime_error(std::string("SUNDIALS does not export ") + name);
}

}  // namespace

Library::Library(const std::string& folder) {
    // Each finds those that it needs among those that were loaded before it.
    void* core = open(folder, "core");
    void* vectors = open(folder, "nvecserial");
    void* matrices = open(folder, "sunmatrixdense");
    void* solvers = open(folder, "sunlinsoldense");
    void* cvode = open(folder, "cvode");
    find(core, "SUNDIALSGetVersionNumber", version);
    int major = 0, minor = 0, patch = 0;
    char label[8];
    if (version(&major, &minor, &patch, label, sizeof label) != 0 || major != 7) {
        throw std::runtime_error("expected SUNDIALS 7, found version " + std::to_string(major));
    }
    find(core, "SUNContext_Create", create_context);
    find(core, "SUNContext_Free", free_context);
    find(core, "SUNContext_ClearErrHandlers", clear_handlers);
    find(core, "SUNContext_PushErrHandler", push_handler);
    find(core, "N_VGetArrayPointer", values);
    find(core, "N_VSetArrayPointer", set_values);
    find(core, "N_VDestroy", destroy_vector);
    find(core, "SUNMatDestroy", destroy_matrix);
    find(core, "SUNLinSolFree", free_solver);
    find(vectors, "N_VMake_Serial", make_vector);
    find(matrices, "SUNDenseMatrix", make_matrix);
    find(matrices, "SUNDenseMatrix_Column", column);
    find(solvers, "SUNLinSol_Dense", make_solver);
    find(cvode, "CVodeCreate", create);
    find(cvode, "CVodeInit", init);
    find(cvode, "CVodeReInit", reinit);
    find(cvode, "CVodeSetUserData", set_user_data);
    find(cvode, "CVodeWFtolerances", set_weights);
    find(cvode, "CVodeSetLinearSolver", set_solver);
    find(cvode, "CVodeSetJacFn", set_jacobian);
    find(cvode, "CVodeSetStopTime", set_stop_time);
    find(cvode, "CVode", step);
    find(cvode, "CVodeGetDky", interpolate);
    find(cvode, "CVodeGetCurrentStep", current_step);
    find(cvode, "CVodeFree", destroy);
}

}  // namespace softdock::sundials
