#include "libopt/cost/sizes_sampled.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "libcore/base/sorted.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/module.h"
#include "libcore/ir/regions.h"
#include "libcore/kernels/kernel_set.h"
#include "libcore/patterns/recipe.h"
#include "libopt/cost/slave_sets.h"

namespace kasen {
namespace {

// Counts of the sample: of indices that are always in it, and of the others.
struct Count {
  double certain = 0, by_chance = 0, squares = 0;  // squares: the sum over single indices of the square of by_chance

  [[nodiscard]] double estimate(double fraction) const { return certain + by_chance / fraction; }
  // Independent draws (Horvitz and Thompson, 1952): (1 - p) / p^2 times the sum of squares. One index more than was met
  // is counted, since one that was not met may exist.
  [[nodiscard]] double error(double fraction) const {
    return fraction >= 1 ? 0 : std::sqrt((1 - fraction) * (squares + 1)) / fraction;
  }
};

struct Bounds {
  std::int64_t estimate = 0, low = 0, high = 0;
};

Bounds bounds(const Count& count, double fraction, double errors, std::int64_t most) {
  const double estimate = count.estimate(fraction), error = errors * count.error(fraction);
  const auto within = [&](double value) {
    return std::clamp<std::int64_t>(std::llround(value), std::llround(count.certain + count.by_chance), most);
  };
  return {within(estimate), within(estimate - error), within(estimate + error)};
}

class Builder {
 public:
  Builder(const Module& module, const CutSample& sample) : module_(module), sample_(sample) {
    for (Sizes* sizes : all()) {
      sizes->workers = sample.workers;
      sizes->by_worker.resize(static_cast<size_t>(sample.workers));
    }
    // The probability that any of P workers leaves z errors is below 2 P exp(-z^2 / 2), here 1 / 1000.
    worker_errors_ = std::sqrt(2 * std::log(2000.0 * sample.workers));
  }

  SampledSizes build(const std::string& origin, bool pairs) {
    put({SymbolKind::workers, "", {}, -1}, sample_.workers, [&](size_t) { return sample_.workers; });
    for (const auto& entry : sample_.sizes) {
      const std::int64_t size = entry.second;
      const auto cut = sample_.masters.find(entry.first);
      const auto here = [&](size_t w) { return cut == sample_.masters.end() ? size : cut->second.at(w); };
      put({SymbolKind::size, entry.first, {}, -1}, size, here);
      put({SymbolKind::whole, entry.first, {}, -1}, size, [&](size_t) { return size; });
    }
    for (const auto& entry : sample_.entries) {
      const std::vector<std::int64_t>& counts = entry.second;
      const std::int64_t sum = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
      put({SymbolKind::entries, entry.first, {}, -1}, sum, [&](size_t w) { return counts.at(w); });
    }
    add_patterns();
    for (const auto& [dim, set] : slave_sets(module_)) {
      if (!sample_.sizes.contains(dim)) continue;  // of nonzeros, say
      add_set(dim, set);
      if (pairs) add_pairs(dim, set);
    }
    add_waiting();
    for (Sizes* sizes : all()) {
      sizes->origin = origin;
      bind_batches(module_, *sizes);
    }
    return std::move(made_);
  }

 private:
  std::array<Sizes*, 3> all() { return {&made_.estimate, &made_.low, &made_.high}; }

  void put(const Symbol& symbol, std::int64_t total, const std::function<std::int64_t(size_t)>& on_worker) {
    for (Sizes* sizes : all()) {
      sizes->totals[symbol] = total;
      for (size_t w = 0; w < sizes->by_worker.size(); ++w) sizes->by_worker[w][symbol] = on_worker(w);
    }
  }

  void put(const Symbol& symbol, const Bounds& total, const std::vector<Bounds>& on_worker) {
    constexpr std::array parts{&Bounds::estimate, &Bounds::low, &Bounds::high};
    for (size_t i = 0; i < parts.size(); ++i) {
      Sizes& sizes = *all().at(i);
      sizes.totals[symbol] = total.*parts.at(i);
      for (size_t w = 0; w < on_worker.size(); ++w) sizes.by_worker[w][symbol] = on_worker[w].*parts.at(i);
    }
  }

  // Patterns of several matrices are made later, and the sample has none of their entries. A pattern is taken to have
  // those of all its matrices, at least one in each row.
  void add_patterns() {
    for (const Op& op : module_.body.ops) {
      if (op.code != OpCode::input || !is_recipe(op.name)) continue;
      std::vector<std::int64_t> counts(static_cast<size_t>(sample_.workers));
      for (const std::string& input : recipe_inputs(parse_recipe(op.name).value())) {
        const auto own = sample_.entries.find(input);
        for (size_t w = 0; own != sample_.entries.end() && w < counts.size(); ++w) counts[w] += own->second.at(w);
      }
      const std::int64_t sum = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
      put({SymbolKind::entries, op.name, {}, -1}, sum, [&](size_t w) { return counts.at(w); });
    }
  }

  // A pattern has ghosts where its matrices have some.
  [[nodiscard]] static bool covers(const SlaveSet& set, const SlaveAtom& atom) {
    return std::any_of(set.begin(), set.end(), [&](const SlaveAtom& one) {
      if (one == atom) return true;
      return is_recipe(one.matrix) && recipe_inputs(parse_recipe(one.matrix).value()).contains(atom.matrix);
    });
  }

