#include "tools/run/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>
#include <type_traits>

#include "libcomm/data/compress/compress.h"
#include "libcore/analysis/boxes.h"
#include "libcore/boxes/box_parts.h"
#include "libcore/ir/derived_dims.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/prune.h"
#include "libcore/laws/laws.h"
#include "tools/system/files.h"

namespace kasen::tools {
namespace {

// Work of the interpreter (InterpretOptions). The little work takes about a hundredth of a second, below 5 % of the
// least time of `kasen go`'s steps. The bounded work takes one or two seconds.
constexpr std::int64_t little_work = std::int64_t{1} << 19, bounded_work = std::int64_t{1} << 26;
constexpr std::int64_t automatic_elements = 64;
// Tried for outputs that differ: an integer that rounding decides may be the same in some of them.
constexpr int other_interpretations = 8;

std::int64_t work_limit(const VerifyChoice& verify) {
  if (verify.how == VerifyChoice::How::all) return std::numeric_limits<std::int64_t>::max();
  return verify.how == VerifyChoice::How::automatic ? little_work : bounded_work;
}

const std::string too_much_work =
    "its elements depend on each other, and all of them are too much to recompute; --verify all does it";
const std::string rounding_decides = "it depends on rounding: another order of additions gives another result";

// Collective: each rank's value, by rank. Both ends are the same program.
template <class T>
std::vector<T> share(Cluster& cluster, const T& mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::string bytes(reinterpret_cast<const char*>(&mine), sizeof mine);
  std::vector<T> all;
  for (const std::string& theirs : cluster.exchange(std::vector<std::string>(cluster.ranks(), bytes)))
    std::memcpy(&all.emplace_back(), theirs.data(), sizeof mine);
  return all;
}

std::vector<double> share_largest(Cluster& cluster, std::vector<double> mine) {
  const std::string bytes(reinterpret_cast<const char*>(mine.data()), mine.size() * sizeof(double));
  for (const std::string& theirs : cluster.exchange(std::vector<std::string>(cluster.ranks(), bytes))) {
    for (std::size_t k = 0; k < mine.size(); ++k) {
      double other = 0;
      std::memcpy(&other, theirs.data() + k * sizeof other, sizeof other);
      mine[k] = std::max(mine[k], other);
    }
  }
  return mine;
}

// The level 1 program that the plan was made of: it has the same outputs.
Module read_program(const std::string& file, const Module& plan) {
  Module program = parse_module(read_text(file), file);
  TrialLawChecker laws;
  require_valid(program, laws);
  const auto outputs_of = [](const Module& module) {
    std::set<std::pair<std::string, std::string>> outputs;
    for (const Op& op : module.body.ops) {
      if (op.code != OpCode::output) continue;
      Type type = module.type(op.operands.at(0));
      type.state = State::unplaced();
      type.cuts.clear();
      outputs.emplace(op.name, print_type(module, type));
    }
    return outputs;
  };
  if (outputs_of(program) == outputs_of(plan)) return program;
  fail(ExitStatus::bad_input, "it is not the program of this plan", "its outputs are others",
       "name what 'kasen plan' wrote, from which the plan was made", Location{file, 1, 0});
}

const Op& output_named(const Module& module, const std::string& name) {
  return *std::find_if(module.body.ops.begin(), module.body.ops.end(),
                       [&](const Op& op) { return op.code == OpCode::output && op.name == name; });
}

std::map<std::string, std::vector<Word>> params_of(const Module& module,
                                                   const std::map<std::string, std::vector<Word>>& given) {
  std::map<std::string, std::vector<Word>> used;
  for_each_op(module, [&](const Op& op, int, int) {
    if (op.code != OpCode::param) return;
    if (const auto it = given.find(op.name); it != given.end()) used.insert(*it);
  });
  return used;
}

}  // namespace

RunVerification::RunVerification(const RunSettings& settings, const Module& plan, const BundleInfo& bundle,
                                 const std::vector<Part>& parts, Cluster& cluster)
    : settings_(settings), parts_(parts), cluster_(cluster), most_work_(work_limit(settings.verify)) {
  for (const auto& [name, dim] : parts.at(0).dims) sizes_[name] = dim.size;
  cluster_.together([&] {
    if (names_layouts(plan)) boxes_ = sized_for(plan, parts.at(0));
    module_ = settings.program.empty() ? plan : read_program(settings.program, plan);
    for (const Op& op : plan.body.ops)
      if (op.code == OpCode::output) add_target(op.name);
    take_whole_data(bundle);
  });
}

void RunVerification::add_target(const std::string& name) {
  Target& target = targets_.emplace_back();
  target.name = name;
  target.slice = only_outputs(module_, {name});
  target.type = module_.type(output_named(module_, name).operands.at(0));
  target.dim = Layout(module_, target.type).cut();
  target.shape = shape_of(module_, target.type, sizes_);
  if (boxes_) return compare_boxes(target, boxes_->type(output_named(*boxes_, name).operands.at(0)));
  target.alone = settings_.verify.how != VerifyChoice::How::all && is_restrictable(target.slice, target.dim);
  if (!target.alone || target.dim == no_dim) {
    compare_everywhere(target);
  } else {
    choose_indices(target);
  }
}

void RunVerification::compare_everywhere(Target& target) const {
  target.extent = target.shape.extent;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    if (target.dim == no_dim) {
      target.indices.push_back({p, 0, 0, 0});
      continue;
    }
    const IndexList& masters = parts_[p].dims.at(module_.dim(target.dim).name).masters;
    for (std::int64_t m = 0; m < masters.size(); ++m) target.indices.push_back({p, m, masters[m], masters[m]});
  }
}

