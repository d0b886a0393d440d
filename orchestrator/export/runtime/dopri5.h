/* The explicit Runge-Kutta pair of Dormand and Prince, order 5(4), with its continuous extension.
 *
 * E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, 2nd ed., 1993:
 * table II.5.2; the extension of fourth order is that of section II.6 with the coefficients of the
 * authors' code DOPRI5. */
#ifndef SOFTDOCK_DOPRI5_H
#define SOFTDOCK_DOPRI5_H

#define DOPRI5_TIMES {0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0}

#define DOPRI5_STAGES                                                                        \
    {                                                                                        \
        {0.0},                                                                               \
        {0.2},                                                                               \
        {3.0 / 40.0, 9.0 / 40.0},                                                            \
        {44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0},                                             \
        {19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0},             \
        {9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0}, \
        {35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0},   \
    }

/* Fifth minus fourth order. */
#define DOPRI5_ERRORS                                                   \
    {71.0 / 57600.0,      0.0,          -71.0 / 16695.0, 71.0 / 1920.0, \
     -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0}

/* The term of fourth degree of the continuous extension. */
#define DOPRI5_QUARTIC                                               \
    {-12715105075.0 / 11282082432.0,  0.0,                           \
     87487479700.0 / 32700410799.0,   -10690763975.0 / 1880347072.0, \
     701980252875.0 / 199316789632.0, -1453857185.0 / 822651844.0,   \
     69997945.0 / 29380423.0}

#endif
