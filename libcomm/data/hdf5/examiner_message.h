// A message that carries one open file, between the two sides of an Examiner.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>

namespace kasen {

struct FileMessage {
  FileMessage() {
    header.msg_iov = &data;
    header.msg_iovlen = 1;
    header.msg_control = space.data();
    header.msg_controllen = space.size();
  }
  FileMessage(const FileMessage&) = delete;
  FileMessage& operator=(const FileMessage&) = delete;

  char nothing = 0;  // a message has a byte at least
  iovec data{.iov_base = &nothing, .iov_len = 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> space{};
  msghdr header{};
};

}  // namespace kasen
