// Threads that wait between pieces of work, so that a piece does not pay for starting them.
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace oncecheck {

class Crew {
 public:
  // With the calling thread there are this many.
  explicit Crew(int threads) : threads_(threads) {}
  ~Crew() {
    stop_ = true;
    ++round_;
    round_.notify_all();
    for (std::thread& t : others_) t.join();
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // Calls work(0) here, and work(1), work(2), ... on the others; returns when all have ended.
  void run(const std::function<void(int)>& work) {
    work_ = &work;
    busy_.store(threads_ - 1);
    if (others_.empty()) {
      for (int t = 1; t < threads_; ++t) others_.emplace_back([this, t, seen = round_.load()] { serve(t, seen); });
    }
    ++round_;
    round_.notify_all();
    work(0);
    for (int left = busy_.load(); left != 0; left = busy_.load()) busy_.wait(left);
  }

 private:
  void serve(int number, unsigned seen) {
    for (;;) {
      round_.wait(seen);
      seen = round_.load();
      if (stop_) return;
      (*work_)(number);
      if (--busy_ == 0) busy_.notify_all();
    }
  }

  int threads_;
  std::vector<std::thread> others_;
  const std::function<void(int)>* work_ = nullptr;
  std::atomic<unsigned> round_{0};
  std::atomic<int> busy_{0};
  std::atomic<bool> stop_{false};
};

}  // namespace oncecheck
