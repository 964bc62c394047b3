// As standard.h, for tools.
#include <boost/program_options.hpp>

#include "precompiled/standard.h"
