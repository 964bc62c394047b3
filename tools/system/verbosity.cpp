#include "tools/system/verbosity.h"

namespace kasen::tools {
namespace {

Verbosity chosen = Verbosity::normal;

}  // namespace

void set_verbosity(Verbosity verbosity) { chosen = verbosity; }

Verbosity verbosity() { return chosen; }

}  // namespace kasen::tools
