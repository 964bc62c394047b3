// Runs programs that random_programs.py sends (job.h) and answers with what each run gave. Every answer is lines of
// words; a line that ends with a number of bytes or words is followed by them.
//   job NAME
//   program ok | program refused BYTES
//   run NUMBER            -1: the plain interpreter; else the requests in their order
//   feature ...           of the run's plan (plan_features.h), once a plan
//   output NAME PLANES same NUMBER | output NAME PLANES words COUNT
//   fault KIND BYTES      what is wrong with the run; KIND: plan, text, run, counts, allocations
//   done
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <span>
#include <tuple>

#include "libcore/boxes/box_parts.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/observed.h"
#include "libcore/ir/tiers.h"
#include "libcore/laws/laws.h"
#include "libcore/stream/simulated_tier.h"
#include "libopt/cost/footprint.h"
#include "libopt/optimize/optimize.h"
#include "libopt/optimize/strategies.h"
#include "libopt/prover/prover.h"
#include "libopt/sync/plan_notes.h"
#include "libopt/time/run_report.h"
#include "tests/core/mesh_parts.h"
#include "tests/opt/plan_support.h"
#include "tests/random/job.h"
#include "tests/random/job_data.h"
#include "tests/random/plan_features.h"
#include "tests/support/compressed.h"
#include "tests/support/entries_order.h"
#include "tests/support/generated.h"
#include "tests/support/memory_forms.h"
#include "tests/support/on_disk.h"

namespace kasen::random_programs {
namespace {

struct Fault {
  std::string kind, message;
};

class Answer {
 public:
  void line(const std::string& text) { std::cout << text << '\n'; }
  void blob(const std::string& text, const std::string& bytes) {
    std::cout << text << ' ' << bytes.size() << '\n' << bytes << '\n';
  }
  void flush() { std::cout.flush(); }

  void output(int run, const std::string& name, const ElementType& element, const std::vector<Word>& words) {
    std::string planes;
    for (std::int64_t p = 0; p < element.planes(); ++p) {
      planes += (p > 0 ? "," : "") + std::string(scalar_name(element.plane_scalar(p)));
    }
    std::cout << "output " << name << ' ' << planes << ' ';
    for (const auto& [number, known] : sent_[name]) {
      const auto same = [](const Word& a, const Word& b) { return a.i == b.i; };
      if (!std::equal(words.begin(), words.end(), known.begin(), known.end(), same)) continue;
      std::cout << "same " << number << '\n';
      return;
    }
    std::cout << "words " << words.size() << '\n';
    std::cout.write(reinterpret_cast<const char*>(words.data()), static_cast<std::streamsize>(words.size() * 8))
        << '\n';
    sent_[name].emplace_back(run, words);
  }

 private:
  std::map<std::string, std::vector<std::pair<int, std::vector<Word>>>> sent_;
};

Strategy strategy_of(const std::string& name) {
  if (name == "mpskip") return Strategy::mpskip;
  for (const auto& [known, strategy] : strategy_names) {
    if (known == name) return strategy;
  }
  throw std::runtime_error("no strategy " + name);
}

SyncMode sync_of(const std::string& name) {
  if (name == "lazy") return SyncMode::lazy;
  if (name == "eager") return SyncMode::eager;
  return name == "hybrid" ? SyncMode::hybrid : SyncMode::automatic;
}

LawChecker& laws_of(bool proven) {
  static TrialLawChecker trial;
  static Prover prover;
  if (proven) return prover;
  return trial;
}

class JobRunner {
 public:
  explicit JobRunner(const Job& job) : job_(job) {}

  void run() {
    answer_.line("job " + job_.name);
    try {
      program_ = compile_program(job_.text, job_.name + ".ks", {});
      require_valid(program_, laws_of(false));
    } catch (const std::exception& error) {
      answer_.blob("program refused", error.what());
      return answer_.line("done");
    }
    answer_.line("program ok");
    answer_.flush();
    guarded("interpret", -1, [&] { interpreted(); });
    for (size_t i = 0; i < job_.runs.size(); ++i) {
      guarded("run", static_cast<int>(i), [&] { one(static_cast<int>(i), job_.runs[i]); });
    }
    answer_.line("done");
  }

