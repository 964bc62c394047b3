// The verifier on plans of level 3: regions and buffers.
#include "tests/core/verify_cases.h"

namespace kasen {
namespace {

using testing::expect_fault;
using testing::expect_right;
using testing::sources3;

TEST(Regions, RightOnes) {
  expect_right(3,
               "buffer ~b0 : f64[N] {G.rows}\nbuffer ~b1 : f64[N] {G.cols}\nbuffer ~b2 : f64[N]\nbuffer ~b3 : f64[N] "
               "{G.cols}\n" +
                   sources3 +
                   "%c = scatter %x : f64[N] @cons{G.rows} ~b0\n"
                   "%p = region mxm (%c, %G) : f64[N] @pre(add){G.cols} ~b1 {\n"
                   "%m = mxv[mul, add] %c, %G : f64[N] @pre(add){G.cols}\nyield %m\n}\n"
                   "%g = gather %p : f64[N] @part ~b1\n"
                   "%a, %s = region iter_on_vec (%g, %x) : f64[N] @part ~b1, f64 @pre(add) {\n"
                   "%h = map[half] %g : f64[N] @part\n%d = map[sub] %h, %x : f64[N] @part\n"
                   "%e = reduce[add] %d : f64 @pre(add)\nyield %h, %e\n}\n"
                   "%z = region product_epilogue (%c, %G, %x) : f64[N] @part ~b2 {\n"
                   "%n = mxv[mul, add] %c, %G : f64[N] @pre(add){G.cols} ~b3\n%o = gather %n : f64[N] @part ~b3\n"
                   "%q = map[add] %o, %x : f64[N] @part\nyield %q\n}\n"
                   "%r = gather %s : f64 @part\noutput \"a\" %a\noutput \"r\" %r\noutput \"z\" %z");
}

void expect_region_fault(const std::string& region, const std::string& wanted) {
  expect_fault(3,
               "buffer ~b0 : f64[N] {G.rows}\nbuffer ~b1 : f64[N] {G.cols}\nbuffer ~b2 : f64[N] {G.cols}\n"
               "fn shift(x: f64, c: f64) -> f64 = x + c\n" +
                   sources3 +
                   "%u = input \"u\" : f64[M] @part\n%H = input \"H\" : f64[N,N] sparse @part\n"
                   "%c = scatter %x : f64[N] @cons{G.rows} ~b0\n" +
                   region,
               wanted);
}

// Over a mesh, a loop runs over what all workers store of its values: y is held, and x is not.
TEST(Regions, RunOverOneBox) {
  const auto region = [](const std::string& map) {
    return "kir 2 level 3\nmodule m {\nmesh a = 2, b = 3\ndim N\nfn add(x: f64, y: f64) -> f64 = x + y\n"
           "buffer ~b0 : f64[N/a]\nbuffer ~b1 : f64[N/a] {all}\n"
           "%x = input \"x\" : f64[N/a] @part\n%y = scatter %x : f64[N/a] @cons{all} ~b1\n"
           "%z = region iter_on_vec (%x, %y) : f64[N/a] @part ~b0 {\n%w = map[add] %x, %x : f64[N/a] @part\n" +
           map + "yield %v\n}\noutput \"z\" %z\n}\n##end\n";
  };
  TrialLawChecker laws;
  const auto fault = [&](const std::string& map) {
    const std::vector<Diagnostic> faults = verify_module(parse_module(region(map), "m.kir"), laws);
    return faults.empty() ? "" : faults[0].what;
  };
  const std::string wanted = "it runs over another box than its region";
  for (const char* map : {"%v = map[add] %w, %y : f64[N/a] @part\n",
                          "%u = map[add] %y, %y : f64[N/a] @cons{all}\n%v = map[add] %w, %w : f64[N/a] @part\n"}) {
    EXPECT_NE(fault(map).find(wanted), std::string::npos) << fault(map);
  }
}

TEST(Regions, WhatTheyMayHold) {
  expect_region_fault(
      "%a = region iter_on_vec (%u) : f64[N] @part ~b1 {\n%h = map[half] %x : f64[N] @part\nyield %h\n}",
      "in order of first use it reads (%x)");
  expect_region_fault(
      "%a = region iter_on_vec (%x, %u) : f64[N] @part ~b1 {\n%h = map[half] %x : f64[N] @part\n"
      "%e = reduce[add] %u : f64 @pre(add)\nyield %h\n}",
      "it runs over another dimension than its region");
  expect_region_fault(
      "%a = region iter_on_vec (%c, %G) : f64[N] @pre(add){G.cols} ~b1 {\n"
      "%m = mxv[mul, add] %c, %G : f64[N] @pre(add){G.cols}\nyield %m\n}",
      "it may not stand in a region iter_on_vec");
  expect_region_fault(
      "%a = region iter_on_vec (%x) : f64[N] @part ~b1 {\n%h = map[half] %x : f64[N] @part\nyield %x\n}",
      "%x is handed on, but not made inside");
  expect_region_fault(
      "%a, %b = region mxm (%c, %G, %H) : f64[N] @pre(add){G.cols} ~b1, f64[N] @pre(add){H.cols} ~b2 {\n"
      "%m = mxv[mul, add] %c, %G : f64[N] @pre(add){G.cols}\n"
      "%n = mxv[mul, add] %c, %H : f64[N] @pre(add){H.cols}\nyield %m, %n\n}",
      "H.rows");
  expect_region_fault(
      "%a = region mxm (%c, %G) : f64[N] @pre(add){G.cols} ~b1 {\n"
      "%m = mxv[mul, add] %c, %G : f64[N] @pre(add){G.cols}\n"
      "%n = mxv[mul, add] %c, %G : f64[N] @pre(add){G.cols}\nyield %m\n}",
      "%n is not handed on");
  expect_region_fault(
      "%e = scatter %x : f64[N] @cons{G.cols} ~b1\n"
      "%a, %b = region iter_on_vec (%c, %e) : f64[N] @cons{G.rows} ~b0, f64[N] @cons{G.cols} ~b2 {\n"
      "%h = map[half] %c : f64[N] @cons{G.rows}\n%i = map[half] %e : f64[N] @cons{G.cols}\nyield %h, %i\n}",
      "it computes on other slaves than its region");
  expect_region_fault(
      "%a = region product_epilogue (%x) : f64[N] @part ~b1 {\n%h = map[half] %x : f64[N] @part\nyield %h\n}",
      "it does not begin with one product and its gather");
  expect_region_fault("%a = region iter_on_vec (%x) : f64[N] @part ~b1 {\nyield %x\n}", "a region without operators");
}

// Folds and products of one sparse matrix in one direction.
TEST(Regions, FoldsBesideProducts) {
  const std::string head =
      "buffer ~b0 : f64[N] {G.rows}\nbuffer ~b1 : f64[N] {G.cols}\nbuffer ~b2 : f64[N] {G.cols}\n"
      "fn f(g: f64, x: f64) -> f64 = g * x\n" +
      sources3 + "%c = scatter %x : f64[N] @cons{G.rows} ~b0\n";
  const std::string types = " : f64[N] @pre(add){G.cols} ~b1, f64[N] @pre(add){G.cols} ~b2 {\n";
  const std::string fold = "%m = fold_cols[f, add] %G, %c rows 1 : f64[N] @pre(add){G.cols}\n";
  const std::string product = "%n = mxv[mul, add] %c, %G : f64[N] @pre(add){G.cols}\n";
  expect_right(3, head + "%p, %q = region mxm (%G, %c)" + types + fold + product + "yield %m, %n\n}");
  expect_right(3, head + "%p, %q = region mxm (%c, %G)" + types + product + fold + "yield %m, %n\n}");
  const auto refused = [&](const std::string& region, const std::string& wanted) {
    SCOPED_TRACE(region);
    expect_fault(3, head + "%d = scatter %x : f64[N] @cons{G.cols}\n" + region, wanted);
  };
  refused("%p = region mxm (%G, %c) : f64[N] @pre(add){G.cols} ~b1 {\n" + fold + product + "yield %m\n}",
          "%n is not handed on");
  refused("%p, %q = region mxm (%G, %c) : f64[N] @pre(add){G.cols} ~b1, f64[N] @cons{G.rows} {\n" + fold +
              "%n = map[half] %c : f64[N] @cons{G.rows}\nyield %m, %n\n}",
          "it may not stand in a region mxm");
  refused("%p, %q = region mxm (%G, %c, %d) : f64[N] @pre(add){G.cols} ~b1, f64[N] @pre(add){G.rows} {\n" + fold +
              "%n = mxvt[mul, add] %d, %G : f64[N] @pre(add){G.rows}\nyield %m, %n\n}",
          "fold_cols and mxvt in one region");
}

// Products with one dense matrix, in both directions and with vectors that every worker holds; and what may not be.
void expect_dense_faults(const std::string& products, const std::string& wanted) {
  const std::string text =
      "buffer ~b0 : f64[N]\nbuffer ~b1 : f64[M] {all}\nbuffer ~b2 : f64[M] {all}\n"
      "%A = input \"A\" : f64[N,M] @part\n%F = input \"F\" : f64[K,N] @part\n%x = input \"x\" : f64[N] @part\n"
      "%v = input \"v\" : f64[M] @part\n%w = scatter %v : f64[M] @cons{all} ~b1\n" +
      products;
  if (wanted.empty()) {
    expect_right(3, text);
  } else {
    expect_fault(3, text, wanted);
  }
}

TEST(Regions, ProductsOfADenseMatrixInBothDirections) {
  const std::string head =
      "%y, %z = region mxm (%w, %A, %x) : f64[N] @part ~b0, f64[M] @pre(add){all} ~b2 {\n"
      "%m = mxvt[mul, add] %w, %A : f64[N] @part\n";
  expect_dense_faults(head + "%n = mxv[mul, add] %x, %A : f64[M] @pre(add){all}\nyield %m, %n\n}", "");
  expect_dense_faults(head + "%n = mxv[add, add] %x, %A : f64[M] @pre(add){all}\nyield %m, %n\n}",
                      "it may not share a pass over its matrix");
  expect_dense_faults(
      "%y, %z = region mxm (%w, %A) : f64[N] @part ~b0, f64[M] @pre(add){all} ~b2 {\n"
      "%m = mxvt[mul, add] %w, %A : f64[N] @part\n%n = mxv[mul, add] %m, %A : f64[M] @pre(add){all}\nyield %m, %n\n}",
      "%m is a product of this region");
  expect_dense_faults(
      "%z = region product_epilogue (%x, %A, %v) : f64[M] @part ~b1 {\n"
      "%m = mxv[mul, add] %x, %A : f64[M] @pre(add){all} ~b2\n%g = gather %m : f64[M] @part ~b2\n"
      "%q = map[add] %g, %v : f64[M] @part\nyield %q\n}",
      "may not stand in a region product_epilogue");
}

// Several columns: the operand's dimensions behind the matrix's are the result's. They are local, unless a dense matrix
// is cut along its rows. Regions take vectors.
TEST(Regions, ProductsOfSeveralColumns) {
  const std::string head =
      "%A = input \"A\" : f64[N,M] @part\n%x = input \"x\" : f64[N,K] @part\n%y = input \"y\" : f64[N,M] @part\n";
  const std::string room = "buffer ~b0 : f64[M,K] {all}\n";
  expect_right(3, room + head + "%p = mxv[mul, add] %x, %A : f64[M,K] @pre(add){all} ~b0\n");
  expect_fault(2, head + "%p = mxv[mul, add] %x, %A : f64[M] @pre(add){all}\n", "%p is over [M]");
  expect_right(2, head + "%p = mxv[mul, add] %y, %A : f64[M,M] @pre(add){all}\n");
  expect_fault(2,
               "%G = input \"G\" : f64[N,M] sparse @part\n%c = input \"c\" : f64[N,M] @part\n"
               "%s = scatter %c : f64[N,M] @cons{G.rows}\n%p = mxv[mul, add] %s, %G : f64[M,M] @pre(add){G.cols}\n",
               "columns over 'M', which is cut");
  expect_fault(3,
               room + head +
                   "%p = region mxm (%x, %A) : f64[M,K] @pre(add){all} ~b0 {\n"
                   "%m = mxv[mul, add] %x, %A : f64[M,K] @pre(add){all}\nyield %m\n}\n",
               "it may not share a pass over its matrix");
}

// What is reduced over a row's columns is known with the row in a row_chain alone.
TEST(Regions, ReductionsOfARow) {
  const std::string head = "%x = input \"x\" : f64[N,K] @part\n%y = input \"y\" : f64[N] @part\n";
  const std::string inside =
      "%r = reduce[add; over K] %x : f64[N] @part\n%q = map[add] %r, %y : f64[N] @part\nyield %q\n}\n";
  expect_fault(3, "buffer ~b0 : f64[N]\n" + head + "%z = region iter_on_vec (%x, %y) : f64[N] @part ~b0 {\n" + inside,
               "%r is a reduction of this region");
}

// A row_chain whose inside is `inside`, of A, w over its columns and x2 over its rows.
void expect_chain(const std::string& inside, const std::string& wanted,
                  const std::string& head = "%z = region row_chain (%w, %A, %x2) : f64[M] @pre(add){all} ~b2") {
  const std::string text =
      "buffer ~b0 : f64[N]\nbuffer ~b1 : f64[M] {all}\nbuffer ~b2 : f64[M] {all}\nbuffer ~b3 : f64[N] {all}\n"
      "buffer ~b4 : f64[N]\nbuffer ~b5 : f64[N,M]\n"
      "%A = input \"A\" : f64[N,M] @part\n%B = input \"B\" : f64[N,M] @part\n%G = input \"G\" : f64[N,M] sparse @part\n"
      "%x = input \"x\" : f64[N] @part\n%v = input \"v\" : f64[M] @part\n%w = scatter %v : f64[M] @cons{all} ~b1\n"
      "%x2 = map[half] %x : f64[N] @part ~b0\n%c = scatter %x : f64[N] @cons{all} ~b3\n" +
      head + " {\n" + inside + "}";
  if (wanted.empty()) {
    expect_right(3, text);
  } else {
    expect_fault(3, text, wanted);
  }
}

TEST(Regions, WhatARowChainMayHold) {
  const std::string head = "%m = mxvt[mul, add] %w, %A : f64[N] @part\n";
  const std::string between = head + "%e = map[sub] %m, %x2 : f64[N] @part\n";
  const std::string back = "%n = mxv[mul, add] %e, %A : f64[M] @pre(add){all}\n";
  const std::string two = "%z, %y = region row_chain (%w, %A, %x2) : f64[M] @pre(add){all} ~b2, f64[N] @part ";
  expect_chain(between + back + "yield %n\n", "");
  expect_chain(between + "%l = reduce[add] %e : f64 @pre(add)\n" + back + "yield %n, %l\n", "",
               "%z, %s = region row_chain (%w, %A, %x2) : f64[M] @pre(add){all} ~b2, f64 @pre(add)");
  expect_chain("%n = mxv[mul, add] %x2, %A : f64[M] @pre(add){all}\n" + head + "yield %n, %m\n",
               "it does not begin with mxvt",
               "%z, %y = region row_chain (%x2, %A, %w) : f64[M] @pre(add){all} ~b2, f64[N] @part ~b4");
  expect_chain(between + "%n = mxv[add, add] %e, %A : f64[M] @pre(add){all}\nyield %n\n",
               "it may not stand in a row_chain");
  expect_chain(between + "%n = mxv[mul, add] %e, %B : f64[M] @pre(add){all}\nyield %n\n",
               "another matrix than that of its region",
               "%z = region row_chain (%w, %A, %x2, %B) : f64[M] @pre(add){all} ~b2");
  expect_chain(between + back + "yield %e\n", "%n is not handed on",
               "%y = region row_chain (%w, %A, %x2) : f64[N] @part ~b4");
  expect_chain(between + back + "%g = gather %n : f64[M] @part\nyield %n\n", "it may not stand in a region row_chain");
  expect_chain(between + back + "%h = map[half] %w : f64[M] @part\nyield %n, %h\n",
               "it runs over another dimension than its region",
               "%z, %y = region row_chain (%w, %A, %x2) : f64[M] @pre(add){all} ~b2, f64[M] @part ~b1");
  expect_chain(head + "%e = map[sub] %m, %c : f64[N] @part\n" + back + "yield %n\n", "",
               "%z = region row_chain (%w, %A, %c) : f64[M] @pre(add){all} ~b2");
  expect_chain(head + "%e = map[half] %c : f64[N] @cons{all}\n" + back + "yield %n\n", "it computes on slaves as well",
               "%z = region row_chain (%w, %A, %c) : f64[M] @pre(add){all} ~b2");
  expect_chain("%e = map[half] %x2 : f64[N] @part\nyield %e\n", "a row_chain without a product",
               "%y = region row_chain (%x2) : f64[N] @part ~b4");
  expect_chain("%e = map[half] %x2 : f64[N] @part\n%n = mxv[mul, add] %e, %A : f64[M] @pre(add){all}\nyield %n\n", "",
               "%z = region row_chain (%x2, %A) : f64[M] @pre(add){all} ~b2");
  const std::string alone = head + "%e = map[sub] %m, %m : f64[N] @part\n";
  expect_chain(
      alone + "%h = map[half] %B : f64[N,M] @part\n" + back + "%l = reduce[add] %h : f64 @pre(add)\nyield %n, %l\n",
      "it may not follow the rows of a row_chain",
      "%z, %s = region row_chain (%w, %A, %B) : f64[M] @pre(add){all} ~b2, f64 @pre(add)");
  expect_chain(alone + "%h = map[half] %A : f64[N,M] @part\n" + back + "yield %n, %h\n",
               "it may not follow the rows of a row_chain",
               "%z, %y = region row_chain (%w, %A) : f64[M] @pre(add){all} ~b2, f64[N,M] @part ~b5");
  expect_chain(alone + back + "%l = reduce[add] %A : f64 @pre(add)\nyield %n, %l\n", "it reads its region's matrix",
               "%z, %s = region row_chain (%w, %A) : f64[M] @pre(add){all} ~b2, f64 @pre(add)");
  // The matrix is in memory when the region begins, and stays there.
  const std::string made = "%D = map[half] %B : f64[N,M] @part\n",
                    meets = "%n = mxv[mul, add] %x2, %D : f64[M] @pre(add){all}\n";
  expect_chain(made + meets + "yield %n\n", "it makes its region's matrix",
               "%z = region row_chain (%B, %x2) : f64[M] @pre(add){all} ~b2");
  // A row is read before it is written where the vector work's operand was; a product needs its vector to the end.
  expect_chain(between + back + "yield %n, %e\n", "", two + "~b0");
  expect_chain(between + "%n = mxv[mul, add] %x2, %A : f64[M] @pre(add){all}\nyield %n, %e\n", "which holds %x2",
               two + "~b0");
}

// A product_epilogue whose inside is `inside`; its rows wait in ~b1.
void expect_epilogue_fault(const std::string& inside, const std::string& wanted,
                           const std::string& operands = "%c, %G, %x", const std::string& result = "f64[N] @part ~b3") {
  expect_fault(3,
               "buffer ~b0 : f64[N] {G.rows}\nbuffer ~b1 : f64[N] {G.cols}\nbuffer ~b2 : f64[N] {G.cols}\n"
               "buffer ~b3 : f64[N] {G.cols}{G.rows}\nbuffer ~b4 : f64[N,K]\n" +
                   sources3 + "%k = input \"k\" : f64[N,K] @part\n%c = scatter %x : f64[N] @cons{G.rows} ~b0\n" +
                   "%z = region product_epilogue (" + operands + ") : " + result + " {\n" + inside +
                   "}\noutput \"x\" %x",
               wanted);
}

TEST(Regions, WhatAnEpilogueMayHold) {
  const std::string head = "%n = mxv[mul, add] %c, %G : f64[N] @pre(add){G.cols} ~b1\n";
  const std::string gather = "%o = gather %n : f64[N] @part ~b1\n";
  expect_epilogue_fault(head + "%o = gather %n : f64[N] @part ~b2\n%q = map[add] %o, %x : f64[N] @part\nyield %q\n",
                        "it does not work in place");
  expect_epilogue_fault(
      "%n = mxv[mul, add] %c, %G : f64[N] @pre(add){G.cols}\n%o = gather %n : f64[N] @part\n"
      "%q = map[add] %o, %x : f64[N] @part\nyield %q\n",
      "has no buffer");
  expect_epilogue_fault(head + gather + "%q = map[add] %o, %x : f64[N] @part\nyield %n\n",
                        "%n is used before it is gathered", "%c, %G, %x", "f64[N] @pre(add){G.cols} ~b2");
  expect_epilogue_fault(head + gather + "%q = map[half] %c : f64[N] @cons{G.rows}\nyield %q\n",
                        "it computes on slaves as well", "%c, %G", "f64[N] @cons{G.rows} ~b3");
  expect_epilogue_fault(head + gather + "%q = map[add] %k, %o : f64[N,K] @part\nyield %q\n", "is no vector",
                        "%c, %G, %k", "f64[N,K] @part ~b4");
  // Rows wait where nothing else is written or read.
  expect_epilogue_fault(head + gather + "%q = map[add] %o, %x : f64[N] @part\nyield %q\n", "is written to ~b1",
                        "%c, %G, %x", "f64[N] @part ~b1");
  expect_epilogue_fault(
      "%n = mxv[mul, add] %c, %G : f64[N] @pre(add){G.cols} ~b0\n%o = gather %n : f64[N] @part ~b0\n"
      "%q = map[add] %o, %x : f64[N] @part\nyield %q\n",
      "~b0");
}

void expect_buffer_fault(const std::string& body, const std::string& wanted) {
  expect_fault(
      3,
      "buffer ~b0 : f64[N] {G.rows}\nbuffer ~b1 : f64[N]\nbuffer ~b2 : f32[N]\nbuffer ~b3 : f64[N]\n" + sources3 + body,
      wanted);
}

TEST(Buffers, Room) {
  expect_buffer_fault("%y = map[half] %x : f64[N] @part\noutput \"y\" %y", "%y has no buffer");
  expect_buffer_fault("%y = map[half] %x : f64[N] @part ~b2\noutput \"y\" %y", "%y does not fit into ~b2");
  expect_buffer_fault("%c = scatter %x : f64[N] @cons{G.rows} ~b1\noutput \"c\" %c",
                      "~b1 has no room for the slaves of %c");
  expect_buffer_fault(
      "%l = list %x : list<2> f64[N] @part ~b3\n%k = literal 0 : i64 @cons\n%a = get %l, %k : f64[N] @part\noutput "
      "\"a\" %a",
      "which is not declared");
  expect_buffer_fault("%s = reduce[add] %x : f64 @pre(add) ~b1\n%g = gather %s : f64 @part\noutput \"g\" %g",
                      "%s has a buffer");
}

TEST(Buffers, NoLiveValueIsOverwritten) {
  const std::string two = "%y = map[half] %x : f64[N] @part ~b1\n%z = map[half] %x : f64[N] @part ~b1\n";
  expect_buffer_fault(two + "output \"y\" %y\noutput \"z\" %z",
                      "%z is written to ~b1, which holds %y; %y is still needed");
  // In place where the operand dies, but only element by element.
  expect_right(3, "buffer ~b0 : f64[N]\n" + sources3 +
                      "%y = map[half] %x : f64[N] @part ~b0\n%z = map[half] %y : f64[N] @part ~b0\n"
                      "output \"z\" %z");
  expect_fault(
      3,
      "buffer ~b0 : f64[N] {G.rows}{G.cols}\n" + sources3 +
          "%c = scatter %x : f64[N] @cons{G.rows} ~b0\n%p = mxv[mul, add] %c, %G : f64[N] @pre(add){G.cols} ~b0\n"
          "%g = gather %p : f64[N] @part ~b0\noutput \"g\" %g",
      "%p is written to ~b0, which holds %c");
}

// A row's element stands where another one, which a view shows or a product meets, is still to be read.
TEST(Buffers, WhatIsReadAtOtherPlacesIsNotOverwritten) {
  const std::string head =
      "buffer ~b0 : f64[N,K]\nbuffer ~b1 : f64[N,K]\n%A = input \"A\" : f64[N,K] @part\n"
      "%B = input \"B\" : f64[N,K] @part\n%w = input \"w\" : f64[K] @cons\n%one = literal 1 : i64 @cons\n"
      "%D = map[half] %A : f64[N,K] @part ~b0\n";
  const auto slice = [&](const std::string& buffer) {
    return head + "%z = region iter_on_vec (%D, %one) : f64[N,K] @part " + buffer +
           " {\n%c = at[K] %D, %one : f64[N] @part\n%e = map[sub] %D, %c : f64[N,K] @part\nyield %e\n}\n";
  };
  expect_right(3, slice("~b1"));
  expect_fault(3, slice("~b0"), "%z is written to ~b0, which holds %D");
  const auto chain = [&](const std::string& inside, const std::string& operands) {
    return head + "%z = region row_chain (" + operands + ") : f64[N,K] @part ~b0 {\n" + inside + "yield %e\n}\n";
  };
  // A row_chain has read all of a row that its views show.
  expect_right(3, chain("%m = mxvt[mul, add] %w, %A : f64[N] @part\n%c = at[K] %D, %one : f64[N] @part\n"
                        "%d = map[sub] %D, %c : f64[N,K] @part\n%e = map[sub] %d, %m : f64[N,K] @part\n",
                        "%w, %A, %D, %one"));
  expect_fault(
      3, chain("%m = mxvt[mul, add] %w, %D : f64[N] @part\n%e = map[sub] %B, %m : f64[N,K] @part\n", "%w, %D, %B"),
      "%z is written to ~b0, which holds %D");
}

TEST(Buffers, Loops) {
  const std::string decl = "buffer ~b0 : f64[N]\nbuffer ~b1 : f64[N]\nbuffer ~b2 : f64[N]\n";
  const std::string head = sources3 + "%k = literal 3 : i64 @cons\n%y = map[half] %x : f64[N] @part ~b0\n";
  const auto loop = [](const std::string& arg, const std::string& made, const std::string& body,
                       const std::string& result) {
    return "%r = for %i : i64 @cons in %k, %k (%a : f64[N] @part " + arg + " = %y) : f64[N] @part " + result + " {\n" +
           "%b = map[half] %a : f64[N] @part " + made + "\n" + body + "}\n";
  };
  expect_right(3, decl + head + loop("~b0", "~b1", "yield %b\n", "~b0") + "output \"r\" %r");
  expect_right(3, decl + head + loop("~b1", "~b1", "yield %b\n", "~b0") + "output \"r\" %r");
  // %y is needed behind the loop, or inside it: the loop must not write where it is.
  expect_fault(3, decl + head + loop("~b0", "~b1", "yield %b\n", "~b1") + "output \"r\" %r\noutput \"y\" %y",
               "%a is written to ~b0");
  expect_fault(3, decl + head + loop("~b1", "~b0", "yield %b\n", "~b2") + "output \"r\" %r\noutput \"y\" %y",
               "%b is written to ~b0");
  expect_fault(3,
               decl + head + loop("~b1", "~b2", "%c = map[add] %b, %y : f64[N] @part ~b0\nyield %c\n", "~b1") +
                   "output \"r\" %r",
               "%c is written to ~b0");
  expect_fault(3,
               decl + head + loop("~b1", "~b1", "%c = map[add] %b, %a : f64[N] @part ~b2\nyield %c\n", "~b1") +
                   "output \"r\" %r",
               "%b is written to ~b1, which holds %a");
}

}  // namespace
}  // namespace kasen
