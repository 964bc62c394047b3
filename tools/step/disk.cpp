#include "tools/step/disk.h"

#include <fmt/format.h>

#include <set>
#include <vector>

#include "libcomm/data/bundle/bundle.h"
#include "libcomm/data/bundle/entries.h"
#include "libcore/base/count_text.h"
#include "libcore/base/error.h"
#include "libcore/data/disk_elements.h"
#include "libcore/ir/dense_blocks.h"
#include "libcore/ir/tiers.h"
#include "libcore/json/report.h"
#include "libcore/run/executor.h"
#include "libcore/transport/transport.h"
#include "libopt/text/report_parts.h"
#include "tools/common/fitted.h"
#include "tools/launch/inputs.h"

namespace kasen::tools {
namespace {

// Makes nothing: what goes there is only counted.
class CountingTier final : public Tier {
 public:
  [[nodiscard]] std::shared_ptr<SpilledElements> make(const ElementType& element, std::int64_t capacity) override {
    return std::make_shared<Counted>(element, capacity);
  }

 private:
  class Counted final : public SpilledElements {
   public:
    Counted(const ElementType& element, std::int64_t /*capacity*/) : element_(element) {}
    void begin(std::int64_t /*first*/, std::int64_t /*last*/) override {}
    void load(std::int64_t /*end*/, const ElementMemory& /*to*/) override {}
    void end() override {}
    [[nodiscard]] std::int64_t bytes_of(std::int64_t first, std::int64_t last) const override {
      return bytes_of_groups(element_, first, last);
    }
    [[nodiscard]] std::int64_t staging_bytes() const override { return 0; }
    [[nodiscard]] std::int64_t read_bytes() const override { return 0; }
    void begin_store(std::int64_t /*first*/, std::int64_t /*last*/) override {}
    std::int64_t store(std::int64_t end, const ElementMemory& /*from*/) override { return end; }
    [[nodiscard]] std::int64_t written_bytes() const override { return 0; }
    [[nodiscard]] Bytes pages(std::int64_t /*count*/) override { return {}; }

   private:
    ElementType element_;
  };
};

// Kernels that say how many rows they would hold, and compute nothing.
class CountingKernels final : public KernelSet {
 public:
  [[nodiscard]] std::unique_ptr<KernelSet> another() const override { return std::make_unique<CountingKernels>(); }
  void prepare(const Module& module) override { module_ = &module; }
  [[nodiscard]] std::int64_t rows_at_once(const DenseProductCall& call) const override {
    return dense_rows_at_once(*module_, *call.op, call.rows, call.cols);
  }
  void elementwise(const ElementwiseCall& /*call*/) override { refuse(); }
  void product(const ProductCall& /*call*/) override { refuse(); }
  void dense_product(const DenseProductCall& /*call*/) override { refuse(); }
  void rows(const RowsCall& /*call*/) override { refuse(); }
  void axis(const AxisCall& /*call*/) override { refuse(); }
  void carry(const CarryCall& /*call*/) override { refuse(); }
  void copy_masters(const ElementType& /*element*/, std::span<const Mirrored> /*lists*/) override { refuse(); }
  void combine(FnId /*reducer*/, std::span<const Mirrored> /*lists*/) override { refuse(); }
  [[nodiscard]] AccessCount accesses() const override { return {}; }

 private:
  [[noreturn]] static void refuse() { throw InternalError("a plan that runs where it is only measured"); }
  const Module* module_ = nullptr;
};

// The workers of one process, to whom nobody sends.
class NoTransport final : public Transport {
 public:
  NoTransport(int workers, const WorkersOfRank& rank) : workers_(workers), rank_(rank) {}
  [[nodiscard]] int workers() const override { return workers_; }
  [[nodiscard]] int first_worker() const override { return rank_.first; }
  [[nodiscard]] int local_workers() const override { return rank_.count; }
  [[nodiscard]] int start(std::int64_t /*step*/, std::span<const Message> /*sends*/,
                          std::span<const Message> /*receives*/) override {
    throw InternalError("messages of a plan that is only measured");
  }
  void finish(int /*ticket*/) override {}
  void moved_here(std::int64_t /*bytes*/) override {}
  [[nodiscard]] const Traffic& traffic() const override { return traffic_; }

