/* Derivatives through the implicit blocks, by the implicit function theorem: each block's residual
 * stays zero, so its unknowns follow from its factored Jacobian, block after block. */
#include "instance.h"

/* Factors of all Jacobians at a solution z. */
static bool linearize(Instance* instance, const double** arguments) {
    for (const Block* block = model_blocks; block < model_blocks + N_BLOCKS; ++block) {
        if (block->kind == BLOCK_FIXED) continue; /* kept since z was solved for */
        double* matrix = instance->factors + block->factors;
        evaluate_block(instance, block, arguments, instance->step, matrix);
        if (factor(matrix, instance->factor_scales + block->first,
                   instance->factor_pivots + block->first, block->size))
            continue;
        instance->failed_block = block->label;
        instance->failure = SINGULAR_BLOCK;
        return false;
    }
    return true;
}

/* Directional derivatives of z. The arguments are t, u, x, p, c, q, z and the seeds of u, x, t, and
 * z itself, which is filled. */
static void propagate(Instance* instance, const double** arguments, double* seed_z) {
    for (const Block* block = model_blocks; block < model_blocks + N_BLOCKS; ++block) {
        double* part = seed_z + block->first;
        double* results[] = {part};
        block->tangent(arguments, results, NULL, NULL, 0);
        solve_factored(instance->factors + block->factors, instance->factor_scales + block->first,
                       instance->factor_pivots + block->first, part, block->size);
    }
}

#if MODEL_FMI == 3
/* The transpose: seeds of z become seeds of u and x, added to those that are there. */
static void propagate_back(Instance* instance, const double* known[7], double* bar_z, double* bar_u,
                           double* bar_x) {
    double u[ROOM(N_U)], x[ROOM(N_X)], z[ROOM(N_Z)];
    double* results[] = {u, x, z};
    for (const Block* block = model_blocks + N_BLOCKS; block-- > model_blocks;) {
        double* part = bar_z + block->first;
        solve_transposed(instance->factors + block->factors, instance->factor_scales + block->first,
                         instance->factor_pivots + block->first, part, block->size);
        const double* arguments[] = {known[0], known[1], known[2], known[3],
                                     known[4], known[5], known[6], part};
        block->adjoint(arguments, results, NULL, NULL, 0);
        for (int i = 0; i < N_U; ++i) bar_u[i] += u[i];
        for (int i = 0; i < N_X; ++i) bar_x[i] += x[i];
        for (int i = 0; i < block->first; ++i) bar_z[i] += z[i];
    }
}
#endif
