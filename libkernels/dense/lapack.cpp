#include "libkernels/dense/lapack.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "libcore/base/error.h"
#include "libkernels/dense/tall_qr.h"

namespace kasen {
namespace {

// LAPACK is loaded by the first plan that needs it: loading takes as long as a small run.
class Library {
 public:
  static const Library& get() {
    static const Library library;
    return library;
  }
  template <class Function>
  [[nodiscard]] Function* find(char prefix, const char* routine) const {
    void* const found = dlsym(handle_, fmt::format("{}{}_", prefix, routine).c_str());
    if (found == nullptr) missing(routine);
    return reinterpret_cast<Function*>(found);
  }

 private:
  Library() : handle_(dlopen("liblapack.so.3", RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) missing("liblapack.so.3");
  }
  [[noreturn]] static void missing(const char* what) {
    fail(ExitStatus::configuration, fmt::format("LAPACK is not here: there is no {}", what),
         "solve, inv, cholesky, qr, eigh and svd call it", "install it (Debian: liblapack3)");
  }

  void* handle_;
};

// Fortran's calling sequence: all by address, the lengths of texts at the end. Matrices lie by columns, so a row-major
// one is its transposed one.
template <class T>
struct Routines {
  using Size = const int*;
  using Lengths = std::size_t;
  void (*getrf)(Size m, Size n, T* a, Size lda, int* pivots, int* info);
  void (*getrs)(const char* trans, Size n, Size columns, const T* a, Size lda, Size pivots, T* b, Size ldb, int* info,
                Lengths);
  void (*getri)(Size n, T* a, Size lda, Size pivots, T* work, Size lwork, int* info);
  void (*gecon)(const char* norm, Size n, const T* a, Size lda, const T* anorm, T* rcond, T* work, int* iwork,
                int* info, Lengths);
  T (*lange)(const char* norm, Size m, Size n, const T* a, Size lda, T* work, Lengths);
  void (*potrf)(const char* uplo, Size n, T* a, Size lda, int* info, Lengths);
  void (*geqrf)(Size m, Size n, T* a, Size lda, T* tau, T* work, Size lwork, int* info);
  void (*orgqr)(Size m, Size n, Size k, T* a, Size lda, const T* tau, T* work, Size lwork, int* info);
  void (*syevd)(const char* jobz, const char* uplo, Size n, T* a, Size lda, T* w, T* work, Size lwork, int* iwork,
                Size liwork, int* info, Lengths, Lengths);
  void (*gesdd)(const char* jobz, Size m, Size n, T* a, Size lda, T* s, T* u, Size ldu, T* vt, Size ldvt, T* work,
                Size lwork, int* iwork, int* info, Lengths);

  static const Routines& get() {
    static const Routines routines;
    return routines;
  }

 private:
  Routines() {
    const char prefix = std::is_same_v<T, float> ? 's' : 'd';
    const auto set = [&](auto*& routine, const char* name) {
      routine = Library::get().template find<std::remove_reference_t<decltype(*routine)>>(prefix, name);
    };
    set(getrf, "getrf");
    set(getrs, "getrs");
    set(getri, "getri");
    set(gecon, "gecon");
    set(lange, "lange");
    set(potrf, "potrf");
    set(geqrf, "geqrf");
    set(orgqr, "orgqr");
    set(syevd, "syevd");
    set(gesdd, "gesdd");
  }
};

template <class T>
class Lapack {
 public:
  explicit Lapack(const LinearCall& call)
      : call_(call), rows_(fitting(call.rows)), cols_(fitting(call.cols)), columns_(fitting(call.columns)) {}

  void run() {
    switch (call_.op->code) {
      case OpCode::solve:
        return solve();
      case OpCode::inverse:
        return inverse();
      case OpCode::cholesky:
        return cholesky();
      case OpCode::qr:
        return qr();
      case OpCode::eigh:
        return eigh();
      case OpCode::svd:
        require_tall(call_);
        return svd();
      default:
        throw InternalError("no operator of linear algebra");
    }
  }

 private:
  using Numbers = std::vector<T>;

  // LAPACK's integers have 32 bits, and workspaces up to eight times the square of the smaller side.
  [[nodiscard]] int fitting(std::int64_t size) const {
    constexpr std::int64_t largest = 1 << 14;
    if (size < std::numeric_limits<int>::max() / 64 && std::min(call_.rows, call_.cols) <= largest) {
      return static_cast<int>(size);
    }
    fail(ExitStatus::limit,
         fmt::format("{} of a matrix of {} rows and {} columns", row(call_.op->code).name, call_.rows, call_.cols),
         fmt::format("the smaller side has at most {}", largest), "", call_.op->where);
  }