// All elements that a worker owns, in the order of its box; of a shared, those of worker 0.
void RunVerification::compare_boxes(Target& target, const Type& planned) const {
  const std::int64_t elements = target.shape.outer * target.shape.extent * target.shape.inner;
  target.shape = {.outer = 1, .extent = elements, .inner = 1, .shared = Layout(*boxes_, planned).is_shared()};
  target.extent = elements;
  if (elements > most_work_) return;  // they are not computed either
  Elements all;
  for (const DimId dim : planned.dims) all.axes.push_back({{0, boxes_->dim(dim).size}});
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    if (target.shape.shared && parts_[p].worker != 0) continue;
    const Elements own = target.shape.shared ? all : owned_elements(*boxes_, planned, parts_[p].worker);
    if (own.count() == 0) continue;
    const PlaceList places = places_in(own, all);
    std::int64_t here = 0;
    places.for_each_run(0, places.size(), [&](std::int64_t first, std::int64_t count) {
      for (std::int64_t i = first; i < first + count; ++i) target.indices.push_back({p, here++, i, i});
    });
  }
}

// Each worker gives its share of the elements that it owns, at least two. These are the last one, which loops over
// whole vectors leave to others, and one of each of so many equal runs.
void RunVerification::choose_indices(Target& target) const {
  const std::int64_t wanted =
      settings_.verify.how == VerifyChoice::How::automatic ? automatic_elements : settings_.verify.elements;
  const std::int64_t inner = std::max<std::int64_t>(target.shape.outer * target.shape.inner, 1);
  const double rate = static_cast<double>((wanted + inner - 1) / inner) /
                      static_cast<double>(std::max<std::int64_t>(target.shape.extent, 1));
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const IndexList& masters = parts_[p].dims.at(module_.dim(target.dim).name).masters;
    const std::int64_t count = masters.size();
    const auto share = static_cast<std::int64_t>(std::min(rate * static_cast<double>(count) + 1, 1e9));
    const std::int64_t taken = std::min(std::max<std::int64_t>(share, 2), count);
    for (std::int64_t k = 0; k < taken; ++k) {
      const std::int64_t begin = k * count / taken, length = (k + 1) * count / taken - begin;
      const std::int64_t m = k + 1 == taken ? count - 1 : begin + (k * 40503 + 12345) % length;
      target.indices.push_back({p, m, masters[m], static_cast<std::int64_t>(target.chosen.size())});
      target.chosen.push_back({p, m});
    }
  }
  target.extent = static_cast<std::int64_t>(target.chosen.size());
}

