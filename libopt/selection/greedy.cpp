#include "libopt/selection/greedy.h"

#include <algorithm>
#include <map>

#include "libcore/analysis/chain_rules.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libopt/rewrite/dependence.h"

namespace kasen::fusion {
namespace {

// Returns the position of `key` in `keys`; appends it if it is not there.
template <class Key>
int number_of(std::vector<Key>& keys, const Key& key) {
  const auto at = std::find(keys.begin(), keys.end(), key);
  const auto number = static_cast<int>(at - keys.begin());
  if (at == keys.end()) keys.push_back(key);
  return number;
}

// Keys and ranges are numbered in the order in which they appear.
template <class Key>
std::vector<Cluster> clusters_of(const Module& module, const Block& block, RegionKind kind, bool inside, Key key_of) {
  std::vector<RegionKey> kinds;
  std::vector<SlaveSet> ranges;
  ClusterRules rules;
  rules.inside = inside;
  const bool boxes = names_layouts(module);
  for (const Op& op : block.ops) {
    std::optional<RegionKey> key = key_of(module, op, boxes);
    rules.ranges.push_back(key && key->slaves ? number_of(ranges, *key->slaves) : -1);
    rules.hands_on.push_back(key && key->hands_on);
    if (key) key->slaves.reset();
    if (key) key->hands_on = false;
    rules.kinds.push_back(key ? number_of(kinds, *key) : -1);
  }
  std::vector<Cluster> clusters;
  for (std::vector<int>& members : cluster(BlockGraph(module, block), rules)) {
    clusters.push_back({kind, std::move(members)});
  }
  return clusters;
}

// Looks for a row_chain among single operators and regions of vector work and of products.
class ChainSearch {
 public:
  ChainSearch(const Module& module, const Block& block) : module_(module), block_(block), graph_(module, block) {}

  // Returns the first one from there on, or nothing.
  [[nodiscard]] std::vector<Cluster> next(int& from) const {
    for (int step = 0; step < graph_.size(); ++step) {
      const int product = (from + step) % graph_.size();
      if (!passes_dense_matrix(at(product))) continue;
      for (const int first : {begin_of(product), product}) {
        std::vector<int> members = grow(first, product);
        if (!contains(members, product) || (!goes_back(members) && !works_on_rows(members))) continue;
        from = first;
        return {{RegionKind::row_chain, std::move(members)}};
      }
    }
    return {};
  }

 private:
  [[nodiscard]] const Op& at(int op) const { return block_.ops[static_cast<size_t>(op)]; }

  [[nodiscard]] bool passes_dense_matrix(const Op& op) const {
    const bool products = is_product(op) || (op.code == OpCode::region && op.kind == RegionKind::mxm);
    return products && may_stand_in_chain(module_, operators_of(op)[0]);
  }

  // Returns true for vector work on owned elements of the rows: an operator or an iter_on_vec region. None of its
  // operators makes the matrix.
  [[nodiscard]] bool follows(const Op& op, DimId rows, ValueId matrix) const {
    if (contains(op.results, matrix)) return false;  // of a region, whose operators use another name for it
    return is_vector_work(op, [&](const Op& inner) { return may_follow_chain(module_, inner, rows, matrix); });
  }

  // Returns true if `reader` follows the rows, too. Work that reads the matrix itself joins for products with it alone,
  // as in X' (w * X): what it makes of a row stays in the cache. All else would be transposed to be stored.
  [[nodiscard]] bool joins(int reader, DimId rows, ValueId matrix) const {
    if (!follows(at(reader), rows, matrix)) return false;
    if (!contains(at(reader).operands, matrix)) return true;
    const std::vector<int>& readers = graph_.needed_by(reader);
    return !readers.empty() && std::all_of(readers.begin(), readers.end(), [&](int by) {
      const Op& product = at(by);
      return product.code == OpCode::mxv && product_matrix(product) == matrix && product.operands[0] != matrix;
    });
  }

  // Returns the beginning of a product's chain: the work that makes the rows which it brings back, if that may join,
  // and what that itself weighs the matrix's rows by.
  [[nodiscard]] int begin_of(int product) const {
    const Op& op = at(product);
    if (op.code != OpCode::mxv) return product;
    const ValueId matrix = product_matrix(op);
    const int maker = maker_of({op.operands[0]}, product, matrix);
    if (maker == product || !contains(at(maker).operands, matrix)) return maker;
    return maker_of(at(maker).operands, maker, matrix);
  }

  // Returns the work that makes one of the values for `reader`, if that may join; else the reader.
  [[nodiscard]] int maker_of(const std::vector<ValueId>& values, int reader, ValueId matrix) const {
    const DimId rows = module_.type(matrix).dims[0];
    for (const int need : graph_.needs(reader)) {
      const std::vector<ValueId>& made = at(need).results;
      const bool makes = std::any_of(made.begin(), made.end(), [&](ValueId v) { return contains(values, v); });
      if (makes && joins(need, rows, matrix)) return need;
    }
    return reader;
  }

