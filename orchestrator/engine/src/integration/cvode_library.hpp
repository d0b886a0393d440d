// CVODE of SUNDIALS 7, loaded at run time. The declarations are those of its C interface, for
// double precision, 64-bit indices and no MPI; its types are opaque here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace softdock::sundials {

using Context = void*;
using Vector = void*;
using Matrix = void*;
using LinearSolver = void*;
using Memory = void*;
using Index = std::int64_t;

using ErrorHandler = void (*)(int, const char*, const char*, const char*, int, void*, Context);
using RightHandSide = int (*)(double, Vector, Vector, void*);
using Weights = int (*)(Vector, Vector, void*);
using Jacobian = int (*)(double, Vector, Vector, Matrix, void*, Vector, Vector, Vector);

constexpr int no_communicator = 0, bdf = 2, one_step = 2;

class Library {
  public:
    // `folder` holds the five libraries that FMPy brings along. Throws std::runtime_error if one of
    // them, a function or the right version is missing. They stay loaded.
    explicit Library(const std::string& folder);

    int (*version)(int*, int*, int*, char*, int);
    int (*create_context)(int, Context*);
    int (*free_context)(Context*);
    int (*clear_handlers)(Context);
    int (*push_handler)(Context, ErrorHandler, void*);
    Vector (*make_vector)(Index, double*, Context);
    double* (*values)(Vector);
    void (*set_values)(double*, Vector);
    void (*destroy_vector)(Vector);
    Matrix (*make_matrix)(Index, Index, Context);
    double* (*column)(Matrix, Index);
    void (*destroy_matrix)(Matrix);
    LinearSolver (*make_solver)(Vector, Matrix, Context);
    int (*free_solver)(LinearSolver);
    Memory (*create)(int, Context);
    int (*init)(Memory, RightHandSide, double, Vector);
    int (*reinit)(Memory, double, Vector);
    int (*set_user_data)(Memory, void*);
    int (*set_weights)(Memory, Weights);
    int (*set_solver)(Memory, LinearSolver, Matrix);
    int (*set_jacobian)(Memory, Jacobian);
    int (*set_stop_time)(Memory, double);
    int (*step)(Memory, double, Vector, double*, int);
    int (*interpolate)(Memory, double, int, Vector);
    int (*current_step)(Memory, double*);
    void (*destroy)(Memory*);
};

}  // namespace softdock::sundials
