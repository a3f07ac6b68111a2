#pragma once
/// The finished blocks of a run: in its journal, in journals that are read only, or in memory.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "windtunnel/store/journal.hpp"

namespace windtunnel::driver {

class BlockStore {
public:
    /// Blocks go to memory; they are forgotten when forget() is called.
    BlockStore() = default;
    /// Blocks go to `own`; `sources` are looked at too.
    BlockStore(std::optional<store::Journal> own, std::vector<store::Journal> sources);

    [[nodiscard]] bool on_disk() const noexcept { return own_.has_value(); }
    [[nodiscard]] bool contains(store::BlockKey key) const;
    [[nodiscard]] std::string read(store::BlockKey key) const;
    void append(store::BlockKey key, std::string payload);
    /// A block in memory is not needed any more; on disk it stays.
    void forget(store::BlockKey key);
    void sync();
    /// Closes the own journal, for its removal.
    void close();

private:
    std::optional<store::Journal> own_;
    std::vector<store::Journal> sources_;
    std::map<store::BlockKey, std::string> memory_;
};

}  // namespace windtunnel::driver
