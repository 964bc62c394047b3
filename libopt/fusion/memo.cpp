#include "libopt/fusion/memo.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace kasen::fusion {
namespace {

std::string inputs_text(const Dag& dag) {
  std::string text;
  for (const NodeId id : dag.ids()) {
    if (dag[id].form == Form::read) text += fmt::format("{} {} {}", text.empty() ? "" : ",", shown(id), dag[id].name);
  }
  return text.empty() ? " none" : text;
}

std::string entries_text(const Group& group) {
  std::vector<std::string> texts;
  for (const Entry& entry : group) texts.push_back(text(entry));
  return fmt::format("{}", fmt::join(texts, " "));
}

// Returns the letters of the templates that end here.
std::string closed_text(const Group& group) {
  std::string letters;
  for (const Entry& entry : group) {
    const char letter = row(entry.type).letter;
    if (is_closed(entry.close) && letters.find(letter) == std::string::npos) letters += letter;
  }
  return letters.empty() ? "" : "; closes " + letters;
}

std::string operands_text(const Node& node) {
  std::vector<int> operands;
  for (const NodeId in : node.inputs) operands.push_back(shown(in));
  return fmt::format("({})", fmt::join(operands, ","));
}

}  // namespace

size_t Entry::references() const {
  return refs.size() - static_cast<size_t>(std::count(refs.begin(), refs.end(), no_node));
}

bool Entry::refers_to(NodeId node) const { return std::find(refs.begin(), refs.end(), node) != refs.end(); }

std::string text(const Entry& entry) {
  std::vector<int> refs;
  for (const NodeId ref : entry.refs) refs.push_back(ref == no_node ? -1 : shown(ref));
  return fmt::format("{}({}{})", row(entry.type).letter, fmt::join(refs, ","), is_valid(entry.close) ? "" : "|x");
}

int Memo::group_count() const {
  return static_cast<int>(std::count_if(groups.begin(), groups.end(), [](const Group& g) { return !g.empty(); }));
}

int Memo::entry_count() const {
  size_t count = 0;
  for (const Group& group : groups) count += group.size();
  return static_cast<int>(count);
}

bool dominates(const Dag& dag, const Entry& a, const Entry& b) {
  if (a.type != b.type || a.references() <= b.references()) return false;
  for (size_t i = 0; i < a.refs.size(); ++i) {
    if (a.refs[i] == b.refs[i]) continue;
    if (b.refs[i] != no_node || dag[a.refs[i]].uses() > 1) return false;
  }
  return true;
}

Memo without_dominated(const Dag& dag, const Memo& memo) {
  Memo kept = memo;
  for (const NodeId g : memo.groups.ids()) {
    const Group& all = memo[g];
    std::erase_if(kept[g], [&](const Entry& entry) {
      return std::any_of(all.begin(), all.end(), [&](const Entry& other) { return dominates(dag, other, entry); });
    });
  }
  return kept;
}

std::string memo_text(const Dag& dag, const Memo& memo) {
  std::string text = fmt::format("  inputs:{}\n", inputs_text(dag));
  for (NodeId id(dag.size() - 1); id >= 0; --id) {
    const Node& node = dag[id];
    if (node.form == Form::read) continue;
    const std::string entries = memo[id].empty() ? "-" : entries_text(memo[id]);
    const std::string what = node.name.empty() ? "" : node.name + " of ";
    text += fmt::format("  {} {}  {}  # {}{}{}\n", shown(id), node.op, entries, what, operands_text(node),
                        closed_text(memo[id]));
  }
  return text;
}

}  // namespace kasen::fusion
