// Random programs of dense arrays of rank 0 to 3, square ones among them, with the operators that run over a mesh.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace kasen::testing {

class MeshProgram {
 public:
  explicit MeshProgram(std::uint64_t seed) : random_(seed) {}

  std::string write() {
    text_ = "dim N, M, K\ndim F local = 3\n";
    input("A", "NM"), input("B", "MK"), input("Y", "NK"), input("u", "N"), input("v", "M"), input("X", "NF");
    input("c", "F"), input("T", "NMK"), input("S", "NN");
    // Other element types, in several planes: outputs may get layouts of their own, too.
    text_ +=
        "input W : dense f32[N, M], I : dense i64[N, M], P : [f64; 3][N]\n"
        "dim E = N[::2], Mid = N[1:-1], Back = M[-1:0:-2], D = N + N, Q3 = M + Back + M, NM = N * M, MK = M * K, NF = "
        "N * F\n"
        "dim H local = K[1:4], MM = M + M\n"
        "fn norm3(p) = [j in 3: p[j] * p[j]]\nfn norm(p) = sum(j in 3: p[j] * p[j])\nfn pair(a, b) = (a, b)\n"
        "fn both(a, b) = (max(a.0, b.0), a.1 + b.1)\n"
        "y1 = map(pair, W, I)\ny2 = reduce(both, y1, over M)\ny3 = reduce(both, y1, over N)\n"
        "y4 = reduce(both, y1)\ny5 = max(W, over N)\ny6 = sum(I, over M)\ny7 = map(norm, P)\ny8 = A > 0.5\n";
    // Contractions of each element type: copied in another order, summed, with a label of all three, compared by parts.
    text_ +=
        "J = i32(I)\nQ = map(pair, A, I)\n"
        "y9 = [o in M, n in N: W[n, o]]\ny10 = [o in M, b in M: sum(n in N: I[n, o] * I[n, b])]\n"
        "y11 = [b in M, o in M: any(n in N: y8[n, o] && y8[n, b])]\ny12 = [n in N, a in N: P[n][0] * P[a][1]]\n"
        "y13 = [o in M, b in M: max(n in N: abs(f64(y1[n, o].0) - A[n, b]))]\n"
        "y14 = [b in M, n in N: sum(o in M: abs(Q[n, o].0 - A[n, b]) * f64(Q[n, o].1))]\n"
        "y15 = [o in M, n in N: y1[n, o]]\ny16 = [o in M, b in M: min(n in N: J[n, o] + J[n, b])]\n"
        "y17 = [n in N, a in N: max(n, a)]\ny18 = [b in M, n in N: sum(o in M: W[n, o] * W[n, b])]\n";
    // Products in sums: onto inputs, results, and one another; squares onto arrays that are not symmetric; in a loop.
    text_ +=
        "input R : dense f64[M, M]\n"
        "y19 = [o in M, b in M: sum(n in N: A[n, o] * A[n, b]) + R[o, b]]\n"
        "y20 = y10 + [o in M, b in M: sum(n in N: I[n, o] * (I[n, b] + 1))]\n"
        "y21 = max(y13, [o in M, b in M: max(n in N: A[n, o] + A[n, b])])\n"
        "y22 = y11 || [b in M, o in M: any(n in N: y8[n, o] || y8[n, b])]\n"
        "y23 = [b in M, n in N: sum(o in M: W[n, b] * W[n, o])] + y18\n"
        "y24 = [o in M, n in N: sum(b in M: R[o, b] * A[n, b])] + [o in M, n in N: sum(b in M: R[b, o] * A[n, b])]\n"
        "y25 = R * 1.0\nfor i in 0..3 {\n  y25 = y25 + [o in M, b in M: sum(n in N: A[n, b] * A[n, o])]\n}\n"
        "y26 = A @ v + u + 2.0 * A @ v\n";
    // Along one axis: scans of several planes, of a function that does not commute; sorts; takes that meet by names.
    text_ +=
        "fn affine(a, b) = (a.0 * b.0, a.1 * b.0 + b.1)\n"
        "y27 = cumsum(I, over N)\ny28 = scan(both, y1, over M)\ny29 = sort(W, over M)\ny30 = argsort(A, over N)\n"
        "y31 = take(I, y30)\ny32 = take(u, y30)\ny33 = take(P, argsort(u))\ny34 = cummax(J, over M)\n"
        "y35 = scan(affine, map(pair, 0.5 * A, A), over N)\ny36 = argsort(I, over M)\ny37 = take(v, y36)\n"
        "y38 = sort(u)\ny39 = take(y1, i64(y36), over M)\n";
    text_ += "input k1 : i64[N]\nq1 = abs(k1) % size(N)\n";
    const int which = below(5);
    const int picked = which == 3 ? pick() : 39;
    const int made = which == 0 ? rearrange() : which == 1 ? group() : which == 2 ? tiles() : picked;
    for (int i = 1; i <= made; ++i) outputs_ += ", y" + std::to_string(i);
    text_ += "s0 = tanh(sum(u) * 0.1)\nj = index(N)\ng = if f64(j) < 3.0 then u else 0.5 * u\n";
    known_.push_back({"s0", ""});
    known_.push_back({"g", "N"});
    for (int i = 0; i < 9; ++i) statement();
    std::string list;
    for (const Known& x : known_) {
      if (x.name.size() > 1 && x.name != "s0") list += (list.empty() ? "" : ", ") + x.name;
    }
    return text_ + "output s0" + outputs_ + (list.empty() ? "" : ", " + list) + "\n";
  }

