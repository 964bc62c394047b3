// Linear algebra on whole arrays by LAPACK (Anderson et al., LAPACK Users' Guide, 3rd edition, SIAM 1999). The signs
// that the mathematics leaves open are those of libcore/linear/linear.h.
#pragma once

#include "libcore/linear/linear.h"

namespace kasen {

// Throws UserError: bad_input as run_linear does, limit for sizes that LAPACK's integers do not hold.
void run_lapack(const LinearCall& call);
// Loads the library if a plan needs it. Throws UserError (configuration) if it is not installed.
void load_lapack_for(const Module& module);

}  // namespace kasen
