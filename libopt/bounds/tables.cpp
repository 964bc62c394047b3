#include "libopt/bounds/tables.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <vector>

#include "libopt/bounds/of_plan.h"
#include "libopt/time/times.h"

namespace kasen {
namespace {

std::string count_text(double elements) { return grouped(std::llround(elements)); }

std::string operator_text(const ReportContext& c, const CommunicationBound& bound) {
  if (bound.work != BoundedWork::chain) return c.report().rows.at(static_cast<std::size_t>(bound.number)).text;
  std::string names;
  for_each_op(c.module(), [&](const Op& op, int number, int) {
    if (!contains(bound.steps, number)) return;
    names += (names.empty() ? "" : ", ") + c.module().value(op.results.at(0)).name;
  });
  return names + " together";
}

std::string line_text(const ReportContext& c, const CommunicationBound& bound) {
  const int line = c.report().rows.at(static_cast<std::size_t>(bound.number)).where.line;
  return line > 0 ? std::to_string(line) : "";
}

std::string paper_text(const CommunicationBound& bound) {
  if (bound.estimate.empty()) return "-";
  const std::string summa = bound.summa.empty() ? "" : fmt::format("; SUMMA {}", estimate_text(bound.summa));
  return estimate_text(bound.estimate) + summa;
}

std::optional<Sizes> known_sizes(const ReportContext& c) {
  return c.sizes() == nullptr ? std::nullopt : sizes_by_worker(c.module(), *c.sizes());
}

std::string elementwise_text(const ElementwiseWork& work) {
  if (work.operators == 0) return {};
  const std::string receive = work.receiving == 0 ? std::string("no worker receives any")
                                                  : fmt::format("for {} of them a worker receives {} at most",
                                                                work.receiving, count_text(work.received));
  return fmt::format("Element-wise operators: {}. The bound of each is 0 elements, and {} (NumS's estimate: {}).\n",
                     work.operators, receive, estimate_text(work.estimate));
}

const char* work_name(BoundedWork work) {
  return work == BoundedWork::product ? "product" : work == BoundedWork::chain ? "products" : "reduction";
}

}  // namespace

std::string bounds_text(const ReportContext& c) {
  const std::optional<Sizes> sizes = known_sizes(c);
  if (!sizes) return {};
  std::vector<std::vector<std::string>> rows{
      {"line", "operator", "receives", "bound", "over bound", "message", "NumS's estimate"}};
  bool estimates = false;
  for (const CommunicationBound& bound : communication_bounds(c.module(), *sizes)) {
    const bool nothing = bound.least < 1;
    estimates = estimates || !bound.estimate.empty();
    rows.push_back({line_text(c, bound), operator_text(c, bound), count_text(bound.received), count_text(bound.least),
                    nothing ? "-" : fmt::format("{:.2f}", bound.received / bound.least),
                    bound.message > 0 ? count_text(bound.message) : "-", paper_text(bound)});
  }
  std::string text;
  if (rows.size() > 1) {
    text =
        "\nDense products and reductions, elements that one worker receives at most in one execution (docs/cost.md, "
        "Bounds):\n" +
        table_text(rows);
  }
  if (estimates) {
    text +=
        "NumS's estimates are the paper's, and no bounds: C(n) is the time of n elements between workers, R(n) of n "
        "through memory, gamma of a start.\n";
  }
  const std::string elementwise = elementwise_text(elementwise_work(c.module(), *sizes));
  return text + (elementwise.empty() || !text.empty() ? "" : "\n") + elementwise;
}

Json bounds_json(const ReportContext& c, const MachineProfile* machine) {
  const std::optional<Sizes> sizes = known_sizes(c);
  if (!sizes) return {};
  Json rows = Json::array();
  for (const CommunicationBound& bound : communication_bounds(c.module(), *sizes)) {
    Json row{{"number", bound.number},
             {"work", work_name(bound.work)},
             {"received_elements", bound.received},
             {"least_elements", bound.least}};
    if (!bound.steps.empty()) row["steps"] = bound.steps;
    if (bound.least >= 1) row["over_bound"] = bound.received / bound.least;
    if (bound.message > 0) row["message_elements"] = bound.message;
    for (const auto& [key, estimate] : {std::pair("estimate", &bound.estimate), {"summa_estimate", &bound.summa}}) {
      if (estimate->empty()) continue;
      row[key] = estimate_text(*estimate);
      if (machine != nullptr)
        row[std::string(key) + "_seconds"] = estimate_seconds(*estimate, bound.element_bytes, *machine);
    }
    rows.push_back(std::move(row));
  }
  const ElementwiseWork work = elementwise_work(c.module(), *sizes);
  return {{"rows", std::move(rows)},
          {"elementwise",
           {{"operators", work.operators},
            {"receiving", work.receiving},
            {"received_elements", work.received},
            {"least_elements", 0},
            {"estimate", estimate_text(work.estimate)}}}};
}

std::string bounds_times_text(const Module& module, const Sizes* sizes, const MachineProfile& machine) {
  const ReportContext c(module, sizes);
  const std::optional<Sizes> known = known_sizes(c);
  if (!known) return {};
  std::vector<std::vector<std::string>> rows{{"line", "operator", "NumS's estimate", "SUMMA"}};
  const auto seconds = [&](const CommunicationBound& bound, const MessageEstimate& estimate) {
    return estimate.empty() ? "-" : duration_text(estimate_seconds(estimate, bound.element_bytes, machine));
  };
  for (const CommunicationBound& bound : communication_bounds(module, *known)) {
    if (bound.estimate.empty()) continue;
    rows.push_back(
        {line_text(c, bound), operator_text(c, bound), seconds(bound, bound.estimate), seconds(bound, bound.summa)});
  }
  if (rows.size() == 1) return {};
  return "\nTimes of messages and starts by NumS's formulas, each worker a node of its own (docs/cost.md, Bounds):\n" +
         table_text(rows);
}

}  // namespace kasen
