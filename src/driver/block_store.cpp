#include "windtunnel/driver/block_store.hpp"

#include <utility>

namespace windtunnel::driver {

BlockStore::BlockStore(std::optional<store::Journal> own, std::vector<store::Journal> sources)
    : own_{std::move(own)}, sources_{std::move(sources)} {}

bool BlockStore::contains(store::BlockKey key) const {
    if (own_ && own_->contains(key)) return true;
    for (const store::Journal& source : sources_)
        if (source.contains(key)) return true;
    return memory_.contains(key);
}

std::string BlockStore::read(store::BlockKey key) const {
    if (own_ && own_->contains(key)) return own_->read(key);
    for (const store::Journal& source : sources_)
        if (source.contains(key)) return source.read(key);
    return memory_.at(key);
}

void BlockStore::append(store::BlockKey key, std::string payload) {
    if (own_)
        own_->append(key, payload);
    else
        memory_.emplace(key, std::move(payload));
}

void BlockStore::forget(store::BlockKey key) {
    memory_.erase(key);
}

void BlockStore::sync() {
    if (own_) own_->sync();
}

void BlockStore::close() {
    own_.reset();
}

}  // namespace windtunnel::driver
