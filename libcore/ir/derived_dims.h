// Derived dimensions: `dim K = N[5:8]`, `dim NM = N * M`, `dim S = N + M`, `dim B = N / M`, `dim Z fills N / M`,
// `dim K some N` (observed.h). Their sizes follow from those of their sources here, for all: the language, plans,
// partitions, runs, costs, and the interpreter.
//
// `dim W workers` has an index for each worker: tiles are an axis of arrays. Who knows the number of workers gives it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "libcore/ir/module.h"

namespace kasen {

// The indices first, first + step, ... of a dimension. The step of fewer than two is 1.
struct SlicedIndices {
  std::int64_t first = 0, count = 0, step = 1;
};
// Those of a slice of a dimension of `size` indices, as Python's slice(begin, end, step).indices(size) has them.
[[nodiscard]] SlicedIndices sliced_indices(const Derivation& slice, std::int64_t size);

// The numbers by which a slice's indices may be displaced without leaving their dimension, for some size of it that
// leaves the slice an index. Nothing: there is no such bound.
struct Displacements {
  std::optional<std::int64_t> lowest, highest;
};
[[nodiscard]] Displacements possible_displacements(const Derivation& slice);
// Why indices of a slice, displaced by a number, lie outside of their dimension; `what` is "" if they do not. `size`:
// of the dimension, or -1 if it is not known, and then they do for every size.
struct OutsideFault {
  std::string what, why, remedy;
};
[[nodiscard]] OutsideFault outside_fault(const Derivation& slice, std::int64_t displacement, std::int64_t size,
                                         const std::string& source);

// `dim Z fills N / M`: as many indices as N lacks for |M| equal parts. It is written as a quotient of step -1.
[[nodiscard]] bool fills(const Derivation& derived);
[[nodiscard]] bool is_quotient(const Derivation& derived);  // N / M itself

// The size, or -1 where a source has none yet, and for workers. Of `some N` the most that it may be, |N|. A quotient
// that is not whole is rounded up: see require_whole. UserError (limit) for more than 63 bits.
[[nodiscard]] std::int64_t derived_size(const Derivation& derived,
                                        const std::function<std::int64_t(DimId)>& size_of_source);

// Whether a derived dimension may have `size` indices where derived_size() says so many; -1: not known.
[[nodiscard]] bool may_have_size(const Derivation& derived, std::int64_t size, std::int64_t derived_size);

// Throws UserError (bad_input) if the dimension is a quotient of sizes of which one does not divide the other.
void require_whole(const Dimension& dim, const std::function<std::int64_t(DimId)>& size_of_source,
                   const std::function<std::string(DimId)>& name_of_source);

// Gives derived dimensions their sizes, as far as those of their sources are known; `some N` without a size gets the
// most that it may have. Throws UserError (bad_input) if one has a size already that it cannot have, or is no whole
// quotient: `origin` says whose ("the data", "--sizes").
void derive_sizes(IdMap<DimId, Dimension>& dims, std::string_view origin);

// The same with a number of workers, which dimensions of workers get before.
void derive_sizes(IdMap<DimId, Dimension>& dims, std::string_view origin, std::int64_t workers);

// True if the size of a dimension, or of one that it is derived from, is the number of workers.
[[nodiscard]] bool depends_on_workers(const IdMap<DimId, Dimension>& dims, DimId dim);
// The first dimension of workers, or no_dim.
[[nodiscard]] DimId workers_dim(const IdMap<DimId, Dimension>& dims);

// True if the indices of `whole` are all tuples of indices of these, by whatever names (N, or N[:]): it is their
// product, or one of two is the quotient of `whole` by the other.
[[nodiscard]] bool is_product_of(const Module& module, DimId whole, const std::vector<DimId>& parts);

// "N[5:8]", "N * M", "N + M", "N / M", "fills N / M", as the language and the IR write it; of workers, what they are.
[[nodiscard]] std::string derivation_text(const Derivation& derived,
                                          const std::function<std::string(DimId)>& name_of_source);
[[nodiscard]] std::string derivation_text(const Module& module, DimId dim);

// Fails for a derived dimension with another size. `has`: "dimension K has 4 indices in the data".
[[noreturn]] void refuse_derived_size(const std::string& has, const std::string& derivation, std::int64_t size);

}  // namespace kasen
