#include "windtunnel/driver/crew.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>

#include "windtunnel/base/errors.hpp"
#include "windtunnel/base/pack.hpp"
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

std::string pack_number(std::uint64_t number) {
    base::Packer packer;
    packer.put(number);
    return std::move(packer).take();
}

std::uint64_t take_number(std::string& bytes) {
    const auto number = base::Unpacker{bytes}.get<std::uint64_t>();
    bytes.erase(0, sizeof number);
    return number;
}

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
            Result result{blocks_.front(), {}, nullptr};
            blocks_.pop_front();
            guard.unlock();
            try {
                result.payload = study_.evaluate(round_, result.block, context_, for_blocks_);
            } catch (...) {
                result.error = std::current_exception();
            }
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
    const std::size_t size = static_cast<std::size_t>(communicator_.size());
    std::vector<int> in_hand(size, 0);
    std::size_t all_in_hand = 0;
    const std::string start = pack_round(round, context);
    helper_->start_round(round, context);
    for (int rank = 1; rank < communicator_.size(); ++rank) communicator_.send(rank, round_tag, start);

    const auto hand_out = [&] {
        for (int level = 0; level < 2; ++level)
            for (std::size_t rank = 0; rank < size; ++rank) {
                if (in_hand[rank] > level) continue;
                if (level == 1 && feed.remaining() < size) return;  // the last ones go to whoever is free first
                const auto block = feed.next();
                if (!block) return;
                if (rank == 0)
                    helper_->give(*block);
                else
                    communicator_.send(static_cast<int>(rank), block_tag, pack_number(*block));
                ++in_hand[rank];
                ++all_in_hand;
            }
    };
    const auto done = [&](std::size_t rank, std::uint64_t block, std::string payload) {
        --in_hand[rank];
        --all_in_hand;
        feed.done(block, std::move(payload));
    };
    hand_out();
    while (all_in_hand > 0) {
        bool moved = false;
        if (auto result = helper_->take()) {
            if (result->error) std::rethrow_exception(result->error);
            done(0, result->block, std::move(result->payload));
            moved = true;
        }
        if (auto message = communicator_.try_receive()) {
            if (message->tag == failure_tag) parallel::throw_packed_error(message->bytes);
            const std::uint64_t block = take_number(message->bytes);
            done(static_cast<std::size_t>(message->source), block, std::move(message->bytes));
            moved = true;
        }
        if (moved)
            hand_out();
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
    std::deque<std::uint64_t> blocks;
    bool failed = false;
    while (true) {
        auto message = blocks.empty() ? std::optional{communicator.receive()} : communicator.try_receive();
        for (; message; message = communicator.try_receive()) {
            if (message->tag == round_tag) round = unpack_round(message->bytes, context);
            if (message->tag == block_tag) blocks.push_back(take_number(message->bytes));
            if (message->tag != home_tag) continue;
            communicator.send(0, farewell_tag, {});
            base::Unpacker unpacker{message->bytes};
            if (unpacker.get<std::uint8_t>() == 0) return unpacker.get<RunStatus>();
            parallel::throw_packed_error(std::string_view{message->bytes}.substr(1));
        }
        if (blocks.empty()) continue;
        const std::uint64_t block = blocks.front();
        blocks.pop_front();
        if (failed) continue;
        try {
            communicator.send(0, result_tag, pack_number(block) + study.evaluate(round, block, context, for_blocks));
        } catch (...) {
            failed = true;
            communicator.send(0, failure_tag, parallel::pack_error(std::current_exception()));
        }
    }
}

}  // namespace windtunnel::driver
