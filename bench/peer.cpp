#include "bench/peer.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace kasen::bench {
namespace {

[[noreturn]] void become(std::vector<char*>& words, int input, int output, const std::string& threads) {
  if (dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0) _exit(127);
  for (int file = STDERR_FILENO + 1; file < 256; ++file) close(file);  // the pipes of the peers before it
  for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS", "NUMEXPR_MAX_THREADS"}) {
    setenv(name, threads.c_str(), 1);
  }
  execvp(words[0], words.data());
  _exit(127);
}

}  // namespace

Peer::Peer(const std::vector<std::string>& command, int threads) : name_(command.at(command.size() > 1 ? 1 : 0)) {
  std::array<int, 2> down{}, up{};
  if (pipe(down.data()) != 0 || pipe(up.data()) != 0) throw std::runtime_error("cannot make a pipe");
  std::signal(SIGPIPE, SIG_IGN);  // a peer that has died is told of by its missing answer
  std::vector<std::string> copy = command;
  std::vector<char*> words;
  for (std::string& word : copy) words.push_back(word.data());
  words.push_back(nullptr);
  const std::string count = std::to_string(threads);
  process_ = fork();
  if (process_ < 0) throw std::runtime_error("cannot start a process");
  if (process_ == 0) become(words, down[0], up[1], count);
  close(down[0]);
  close(up[1]);
  to_ = fdopen(down[1], "w");
  from_ = fdopen(up[0], "r");
  const std::string first = line();
  const std::string sign = "missing: ";
  if (first.rfind(sign, 0) == 0) {
    missing_ = first.substr(sign.size());
  } else if (first != "ready") {
    throw std::runtime_error(name_ + " began with '" + first + "'");
  }
}

Peer::~Peer() {
  if (to_ != nullptr) std::fclose(to_);  // the end of its input ends it
  if (from_ != nullptr) std::fclose(from_);
  if (process_ > 0) waitpid(process_, nullptr, 0);
}

std::string Peer::line() {
  std::array<char, 4096> text{};
  if (std::fgets(text.data(), static_cast<int>(text.size()), from_) == nullptr) {
    throw std::runtime_error(name_ + " ended without an answer");
  }
  std::string read = text.data();
  while (!read.empty() && read.back() == '\n') read.pop_back();
  return read;
}

std::vector<double> Peer::measure() {
  std::fputs("go\n", to_);
  std::fflush(to_);
  std::istringstream answer(line());
  std::vector<double> numbers;
  for (double number = 0; answer >> number;) numbers.push_back(number);
  if (numbers.empty()) throw std::runtime_error(name_ + " gave no number");
  return numbers;
}

std::shared_ptr<Peer> python_peer(const std::string& script, std::vector<std::string> arguments, int threads) {
  std::vector<std::string> command{"/usr/bin/python3", KASEN_SOURCE_ROOT "/bench/" + script};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return std::make_shared<Peer>(command, threads);
}

}  // namespace kasen::bench