 private:
  struct Known {
    std::string name, dims;
  };

  // To derived dimensions: along each axis, of several planes, out of places that others cut, and back.
  int rearrange() {
    text_ +=
        "y40 = slice(A, E)\ny41 = slice(y1, Back)\ny42 = slice(slice(I, E), Back)\ny43 = concat(P, map(norm3, P), D)\n"
        "y44 = concat(W, slice(W, Back), W, Q3)\ny45 = reshape(W, NM)\ny46 = reshape(reshape(T, MK), [M, K])\n"
        "y47 = reshape(2.0 * y45, [N, M])\ny48 = reshape(X, NF)\ny49 = slice(T, H)\ny50 = concat(v, v, MM) * 2.0\n"
        "y51 = slice(A, Mid + 1) - slice(A, Mid - 1)\n";
    return 51;
  }

  // By keys: over one dimension and both, along dimensions of the array and another, of single values, in a loop.
  int group() {
    text_ +=
        "input k2 : dense i32[N, M]\nq2 = abs(k1) % size(M)\nq3 = i32(abs(i64(k2)) % size(N))\n"
        "q4 = abs(I) % size(M)\nq5 = abs(I) % size(K)\n"
        "y40 = sum(A, by q1 in N)\ny41 = sum(X, by q2 in M, over N)\n"
        "y42 = max(I, by q3 in N)\ny43 = sum(1, by q1 in N)\ny44 = mean(f64(W), by q5 in K, over N)\n"
        "y45 = reduce(both, y1, by q3 in N, over N)\ny46 = sum(1.5, over N, by q5 in K)\ny47 = any(y8, by q4 in M)\n"
        "y48 = min(u, by argsort(u))\ny49 = u * 1.0\nfor i in 0..3 {\n  y49 = 0.5 * sum(y49 + u, by q1 in N)\n}\n";
    return 49;
  }

  // By masks: along each axis, of several planes, twice; dimensions derived from the picked one; in a loop.
  int pick() {
    text_ +=
        "dim G some N, L some M, V some G, GE = G[::-2], GN = G + N, GM = G * M\n"
        "mq = k1 % 3 != 0\nmr = v > 3.0\ny40 = pick(A, mq, G)\ny41 = pick(y1, mr, L)\ny42 = pick(pick(I, mq, G), mr, "
        "L)\n"
        "y43 = pick(P, mq, G)\ny44 = sum(y40, over G)\ny45 = [a in G, b in M: sum(m in M: y40[a, m] * R[b, m])]\n"
        "y46 = slice(y40, GE)\ny47 = concat(pick(u, mq, G), u, GN)\ny48 = reshape(y40, GM)\ny49 = size(G) + size(L)\n"
        "my = pick(k1, mq, G) % 2 == 0\ny50 = pick(y40, my, V)\ny51 = u * 1.0\n"
        "for i in 0..3 {\n  y51 = 0.5 * y51 + 0.1 * sum(pick(y51, mq, G))\n}\ny52 = sort(pick(u, mq, G))\n"
        "y53 = y42' @ i64(pick(u, mq, G))\n";
    return 53;
  }

