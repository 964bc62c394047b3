// The slice that suits all terms of a statement: `x[j - 3] + x[j + 3]` needs N[3:-3]. Each term by itself would narrow
// one end.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "libcore/ir/derived_dims.h"
#include "libcore/lang/indexed/indexed.h"
#include "libcore/lang/indexed/mentions.h"

namespace kasen::lang {
namespace {

constexpr std::int64_t widest = std::int64_t{1} << 40;

}  // namespace

// What an index adds to a variable, from the least to the most: that of a sum's variable is a number from 0 on.
struct Indexed::Reach {
  std::int64_t least = 0, most = 0;
  bool whole = true;  // none is unknown
};

Indexed::Reach Indexed::reach(const Node& index, const std::string& variable, const Counts& counts) const {
  if (index.kind == NodeKind::name) {
    if (index.text == variable) return {};
    if (const auto count = counts.find(index.text); count != counts.end()) return {0, count->second - 1, true};
    const Variable* const known = find(index.text);
    if (known != nullptr) return {known->value, known->value, known->label == no_label};
  }
  if (index.kind != NodeKind::operation) {
    if (!mentions(index, variable) && (index.kind == NodeKind::integer || index.kind == NodeKind::name)) {
      const std::int64_t number = constant_place(index);
      return {number, number, number > -widest && number < widest};
    }
    return {0, 0, false};
  }
  const Reach a = reach(index.args[0], variable, counts);
  if (index.op == ScalarOp::neg) return {-a.most, -a.least, a.whole};
  if (index.args.size() != 2 || (index.op != ScalarOp::add && index.op != ScalarOp::sub)) return {0, 0, false};
  const Reach b = reach(index.args[1], variable, counts);
  if (index.op == ScalarOp::add) return {a.least + b.least, a.most + b.most, a.whole && b.whole};
  return {a.least - b.most, a.most - b.least, a.whole && b.whole};
}

// Of all indices in the text that mention the variable.
void Indexed::widen(const Node& node, const std::string& variable, const Counts& counts, Reach& all) const {
  Counts inner = counts;
  if (node.kind == NodeKind::loop) {
    for (std::size_t i = 0; i < std::max<std::size_t>(node.names.size(), 1) && i + 1 < node.args.size(); ++i) {
      const std::int64_t count = known_count(node.args[i]);
      if (count > 0 && count < widest) inner[node.names.empty() ? node.text : node.names[i].text] = count;
    }
  }
  for (std::size_t i = 1; node.kind == NodeKind::index && i < node.args.size(); ++i) {
    if (!mentions(node.args[i], variable)) continue;
    const Reach one = reach(node.args[i], variable, inner);
    all = {std::min(all.least, one.least), std::max(all.most, one.most), all.whole && one.whole};
  }
  for (const Node& arg : node.args) widen(arg, variable, inner, all);
}

// A number, or that of a dimension of a known size; -1: neither.
std::int64_t Indexed::known_count(const Node& count) const {
  if (count.kind == NodeKind::integer) return evaluator_.count(count, 0, "the number of indices");
  const Binding* const bound = count.kind == NodeKind::name ? scopes_.find(count.text) : nullptr;
  if (bound == nullptr) return -1;
  if (bound->is(Binding::Kind::constant)) return evaluator_.count(count, 0, "the number of indices");
  return bound->is(Binding::Kind::dimension) && bound->dim != no_dim ? module_.dim(bound->dim).size : -1;
}

// `whole`: the dimension of the arrays. Empty: some index is not as simple, or the slice is not.
std::string Indexed::window(const Variable& variable, DimId whole) const {
  if (notation_ == nullptr) return "";
  Reach all;
  widen(*notation_, variable.name, {}, all);
  const Dimension& own = module_.dim(variable.dim);
  Derivation slice = own.derived;
  if (variable.dim == whole) slice = {.kind = Derivation::Kind::slice, .sources = {whole}};
  const bool simple = slice.kind == Derivation::Kind::slice && slice.sources == std::vector{whole} && slice.step > 0 &&
                      slice.begin.value_or(0) >= 0 && slice.end.value_or(-1) < 0;
  if (!simple || !all.whole) return "";
  if (all.least < 0) slice.begin = std::max(slice.begin.value_or(0), -all.least);
  if (all.most > 0) slice.end = std::min(slice.end.value_or(-1), -all.most);
  const std::string name = variable.dim == whole ? "I" : own.name;
  return fmt::format("dim {}{} = {}", name, own.local ? " local" : "",
                     derivation_text(slice, [&](DimId dim) { return module_.dim(dim).name; }));
}

}  // namespace kasen::lang
