// Formulas on the page: iterations stand before brackets, and of many terms the three largest are shown, the others on
// demand.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <vector>

#include "libopt/draw/page_text.h"
#include "libopt/picture/page.h"

namespace kasen {
namespace {

constexpr size_t most_shown_terms = 3;

Polynomial term_of(const Polynomial::Monomial& monomial, std::int64_t coefficient) {
  Polynomial term(coefficient);
  for (const Symbol& symbol : monomial) term *= Polynomial(symbol);
  return term;
}

// The largest first: by value where sizes are known, else by the number of sizes in it and then by its number.
std::vector<Polynomial> ordered_terms(const ReportContext& context, const Polynomial& polynomial) {
  struct Term {
    Polynomial of;
    std::int64_t value = 0;
    size_t degree = 0;
  };
  std::vector<Term> terms;
  bool known = true;
  for (const auto& [monomial, coefficient] : polynomial.terms()) {
    Term term{term_of(monomial, coefficient), 0, monomial.size()};
    const auto value = context.value(term.of);
    known = known && value;
    term.value = value ? *value : coefficient;
    terms.push_back(std::move(term));
  }
  std::stable_sort(terms.begin(), terms.end(), [&](const Term& a, const Term& b) {
    if (!known && a.degree != b.degree) return a.degree > b.degree;
    return std::llabs(a.value) > std::llabs(b.value);
  });
  std::vector<Polynomial> ordered;
  for (Term& term : terms) ordered.push_back(std::move(term.of));
  return ordered;
}

// "trips (24 N + 40 S) + 8 N".
std::string factored(const ReportContext& context, const std::vector<Polynomial>& terms) {
  std::vector<Polynomial::Monomial> order;  // numbers of iterations, as they come
  std::map<Polynomial::Monomial, std::vector<Polynomial>> rests;
  for (const Polynomial& term : terms) {
    const auto& [monomial, coefficient] = *term.terms().begin();
    Polynomial::Monomial often, rest;
    for (const Symbol& symbol : monomial) (symbol.kind == SymbolKind::trips ? often : rest).push_back(symbol);
    if (!rests.contains(often)) order.push_back(often);
    rests[often].push_back(term_of(rest, coefficient));
  }
  std::string text;
  for (const Polynomial::Monomial& often : order) {
    Polynomial sum;
    for (const Polynomial& rest : rests[often]) sum += rest;
    const bool apart = !often.empty() && rests[often].size() > 1;
    const std::string part = apart ? fmt::format("{} ({})", context.formula(term_of(often, 1)), context.formula(sum))
                                   : context.formula(sum * term_of(often, 1));
    const bool negative = !text.empty() && part.starts_with('-');
    text += text.empty() ? part : (negative ? " - " + part.substr(1) : " + " + part);
  }
  return text;
}

}  // namespace

std::string formula_text(const ReportContext& context, const Polynomial& polynomial) {
  std::vector<Polynomial> terms = ordered_terms(context, polynomial);
  if (terms.empty()) return "0";
  const std::string whole = factored(context, terms);
  if (terms.size() <= most_shown_terms) return page_text(whole);
  const std::string leading = factored(context, {terms.begin(), terms.begin() + most_shown_terms});
  return fmt::format("<details class=\"formula\"><summary>{} + …</summary>{}</details>", page_text(leading),
                     page_text(whole));
}

}  // namespace kasen