  // A dimension of workers: tiles, sums and scans of them, what each sends to each; matrices of each, and of each row.
  int tiles() {
    text_ +=
        "dim Z workers, V workers, ZN = Z * N, C = ZN / Z, L local = 4, G local = 2, ZG local = Z * G, VM = V * M\n"
        "y40 = outer((w, x) -> f64(w) + x, index(Z), u)\ny41 = reshape(y40, ZN)\n"
        "y42 = reshape(tanh(y41), [Z, C])\ny43 = sum(y42, over Z)\ny44 = cumsum(y42, over Z)\n"
        "y45 = [q in V, w in Z: 10 * i64(w) + i64(q)]\ny46 = [w in Z, q in V: y45[q, w]] * 2\n"
        "y47 = reshape(outer((w, x) -> f64(w) * x, index(V), A'), VM)\n"
        "t1 = normal(3, Z, L, G)\ny48, y49 = qr(t1)\ny50, y51 = qr(reshape(y49, ZG))\nt2 = reshape(y50, [Z, G])\n"
        "y52 = [w in Z, h in L, g in G: sum(j in G: y48[w, h, j] * t2[w, j, g])]\n"
        "t3 = normal(4, N, L, G)\nt4 = [n in N, g in G, j in G: sum(h in L: t3[n, h, g] * t3[n, h, j])]\n"
        "y53 = cholesky(t4)\ny54 = solve(t4, tanh(outer(u, fill(0.5, G))))\ny55 = inv(t4) * 0.001\n"
        "y56 = sum(size(Z) * i64(index(Z))) + max(i64(index(V)))\n";
    return 56;
  }

  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  const Known& any() { return known_[static_cast<size_t>(below(static_cast<int>(known_.size())))]; }

  void input(const char* name, const std::string& dims) {
    std::string list;
    for (const char d : dims) list += (list.empty() ? "" : ", ") + std::string(1, d);
    text_ += std::string("input ") + name + " : " + (dims.size() > 1 ? "dense " : "") + "f64[" + list + "]\n";
    known_.push_back({name, dims});
  }

  // A known array over some of these dimensions, in their order.
  Known under(const std::string& dims) {
    for (int tries = 0; tries < 20; ++tries) {
      const Known& x = any();
      size_t at = 0;
      const bool fits = std::all_of(x.dims.begin(), x.dims.end(), [&](char d) {
        at = dims.find(d, at);
        return at++ != std::string::npos;
      });
      if (fits) return x;
    }
    return {"s0", ""};
  }

  std::string element_wise(const Known& x) {
    const Known y = under(x.dims);
    constexpr const char* forms[] = {"%x + %y", "%x * %y", "max(%x, 0.5 * %y)", "0.25 * %x - %y", "abs(%x - %y)"};
    std::string text = forms[below(5)];
    text.replace(text.find("%x"), 2, x.name);
    text.replace(text.find("%y"), 2, y.name);
    return "tanh(" + text + ")";
  }

  void define(const std::string& dims, const std::string& text) {
    const std::string name = "z" + std::to_string(number_++);
    text_ += name + " = " + text + "\n";
    known_.push_back({name, dims});
  }

  void statement() {
    switch (below(10)) {
      case 9:
        return along();
      case 6:
      case 7:
        return notation();
      case 0:
        return reduction();
      case 1:
        return product();
      case 2:
      case 8:
        return sum_of_products();
      case 3:
        return carried();
      default: {
        const Known x = any();
        return define(x.dims, element_wise(x));
      }
    }
  }

  void reduction() {
    const Known x = any();
    if (x.dims.empty()) return;
    const std::string fn = below(3) == 0 ? "max" : "sum";
    const bool square = std::count(x.dims.begin(), x.dims.end(), x.dims[0]) > 1;
    if (below(3) == 0 || square) return define("", "tanh(" + fn + "(" + x.name + ") * 0.1)");
    const auto at = static_cast<size_t>(below(static_cast<int>(x.dims.size())));
    std::string rest = x.dims;
    rest.erase(at, 1);
    define(rest, "tanh(" + fn + "(" + x.name + ", over " + x.dims[at] + ") * 0.1)");
  }

  // Places come from inputs: others differ in their last bits from plan to plan, and with them the order.
  void along() {
    const Known x = any(), y = under(x.dims);
    const bool square = !x.dims.empty() && std::count(x.dims.begin(), x.dims.end(), x.dims[0]) > 1;
    if (x.dims.empty() || square) return;
    const char d = x.dims[static_cast<size_t>(below(static_cast<int>(x.dims.size())))];
    const std::string over = std::string(", over ") + d + ")";
    const bool places = y.name.size() == 1 && y.dims.find(d) != std::string::npos;
    if (places && below(2) == 0) return define(x.dims, "take(" + x.name + ", argsort(" + y.name + over + over);
    if (x.dims.find('N') != std::string::npos && below(3) == 0)
      return define(x.dims, "tanh(0.1 * sum(" + x.name + ", by q1 in N))");
    constexpr const char* forms[] = {"cumsum(", "cummin(", "sort(", "scan(max, "};
    define(x.dims, "tanh(" + (forms[below(4)] + x.name) + over + " * 0.1)");
  }

  void product() {
    const Known p = some_product();
    if (!p.name.empty()) define(p.dims, "tanh((" + p.name + ") * 0.1)");
  }

