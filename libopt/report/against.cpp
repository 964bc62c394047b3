// Compares predictions with counts: every operator, every worker, and the sums.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "libcore/analysis/boxes.h"
#include "libcore/analysis/mesh_rules.h"
#include "libcore/base/checked.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libcore/json/report.h"
#include "libcore/sorting/sort_plan.h"
#include "libopt/cost/box_cost.h"
#include "libopt/cost/cost.h"
#include "libopt/cost/footprint.h"
#include "libopt/cost/traffic.h"
#include "libopt/cost/worker_traffic.h"
#include "libopt/report/disk_moves.h"
#include "libopt/text/report_parts.h"
#include "libopt/time/run_report.h"

namespace kasen {
namespace {

class Checker {
 public:
  Checker(const Module& module, const Sizes& sizes, const RunReport& run, const MemoryPlan* limited)
      : module_(module),
        sizes_(sizes),
        at_rest_(names_layouts(module) ? with_sorts_at_rest(module, sizes) : sizes.totals),
        run_(run),
        disk_uses_(limited != nullptr ? limited->ops : predict_disk(module, sizes)),
        limited_(limited),
        report_(measure(module, sizes)) {
    for_each_op(module, [&](const Op& op, int, int) { ops_.push_back(&op); });
    take_picks();
    if (run.plan_digest != module_digest(module)) {
      fail(ExitStatus::bad_input, "the counters are those of another plan",
           fmt::format("this plan is {}, the run was of {}", module_digest(module), run.plan_digest),
           "measure the file that was run");
    }
    if (run.workers != sizes.workers) {
      fail(ExitStatus::bad_input, fmt::format("the run had {} workers, the bundle has {}", run.workers, sizes.workers),
           "", "measure with the bundle that was run");
    }
    const bool known = !run.bundle_digest.empty() && !sizes.bundle_digest.empty();
    if (known && run.bundle_digest != sizes.bundle_digest) {
      fail(ExitStatus::bad_input, "the counters are those of another bundle",
           fmt::format("this bundle is {}, the run was of {}", sizes.bundle_digest, run.bundle_digest),
           "measure with the bundle that was run");
    }
    if (run.ops.size() != report_.rows.size()) {
      fail(ExitStatus::bad_input,
           fmt::format("the counters are of {} operators, the plan has {}", run.ops.size(), report_.rows.size()));
    }
  }

  Check check() {
    check_operators();
    check_parts();
    check_traffic();
    check_workers();
    for (const Compared& total : check_.totals) {
      if (!total.agrees()) check_.mismatches.push_back(total);
    }
    return std::move(check_);
  }

 private:
  const OpCount& counted(int number) const { return run_.ops[static_cast<size_t>(number)]; }

  std::int64_t value(const Polynomial& polynomial) const {
    const auto known = polynomial.evaluate(at_rest_);
    if (!known) throw InternalError("a size that the bundle does not give");
    return *known;
  }

  void add(OperatorBytes& sum, const Cost& cost, std::int64_t times) const {
    const auto some = [&](const Polynomial& p) { return checked_mul(value(p), times, "a predicted count"); };
    sum.read = checked_add(sum.read, some(cost.read));
    sum.written = checked_add(sum.written, some(cost.written));
    sum.network = checked_add(sum.network, some(cost.network));
  }

  // The number of batches of the sparse input that an operator goes over; 0 if it goes over none.
  [[nodiscard]] std::int64_t batches_of(const Op& op) const {
    for (const ValueId v : op.operands) {
      if (!module_.type(v).sparse) continue;
      const SparseSource source = sparse_source(module_, v);
      if (source.batch == nullptr) continue;
      const std::string& dim = module_.dim(source.batch->over.at(0)).name;
      return at_rest_.at({SymbolKind::size, dim, {}, -1});
    }
    return 0;
  }

