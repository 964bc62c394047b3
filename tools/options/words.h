// The words that options of several tools take, each list in one place. So `kasen go` refuses a wrong word before
// anything is done.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "libcomm/data/cut/partition.h"
#include "libcomm/data/read/readers.h"
#include "libopt/optimize/optimize.h"
#include "tools/common/choice.h"

namespace kasen::tools {

template <class T, std::size_t n>
using Words = std::array<std::pair<std::string_view, T>, n>;

using MethodWord = std::optional<PartitionMethod>;  // nothing: auto
inline constexpr auto method_words = [] {
  Words<MethodWord, partition_methods.size() + 1> all{};
  for (std::size_t k = 0; k < partition_methods.size(); ++k) all[k] = partition_methods[k];
  all.back() = {"auto", std::nullopt};
  return all;
}();
inline constexpr auto compared_words = [] {
  Words<MethodWord, method_words.size() + 1> all{};
  for (std::size_t k = 0; k < method_words.size(); ++k) all[k] = method_words[k];
  all.back() = {"all", std::nullopt};
  return all;
}();
inline constexpr Words<Repeats, 6> repeats_words{{{"refuse", Repeats::refuse},
                                                  {"sum", Repeats::sum},
                                                  {"first", Repeats::first},
                                                  {"last", Repeats::last},
                                                  {"smallest", Repeats::smallest},
                                                  {"largest", Repeats::largest}}};
inline constexpr Words<bool, 2> rest_words{{{"refuse", false}, {"drop", true}}};
inline constexpr const auto& strategy_words = strategy_names;
inline constexpr auto strategy_choices = [] {  // nothing: auto
  Words<std::optional<Strategy>, strategy_names.size() + 1> all{};
  for (std::size_t k = 0; k < strategy_names.size(); ++k) all[k] = strategy_names[k];
  all.back() = {"auto", std::nullopt};
  return all;
}();
inline constexpr const auto& sync_words = sync_names;
inline constexpr const auto& tile_words = tile_names;
inline constexpr const auto& tile_cost_words = tile_cost_names;
inline constexpr const auto& epilogue_words = epilogue_names;
inline constexpr Words<bool, 2> compress_words{{{"none", false}, {"auto", true}}};
inline constexpr Words<bool, 2> on_off_words{{{"on", true}, {"off", false}}};

enum class KernelChoice : std::uint8_t { generated, interpreter };
inline constexpr Words<KernelChoice, 2> kernel_words{
    {{"generated", KernelChoice::generated}, {"interpreter", KernelChoice::interpreter}}};

// The largest numbers that options take.
inline constexpr int most_workers = 1 << 16, most_threads = 4096, most_top = 1 << 20;
inline constexpr int default_rows = 10;  // of each output that a run prints

}  // namespace kasen::tools