  [[nodiscard]] std::vector<SampledSlave> slaves_of(const std::string& dim, const SlaveSet& set) const {
    std::vector<SampledSlave> slaves;
    for (const SampledAxis& axis : sample_.axes) {
      const bool wanted = set.empty() || covers(set, axis.atom);
      if (axis.dim == dim && wanted) slaves.insert(slaves.end(), axis.slaves.begin(), axis.slaves.end());
    }
    sort_unique(slaves);
    return slaves;
  }

  static void count(Count& counter, bool certain, double amount) {
    (certain ? counter.certain : counter.by_chance) += amount;
    if (!certain) counter.squares += amount * amount;
  }

  void add_set(const std::string& dim, const SlaveSet& set) {
    const Symbol symbol{SymbolKind::slaves, dim, set, -1};
    const std::int64_t size = sample_.sizes.at(dim);
    const auto masters = sample_.masters.find(dim);
    const auto foreign = [&](size_t w) { return masters == sample_.masters.end() ? 0 : size - masters->second.at(w); };
    if (is_all(set)) return put(symbol, (sample_.workers - 1) * size, foreign);
    const std::vector<bool>& certain = sample_.certain.at(dim);
    Count total;
    std::vector<Count> here(static_cast<size_t>(sample_.workers));
    const std::vector<SampledSlave> slaves = slaves_of(dim, set);
    for (size_t i = 0; i < slaves.size();) {
      size_t next = i;
      const bool always = certain.at(static_cast<size_t>(slaves[i].index));
      for (; next < slaves.size() && slaves[next].index == slaves[i].index; ++next) {
        count(here.at(static_cast<size_t>(slaves[next].worker)), always, 1);
      }
      count(total, always, static_cast<double>(next - i));
      i = next;
    }
    const double fraction = sample_.fraction_of(dim);
    put(symbol, bounds(total, fraction, 3, (sample_.workers - 1) * size), per_worker(here, fraction, foreign));
  }

  // Estimates who holds how many of whose.
  void add_pairs(const std::string& dim, const SlaveSet& set) {
    SlavePairs& pairs = made_.estimate.pairs[{dim, set}];
    const auto workers = static_cast<std::int32_t>(sample_.workers);
    if (is_all(set)) {
      const auto masters = sample_.masters.find(dim);
      for (std::int32_t owner = 0; masters != sample_.masters.end() && owner < workers; ++owner) {
        for (std::int32_t holder = 0; holder < workers; ++holder)
          if (holder != owner) pairs.add({owner, holder, masters->second.at(static_cast<size_t>(owner))}, workers);
      }
      return;
    }
    const std::vector<bool>& certain = sample_.certain.at(dim);
    std::map<std::pair<std::int32_t, std::int32_t>, Count> met;
    for (const SampledSlave& slave : slaves_of(dim, set))
      count(met[{slave.owner, slave.worker}], certain.at(static_cast<size_t>(slave.index)), 1);
    for (const auto& [ends, counted] : met)
      pairs.add({ends.first, ends.second, std::llround(counted.estimate(sample_.fraction_of(dim)))}, workers);
  }

  [[nodiscard]] std::vector<Bounds> per_worker(const std::vector<Count>& counts, double fraction,
                                               const std::function<std::int64_t(size_t)>& most) const {
    std::vector<Bounds> made;
    for (size_t w = 0; w < counts.size(); ++w) {
      made.push_back(bounds(counts[w], fraction, worker_errors_, most(w)));
    }
    return made;
  }

  // Waiting rows: owned elements to which others contribute, and the rest of their blocks
  // (libcore/kernels/numbering.h).
  void add_waiting() {
    std::set<std::pair<std::string, SlaveSet>> spaces;
    for_each_op(module_, [&](const Op& op, int, int) {
      if (!is_epilogue(op)) return;
      const Type& made = module_.type(epilogue_product(op).results.at(0));
      if (!made.state.slaves.empty()) spaces.emplace(Layout(module_, made).cut_name(), made.state.slaves);
    });
    for (const auto& [dim, set] : spaces) {
      const std::vector<std::int64_t>& masters = sample_.masters.at(dim);
      const std::vector<bool>& certain = sample_.certain.at(dim);
      std::vector<Count> mirrored(masters.size());
      std::int32_t last = -1;
      for (const SampledSlave& slave : slaves_of(dim, set)) {
        if (std::exchange(last, slave.index) == slave.index) continue;
        count(mirrored.at(static_cast<size_t>(slave.owner)), certain.at(static_cast<size_t>(slave.index)), 1);
      }
      std::vector<Bounds> waiting =
          per_worker(mirrored, sample_.fraction_of(dim), [&](size_t w) { return masters.at(w); });
      Bounds total;
      for (size_t w = 0; w < waiting.size(); ++w) {
        for (const auto part : {&Bounds::estimate, &Bounds::low, &Bounds::high}) {
          std::int64_t& rows = waiting[w].*part;
          if (rows > 0) rows = masters[w] - (masters[w] - rows) / reduction_block * reduction_block;
          total.*part += rows;
        }
      }
      put({SymbolKind::waiting, dim, set, -1}, total, waiting);
    }
  }

  const Module& module_;
  const CutSample& sample_;
  double worker_errors_ = 0;
  SampledSizes made_;
};

}  // namespace

SampledSizes sampled_sizes(const Module& module, const CutSample& sample, const std::string& origin, bool pairs) {
  return Builder(module, sample).build(origin, pairs);
}

}  // namespace kasen