  // Over all batches the bytes are those of the matrix. Over some of them only their mean is known, and that is not
  // compared.
  void add_row(OperatorBytes& here, const CostRow& at) const {
    const OpCount& count = counted(at.number);
    if (!at.of_batches || count.executions == 0) return add(here, at.actual, count.executions);
    const std::int64_t batches = batches_of(*ops_.at(static_cast<size_t>(at.number)));
    const bool all = at.each_batch >= 0 && batches > 0 &&
                     counted(at.each_batch).iterations == counted(at.each_batch).executions * batches;
    if (!all) {
      here = {count.read_bytes, count.written_bytes, count.network_bytes};
      return;
    }
    add(here, repeated_by_batches(at.actual, count.executions, count.executions / batches), 1);
  }

  void compare(const CostRow& at, const char* what, std::int64_t predicted, std::int64_t count) {
    if (predicted != count) check_.mismatches.push_back({what, at.where, at.text, predicted, count});
  }

  // What a pick moves does not stay.
  void take_picks() {
    for (size_t number = 0; number < ops_.size() && number < run_.ops.size(); ++number) {
      const OpCount& count = counted(static_cast<int>(number));
      const auto stays = at_rest_.find({SymbolKind::stay, "", {}, static_cast<int>(number)});
      if (stays == at_rest_.end() || count.executions == 0 || !picks_on_the_way(module_, *ops_[number])) continue;
      stays->second -= count.moved_elements / count.executions;
    }
  }

  // Of a sort across workers: data decide which elements move, so the run counts them.
  std::int64_t moved_bytes(int number) const {
    const Op& op = *ops_.at(static_cast<size_t>(number));
    if (!sorts_across(module_, op)) return 0;
    return checked_mul(counted(number).moved_elements, sorted_bytes(module_, op), "predicted traffic");
  }

  void check_operators() {
    OperatorBytes predicted, count;
    for (const CostRow& at : report_.rows) {
      OperatorBytes here;
      add_row(here, at);
      for (const EndCost& end : at.ends) add(here, end.actual, counted(end.yield).executions);
      const OpCount& op = counted(at.number);
      here.network = checked_add(here.network, moved_bytes(at.number), "predicted traffic");
      compare(at, "bytes read", here.read, op.read_bytes);
      compare(at, "bytes written", here.written, op.written_bytes);
      compare(at, "network bytes", here.network, op.network_bytes);
      check_disk(at, op);
      predicted.read += here.read;
      predicted.written += here.written;
      predicted.network += here.network;
      count.read += op.read_bytes;
      count.written += op.written_bytes;
      count.network += op.network_bytes;
      check_.operators.push_back({here, {op.read_bytes, op.written_bytes, op.network_bytes}});
    }
    check_.totals.push_back({"bytes read", {}, "", predicted.read, count.read});
    check_.totals.push_back({"bytes written", {}, "", predicted.written, count.written});
    check_.totals.push_back({"network bytes", {}, "", predicted.network, count.network});
    total_disk();
    check_.totals.push_back({"network bytes between workers", {}, "", predicted.network, run_.traffic.worker_bytes});
    network_ = predicted.network;
  }

  // The first execution reads what stays from then on.
  void check_disk(const CostRow& at, const OpCount& op) {
    const DiskUse& use = disk_uses_.at(static_cast<size_t>(at.number));
    const auto again = [&](std::int64_t bytes) {
      return checked_mul(bytes, std::max<std::int64_t>(op.executions - 1, 0), "predicted bytes of a disk");
    };
    const std::int64_t first = op.executions > 0 ? 1 : 0;
    const std::int64_t read = first * use.first_read + again(use.read);
    const std::int64_t written = first * use.written + again(use.written);
    compare(at, "bytes read from disk", read, op.disk_read_bytes);
    compare(at, "bytes written to disk", written, op.disk_written_bytes);
    disk_.predicted_read += read;
    disk_.predicted_written += written;
    disk_.read += op.disk_read_bytes;
    disk_.written += op.disk_written_bytes;
  }

  void total_disk() {
    if (limited_ == nullptr && disk_.read + disk_.written == 0) return;
    check_.totals.push_back({"bytes read from disk", {}, "", disk_.predicted_read, disk_.read});
    check_.totals.push_back({"bytes written to disk", {}, "", disk_.predicted_written, disk_.written});
  }

