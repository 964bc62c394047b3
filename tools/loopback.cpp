// mpirun loads this where all ranks run on its machine (mpirun_place.cpp). Open MPI 4.1 listens on every address of the
// machine, whatever its parameters say. Here "every address" is the loopback's, which no other machine reaches.
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

namespace {

using Bind = int (*)(int socket, const sockaddr* address, socklen_t length);

int system_bind(int socket, const void* address, socklen_t length) {
  static const auto real = reinterpret_cast<Bind>(dlsym(RTLD_NEXT, "bind"));
  return real(socket, static_cast<const sockaddr*>(address), length);
}

}  // namespace

extern "C" int bind(int socket, const sockaddr* address, socklen_t length) noexcept {
  if (address != nullptr && address->sa_family == AF_INET && length >= sizeof(sockaddr_in)) {
    sockaddr_in own;
    std::memcpy(&own, address, sizeof own);
    if (own.sin_addr.s_addr == htonl(INADDR_ANY)) {
      own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      return system_bind(socket, &own, sizeof own);
    }
  }
  if (address != nullptr && address->sa_family == AF_INET6 && length >= sizeof(sockaddr_in6)) {
    sockaddr_in6 own;
    std::memcpy(&own, address, sizeof own);
    if (std::memcmp(&own.sin6_addr, &in6addr_any, sizeof in6addr_any) == 0) {
      own.sin6_addr = in6addr_loopback;
      return system_bind(socket, &own, sizeof own);
    }
  }
  return system_bind(socket, address, length);
}