 private:
  template <class Work>
  void guarded(const std::string& kind, int number, const Work& work) {
    answer_.line("run " + std::to_string(number));
    answer_.flush();
    try {
      work();
    } catch (const Fault& fault) {
      answer_.blob("fault " + fault.kind, fault.message);
    } catch (const std::exception& error) {
      answer_.blob("fault " + kind, error.what());
    }
  }

  void interpreted() {
    for (const auto& [name, array] : interpret(program_, whole_inputs(parts(1, 0)))) {
      answer_.output(-1, name, array.element, testing::words_of(array));
    }
  }

  const std::vector<Part>& parts(int workers, int owners) {
    const auto [at, is_new] = parts_.try_emplace({workers, owners});
    if (is_new) at->second = testing::split(data_of(program_, job_, workers, owners), program_);
    return at->second;
  }

  [[nodiscard]] bool is_table(const Op& op) const {
    if (op.code != OpCode::input) return false;
    const Type& type = program_.type(op.results[0]);
    return !type.sparse && type.dims.size() == 2 && type.element.is_scalar() && !program_.dim(type.dims[0]).local &&
           program_.dim(type.dims[1]).local;
  }

  // As of a bundle that has every dense matrix of the program compressed: plans read so what they can.
  const std::vector<Part>& all_compressed(int workers, int owners) {
    const auto [at, is_new] = compressed_.try_emplace({workers, owners});
    if (!is_new) return at->second;
    at->second = testing::split(data_of(program_, job_, workers, owners), program_);
    for (const Op& op : program_.body.ops) {
      if (is_table(op)) testing::compress_by_hand(at->second, op.name, owners);
    }
    return at->second;
  }

  [[nodiscard]] Sizes sizes(const Module& module, const RunRequest& request) {
    return sizes_from_parts(module, request.compressed ? all_compressed(request.workers, request.owners)
                                                       : parts(request.workers, request.owners));
  }

  const Module& plan(const RunRequest& request) {
    const bool sized = request.sized || request.compressed;
    const auto key = std::make_tuple(request.strategy, request.sync, request.epilogue, request.split, request.proven,
                                     request.compressed, sized ? request.workers * 100 + request.owners : 0);
    const auto known = plans_.find(key);
    if (known != plans_.end()) return known->second;
    OptimizeOptions options;
    options.strategy = strategy_of(request.strategy);
    options.sync = sync_of(request.sync);
    options.epilogue = request.epilogue;
    options.split = request.split;
    if (sized) options.sizes = [this, request](const Module& module) { return sizes(module, request); };
    PlanNotes notes;
    options.notes = &notes;
    Module made;
    try {
      made = optimize(program_, laws_of(request.proven), options);
    } catch (const std::exception& error) {
      throw Fault{"plan", error.what()};
    }
    // What is selected as one operator runs as one.
    for (const FusionNote& note : notes.fusion)
      if (!note.splits.empty()) throw Fault{"plan", "taken apart in " + note.block + ": " + note.splits[0]};
    check_text(made, request);
    const PlanFeatures features(made);
    for (const std::string& line : features.lines()) answer_.line("feature " + line);
    return plans_.emplace(key, std::move(made)).first->second;
  }

  // Types as a reader of the text has them: without a mesh, cuts that are the default ones are not told.
  template <class Holder>
  static void drop_default_cuts(const Module& module, std::span<const DimId> dims, Holder& holder) {
    const Layout usual(module, dims, {});
    bool same = module.mesh.empty();
    for (std::size_t axis = 0; axis < holder.cuts.size(); ++axis)
      same = same && usual.cut_of(axis) == holder.cuts[axis];
    if (same) holder.cuts.clear();
  }
  static std::string text_of_read(Module module) {
    for (Value& value : module.values) drop_default_cuts(module, value.type.dims, value.type);
    for (auto& buffer : module.buffers) drop_default_cuts(module, buffer.dims, buffer);
    return print_module(module);
  }