  // Products that are added to an array of their dimensions, or to one another.
  void sum_of_products() {
    const Known p = some_product();
    if (p.name.empty()) return;
    std::string text = p.name;
    for (int tries = 0; tries < 40; ++tries) {
      const Known other = below(3) == 0 ? some_product() : any();
      if (other.name.empty() || other.dims != p.dims) continue;
      text = below(2) == 0 ? text + " + " + other.name : other.name + " + " + text;
      if (below(2) == 0) break;
    }
    const std::string name = "z" + std::to_string(number_++);
    text_ += name + " = " + text + "\n";
    define(p.dims, "tanh(" + name + " * 0.1)");
  }

  // Its text in place of a name; none if the arrays allow none.
  Known some_product() {
    for (int tries = 0; tries < 40; ++tries) {
      const Known m = any(), y = any();
      if (m.dims.size() != 2 || y.dims.empty() || m.dims[0] == 'F') continue;
      const bool transposed = below(2) == 0;
      if (y.dims[0] != m.dims[transposed ? 0 : 1]) continue;
      const std::string dims = m.dims[transposed ? 1 : 0] + y.dims.substr(1);
      if (y.dims[0] == 'F' && dims.find_first_of("NMK", 1) != std::string::npos) continue;
      const bool repeats = std::count(dims.begin() + 1, dims.end(), dims[0]) > 0;
      if ((repeats && dims.size() > 2) || dims.size() > 3) continue;
      return {m.name + (transposed ? "' @ " : " @ ") + y.name, dims};
    }
    return {};
  }

  // `A[n, m2]`, with one of two variables of each dimension, and the variables that it uses.
  std::string element(const Known& x, std::string& used) {
    std::string text;
    for (const char d : x.dims) {
      const char variable = std::string(below(3) == 0 ? "abde" : "nopq")[std::string("NMKF").find(d)];
      if (used.find(variable) == std::string::npos) used += variable;
      text += (text.empty() ? "" : ", ") + std::string(1, variable);
    }
    return x.dims.empty() ? x.name : x.name + '[' + text + ']';
  }
  static char dim_of(char variable) { return "NMKFNMKF"[std::string("abdenopq").find(variable)]; }
  static std::string variables(const std::string& list) {
    std::string text;
    for (const char v : list) text += (text.empty() ? "" : ", ") + std::string(1, v) + " in " + dim_of(v);
    return text;
  }

  // Index notation: products of two or three factors, other functions of two arrays, diagonals, single values.
  void notation() {
    std::string used;
    const std::string x = element(any(), used), y = element(any(), used), z = element(any(), used);
    if (used.empty() || used.size() > 4) return;
    std::shuffle(used.begin(), used.end(), random_);
    const auto kept = static_cast<size_t>(below(std::min<int>(4, static_cast<int>(used.size()) + 1)));
    const std::string result = used.substr(0, kept), summed = used.substr(kept);
    constexpr const char* bodies[] = {"x * y", "0.5 * x * y", "x * y * z", "abs(x - y)", "x * tanh(y)", "x + y"};
    const int which = below(6);
    std::string text, reduced = which == 5 ? "max" : which == 3 && below(2) == 0 ? "min" : "sum";
    for (const char* c = bodies[which]; *c != 0; ++c) {
      const bool letter = (c[1] < 'a' || c[1] > 'z') && (c == bodies[which] || c[-1] < 'a' || c[-1] > 'z');
      text += letter && *c == 'x' ? x : letter && *c == 'y' ? y : letter && *c == 'z' ? z : std::string(1, *c);
    }
    for (const char v : summed) {  // each variable stands in what is summed
      if (text.find(std::string("[") + v) == std::string::npos && text.find(std::string(", ") + v) == std::string::npos)
        return;
    }
    if (!summed.empty()) text = "tanh(" + reduced + "(" + variables(summed) + ": " + text + ") * 0.1)";
    if (!result.empty()) text = "[" + variables(result) + ": " + text + "]";
    std::string dims;
    for (const char v : result) dims += dim_of(v);
    define(dims, text);
  }

  // A loop, or a branch, that changes a value.
  void carried() {
    const Known x = any();
    const std::string name = "z" + std::to_string(number_++);
    const Known z{name, x.dims};
    text_ += name + " = " + x.name + " * 1.0\n";
    if (below(2) == 0) {
      text_ += "for i in 0..2 {\n  " + name + " = " + element_wise(z) + "\n}\n";
    } else {
      text_ +=
          "if s0 > 0 {\n  " + name + " = " + element_wise(z) + "\n} else {\n  " + name + " = 0.5 * " + name + "\n}\n";
    }
    known_.push_back(z);
  }

  std::mt19937_64 random_;
  std::string text_, outputs_;
  std::vector<Known> known_;
  int number_ = 1;
};

}  // namespace kasen::testing