 private:
  int workers_;
  WorkersOfRank rank_;
  Traffic traffic_;
};

void add(const MemoryPlan& rank, MemoryPlan& sum) {
  sum.ops.resize(rank.ops.size());
  for (std::size_t k = 0; k < rank.ops.size(); ++k) {
    sum.ops[k].first_read += rank.ops[k].first_read;
    sum.ops[k].read += rank.ops[k].read;
    sum.ops[k].written += rank.ops[k].written;
  }
  sum.parts.insert(sum.parts.end(), rank.parts.begin(), rank.parts.end());
  sum.arrays.insert(sum.arrays.end(), rank.arrays.begin(), rank.arrays.end());
  sum.matrices.insert(rank.matrices.begin(), rank.matrices.end());
  sum.least = std::max(sum.least, rank.least);
}

}  // namespace

MemoryPlan plan_of_memory(const Module& plan, const std::string& bundle, int workers, std::vector<WorkersOfRank> ranks,
                          std::int64_t memory, bool in_memory) {
  const BundleInfo info = read_bundle_info(bundle, workers);
  const int all = info.workers;
  if (ranks.empty()) ranks.push_back({0, all});  // one process, as `run` has without mpirun
  PartsWanted wanted{.workers = workers};
  if (!in_memory)
    wanted.streamed = [names = passing_inputs(plan)](const std::string& name) { return names.contains(name); };
  CountingTier tier;
  RunOptions options;
  options.memory = memory;
  options.spill = &tier;
  MemoryPlan made;
  for (const WorkersOfRank& rank : ranks) {
    std::vector<Part> parts = read_parts(bundle, rank.first, rank.count, wanted);
    number_entries(plan, parts, info.statistics);
    NoTransport transport(all, rank);
    CountingKernels kernels;
    add(plan_memory(plan, parts, transport, kernels, options), made);
  }
  return made;
}

std::string disk_text(const Module& plan, const MemoryPlan& memory, std::int64_t allowed,
                      const MachineProfile& machine) {
  std::string text =
      fmt::format("\nIn {} bytes of memory for one process of {} (the least is {})\n\n", grouped(allowed),
                  count_text(std::ssize(memory.parts), "worker"), grouped(memory.least));
  if (memory.arrays.empty() && !uses_disk(plan)) return text + "Everything stays in memory.\n";
  std::vector<std::vector<std::string>> arrays{{"array", "worker", "bytes", "stay in memory", "go by"}};
  for (const ArrayOnDiskUse& array : memory.arrays) {
    arrays.push_back({fmt::format("%{}{}", array.name, array.made ? " (made by the run)" : ""),
                      std::to_string(array.worker), grouped(array.bytes), grouped(array.kept),
                      grouped(array.bytes - array.kept)});
  }
  if (!memory.arrays.empty()) text += table_text(arrays) + '\n';
  std::vector<std::vector<std::string>> rows{
      {"operator", "line", "read first", "read again", "written", "seconds", "again"}};
  const auto seconds = [&](std::int64_t read, std::int64_t written) {
    return fmt::format("{:.3g}", static_cast<double>(read) / machine.disk_read_bandwidth +
                                     static_cast<double>(written) / machine.disk_write_bandwidth);
  };
  for_each_op(plan, [&](const Op& op, int number, int) {
    const DiskUse& use = memory.ops.at(static_cast<std::size_t>(number));
    if (use.first_read + use.read + use.written == 0) return;
    rows.push_back({op.results.empty() ? op.name : "%" + plan.value(op.results[0]).name, std::to_string(op.where.line),
                    grouped(use.first_read), grouped(use.read), grouped(use.written),
                    seconds(use.first_read, use.written), seconds(use.read, use.written)});
  });
  return text +
         fmt::format(
             "Bytes of disks ({:.3g} GB/s read, {:.3g} GB/s written), when an operator runs first and each time "
             "after that:\n",
             machine.disk_read_bandwidth / 1e9, machine.disk_write_bandwidth / 1e9) +
         table_text(rows);
}

std::string disk_json(const Module& plan, const MemoryPlan& memory) {
  Json json = new_report("disk");
  json["processes"] = 1;
  json["least_bytes"] = memory.least;
  for (const char* list : {"arrays", "operators"}) json[list] = Json::array();
  for (const ArrayOnDiskUse& array : memory.arrays) {
    json["arrays"].push_back({{"array", array.name},
                              {"made", array.made},
                              {"worker", array.worker},
                              {"bytes", array.bytes},
                              {"kept_bytes", array.kept}});
  }
  for_each_op(plan, [&](const Op& op, int number, int) {
    const DiskUse& use = memory.ops.at(static_cast<std::size_t>(number));
    if (use.first_read + use.read + use.written == 0) return;
    json["operators"].push_back({{"number", number},
                                 {"line", op.where.line},
                                 {"first_read_bytes", use.first_read},
                                 {"read_bytes", use.read},
                                 {"written_bytes", use.written}});
  });
  return report_document(json);
}

}  // namespace kasen::tools
