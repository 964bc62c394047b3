#include "tools/fit/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include "libcore/base/count_text.h"
#include "libcore/json/report.h"

namespace kasen::tools {
namespace {

double fact(const Model& model, const std::string& name) {
  const auto at = model.facts.find(name);
  return at == model.facts.end() ? std::nan("") : at->second;
}

std::vector<double> intercepts_of(const Model& model) {
  const auto at = model.arrays.find("intercept");
  return at == model.arrays.end() ? std::vector<double>() : at->second.values;
}

std::string target_of(const Model& model) {
  if (model.target.empty()) return "";
  const ModelColumn& target = model.target[0];
  return target.name.empty() ? std::to_string(target.number) : target.name;
}

// A row for each feature. `order`: as people read them; the largest first, or the table's own order.
struct FeatureTable {
  std::vector<std::string> columns;
  std::vector<double> values;
  std::vector<std::size_t> order;
};

std::string row_text(const std::string& name, std::size_t width, const double* values, std::size_t columns) {
  std::string text = fmt::format("{:<{}}", name, width);
  for (std::size_t c = 0; c < columns; ++c) text += fmt::format("  {:>13.6g}", values[c]);
  return text + "\n";
}

// The first `top` rows, and below them the one of the intercepts where there are some.
std::string table_text(const FeatureTable& table, const std::vector<std::string>& names,
                       const std::vector<double>& intercepts, int top) {
  const std::string title = "feature", below = "(intercept)";
  const std::size_t shown = std::min(table.order.size(), static_cast<std::size_t>(top)), columns = table.columns.size();
  std::size_t width = std::max(title.size(), intercepts.empty() ? 0 : below.size());
  for (std::size_t k = 0; k < shown; ++k) width = std::max(width, names[table.order[k]].size());
  std::string text = fmt::format("{:<{}}", title, width);
  for (const std::string& column : table.columns) text += fmt::format("  {:>13}", column);
  text += "\n";
  for (std::size_t k = 0; k < shown; ++k)
    text += row_text(names[table.order[k]], width, &table.values[table.order[k] * columns], columns);
  if (!intercepts.empty()) text += row_text(below, width, intercepts.data(), columns);
  const std::size_t left = table.order.size() - shown;
  if (left == 0) return text;
  return text + (intercepts.empty() ? fmt::format("... and {} more\n", left)
                                    : fmt::format("{} more features are in the model\n", left));
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

std::vector<std::string> numbered(std::string_view what, std::size_t from, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < count; ++k) names.push_back(fmt::format("{} {}", what, from + k));
  return names;
}

FeatureTable centre_table(const Model& model) {
  const ModelArray& centres = model.arrays.at("centres");
  const auto k = static_cast<std::size_t>(centres.extents[0]), width = static_cast<std::size_t>(centres.extents[1]);
  FeatureTable table{numbered("centre", 0, k), std::vector<double>(centres.values.size()),
                     std::vector<std::size_t>(width)};
  for (std::size_t c = 0; c < k; ++c)
    for (std::size_t f = 0; f < width; ++f) table.values[f * k + c] = centres.values[c * width + f];
  std::iota(table.order.begin(), table.order.end(), std::size_t{0});
  return table;
}

// Of a model of ratings there is none.
FeatureTable table_of(const Model& model) {
  if (model.kind == "als") return {};
  if (model.kind == "kmeans") return centre_table(model);
  FeatureTable table;
  if (model.kind == "pca") {
    table.columns = numbered("component", 1, model.arrays.at("share").values.size());
    table.values = model.arrays.at("components").values;
  } else {
    table.columns = intercepts_of(model).size() == 1 ? std::vector<std::string>{"coefficient"} : model.classes;
    table.values = model.arrays.at("coefficients").values;
  }
  table.order = largest_first(table.values, table.columns.size());
  return table;
}

std::string share_text(const Model& model) {
  if (model.kind != "pca") return "\n";
  std::string text = fmt::format("{:<10}", "share");
  for (const double value : model.arrays.at("share").values) text += fmt::format("  {:.4f}", value);
  return text + "\n\n";
}

Json coefficients_json(const FeatureTable& table, const std::vector<std::string>& names, int top) {
  Json rows = Json::array();
  const std::size_t columns = table.columns.size(), shown = std::min(table.order.size(), static_cast<std::size_t>(top));
  for (std::size_t k = 0; k < shown; ++k) {
    const double* const first = &table.values[table.order[k] * columns];
    rows.push_back({{"feature", names[table.order[k]]}, {"values", std::vector<double>(first, first + columns)}});
  }
  return rows;
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
  if (!model.target.empty()) text += fmt::format(", target {}", target_of(model));
  text += "\n";
  if (std::isfinite(fact(model, "rows")))
    text +=
        fmt::format("rows       {}, of {}\n", fact(model, "rows"), count_text(feature_names(model).size(), "feature"));
  text += classes_text(model);
  if (std::isfinite(fact(model, "loss"))) text += fmt::format("loss       {:.9g}\n", fact(model, "loss"));
  if (std::isfinite(fact(model, "iterations"))) text += fmt::format("iterations {}\n", fact(model, "iterations"));
  text += quality_text(model);
  if (model.kind == "als") return text;
  return text + share_text(model) + table_text(table_of(model), feature_names(model), intercepts_of(model), top);
}

std::string fit_document(const Model& model, const ModelRow& row, const std::string& table, int top,
                         const std::string& output) {
  const auto number = [&](const char* name) {
    const double value = fact(model, name);
    return std::isfinite(value) ? Json(value) : Json();
  };
  const auto whole = [&](const char* name) {
    const double value = fact(model, name);
    return std::isfinite(value) ? Json(static_cast<std::int64_t>(value)) : Json();
  };
  const std::vector<std::string> names = feature_names(model);
  const FeatureTable shown = table_of(model);
  Json json = new_report("fit");
  json["model"] = row.name;
  json["title"] = row.title;
  json["table"] = table;
  json["target"] = model.target.empty() ? Json() : Json(target_of(model));
  json["classes"] = model.classes;
  json["rows"] = whole("rows");
  json["features"] = names.size();
  json["loss"] = number("loss");
  json["iterations"] = whole("iterations");
  json["right"] = whole("right");
  json["r_squared"] = number("r2");
  json["rmse"] = number("rmse");
  json["columns"] = shown.columns;
  json["coefficients"] = coefficients_json(shown, names, top);
  json["intercepts"] = intercepts_of(model);
  json["shares"] = model.kind == "pca" ? model.arrays.at("share").values : std::vector<double>();
  json["output"] = output;
  return report_document(json);
}

}  // namespace kasen::tools
