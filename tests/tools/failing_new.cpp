// Memory that is not there, for faultpoints_test.py: loaded before a program's own libraries, it has the N-th call of
// `new` fail (FAILING_NEW=N), or each from then on that asks for 4 KiB or more (FAILING_NEW=N+).
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

struct Asked {
  long first = 0;
  bool from_then_on = false;
};

Asked asked() {
  const char* const text = std::getenv("FAILING_NEW");
  return text == nullptr ? Asked{} : Asked{std::atol(text), std::strchr(text, '+') != nullptr};
}

bool fails(std::size_t size) {
  constexpr std::size_t large = 4096;
  static const Asked wanted = asked();
  static std::atomic<long> calls{0};
  const long call = ++calls;
  return wanted.first > 0 && (wanted.from_then_on ? call >= wanted.first && size >= large : call == wanted.first);
}

}  // namespace

void* operator new(std::size_t size) {
  void* const data = fails(size) ? nullptr : std::malloc(size == 0 ? 1 : size);
  if (data == nullptr) throw std::bad_alloc();
  return data;
}
void operator delete(void* data) noexcept { std::free(data); }
void operator delete(void* data, std::size_t) noexcept { std::free(data); }