  static std::size_t count(std::int64_t a, std::int64_t b) { return static_cast<std::size_t>(a * b); }
  [[nodiscard]] Numbers operand(std::size_t i, std::size_t n) const {
    const T* from = reinterpret_cast<const T*>(call_.inputs[i].data);
    return Numbers(from, from + n);
  }
  [[nodiscard]] T* result(std::size_t i) const { return reinterpret_cast<T*>(call_.outputs[i].data); }

  // From row-major to by columns, or back with the sizes exchanged.
  static Numbers turned(const Numbers& from, std::int64_t rows, std::int64_t cols) {
    Numbers to(from.size());
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t k = 0; k < cols; ++k) {
        to[static_cast<std::size_t>(k * rows + i)] = from[static_cast<std::size_t>(i * cols + k)];
      }
    }
    return to;
  }

  // The factors of the transposed matrix. Throws if it is singular to the precision of its numbers.
  void factor(Numbers& a, std::vector<int>& pivots) const {
    int info = 0;
    const int n = rows_;
    std::vector<int> iwork(count(n, 1));
    Numbers work(count(n, 4));
    const T size = l_.lange("1", &n, &n, a.data(), &n, work.data(), 1);
    l_.getrf(&n, &n, a.data(), &n, pivots.data(), &info);
    if (info > 0) refuse_singular(*call_.op);
    T reciprocal = 1;
    l_.gecon("1", &n, a.data(), &n, &size, &reciprocal, work.data(), iwork.data(), &info, 1);
    if (reciprocal < std::numeric_limits<T>::epsilon()) refuse_singular(*call_.op);
  }

  void solve() {
    if (rows_ == 0) return;
    Numbers a = operand(0, count(rows_, rows_));
    std::vector<int> pivots(count(rows_, 1));
    factor(a, pivots);
    Numbers b = turned(operand(1, count(rows_, columns_)), rows_, columns_);
    int info = 0;
    l_.getrs("T", &rows_, &columns_, a.data(), &rows_, pivots.data(), b.data(), &rows_, &info, 1);
    b = turned(b, columns_, rows_);
    std::copy(b.begin(), b.end(), result(0));
  }

  void inverse() {
    if (rows_ == 0) return;
    Numbers a = operand(0, count(rows_, rows_));
    std::vector<int> pivots(count(rows_, 1));
    factor(a, pivots);
    int info = 0, length = 64 * rows_;
    Numbers work(static_cast<std::size_t>(length));
    l_.getri(&rows_, a.data(), &rows_, pivots.data(), work.data(), &length, &info);
    std::copy(a.begin(), a.end(), result(0));
  }

  // The lower triangle by rows is the upper one by columns.
  void cholesky() {
    if (rows_ == 0) return;
    Numbers a = operand(0, count(rows_, rows_));
    int info = 0;
    l_.potrf("U", &rows_, a.data(), &rows_, &info, 1);
    if (info > 0) refuse_indefinite(*call_.op, info);
    for (std::int64_t i = 0; i < rows_; ++i) std::fill_n(a.begin() + i * rows_ + i + 1, rows_ - i - 1, T(0));
    std::copy(a.begin(), a.end(), result(0));
  }

  void qr() {
    if (cols_ == 0) return;
    const std::span<const T> a(reinterpret_cast<const T*>(call_.inputs[0].data), count(rows_, cols_));
    if (is_very_tall(rows_, cols_) && tall_qr(a)) return;
    Numbers r(count(cols_, cols_));
    const Numbers q = factors(a, rows_, r, result(0) != nullptr);
    std::copy(r.begin(), r.end(), result(1));
    if (result(0) != nullptr) std::copy(q.begin(), q.end(), result(0));
  }

  bool tall_qr(std::span<const T> a) const {
    Numbers r(count(cols_, cols_));
    const Numbers head = factors(a.first(count(cols_, cols_)), cols_, r, true);
    if (!factor_tall_matrix({rows_, cols_, a.data(), head.data(), result(0), r.data()})) return false;
    std::copy(r.begin(), r.end(), result(1));
    return true;
  }