std::int64_t RunVerification::whole_elements(const BundleInfo& bundle) const {
  double elements = 0;  // may be more than an integer holds
  for (const Op& op : module_.body.ops) {
    if (op.code != OpCode::input || gives_values(module_, op)) continue;
    double count = 1;
    for (const DimId d : module_.type(op.results.at(0)).dims)
      count *= static_cast<double>(sizes_.at(module_.dim(d).name));
    for (const MatrixStatistics& matrix : bundle.statistics.matrices)
      if (matrix.name == op.name) count = static_cast<double>(matrix.entries);
    elements += count;
  }
  return elements < 1e18 ? static_cast<std::int64_t>(elements) : std::numeric_limits<std::int64_t>::max();
}

// Data that is too large to be worked on within the limit is not gathered. Boxes are not parts of whole inputs.
void RunVerification::take_whole_data(const BundleInfo& bundle) {
  if (std::all_of(targets_.begin(), targets_.end(), [](const Target& t) { return t.alone; })) return;
  const bool large =
      std::any_of(targets_.begin(), targets_.end(), [&](const Target& t) { return !t.alone && t.extent > most_work_; });
  if (whole_elements(bundle) > most_work_ || large) {
    for (Target& target : targets_)
      if (!target.alone) target.not_verified = too_much_work;
    return;
  }
  if (cluster_.rank() != 0) return;
  if (cluster_.ranks() == 1 && !boxes_) {
    whole_ = whole_inputs(parts_);
  } else {
    std::vector<Part> parts = read_parts(settings_.bundle, 0, read_bundle_info(settings_.bundle).workers);
    for (Part& part : parts) expand(part);
    whole_ = whole_inputs(parts);
  }
  if (boxes_) set_sizes();
}

// A bundle of another number of workers has other dimensions of workers.
void RunVerification::set_sizes() {
  for (const DimId dim : module_.dims.ids()) {
    const std::string& name = module_.dim(dim).name;
    if (depends_on_workers(module_.dims, dim)) whole_.dims.erase(name);
    if (module_.dim(dim).is_workers()) whole_.dims[name] = mesh_workers(*boxes_);
  }
}

void RunVerification::recompute_alone(Target& target, int interpretation) {
  std::int64_t exceeded = 0;
  cluster_.together([&] {
    Restricted few = restricted_to(target.slice, target.dim, parts_, target.chosen);
    if (interpretation > 0) few.module = with_other_rounding(few.module, interpretation);
    few.inputs.params = params_of(few.module, params_);
    try {
      auto made = interpret(few.module, few.inputs, {.most_work = most_work_, .order = interpretation});
      target.wanted = std::move(made.at(target.name));
    } catch (const WorkExceeded&) {
      exceeded = 1;
    }
  });
  if (cluster_.largest(exceeded) != 0) target.not_verified = too_much_work;
}

