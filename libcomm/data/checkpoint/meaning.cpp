#include "libcomm/data/checkpoint/meaning.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "libcomm/data/base/digest.h"
#include "libcomm/data/base/element_text.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/ir/derived_dims.h"

namespace kasen {
namespace {

// Carried values are told apart by their first content and by what an iteration makes of them, which may again be
// carried values: so their digests are made in rounds. After as many rounds as both plans together have carried values,
// equal digests mean equal values.
int rounds_for(std::size_t carried) {
  constexpr std::size_t least = 32;
  return carried == 0 ? 1 : static_cast<int>(2 * std::bit_ceil(std::max(carried, least)));
}

class Reader {
 public:
  explicit Reader(const Module& module) : module_(module), next_(module.values.size()) {
    for (const Dimension& dim : module.dims) dims_.push_back(dim.name);
    std::size_t carried = 0;
    for_each_op(module, [&](const Op& op, int, int) {
      heads_.push_back(head_of(op));
      if (op.code == OpCode::while_loop || op.code == OpCode::for_loop) carried += op.operands.size();
    });
    made_.values.resize(module.values.size());
    rounds_ = rounds_for(carried);
  }

  Meanings read() {
    for (int round = 0; round < rounds_; ++round) {
      number_ = 0;
      read(module_.body);
    }
    return std::move(made_);
  }

 private:
  // The operator without its operands.
  [[nodiscard]] std::string head_of(const Op& op) const {
    std::string text = fmt::format("{}\n{}\n", row(rearrangement_of(module_, op)).name, op.name);
    for (const FnId fn : op.fns) {
      ScalarFunction nameless = module_.fn(fn);
      nameless.name.clear();
      for (std::size_t p = 0; p < nameless.params.size(); ++p)
        nameless.params[p] = {fmt::format("p{}", p), nameless.params[p].type, {}};
      text += print_function(module_, nameless) + "\n";
    }
    for (const Word& word : op.literal) text += fmt::format("{:x} ", static_cast<std::uint64_t>(word.i));
    const auto add = [&](DimId dim) {
      text += dims_[static_cast<std::size_t>(dim)] + " ";
      if (module_.dim(dim).is_derived()) text += "= " + derivation_text(module_, dim) + " ";
    };
    std::for_each(op.over.begin(), op.over.end(), add);
    text += "of ";
    if (op.dim != no_dim) add(op.dim);
    text += fmt::format("\n{} {} {}\n", op.test, op.at_rows, op.down);
    for (const ValueId result : op.results) text += type_text(module_.type(result)) + "\n";
    return text;
  }

  [[nodiscard]] std::string type_text(const Type& type) const {
    std::string text = fmt::format("{} {} {}", element_text(type.element, dims_), type.list, type.sparse);
    for (const DimId dim : type.dims) text += " " + dims_[static_cast<std::size_t>(dim)];
    return text;
  }

  std::string& of(ValueId value) { return made_.values[value]; }

  std::string joined(std::string text, std::span<const ValueId> values) {
    for (const ValueId value : values) text += of(value) + "\n";
    return digest_of(text);
  }

  void read(const Block& block) {
    for (const Op& op : block.ops) read(op);
  }

  static std::span<const ValueId> yielded(const Block& block) { return block.ops.back().operands; }

  void read(const Op& op) {
    const int number = number_++;
    switch (op.code) {
      case OpCode::gather:
      case OpCode::scatter:
      case OpCode::relayout:
      case OpCode::store:
      case OpCode::load:
        if (rearranges_on_the_way(op)) break;
        of(op.results[0]) = of(op.operands[0]);
        return;
      case OpCode::region:
        read(op.blocks[0]);
        for (std::size_t r = 0; r < op.results.size(); ++r) of(op.results[r]) = of(yielded(op.blocks[0])[r]);
        return;
      case OpCode::if_else:
        return read_branches(op);
      case OpCode::while_loop:
      case OpCode::for_loop:
        return read_loop(op, number);
      default:
        break;
    }
    const std::string whole = joined(heads_[static_cast<std::size_t>(number)], op.operands);
    for (std::size_t r = 0; r < op.results.size(); ++r)
      of(op.results[r]) = op.results.size() == 1 ? whole : digest_of(fmt::format("{} {}", whole, r));
  }

  void read_branches(const Op& op) {
    read(op.blocks[0]);
    read(op.blocks[1]);
    for (std::size_t r = 0; r < op.results.size(); ++r) {
      const std::vector<ValueId> parts{op.operands[0], yielded(op.blocks[0])[r], yielded(op.blocks[1])[r]};
      of(op.results[r]) = joined("if\n", parts);
    }
  }

  void read_loop(const Op& op, int number) {
    const std::size_t bounds = op.code == OpCode::for_loop ? 2 : 0, variables = bounds / 2;
    const std::vector<ValueId>& args = op.blocks[0].args;
    std::string& loop = made_.loops[number];
    if (bounds > 0) {
      loop = joined(op.down ? "for down\n" : "for\n", std::span(op.operands).first(bounds));
      of(args[0]) = digest_of("variable\n" + loop);
    }
    for (std::size_t k = variables; k < args.size(); ++k) {
      const std::string& first = of(op.operands[k - variables + bounds]);
      of(args[k]) = digest_of(fmt::format("carried\n{}\n{}\n", first, next_[args[k]]));
    }
    read(op.blocks[0]);
    for (std::size_t k = variables; k < args.size(); ++k) next_[args[k]] = of(yielded(op.blocks[0])[k - variables]);
    if (bounds == 0) loop = digest_of("while\n" + of(args[static_cast<std::size_t>(op.test)]));
    for (std::size_t r = 0; r < op.results.size(); ++r)
      of(op.results[r]) = digest_of(fmt::format("end\n{}\n{}\n", loop, of(args[r + variables])));
  }

  const Module& module_;
  std::vector<std::string> dims_, heads_;  // heads by preorder number
  IdMap<ValueId, std::string> next_;       // of carried values: what the last round's iteration made
  Meanings made_;
  int rounds_ = 1, number_ = 0;
};

}  // namespace

Meanings meanings_of(const Module& module) { return Reader(module).read(); }

}  // namespace kasen
