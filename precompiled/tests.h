// As standard.h, for tests.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "precompiled/standard.h"
