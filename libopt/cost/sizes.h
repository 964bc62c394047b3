// The numbers that stand for the symbols of a cost: from the parts of a bundle (exact, for each worker), from a
// bundle's statistics, or as the user gives them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "libcore/data/data.h"
#include "libcore/ir/module.h"
#include "libopt/cost/cost.h"
#include "libopt/cost/polynomial.h"

namespace kasen {

// Slaves of one set along one dimension by who owns and who holds them; those of neighbours alone.
struct SlavePairs {
  struct Pair {
    std::int32_t owner = 0, holder = 0;
    std::int64_t count = 0;
  };
  std::vector<Pair> list;
  std::vector<std::int64_t> owned, held;  // by worker: others' slaves of its masters, and its slaves

  void add(const Pair& pair, int workers);
};

struct Sizes {
  std::string origin;                                            // "bundle web.4", "--sizes"
  std::string bundle_digest;                                     // of the bundle that they are of, if they are
  int workers = 0;                                               // 0: not known
  Polynomial::Bindings totals;                                   // over all workers
  std::vector<Polynomial::Bindings> by_worker;                   // exact, or empty
  std::map<std::pair<std::string, SlaveSet>, SlavePairs> pairs;  // by dimension and set; empty unless from parts
  std::vector<std::string> notes;                                // what was assumed, for the report

  [[nodiscard]] std::int64_t on_worker(int worker, const Symbol& symbol) const;  // InternalError if not bound
};

// Takes parts one after another, so that no two need be in memory. `module` says which sets of slaves matter.
class SizesBuilder {
 public:
  // For `beside`, too, if it is not null: another module of the same program, whose sets may be others.
  explicit SizesBuilder(const Module& module, const Module* beside = nullptr);
  // Leaves Sizes::pairs empty: only buffers of exchanges and traffic between ranks need them.
  void leave_out_pairs() { pairs_ = false; }
  void add(const Part& part);  // UserError(bad_input) where it lacks a dimension or matrix of the module
  [[nodiscard]] Sizes finish(std::string origin, std::string bundle_digest = {});

 private:
  void add_dimension(const Part& part, const std::string& dim);
  void add_compressed(const Part& part, Polynomial::Bindings& here);
  void add_waiting(const Part& part, Polynomial::Bindings& here);
  void add_all(const Part& part, const std::string& dim, Polynomial::Bindings& here);
  void add_set(const Part& part, const std::string& dim, const SlaveSet& set, Polynomial::Bindings& here);

  const Module& module_;
  std::vector<std::pair<std::string, SlaveSet>> sets_;
  bool pairs_ = true;
  Sizes sizes_;
};

[[nodiscard]] Sizes sizes_from_parts(const Module& module, const std::vector<Part>& parts,
                                     std::string bundle_digest = {});

// `V=1000,S=250,nnz=8000,P=4,trips=20`: every symbol that the reports print may be named. A set of slaves that is not
// given takes S of its dimension, and a note says so. UserError(usage) with the near name for one that is unknown,
// ill-formed or given twice. `1e9` and `2_000` are numbers, too.
[[nodiscard]] Sizes parse_sizes(const Module& module, const std::string& text);
// The same for a plan of that program: names that are not the plan's are left out.
[[nodiscard]] Sizes known_sizes(const Module& module, const std::string& text);

// Every symbol of the module's report.
[[nodiscard]] std::vector<Symbol> module_symbols(const Module& module, const CostReport& report);

}  // namespace kasen
