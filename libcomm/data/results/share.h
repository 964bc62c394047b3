// Facts that the ranks exchange before and between the windows of a result; private to results. All are collective.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "libcomm/data/results/files.h"
#include "libcomm/data/results/ranks.h"
#include "libcore/data/data.h"

namespace kasen {

// The dimensions whose ids were relabelled: a worker without owned indices does not show it, but another does.
[[nodiscard]] std::set<std::string> relabelled_dims(const std::vector<Part>& parts, ResultRanks& ranks);
// Rank 0's places on every rank; `files` is rank 0's.
[[nodiscard]] ResultPlaces share_places(const ResultFiles* files, ResultRanks& ranks);
// Every rank's number, by rank.
[[nodiscard]] std::vector<std::int64_t> share_number(std::int64_t mine, ResultRanks& ranks);

}  // namespace kasen
