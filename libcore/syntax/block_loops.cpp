#include "libcore/syntax/block_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "libcore/syntax/make_nodes.h"

namespace kasen::lang {
namespace {

using Body = std::vector<Statement>;

constexpr const char* block_loop_form = "for B in blocks(N, 64) { ... }";

bool is_blocks_call(const Node& node) { return node.kind == NodeKind::call && node.text == "blocks"; }

bool same_count(const Node& a, const Node& b) {
  return a.kind == b.kind && a.text == b.text && a.suffix == b.suffix && a.op == b.op && a.component == b.component &&
         std::equal(a.args.begin(), a.args.end(), b.args.begin(), b.args.end(), same_count);
}

std::string shown(const Node& count) {
  return count.kind == NodeKind::integer || count.kind == NodeKind::name ? count.text : "...";
}

Node size_of(Mark mark, const std::string& dim) {
  return made_node(NodeKind::call, mark, "size", {made_name(mark, dim)});
}

bool declares_dims(const Statement& s, const std::string& dim) {
  const auto is = [&](const NameAt& name) { return name.text == dim; };
  if (std::any_of(s.names.begin(), s.names.end(), is)) return true;
  return std::any_of(s.params.begin(), s.params.end(), [&](const ParamNode& param) {
    return param.name == dim ||
           (!param.type.empty() && std::any_of(param.type[0].dims.begin(), param.type[0].dims.end(), is));
  });
}

class BlockLoops {
 public:
  explicit BlockLoops(const SourceText& source) : source_(source) {}

  Body of(Body program) {
    find(program, false);
    if (dims_.empty()) return program;
    for (const Statement& s : program) {
      declared_.insert(s.name.text);
      if (s.kind == StatementKind::dimension && !s.local) cut_.insert(s.name.text);
      if (s.kind == StatementKind::constant || s.kind == StatementKind::param) later_[s.name.text] = s.kind;
      if (s.kind == StatementKind::input) given_.insert(s.name.text);
    }
    Body out;
    for (Statement& s : program) declaration(out, std::move(s));
    for (const auto& [name, dim] : dims_) require_declared(name, dim);
    for (Statement& s : out) statement(s);
    return out;
  }

 private:
  struct Blocked {
    Mark mark;           // of the first loop over its blocks
    Node count;          // of the rows of one
    std::string blocks;  // the dimension that counts them; empty until N is declared
  };

  void find(const Body& body, bool in_def) {
    for (const Statement& s : body) {
      if (is_block_loop(s)) take(s.index[0], in_def);
      find(s.body, in_def || s.kind == StatementKind::definition);
      find(s.other, in_def);
    }
  }

  void take(const Node& call, bool in_def) {
    if (in_def) {
      source_.fail(call.mark, "a loop over blocks in a def", "its blocks are of inputs, which the program declares",
                   "write the loop in the program, and hand X[B] to the def");
    }
    if (call.args.size() != 2 || call.args[0].kind != NodeKind::name) {
      source_.fail(call.mark, "blocks(...) takes a dimension and the number of rows of a block", {},
                   fmt::format("write {}", block_loop_form));
    }
    const std::string& dim = call.args[0].text;
    const auto [at, first] = dims_.try_emplace(dim, Blocked{call.mark, call.args[1], {}});
    if (first || same_count(at->second.count, call.args[1])) return;
    source_.fail(call.args[1].mark,
                 fmt::format("blocks of {} rows of '{}', which has blocks of {}", shown(call.args[1]), dim,
                             shown(at->second.count)),
                 fmt::format("line {} says so, and the rows of a block are cut over the workers once for all",
                             at->second.mark.line),
                 "give all loops over its blocks the same size");
  }

