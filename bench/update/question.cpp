#include <fmt/format.h>

#include <stdexcept>

#include "bench/update/update.h"

namespace kasen::bench {
namespace {

constexpr std::int64_t elements = 20'000'000;  // 160 MB a vector

}  // namespace

Question update_question(const Settings& settings) {
  std::vector<double> x, y;
  for (std::int64_t i = 0; i < elements; ++i) {
    x.push_back(static_cast<double>(i * 7919 % 1024) / 256 - 2);
    y.push_back(static_cast<double>(i * 104729 % 1024) / 512 - 1);
  }
  const std::vector<std::pair<std::string, Update>> updates{
      {"kasen", kasen_update(x, y, settings.threads, true)},
      {"kasen-cached", kasen_update(x, y, settings.threads, false)},
      {"openmp", openmp_update(x, y, settings.threads, false)},
      {"openmp-stream", openmp_update(x, y, settings.threads, true)},
  };
  const UpdateResult expected = updates.back().second();
  Question question{"update", "ms/pass", 1e3, {}};
  for (const auto& [name, update] : updates) {
    if (update().z != expected.z) throw std::runtime_error(fmt::format("{}: another result", name));
    question.contestants.push_back({name, [run = update] { return run().seconds_per_pass; }});
  }
  return question;
}

}  // namespace kasen::bench
