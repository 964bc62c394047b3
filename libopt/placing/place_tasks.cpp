#include "libopt/placing/place_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "libcore/analysis/boxes.h"
#include "libcore/base/error.h"
#include "libcore/ir/layout.h"

namespace kasen::placing {
namespace {

using spread::ObjectId;
using spread::VertexId;
using spread::WorkerId;

// Who owns most of a block of an array; of equal ones the first worker.
class Owners {
 public:
  explicit Owners(const Module& module) : m_(module), numbers_(worker_numbers(module)) {}

  WorkerId of(const Type& type, const Elements& block) {
    auto known = std::find_if(owned_.begin(), owned_.end(), [&](const auto& one) {
      return one.first.dims == type.dims && one.first.cuts == type.cuts;
    });
    if (known == owned_.end()) {
      std::vector<Elements> owned;
      for (int worker = 0; worker < mesh_workers(m_); ++worker) owned.push_back(owned_elements(m_, type, worker));
      owned_.emplace_back(type, std::move(owned));
      known = owned_.end() - 1;
    }
    std::int64_t most = 0;
    int best = 0;
    for (int worker = 0; worker < mesh_workers(m_); ++worker) {
      const std::int64_t here = intersection(known->second[static_cast<std::size_t>(worker)], block).count();
      if (here <= most) continue;
      most = here;
      best = worker;
    }
    return WorkerId(numbers_.in_cluster[static_cast<std::size_t>(best)]);
  }

 private:
  const Module& m_;
  const WorkerNumbers numbers_;
  std::vector<std::pair<Type, std::vector<Elements>>> owned_;
};

class GraphBuilder {
 public:
  GraphBuilder(const Module& module, const Op& region, const OutsideTypes& outside)
      : m_(module), region_(region), outside_(outside), tasks_(block_tasks(module, region)), owners_(module) {}

  RegionGraph build() {
    made_of_.assign(tasks_.objects.size(), ObjectId(-1));
    for (std::size_t i = 0; i < tasks_.objects.size(); ++i) {
      const BlockObject& object = tasks_.objects[i];
      if (object.argument < 0) continue;
      const Type& type = m_.type(region_.operands[static_cast<std::size_t>(object.argument)]);
      made_of_[i] = graph_.graph.add_object(name(object), elements(object), owners_.of(type, object.elements));
    }
    std::size_t task = 0;
    for (const Op& op : region_.blocks[0].ops) {
      if (op.code != OpCode::yield) task = add(op, task);
    }
    for (std::size_t r = 0; r < tasks_.results.size(); ++r) {
      for (const int block : tasks_.results[r]) graph_.graph.pin(made_of_[static_cast<std::size_t>(block)]);
    }
    return std::move(graph_);
  }

 private:
  [[nodiscard]] std::string name(const BlockObject& object) const {
    std::string text = m_.value(object.value).name + '[';
    for (const IndexRuns& axis : object.elements.axes) {
      text += fmt::format("{}{}", text.back() == '[' ? "" : ",", axis.empty() ? 0 : axis.front().first);
    }
    return text + ']';
  }

  // Behind the last indices of a dimension blocks are empty, which the planner knows not.
  [[nodiscard]] static std::int64_t elements(const BlockObject& block) {
    return std::max<std::int64_t>(1, block.elements.count());
  }

  // The owner by the layout of a result, or of the value that it was outside.
  WorkerId owner(const BlockObject& object) {
    const auto& yielded = region_.blocks[0].ops.back().operands;
    const auto result = std::find(yielded.begin(), yielded.end(), object.value);
    if (result != yielded.end()) {
      const ValueId outside = region_.results[static_cast<std::size_t>(result - yielded.begin())];
      return owners_.of(m_.type(outside), object.elements);
    }
    const auto known = outside_.find(object.value);
    return known == outside_.end() ? WorkerId(-1) : owners_.of(known->second, object.elements);
  }

  // Adds the tasks of an operator, of which `task` is the first; returns the first of the next one.
  std::size_t add(const Op& op, std::size_t task) {
    RegionGraph::OfOp& made = graph_.ops.emplace_back();
    const TaskCounts counts = task_counts(m_, region_, op).value();
    made.each = counts.each;
    for (std::int64_t block = 0; block < counts.results; ++block) {
      std::vector<ObjectId> terms;
      for (std::int64_t k = 0; k < counts.each; ++k, ++task) terms.push_back(add_task(op, task, counts.each > 1, made));
      if (counts.each == 1) continue;
      task += static_cast<std::size_t>(counts.each) - 1;
      const BlockObject& sum = object(tasks_.tasks[task - 1].makes);
      const ObjectId total = graph_.graph.add_sum(name(sum), terms, owner(sum));
      made_of_[static_cast<std::size_t>(tasks_.tasks[task - 1].makes)] = total;
      made.sums.push_back(graph_.graph.objects()[total].maker);
    }
    return task;
  }

