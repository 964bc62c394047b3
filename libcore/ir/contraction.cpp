#include "libcore/ir/contraction.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "libcore/base/error.h"
#include "libcore/ir/products.h"

namespace kasen {
namespace {

bool is_label(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool are_letters(std::string_view text) { return std::all_of(text.begin(), text.end(), is_label); }

// The vector's first axis is the matrix's summed one; its other axes are those of the result behind the first.
Labels product_labels(const Module& module, const Op& op) {
  std::string columns;
  for (std::size_t i = 1; i < module.type(op.operands.at(0)).dims.size(); ++i) {
    columns += static_cast<char>('b' + static_cast<char>(i));
  }
  const bool transposed = op.code == OpCode::mxvt;
  return {{(transposed ? "b" : "a") + columns, "ab"}, (transposed ? "a" : "b") + columns};
}

}  // namespace

bool has_labels(std::string_view whole, std::string_view part) {
  return std::all_of(part.begin(), part.end(), [&](char label) { return has_label(whole, label); });
}

std::string only_labels(std::string_view labels, std::string_view wanted) {
  std::string some;
  for (const char label : labels) {
    if (has_label(wanted, label)) some += label;
  }
  return some;
}

std::string Labels::summed() const {
  std::string found;
  for (const std::string& operand : operands) {
    for (const char label : operand) {
      if (!is_kept(label) && found.find(label) == std::string::npos) found += label;
    }
  }
  return found;
}

std::optional<Labels> parse_labels(std::string_view text) {
  const std::size_t arrow = text.find("->");
  if (arrow == std::string_view::npos) return std::nullopt;
  Labels labels;
  labels.result = trimmed(text.substr(arrow + 2));
  for (std::string_view rest = text.substr(0, arrow);;) {
    const std::size_t comma = rest.find(',');
    labels.operands.emplace_back(trimmed(rest.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (!are_letters(labels.result) || !std::all_of(labels.operands.begin(), labels.operands.end(), are_letters)) {
    return std::nullopt;
  }
  return labels;
}

std::string labels_text(const Labels& labels) {
  std::string text = fmt::format("{}", fmt::join(labels.operands, ", "));
  if (!text.empty() && text.back() != ' ') text += ' ';
  text += "->";
  return labels.result.empty() ? text : text + ' ' + labels.result;
}

ScalarFunction with_exchanged_parameters(const ScalarFunction& fn) {
  const std::array arguments{make_param(1, fn.params.at(0).type), make_param(0, fn.params.at(1).type)};
  return {fn.name, {fn.params[1], fn.params[0]}, substitute(fn.body, arguments)};
}

bool is_contraction(const Module& module, const Op& op) {
  return op.code == OpCode::contract || is_dense_product(module, op);
}

Labels labels_of(const Module& module, const Op& op) {
  if (op.code != OpCode::contract) return product_labels(module, op);
  std::optional<Labels> labels = parse_labels(op.name);
  if (!labels) throw InternalError("a contraction without labels");
  return std::move(*labels);
}

DimId label_dim(const Module& module, const Op& op, const Labels& labels, char label) {
  for (std::size_t i = 0; i < labels.operands.size(); ++i) {
    const std::size_t axis = labels.operands[i].find(label);
    if (axis != std::string::npos) return module.type(op.operands.at(i)).dims.at(axis);
  }
  const std::size_t axis = labels.result.find(label);
  return axis == std::string::npos ? no_dim : module.type(op.results.at(0)).dims.at(axis);
}

}  // namespace kasen
