#include "windtunnel/store/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "windtunnel/base/errors.hpp"
#include "windtunnel/base/pack.hpp"
#include "windtunnel/store/crc32.hpp"
#include "windtunnel/store/provenance.hpp"

namespace windtunnel::store {
namespace {

constexpr std::string_view file_magic = "WTJOURNL";
constexpr std::uint32_t format_version = 2;
constexpr std::size_t prelude_size = 16;            // magic, version, CRC
constexpr std::uint32_t record_magic = 0x4B4C4257;  // "WBLK"
constexpr std::size_t record_head_size = 28;        // magic, round, block, size, CRC
constexpr std::size_t crc_size = 4;
constexpr std::uint32_t header_round = 0xFFFFFFFF;  // the header record has no round
constexpr std::size_t scan_buffer = 1U << 16U;

struct RecordHead {
    BlockKey key;
    std::uint64_t size = 0;
};

std::string pack_prelude() {
    base::Packer packer;
    packer.put(format_version);
    std::string bytes = std::string{file_magic} + std::move(packer).take();
    base::Packer crc;
    crc.put(crc32(bytes));
    return bytes + std::move(crc).take();
}

std::string pack_head(const RecordHead& head) {
    base::Packer packer;
    packer.put(record_magic);
    packer.put(head.key.round);
    packer.put(head.key.block);
    packer.put(head.size);
    std::string bytes = std::move(packer).take();
    base::Packer crc;
    crc.put(crc32(bytes));
    return bytes + std::move(crc).take();
}

std::string pack_crc(std::uint32_t crc) {
    base::Packer packer;
    packer.put(crc);
    return std::move(packer).take();
}

std::optional<RecordHead> unpack_head(std::string_view bytes) {
    base::Unpacker unpacker{bytes};
    const auto magic = unpacker.get<std::uint32_t>();
    RecordHead head;
    head.key.round = unpacker.get<std::uint32_t>();
    head.key.block = unpacker.get<std::uint64_t>();
    head.size = unpacker.get<std::uint64_t>();
    const auto crc = unpacker.get<std::uint32_t>();
    if (magic != record_magic || crc != crc32(bytes.substr(0, record_head_size - crc_size))) return std::nullopt;
    return head;
}

std::string pack_header(const JournalHeader& header) {
    base::Packer packer;
    packer.put(std::string_view{header.identity});
    packer.put(header.seed);
    packer.put(header.part.index);
    packer.put(header.part.count);
    packer.put(std::string_view{header.working_folder});
    packer.put(static_cast<std::uint8_t>(header.divided));
    packer.put(std::string_view{header.program});
    packer.put(static_cast<std::uint64_t>(header.command.size()));
    for (const std::string& argument : header.command) packer.put(std::string_view{argument});
    return std::move(packer).take();
}

JournalHeader unpack_header(std::string_view bytes) {
    base::Unpacker unpacker{bytes};
    JournalHeader header;
    header.identity = unpacker.get_text();
    header.seed = unpacker.get<std::uint64_t>();
    header.part.index = unpacker.get<std::uint64_t>();
    header.part.count = unpacker.get<std::uint64_t>();
    header.working_folder = unpacker.get_text();
    header.divided = unpacker.get<std::uint8_t>() != 0;
    header.program = unpacker.get_text();
    const auto num_arguments = unpacker.get<std::uint64_t>();
    for (std::uint64_t argument = 0; argument < num_arguments; ++argument)
        header.command.push_back(unpacker.get_text());
    return header;
}

/// One write(2); true when all of it was written.
bool write_once(const File& file, std::string_view head, std::string_view payload, std::string_view tail) {
    const auto part = [](std::string_view bytes) { return iovec{const_cast<char*>(bytes.data()), bytes.size()}; };
    const iovec parts[] = {part(head), part(payload), part(tail)};
    const ssize_t written = ::writev(file.descriptor(), parts, 3);
    if (written >= 0 && static_cast<std::size_t>(written) != head.size() + payload.size() + tail.size()) errno = ENOSPC;
    return written >= 0 && static_cast<std::size_t>(written) == head.size() + payload.size() + tail.size();
}

}  // namespace

std::string header_difference(const JournalHeader& journal, const JournalHeader& ours) {
    if (journal.seed != ours.seed) return fmt::format("seed: {} in the journal, {} here", journal.seed, ours.seed);
    if (journal.part != ours.part)
        return fmt::format("part: {}/{} in the journal, {}/{} here", journal.part.index, journal.part.count,
                           ours.part.index, ours.part.count);
    if (journal.program != ours.program)
        return fmt::format("program: `{}` in the journal, `{}` here", journal.program, ours.program);
    if (const std::string line = first_difference(journal.identity, ours.identity, "the journal"); !line.empty())
        return "plan, " + line;
    return {};
}

/// Calls fdatasync every second while there is something new, so that a long block does not hold up what is done.
class Journal::Syncer {
public:
    explicit Syncer(int descriptor) : descriptor_{descriptor}, thread_{[this] { loop(); }} {}
    Syncer(const Syncer&) = delete;
    Syncer& operator=(const Syncer&) = delete;
    ~Syncer() {
        {
            const std::lock_guard guard{mutex_};
            over_ = true;
        }
        wake_.notify_all();
        thread_.join();
        sync();
    }
    void dirty() noexcept { dirty_.store(true); }
    void sync() noexcept {
        if (dirty_.exchange(false) && ::fdatasync(descriptor_) != 0) error_.store(errno);
    }
    [[nodiscard]] int error() const noexcept { return error_.load(); }

private:
    void loop() {
        std::unique_lock guard{mutex_};
        while (!wake_.wait_for(guard, std::chrono::seconds{1}, [this] { return over_; })) {
            guard.unlock();
            sync();
            guard.lock();
        }
    }
    int descriptor_;
    std::atomic<bool> dirty_{false};
    std::atomic<int> error_{0};
    bool over_ = false;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::thread thread_;
};

Journal::Journal(std::string path) : path_{std::move(path)} {}
Journal::Journal(Journal&&) noexcept = default;
Journal& Journal::operator=(Journal&& other) noexcept {
    syncer_.reset();  // before its descriptor is closed
    path_ = std::move(other.path_);
    syncer_ = std::move(other.syncer_);
    file_ = std::move(other.file_);
    header_ = std::move(other.header_);
    end_ = other.end_;
    num_blocks_ = other.num_blocks_;
    damaged_bytes_ = other.damaged_bytes_;
    places_ = std::move(other.places_);
    return *this;
}
Journal::~Journal() = default;

void Journal::start_syncing() {
    syncer_ = std::make_unique<Syncer>(file_.descriptor());
}

Journal Journal::create(const std::string& path, const JournalHeader& header) {
    const std::string aside = path + ".new";
    Journal journal{path};
    journal.header_ = header;
    journal.file_ = open_file(aside, O_RDWR | O_CREAT | O_TRUNC | O_APPEND, "creating the journal");
    const std::string body = pack_header(header);
    const std::string head = pack_head({{header_round, 0}, body.size()});
    const std::string start = pack_prelude() + head;
    if (!write_once(journal.file_, start, body, pack_crc(crc32(body, crc32(head)))) ||
        ::fsync(journal.file_.descriptor()) != 0) {
        const int error = errno;
        ::unlink(aside.c_str());
        throw_system_error("writing the journal", path, error);
    }
    if (::rename(aside.c_str(), path.c_str()) != 0) throw_system_error("creating the journal", path, errno);
    sync_folder_of(path);
    journal.end_ = file_size(journal.file_, path);
    journal.start_syncing();
    return journal;
}

Journal Journal::open(const std::string& path) {
    Journal journal{path};
    journal.file_ = open_file(path, O_RDONLY, "opening the journal");
    journal.read_header();
    journal.scan();
    return journal;
}

Journal Journal::resume(const std::string& path, const JournalHeader& header) {
    Journal journal{path};
    journal.file_ = open_file(path, O_RDWR | O_APPEND, "opening the journal");
    journal.read_header();
    if (const std::string difference = header_difference(journal.header_, header); !difference.empty())
        throw base::InputError{{{path, 0, 0, "", "the journal belongs to another run: " + difference,
                                 "the same plan and options, or --overwrite to start anew"}}};
    journal.scan();
    if (journal.damaged_bytes_ > 0) {
        if (::ftruncate(journal.file_.descriptor(), static_cast<off_t>(journal.end_)) != 0 ||
            ::fdatasync(journal.file_.descriptor()) != 0)
            throw_system_error("cutting the damaged end of the journal", path, errno);
    }
    journal.start_syncing();
    return journal;
}

void Journal::read_header() {
    const std::uint64_t size = file_size(file_, path_);
    const auto damaged = [this](std::string_view what) {
        return base::RunError{
            fmt::format("the journal {} cannot be used: {}; delete it or start anew with --overwrite", path_, what)};
    };
    std::string start(prelude_size + record_head_size, '\0');
    if (size < start.size() || read_at(file_, path_, 0, start.data(), start.size()) != start.size())
        throw damaged("it is shorter than its header");
    const std::string_view prelude = std::string_view{start}.substr(0, prelude_size);
    if (!prelude.starts_with(file_magic)) throw damaged("it does not begin like a journal");
    base::Unpacker unpacker{prelude.substr(file_magic.size())};
    const auto version = unpacker.get<std::uint32_t>();
    if (unpacker.get<std::uint32_t>() != crc32(prelude.substr(0, prelude_size - crc_size)))
        throw damaged("its first bytes are damaged");
    if (version != format_version)
        throw base::InputError{{{path_, 0, 0, "",
                                 fmt::format("the journal belongs to another run: format: {} in the journal, {} here",
                                             version, format_version),
                                 "a journal of this version of the program, or --overwrite to start anew"}}};
    const auto head = unpack_head(std::string_view{start}.substr(prelude_size));
    if (!head || head->key.round != header_round || head->size > size - start.size() ||
        size - start.size() - head->size < crc_size)
        throw damaged("its header is damaged");
    std::string body(head->size + crc_size, '\0');
    if (read_at(file_, path_, start.size(), body.data(), body.size()) != body.size())
        throw damaged("its header is damaged");
    const std::string_view payload = std::string_view{body}.substr(0, head->size);
    const std::uint32_t crc = crc32(payload, crc32(std::string_view{start}.substr(prelude_size)));
    if (std::string_view{body}.substr(head->size) != pack_crc(crc)) throw damaged("its header is damaged");
    try {
        header_ = unpack_header(payload);
    } catch (const base::PackError&) {
        throw damaged("its header is damaged");
    }
    end_ = start.size() + body.size();
}

void Journal::scan() {
    const std::uint64_t size = file_size(file_, path_);
    std::string head_bytes(record_head_size, '\0');
    std::string buffer(scan_buffer, '\0');
    while (size - end_ >= record_head_size + crc_size) {
        if (read_at(file_, path_, end_, head_bytes.data(), record_head_size) != record_head_size) break;
        const auto head = unpack_head(head_bytes);
        if (!head || head->key.round == header_round || head->size > size - end_ - record_head_size - crc_size) break;
        std::uint32_t crc = crc32(head_bytes);
        const std::uint64_t payload = end_ + record_head_size;
        std::uint64_t done = 0;
        while (done < head->size) {
            const std::size_t wanted =
                static_cast<std::size_t>(std::min<std::uint64_t>(scan_buffer, head->size - done));
            const std::size_t got = read_at(file_, path_, payload + done, buffer.data(), wanted);
            if (got == 0) break;
            crc = crc32(std::string_view{buffer}.substr(0, got), crc);
            done += got;
        }
        std::string tail(crc_size, '\0');
        if (done != head->size || read_at(file_, path_, payload + done, tail.data(), crc_size) != crc_size ||
            tail != pack_crc(crc))
            break;
        if (places_[head->key.round].try_emplace(head->key.block, Place{payload, head->size}).second) ++num_blocks_;
        end_ = payload + head->size + crc_size;
    }
    damaged_bytes_ = size - end_;
}

bool Journal::contains(BlockKey key) const {
    const auto round = places_.find(key.round);
    return round != places_.end() && round->second.contains(key.block);
}

std::string Journal::read(BlockKey key) const {
    const Place place = places_.at(key.round).at(key.block);
    std::string payload(place.size + crc_size, '\0');
    const std::size_t got = read_at(file_, path_, place.offset, payload.data(), payload.size());
    const std::uint32_t crc =
        crc32(std::string_view{payload}.substr(0, place.size), crc32(pack_head({key, place.size})));
    if (got != payload.size() || std::string_view{payload}.substr(place.size) != pack_crc(crc))
        throw base::RunError{fmt::format(
            "the journal {} changed or was damaged while it was in use (round {}, block {}); continue with --resume",
            path_, key.round, key.block)};
    payload.resize(place.size);
    return payload;
}

void Journal::append(BlockKey key, std::string_view payload) {
    if (syncer_->error() != 0) throw_system_error("syncing the journal", path_, syncer_->error());
    if (contains(key)) return;
    const std::string head = pack_head({key, payload.size()});
    if (!write_once(file_, head, payload, pack_crc(crc32(payload, crc32(head))))) {
        const int error = errno;
        // Reading stops at a torn record, so one that cannot be cut does no harm.
        [[maybe_unused]] const int cut = ::ftruncate(file_.descriptor(), static_cast<off_t>(end_));
        throw_system_error("writing the journal", path_, error);
    }
    places_[key.round].emplace(key.block, Place{end_ + head.size(), payload.size()});
    ++num_blocks_;
    end_ += head.size() + payload.size() + crc_size;
    syncer_->dirty();
}

void Journal::sync() {
    if (!syncer_) return;
    syncer_->sync();
    if (syncer_->error() != 0) throw_system_error("syncing the journal", path_, syncer_->error());
}

}  // namespace windtunnel::store