  void require_declared(const std::string& name, const Blocked& dim) const {
    if (!dim.blocks.empty()) return;
    if (given_.contains(name)) {
      source_.fail(dim.mark, fmt::format("'{}' is an input, and blocks are of a dimension", name), {},
                   fmt::format("name the dimension of its rows: {}", block_loop_form));
    }
    source_.fail(dim.mark, fmt::format("'{}' is no dimension of the program", name),
                 "blocks are of the rows that inputs have", fmt::format("write dim {}, and {}", name, block_loop_form));
  }

  Blocked* blocked(const std::string& dim) {
    const auto found = dims_.find(dim);
    return found == dims_.end() ? nullptr : &found->second;
  }

  void declaration(Body& out, Statement s) {
    if (s.kind == StatementKind::dimension) dimension(out, s);
    if (s.kind == StatementKind::constant) later_.erase(s.name.text);
    if (s.kind == StatementKind::input || s.kind == StatementKind::param) array(s);
    out.push_back(std::move(s));
  }

  void dimension(Body& out, Statement& s) {
    Blocked* const dim = blocked(s.name.text);
    if (dim == nullptr) return;
    if (!s.value.empty() || !s.slice.empty() || s.workers) {
      source_.fail(s.mark, fmt::format("dimension '{}' has a size, and a loop over its blocks", s.name.text),
                   fmt::format("the data say how many blocks there are (line {})", dim->mark.line),
                   fmt::format("write dim {}", s.name.text));
    }
    if (s.local) {
      source_.fail(
          s.mark, fmt::format("dimension '{}' is local, and has a loop over its blocks", s.name.text),
          fmt::format("each worker holds all of its rows; blocks are cut over the workers (line {})", dim->mark.line),
          fmt::format("write dim {}; or read ranges, dim K local = 64 and range(X, K, begin)", s.name.text));
    }
    require_known(s, dim->count);
    const std::string blocks = s.name.text + "_blocks";
    dim->blocks = blocks;
    for (int next = 2; !declared_.insert(dim->blocks).second; ++next) dim->blocks = fmt::format("{}_{}", blocks, next);
    Statement counts = s;
    counts.local = true;
    counts.name.text = dim->blocks;
    out.push_back(std::move(counts));
    s.value = {dim->count};
    s.in_blocks = true;
  }

  // Where the dimension stands, the rows of its blocks must be known.
  void require_known(const Statement& s, const Node& count) const {
    const auto found = count.kind == NodeKind::name ? later_.find(count.text) : later_.end();
    if (found == later_.end()) return;
    if (found->second == StatementKind::param) {
      source_.fail(count.mark, fmt::format("param '{}' as the rows of a block", count.text), "plan must know them",
                   fmt::format("write const {} = ... above dim {}", count.text, s.name.text));
    }
    source_.fail(count.mark, fmt::format("const '{}' stands behind dimension '{}'", count.text, s.name.text),
                 fmt::format("a block of {} has as many rows (line {})", s.name.text, s.mark.line),
                 fmt::format("move const {} above dim {}", count.text, s.name.text));
  }

  // An input over N, which is its first dimension.
  void array(Statement& s) {
    if (s.type.empty() || s.type[0].dims.empty()) return;
    std::vector<NameAt>& dims = s.type[0].dims;
    for (size_t i = 1; i < dims.size(); ++i) {
      if (blocked(dims[i].text) == nullptr) continue;
      source_.fail(dims[i].mark, fmt::format("blocks of '{}', which is not the first dimension", dims[i].text),
                   fmt::format("blocks are of rows, and those of '{}' are over '{}'", s.name.text, dims[0].text),
                   fmt::format("give it as an array over [{}, ...]", dims[i].text));
    }
    const Blocked* const dim = blocked(dims[0].text);
    if (dim == nullptr) return;
    inputs_[s.name.text] = dims[0].text;
    const auto is_cut = [&](const NameAt& d) { return cut_.contains(d.text); };
    const std::vector<ComponentNode>& parts = s.type[0].components;
    const bool null = parts.size() == 1 && parts[0].scalar == "null";
    const bool stored = dims.size() == 2 && (null || std::all_of(dims.begin(), dims.end(), is_cut));
    if (stored && s.type[0].storage.empty()) s.type[0].storage = "sparse";  // as without blocks
    dims.insert(dims.begin(), {dim->blocks, dims[0].mark});
  }

