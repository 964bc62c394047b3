#include "tools/run/turns.h"

#include <algorithm>
#include <cctype>

#include "libcore/analysis/loop_progress.h"

namespace kasen::tools {
namespace {

struct Outermost {
  const Op* loop;
  const Block* around;
};

// Loops with no loop around them, in the order of the program; a branch may hold some.
void find_outermost(const Block& block, std::vector<Outermost>& found) {
  for (const Op& op : block.ops) {
    if (op.code == OpCode::while_loop || op.code == OpCode::for_loop) {
      found.push_back({&op, &block});
    } else if (op.code != OpCode::region) {
      for (const Block& inner : op.blocks) find_outermost(inner, found);
    }
  }
}

// A later value of `x` may be x_3 in the plan: then "x", where the program has that word and not x_3.
std::string users_name(const Module& module, const std::string& name) {
  const size_t line = name.find_last_of('_');
  const bool numbered = line != std::string::npos && line > 0 && line + 1 < name.size() &&
                        name.find_first_not_of("0123456789", line + 1) == std::string::npos;
  if (!numbered) return name;
  const std::string word = name.substr(0, line);
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  const auto stands_in = [&](const std::string& what) {
    return std::any_of(module.source.begin(), module.source.end(), [&](const std::string& text) {
      for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
        const size_t end = at + what.size();
        if ((at == 0 || !is_part(text[at - 1])) && (end == text.size() || !is_part(text[end]))) return true;
      }
      return false;
    });
  };
  return stands_in(word) && !stands_in(name) ? word : name;
}

// The number that the loop's test compares with, where a param or a literal gives it.
std::optional<double> limit_of(const Module& module, const Op& loop,
                               const std::map<std::string, std::vector<Word>>& params) {
  const ValueId limit = watched_limit(module, loop);
  std::optional<double> number;
  for_each_op(module, [&](const Op& op, int, int) {
    const bool known = op.code == OpCode::param || op.code == OpCode::literal;
    if (limit == no_value || !known || op.results.at(0) != limit) return;
    const auto given = params.find(op.name);
    const std::vector<Word>& words = op.code == OpCode::param && given != params.end() ? given->second : op.literal;
    if (words.size() == 1 && is_float(module.type(limit).element.plane_scalar(0))) number = words[0].f;
  });
  return number;
}

}  // namespace

void IterationRecord::add(const Iteration& iteration) {
  const IterationSample sample{iteration.place.iterations.front(), iteration.change, iteration.seconds};
  if (loops_.empty() || sample.iteration <= loops_.back().last.iteration) loops_.emplace_back();
  Loop& loop = loops_.back();
  loop.last = sample;
  if ((sample.iteration - 1) % loop.every != 0) return;
  loop.kept.push_back(sample);
  if (loop.kept.size() < most_iterations_kept) return;
  loop.every *= 2;
  std::erase_if(loop.kept, [&](const IterationSample& s) { return (s.iteration - 1) % loop.every != 0; });
}

std::vector<LoopIterations> IterationRecord::loops(const Module& module, const std::vector<OpCount>& counts,
                                                   const std::map<std::string, std::vector<Word>>& params) const {
  std::map<const Op*, int> numbers;
  for_each_op(module, [&](const Op& op, int number, int) { numbers[&op] = number; });
  std::vector<Outermost> outermost;
  find_outermost(module.body, outermost);
  std::vector<LoopIterations> all;
  for (const auto& [loop, around] : outermost) {
    const int number = numbers.at(loop);
    if (counts.at(static_cast<size_t>(number)).iterations == 0 || all.size() >= loops_.size()) continue;
    const Loop& went = loops_[all.size()];
    LoopIterations iterations{number, "", limit_of(module, *loop, params), went.every, went.kept};
    if (iterations.iterations.empty() || iterations.iterations.back().iteration != went.last.iteration)
      iterations.iterations.push_back(went.last);
    if (const ValueId watched = watched_value(module, *loop); watched != no_value) {
      iterations.watched = users_name(module, module.value(before_transitions(loop->blocks[0], watched)).name);
    }
    all.push_back(std::move(iterations));
  }
  return all;
}

}  // namespace kasen::tools