  // Collects, in program order from `first` on, all that may join: no operand waits for a member outside of the chain.
  [[nodiscard]] std::vector<int> grow(int first, int product) const {
    const ValueId matrix = product_matrix(at(product));
    const DimId rows = module_.type(matrix).dims[0];
    std::vector<int> members{first};
    std::vector<bool> inside(block_.ops.size()), waits(block_.ops.size());
    inside[static_cast<size_t>(first)] = true;
    for (int op = first + 1; op < graph_.size(); ++op) {
      const std::vector<int>& needs = graph_.needs(op);
      const auto is = [](const std::vector<bool>& flags) {
        return [&flags](int need) { return static_cast<bool>(flags[static_cast<size_t>(need)]); };
      };
      const bool reads_member = std::any_of(needs.begin(), needs.end(), is(inside));
      const bool blocked = std::any_of(needs.begin(), needs.end(), is(waits));
      const bool same_matrix = passes_dense_matrix(at(op)) && product_matrix(at(op)) == matrix;
      const bool may_join = same_matrix || (reads_member && joins(op, rows, matrix));
      if (may_join && !blocked) {
        inside[static_cast<size_t>(op)] = true;
        members.push_back(op);
      } else {
        waits[static_cast<size_t>(op)] = reads_member || blocked;
      }
    }
    return members;
  }

  // Returns true if one of the products reads values made from another's rows.
  [[nodiscard]] bool goes_back(const std::vector<int>& members) const {
    std::vector<ValueId> made;
    for (const int member : members) {
      for (const Op& op : operators_of(at(member))) {
        if (op.code == OpCode::mxv && contains(made, op.operands[0])) return true;
      }
      made.insert(made.end(), at(member).results.begin(), at(member).results.end());
    }
    return false;
  }

  // Returns true if vector work is among them. Values between it and a product are not read from memory, and they are
  // stored only if something else reads them.
  [[nodiscard]] bool works_on_rows(const std::vector<int>& members) const {
    return std::any_of(members.begin(), members.end(),
                       [&](int member) { return !is_product(operators_of(at(member))[0]); });
  }

  const Module& module_;
  const Block& block_;
  const BlockGraph graph_;
};

}  // namespace

std::vector<Cluster> vector_clusters(const Module& module, const Block& block, int& /*from*/) {
  return clusters_of(module, block, RegionKind::iter_on_vec, true, vector_key);
}

// Members do not need each other's results. Sparse products of several columns are members beside folds alone: each
// goes over eight of its columns at once.
std::vector<Cluster> product_clusters(const Module& module, const Block& block, int& /*from*/) {
  std::vector<Cluster> clusters = clusters_of(module, block, RegionKind::mxm, false, product_key);
  const auto at = [&](int member) -> const Op& { return block.ops[static_cast<size_t>(member)]; };
  for (Cluster& cluster : clusters) {
    std::vector<int>& members = cluster.members;
    if (std::any_of(members.begin(), members.end(), [&](int m) { return is_fold(at(m)); })) continue;
    std::erase_if(members, [&](int m) { return has_columns(module, at(m)); });
  }
  std::erase_if(clusters, [](const Cluster& cluster) { return cluster.members.size() < 2; });
  return clusters;
}

std::vector<Cluster> chain_clusters(const Module& module, const Block& block, int& from) {
  return ChainSearch(module, block).next(from);
}

std::vector<Piece> greedy_pieces(const Module& module, const BlockDag& block) {
  Module fused = module;
  for (const RegionShape& shape : region_shapes()) (void)form_regions(fused, shape.greedy);
  std::map<ValueId, const Op*> regions;  // by value that an operator inside makes
  for_each_op(fused, [&](const Op& op, int, int) {
    if (op.code != OpCode::region) return;
    for (const Op& inner : operators_of(op)) regions[inner.results[0]] = &op;
  });
  std::map<const Op*, size_t> piece_of;
  std::vector<Piece> pieces;
  for (const NodeId id : block.dag.ids()) {
    if (block.places[id] < 0) continue;
    const Op& op = block.block->ops[static_cast<size_t>(block.places[id])];
    const auto at = regions.find(op.results[0]);
    const Op* region = at == regions.end() ? nullptr : at->second;
    const size_t piece = piece_of.try_emplace(region == nullptr ? &op : region, pieces.size()).first->second;
    if (piece == pieces.size()) pieces.push_back({{}, region ? std::optional(region->kind) : std::nullopt});
    PlanOperator& made = pieces[piece].op;
    made.members.push_back(id);
    if (region == nullptr || contains(region->blocks[0].ops.back().operands, op.results[0])) made.roots.push_back(id);
  }
  for (Piece& piece : pieces) piece.op.inputs = inputs_of(block.dag, piece.op.members);
  return pieces;
}

}  // namespace kasen::fusion
