// Whole processes and what they took of the processor.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "bench/tools/tools.h"

namespace kasen::bench {
namespace {

[[noreturn]] void become(std::vector<char*>& words, const std::string& output) {
  const int file = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || dup2(file, STDOUT_FILENO) < 0 || dup2(file, STDERR_FILENO) < 0) _exit(127);
  execv(words[0], words.data());
  _exit(127);
}

std::string text_of(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

ProcessTime process_time(const std::vector<std::string>& command, const std::string& output) {
  std::vector<std::string> copy = command;
  std::vector<char*> words;
  for (std::string& word : copy) words.push_back(word.data());
  words.push_back(nullptr);
  const auto began = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("cannot start a process");
  if (child == 0) become(words, output);
  int status = 0;
  rusage used{};
  if (wait4(child, &status, 0, &used) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    std::string words_text;
    for (const std::string& word : command) words_text += word + ' ';
    throw std::runtime_error(words_text + "failed: " + text_of(output));
  }
  const std::chrono::duration<double> clock = std::chrono::steady_clock::now() - began;
  return {seconds(used.ru_utime) + seconds(used.ru_stime), clock.count()};
}

}  // namespace kasen::bench
