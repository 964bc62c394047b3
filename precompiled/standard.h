// What nearly every file of the libraries and tools includes of others, read once a library (Meson's b_pch, on by
// default in scripts/). Files include what they use all the same: they compile without it, too.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