  // The text is read back as it was; laws that the solver proved are not refuted by who has none.
  static void check_text(const Module& made, const RunRequest& request) {
    const std::string text = print_module(made);
    const Module read = parse_module(text, "plan.kir");
    if (print_module(read) != text_of_read(made)) throw Fault{"text", "it reads back differently\n" + text};
    if (!request.proven) return;
    const auto faults = verify_module(read, laws_of(false));
    if (!faults.empty()) throw Fault{"text", format_diagnostic(faults.front()) + '\n' + text};
  }

  // Parts of their own, with what the plan reads compressed; none if that is nothing.
  std::vector<Part> compressed_parts(const Module& made, const RunRequest& request) {
    std::vector<Part> data;
    int first = request.owners;
    for (const Op& op : made.body.ops) {
      if (op.code != OpCode::input || !made.type(op.results[0]).compressed) continue;
      if (data.empty()) data = testing::split(data_of(program_, job_, request.workers, request.owners), program_);
      testing::compress_by_hand(data, op.name, first++);
    }
    return data;
  }

  // What a plan with layouts computes on, as kasen run makes it of a bundle's parts; nothing for other plans.
  std::vector<Part> boxes_of(const Module& made, const std::vector<Part>& data) {
    if (!names_layouts(made)) return {};
    const int workers = static_cast<int>(data.size());
    BoxParts boxes(made, workers, 0, workers);
    for (const Part& part : data) boxes.add(part);
    return boxes.finish();
  }

  void one(int number, const RunRequest& request) {
    const Module& made = plan(request);
    const std::vector<Part> compressed = compressed_parts(made, request);
    const std::vector<Part>& dealt = compressed.empty() ? parts(request.workers, request.owners) : compressed;
    std::vector<Part> boxes = boxes_of(made, dealt);
    const std::vector<Part>& data = boxes.empty() ? dealt : boxes;
    const auto transport = make_simulated_transport(request.workers);
    std::unique_ptr<KernelSet> kernels;
    if (request.kernels == "generated") {
      const std::size_t way = print_module(made, false).size();  // the same for the same plan
      kernels = testing::make_kernels(testing::made_as(way, {.threads = request.threads}));
    } else {
      kernels = make_interpreter_kernels();
    }
    RunResult result;
    try {
      RunOptions options;  // a run that made the same forms before this one has left them
      if (boxes.empty()) options.forms = &forms_[{request.workers, request.owners}];
      result = execute(made, data, *transport, *kernels, options);
    } catch (const std::exception& error) {
      throw Fault{"run", std::string(error.what()) + '\n' + print_module(made)};
    }
    Module sized = made;
    for (const ObservedSize& size : result.observed) sized.dims[sized.find_dim(size.dim)].size = size.size;
    for (Part& part : boxes) set_observed_sizes(part, sized);
    for (const Output& output : result.outputs) {
      answer_.output(number, output.name, output.type.element,
                     boxes.empty() ? testing::ordered_words(sized, output, data)
                                   : testing::words_of(testing::joined_from_mesh(sized_for(sized, boxes[0]), output)));
    }
    if (number == 1 && compressed.empty() && !names_layouts(made)) from_disk(made, request, *kernels, result);
    if (number == 1 && compressed.empty() && !names_layouts(made)) with_stores(request, *kernels);
    if (result.late_allocations != 0) throw Fault{"allocations", "it allocates in a loop\n" + print_module(made)};
    RunReport report = make_run_report(made, result);
    report.kernels = request.kernels;
    const Check check = check_against(sized, sizes_from_parts(sized, data), report);
    if (!check.mismatches.empty()) throw Fault{"counts", kasen::check_text(made, check) + print_module(made)};
  }