  void check_parts() {
    struct Field {
      const char* what;
      std::int64_t PartCount::*member;
    };
    constexpr Field fields[] = {{"buffer bytes", &PartCount::buffer_bytes},
                                {"exchange bytes", &PartCount::exchange_bytes},
                                {"matrix bytes", &PartCount::matrix_bytes},
                                {"input bytes", &PartCount::input_bytes},
                                {"list bytes", &PartCount::list_bytes}};
    const std::vector<PartCount> predicted = limited_ != nullptr ? limited_->parts : predict_parts(module_, sizes_);
    if (predicted.size() != run_.parts.size()) {
      fail(ExitStatus::bad_input,
           fmt::format("the counters are of {} workers, not {}", run_.parts.size(), predicted.size()));
    }
    for (const Field& field : fields) {
      std::int64_t all = 0, counted_all = 0;
      const bool known = std::none_of(run_.parts.begin(), run_.parts.end(),
                                      [&](const PartCount& part) { return part.*field.member < 0; });
      if (!known) continue;  // the counters of an older version
      for (size_t w = 0; w < predicted.size(); ++w) {
        const std::int64_t a = predicted[w].*field.member, b = run_.parts[w].*field.member;
        if (a != b) check_.mismatches.push_back({fmt::format("worker {}: {}", w, field.what), {}, "", a, b});
        all += a;
        counted_all += b;
      }
      check_.totals.push_back({field.what, {}, "", all, counted_all});
    }
    const bool generated = run_.kernels == "generated";
    const std::set<std::string> on_disk = limited_ != nullptr ? limited_->matrices : std::set<std::string>();
    check_.totals.push_back(
        {"kernel bytes", {}, "", generated ? predict_kernel_bytes(module_, sizes_, on_disk) : 0, run_.kernel_bytes});
    const std::int64_t late = module_.level >= 3 ? 0 : run_.late_allocations;
    check_.totals.push_back({"allocations after a loop's first iteration", {}, "", late, run_.late_allocations});
  }

  void check_traffic() {
    Traffic sum;
    const SharedBatches batches(module_);
    for_each_op(module_, [&](const Op& op, int number, int) {
      const std::int64_t times = counted(number).executions;
      if (times == 0) return;
      const Traffic once = predict_traffic(module_, batches, op, sizes_, run_.ranks);
      sum.rank_bytes += checked_mul(once.rank_bytes, times, "predicted traffic");
      sum.rank_messages += checked_mul(once.rank_messages, times, "predicted traffic");
      sum.rank_bytes = checked_add(sum.rank_bytes, counted(number).moved_rank_bytes, "predicted traffic");
      sum.rank_messages = checked_add(sum.rank_messages, counted(number).moved_rank_messages, "predicted traffic");
      sum.node_bytes += checked_mul(once.node_bytes, times, "predicted traffic");
      sum.node_bytes = checked_add(sum.node_bytes, counted(number).moved_node_bytes, "predicted traffic");
    });
    check_.totals.push_back({"network bytes between ranks", {}, "", sum.rank_bytes, run_.traffic.rank_bytes});
    check_.totals.push_back({"messages between ranks", {}, "", sum.rank_messages, run_.traffic.rank_messages});
    if (!names_nodes(module_)) return;
    const std::int64_t crossing = run_.traffic.node_bytes, all = run_.traffic.worker_bytes;
    check_.totals.push_back({"network bytes between nodes", {}, "", sum.node_bytes, crossing});
    check_.totals.push_back({"network bytes inside a node", {}, "", network_ - sum.node_bytes, all - crossing});
  }

  // Of sorts and picks, data decide who sends how much.
  [[nodiscard]] bool knows_workers() const {
    const bool counted_all = std::all_of(run_.parts.begin(), run_.parts.end(), [](const PartCount& part) {
      return part.sent_bytes >= 0 && part.received_bytes >= 0;
    });
    if (!counted_all || run_.parts.size() != static_cast<size_t>(sizes_.workers)) return false;
    for (size_t number = 0; number < ops_.size(); ++number) {
      const bool by_data = sorts_across(module_, *ops_[number]) || picks_on_the_way(module_, *ops_[number]);
      if (by_data && counted(static_cast<int>(number)).executions > 0) return false;
    }
    return true;
  }

