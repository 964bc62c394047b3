#include "tools/fit/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "libcore/base/count_text.h"

namespace kasen::tools {
namespace {

double fact(const Model& model, const std::string& name) {
  const auto at = model.facts.find(name);
  return at == model.facts.end() ? std::nan("") : at->second;
}

// A table of numbers: its rows are named, and come as the order says.
std::string table_text(const std::string& title, const std::vector<std::string>& names,
                       const std::vector<std::string>& columns, const std::vector<double>& values,
                       const std::vector<std::size_t>& order, int top) {
  std::size_t width = title.size();
  const std::size_t shown = std::min(order.size(), static_cast<std::size_t>(top));
  for (std::size_t k = 0; k < shown; ++k) width = std::max(width, names[order[k]].size());
  std::string text = fmt::format("{:<{}}", title, width);
  for (const std::string& column : columns) text += fmt::format("  {:>13}", column);
  text += "\n";
  for (std::size_t k = 0; k < shown; ++k) {
    text += fmt::format("{:<{}}", names[order[k]], width);
    for (std::size_t c = 0; c < columns.size(); ++c)
      text += fmt::format("  {:>13.6g}", values[order[k] * columns.size() + c]);
    text += "\n";
  }
  if (shown < order.size()) text += fmt::format("... and {} more\n", order.size() - shown);
  return text;
}

// Row numbers; those whose largest number is largest come first.
std::vector<std::size_t> largest_first(const std::vector<double>& values, std::size_t columns) {
  std::vector<std::size_t> order(columns == 0 ? 0 : values.size() / columns);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto size = [&](std::size_t row) {
    double most = 0;
    for (std::size_t c = 0; c < columns; ++c) most = std::max(most, std::fabs(values[row * columns + c]));
    return most;
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
  return order;
}

std::string coefficients_text(const Model& model, int top) {
  const ModelArray& w = model.arrays.at("coefficients");
  const ModelArray& b = model.arrays.at("intercept");
  const std::size_t columns = b.values.size();
  std::vector<std::string> titles = columns == 1 ? std::vector<std::string>{"coefficient"} : model.classes;
  std::vector<double> values = w.values;
  std::vector<std::string> names = feature_names(model);
  std::vector<std::size_t> order = largest_first(values, columns);
  if (order.size() > static_cast<std::size_t>(top)) order.resize(static_cast<std::size_t>(top));
  const std::size_t left = names.size() - order.size();
  order.push_back(names.size());
  names.emplace_back("(intercept)");
  values.insert(values.end(), b.values.begin(), b.values.end());
  std::string text = table_text("feature", names, titles, values, order, top + 1);
  if (left > 0) text += fmt::format("{} more features are in the model\n", left);
  return text;
}

std::string component_text(const Model& model, int top) {
  const ModelArray& components = model.arrays.at("components");
  const ModelArray& share = model.arrays.at("share");
  std::vector<std::string> titles;
  for (std::size_t k = 0; k < share.values.size(); ++k) titles.push_back(fmt::format("component {}", k + 1));
  std::string text = fmt::format("{:<10}", "share");
  for (const double value : share.values) text += fmt::format("  {:.4f}", value);
  return text + "\n\n" +
         table_text("feature", feature_names(model), titles, components.values,
                    largest_first(components.values, titles.size()), top);
}

std::string centre_text(const Model& model, int top) {
  const ModelArray& centres = model.arrays.at("centres");
  const auto k = static_cast<std::size_t>(centres.extents[0]);
  const auto width = static_cast<std::size_t>(centres.extents[1]);
  std::vector<double> by_feature(centres.values.size());
  for (std::size_t c = 0; c < k; ++c)
    for (std::size_t f = 0; f < width; ++f) by_feature[f * k + c] = centres.values[c * width + f];
  std::vector<std::string> titles;
  for (std::size_t c = 0; c < k; ++c) titles.push_back(fmt::format("centre {}", c));
  std::vector<std::size_t> order(width);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return table_text("feature", feature_names(model), titles, by_feature, order, top);
}

std::string quality_text(const Model& model) {
  std::string text;
  const double rows = fact(model, "rows"), right = fact(model, "right"), r2 = fact(model, "r2"),
               rmse = fact(model, "rmse");
  if (std::isfinite(right))
    text += fmt::format("right      {} of {} rows ({:.2f} %)\n", right, rows, rows > 0 ? 100 * right / rows : 0);
  if (std::isfinite(r2)) text += fmt::format("R squared  {:.6g}\n", r2);
  if (std::isfinite(rmse)) text += fmt::format("rmse       {:.6g}\n", rmse);
  return text;
}

std::string classes_text(const Model& model) {
  if (model.classes.empty()) return "";
  std::string text = fmt::format("classes    {}", fmt::join(model.classes, ", "));
  if (model.classes.size() == 2) text += fmt::format("; a score above 0 foretells {}", model.classes[1]);
  return text + "\n";
}

}  // namespace

std::vector<std::string> feature_names(const Model& model) {
  std::vector<std::string> names;
  for (const ModelColumn& column : model.features) {
    const std::string name = column.name.empty() ? std::to_string(column.number) : column.name;
    if (column.levels.empty()) names.push_back(name);
    for (const std::string& level : column.levels) names.push_back(fmt::format("{}={}", name, level));
  }
  return names;
}

std::string report_of(const Model& model, const ModelRow& row, const std::string& table, int top) {
  std::string text = fmt::format("{} of {}", row.title, table);
  if (!model.target.empty())
    text += fmt::format(", target {}",
                        model.target[0].name.empty() ? std::to_string(model.target[0].number) : model.target[0].name);
  text += "\n";
  if (std::isfinite(fact(model, "rows")))
    text +=
        fmt::format("rows       {}, of {}\n", fact(model, "rows"), count_text(feature_names(model).size(), "feature"));
  text += classes_text(model);
  if (std::isfinite(fact(model, "loss"))) text += fmt::format("loss       {:.9g}\n", fact(model, "loss"));
  if (std::isfinite(fact(model, "iterations"))) text += fmt::format("iterations {}\n", fact(model, "iterations"));
  text += quality_text(model);
  if (model.kind == "pca") return text + component_text(model, top);
  if (model.kind == "als") return text;
  return text + "\n" + (model.kind == "kmeans" ? centre_text(model, top) : coefficients_text(model, top));
}

}  // namespace kasen::tools