  void statement(Statement& s) {
    if (s.kind == StatementKind::function || s.kind == StatementKind::definition) return function(s);
    if (s.kind == StatementKind::dimension && blocked(s.name.text) != nullptr) return;
    const bool input = inputs_.contains(s.name.text);
    if (input && s.kind == StatementKind::output && s.value.empty()) whole(s.name.text, s.name.mark);
    if (!input || (s.kind != StatementKind::input && s.kind != StatementKind::param)) types(s.type);
    for (const NameAt& name : s.names) mention(name);
    if (is_block_loop(s)) return loop(s);
    nodes(s.index);
    nodes(s.value);
    nodes(s.expect);
    nodes(s.arguments);
    for (std::optional<Node>& node : s.slice) {
      if (node) expression(*node);
    }
    for (Statement& inner : s.body) statement(inner);
    for (Statement& inner : s.other) statement(inner);
  }

  void loop(Statement& s) {
    nodes(s.expect);
    const Mark mark = s.index[0].mark;
    const std::string dim = s.index[0].args[0].text, variable = s.name.text;
    s.index = {made_node(NodeKind::integer, mark, "0")};
    s.value = {size_of(mark, dims_.at(dim).blocks)};
    const auto [at, fresh] = variables_.try_emplace(variable, dim);
    for (Statement& inner : s.body) statement(inner);
    if (fresh) variables_.erase(at);
  }

  // Its own dimensions hide those of the program, so that a head takes a block's.
  void function(Statement& s) {
    Hidden own;
    for (const auto& [name, dim] : dims_) {
      if (declares_dims(s, name)) own.insert(name);
    }
    for (const ParamNode& param : s.params) own.insert(param.name);
    std::swap(own, hidden_);
    nodes(s.value);
    nodes(s.arguments);
    for (Statement& inner : s.body) statement(inner);
    std::swap(own, hidden_);
  }

  void nodes(std::vector<Node>& list) {
    for (Node& node : list) expression(node);
  }

  void types(const std::vector<TypeNode>& list) {
    for (const TypeNode& type : list) {
      for (const NameAt& dim : type.dims) mention(dim);
      for (const ComponentNode& component : type.components) {
        if (blocked(component.id_of) == nullptr) continue;
        source_.fail(component.mark, fmt::format("an id of '{}', whose rows come in blocks", component.id_of),
                     "a row has its place in its block, and no other number", "leave out the type, or take i64");
      }
    }
  }

  void expression(Node& node) {
    if (node.kind == NodeKind::index && element(node)) return;
    if (node.kind == NodeKind::call && node.args.size() == 1 && node.args[0].kind == NodeKind::name &&
        of_dimension(node))
      return;
    if (node.kind == NodeKind::name) return mention({node.text, node.mark});
    if (node.kind == NodeKind::lambda) return lambda(node);
    for (const NameAt& name : node.names) mention(name);
    for (ParamNode& param : node.params) types(param.type);
    nodes(node.args);
  }

  void lambda(Node& node) {
    Hidden before = hidden_;
    for (const ParamNode& param : node.params) hidden_.insert(param.name);
    nodes(node.args);
    hidden_ = std::move(before);
  }

  // The dimension of which the name is a block; empty for others.
  std::string loop_over(const std::string& name) const {
    const auto variable = hidden_.contains(name) ? variables_.end() : variables_.find(name);
    return variable == variables_.end() ? std::string() : variable->second;
  }

