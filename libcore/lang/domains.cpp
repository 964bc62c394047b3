#include "libcore/lang/domains.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <string_view>

namespace kasen::lang {
namespace {

struct Domain {
  std::string_view function;
  std::size_t argument;
  double least, most;
  std::string_view remedy;
  bool above = false;  // the least number itself is outside
};

constexpr double any = std::numeric_limits<double>::infinity();
constexpr std::array domains{
    Domain{"quantile", 1, 0, 1, "write 0.9 for nine of ten, or percentile(x, 90)"},
    Domain{"percentile", 1, 0, 100, "write 90 for nine of ten, or quantile(x, 0.9)"},
    Domain{"pinball_loss", 2, 0, 1, "write 0.9 for nine of ten"},
    Domain{"smooth", 1, 0, 1, "it is the share of each new element: write 0.3"},
    Domain{"pagerank", 1, 0, 1, "it is the share that links hand on: write 0.85"},
    Domain{"ridge", 2, 0, any, "it is added to the squares: write 0.5"},
    Domain{"ridge_tall", 2, 0, any, "it is added to the squares: write 0.5"},
    Domain{"huber_loss", 2, 0, any, "from this distance on the loss is linear: write 1.0"},
    Domain{"smooth_l1", 2, 0, any, "from this distance on the loss is linear: write 1.0"},
    Domain{"focal_loss", 2, 0, any, "a larger one gives less weight to what is right: write 2.0"},
    Domain{"minkowski", 2, 0, any, "2 is the usual distance, and 1 the sum of the parts", true},
    Domain{"matrix_power", 1, 1, any, "for other powers, write inv(A) or identity(over R)"},
    Domain{"jacobi", 2, 0, any, "it is a number of steps"},
    Domain{"cg", 2, 0, any, "it is a number of steps"},
    Domain{"power_iteration", 2, 0, any, "it is a number of steps"},
};
// Their ends are the second and the third argument.
constexpr std::array<std::string_view, 5> with_ends{"histogram", "tmean", "tsum", "tcount", "randint"};

std::string domain_text(const Domain& domain) {
  if (domain.most < any) return fmt::format("it takes a number from {} to {}", domain.least, domain.most);
  return fmt::format("it takes a number {} {}", domain.above ? "above" : "of at least", domain.least);
}

// The number that an argument is: as it is written, with a sign, or by the name of a const.
std::optional<double> known_number(const Scopes& scopes, const Node& node) {
  if (node.kind == NodeKind::operation && node.op == ScalarOp::neg) {
    const std::optional<double> number = known_number(scopes, node.args[0]);
    return number ? std::optional(-*number) : std::nullopt;
  }
  if (node.kind == NodeKind::integer || node.kind == NodeKind::real) {
    double number = 0;
    const char* const end = node.text.data() + node.text.size();
    return std::from_chars(node.text.data(), end, number).ec == std::errc{} ? std::optional(number) : std::nullopt;
  }
  const Binding* const named = node.kind == NodeKind::name ? scopes.find(node.text) : nullptr;
  if (named == nullptr || !named->is(Binding::Kind::constant) || named->term.expr.op != ScalarOp::constant) return {};
  const ElementType& type = named->term.type();
  if (!type.is_scalar() || !is_numeric(type.scalar())) return {};
  const Word word = named->term.expr.literal;
  return is_float(type.scalar()) ? word.f : static_cast<double>(word.i);
}

// From the second argument to the third. Numbers from 3 to 3 are those that are 3, but bins and random numbers need
// room.
void refuse_ends(const SourceText& source, const Scopes& scopes, const std::string& name, const Node& call) {
  if (call.args.size() < 3) return;
  const auto low = known_number(scopes, call.args[1]), high = known_number(scopes, call.args[2]);
  if (!low || !high || *low < *high || (*low == *high && name.starts_with('t'))) return;
  const std::string first = name == "randint" ? "seed" : "x", last = name == "histogram" ? ", over K" : "";
  source.fail(call.args[1].mark, fmt::format("{} from {} to {}", name, *low, *high),
              *low == *high ? "nothing lies between them" : "the lower end comes first",
              *low == *high ? "give an upper end that is larger"
                            : fmt::format("write {}({}, {}, {}{})", name, first, *high, *low, last));
}

// std(x, by k in K): what has keys is another function.
void refuse_keys(const SourceText& source, const Statement& def, const Node& call) {
  const Node* const over = call.args.empty() || call.args.back().kind != NodeKind::over ? nullptr : &call.args.back();
  const std::string& name = def.name.text;
  if (over == nullptr || over->args.empty() || (name != "std" && name != "var")) return;
  const auto shown = [](const Node& node, const char* other) {
    return node.kind == NodeKind::name ? node.text : std::string(other);
  };
  source.fail(over->mark, fmt::format("{} by keys", name), "it reduces along dimensions alone",
              fmt::format("write group_{}({}, {}, over {})", name, shown(call.args[0], "x"), shown(over->args[0], "k"),
                          over->args.size() > 1 ? over->args[1].text : "K"));
}

// diag(w) of a vector, for X @ diag(w).
void refuse_vector(const SourceText& source, const Scopes& scopes, const Module& module, const Statement& def,
                   const Node& call) {
  const std::string& name = def.name.text;
  if ((name != "diag" && name != "diagonal") || call.args.size() != 1 || call.args[0].kind != NodeKind::name) return;
  const Node& of = call.args[0];
  const Binding* const bound = scopes.find(of.text);
  if (bound == nullptr || !bound->is(Binding::Kind::value) || module.type(bound->id).dims.size() != 1) return;
  const std::string& dim = module.dim(module.type(bound->id).dims[0]).name;
  source.fail(
      of.mark, fmt::format("{} of a vector over [{}]", name, dim), "it takes a matrix, and gives its diagonal",
      fmt::format("write X * {0} for X @ diag({0}), as for diag({0}) @ X: each element of X meets the one of its "
                  "index of {1}; diagflat({0}) is the matrix",
                  of.text, dim));
}

}  // namespace

void refuse_domain(const SourceText& source, const Scopes& scopes, const Module& module, const Statement& def,
                   const Node& call) {
  if (!source.location(def.mark).file.starts_with('<')) return;  // of the program, whatever it is called
  refuse_keys(source, def, call);
  refuse_vector(source, scopes, module, def, call);
  if (std::find(with_ends.begin(), with_ends.end(), def.name.text) != with_ends.end())
    return refuse_ends(source, scopes, def.name.text, call);
  for (const Domain& domain : domains) {
    if (domain.function != def.name.text || domain.argument >= call.args.size()) continue;
    const Node& node = call.args[domain.argument];
    const std::optional<double> number = known_number(scopes, node);
    const bool low = number && (*number < domain.least || (domain.above && *number == domain.least));
    if (!number || (!low && *number <= domain.most)) continue;
    source.fail(node.mark, fmt::format("{} of {}", def.name.text, *number), domain_text(domain),
                std::string(domain.remedy));
  }
}

}  // namespace kasen::lang
