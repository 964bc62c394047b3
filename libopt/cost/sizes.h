/// \file
/// Numbers for the symbols of a cost. They come from the parts of a bundle (exact, for each worker), from the
/// statistics of a bundle, or from the user.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "libcore/data/data.h"
#include "libcore/ir/module.h"
#include "libopt/cost/cost.h"
#include "libopt/cost/polynomial.h"
#include "libopt/cost/reach.h"

namespace kasen {

/// Ghosts of one set along one dimension, by owner and by holder. Only pairs of neighbours are listed.
struct SlavePairs {
  struct Pair {
    std::int32_t owner = 0, holder = 0;
    std::int64_t count = 0;
  };
  std::vector<Pair> list;
  std::vector<std::int64_t> owned, held;  ///< by worker: others' ghosts of its owned elements; its own

  void add(const Pair& pair, int workers);
};

struct Sizes {
  std::string origin;                           ///< "bundle web.4", "--sizes"
  std::string bundle_digest;                    ///< the digest of the bundle that they describe, if any
  int workers = 0;                              ///< 0 if it is not known
  Polynomial::Bindings totals;                  ///< sums over all workers
  std::set<Symbol> at_most;                     ///< of totals: the most that they can be
  std::vector<Polynomial::Bindings> by_worker;  ///< exact, or empty
  std::map<std::pair<std::string, SlaveSet>, SlavePairs> pairs;  ///< by dimension and set; empty unless from parts
  std::vector<std::int64_t> list_bytes;                          ///< by worker, as PartCount; empty unless from parts
  Reaches reaches;                                               ///< means over the nonzeros; empty unless from parts
  std::vector<std::string> notes;                                ///< assumptions, for the report

  [[nodiscard]] std::int64_t on_worker(int worker, const Symbol& symbol) const;  ///< InternalError if not bound
};

/// Binds the mean nonzeros of a batch where the matrix's nonzeros and the number of its batches are known.
void bind_batches(const Module& module, Sizes& sizes);

/// Takes parts one after another, so that no two have to be in memory. `module` decides which sets of ghosts matter.
class SizesBuilder {
 public:
  /// Also serves `beside` if it is not null: another module of the same program, which may use other sets.
  explicit SizesBuilder(const Module& module, const Module* beside = nullptr);
  /// Leaves Sizes::pairs empty. Only buffers of exchanges and traffic between ranks need the pairs.
  void leave_out_pairs() { pairs_ = false; }
  void add(const Part& part);  ///< UserError(bad_input) where it lacks a dimension or matrix of the module
  [[nodiscard]] Sizes finish(std::string origin, std::string bundle_digest = {});

 private:
  std::int64_t size_of(const PartDim& facts, const std::string& dim);
  void add_dimension(const Part& part, const std::string& dim);
  void add_reaches(const Part& part);
  void add_compressed(const Part& part, Polynomial::Bindings& here);
  void add_numbering(const Part& part, Polynomial::Bindings& here);
  void add_all(const Part& part, const std::string& dim, Polynomial::Bindings& here);
  void add_set(const Part& part, const std::string& dim, const SlaveSet& set, Polynomial::Bindings& here);

  const Module& module_;
  std::set<SlaveAtom> read_;  // axes whose reach is wanted
  std::vector<std::pair<std::string, SlaveSet>> sets_;
  bool pairs_ = true;
  Sizes sizes_;
};

[[nodiscard]] Sizes sizes_from_parts(const Module& module, const std::vector<Part>& parts,
                                     std::string bundle_digest = {});

/// Parses `V=1000,S=250,nnz=8000,P=4,trips=20`; every symbol that the reports print may be named. A set of ghosts
/// without a number takes S of its dimension, and a note says so. Throws UserError(usage), with the nearest name, if a
/// name is unknown, ill-formed or given twice. `1e9` and `2_000` are also numbers.
[[nodiscard]] Sizes parse_sizes(const Module& module, const std::string& text);
/// Parses the same for a plan of that program and leaves out names that the plan does not have.
[[nodiscard]] Sizes known_sizes(const Module& module, const std::string& text);

/// "K is taken as N = 1000, the most that it can be: the run finds it"
[[nodiscard]] std::string most_indices_note(const Module& module, DimId observed, std::int64_t size);

/// Adds, where they are missing: sizes that the program fixes, what relayouts leave where it is, and ghosts of sets
/// whose dimension's ghosts are known (`notes` tells of these).
void derive_sizes(const Module& module, Sizes& sizes);

/// Returns every symbol of the module's report.
[[nodiscard]] std::vector<Symbol> module_symbols(const Module& module, const CostReport& report);

}  // namespace kasen
