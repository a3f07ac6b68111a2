#include "windtunnel/driver/crew.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>

#include "windtunnel/base/errors.hpp"
#include "windtunnel/base/pack.hpp"
#include "windtunnel/driver/hand_out.hpp"
#include "windtunnel/driver/openmp.hpp"
#include "windtunnel/parallel/first_error.hpp"

namespace windtunnel::driver {
namespace {

enum Tag : int { round_tag = 1, block_tag, home_tag, result_tag, failure_tag, farewell_tag };
constexpr auto farewell_patience = std::chrono::seconds{10};

std::string pack_round(const study::Round& round, std::string_view context) {
    base::Packer packer;
    packer.put(round.phase);
    packer.put(round.number);
    packer.put(round.first_item);
    packer.put(round.num_items);
    packer.put(round.items_per_block);
    packer.put(round.items_per_slice);
    packer.put(context);
    return std::move(packer).take();
}

study::Round unpack_round(std::string_view bytes, std::string& context) {
    base::Unpacker unpacker{bytes};
    study::Round round;
    round.phase = unpacker.get<std::uint32_t>();
    round.number = unpacker.get<std::uint32_t>();
    round.first_item = unpacker.get<std::uint64_t>();
    round.num_items = unpacker.get<std::uint64_t>();
    round.items_per_block = unpacker.get<std::uint64_t>();
    round.items_per_slice = unpacker.get<std::uint64_t>();
    context = unpacker.get_text();
    return round;
}

std::string pack_blocks(const std::vector<std::uint64_t>& blocks) {
    base::Packer packer;
    for (const std::uint64_t block : blocks) packer.put(block);
    return std::move(packer).take();
}

std::vector<std::uint64_t> unpack_blocks(std::string_view bytes) {
    base::Unpacker unpacker{bytes};
    std::vector<std::uint64_t> blocks(bytes.size() / sizeof(std::uint64_t));
    for (std::uint64_t& block : blocks) block = unpacker.get<std::uint64_t>();
    return blocks;
}

using Clock = std::chrono::steady_clock;

Seconds since(Clock::time_point start) {
    return Seconds{std::chrono::duration<double>{Clock::now() - start}.count()};
}

/// What comes back of a bundle: the time that it took, then each block with its payload.
class BundleOfResults {
public:
    void put(std::uint64_t block, std::string_view payload) {
        packer_.put(block);
        packer_.put(payload);
        ++blocks_;
    }
    [[nodiscard]] std::string take() && {
        base::Packer head;
        head.put(since(start_).value());
        head.put(blocks_);
        return std::move(head).take() + std::move(packer_).take();
    }

private:
    Clock::time_point start_ = Clock::now();
    std::uint64_t blocks_ = 0;
    base::Packer packer_;
};

}  // namespace

/// Rank 0's own share, on a thread beside the one that talks to MPI.
class Crew::Helper {
public:
    Helper(const AnyStudy& study, const base::ForBlocks& for_blocks)
        : study_{study}, for_blocks_{for_blocks}, thread_{[this] { loop(); }} {}
    Helper(const Helper&) = delete;
    Helper& operator=(const Helper&) = delete;
    ~Helper() {
        {
            const std::lock_guard guard{mutex_};
            over_ = true;
        }
        wake_.notify_one();
        thread_.join();
    }
    /// Only while no block is in hand.
    void start_round(const study::Round& round, const std::string& context) {
        const std::lock_guard guard{mutex_};
        round_ = round;
        context_ = context;
    }
    void give(std::uint64_t block) {
        {
            const std::lock_guard guard{mutex_};
            blocks_.push_back(block);
        }
        wake_.notify_one();
    }
    struct Result {
        std::uint64_t block = 0;
        std::string payload;
        Seconds worked;
        std::exception_ptr error;
    };
    [[nodiscard]] std::optional<Result> take() {
        const std::lock_guard guard{mutex_};
        if (results_.empty()) return std::nullopt;
        Result result = std::move(results_.front());
        results_.pop_front();
        return result;
    }

private:
    void loop() {
        std::unique_lock guard{mutex_};
        while (true) {
            wake_.wait(guard, [this] { return over_ || !blocks_.empty(); });
            if (over_) return;
            Result result{blocks_.front(), {}, Seconds{}, nullptr};
            blocks_.pop_front();
            guard.unlock();
            const auto start = Clock::now();
            try {
                result.payload = study_.evaluate(round_, result.block, context_, for_blocks_);
            } catch (...) {
                result.error = std::current_exception();
            }
            result.worked = since(start);
            guard.lock();
            results_.push_back(std::move(result));
        }
    }
    const AnyStudy& study_;
    const base::ForBlocks& for_blocks_;
    study::Round round_;
    std::string context_;
    std::deque<std::uint64_t> blocks_;
    std::deque<Result> results_;
    bool over_ = false;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::thread thread_;
};

Crew::Crew(const AnyStudy& study, parallel::Communicator& communicator, int threads)
    : study_{study}, communicator_{communicator}, for_blocks_{openmp_for_blocks(threads)} {
    if (communicator_.size() > 1) helper_ = std::make_unique<Helper>(study_, for_blocks_);
}

Crew::~Crew() = default;

void Crew::run(const study::Round& round, const std::string& context, const BlockFeed& feed) {
    if (helper_)
        run_many(round, context, feed);
    else
        run_alone(round, context, feed);
}

void Crew::run_alone(const study::Round& round, const std::string& context, const BlockFeed& feed) {
    while (const auto block = feed.next()) feed.done(*block, study_.evaluate(round, *block, context, for_blocks_));
}

void Crew::run_many(const study::Round& round, const std::string& context, const BlockFeed& feed) {
    HandOut hand_out{communicator_.size()};
    const std::string start = pack_round(round, context);
    helper_->start_round(round, context);
    for (int rank = 1; rank < communicator_.size(); ++rank) communicator_.send(rank, round_tag, start);

    const auto serve_all = [&] {
        while (const auto gift = hand_out.next(feed.remaining())) {
            std::vector<std::uint64_t> blocks;
            while (blocks.size() < gift->blocks) {
                const auto block = feed.next();
                if (!block) break;
                blocks.push_back(*block);
            }
            hand_out.given(gift->rank, blocks.size());
            if (blocks.empty()) return;
            if (gift->rank == 0)
                for (const std::uint64_t block : blocks) helper_->give(block);
            else
                communicator_.send(gift->rank, block_tag, pack_blocks(blocks));
        }
    };
    serve_all();
    while (hand_out.in_hand() > 0) {
        bool moved = false;
        if (auto result = helper_->take()) {
            if (result->error) std::rethrow_exception(result->error);
            hand_out.done(0, 1, result->worked);
            feed.done(result->block, std::move(result->payload));
            moved = true;
        }
        if (auto message = communicator_.try_receive()) {
            if (message->tag == failure_tag) parallel::throw_packed_error(message->bytes);
            base::Unpacker unpacker{message->bytes};
            const Seconds worked{unpacker.get<double>()};
            const auto blocks = unpacker.get<std::uint64_t>();
            hand_out.done(message->source, blocks, worked);
            for (std::uint64_t i = 0; i < blocks; ++i) {
                const auto block = unpacker.get<std::uint64_t>();
                feed.done(block, unpacker.get_text());
            }
            moved = true;
        }
        if (moved)
            serve_all();
        else
            std::this_thread::sleep_for(parallel::poll_pause);
    }
}

void Crew::dismiss(RunStatus status) {
    base::Packer packer;
    packer.put(std::uint8_t{0});
    packer.put(status);
    send_home(std::move(packer).take(), [] {});
}

void Crew::dismiss(const std::exception_ptr& error) {
    base::Packer packer;
    packer.put(std::uint8_t{1});
    const auto limit = std::chrono::steady_clock::now() + farewell_patience;
    send_home(std::move(packer).take() + parallel::pack_error(error), [&] {
        if (std::chrono::steady_clock::now() <= limit) return;
        int code = 1;
        try {
            std::rethrow_exception(error);
        } catch (const base::InputError& input) {
            code = 2;
            std::fprintf(stderr, "%s\n", input.what());
        } catch (const std::exception& other) {
            std::fprintf(stderr, "windtunnel: error: %s\n", other.what());
        }
        communicator_.abort(code);
    });
}

/// Each worker in turn: what it still sends is thrown away until it says farewell. Only messages of that one are taken,
/// because another one may have left already and talk to the next run.
void Crew::send_home(const std::string& bytes, const std::function<void()>& while_waiting) {
    for (int rank = 1; rank < communicator_.size(); ++rank) communicator_.send(rank, home_tag, bytes);
    for (int rank = 1; rank < communicator_.size();) {
        if (const auto message = communicator_.try_receive(rank)) {
            if (message->tag == farewell_tag) ++rank;
            continue;
        }
        while_waiting();
        std::this_thread::sleep_for(parallel::poll_pause);
    }
}

RunStatus work(const AnyStudy& study, parallel::Communicator& communicator, int threads) {
    const base::ForBlocks for_blocks = openmp_for_blocks(threads);
    study::Round round;
    std::string context;
    std::deque<std::vector<std::uint64_t>> bundles;
    bool failed = false;
    while (true) {
        auto message = bundles.empty() ? std::optional{communicator.receive()} : communicator.try_receive();
        for (; message; message = communicator.try_receive()) {
            if (message->tag == round_tag) round = unpack_round(message->bytes, context);
            if (message->tag == block_tag) bundles.push_back(unpack_blocks(message->bytes));
            if (message->tag != home_tag) continue;
            communicator.send(0, farewell_tag, {});
            base::Unpacker unpacker{message->bytes};
            if (unpacker.get<std::uint8_t>() == 0) return unpacker.get<RunStatus>();
            parallel::throw_packed_error(std::string_view{message->bytes}.substr(1));
        }
        if (bundles.empty()) continue;
        const std::vector<std::uint64_t> blocks = std::move(bundles.front());
        bundles.pop_front();
        if (failed) continue;
        try {
            BundleOfResults results;
            for (const std::uint64_t block : blocks)
                results.put(block, study.evaluate(round, block, context, for_blocks));
            communicator.send(0, result_tag, std::move(results).take());
        } catch (...) {
            failed = true;
            communicator.send(0, failure_tag, parallel::pack_error(std::current_exception()));
        }
    }
}

}  // namespace windtunnel::driver
