#include "libopt/swap/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "libcore/json/report.h"
#include "libopt/swap/bound.h"
#include "libopt/text/report_parts.h"

namespace kasen::swap {
namespace {

using Rows = std::vector<std::vector<std::string>>;

double bound_of(const TaskGraph& graph, const SearchOptions& options) {
  return least_possible(graph, {options.capacity, options.links, options.plan.once});
}

std::vector<std::string> rival_row(const TaskGraph& graph, double bound, const Rival& rival) {
  if (!std::isfinite(rival.seconds)) return {rival.name, "does not run"};
  const auto share = [&](double least) { return fmt::format("{:.3f}", rival.seconds > 0 ? least / rival.seconds : 1); };
  return {rival.name,
          fmt::format("{:.6g} s", rival.seconds),
          share(graph.seconds()),
          share(bound),
          short_bytes(static_cast<double>(rival.bytes_in)),
          short_bytes(static_cast<double>(rival.bytes_out))};
}

Rival own(const Found& found) {
  return {"this plan", found.timeline.seconds, found.plan.bytes_in, found.plan.bytes_out};
}

std::string classes_text(const TaskGraph& graph, const Sizes& sizes, const Allocation& allocation) {
  const std::vector<std::int64_t> bytes = object_bytes(sizes, allocation.classes);
  std::vector<std::int64_t> tensors(bytes.size(), 0);
  for (const TensorId tensor : graph.tensors().ids())
    ++tensors[static_cast<std::size_t>(allocation.classes[sizes.of(tensor)])];
  Rows rows{{"objects", "of bytes", "tensors"}};
  for (std::size_t c = 0; c < bytes.size(); ++c)
    rows.push_back({grouped(allocation.counts[c]), grouped(bytes[c]), grouped(tensors[c])});
  return table_text(rows);
}

Json rivals_json(const std::vector<Rival>& rivals) {
  Json all = Json::array();
  for (const Rival& rival : rivals) {
    Json one{{"name", rival.name}};
    one["seconds"] = std::isfinite(rival.seconds) ? Json(rival.seconds) : Json(nullptr);
    one["bytes_in"] = rival.bytes_in;
    one["bytes_out"] = rival.bytes_out;
    all.push_back(std::move(one));
  }
  return all;
}

Json moves_json(const TaskGraph& graph, const Found& found) {
  Json all = Json::array();
  for (std::size_t m = 0; m < found.plan.moves.size(); ++m) {
    const Move& move = found.plan.moves[m];
    const Span& span = found.timeline.moves[m];
    Json one{{"tensor", graph.tensors()[move.tensor].name}, {"way", move.in ? "in" : "out"}};
    if (move.after_task >= 0) one["after_operator"] = move.after_task;
    if (move.after_move >= 0) one["after_move"] = move.after_move;
    if (move.content >= 0 && move.content != move.after_move) one["content_of_move"] = move.content;
    if (move.before_task >= 0) one["before_operator"] = move.before_task;
    if (move.stays) one["stays"] = true;
    one["begin"] = span.begin;
    one["end"] = span.end;
    all.push_back(std::move(one));
  }
  return all;
}

Json order_json(const TaskGraph& graph, const Found& found) {
  Json all = Json::array();
  for (std::size_t at = 0; at < found.plan.order.size(); ++at) {
    const Span& span = found.timeline.tasks[at];
    all.push_back({{"operator", graph.tasks()[found.plan.order[at]].name}, {"begin", span.begin}, {"end", span.end}});
  }
  return all;
}

}  // namespace

std::string report_text(const TaskGraph& graph, const SearchOptions& options, const Found& found,
                        const std::vector<Rival>& rivals) {
  const Sizes sizes(graph);
  std::string text = fmt::format("{}: {} operators, {} tensors of {} sizes, {}; an operator touches at most {}\n",
                                 graph.name, grouped(std::ssize(graph.tasks())), grouped(std::ssize(graph.tensors())),
                                 sizes.count(), short_bytes(static_cast<double>(graph.bytes())),
                                 short_bytes(static_cast<double>(graph.least_memory())));
  text += fmt::format("memory {}, of which the pool takes {}; links {:g}, {:g} and both together {:g} GB/s\n\n",
                      short_bytes(static_cast<double>(options.capacity)),
                      short_bytes(static_cast<double>(memory(sizes, found.plan.allocation))), options.links.in / 1e9,
                      options.links.out / 1e9, options.links.both / 1e9);
  const double bound = bound_of(graph, options);
  Rows rows{{"plan", "an iteration", "of ideal", "of bound", "in", "out"},
            {"ideal", fmt::format("{:.6g} s", graph.seconds()), "1.000"},
            {"bound", fmt::format("{:.6g} s", bound), fmt::format("{:.3f}", bound > 0 ? graph.seconds() / bound : 1)},
            rival_row(graph, bound, own(found))};
  for (const Rival& rival : rivals) rows.push_back(rival_row(graph, bound, rival));
  text += table_text(rows);
  const Generation& last = found.course.back();
  text += fmt::format("\nsearch: {} plans in {} {}; those of the last take {:.6g} to {:.6g} s\n\n",
                      grouped(last.evaluated), found.course.size(), found.turns, last.best, last.worst);
  return text + classes_text(graph, sizes, found.plan.allocation);
}

std::string report_json(const TaskGraph& graph, const SearchOptions& options, const Found& found,
                        const std::vector<Rival>& rivals) {
  const Sizes sizes(graph);
  Json json = new_report("swap");
  json["name"] = graph.name;
  json["memory"] = options.capacity;
  json["seconds"] = found.timeline.seconds;
  json["ideal_seconds"] = graph.seconds();
  json["bound_seconds"] = bound_of(graph, options);
  json["bytes_in"] = found.plan.bytes_in;
  json["bytes_out"] = found.plan.bytes_out;
  json["rivals"] = rivals_json(rivals);
  for (const char* list : {"classes", "residents", "operators", "moves", "search"}) json[list] = Json::array();
  const std::vector<std::int64_t> bytes = object_bytes(sizes, found.plan.allocation.classes);
  for (std::size_t c = 0; c < bytes.size(); ++c)
    json["classes"].push_back({{"bytes", bytes[c]}, {"objects", found.plan.allocation.counts[c]}});
  for (const TensorId tensor : found.plan.residents) json["residents"].push_back(graph.tensors()[tensor].name);
  json["operators"] = order_json(graph, found);
  json["moves"] = moves_json(graph, found);
  for (const Generation& one : found.course)
    json["search"].push_back(
        {{"evaluated", one.evaluated}, {"best", one.best}, {"mean", one.mean}, {"worst", one.worst}});
  return report_document(json, 1);
}

}  // namespace kasen::swap
