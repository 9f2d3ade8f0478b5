// Two threads hand one std::atomic to each other, as core-to-core latency is commonly measured. Prints
// nanoseconds one way, the median of many short runs: ping_pong CPU CPU load|swap
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sched.h>
#include <thread>
#include <vector>

namespace {

constexpr std::uint64_t kRuns = 100, kHandOvers = 10000;

struct alignas(256) Line {
    std::atomic<std::uint64_t> count{0};
};

void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) {
        std::perror("sched_setaffinity");
        std::exit(1);
    }
}

void take(Line& line, std::uint64_t turn, bool swap) {
    if (swap) {
        std::uint64_t expected = turn;
        while (!line.count.compare_exchange_strong(expected, turn + 1)) expected = turn;
    } else {
        while (line.count.load(std::memory_order_acquire) != turn) {}
        line.count.store(turn + 1, std::memory_order_release);
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    const bool swap = std::strcmp(argv[3], "swap") == 0;
    static Line line;
    std::vector<double> times;
    const std::uint64_t all = kRuns * kHandOvers;
    std::thread other([&] {
        pin(std::atoi(argv[2]));
        for (std::uint64_t turn = 1; turn < 2 * all; turn += 2) take(line, turn, swap);
    });
    pin(std::atoi(argv[1]));
    std::uint64_t turn = 0;
    for (std::uint64_t run = 0; run < kRuns; ++run) {
        const auto start = std::chrono::steady_clock::now();
        for (std::uint64_t done = 0; done < kHandOvers; ++done, turn += 2) take(line, turn, swap);
        const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
        times.push_back(took.count() / (2.0 * kHandOvers));
    }
    other.join();
    std::nth_element(times.begin(), times.begin() + kRuns / 2, times.end());
    std::printf("%.3f\n", times[kRuns / 2]);
}