void RunVerification::recompute_whole(const std::vector<Target*>& targets, int interpretation) {
  if (targets.empty()) return;
  std::string bytes;
  cluster_.together([&] {
    if (cluster_.rank() != 0) return;
    std::set<std::string> names;
    for (const Target* target : targets) names.insert(target->name);
    const Module slice =
        only_outputs(interpretation > 0 ? with_other_rounding(module_, interpretation) : module_, names);
    whole_.params = params_of(slice, params_);
    try {
      const auto made = interpret(slice, whole_, {.most_work = most_work_, .order = interpretation});
      for (const Target* target : targets) {
        const Bytes& array = made.at(target->name).bytes;
        bytes.append(reinterpret_cast<const char*>(array.data()), static_cast<std::size_t>(array.size()));
      }
      bytes += '.';
    } catch (const WorkExceeded&) {
      bytes.clear();
    }
  });
  cluster_.broadcast(bytes);
  std::size_t at = 0;
  for (Target* target : targets) {
    if (bytes.empty()) target->not_verified = too_much_work;
    if (bytes.empty()) continue;
    target->wanted = Array(target->type.element, target->shape.outer * target->shape.extent * target->shape.inner);
    const auto size = static_cast<std::size_t>(target->wanted.bytes.size());
    bytes.copy(reinterpret_cast<char*>(target->wanted.bytes.data()), size, at);
    at += size;
  }
}

void RunVerification::recompute(const std::vector<Target*>& targets, int interpretation) {
  std::vector<Target*> whole;
  for (Target* target : targets) {
    if (target->alone) {
      recompute_alone(*target, interpretation);
    } else {
      whole.push_back(target);
    }
  }
  recompute_whole(whole, interpretation);
}

void RunVerification::compare(Target& target, const Output& made) {
  const OutputComparison mine =
      compare_output(made, target.shape, target.wanted, target.extent, target.indices, target.slack);
  target.compared = {};
  for (const OutputComparison& theirs : share(cluster_, mine)) target.compared.merge(theirs);
  target.compared.differing = std::min(target.compared.differing, target.compared.elements);  // copies count once
}

// Measures how far other interpretations are from the first.
void RunVerification::allow_for_rounding(const std::vector<Target*>& targets, int interpretation) {
  std::vector<Array> first;
  for (Target* target : targets) first.push_back(std::move(target->wanted));
  recompute(targets, interpretation);
  for (std::size_t k = 0; k < targets.size(); ++k) {
    Target& target = *targets[k];
    if (!target.not_verified.empty()) continue;
    RoundingSlack slack = slack_between(first[k], target.wanted);
    slack.by_plane = share_largest(cluster_, slack.by_plane);
    slack.magnitude = share_largest(cluster_, slack.magnitude);
    target.slack.merge(slack);
    target.wanted = std::move(first[k]);
    if (target.slack.is_coarse(target.type.element)) target.not_verified = rounding_decides;
  }
}

std::vector<VerifiedOutput> RunVerification::check(const std::vector<Output>& outputs,
                                                   const std::map<std::string, std::vector<Word>>& params) {
  params_ = params;
  const auto made = [&](const Target& target) -> const Output& {
    return *std::find_if(outputs.begin(), outputs.end(), [&](const Output& o) { return o.name == target.name; });
  };
  std::vector<Target*> open;
  const auto keep = [&](const auto& condition) {
    std::erase_if(open, [&](const Target* t) { return !t->not_verified.empty() || !condition(*t); });
  };
  for (Target& target : targets_) open.push_back(&target);
  keep([](const Target&) { return true; });
  recompute(open, 0);
  keep([](const Target&) { return true; });
  for (Target* target : open) compare(*target, made(*target));
  for (int number = 1; number <= other_interpretations; ++number) {
    keep([](const Target& t) { return t.compared.differing > 0; });
    if (open.empty()) break;
    allow_for_rounding(open, number);
    keep([](const Target&) { return true; });
    for (Target* target : open) compare(*target, made(*target));
  }
  std::vector<VerifiedOutput> all;
  for (const Target& target : targets_) {
    const bool verified = target.not_verified.empty();
    all.push_back({.output = target.name,
                   .elements = target.shape.outer * target.shape.extent * target.shape.inner,
                   .recomputed = verified ? target.compared.elements : 0,
                   .differing = verified ? target.compared.differing : 0,
                   .largest = verified ? target.compared.largest : 0,
                   .by_rounding = verified && target.compared.differing == 0 && !target.slack.by_plane.empty(),
                   .not_verified = target.not_verified});
  }
  return all;
}

}  // namespace kasen::tools