  // The same run with arrays on a disk, in the least memory that is enough: bit for bit.
  void from_disk(const Module& made, const RunRequest& request, KernelSet& kernels, const RunResult& wanted) {
    if (has_entries_dims(made)) return;  // such a matrix stays in memory
    const std::vector<Part> data =
        testing::on_disk(testing::split(data_of(program_, job_, request.workers, request.owners), program_));
    RunResult result;
    try {
      testing::Limited limit;
      limit.memory = testing::needed_bytes(made, data, kernels, limit);
      result = testing::run_limited(made, data, kernels, limit);
    } catch (const std::exception& error) {
      throw Fault{"run", "from disk: " + std::string(error.what()) + '\n' + print_module(made)};
    }
    expect_same(made, data, wanted, result, "from disk");
  }

  // The plan in which nothing is fused, which has the most arrays, in its memory and in less, if that is enough (pass
  // swap): bit for bit.
  void with_stores(const RunRequest& request, KernelSet& kernels) {
    const std::vector<Part>& data = parts(request.workers, request.owners);
    OptimizeOptions options;
    options.strategy = Strategy::none;
    options.sizes = [&](const Module& module) { return sizes_from_parts(module, data); };
    const Module made = optimize(program_, laws_of(request.proven), options);
    if (observes(made)) return;  // these store nothing
    std::int64_t pool = 0;
    for (const PartCount& part : predict_parts(made, sizes_from_parts(made, data)))
      pool = std::max(pool, part.buffer_bytes);
    const auto transport = make_simulated_transport(request.workers);
    const RunResult wanted = execute(made, data, *transport, kernels, {});
    for (const std::int64_t percent : {50, 80, 95}) {
      options.swap_memory = pool * percent / 100;
      Module plan;
      try {
        if (options.swap_memory > 0) plan = optimize(made, laws_of(request.proven), options);
      } catch (const UserError& error) {
        if (error.status() != ExitStatus::limit) throw Fault{"plan", "with stores: " + std::string(error.what())};
      }
      if (plan.memory > 0) run_with_stores(plan, data, kernels, wanted);
    }
  }

  void run_with_stores(const Module& plan, const std::vector<Part>& data, KernelSet& kernels, const RunResult& wanted) {
    check_text(plan, {});
    const auto tier = stream::make_simulated_tier();
    const auto transport = make_simulated_transport(static_cast<int>(data.size()));
    RunOptions options;
    options.spill = tier.get();
    try {
      expect_same(plan, data, wanted, execute(plan, data, *transport, kernels, options), "with stores");
    } catch (const std::exception& error) {
      throw Fault{"run", "with stores: " + std::string(error.what()) + '\n' + print_module(plan)};
    }
  }

  static void expect_same(const Module& made, const std::vector<Part>& data, const RunResult& wanted,
                          const RunResult& result, const std::string& what) {
    Module sized = made;
    for (const ObservedSize& size : wanted.observed) sized.dims[sized.find_dim(size.dim)].size = size.size;
    for (size_t k = 0; k < wanted.outputs.size(); ++k) {
      const std::vector<Word> a = testing::whole_words(sized, wanted.outputs[k], data);
      const std::vector<Word> b = testing::whole_words(sized, result.outputs.at(k), data);
      if (!std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Word& x, const Word& y) { return x.i == y.i; }))
        throw Fault{"run", what + ": " + wanted.outputs[k].name + " differs\n" + print_module(made)};
    }
  }

  const Job& job_;
  Module program_;
  Answer answer_;
  std::map<std::pair<int, int>, std::vector<Part>> parts_, compressed_;
  std::map<std::pair<int, int>, testing::MemoryForms> forms_;
  std::map<std::tuple<std::string, std::string, bool, bool, bool, bool, int>, Module> plans_;
};

}  // namespace
}  // namespace kasen::random_programs

int main() {
  using namespace kasen::random_programs;
  std::ios::sync_with_stdio(false);
  for (Job job; read_job(std::cin, job);) {
    JobRunner(job).run();
    std::cout.flush();
  }
}