  // Q, if it is wanted, and R of so many rows. Of fewer rows than columns, the last columns of Q and rows of R are
  // zeros.
  Numbers factors(std::span<const T> matrix, int rows, Numbers& r, bool with_q) const {
    const int order = std::min(rows, cols_);
    if (order == 0) return {};
    Numbers a = turned({matrix.begin(), matrix.end()}, rows, cols_), tau(count(cols_, 1)), work(count(cols_, 64));
    int info = 0, length = 64 * cols_;
    l_.geqrf(&rows, &cols_, a.data(), &rows, tau.data(), work.data(), &length, &info);
    Numbers sign(count(cols_, 1), T(1)), q(with_q ? matrix.size() : 0);
    for (std::int64_t i = 0; i < order; ++i) {
      if (a[count(i, rows + 1)] < 0) sign[count(i, 1)] = -1;
      for (std::int64_t k = i; k < cols_; ++k) {
        r[count(i, cols_) + count(k, 1)] = sign[count(i, 1)] * a[static_cast<std::size_t>(k * rows + i)];
      }
    }
    if (!with_q) return q;
    l_.orgqr(&rows, &order, &order, a.data(), &rows, tau.data(), work.data(), &length, &info);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t k = 0; k < order; ++k) {
        q[count(i, cols_) + count(k, 1)] = sign[count(k, 1)] * a[static_cast<std::size_t>(k * rows + i)];
      }
    }
    return q;
  }

  void eigh() {
    if (rows_ == 0) return;
    Numbers a = operand(0, count(rows_, rows_));
    int info = 0, length = -1, integers = -1, least = 0;
    T wanted = 0;
    l_.syevd("V", "U", &rows_, a.data(), &rows_, result(0), &wanted, &length, &least, &integers, &info, 1, 1);
    length = static_cast<int>(wanted) + 1;
    integers = least;
    Numbers work(static_cast<std::size_t>(length));
    std::vector<int> iwork(static_cast<std::size_t>(integers));
    l_.syevd("V", "U", &rows_, a.data(), &rows_, result(0), work.data(), &length, iwork.data(), &integers, &info, 1, 1);
    if (info != 0) refuse_unconverged(*call_.op);
    const Numbers by_rows = turned(a, rows_, rows_);
    std::vector<double> vectors(by_rows.begin(), by_rows.end());
    for (std::int64_t k = 0; k < rows_; ++k) {
      if (is_turned(vectors, rows_, rows_, k)) turn_column(vectors, rows_, rows_, k);
    }
    store_reals(call_, vectors, call_.outputs[1]);
  }

  // X' = V S U' by columns: U' by columns is U by rows.
  void svd() {
    if (cols_ == 0) return;
    Numbers a = operand(0, count(rows_, cols_)), v(count(cols_, cols_)), left(count(rows_, cols_));
    std::vector<int> iwork(count(cols_, 8));
    int info = 0, length = -1;
    T wanted = 0;
    l_.gesdd("S", &cols_, &rows_, a.data(), &cols_, result(1), v.data(), &cols_, left.data(), &cols_, &wanted, &length,
             iwork.data(), &info, 1);
    length = static_cast<int>(wanted) + 1;
    Numbers work(static_cast<std::size_t>(length));
    l_.gesdd("S", &cols_, &rows_, a.data(), &cols_, result(1), v.data(), &cols_, left.data(), &cols_, work.data(),
             &length, iwork.data(), &info, 1);
    if (info != 0) refuse_unconverged(*call_.op);
    v = turned(v, cols_, cols_);
    std::vector<double> right(v.begin(), v.end()), u(left.begin(), left.end());
    for (std::int64_t k = 0; k < cols_; ++k) {
      if (!is_turned(right, cols_, cols_, k)) continue;
      turn_column(right, cols_, cols_, k);
      turn_column(u, rows_, cols_, k);
    }
    store_reals(call_, u, call_.outputs[0]);
    store_reals(call_, right, call_.outputs[2]);
  }

  const LinearCall& call_;
  const int rows_, cols_, columns_;
  const Routines<T>& l_ = Routines<T>::get();
};

}  // namespace

void load_lapack_for(const Module& module) {
  for_each_op(module, [](const Op& op, int, int) {
    if (row(op.code).group == OpGroup::linear) (void)Routines<double>::get();
  });
}

void run_lapack(const LinearCall& call) {
  for_each_matrix(call, [](const LinearCall& one) {
    if (one.scalar == Scalar::f32) {
      Lapack<float>(one).run();
    } else {
      Lapack<double>(one).run();
    }
  });
}

}  // namespace kasen
