// Ranks as threads of one process: what writes results together can be tested without MPI.
#pragma once

#include <barrier>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

#include "libcomm/data/results/ranks.h"

namespace kasen::cases {

class ThreadRanks {
 public:
  // Runs body(rank) on `count` threads; rethrows the failure of the lowest rank that has one.
  static void run(int count, const std::function<void(ResultRanks&)>& body) {
    ThreadRanks all(count);
    std::vector<std::exception_ptr> failures(static_cast<std::size_t>(count));
    {
      std::vector<std::jthread> threads;
      for (int r = 0; r < count; ++r) {
        threads.emplace_back([&, r] {
          One one(all, r);
          try {
            body(one);
          } catch (...) {
            failures[static_cast<std::size_t>(r)] = std::current_exception();
          }
        });
      }
    }
    for (const std::exception_ptr& failure : failures)
      if (failure) std::rethrow_exception(failure);
  }

 private:
  class One : public ResultRanks {
   public:
    One(ThreadRanks& all, int rank) : all_(all), rank_(rank) {}
    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int ranks() const override { return all_.count_; }
    [[nodiscard]] std::vector<std::string> exchange(std::vector<std::string> to) override {
      all_.sent_[static_cast<std::size_t>(rank_)] = std::move(to);
      all_.barrier_.arrive_and_wait();
      std::vector<std::string> from;
      for (const auto& theirs : all_.sent_) from.push_back(theirs.at(static_cast<std::size_t>(rank_)));
      all_.barrier_.arrive_and_wait();
      return from;
    }
    void together(const std::function<void()>& step) override {
      std::exception_ptr& mine = all_.failed_[static_cast<std::size_t>(rank_)];
      mine = nullptr;
      try {
        step();
      } catch (...) {
        mine = std::current_exception();
      }
      all_.barrier_.arrive_and_wait();
      std::exception_ptr first;
      for (const std::exception_ptr& failure : all_.failed_)
        if (!first) first = failure;
      all_.barrier_.arrive_and_wait();
      if (first) std::rethrow_exception(first);
    }

   private:
    ThreadRanks& all_;
    int rank_;
  };

  explicit ThreadRanks(int count)
      : count_(count),
        sent_(static_cast<std::size_t>(count)),
        failed_(static_cast<std::size_t>(count)),
        barrier_(count) {}

  int count_;
  std::vector<std::vector<std::string>> sent_;
  std::vector<std::exception_ptr> failed_;
  std::barrier<> barrier_;
};

}  // namespace kasen::cases
