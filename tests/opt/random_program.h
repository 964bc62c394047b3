// Random array programs. Every statement assigns to names that are declared at the top, so that any of them may be left
// out: a failing program is shrunk by leaving out statements as long as it fails.
#pragma once

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace kasen::testing {

class ProgramWriter {
 public:
  ProgramWriter(std::uint64_t seed, const std::set<int>& left_out) : random_(seed), left_out_(left_out) {}

  std::string write() {
    text_ =
        "dim N, M\ninput G : null[N, N], H : f64[N, N], R : f64[N, M]\ninput x : f64[N]\nparam r = 0.85\n"
        "fn pair(a, b) = (a, b)\nfn both(a, b) = (min(a.0, b.0), a.1 + b.1)\n"
        "v0 : f64[N] = 1\nv1 = x / 4\nv2 : f64[N] = 0\nv3 = tanh(x)\nw0 : f64[M] = 0.5\nw1 = tanh(R' @ x)\n"
        "p0 = pair(v1, v3)\ns0 = 0.25\ns1 = 1.5\nlist L[3] : f64[N] = 0\n";
    block(0, 8);
    return text_ + "output v0, v1, v2, v3, w0, w1, p0, s0, s1\n";
  }
  [[nodiscard]] int statements() const { return number_; }

 private:
  int pick(int count) { return static_cast<int>(random_() % static_cast<std::uint64_t>(count)); }
  std::string vector() { return "v" + std::to_string(pick(4)); }
  std::string shared() { return pick(3) == 0 ? "r" : "s" + std::to_string(pick(2)); }
  std::string product() { return (pick(2) == 0 ? "G" : "H") + std::string(pick(2) == 0 ? "' @ " : " @ ") + vector(); }

  std::string element_wise() {
    const std::string a = vector(), b = vector(), s = shared();
    switch (pick(9)) {
      case 0:
        return "0.5 * " + a + " - " + b;
      case 1:
        return "abs(" + a + " - " + b + ")";
      case 2:
        return "(1 - " + s + ") + " + s + " * " + a;
      case 3:
        return "max(" + a + ", " + b + ")";
      case 4:
        return a + " / (2 + abs(" + b + "))";
      case 5:
        return "tanh(" + a + " * " + b + ")";
      case 6:
        return a + " + 0.125";
      case 7:
        return "0.5 * (" + a + " + " + b + " * " + s + ")";
      default:
        return a;
    }
  }

  // Bounded, whatever came before.
  std::string bounded(const std::string& e) { return "max(min(" + e + ", 3.0), -3.0)"; }

  void line(int depth, const std::string& text) {
    text_ += std::string(static_cast<size_t>(2 * depth), ' ') + text + '\n';
  }

  void block(int depth, int count) {
    for (int i = 0; i < count; ++i) statement(depth);
  }

  void statement(int depth) {
    const int here = number_++;
    const std::string before = text_;
    emit(depth, here);
    if (left_out_.count(here) > 0) text_ = before;
  }

  void emit(int depth, int here) {
    const std::string t = "t" + std::to_string(here);
    const std::string v = vector();
    switch (pick(depth < 2 ? 17 : 11)) {
      case 0:
      case 1:
        return line(depth, v + " = " + bounded(element_wise()));
      case 2:
        return line(depth, v + " = tanh(0.2 * (" + product() + "))");
      case 3:
        line(depth, t + " = " + product());
        line(depth, t + "b = 0.25 * " + t);
        line(depth, t + "c = " + t + "b " + (pick(2) == 0 ? "+ 0.5" : "- " + vector()));
        return line(depth, v + " = " + bounded(t + (pick(2) == 0 ? "c" : "c + " + t)));
      case 4:
        return line(
            depth,
            v + " = " + bounded(std::string("mxv(") + (pick(2) == 0 ? "*, max" : "+, min") + ", H, " + vector() + ")"));
      case 5:
        return line(depth, "s" + std::to_string(pick(2)) + " = tanh(sum(" + bounded(element_wise()) + ") / 16)");
      case 6:
        return line(depth, "push(L, " + vector() + ")");
      case 7:
        return line(depth, v + " = L[" + std::to_string(pick(3)) + "]");
      case 8:
        return line(depth, "L[" + std::to_string(pick(3)) + "] = " + bounded(element_wise()));
      case 9:
        return other_dimension(depth);
      case 10:
        return tuples(depth, t);
      case 11:
      case 12:
        return loop(depth, here);
      case 13:
      case 14:
        return counted(depth, here);
      default:
        return branch(depth);
    }
  }

  void other_dimension(int depth) {
    const std::string w = "w" + std::to_string(pick(2));
    switch (pick(3)) {
      case 0:
        return line(depth, w + " = tanh(0.2 * (R' @ " + vector() + "))");
      case 1:
        return line(depth, vector() + " = tanh(0.2 * (R @ " + w + "))");
      default:
        return line(depth, w + " = " + bounded("0.5 * w0 - " + shared() + " * w1"));
    }
  }

  void tuples(int depth, const std::string& t) {
    switch (pick(3)) {
      case 0:
        return line(depth, "p0 = pair(" + bounded(element_wise()) + ", " + vector() + ")");
      case 1:
        return line(depth, vector() + " = " + bounded("p0.0 - 0.5 * p0.1"));
      default:
        line(depth, t + " = reduce(both, p0)");
        return line(depth, "s" + std::to_string(pick(2)) + " = tanh(" + t + ".0 + " + t + ".1 / 16)");
    }
  }

  // One in six makes no turn.
  void loop(int depth, int here) {
    const std::string i = "turn" + std::to_string(here);
    line(depth, i + (pick(6) == 0 ? " = 9.0" : " = 0.0"));
    line(depth, "while " + i + " < " + std::to_string(1 + pick(3)) + ".5" + (pick(3) > 0 ? " likely {" : " {"));
    counters_.push_back(i + " > 0.5");
    block(depth + 1, 3);
    counters_.pop_back();
    line(depth + 1, i + " = " + i + " + 1");
    line(depth, "}");
  }

  void counted(int depth, int here) {
    const std::string i = "turn" + std::to_string(here);
    const std::string range = pick(2) == 0 ? "0..3" : "reversed(0..3)";
    line(depth, "for " + i + " in " + range + " {");
    if (pick(2) == 0) {
      const std::string v = vector();
      line(depth + 1, "s0 = tanh(sum(L[" + i + "] * " + v + "))");
      line(depth + 1, v + " = " + bounded(v + " - s0 * L[" + i + "]"));
    }
    counters_.push_back(i + " > 0");
    block(depth + 1, 2);
    counters_.pop_back();
    line(depth, "}");
  }

  // In a loop its condition often holds in some turns alone; what is likely may be false all the same.
  void branch(int depth) {
    const bool by_iteration = !counters_.empty() && pick(2) == 0;
    const std::string condition = by_iteration ? counters_.back() : shared() + " > 0.3217";
    line(depth, "if " + condition + (pick(3) > 0 ? " likely {" : " {"));
    block(depth + 1, 2 + pick(2));
    line(depth, "} else {");
    block(depth + 1, pick(3));
    line(depth, "}");
  }

  std::mt19937_64 random_;
  std::set<int> left_out_;
  std::string text_;
  std::vector<std::string> counters_;  // conditions on the turn of each open loop
  int number_ = 0;
};

inline std::string random_program(std::uint64_t seed, const std::set<int>& left_out = {}) {
  return ProgramWriter(seed, left_out).write();
}

inline int statements_of(std::uint64_t seed) {
  ProgramWriter writer(seed, {});
  (void)writer.write();
  return writer.statements();
}

// The shortest program that still fails, leaving out one statement after another.
template <class Fails>
std::string shrink(std::uint64_t seed, Fails fails) {
  std::set<int> left_out;
  const int count = statements_of(seed);
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (int i = 0; i < count; ++i) {
      if (left_out.count(i) > 0) continue;
      std::set<int> more = left_out;
      more.insert(i);
      if (random_program(seed, more) == random_program(seed, left_out) || !fails(random_program(seed, more))) continue;
      left_out = more;
      smaller = true;
    }
  }
  return random_program(seed, left_out);
}

}  // namespace kasen::testing