  // X[B] is a view of the block's rows.
  bool element(Node& node) {
    if (node.args[0].kind != NodeKind::name || hidden_.contains(node.args[0].text)) return false;
    const auto input = inputs_.find(node.args[0].text);
    if (input == inputs_.end()) return false;
    const Mark mark = node.args[0].mark;
    const bool named = node.args.size() == 2 && node.args[1].kind == NodeKind::name;
    if (!named || loop_over(node.args[1].text) != input->second) whole(input->first, mark);
    Node over = made_node(NodeKind::over, mark, "");
    over.names = {{dims_.at(input->second).blocks, mark}};
    node = made_node(NodeKind::call, mark, "at", {node.args[0], node.args[1], std::move(over)});
    return true;
  }

  // size(N), size(B), index(N).
  bool of_dimension(Node& node) {
    const std::string name = node.args[0].text;
    if (const std::string dim = loop_over(name); node.text == "size" && !dim.empty()) {
      node = size_of(node.mark, dim);
      return true;
    }
    const Blocked* const dim = hidden_.contains(name) ? nullptr : blocked(name);
    if (dim == nullptr) return false;
    if (node.text == "size") {
      if (is_inside(name)) {
        source_.fail(node.mark, fmt::format("size({}) within the loop over its blocks", name),
                     fmt::format("{} stands for the {} rows of a block there", name, shown(dim->count)),
                     fmt::format("write size(B) with the block's name, or n = size({}) before the loop", name));
      }
      node = made_operation(ScalarOp::mul, node.mark, {size_of(node.mark, dim->blocks), size_of(node.mark, name)});
      return true;
    }
    if (node.text != "index") return false;
    source_.fail(node.mark, fmt::format("the index of '{}', whose rows come in blocks", name),
                 fmt::format("it would be the place in a block of {}", shown(dim->count)),
                 fmt::format("a row has number i64(B) * size(B) + place, with place = [i in {}: i64(i)]", name));
  }

  void mention(const NameAt& name) const {
    if (hidden_.contains(name.text)) return;
    if (inputs_.contains(name.text)) whole(name.text, name.mark);
    const auto dim = dims_.find(name.text);
    if (dim == dims_.end()) return;
    if (is_inside(name.text)) return;
    source_.fail(name.mark, fmt::format("'{}' outside of the loop over its blocks", name.text),
                 fmt::format("within it, {} stands for the {} rows of a block; all rows together have no array",
                             name.text, shown(dim->second.count)),
                 fmt::format("write it into the loop, or results for each row into a program without blocks; size({}) "
                             "is how many rows there are",
                             name.text));
  }

  bool is_inside(const std::string& dim) const {
    return std::any_of(variables_.begin(), variables_.end(), [&](const auto& v) { return v.second == dim; });
  }

  [[noreturn]] void whole(const std::string& input, Mark mark) const {
    const std::string& name = inputs_.at(input);
    const std::string count = shown(dims_.at(name).count);
    source_.fail(mark, fmt::format("'{}' is not read by a block", input),
                 fmt::format("its rows come in blocks of {} (line {})", count, dims_.at(name).mark.line),
                 fmt::format("write {}[B], within for B in blocks({}, {})", input, name, count));
  }

  using Hidden = std::set<std::string>;

  const SourceText& source_;
  std::map<std::string, Blocked> dims_;
  std::map<std::string, std::string> inputs_;     // the dimension of their rows
  std::map<std::string, std::string> variables_;  // of the loops around: the dimension
  std::set<std::string> declared_, cut_, given_;  // names: all, of dimensions that are cut, of inputs
  std::map<std::string, StatementKind> later_;    // params, and consts that are declared from here on
  Hidden hidden_;                                 // names that a function or a lambda has of its own
};

}  // namespace

bool is_block_loop(const Statement& s) {
  return s.kind == StatementKind::for_loop && s.value.empty() && !s.index.empty() && is_blocks_call(s.index[0]);
}

std::vector<Statement> with_declared_blocks(std::vector<Statement> statements, const SourceText& source) {
  return BlockLoops(source).of(std::move(statements));
}

}  // namespace kasen::lang