  void check_workers() {
    if (sizes_.workers < 2 || !knows_workers()) return;
    const auto traffic = worker_traffic(module_, sizes_, [&](int number) -> std::optional<std::int64_t> {
      const bool inside = report_.rows.at(static_cast<size_t>(number)).region >= 0;  // a region's exchange is its own
      return inside ? 0 : counted(number).executions;
    });
    if (!traffic) throw InternalError("executions that the run does not give");
    compare_workers("sent", traffic->sent, &PartCount::sent_bytes);
    compare_workers("received", traffic->received, &PartCount::received_bytes);
  }

  void compare_workers(const char* what, const std::vector<std::int64_t>& predicted, std::int64_t PartCount::*member) {
    Compared most{fmt::format("most network bytes {} by a worker", what), {}, "", 0, 0};
    for (size_t w = 0; w < predicted.size(); ++w) {
      const std::int64_t count = run_.parts[w].*member;
      most.predicted = std::max(most.predicted, predicted[w]);
      most.counted = std::max(most.counted, count);
      check_.workers.push_back({fmt::format("worker {}: network bytes {}", w, what), {}, "", predicted[w], count});
      if (!check_.workers.back().agrees()) check_.mismatches.push_back(check_.workers.back());
    }
    check_.totals.push_back(std::move(most));
  }

  const Module& module_;
  const Sizes& sizes_;
  Polynomial::Bindings at_rest_;
  std::vector<const Op*> ops_;  // by number
  const RunReport& run_;
  const std::vector<DiskUse> disk_uses_;  // by operator
  const MemoryPlan* limited_;
  CostReport report_;
  struct {
    std::int64_t predicted_read = 0, predicted_written = 0, read = 0, written = 0;
  } disk_;
  std::int64_t network_ = 0;  // predicted bytes between workers
  Check check_;
};

Json compared_json(const Compared& c) {
  Json json{{"what", c.what}};
  if (!c.statement.empty()) json["operator"] = c.statement;
  if (c.where.line > 0) json["line"] = c.where.line;
  json["predicted"] = c.predicted;
  json["counted"] = c.counted;
  json["agrees"] = c.agrees();
  return json;
}

}  // namespace

Check check_against(const Module& module, const Sizes& sizes, const RunReport& run, const MemoryPlan* limited) {
  return Checker(module, sizes, run, limited).check();
}

std::string check_text(const Module& module, const Check& check, bool whole) {
  std::vector<std::vector<std::string>> rows{{"", "predicted", "counted", ""}};
  for (const Compared& c : check.totals) {
    if (!whole && c.agrees()) continue;
    rows.push_back({c.what, grouped(c.predicted), grouped(c.counted), c.agrees() ? "equal" : "DIFFERENT"});
  }
  std::string text = rows.size() > 1 ? table_text(rows) : std::string();
  if (check.mismatches.empty()) return text + "Predicted and counted agree to the byte.\n";
  text += "\nPredicted and counted differ:\n";
  for (const Compared& c : check.mismatches) {
    text += "  ";
    if (c.where.line > 0) text += fmt::format("{}:{}: ", module.source_name, c.where.line);
    if (!c.statement.empty()) text += c.statement + ": ";
    text += fmt::format("{}: predicted {}, counted {}\n", c.what, grouped(c.predicted), grouped(c.counted));
  }
  return text;
}

std::string check_json(const Check& check, const Json& times) {
  Json json = new_report("check");
  json["agrees"] = check.mismatches.empty();
  json["totals"] = Json::array();
  for (const Compared& c : check.totals) json["totals"].push_back(compared_json(c));
  json["workers"] = Json::array();
  for (const Compared& c : check.workers) json["workers"].push_back(compared_json(c));
  json["mismatches"] = Json::array();
  for (const Compared& c : check.mismatches) json["mismatches"].push_back(compared_json(c));
  if (!times.is_null()) json["times"] = times;
  return report_document(json);
}

}  // namespace kasen