  ObjectId add_task(const Op& op, std::size_t task, bool contributes, RegionGraph::OfOp& made) {
    const BlockTask& of = tasks_.tasks[task];
    std::vector<ObjectId> inputs;
    for (const int read : of.reads) inputs.push_back(made_of_[static_cast<std::size_t>(read)]);
    const spread::Kind kind = inputs.size() == 1       ? spread::Kind::unary
                              : op.code == OpCode::map ? spread::Kind::elementwise
                                                       : spread::Kind::product;
    const BlockObject& block = object(of.makes);
    const ObjectId id = graph_.graph.add_task(kind, name(block) + (contributes ? "'" : ""), std::move(inputs),
                                              elements(block), owner(block));
    made_of_[static_cast<std::size_t>(of.makes)] = id;
    made.tasks.push_back(graph_.graph.objects()[id].maker);
    return id;
  }

  [[nodiscard]] const BlockObject& object(int id) const { return tasks_.objects[static_cast<std::size_t>(id)]; }

  const Module& m_;
  const Op& region_;
  const OutsideTypes& outside_;
  const BlockTasks tasks_;
  Owners owners_;
  RegionGraph graph_;
  std::vector<ObjectId> made_of_;  // by object of the tasks
};

}  // namespace

RegionGraph region_graph(const Module& module, const Op& region, const OutsideTypes& outside) {
  return GraphBuilder(module, region, outside).build();
}

WorkerNumbers worker_numbers(const Module& module) {
  const int workers = mesh_workers(module);
  const spread::Cluster cluster = cluster_of(module);
  const bool named = names_nodes(module);
  WorkerNumbers numbers{std::vector<int>(static_cast<std::size_t>(workers)),
                        std::vector<int>(static_cast<std::size_t>(workers))};
  for (int worker = 0; worker < workers; ++worker) {
    int node = 0, within = 0;
    for (std::size_t axis = 0; axis < module.mesh.size(); ++axis) {
      int& side = module.mesh[axis].crosses_nodes || !named ? node : within;
      side = side * static_cast<int>(module.mesh[axis].size) + static_cast<int>(mesh_place(module, worker, axis));
    }
    const int number = node * cluster.workers + within;
    numbers.in_cluster[static_cast<std::size_t>(worker)] = number;
    numbers.in_mesh[static_cast<std::size_t>(number)] = worker;
  }
  return numbers;
}

void take_plan(const Module& module, Op& region, const RegionGraph& graph, const spread::Plan& plan) {
  const WorkerNumbers numbered = worker_numbers(module);
  const auto worker_of = [&](const spread::Step& step) {
    return numbered.in_mesh.at(static_cast<std::size_t>(static_cast<int>(step.worker)));
  };
  IdMap<VertexId, std::vector<const spread::Step*>> steps(graph.graph.vertices().size());
  for (const spread::Step& step : plan.steps) steps[step.vertex].push_back(&step);
  std::size_t number = 0;
  for (Op& op : region.blocks.at(0).ops) {
    if (op.code == OpCode::yield) continue;
    const RegionGraph::OfOp& of = graph.ops.at(number++);
    op.on.clear();
    op.tree.clear();
    for (const VertexId task : of.tasks) op.on.push_back(worker_of(*steps[task].at(0)));
    for (const VertexId sum : of.sums) {
      std::map<ObjectId, int> numbers;
      const std::vector<ObjectId>& terms = graph.graph.vertices()[sum].inputs;
      for (std::size_t i = 0; i < terms.size(); ++i) numbers.emplace(terms[i], static_cast<int>(i));
      int next = static_cast<int>(of.each);
      for (const spread::Step* const step : steps[sum]) {
        op.tree.push_back({numbers.at(step->left), numbers.at(step->right), worker_of(*step)});
        numbers.emplace(step->result, next++);
      }
    }
  }
}

spread::Cluster cluster_of(const Module& module) {
  spread::Cluster cluster;
  const bool named = names_nodes(module);
  for (const MeshAxis& axis : module.mesh) {
    int& side = axis.crosses_nodes || !named ? cluster.nodes : cluster.workers;
    side *= static_cast<int>(axis.size);
  }
  return cluster;
}

}  // namespace kasen::placing
