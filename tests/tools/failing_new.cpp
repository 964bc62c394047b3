// Memory that is not there, for faultpoints_test.py: loaded before a program's own libraries, it has the N-th call of
// `new` fail (FAILING_NEW=N), or each from then on that asks for 4 KiB or more (FAILING_NEW=N+); FAILING_MALLOC does
// the same to malloc, calloc, realloc and their like, which C libraries and `new` itself call. Calls count from main()
// on. From then on (N+) the system gives no large pieces either (mmap), and processes that are forked get none: memory
// has ended. One call that fails is the program's own. FAILING_RANK=R: only in that rank of Open MPI. While MPI starts,
// none is counted and none fails: Open MPI 4 may then end by a signal (it frees what it did not get).
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

// glibc's own, behind those that are replaced here.
extern "C" void* __libc_malloc(std::size_t size);
extern "C" void* __libc_calloc(std::size_t count, std::size_t size);
extern "C" void* __libc_realloc(void* data, std::size_t size);
extern "C" void* __libc_memalign(std::size_t alignment, std::size_t size);

namespace {

struct Calls {
  long first = 0;  // 0: none fails
  bool from_then_on = false;
  std::atomic<long> made{0};

  void ask(const char* variable) {
    const char *const text = std::getenv(variable), *const wanted = std::getenv("FAILING_RANK"),
                      *const rank = std::getenv("OMPI_COMM_WORLD_RANK");
    if (text == nullptr || (wanted != nullptr && (rank == nullptr || std::strcmp(wanted, rank) != 0))) return;
    from_then_on = std::strchr(text, '+') != nullptr;
    first = std::atol(text);
  }
  bool fail(std::size_t size);
  [[nodiscard]] bool ended() const;
};

std::atomic<bool> mpi_starts{false};

constinit Calls of_new, of_malloc;
pid_t own_process = 0;

bool Calls::ended() const { return from_then_on && made >= first && !mpi_starts; }

bool Calls::fail(std::size_t size) {
  constexpr std::size_t large = 4096;
  if (first == 0 || mpi_starts) return false;
  const long call = ++made;
  return from_then_on ? call >= first && size >= large : call == first && getpid() == own_process;
}

bool malloc_fails(std::size_t size) {
  if (!of_malloc.fail(size)) return false;
  errno = ENOMEM;
  return true;
}

int (*program)(int, char**, char**) = nullptr;

int counted(int argc, char** argv, char** environment) {
  own_process = getpid();
  of_new.ask("FAILING_NEW");
  of_malloc.ask("FAILING_MALLOC");
  return program(argc, argv, environment);
}

}  // namespace

extern "C" {
int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(), void (*fini)(),
                      void (*rtld_fini)(), void* stack_end) {
  const auto start = reinterpret_cast<decltype(&__libc_start_main)>(dlsym(RTLD_NEXT, "__libc_start_main"));
  program = main;
  return start(counted, argc, argv, init, fini, rtld_fini, stack_end);
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const auto init = reinterpret_cast<int (*)(int*, char***, int, int*)>(dlsym(RTLD_NEXT, "MPI_Init_thread"));
  mpi_starts = true;
  const int status = init(argc, argv, required, provided);
  mpi_starts = false;
  return status;
}

void* mmap(void* address, std::size_t length, int protection, int flags, int file, off_t offset) {
  constexpr std::size_t large = 1 << 20;
  if ((flags & MAP_ANONYMOUS) != 0 && length >= large && (of_malloc.ended() || of_new.ended())) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return reinterpret_cast<void*>(syscall(SYS_mmap, address, length, protection, flags, file, offset));
}

void* malloc(std::size_t size) { return malloc_fails(size) ? nullptr : __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) {
  return malloc_fails(count * size) ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* data, std::size_t size) {
  return size != 0 && malloc_fails(size) ? nullptr : __libc_realloc(data, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  return malloc_fails(size) ? nullptr : __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }
int posix_memalign(void** to, std::size_t alignment, std::size_t size) {
  void* const data = memalign(alignment, size);
  if (data == nullptr) return ENOMEM;
  *to = data;
  return 0;
}
}

void* operator new(std::size_t size) {
  void* const data = of_new.fail(size) ? nullptr : std::malloc(size == 0 ? 1 : size);
  if (data == nullptr) throw std::bad_alloc();
  return data;
}
void operator delete(void* data) noexcept { std::free(data); }
void operator delete(void* data, std::size_t) noexcept { std::free(data); }
